"""Makes versions of a log older than its retention."""

from __future__ import annotations

import os
import re
from pathlib import Path

DAYS = 40
_OF_COMMIT = re.compile(r'("(?:inCommitTimestamp|inCommitTimestampOpt|timestamp)":)(\d{13})')


def age(log: Path, first: int, last: int) -> None:
    """Move the versions from `first` to `last` forty days back, by the store and by themselves."""
    for file in list(log.iterdir()):
        digits = file.name[:20]
        if not (digits.isdigit() and first <= int(digits) <= last):
            continue
        modified = file.stat().st_mtime - DAYS * 86_400
        if file.suffix in (".json", ".crc") and ".checkpoint" not in file.name:
            text = file.read_text()
            file.write_text(_OF_COMMIT.sub(_earlier, text))
            (log / f".{file.name}.crc").unlink(missing_ok=True)
        os.utime(file, (modified, modified))


def _earlier(found: re.Match[str]) -> str:
    return f"{found[1]}{int(found[2]) - DAYS * 86_400_000}"
