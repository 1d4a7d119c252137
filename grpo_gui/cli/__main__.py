"""`python -m grpo_gui.cli` is the same as `grpo-gui`."""

from grpo_gui.cli.main import main

main()
