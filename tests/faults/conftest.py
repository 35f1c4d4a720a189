"""Tells how many points were tried, whichever process tried them."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = terminalreporter.stats.get("passed", [])
    told = [
        value
        for report in reports
        for key, value in report.user_properties
        if key == "crash points"
    ]
    if told:
        terminalreporter.section("crash points tried")
        for line in told:
            terminalreporter.line(line)
