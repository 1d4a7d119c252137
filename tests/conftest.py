"""Settings that all tests share."""

import os

from hypothesis import settings

# A busy machine must not fail a test: how long an example takes is no property of the code.
# Elsewhere than in CI each run tries new examples; in CI the same ones, so that a failure is the change's own.
settings.register_profile("grpo-gui", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("grpo-gui")
