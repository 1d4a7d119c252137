"""A store in a temporary folder, and a rater that knows the right answers."""

import pytest

from grpo_gui.routing.service import RouterService
from grpo_gui.store.writer import StoreWriter


class Opened:
    """A database with a router; `reopen` closes both and opens them again, as a restart does."""

    def __init__(self, path):
        self.path = path
        self._open()

    def _open(self):
        self.writer = StoreWriter.open(self.path)
        self.service = RouterService(self.path, self.writer)
        self.service.start()

    def close(self):
        assert self.service.close()
        self.writer.close()

    def reopen(self):
        self.close()
        self._open()
        return self.service


@pytest.fixture
def opened(tmp_path):
    router = Opened(tmp_path / "router.db")
    yield router
    router.close()


@pytest.fixture
def ask(opened):
    """Ask and wait; returns the decision and how each model ended, by name."""

    def ask_and_wait(query, **options):
        ended = {}

        def tell(progress):
            if progress.is_over:
                ended[progress.model] = progress

        decided, _, asking = opened.service.ask(query, tell, **options)
        asking.start()
        assert asking.wait(60)
        return decided, ended

    return ask_and_wait
