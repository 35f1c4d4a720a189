"""The command line: ``delta-upkeep run`` for a fleet, and one command for each statement."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from delta_upkeep._report.checks import SEVERITIES
from delta_upkeep.cli import one_table
from delta_upkeep.cli.properties import add_settings
from delta_upkeep.cli.run import LAST_PASS, run
from delta_upkeep.cli.session import StartError
from delta_upkeep.fleet.errors import NothingFoundError, error_of
from delta_upkeep.fleet.files import place_of
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.version import __version__

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]

FAILED = 1
USAGE = 2

_DESCRIPTION = """\
Maintain Delta tables: compact data files, write checkpoints, delete expired files of the log.

examples:
  delta-upkeep run --config upkeep.toml --dry-run
  delta-upkeep health sales.orders
  delta-upkeep optimize s3a://lake/orders --where "day >= '2026-01-01'" --option targetFileSize=512m
"""
_EXIT = "exit codes: 0 success, 1 a table failed or a pattern of tables.include matches \
no table, 2 invalid configuration or usage, 3 health found something of --fail-on, 130 and 143 \
interrupted"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        code: int = parsed.command(parsed)
    except (ConfigError, StartError) as e:
        return _fail(str(e), USAGE)
    # An OSError means that the summary, or the page of --html, could not be written.
    except (PySparkException, Py4JError, NothingFoundError, OSError) as e:
        return _fail(error_of(e).message, FAILED)
    return code


def _fail(message: str, code: int) -> int:
    print(f"delta-upkeep: {message}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="delta-upkeep",
        description=_DESCRIPTION,
        epilog=_EXIT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"delta-upkeep {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_health(commands)
    optimize = _add_statement(commands, "optimize", one_table.optimize, "compact small files")
    optimize.add_argument("--where", metavar="PREDICATE", help="only partitions that match")
    optimize.add_argument("--zorder", metavar="COLUMN,...", help="sort rows along a Z-curve")
    optimize.add_argument(
        "--full", action="store_true", help="recluster every file of a clustered table"
    )
    _add_statement(commands, "checkpoint", one_table.checkpoint, "write a checkpoint")
    cleanup = _add_statement(
        commands, "cleanup", one_table.cleanup, "delete expired files of the log"
    )
    cleanup.add_argument("--retain", metavar="HOURS", type=float, help="hours of history to keep")
    vacuum = _add_statement(
        commands, "vacuum", one_table.vacuum, "delete data files that no version needs"
    )
    vacuum.add_argument(
        "--retain", metavar="HOURS", type=float, help="hours that removed files stay"
    )
    analyze = _add_statement(
        commands, "analyze", one_table.analyze, "make statistics that files lack"
    )
    analyze.add_argument("--where", metavar="PREDICATE", help="only partitions that match")
    analyze.add_argument("--columns", metavar="COLUMN,...", help="only if they lack these")
    _add_statement(commands, "fsck", one_table.fsck, "find lost and damaged files, and repair")
    _add_statement(
        commands, "maintain", one_table.maintain, "compact, checkpoint and clean up, if due"
    )
    return parser


def _add_run(commands: _Commands) -> None:
    parser = commands.add_parser(
        "run",
        help="maintain the tables of a configuration, highest gain first",
        description="Maintain the tables of a configuration in one pass, highest gain first. "
        "Example: delta-upkeep run --config upkeep.toml",
        epilog=_EXIT,
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=place_of,
        required=True,
        help="a TOML file: a path, or a URI such as s3a://bucket/upkeep.toml",
    )
    parser.add_argument("--dry-run", action="store_true", help="plan only, and change nothing")
    parser.add_argument(
        "--resume",
        metavar="SUMMARY",
        type=place_of,
        nargs="?",
        const=LAST_PASS,
        help="skip tables that this summary, or without one the history, marks as finished",
    )
    parser.add_argument(
        "--summary",
        metavar="FILE",
        type=place_of,
        help="write the summary here, not to run.summary",
    )
    parser.add_argument("--json", action="store_true", help="print the summary on standard output")
    add_settings(parser)
    parser.set_defaults(command=run)


def _add_health(commands: _Commands) -> None:
    health = _add_command(
        commands,
        "health",
        one_table.health,
        "check a table and suggest fixes",
        "--html orders.html",
    )
    health.add_argument(
        "--html", metavar="FILE", type=Path, help="also write the report as an HTML page"
    )
    health.add_argument(
        "--fail-on",
        choices=SEVERITIES[1:],
        help="exit with 3 if a check is this severe, or more",
    )


def _add_statement(
    commands: _Commands, name: str, command: one_table.Command, help_text: str
) -> argparse.ArgumentParser:
    parser = _add_command(commands, name, command, help_text, "--dry-run")
    parser.add_argument("--dry-run", action="store_true", help="plan only, and change nothing")
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        dest="options",
        type=one_table.option,
        action="append",
        default=[],
        help="option of the statement; can be repeated",
    )
    return parser


def _add_command(
    commands: _Commands, name: str, command: one_table.Command, help_text: str, example: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=help_text,
        description=f"{help_text.capitalize()}. "
        f"Example: delta-upkeep {name} sales.orders {example}",
    )
    parser.add_argument("table", metavar="TABLE", help="a name of one to three parts, or a path")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    parser.add_argument(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        help="the same as --format json",
    )
    add_settings(parser)
    parser.set_defaults(command=command)
    return parser
