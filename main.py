"""Start the window: `python main.py`."""

from grpo_gui.app import main

if __name__ == "__main__":
    raise SystemExit(main())
