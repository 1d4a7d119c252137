"""Compare two snapshots: which ones, what the program says, and what a person says without knowing which is which."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.models.pair_comparison import PairComparison
from grpo_gui.ui.models.snapshot_row import SnapshotRow
from grpo_gui.ui.widgets.blind_rating import COMPARE_FIRST, BlindRating
from grpo_gui.ui.widgets.labels import hline, label
from grpo_gui.ui.widgets.program_result import LargestDifferences, ProgramResult


class ComparePanel(QFrame):
    """Shows a `PairComparison`; `pair_chosen` gives the ids of A and B (None: the base model)."""

    pair_chosen = Signal(object, object)

    def __init__(self, model: PairComparison) -> None:
        super().__init__()
        self._model = model
        self.boxes = {"A": QComboBox(), "B": QComboBox()}
        self.program = ProgramResult()
        self.blind = BlindRating()
        self.differences = LargestDifferences()
        self._shown: object = None  # the comparison whose differences are listed
        self._lay_out()
        for name, box in self.boxes.items():
            box.setAccessibleName(f"Snapshot {name}")
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
            box.activated.connect(self._box_changed)
        self.program.asked.connect(model.start)
        self.program.cancelled.connect(model.cancel)
        self.blind.chosen.connect(model.choose)
        self.blind.goal_changed.connect(model.set_goal)
        model.changed.connect(self.refresh)
        self.refresh()

    def set_rows(self, rows: Sequence[SnapshotRow], first: int | None, second: int | None) -> None:
        """Offer other snapshots, of which two are chosen by their ids."""
        for (name, box), chosen in zip(self.boxes.items(), (first, second), strict=True):
            box.clear()
            for row in rows:
                box.addItem(f"{name}  {row.title}", row.snapshot_id)
            ids = [row.snapshot_id for row in rows]
            box.setCurrentIndex(ids.index(chosen) if chosen in ids else -1)

    def refresh(self) -> None:
        """Show what the model knows now."""
        model = self._model
        comparison = model.comparison
        if model.progress is not None:
            self.program.show_progress(*model.progress)
        elif comparison is not None:
            self.program.show_comparison(comparison)
        else:
            obstacle = model.obstacle()
            self.program.show_ready(model.failure or obstacle, not obstacle)
        if comparison is None:
            self.blind.show_nothing(COMPARE_FIRST)
        elif model.session is not None:
            self.blind.show_session(model.session, model.time_left_s)
        if comparison is not self._shown:
            self._shown = comparison
            if comparison is not None:
                self.differences.show_comparison(comparison)
        self._below.setVisible(comparison is not None and bool(comparison.largest(1)))

    def _box_changed(self) -> None:
        self.pair_chosen.emit(*(box.currentData() for box in self.boxes.values()))

    def _lay_out(self) -> None:
        self.setProperty("look", "card")
        self.setAccessibleName("Compare two snapshots")
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(label("Compare", "cardtitle"))
        head.addWidget(self.boxes["A"], 1)
        head.addWidget(label("with", "label"))
        head.addWidget(self.boxes["B"], 1)
        page = QWidget()
        page.setProperty("look", "page")
        self._below = QWidget()
        below = QVBoxLayout(self._below)
        below.setContentsMargins(0, 0, 0, 0)
        below.addWidget(hline())
        below.addWidget(self.differences)
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(12)
        column.addLayout(head)
        column.addWidget(self.program)
        column.addWidget(hline())
        column.addWidget(self.blind, 1)
        column.addWidget(self._below)
        scroll = QScrollArea()
        scroll.setWidget(page)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 1, 1, 1)
        outer.addWidget(scroll)
        self.setMinimumWidth(theme.px(380))
