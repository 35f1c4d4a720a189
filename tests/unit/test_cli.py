"""The command line has one entry, whatever starts it."""

from importlib.metadata import distribution

import delta_upkeep.cli
import delta_upkeep.fleet.cli


def test_every_name_of_the_command_line_leads_to_one_function():
    (script,) = distribution("delta-upkeep").entry_points
    assert (script.name, script.load()) == ("delta-upkeep", delta_upkeep.cli.main)
    assert delta_upkeep.fleet.cli.main is delta_upkeep.cli.main
