"""Run, watch, steer and judge GRPO on one's own machine."""

__version__ = "0.1.0"
