"""`python -m app` is the command `foreland`."""

import sys

from app.cli.main import main

sys.exit(main())
