"""Flips a byte of a deletion vector: rows may neither come back nor be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkException

from foreign.checks import Broken
from foreign.checks.seen import rows_by_spark
from foreign.rows import Rows, difference
from torture.statements import short
from torture.tables import DraftedTable

DAMAGED = "DELTA_UPKEEP.DATA_FILE_DAMAGED"


def try_damaged_vector(table: DraftedTable, tally: Counter[str]) -> bool:
    """Run OPTIMIZE while a vector is damaged; tell whether the table is whole again afterwards.

    Delta may read a damaged vector, where nobody looks at the byte. OPTIMIZE may then do so too.
    """
    rng = table.draft.rng
    vectors = sorted(table.path.rglob("deletion_vector_*.bin"))
    if not vectors:
        return True
    vector = rng.choice(vectors)
    at, bit = rng.randrange(vector.stat().st_size), 1 << rng.randrange(8)
    table.draft.notes.append(f"bit {bit} of byte {at} of {vector.name} flipped for one OPTIMIZE")
    version = table.version()
    with flipped(vector, at, bit, keeps_checksum=rng.random() < 0.3):
        before = rows_if_readable(table)
        error = optimize(table)
        if error is None and table.version() != version:
            check_rewrite(table, before, version, vector)
            tally["damaged vectors: rewritten as Delta reads them"] += 1
            return False
    table.forget()
    if error is None:
        tally["damaged vectors: not read, nothing rewritten"] += 1
        return True
    if table.version() != version:
        raise Broken(f"OPTIMIZE with a damaged vector failed after a commit: {short(error)}")
    if not isinstance(error, PySparkException) or error.getCondition() != DAMAGED:
        raise Broken(f"the damage of {vector.name} is not named: {short(error)}")
    if vector.name not in str(error):
        raise Broken(f"the error does not name {vector.name}: {short(error)}")
    how = "refused" if before is None else "refused, though Delta reads them"
    tally[f"damaged vectors: {how}"] += 1
    return True


def check_rewrite(table: DraftedTable, before: Rows | None, version: int, vector: Path) -> None:
    """Compare the rows of a commit that was made in spite of the damage."""
    after = rows_if_readable(table)
    if before is None and after is not None:
        raise Broken(f"OPTIMIZE of {version} took rows by {vector.name}, which Delta does not read")
    if before is not None:
        told = "nothing is readable" if after is None else difference(before, after)
        if told:
            raise Broken(f"OPTIMIZE with a damaged {vector.name}: {told}")


@contextmanager
def flipped(file: Path, at: int, bit: int, keeps_checksum: bool) -> Iterator[None]:
    """Flip a bit of a file; with or without Hadoop's own checksum, which would find it first."""
    content = bytearray(file.read_bytes())
    checksum = file.with_name(f".{file.name}.crc")
    if not keeps_checksum:
        checksum.unlink(missing_ok=True)
    file.write_bytes(bytes([*content[:at], content[at] ^ bit, *content[at + 1 :]]))
    try:
        yield
    finally:
        file.write_bytes(content)


def rows_if_readable(table: DraftedTable) -> Rows | None:
    """Read the table by Delta; None if it refuses."""
    table.forget()
    table.frame()
    try:
        return rows_by_spark(table)
    except Exception:
        return None


def optimize(table: DraftedTable) -> Exception | None:
    """Run OPTIMIZE, and give what it fails with."""
    table.forget()
    try:
        table.spark.sql(f"OPTIMIZE {table.sql_name}").collect()
    except Exception as e:
        return e
    return None
