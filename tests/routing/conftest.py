"""A store in a temporary folder, and a rater that knows the right answers."""

import threading

import pytest

from grpo_gui.routing.service import RouterService
from grpo_gui.store.writer import StoreWriter
from tests.routing.fake_server import FakeServer


class Opened:
    """A database with a router; `reopen` closes both and opens them again, as a restart does."""

    def __init__(self, path):
        self.path = path
        self.service_changed = threading.Event()
        self.open()

    def open(self):
        self.writer = StoreWriter.open(self.path)
        self.service = RouterService(self.path, self.writer, changed=self.service_changed.set)
        self.service.start()

    def close(self):
        assert self.service.close()
        self.writer.close()

    def reopen(self):
        self.close()
        self.open()
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


@pytest.fixture
def server():
    pytest.importorskip("openai", reason="needs the router extra")
    fake = FakeServer()
    yield fake
    fake.close()


@pytest.fixture
def ready(opened):
    """Wait until a model is no longer being tried; returns how it is."""

    def wait_for(name):
        for _ in range(1000):
            health = {each.model.name: each for each in opened.service.models.all()}[name]
            if health.state != "loading":
                return health
            opened.service_changed.wait(0.05)
            opened.service_changed.clear()
        raise AssertionError(f"{name} is still being tried")

    return wait_for
