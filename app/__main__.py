"""`python -m app` is the command `foreland`."""

import sys

from app.cli.ends import leave
from app.cli.main import main

sys.exit(leave(main()))
