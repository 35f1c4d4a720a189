"""Runs the benchmarks and writes the results, each as it comes."""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from bench.environment import setting_of
from bench.families import BENCHMARKS, chosen, family_of
from bench.measure import Bench
from bench.paths import LOGS, RESULTS, WORK
from bench.results import Result, load, save


def main() -> None:
    """Run what was asked for; results of other cases stay as they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale-factor", type=float, default=1.0, help="1 is 6 million lineitems")
    parser.add_argument("--runs", type=int, default=5, help="timed runs of each engine")
    parser.add_argument("--cases", nargs="*", default=[], help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--results", type=Path, default=RESULTS, help="directory of the results")
    arguments = parser.parse_args()
    try:
        benchmarks = chosen(arguments.cases)
    except ValueError as e:
        parser.error(str(e))

    shutil.rmtree(LOGS, ignore_errors=True)
    started = time.monotonic()
    setting = setting_of(arguments.scale_factor, arguments.runs)
    for name, benchmark in benchmarks.items():
        print(f"\n{name}", flush=True)
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        result = benchmark(Bench(setting, say))
        publish(name, result, arguments.results)
    shutil.rmtree(WORK, ignore_errors=True)
    pages = sorted({f"{family_of(name).name}.md" for name in benchmarks})
    seconds = time.monotonic() - started
    print(f"\n{' and '.join(pages)} in {arguments.results} after {seconds:.0f} s")


def publish(name: str, result: Result, directory: Path) -> None:
    """Add a result to those of its family, and write their page and chart again."""
    directory.mkdir(parents=True, exist_ok=True)
    family = family_of(name)
    files = directory / family.name
    raw = files.with_suffix(".json")
    known = {**load(raw), name: result}
    results = {name: known[name] for name in family.benchmarks if name in known}
    save(results, raw)
    files.with_suffix(".md").write_text(family.markdown(results))
    family.draw(results, files.with_suffix(".png"))


def say(text: str) -> None:
    """Print what is going on."""
    print(f"  {text}", flush=True)


if __name__ == "__main__":
    main()
