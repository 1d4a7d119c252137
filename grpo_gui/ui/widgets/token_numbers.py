"""The numbers of the chosen token, on a sunken ground."""

from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from grpo_gui.ui.models.token_values import TokenValues
from grpo_gui.ui.models.token_words import NUMBER_TOOLTIPS, token_numbers
from grpo_gui.ui.models.visible_text import quoted
from grpo_gui.ui.widgets.labels import ElidedLabel, label

_COLUMNS = 4


class TokenNumbers(QFrame):
    """Eight small labels with their values, in two rows of four."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "sunken")
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 6, 10, 6)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(1)
        self._names: dict[str, QLabel] = {}
        self._values: dict[str, QLabel] = {}
        for place, (name, tooltip) in enumerate(NUMBER_TOOLTIPS.items()):
            row, column = 2 * (place // _COLUMNS), place % _COLUMNS
            self._names[name] = label(name, "small", tooltip)
            self._values[name] = ElidedLabel(look="value") if name == "token" else label("", "value", tooltip)
            grid.addWidget(self._names[name], row, column)
            grid.addWidget(self._values[name], row + 1, column)
            grid.setColumnStretch(column, 1)

    def show_token(self, values: TokenValues, token: int) -> None:
        """Show one token; a completion without tokens shows dashes."""
        if not len(values):
            for shown in self._values.values():
                shown.setText("–")
            return
        self._names["token"].setText(f"token {token + 1}")
        self._values["token"].setText(quoted(values.texts[token]))
        for name, text in token_numbers(values, token).items():
            self._values[name].setText(text)
            self._values[name].setAccessibleName(f"{name} {text}")

    def text_of(self, name: str) -> str:
        """Give what stands under a name."""
        return self._values[name].text()
