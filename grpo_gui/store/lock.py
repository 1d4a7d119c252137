"""One window per database: the second one says so."""

from pathlib import Path

from filelock import FileLock, Timeout

from grpo_gui.errors import StoreError


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
