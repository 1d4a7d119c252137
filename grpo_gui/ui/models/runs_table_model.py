"""The runs of the database as a table: what each column shows, with its definition as tooltip."""

import math
from collections.abc import Sequence
from datetime import datetime
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from grpo_gui.events import RunStatus
from grpo_gui.grpo.definitions import definition_of
from grpo_gui.store.records import Float64Array
from grpo_gui.ui import icons
from grpo_gui.ui.formatting import count, duration, number, significant
from grpo_gui.ui.models.headings import heading
from grpo_gui.ui.models.runs_reading import spark_bounds
from grpo_gui.ui.models.runs_row import RunRow
from grpo_gui.ui.run_text import start_time

Index = QModelIndex | QPersistentModelIndex
LOOK_ROLE = Qt.ItemDataRole.UserRole
SLOT_ROLE = Qt.ItemDataRole.UserRole + 1
SPARK_ROLE = Qt.ItemDataRole.UserRole + 2

_ROOT = QModelIndex()


class Column(IntEnum):
    """The columns, left to right."""

    OVERLAY = 0
    STATE = 1
    RUN = 2
    TASK = 3
    ORIGIN = 4
    STEPS = 5
    REWARD = 6
    HELD_OUT = 7
    CURVE = 8
    KL = 9
    TIME = 10
    STARTED = 11
    TAGS = 12


HEADERS = (
    *("", "state", "run", "task", "origin", "steps", "reward", "held-out", "reward curve", "KL", "time"),
    *("started", "tags"),
)
_RIGHT = {Column.STEPS, Column.REWARD, Column.HELD_OUT, Column.KL, Column.TIME}
_TOOLTIPS = {
    Column.OVERLAY: "Ticked runs are laid over each other below, in the colour and dash beside the box. Key: Space",
    Column.STATE: "Where the run stands.",
    Column.RUN: "Name and seed. F2 renames; Enter or a double click opens it in the Train view.",
    Column.TASK: "What the problems are made of.",
    Column.ORIGIN: "Where the run was made.",
    Column.STEPS: "Complete steps, of those planned.",
    Column.REWARD: f"Of the newest step. {definition_of('reward').tooltip}",
    Column.HELD_OUT: f"Of the newest evaluation. {definition_of('eval/reward').tooltip}",
    Column.CURVE: "Reward over the whole run, as means over equal spans. All rows share one scale.",
    Column.KL: f"Of the newest step. {definition_of('kl').tooltip}",
    Column.TIME: "From the first to the last moment, pauses included.",
    Column.STARTED: "When the run was created.",
    Column.TAGS: "Your own words for the run. Key: T",
}
_TIPS = tuple(_TOOLTIPS[column] for column in Column)
_STATE_ICONS = {
    RunStatus.WARMING_UP: ("start", "good"),
    RunStatus.RUNNING: ("start", "good"),
    RunStatus.PAUSED: ("pause", "warn"),
    RunStatus.WAITING: ("pause", "warn"),
    RunStatus.FINISHED: ("check", "text2"),
    RunStatus.STOPPED: ("stop", "text2"),
    RunStatus.HANDED_OVER: ("again", "text2"),
    RunStatus.FAILED: ("error", "bad"),
    RunStatus.INTERRUPTED: ("warning", "warn"),
}
_ORIGINS = {"embedded": "this window", "headless": "command line"}


