"""``python -m delta_upkeep``: the command line."""

import sys

from delta_upkeep.fleet.cli import main

sys.exit(main())
