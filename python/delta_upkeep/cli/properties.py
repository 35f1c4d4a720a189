"""Settings of Spark from the command line: ``--conf`` and ``--properties-file``."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from pathlib import Path

from delta_upkeep._properties import read
from delta_upkeep.fleet.keys import ConfigError


def add_settings(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--conf",
        metavar="KEY=VALUE",
        dest="conf",
        type=setting,
        action="append",
        default=[],
        help="a setting of Spark; can be repeated",
    )
    parser.add_argument(
        "--properties-file",
        metavar="FILE",
        type=Path,
        help="settings of Spark, in the format of spark-defaults.conf",
    )


def setting(text: str) -> tuple[str, str]:
    """Read ``key=value``."""
    key, equals, value = text.partition("=")
    if not equals or not key.startswith("spark."):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not KEY=VALUE with a key that starts with 'spark.', such as "
            "spark.driver.memory=4g"
        )
    return key, value


def settings_of(arguments: Namespace) -> dict[str, str]:
    """Return the settings. As with spark-submit, ``--conf`` takes precedence over the file.

    Raises:
        ConfigError: The file cannot be read.
    """
    file: Path | None = arguments.properties_file
    try:
        text = "" if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        why = e.strerror if isinstance(e, OSError) else "it is not UTF-8"
        raise ConfigError(f"The file {file} cannot be read: {why}. Check --properties-file.") from e
    # Spark ignores other keys too, with a warning.
    of_file = {key: value for key, value in read(text).items() if key.startswith("spark.")}
    return {**of_file, **dict(arguments.conf)}
