"""Changes to files that Hadoop's local file system has written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def forget_checksum(file: Path) -> None:
    """Delete Hadoop's own checksum, which would find out a change before anyone else."""
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def lose(file: Path) -> None:
    file.unlink()
    forget_checksum(file)


def overwrite(file: Path, change: Callable[[bytes], bytes]) -> None:
    """Write other bytes in place of those that a file has."""
    file.write_bytes(change(file.read_bytes()))
    forget_checksum(file)
