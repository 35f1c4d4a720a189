"""The configuration of a fleet, and how it is read from a TOML file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Union

from delta_upkeep._table.options import option_texts
from delta_upkeep.fleet.files import Files, Place, place_of
from delta_upkeep.fleet.keys import ConfigError, InvalidValue, Key, KeyTable, of_type
from delta_upkeep.fleet.patterns import NamePattern, PathPattern, pattern_of
from delta_upkeep.fleet.policy import NO_POLICY, POLICY_KEYS, Policy
from delta_upkeep.fleet.quantities import duration_of, size_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Pattern = Union[NamePattern, PathPattern]

DEFAULT_LEASE = 600.0


@dataclass(frozen=True)
class Override:
    """Options and a policy for the tables that one of the patterns matches."""

    match: tuple[Pattern, ...]
    options: Mapping[str, str]
    policy: Policy = NO_POLICY


@dataclass(frozen=True)
class FleetConfig:
    """Which tables a fleet has, and how a pass maintains them.

    Attributes:
        include: Patterns that select tables.
        exclude: Patterns that leave tables out.
        allow_empty: Whether a pattern of ``include`` may match no table.
        concurrency: The number of tables to maintain at a time.
        time_budget: Seconds after which no further table is started; None for no limit.
        byte_budget: Bytes of data files that the pass may rewrite; None for no limit.
        history: The name or the path of the Delta table to which each pass appends its results.
        lease: Seconds of silence after which the driver of a pass counts as lost.
        summary: The file to which the summary is written as JSON: a local one, or a URI.
        options: Options of MAINTAIN for every table.
        policy: When every table is maintained.
        overrides: Options and policies for some tables. If several match a table, the last one
            wins.
        spark: Settings of Spark, used if the command line starts the session.
    """

    include: tuple[Pattern, ...]
    exclude: tuple[Pattern, ...] = ()
    allow_empty: bool = False
    concurrency: int = 1
    time_budget: float | None = None
    byte_budget: int | None = None
    summary: Place | None = None
    history: str | None = None
    lease: float = DEFAULT_LEASE
    options: Mapping[str, str] = field(default_factory=dict)
    policy: Policy = NO_POLICY
    overrides: tuple[Override, ...] = ()
    spark: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Place, files: Files | None = None) -> FleetConfig:
        """Read a file.

        Args:
            path: A local file, or a URI.
            files: Reaches a URI.

        Raises:
            ConfigError: The file cannot be read, is not TOML, or has an invalid key or value.
        """
        try:
            values = tomllib.loads((files or Files()).read(path))
        except OSError as e:
            raise ConfigError(
                f"The configuration {path} cannot be read: {e.strerror}. Check the path."
            ) from e
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise ConfigError(
                f"The configuration {path} is not valid TOML: {e}. Correct that line."
            ) from e
        return cls.of(values)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> FleetConfig:
        """Read the values of a file.

        Raises:
            ConfigError: A key is unknown or missing, or has an invalid value.
        """
        root = KeyTable("", values, ("tables", "run", "options", "policy", "overrides", "spark"))
        tables = root.table("tables", (_INCLUDE, _EXCLUDE, _ALLOW_EMPTY))
        run = root.table(
            "run", (_CONCURRENCY, _TIME_BUDGET, _BYTE_BUDGET, _SUMMARY, _HISTORY, _LEASE)
        )
        include = tables.get(_INCLUDE)
        if not include:
            raise ConfigError(
                "The configuration selects no tables: tables.include is missing or empty. "
                'Add patterns, such as include = ["sales.*", "/data/lake/*"].'
            )
        config = cls(
            include=include,
            exclude=tables.get(_EXCLUDE) or (),
            allow_empty=tables.get(_ALLOW_EMPTY) or False,
            concurrency=run.get(_CONCURRENCY) or 1,
            time_budget=run.get(_TIME_BUDGET),
            byte_budget=run.get(_BYTE_BUDGET),
            summary=run.get(_SUMMARY),
            history=run.get(_HISTORY),
            lease=run.get(_LEASE) or DEFAULT_LEASE,
            options=root.get(_OPTIONS) or {},
            policy=_policy(root.table("policy", POLICY_KEYS)),
            overrides=tuple(
                _override(override)
                for override in root.tables("overrides", (_MATCH, _OPTIONS, *POLICY_KEYS))
            ),
            spark=root.get(_SPARK) or {},
        )
        policies = (config.policy, *(override.policy for override in config.overrides))
        if config.history is None and any(each.pause_after for each in policies):
            raise ConfigError(
                "pause_after needs a history, which counts the failures of each table. Set "
                "run.history."
            )
        return config


def _override(values: KeyTable) -> Override:
    policy = _policy(values)
    # An override must say something.
    options = values.need(_OPTIONS) if policy == NO_POLICY else values.get(_OPTIONS)
    return Override(values.need(_MATCH), options or {}, policy)


def _policy(values: KeyTable) -> Policy:
    return Policy(**{key.name: values.get(key) for key in POLICY_KEYS})


def _patterns(value: Any) -> tuple[Pattern, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError(value)
    return tuple(pattern_of(text) for text in texts)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


def _count(value: int) -> int:
    if value < 1:
        raise ValueError(value)
    return value


def _file(value: str) -> Place:
    if not value.strip():
        raise ValueError(value)
    return place_of(value)


def _table(value: str) -> str:
    if not pattern_of(value).literal:
        raise ValueError(value)
    return value


def _options(value: Mapping[str, Any]) -> Mapping[str, str]:
    texts = _texts(value)
    lower = [name.lower() for name in texts]
    for name in texts:
        if lower.count(name.lower()) > 1:
            raise InvalidValue(
                f"The option '{name}' is given twice. The case of its name does not matter; give "
                "it once."
            )
    return texts


def _texts(value: Mapping[str, Any]) -> Mapping[str, str]:
    try:
        return option_texts(value)
    except TypeError as e:
        raise InvalidValue(str(e)) from e


def _settings(value: Mapping[str, Any]) -> Mapping[str, str]:
    """Read Spark's settings. In TOML, dotted keys without quotes are nested tables."""
    own = dict(value)
    hive = own.pop("hive", False)
    if not isinstance(hive, bool):
        raise InvalidValue("'hive' must be true or false: whether names are those of a metastore.")
    if hive:
        own["spark.sql.catalogImplementation"] = "hive"
    texts = _texts(dict(_flat("", own)))
    for key in texts:
        if not key.startswith("spark."):
            raise InvalidValue(f"'{key}' is not a Spark setting. Write 'spark.{key}'.")
    return texts


