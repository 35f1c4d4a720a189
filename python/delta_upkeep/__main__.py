"""``python -m delta_upkeep``: the command line."""

import sys

from delta_upkeep.cli import main

sys.exit(main())
