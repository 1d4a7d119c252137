"""Settings that all tests share."""

from hypothesis import settings

# A busy machine must not fail a test: how long an example takes is no property of the code.
settings.register_profile("grpo-gui", deadline=None)
settings.load_profile("grpo-gui")
