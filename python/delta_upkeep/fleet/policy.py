"""When a pass may maintain a table, and in which order. All functions are pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, time, timedelta, timezone
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from delta_upkeep.fleet.history_rows import Failures
from delta_upkeep.fleet.keys import InvalidValue, Key
from delta_upkeep.fleet.quantities import duration_of

T = TypeVar("T")

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_SECONDS = 86400.0
PREFIX = "deltaUpkeep."
# Those that are not keys of a policy are read by the statements, and by commits.
_READ_BY_SPARK = (
    "enabled",
    "checkpoint.commitBytes",
    "checkpoint.maxAge",
    "sortOrder",
    "vacuum",
    "vacuum.fullEvery",
    "vacuum.keepFor",
)
_OPTIONS = ("maxBytes", "steps")
_WINDOW = re.compile(r"(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})")


class InvalidProperty(InvalidValue):
    """A property of a table with an invalid value."""

    condition = "INVALID_PROPERTY"


@dataclass(frozen=True)
class Window:
    """A part of a day. If it ends before it begins, it ends on the next day."""

    begin: time
    end: time

    def __str__(self) -> str:
        return f"{self.begin:%H:%M}-{self.end:%H:%M}".replace("-00:00", "-24:00")


@dataclass(frozen=True)
class Policy:
    """What decides whether a table is started. A value that is None is left to what is farther.

    Attributes:
        window: When the table may be started; the whole day by default.
        days: The days on which the window begins, 0 for Monday; all by default.
        time_zone: The time zone of both; UTC by default.
        priority: Tables with a higher one come first, whatever they gain; 0 by default.
        pause_after: Failures in a row after which the table is left alone; 0, the default: never.
        pause_for: Seconds for which it is left alone after its last failure; a day by default.
    """

    window: Window | None = None
    days: frozenset[int] | None = None
    time_zone: ZoneInfo | None = None
    priority: int | None = None
    pause_after: int | None = None
    pause_for: float | None = None

    def under(self, nearer: Policy) -> Policy:
        """Add a policy that is nearer to the table: what it sets wins."""
        values = {f.name: getattr(nearer, f.name) for f in fields(Policy)}
        return replace(self, **{name: v for name, v in values.items() if v is not None})

    def refusal(self, now: datetime, failures: Failures | None) -> str | None:
        """Say why a table may not be started now, or None.

        Args:
            now: The time, with a time zone.
            failures: The table's failures in a row, if there were any.
        """
        if not self._is_open(now):
            return f"outside its window: {self._times()}"
        until = self._paused_until(failures)
        if failures is not None and until is not None and now < until:
            return f"paused after {failures.text}, until {until.isoformat(timespec='seconds')}"
        return None

    def _is_open(self, now: datetime) -> bool:
        here = now.astimezone(self.time_zone or timezone.utc)
        day, moment = here.weekday(), here.time()
        if self.window is None:
            return self._begins_on(day)
        begin, end = self.window.begin, self.window.end
        if begin < end:
            return begin <= moment < end and self._begins_on(day)
        if moment >= begin:
            return self._begins_on(day)
        return moment < end and self._begins_on((day - 1) % 7)

    def _begins_on(self, day: int) -> bool:
        return self.days is None or day in self.days

    def _times(self) -> str:
        window = str(self.window) if self.window else "all day"
        days = ", ".join(DAYS[day] for day in sorted(self.days)) if self.days else ""
        zone = self.time_zone.key if self.time_zone else "UTC"
        return f"{window} {zone}" + (f", on {days}" if days else "")

    def _paused_until(self, failures: Failures | None) -> datetime | None:
        if failures is None or not self.pause_after or failures.count < self.pause_after:
            return None
        seconds = DAY_SECONDS if self.pause_for is None else self.pause_for
        return datetime.fromtimestamp(failures.last, timezone.utc) + timedelta(seconds=seconds)


NO_POLICY = Policy()


@dataclass(frozen=True)
class OfTable:
    """What a table's own properties say.

    Attributes:
        policy: Its policy.
        options: Its options for MAINTAIN.
        warnings: Properties that have no effect.
    """

    policy: Policy
    options: Mapping[str, str]
    warnings: tuple[str, ...]


def of_properties(properties: Mapping[str, str]) -> OfTable:
    """Read the properties ``deltaUpkeep.*`` of a table. The case of their names matters.

    Raises:
        InvalidProperty: A property has an invalid value.
    """
    own = {k.removeprefix(PREFIX): v for k, v in properties.items() if k.startswith(PREFIX)}
    known = {camel(key.name): key for key in POLICY_KEYS}
    values: dict[str, Any] = {}
    for name in own.keys() & known.keys():
        key = known[name]
        try:
            values[key.name] = key.read(own[name])
        except (TypeError, ValueError) as e:
            raise InvalidProperty(
                f"The property {PREFIX}{name} cannot be {own[name]!r}. Use {key.expected}."
            ) from e
    usable = sorted({*_READ_BY_SPARK, *_OPTIONS, *known})
    return OfTable(
        Policy(**values),
        {name: own[name] for name in _OPTIONS if name in own},
        tuple(
            f"the property {PREFIX}{name} is unknown. Use one of: {', '.join(usable)}"
            for name in sorted(own.keys() - set(usable))
        )
        + tuple(
            f"the property {name} has no effect, because case matters: write {PREFIX}"
            for name in sorted(properties)
            if name.lower().startswith(PREFIX.lower()) and not name.startswith(PREFIX)
        ),
    )


def camel(name: str) -> str:
    """Write a key of a configuration as a property: ``pause_after`` as ``pauseAfter``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _text(read: Callable[[str], T]) -> Callable[[Any], T]:
    def checked(value: Any) -> T:
        if not isinstance(value, str):
            raise TypeError(value)
        return read(value.strip())

    return checked


def _window(text: str) -> Window:
    match = _WINDOW.fullmatch(text)
    if match is None:
        raise ValueError(text)
    begin_hour, begin_minute, end_hour, end_minute = (int(part) for part in match.groups())
    end = time(0 if end_hour == 24 and end_minute == 0 else end_hour, end_minute)
    begin = time(begin_hour, begin_minute)
    # From 00:00 to 24:00 is the whole day.
    if begin == end and end_hour != 24:
        raise ValueError(text)
    return Window(begin, end)


def _days(value: Any) -> frozenset[int]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not names:
        raise TypeError(value)
    # ValueError, if there is no such day.
    return frozenset(DAYS.index(str(name).strip().lower()) for name in names)


def _zone(text: str) -> ZoneInfo:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, OSError) as e:
        raise ValueError(text) from e


def _number(value: Any) -> int:
    if not isinstance(value, (int, str)) or isinstance(value, bool):
        raise TypeError(value)
    return int(value)


def _count(value: Any) -> int:
    number = _number(value)
    if number < 0:
        raise ValueError(value)
    return number


def _duration(value: Any) -> float:
    if not isinstance(value, (int, str)) or isinstance(value, bool):
        raise TypeError(value)
    return duration_of(value)


POLICY_KEYS: tuple[Key[Any], ...] = (
    Key("window", "a part of a day, such as '22:00-06:00'", _text(_window)),
    Key("days", "days such as 'sat, sun', from mon to sun", _days),
    Key("time_zone", "a time zone that this computer knows, such as 'Europe/Berlin'", _text(_zone)),
    Key("priority", "a whole number", _number),
    Key("pause_after", "a whole number; 0 is never", _count),
    Key("pause_for", "a duration such as '12h'", _duration),
)
