"""`python -m grpo_gui.handover RUN DATABASE`: the process that looks after a job of TRL; the window starts it."""

import sys
from pathlib import Path

from grpo_gui.errors import GrpoGuiError
from grpo_gui.handover.supervisor import supervise


def main() -> None:
    """Run the job of a run; its end stands in the database."""
    try:
        supervise(int(sys.argv[1]), Path(sys.argv[2]))
    except GrpoGuiError as error:
        sys.exit(f"grpo-gui: {error}")


if __name__ == "__main__":
    main()
