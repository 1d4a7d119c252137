"""`make bench`: every benchmark of this folder, one after the other, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def main() -> int:
    """Run the benchmarks; the exit code is 1 when one of them failed."""
    failed = []
    for script in sorted(FOLDER.glob("*.py")):
        if script.name.startswith("_"):
            continue
        title = script.read_text().splitlines()[0].strip('"')
        print(f"== {script.stem}: {title}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{script.stem}"], check=False).returncode:
            failed.append(script.stem)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
