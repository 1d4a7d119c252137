"""The `grpo-gui` command: the window by default, and the same program without a screen."""
