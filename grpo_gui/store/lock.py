"""One window per database, one trainer per run: the second one says so."""

from pathlib import Path

from filelock import FileLock, Timeout

from grpo_gui.errors import BadInputError, StoreError


class WindowLock:
    """Held by the window that shows a database; released by the system when its process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = FileLock(path.with_name(path.name + ".window-lock"), thread_local=False)

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            StoreError: another window holds it, or the folder may not be written.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
        except Timeout as error:
            raise StoreError(
                f"Another window shows the database {self._path} already. Use that window, or choose another database."
            ) from error
        except OSError as error:
            raise StoreError(
                f"The folder {self._path.parent} may not be written ({error.strerror}). Choose another database."
            ) from error

    def release(self) -> None:
        """Give the lock back; calling it again does nothing."""
        self._lock.release()


class RunClaim:
    """The right to train a run: one trainer at a time, wherever it runs. The system frees it when its process dies."""

    def __init__(self, run_id: int, folder: Path) -> None:
        """`folder` keeps the run's training state; the claim is a lock in it."""
        self.run_id, self.folder = run_id, folder
        self._lock = FileLock(folder / ".trainer-lock", thread_local=False)

    def acquire(self, patience_s: float = 0.0) -> None:
        """Take the claim; wait at most `patience_s` for a trainer that is about to end.

        Raises:
            BadInputError: another trainer has the run.
            StoreError: the run's folder may not be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=patience_s)
        except Timeout as error:
            raise BadInputError(
                f"Run {self.run_id} is being trained already, by another process or window. Stop it there, or wait "
                "until it ends."
            ) from error
        except OSError as error:
            raise StoreError(
                f"The folder {self.folder} may not be written ({error.strerror}); check its permissions."
            ) from error

    def release(self) -> None:
        """Give the claim back; calling it again does nothing."""
        self._lock.release()

    def __enter__(self) -> "RunClaim":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def claimed_run(run_id: int, folder: Path, patience_s: float = 0.0) -> RunClaim:
    """The claim of a run, taken; see `RunClaim.acquire`."""
    claim = RunClaim(run_id, folder)
    claim.acquire(patience_s)
    return claim
