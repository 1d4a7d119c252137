"""Runs made elsewhere, dropped onto the window or chosen in its dialog: read once or followed, then shown."""

from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, Qt
from PySide6.QtWidgets import QWidget

from grpo_gui.events import RunStatus
from grpo_gui.outside.importing import ImportReport, Progress, import_path
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.run_files import is_database, take_in
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.engine import Writer
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.background_job import BackgroundJob
from grpo_gui.ui.run_following import RunFollowing
from grpo_gui.ui.widgets.import_dialog import ImportDialog
from grpo_gui.ui.widgets.job_strip import JobStrip
from grpo_gui.ui.workspace import Workspace

_SHARES = 1000
_SHOWN_PROBLEMS = 20


class RunImports(QObject):
    """Imports one place after the other; the strip tells how far it is and what came of it."""

    def __init__(self, workspace: Workspace, strip: JobStrip, window: QWidget) -> None:
        super().__init__(window)
        self._workspace, self._strip, self._window = workspace, strip, window
        self._waiting: deque[Path] = deque()
        self.following = RunFollowing(workspace, self)
        self.dialog: ImportDialog | None = None
        workspace.import_requested.connect(self.choose)
        self.following.begun.connect(self._following_begun)
        self.following.found.connect(self._followed_run_found)
        self.following.ended.connect(self._following_ended)

    def choose(self, follow: bool = False) -> None:
        """Ask for a run, to be imported or followed."""
        self.dialog = ImportDialog(self._window, self.following.names, follow=follow)
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog.chosen.connect(self._chosen)
        self.dialog.stop_asked.connect(self.following.stop)
        self.dialog.open()

    def _chosen(self, place: str, follow: bool) -> None:
        if follow:
            self.following.start(place)
        else:
            self.start([Path(place).expanduser()])

    def start(self, paths: Sequence[Path]) -> None:
        """Import these places, after those that wait already."""
        self._waiting.extend(paths)
        if not self._strip.is_busy:
            self._next()

    def _following_begun(self, name: str) -> None:
        words = f"Following {name}; its run is shown as soon as it has a step."
        self._strip.tell(words, "Stop following", partial(self.following.stop, name))

    def _followed_run_found(self, name: str, run_id: int) -> None:
        self._strip.tell(f"Run {run_id} follows {name}.", "Stop following", partial(self.following.stop, name))
        self._workspace.refresh_runs()
        self._workspace.select_run(run_id)
        self._workspace.view_requested.emit("train")

    def _following_ended(self, name: str, status: RunStatus | None) -> None:
        self._strip.tell(f"{name} is no longer followed." if status is None else f"{name}: the run {status.value}.")
        self._workspace.refresh_runs()

    def _next(self) -> None:
        if not self._waiting:
            return
        path = self._waiting.popleft()
        job: BackgroundJob[list[ImportReport]] = BackgroundJob(
            f"Importing {path.name}\u2026", partial(self._done, path), self._failed
        )
        self._strip.follow(job)
        self._workspace.write(partial(_import, path=path, job=job), job.done, job.failed)

    def _done(self, path: Path, reports: list[ImportReport]) -> None:
        kept = [report for report in reports if report.run_id is not None]
        self._workspace.refresh_runs()
        if kept:
            self._workspace.select_run(kept[-1].run_id)
            self._workspace.view_requested.emit("train" if len(kept) == 1 else "runs")
        self._strip.tell(_sentence(path, kept))
        problems = [problem for report in reports for problem in report.problems]
        if problems:
            rest = f" {count(len(problems) - 1)} more parts were left out." if len(problems) > 1 else ""
            details = "\n".join(problems[:_SHOWN_PROBLEMS]) if len(problems) > 1 else ""
            self._workspace.notice.emit(f"Left out: {problems[0]}{rest}", details)
        self._next()

    def _failed(self, failure: TaskFailure) -> None:
        self._workspace.problem.emit(failure.message, failure.traceback)
        self._next()


def dropped_paths(data: QMimeData) -> list[Path]:
    """The files and folders of this machine in what is dragged; empty where there are others."""
    urls = data.urls() if data.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls] if all(url.isLocalFile() for url in urls) else []


def _import(writer: Writer, path: Path, job: BackgroundJob[list[ImportReport]]) -> list[ImportReport]:
    if is_database(path):
        return _import_database(writer, path, job)

    def progress(one: Progress) -> None:
        job.progress(round(_SHARES * one.share), _SHARES)

    return list(import_path(path, writer, progress=progress, is_cancelled=job.cancelled))


def _import_database(writer: Writer, path: Path, job: BackgroundJob[list[ImportReport]]) -> list[ImportReport]:
    """Copy the runs of another database of ours."""
    taken = take_in(path, writer, job.progress, job.cancelled)
    with StoreReader(writer.path) as reader:
        runs = [(reader.run(run_id), run_id in taken.new) for run_id in (*taken.known, *taken.new)]
    return [
        ImportReport(str(path), run.id, is_new, is_new, run.steps_done, run.completions, "", ())
        for run, is_new in runs
        if run is not None
    ]


def _sentence(path: Path, reports: Sequence[ImportReport]) -> str:
    if not reports:
        return f"Cancelled; nothing of {path.name} was imported."
    if len(reports) > 1:
        new = sum(report.is_new for report in reports)
        return f"{count(len(reports))} runs were found in {path.name}; {count(new)} of them are new."
    (report,) = reports
    if not report.has_changed:
        return f"Run {report.run_id} holds {path.name} already; nothing has changed."
    done = "was imported" if report.is_new else "was brought up to date"
    samples = f"{count(report.completions)} completions"
    return f"Run {report.run_id} {done} from {path.name}: {count(report.steps)} logged steps, {samples}."
