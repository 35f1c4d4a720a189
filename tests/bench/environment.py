"""The machine and the versions that figures belong to."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from bench.paths import CORES, DRIVER_MEMORY


@dataclass(frozen=True)
class Setting:
    """All that a figure depends on but the code of the benchmark."""

    cpu: str
    cpus: int
    memory_gib: float
    kernel: str
    java: str
    spark: str
    delta: str
    delta_rs: str
    upkeep: str
    cores: int
    driver_memory: str
    scale: float
    runs: int
    date: str


def setting_of(scale: float, runs: int) -> Setting:
    """Look at this machine and at what is installed."""
    return Setting(
        cpu=_line_of("/proc/cpuinfo", r"model name\s*: (.*)") or platform.processor(),
        cpus=os.cpu_count() or 1,
        memory_gib=round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        kernel=f"{platform.system()} {platform.release()}",
        java=_java(),
        spark=version("pyspark"),
        delta=version("delta-spark"),
        delta_rs=version("deltalake"),
        upkeep=f"{version('delta-upkeep')} ({_commit()})",
        cores=CORES,
        driver_memory=DRIVER_MEMORY,
        scale=scale,
        runs=runs,
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
    )


def _line_of(file: str, pattern: str) -> str:
    path = Path(file)
    found = re.search(pattern, path.read_text()) if path.exists() else None
    return found.group(1).strip() if found else ""


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else "java"
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    found = re.search(r'version "([^"]+)"', said)
    return found.group(1) if found else "unknown"


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    said = subprocess.run(command, capture_output=True, text=True)
    return said.stdout.strip() or "no git"
