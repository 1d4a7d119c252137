"""`python main.py` is the same as `grpo-gui`: without a command the window opens."""

from grpo_gui.cli.main import main

if __name__ == "__main__":
    main()
