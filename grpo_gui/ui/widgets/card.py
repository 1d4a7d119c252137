"""Cards: a bordered surface with a header of title, value, hint and legend above its body."""

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.legend import Legend, LegendEntry


class CardHeader(QWidget):
    """One row: title, value, hint, then a legend and more widgets at the right.

    Where the row is too narrow, the hint goes first, then the legend, never title, value or buttons.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = label(title, "title")
        self.value = label("", "value")
        self.hint = label("", "hint")
        self.legend = Legend()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(8)
        for widget in (self.title, self.value, self.hint):
            self._row.addWidget(widget)
        self._row.addStretch(1)
        self._row.addWidget(self.legend)
        self.value.hide()
        self._has_hint = False
        self._extra: list[QWidget] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.px(tokens.CARD_HEADER_HEIGHT))
        self._fit()

    def set_value(self, text: str, tooltip: str = "") -> None:
        """Show the current value beside the title; the tooltip defines it."""
        if text != self.value.text():
            self.value.setText(text)
            self.value.setVisible(bool(text))
            self._fit()
        if tooltip:
            self.value.setToolTip(tooltip)

    def set_hint(self, text: str) -> None:
        """Show a few words after the value, as long as there is room."""
        if text != self.hint.text():
            self.hint.setText(text)
            self._has_hint = bool(text)
            self._fit()

    def set_legend(self, entries: Sequence[LegendEntry]) -> None:
        """Show what the colours and dashes mean, as long as there is room."""
        self.legend.set_entries(entries)
        self._fit()

    def add_widget(self, widget: QWidget) -> None:
        """Add a widget at the right end that always stays."""
        self._extra.append(widget)
        self._row.addWidget(widget)
        self._fit()

    def sizeHint(self) -> QSize:
        """Ask only for what always stays; take what there is."""
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:
        """Title, value and buttons always stay."""
        extra = sum(widget.minimumSizeHint().width() + self._row.spacing() for widget in self._extra)
        return QSize(self._width_of([self.title, self.value]) + extra, theme.px(tokens.CARD_HEADER_HEIGHT))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Drop or bring back the hint and the legend."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        always = [self.title, self.value, *self._extra]
        with_legend = [*always, self.legend] if self.legend.entries else always
        self.legend.setVisible(bool(self.legend.entries) and self._width_of(with_legend) <= self.width())
        self.hint.setVisible(self._has_hint and self._width_of([*with_legend, self.hint]) <= self.width())

    def _width_of(self, widgets: Sequence[QWidget]) -> int:
        shown = [widget for widget in widgets if widget is not self.value or self.value.text()]
        return sum(widget.sizeHint().width() for widget in shown) + self._row.spacing() * len(shown)


class Card(QFrame):
    """A bordered surface. Put widgets into `body`, a vertical layout below the optional header."""

    def __init__(self, title: str = "", *, padding: int = tokens.PAD) -> None:
        super().__init__()
        self.setProperty("look", "card")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(padding, 4 if title else padding, padding, padding)
        outer.setSpacing(4)
        self.header = CardHeader(title)
        self.header.setVisible(bool(title))
        outer.addWidget(self.header)
        self.body = QVBoxLayout()
        self.body.setSpacing(4)
        outer.addLayout(self.body, 1)
        if title:
            self.setAccessibleName(title)
