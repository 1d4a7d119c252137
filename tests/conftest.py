"""Settings that all tests share."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine must not fail a test: how long an example takes is no property of the code.
# Elsewhere than in CI each run tries new examples; in CI the same ones, so that a failure is the change's own.
settings.register_profile("grpo-gui", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("grpo-gui")


@pytest.fixture
def public_folder():
    """A folder that a user without rights can reach."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
        folder.chmod(0o777)
