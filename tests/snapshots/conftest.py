import pytest

from tests.snapshots.samples import make_snapshot
from tests.training.fakes import make_tiny_model


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture
def snapshot(tmp_path, tiny_model):
    return make_snapshot(tmp_path / "step-000050", tiny_model).path
