"""One window per database, one process that resumes a run: the second one says so."""

from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def resuming(run_id: int, folder: Path) -> Iterator[None]:
    """Hold a run while it is resumed: its status tells others only once the trainer has begun.

    Raises:
        BadInputError: another process resumes it now.
        StoreError: the run's folder may not be written.
    """
    lock = FileLock(folder / ".resuming", thread_local=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(blocking=False)
    except Timeout as error:
        raise BadInputError(f"Run {run_id} is being resumed by another process; wait for it, or stop it.") from error
    except OSError as error:
        raise StoreError(
            f"The folder {folder} may not be written ({error.strerror}); check its permissions."
        ) from error
    try:
        yield
    finally:
        lock.release()