class RunsTableModel(QAbstractTableModel):
    """Rows of `RunRow`, in the order of `sort`, newest first at the beginning."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[RunRow] = []
        self._order: tuple[Column, bool] = (Column.STARTED, True)
        self.bounds = (0.0, 1.0)  # of all sparklines

    def set_rows(self, rows: Sequence[RunRow]) -> None:
        """Show other rows; where they are the same runs, selection and place stay."""
        ordered = self._ordered(rows)
        self.bounds = spark_bounds(ordered)
        if [row.id for row in ordered] == [row.id for row in self._rows]:
            self._rows = ordered
            self.refresh()
            return
        self.beginResetModel()
        self._rows = ordered
        self.endResetModel()

    def refresh(self) -> None:
        """Draw all cells again, for instance in the colours of another theme."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(Column) - 1))

    def row(self, place: int) -> RunRow | None:
        """The run of a row, None outside of the table."""
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def place_of(self, run_id: int) -> int:
        """The row of a run, -1 when it is not listed."""
        return next((place for place, row in enumerate(self._rows) if row.id == run_id), -1)

    def order_by(self, column: Column) -> None:
        """Sort by a column; the same column again turns the order round."""
        falling = not self._order[1] if self._order[0] is column else column not in (Column.RUN, Column.TASK)
        self._order = column, falling
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(Column) - 1)
        self.set_rows(list(self._rows))

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Rows of the table."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Columns of the table."""
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Names of the columns with their definitions."""
        return heading(section, orientation, role, HEADERS, _TIPS, _alignment, self._order)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """One cell."""
        row, column = self._rows[index.row()], Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return cell_text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return _tooltip(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.DecorationRole if column is Column.STATE:
                return icons.pixmap(*_STATE_ICONS[row.run.status], 14)
            case Qt.ItemDataRole.AccessibleTextRole if column is Column.OVERLAY:
                return "overlaid" if row.slot is not None else "not overlaid"
            case _ if role == SLOT_ROLE:
                return row.slot
            case _ if role == SPARK_ROLE:
                return row.spark
            case _ if role == LOOK_ROLE:
                return "text" if column in (Column.RUN, Column.STEPS, Column.REWARD, Column.HELD_OUT) else "text2"
            case _:
                return None

    def _ordered(self, rows: Sequence[RunRow]) -> list[RunRow]:
        column, falling = self._order
        return sorted(rows, key=lambda row: (_rank(row, column), row.id), reverse=falling)


def cell_text(row: RunRow, column: Column) -> str:
    """What a cell shows."""
    run = row.run
    match column:
        case Column.STATE:
            return run.status.value
        case Column.RUN:
            return row.title
        case Column.TASK:
            return run.task
        case Column.ORIGIN:
            return _ORIGINS.get(run.origin, run.origin)
        case Column.STARTED:
            return start_time(run.created_s)
        case Column.TAGS:
            return ", ".join(run.tags)
        case _:
            return _numbers(row).get(column, "")


def _numbers(row: RunRow) -> dict[Column, str]:
    run, metrics, planned = row.run, row.metrics, row.steps_planned
    steps = count(run.steps_done)
    return {
        Column.STEPS: steps if planned in (None, run.steps_done) else f"{steps} / {count(planned or 0)}",
        Column.REWARD: number(metrics.get("reward")),
        Column.HELD_OUT: number(held_out(metrics)),
        Column.KL: significant(metrics.get("kl"), 2),
        Column.TIME: duration(run.ended_s - run.created_s) if run.ended_s is not None else "",
    }


def held_out(metrics: dict[str, float | None]) -> float | None:
    """The newest held-out reward, else the share of right answers."""
    reward = metrics.get("eval/reward")
    return metrics.get("eval/accuracy") if reward is None else reward


def sparkline_points(
    values: Float64Array, bounds: tuple[float, float], width: float, height: float
) -> list[list[float]]:
    """A curve as points [x, y] in a box, y downwards; spans without a value are left out."""
    low, high = bounds
    step = width / max(len(values) - 1, 1)
    return [
        [place * step, height * (1 - (value - low) / (high - low))]
        for place, value in enumerate(values.tolist())
        if math.isfinite(value)
    ]


def _rank(row: RunRow, column: Column) -> tuple[bool, float | str]:
    """What a column is sorted by; rows without a value come last while falling."""
    run, metrics = row.run, row.metrics
    values: dict[Column, float | str | None] = {
        Column.STEPS: float(run.steps_done),
        Column.REWARD: metrics.get("reward"),
        Column.HELD_OUT: held_out(metrics),
        Column.CURVE: metrics.get("reward"),
        Column.KL: metrics.get("kl"),
        Column.TIME: None if run.ended_s is None else run.ended_s - run.created_s,
        Column.STARTED: run.created_s,
        Column.OVERLAY: float(row.slot is not None),
    }
    value = values.get(column, cell_text(row, column).casefold())
    known = value is not None and not (isinstance(value, float) and math.isnan(value))
    return known, value if known and value is not None else 0.0


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _RIGHT else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _tooltip(row: RunRow, column: Column) -> str:
    run = row.run
    match column:
        case Column.STATE:
            return run.message or _TOOLTIPS[column]
        case Column.RUN:
            notes = "\n".join(f"step {note.step}: {note.text}" for note in row.notes)
            return "\n".join(part for part in (row.title, notes) if part)
        case Column.ORIGIN:
            return f"{_TOOLTIPS[column]} Written by {run.program}."
        case Column.TASK | Column.TAGS:
            return cell_text(row, column) or _TOOLTIPS[column]
        case Column.STARTED:
            return f"{_TOOLTIPS[column]} {datetime.fromtimestamp(run.created_s):%Y-%m-%d %H:%M:%S}"
        case _:
            return _TOOLTIPS[column]
