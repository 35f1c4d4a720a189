"""A v2 checkpoint whose paths are spelled as Delta does not: `./y.parquet`, `x//y.parquet`."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


class NoCheckpoint(Exception):
    """There is no v2 checkpoint in JSON."""


def respell(table: Path, rng: random.Random) -> str:
    """Spell the paths of the newest v2 checkpoint anew; half the time without checksums."""
    log = table / "_delta_log"
    checkpoints = sorted(log.glob("*.checkpoint.*.json"))
    if not checkpoints:
        raise NoCheckpoint
    top_level = checkpoints[-1]
    actions = [json.loads(line) for line in top_level.read_text().splitlines()]
    for action in (action["sidecar"] for action in actions if "sidecar" in action):
        old = log / "_sidecars" / Path(action["path"]).name
        # Other checkpoints may name the old one.
        new = old.with_name(f"{rng.getrandbits(64):016x}-respelled.parquet")
        pq.write_table(_respelled(pq.read_table(old), rng), new)
        action["path"], action["sizeInBytes"] = new.name, new.stat().st_size
    top_level.write_text("".join(json.dumps(action) + "\n" for action in actions))
    for name in (f".{top_level.name}.crc", "_last_checkpoint", "._last_checkpoint.crc"):
        (log / name).unlink(missing_ok=True)
    checksums = rng.random() < 0.5
    for checksum in [] if checksums else list(log.glob("*.crc")):
        checksum.unlink()
    return f"paths of {top_level.name} respelled, {'with' if checksums else 'without'} checksums"


def _respelled(rows: pa.Table, rng: random.Random) -> pa.Table:
    at = rows.schema.get_field_index("add")
    if at < 0:
        return rows
    values = rows.column(at).to_pylist()
    for add in values:
        if add is not None and "://" not in add["path"] and not add["path"].startswith("/"):
            folder, slash, name = add["path"].rpartition("/")
            doubled = f"{folder}//{name}" if slash else f".//{name}"
            add["path"] = rng.choice([add["path"], f"./{add['path']}", doubled])
    return rows.set_column(at, rows.schema.field(at), pa.array(values, rows.schema.field(at).type))
