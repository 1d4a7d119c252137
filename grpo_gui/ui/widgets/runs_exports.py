"""The Export menu of the Runs view: what is written, of which runs, and where to."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from grpo_gui.errors import BadInputError
from grpo_gui.exports.writing import export_runs
from grpo_gui.store.records import RunRecord
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.background_job import BackgroundJob
from grpo_gui.ui.opening import open_folder
from grpo_gui.ui.plots.pictures import save_picture
from grpo_gui.ui.widgets.job_strip import JobStrip
from grpo_gui.ui.workspace import Workspace

# What the entry says, the ending of the file, the tooltip.
_OF_RUNS = (
    ("Curves as CSV\u2026", ".csv", "Every curve of the runs with all points: one row a point."),
    ("Curves as Parquet\u2026", ".parquet", "The same as a Parquet file; needs pyarrow."),
)
_OF_ONE_RUN = (
    ("Report\u2026", ".html", "One page to read and send: curves, settings, best and worst groups, findings."),
    ("Whole run as one file\u2026", ".db", "A database with just this run, which another grpo-gui opens or imports."),
)
_OF_PLOTS = (
    ("Plots as PNG\u2026", ".png", "The plots as they are on screen, with twice the pixels."),
    ("Plots as SVG\u2026", ".svg", "The plots as they are on screen, as lines and text."),
)


class RunsExports(QObject):
    """Asks for a file and writes it beside the GUI thread; `overlaid` and `selected` give the runs."""

    def __init__(
        self,
        workspace: Workspace,
        strip: JobStrip,
        page: QWidget,
        overlaid: Callable[[], Sequence[RunRecord]],
        selected: Callable[[], Sequence[RunRecord]],
    ) -> None:
        super().__init__(page)
        self._workspace, self._strip, self._page = workspace, strip, page
        self._overlaid, self._selected = overlaid, selected
        self.ask: Callable[[str, str], str] = self._ask_file

    def fill(self, menu: QMenu) -> None:
        """Fill a menu that is about to be shown."""
        menu.clear()
        menu.setToolTipsVisible(True)
        overlaid, selected = list(self._overlaid()), list(self._selected())
        many = overlaid or selected
        one = selected if len(selected) == 1 else overlaid if len(overlaid) == 1 else []
        for text, ending, tooltip in _OF_RUNS:
            self._add(menu, text, tooltip, many, partial(self.export, many, ending))
        menu.addSeparator()
        name = one[0].name if one else "select one run"
        for text, ending, tooltip in _OF_ONE_RUN:
            self._add(menu, text, f"{tooltip} ({name})", one, partial(self.export, one, ending))
        menu.addSeparator()
        for text, ending, tooltip in _OF_PLOTS:
            self._add(menu, text, tooltip, overlaid, partial(self.save_plots, ending))

    def export(self, runs: Sequence[RunRecord], ending: str) -> None:
        """Ask for a file and write runs to it."""
        if self._strip.is_busy:
            return
        chosen = self.ask(f"{file_name(runs)}{ending}", ending)
        if not chosen:
            return
        target, database, run_ids = (
            _with_ending(Path(chosen), ending),
            self._workspace.database,
            [run.id for run in runs],
        )
        job: BackgroundJob[bool] = BackgroundJob(
            f"Writing {target.name}\u2026", lambda whole: self._written(target, whole), self._failed
        )
        self._strip.follow(job)
        self._workspace.read(
            lambda _: export_runs(database, run_ids, target, job.progress, job.cancelled, replaces=True),
            job.done,
            job.failed,
        )

    def save_plots(self, ending: str) -> None:
        """Ask for a file and write the plots to it."""
        chosen = self.ask(f"{file_name(self._overlaid())}-plots{ending}", ending)
        if not chosen:
            return
        target = _with_ending(Path(chosen), ending)
        try:
            save_picture(self._page, target)
        except BadInputError as error:
            self._workspace.problem.emit(str(error), "")
            return
        self._written(target, True)

    def _add(
        self, menu: QMenu, text: str, tooltip: str, runs: Sequence[RunRecord], function: Callable[[], None]
    ) -> None:
        action = menu.addAction(text)
        action.setToolTip(tooltip)
        action.setEnabled(bool(runs))
        action.triggered.connect(lambda _checked: function())

    def _ask_file(self, name: str, ending: str) -> str:
        folder = Path.home()
        chosen, _ = QFileDialog.getSaveFileName(self._page, "Export", str(folder / name), f"*{ending}")
        return chosen

    def _written(self, target: Path, whole: bool) -> None:
        if whole:
            self._strip.tell(f"Written: {target}", "Show in its folder", lambda: open_folder(target.parent))
        else:
            self._strip.tell(f"Cancelled; {target.name} was not written.")

    def _failed(self, failure: TaskFailure) -> None:
        self._workspace.problem.emit(failure.message, failure.traceback)


def file_name(runs: Sequence[RunRecord]) -> str:
    """A name for a file with these runs: that of the only one, with letters that every file system takes."""
    name = f"{runs[0].name}-seed-{runs[0].seed}" if len(runs) == 1 else f"{len(runs)}-runs"
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return "-".join(part for part in kept.split("-") if part)[:80] or "run"


def _with_ending(target: Path, ending: str) -> Path:
    return target if target.suffix.lower() == ending else target.with_name(target.name + ending)
