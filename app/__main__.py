"""`python -m app` is the command `foreland`."""

import sys

from app.cli import main

sys.exit(main())
