"""Where a bundle begins: the command line, with ranks started as this program again."""

import multiprocessing
import sys

if __name__ == "__main__":
    multiprocessing.freeze_support()
    from app.cli.ends import leave
    from app.cli.main import main

    sys.exit(leave(main()))
