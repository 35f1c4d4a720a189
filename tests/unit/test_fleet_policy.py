"""When a table may be started, by its policy."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from delta_upkeep.fleet import FleetConfig
from delta_upkeep.fleet.history_rows import Failures
from delta_upkeep.fleet.policy import NO_POLICY, POLICY_KEYS, InvalidProperty, Policy, of_properties
from delta_upkeep.fleet.selection import Chosen, Found, choose

THURSDAY = "2026-11-26"


def policy(**values: Any) -> Policy:
    read = {key.name: key.read for key in POLICY_KEYS}
    return Policy(**{name: read[name](value) for name, value in values.items()})


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("values", "moment", "is_open"),
    [
        ({}, "2026-11-26T12:00", True),
        ({"window": "09:00-17:00"}, "2026-11-26T09:00", True),
        ({"window": "09:00-17:00"}, "2026-11-26T17:00", False),
        ({"window": "22:00-24:00"}, "2026-11-26T23:59", True),
        ({"window": "22:00-24:00"}, "2026-11-26T00:00", False),
        ({"window": "00:00-24:00"}, "2026-11-26T00:00", True),
        ({"window": "00:00-24:00"}, "2026-11-26T23:59", True),
        ({"window": "22:00-06:00"}, "2026-11-26T21:59", False),
        ({"window": "22:00-06:00"}, "2026-11-26T22:00", True),
        ({"window": "22:00-06:00"}, "2026-11-27T05:59", True),
        ({"window": "22:00-06:00"}, "2026-11-27T06:00", False),
        # In Berlin it is an hour later in winter, and two in summer.
        ({"window": "22:00-06:00", "time_zone": "Europe/Berlin"}, "2026-11-26T21:00", True),
        ({"window": "22:00-06:00", "time_zone": "Europe/Berlin"}, "2026-11-26T05:00", False),
        ({"window": "22:00-06:00", "time_zone": "Europe/Berlin"}, "2026-07-02T20:00", True),
        ({"days": "thu"}, "2026-11-26T12:00", True),
        ({"days": ["Fri", "sat"]}, "2026-11-26T12:00", False),
        # A day is that on which the window begins.
        ({"days": "thu", "window": "22:00-06:00"}, "2026-11-27T05:00", True),
        ({"days": "thu", "window": "22:00-06:00"}, "2026-11-26T05:00", False),
        ({"days": "sun", "window": "22:00-06:00"}, "2026-11-30T05:00", True),
        ({"days": "thu", "time_zone": "Asia/Tokyo"}, "2026-11-25T15:00", True),
    ],
)
def test_windows(values: dict[str, Any], moment: str, is_open: bool):
    refusal = policy(**values).refusal(at(moment), None)
    assert (refusal is None) == is_open


def test_a_refusal_says_when_it_may_be_started():
    found = policy(window="1:00-2:30", days="sun, sat", time_zone="Asia/Tokyo")
    assert found.refusal(at("2026-11-26T12:00"), None) == (
        "outside its window: 01:00-02:30 Asia/Tokyo, on sat, sun"
    )


@pytest.mark.parametrize(
    ("values", "count", "hours_ago", "is_paused"),
    [
        ({}, 99, 0, False),
        ({"pause_after": 0}, 99, 0, False),
        ({"pause_after": 3}, 2, 0, False),
        ({"pause_after": 3}, 3, 23, True),
        ({"pause_after": 3}, 4, 25, False),
        ({"pause_after": "1", "pause_for": "30m"}, 1, 0, True),
        ({"pause_after": 1, "pause_for": "30m"}, 1, 1, False),
    ],
)
def test_pauses(values: dict[str, Any], count: int, hours_ago: int, is_paused: bool):
    now = at("2026-11-26T12:00")
    failures = Failures(count, now.timestamp() - 3600 * hours_ago)
    assert (policy(**values).refusal(now, failures) is not None) == is_paused


def test_the_nearest_wins():
    config = FleetConfig.of(
        {
            "tables": {"include": ["*"]},
            "options": {"steps": "optimize", "maxBytes": "9g"},
            "policy": {"priority": 1, "window": "01:00-02:00", "days": "mon"},
            "overrides": [
                {"match": "t", "priority": 2, "window": "02:00-03:00"},
                {"match": "*", "priority": 3, "options": {"MAXBYTES": "8g"}},
                {"match": "other", "priority": 4},
            ],
        }
    )
    (chosen,) = choose([Found("", ("c", "s", "t"))], config)
    assert chosen.policy == policy(priority=3, window="02:00-03:00", days="mon")
    own = of_properties(
        {
            "deltaUpkeep.priority": "5",
            "deltaUpkeep.timeZone": "Asia/Tokyo",
            "deltaUpkeep.maxBytes": "7g",
            "deltaUpkeep.enabled": "true",
            "delta.appendOnly": "true",
        }
    )
    assert own.warnings == ()
    assert chosen.with_own(own) == Chosen(
        chosen.table,
        {"steps": "optimize", "maxBytes": "7g"},
        policy(priority=5, window="02:00-03:00", days="mon", time_zone="Asia/Tokyo"),
    )
    assert of_properties({}).policy == NO_POLICY


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", "22:00"),
        ("window", "25:00-26:00"),
        ("window", "06:00-06:00"),
        ("days", "monday"),
        ("days", ""),
        ("timeZone", "Berlin"),
        ("timeZone", "../etc/passwd"),
        ("priority", "high"),
        ("pauseAfter", "-1"),
        ("pauseFor", "1"),
    ],
)
def test_what_a_property_may_not_say(name: str, value: str):
    with pytest.raises(
        InvalidProperty, match=rf"The property deltaUpkeep\.{name} cannot be .* Use"
    ):
        of_properties({f"deltaUpkeep.{name}": value})
