"""Where the program begins: `foreland`, and `python -m foreland`.

Its packages are named `app` and `engine`, as other people's are too: where one of those is found first, that is said in a sentence instead
of a traceback.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BAD_INPUT = 2


def main() -> int:
    """Runs the command line and returns its exit status."""
    for name in ("app", "engine"):
        found = importlib.util.find_spec(name)
        place = Path(found.origin).resolve().parents[1] if found is not None and found.origin else None
        if place != HERE:
            print(
                f"foreland: Python finds another package named {name!r} first, in {place}: start the program from another "
                "folder, or without that one in PYTHONPATH",
                file=sys.stderr,
            )
            return BAD_INPUT
    from app.cli.ends import leave
    from app.cli.main import main as command_line

    return leave(command_line())


if __name__ == "__main__":
    sys.exit(main())
