"""Histories of tables, and damage to their logs: `python -m torture.logs`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from itertools import count

from torture.histories.run import Histories
from torture.log_damage.run import LogDamage
from torture.run import KEPT
from torture.session import new_session


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--histories", type=int, default=0, help="as many instead of by minutes")
    parser.add_argument("--damages", type=int, default=0, help="as many instead of by minutes")
    args = parser.parse_args()
    seed = args.seed or int(time.time())
    print(f"logs from seed {seed} on", flush=True)
    end = time.monotonic() + 60 * args.minutes
    with new_session() as spark:
        histories, damage = Histories(spark, KEPT), LogDamage(spark, KEPT)

        def tried(one: Callable[[int], str | None], number: int) -> None:
            report = one(number)
            if report:
                print(report, flush=True)

        for number in range(seed, seed + args.histories):
            tried(histories.one, number)
        for number in range(seed, seed + args.damages):
            tried(damage.one, number)
        if not args.histories and not args.damages:
            for number in count(seed):
                if time.monotonic() > end:
                    break
                # A history takes about as long as three damages.
                tried(histories.one, number)
                for i in range(3):
                    tried(damage.one, 3 * number + i)
    tally = histories.tally + damage.tally
    for name, times in sorted(tally.items()):
        print(f"{times:6} {name}")
    broken = histories.tally["histories broken"] + damage.tally["damages broken"]
    print(f"from seed {seed} on, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
