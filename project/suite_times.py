"""Records how long each suite took in the last `make test-scala`, to balance the processes."""

from pathlib import Path
from xml.etree import ElementTree

REPORTS = Path("scala/target/test-reports")
WRITTEN = Path("project/suite-times.txt")
# Shorter suites count alike.
LEAST_SECONDS = 3.0


def main() -> None:
    """Read the reports of sbt."""
    suites = [ElementTree.parse(report).getroot() for report in REPORTS.glob("TEST-*.xml")]
    times = sorted((-float(suite.attrib["time"]), suite.attrib["name"]) for suite in suites)
    lines = [f"{-time:.0f} {name}\n" for time, name in times if -time >= LEAST_SECONDS]
    WRITTEN.write_text("".join(lines))


if __name__ == "__main__":
    main()
