"""A small popup that asks for the ends of a range filter."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.labels import label

Number = int | float


class RangePopup(QFrame):
    """Two fields, either of which may stay empty. `applied` brings the ends, None for an empty field."""

    applied = Signal(object, object)  # int | float | None

    def __init__(self, title: str, low: Number | None, high: Number | None, *, whole: bool, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("look", "overlay")
        self.setAccessibleName(title)
        self._is_whole = whole
        self.low = _field("from", low)
        self.high = _field("to", high)
        self.error = label("", "error", wrap=True)
        self.apply = button("Apply", primary=True)
        fields = QHBoxLayout()
        for caption, field in (("from", self.low), ("to", self.high)):
            word = QLabel(caption)
            word.setBuddy(field)
            fields.addWidget(word)
            fields.addWidget(field, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(8)
        column.addWidget(label(title, "title"))
        column.addLayout(fields)
        column.addWidget(self.error)
        column.addWidget(self.apply)
        for field in (self.low, self.high):
            field.textChanged.connect(self._check)
            field.returnPressed.connect(self._apply)
        self.apply.clicked.connect(self._apply)
        self._check()

    def open_at(self, place: QPoint) -> None:
        """Open with the first field ready for typing. `place` is in screen coordinates."""
        self.move(place)
        self.show()
        self.low.setFocus(Qt.FocusReason.PopupFocusReason)
        self.low.selectAll()

    def _check(self) -> None:
        sentence = self._problem()
        self.error.setText(sentence)
        self.error.setVisible(bool(sentence))
        self.apply.setEnabled(not sentence)

    def _problem(self) -> str:
        ends = []
        for field in (self.low, self.high):
            text = field.text().strip()
            try:
                ends.append(self._read(text) if text else None)
            except ValueError:
                return f"“{text}” is no {'whole number' if self._is_whole else 'number'}."
        low, high = ends
        return (
            "The first number is larger than the second." if low is not None and high is not None and low > high else ""
        )

    def _read(self, text: str) -> Number:
        text = text.replace("−", "-")
        value = int(text) if self._is_whole else float(text)
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(text)
        return value

    def _apply(self) -> None:
        if self._problem():
            return
        low, high = (field.text().strip() for field in (self.low, self.high))
        self.applied.emit(self._read(low) if low else None, self._read(high) if high else None)
        self.close()


def _field(name: str, value: Number | None) -> QLineEdit:
    field = QLineEdit("" if value is None else f"{value:g}" if isinstance(value, float) else str(value))
    field.setAccessibleName(name)
    field.setMinimumWidth(90)
    return field
