"""What the router has learned: the map of weights, the regret curves, and right of them what can be changed."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QSplitter, QStackedWidget, QWidget

from grpo_gui.store.records_router import WeightPoint
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.formatting import count, number
from grpo_gui.ui.models import router_words
from grpo_gui.ui.router_engine import RouterOverview
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.color_scale import ColorScale
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.router_regret import RegretCard
from grpo_gui.ui.widgets.router_side import RouterSide
from grpo_gui.ui.widgets.router_weight_map import WeightMapWidget
from grpo_gui.ui.workspace import Workspace

_SIDE_WIDTH = 236
_SIDE_BY_SIDE = 820  # pixels; below, the curves stand under the map
_LEAST_HEIGHT = 190
_CLICK = "Click a cell, or go there with the arrow keys, to see what it means."


class WeightMapCard(Card):
    """The map in a scroll area, its scale, and the chosen cell in words."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__("Weights", padding=8)
        self._workspace = workspace
        self._moved = ""
        self.header.set_hint("class by model: weight, mean quality ± 95 %, ratings")
        self.scale = ColorScale()
        self.header.add_widget(self.scale)
        self.map = WeightMapWidget()
        self.words = label(_CLICK, "hint", wrap=True)
        self.words.setMinimumHeight(theme.px(30))
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        scroll = QScrollArea()
        scroll.setWidget(self.map)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll = scroll
        for bar in (scroll.verticalScrollBar(), scroll.horizontalScrollBar()):
            bar.valueChanged.connect(self.map.update)  # the names stay at the edge
        self.body.addWidget(scroll, 1)
        self.body.addWidget(self.words)
        self.map.cell_chosen.connect(self._chosen)

    def show_overview(self, overview: RouterOverview) -> None:
        """Show the map of now."""
        self.map.show_weights(overview.weights)
        self.scale.set_limit(self.map.limit, is_diverging=True)
        if self.map.chosen is not None:
            self._read_history(*self.map.chosen)
        self._show_words()

    def _chosen(self, query_class: str, model: str) -> None:
        self._moved = ""
        self._show_words()
        rect = self.map.cell_rect(self.map.weights.classes.index(query_class), self.map.weights.models.index(model))
        self._scroll.ensureVisible(rect.center().x(), rect.center().y(), rect.width() // 2, rect.height() // 2)
        self._read_history(query_class, model)

    def _read_history(self, query_class: str, model: str) -> None:
        self._workspace.read(
            lambda reader: reader.router_weights(query_class, model), self._take_history, key="router.cell"
        )

    def _take_history(self, points: tuple[WeightPoint, ...]) -> None:
        self._moved = ""
        if len(points) > 1:
            first, last = number(points[0].weight, sign=True), number(points[-1].weight, sign=True)
            self._moved = (
                f" It moved {count(len(points))} times, from {first} at decision {count(points[0].decision)} "
                f"to {last} at decision {count(points[-1].decision)}."
            )
        self._show_words()

    def _show_words(self) -> None:
        words = self.map.words()
        self.words.setText(words + self._moved if words else _CLICK)


class LearnedPage(QWidget):
    """Before the first rating a sentence stands where map and curves will be."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.weights = WeightMapCard(workspace)
        self.regret = RegretCard()
        self.side = RouterSide()
        self._panes = QSplitter(Qt.Orientation.Horizontal)
        self._panes.setObjectName("router-learned")
        self._panes.setHandleWidth(tokens.GAP)
        self._panes.setChildrenCollapsible(False)
        self._panes.addWidget(self.weights)
        self._panes.addWidget(self.regret)
        self._panes.setStretchFactor(0, 5)
        self._panes.setStretchFactor(1, 3)
        self._panes.setSizes([theme.px(660), theme.px(400)])
        nothing = Card()
        sentence = label(router_words.NOT_RATED, "lead", wrap=True)
        sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        nothing.body.addWidget(sentence)
        self._pages = QStackedWidget()
        self._pages.addWidget(nothing)
        self._pages.addWidget(self._panes)
        side = QScrollArea()
        side.setWidget(self.side)
        side.setWidgetResizable(True)
        side.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setFixedWidth(theme.px(_SIDE_WIDTH))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens.GAP)
        row.addWidget(self._pages, 1)
        row.addWidget(side)

    def show_overview(self, overview: RouterOverview) -> None:
        """Show everything of now."""
        self._pages.setCurrentIndex(1 if overview.weights.classes and overview.ratings else 0)
        self.weights.show_overview(overview)
        self.regret.show_curves(overview.regret)
        self.side.show_overview(overview)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the map above the curves where it is narrow."""
        super().resizeEvent(event)
        is_wide = self.width() >= theme.px(_SIDE_BY_SIDE)
        self.setMinimumHeight(theme.px(_LEAST_HEIGHT if is_wide else 2 * _LEAST_HEIGHT))
        self._panes.setOrientation(Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical)
