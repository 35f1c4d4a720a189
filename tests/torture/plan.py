"""What a seed draws of a table before its columns."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields

ORIGINS = ("forged", "forged", "forged", "converted", "delta", "delta-rs")
# Those of summer time; those whose offsets have seconds, or had, and those of quarters of hours.
ZONES = (
    "UTC", "UTC", "America/New_York", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe",
    "Africa/Monrovia", "Asia/Kathmandu", "Europe/Amsterdam", "America/Caracas", "Pacific/Apia",
)  # fmt: skip
ORDINARY_ZONES = ZONES[:6]
# Shares of tables:
EVOLVED = 0.3
WIDENED = 0.25  # of those that have a type that Delta widens, and whose schema stays otherwise
HIDDEN = 0.35  # some of whose rows vectors hide
DAMAGED = 0.3  # of those with vectors, one of which is damaged for a while


@dataclass(frozen=True)
class Plan:
    """The kinds of a table that a seed draws, each by itself."""

    origin: str
    tame: bool  # names that every writer takes
    zone: str
    case_sensitive: bool
    recased: bool  # some files spell names in another case
    defaults: bool  # files lack columns for which readers supply something else than null
    by_rows: bool  # Spark reads the table row by row, and not in batches
    evolved: bool  # columns, and what they hold, are added, dropped, renamed and moved
    widened: bool
    raw: bool  # texts of bytes that are no UTF-8
    extreme: bool  # the least and the greatest values of every type
    bulky: bool  # pages of up to 4 MB
    hidden: bool
    damaged: bool

    @classmethod
    def of(cls, seed: int) -> Plan:
        rng = random.Random(f"plan {seed}")
        origin = rng.choice(ORIGINS)
        by_files = origin in ("forged", "converted")
        case_sensitive = rng.random() < 0.25
        evolved = rng.random() < EVOLVED
        defaults = by_files and rng.random() < 0.2
        return cls(
            origin,
            tame=rng.random() < (0.8 if origin == "converted" or evolved else 0.3),
            zone=rng.choice(ZONES),
            case_sensitive=case_sensitive,
            recased=by_files and rng.random() < (0.6 if case_sensitive else 0.2),
            defaults=defaults,
            # So it takes defaults for the last columns only.
            by_rows=not (defaults and evolved) and rng.random() < 0.35,
            evolved=evolved,
            widened=not evolved and rng.random() < WIDENED / (1 - EVOLVED),
            raw=origin != "delta-rs" and rng.random() < 0.15,
            extreme=rng.random() < 0.25,
            bulky=rng.random() < 0.08,
            hidden=rng.random() < HIDDEN,
            damaged=rng.random() < DAMAGED,
        )

    def kinds(self) -> list[str]:
        """Name what was drawn."""
        found = [f.name for f in fields(self) if getattr(self, f.name) is True]
        return [*found, *([] if self.zone in ORDINARY_ZONES else ["odd zone"])]