def _flat(prefix: str, values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for key, value in values.items():
        within = _flat(f"{prefix}{key}.", value) if isinstance(value, dict) else None
        pairs += within if within is not None else [(f"{prefix}{key}", value)]
    return pairs


_PATTERNS = 'patterns of tables, such as ["sales.*", "/data/lake/*"]'
_INCLUDE = Key("include", _PATTERNS, _patterns)
_EXCLUDE = Key("exclude", _PATTERNS, _patterns)
_ALLOW_EMPTY = Key("allow_empty", "true or false", _flag)
_MATCH = Key("match", _PATTERNS, _patterns)
_CONCURRENCY = Key("concurrency", "a whole number of at least 1", of_type(int, _count))
_TIME_BUDGET = Key(
    "time_budget", "a duration such as '90m' or '2h'", of_type((int, str), duration_of)
)
_BYTE_BUDGET = Key(
    "byte_budget", "a size such as '500g' or 536870912000", of_type((int, str), size_of)
)
_SUMMARY = Key("summary", "the path or the URI of a file", of_type(str, _file))
_HISTORY = Key("history", "the name or the absolute path of a Delta table", of_type(str, _table))
_LEASE = Key("lease", "a duration such as '10m'", of_type((int, str), duration_of))
_OPTIONS = Key(
    "options", "options of MAINTAIN, such as { targetFileSize = '512m' }", of_type(dict, _options)
)
_SPARK = Key("spark", "settings, such as 'spark.driver.memory' = '4g'", of_type(dict, _settings))
