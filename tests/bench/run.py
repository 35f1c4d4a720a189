"""Runs the benchmarks and writes the results, each as it comes."""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from bench.chart import draw
from bench.environment import setting_of
from bench.measure import BENCHMARKS, Bench, chosen
from bench.paths import LOGS, RESULTS, WORK
from bench.report import markdown
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
    print(f"\n{arguments.results}/optimize.md after {time.monotonic() - started:.0f} s")


def publish(name: str, result: Result, directory: Path) -> None:
    """Add a result to those that are there, and write table and chart anew."""
    directory.mkdir(parents=True, exist_ok=True)
    raw = directory / "optimize.json"
    known = {**load(raw), name: result}
    results = {name: known[name] for name in BENCHMARKS if name in known}
    save(results, raw)
    (directory / "optimize.md").write_text(markdown(results))
    draw(results, directory / "optimize.png")


def say(text: str) -> None:
    """Print what is going on."""
    print(f"  {text}", flush=True)


if __name__ == "__main__":
    main()
