"""`python -m lookalike`: the command, where it is not on the path."""

import sys

from lookalike.cli import main

sys.exit(main())
