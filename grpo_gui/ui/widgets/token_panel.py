"""The tokens of a completion: heat map or plain text, the same values as bars, and the numbers of the chosen token."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.models.clip_bounds import Bounds
from grpo_gui.ui.models.token_values import TokenMeasure, TokenValues
from grpo_gui.ui.models.token_words import MEASURE_TOOLTIPS, clip_sentence
from grpo_gui.ui.widgets.buttons import SegmentedControl
from grpo_gui.ui.widgets.color_scale import ColorScale
from grpo_gui.ui.widgets.labels import ElidedLabel, label
from grpo_gui.ui.widgets.text_block import TextBlock
from grpo_gui.ui.widgets.token_bars import TokenBars
from grpo_gui.ui.widgets.token_heat_map import TokenHeatMap
from grpo_gui.ui.widgets.token_numbers import TokenNumbers

_TEXT = "text"
_MAX_MAP_HEIGHT = 216  # of the heat map; a longer completion scrolls inside


NOT_RECORDED = "The tokens of this completion were not recorded, only its text."


class TokenPanel(QWidget):
    """Keeps heat map, bars and numbers on one measure and one token."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: TokenValues | None = None
        self._bounds: Bounds = (None, None)
        self._token = 0
        self.measures = SegmentedControl(
            [*((measure.name, measure.value) for measure in TokenMeasure), (_TEXT, "text")],
            TokenMeasure.LOG_RATIO.name,
            "Colour of the tokens",
        )
        for measure, tooltip in MEASURE_TOOLTIPS.items():
            self.measures.set_tooltip(measure.name, tooltip)
        self.measures.set_tooltip(_TEXT, "The completion as plain text, to read and copy.")
        self.scale = ColorScale()
        self.heat_map = TokenHeatMap()
        self.text = TextBlock("Completion", 14, 9)
        self.bars = TokenBars()
        self.numbers = TokenNumbers()
        self._scroll = _heat_map_scroll(self.heat_map)
        self._caption = ElidedLabel(look="small")
        self._hint = label("", "hint")
        self._lay_out()
        self.measures.changed.connect(self._refresh)
        self.heat_map.token_chosen.connect(self.choose)
        self.bars.token_chosen.connect(self.choose)

    @property
    def token(self) -> int:
        """The chosen token, counted from 0."""
        return self._token

    def show_values(self, values: TokenValues, text: str, bounds: Bounds) -> None:
        """Show another completion. The token with the largest log-ratio size is chosen, since it moved most."""
        self._values, self._bounds = values, bounds
        sizes = abs(values.log_ratio)
        self._token = int(sizes.argmax()) if values.has(TokenMeasure.LOG_RATIO) else 0
        self.text.show_text(text)
        self._refresh()
        self._scroll.verticalScrollBar().setValue(0)

    def choose(self, token: int) -> None:
        """Choose a token everywhere."""
        self._token = token
        self._refresh()
        if self._values is not None and len(self._values):
            rect = self.heat_map.cell_rect(token)
            self._scroll.ensureVisible(int(rect.center().x()), int(rect.center().y()), 0, int(rect.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The heat map's height follows from its width."""
        super().resizeEvent(event)
        self._fit_map()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(label("Tokens", "title"))
        head.addWidget(self.measures)
        head.addStretch(1)
        head.addWidget(self.scale)
        caption = QHBoxLayout()
        caption.setSpacing(10)
        caption.addWidget(self._caption)
        caption.addWidget(self._hint, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self._scroll)
        column.addWidget(self.text)
        column.addLayout(caption)
        column.addWidget(self.bars)
        column.addWidget(self.numbers)

    def _measure(self) -> TokenMeasure:
        value = self.measures.value
        return TokenMeasure.LOG_RATIO if value == _TEXT else TokenMeasure[value]

    def _refresh(self) -> None:
        values = self._values
        if values is None:
            return
        is_recorded = len(values) > 0
        measure, is_text = self._measure(), self.measures.value == _TEXT or not is_recorded
        self.heat_map.show_values(values, measure, self._token)
        self.bars.show_values(values, measure, self._bounds, self._token)
        self.scale.set_limit(values.scale(measure), is_diverging=measure.is_diverging)
        self.numbers.show_token(values, self._token)
        caption, hint = clip_sentence(values) if is_recorded else (NOT_RECORDED, "")
        for part in (self.measures, self.bars, self.numbers):
            part.setVisible(is_recorded)
        self._caption.setText(caption)
        self._hint.setText(hint)
        self._scroll.setVisible(not is_text)
        self.scale.setVisible(not is_text)
        self.text.setVisible(is_text)
        self._fit_map()

    def _fit_map(self) -> None:
        needed = self.heat_map.heightForWidth(max(1, self._scroll.width()))
        limit = theme.px(_MAX_MAP_HEIGHT)
        self._scroll.setFixedHeight(min(needed, limit))
        bar = Qt.ScrollBarPolicy.ScrollBarAlwaysOn if needed > limit else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self._scroll.setVerticalScrollBarPolicy(bar)


def _heat_map_scroll(heat_map: TokenHeatMap) -> QScrollArea:
    scroll = QScrollArea()
    scroll.setWidgetResizable(True)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    heat_map.setProperty("look", "page")
    scroll.setWidget(heat_map)
    return scroll
