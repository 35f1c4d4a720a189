"""FSCK finds damaged checkpoints, checksums and `_last_checkpoint`, and writes them anew."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from conftest import Table, TableFactory
from delta_upkeep.errors import condition_of
from foreign.delta_rs import ids_by_delta_rs
from foreign.table import forget
from support.files import lose, overwrite
from support.processes import DELTA
from support.templates import copy_template

pytestmark = pytest.mark.takes_turns

MANUAL = {"checkpointInterval": "1000"}
with_checksums = pytest.mark.skipif(DELTA < (3, 3), reason="Delta writes none until 3.3")
LAYOUTS = {
    "classic": ({}, ""),
    "in parts": ({}, "OPTIONS (partSize = 2)"),
    "v2": ({"checkpointPolicy": "v2"}, ""),
    "v2 in Parquet": ({"checkpointPolicy": "v2"}, "OPTIONS (format = 'parquet')"),
}


def fsck(t: Table, options: str = "", dry_run: bool = False) -> list[Row]:
    """The findings, in a session that has not seen the table."""
    forget(t.spark)
    text = f"{'DRY RUN ' if dry_run else ''}{f'OPTIONS ({options})' if options else ''}"
    *found, totals = t.spark.sql(f"FSCK REPAIR TABLE {t.sql_name} {text}").collect()
    assert totals.findings == len(found) and totals.version is None
    return found


def told(found: list[Row]) -> list[tuple[str, str, str]]:
    return [(row.kind, row.problem, row.action) for row in found]


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def without_sidecars(content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b'{"sidecar"'))


def pages(content: bytes) -> bytes:
    """All of them, and not the footer."""
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:4] + bytes(footer - 4) + content[footer:]


def checkpoint_files(t: Table, version: int) -> list[Path]:
    return sorted(t.log.glob(f"{version:020}.checkpoint*"))


def ids_from_checkpoint(t: Table, version: int) -> list[int]:
    """The ids of a version once the commits before it, and all checksums, are gone."""
    for file in t.log.glob("[0-9]*.json"):
        if file.stem.isdigit() and int(file.stem) < version:
            lose(file)
    for file in t.log.glob("[0-9]*.crc"):
        lose(file)
    forget(t.spark)
    return t.ids(version)


Checkpointed = Callable[[str], Table]


@pytest.fixture
def with_checkpoints(spark: SparkSession, tmp_path: Path) -> Checkpointed:
    """Tables with whole checkpoints of versions 2 and 4, and a commit since."""

    def build(layout: str, path: Path) -> None:
        properties, options = LAYOUTS[layout]
        settings = {f"delta.{key}": value for key, value in {**properties, **MANUAL}.items()}
        t = Table(spark, path).create(settings).append(1, 2)
        checkpoint = f"CHECKPOINT {t.sql_name} {options}"
        spark.sql(checkpoint)
        t.append(3, 4)
        full = f"{checkpoint[:-1]}, " if options else f"{checkpoint} OPTIONS ("
        spark.sql(f"{full}mode = 'full')")
        t.append(5)

    def make(layout: str) -> Table:
        t = Table(spark, tmp_path / "checkpointed")
        copy_template(spark, t.path, ("checkpointed", layout), lambda path: build(layout, path))
        return t

    return make


@pytest.mark.one_platform
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_log_that_is_whole(with_checkpoints: Checkpointed, layout: str):
    t = with_checkpoints(layout)
    before = t.all_files()
    for options in ("", "deep = true", "mode = 'restore'"):
        assert fsck(t, options) == []
    assert t.all_files() == before
    t.spark.sql(f"CHECKPOINT {t.sql_name}")
    assert fsck(t, "deep = true") == []


@pytest.mark.one_platform
@pytest.mark.parametrize(
    ("layout", "what", "change"),
    [
        ("classic", "*.parquet", cut),
        ("classic", "*.parquet", lambda content: b""),
        ("in parts", "*.0000000001.*.parquet", cut),
        ("v2", "*.json", cut),
        ("v2", "*.json", without_sidecars),
        ("v2", "_sidecars/*.parquet", cut),
        ("v2", "_sidecars/*.parquet", None),
        ("v2 in Parquet", "*.parquet", cut),
    ],
)
def test_a_damaged_checkpoint_is_written_anew(
    with_checkpoints: Checkpointed, layout: str, what: str, change: Callable[[bytes], bytes] | None
):
    t = with_checkpoints(layout)
    directory, _, pattern = what.rpartition("/")
    file = max(
        (t.log / directory).glob(f"{4:020}.checkpoint{pattern}" if not directory else f"{4:020}*")
    )
    if change is None:
        lose(file)
    else:
        overwrite(file, change)
    before = t.all_files()
    assert told(fsck(t, dry_run=True)) == [("checkpoint", "damaged", "rewrite")]
    (row,) = fsck(t, "mode = 'check'")
    assert row.action == "none" and f"{4:020}.checkpoint" in row.logFilePath
    assert t.all_files() == before
    assert told(fsck(t)) == [("checkpoint", "damaged", "rewrite")]
    assert t.ids() == [1, 2, 3, 4, 5]
    assert fsck(t, "deep = true") == []
    assert ids_from_checkpoint(t, 4) == [1, 2, 3, 4]
    assert t.ids() == [1, 2, 3, 4, 5]
    assert ids_by_delta_rs(t.path) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pages_and_older_checkpoints_are_looked_at_in_depth(
    with_checkpoints: Checkpointed, layout: str
):
    t = with_checkpoints(layout)
    for version in (2, 4):
        parquet = [*checkpoint_files(t, version), *(t.log / "_sidecars").glob(f"{version:020}*")]
        for file in parquet:
            if file.suffix == ".parquet":
                overwrite(file, pages)
    newer = fsck(t, dry_run=True)[-1]
    assert newer.logFilePath.endswith(checkpoint_files(t, 4)[0].name)
    assert told(fsck(t, "deep = true")) == [("checkpoint", "damaged", "rewrite")] * 2
    assert fsck(t, "deep = true") == []
    assert ids_from_checkpoint(t, 2) == [1, 2]
    assert t.ids() == [1, 2, 3, 4, 5]


def test_a_checkpoint_whose_commits_are_gone_stays(with_checkpoints: Checkpointed):
    t = with_checkpoints("classic")
    (older,) = checkpoint_files(t, 2)
    overwrite(older, cut)
    for version in (0, 1):
        lose(t.log / f"{version:020}.json")
    assert fsck(t) == []
    (row,) = fsck(t, "deep = true")
    assert row.action == "none" and "commits before it are gone" in row.reason
    (newer,) = checkpoint_files(t, 4)
    overwrite(newer, cut)
    with pytest.raises(Exception) as refused:
        fsck(t)
    assert condition_of(refused.value) in (
        "DELTA_UPKEEP.CHECKPOINT_DAMAGED",
        "DELTA_UPKEEP.LOG_DAMAGED",
    )


def test_a_checkpoint_that_the_store_does_not_return_is_not_damaged(
    spark: SparkSession, with_checkpoints: Checkpointed
):
    t = with_checkpoints("classic")
    (older,) = checkpoint_files(t, 2)
    before = t.all_files()
    t.sql_name = f"delta.`fault:{t.path}`"
    faults = spark._jvm.io.deltaupkeep.store.FaultFileSystem
    try:
        faults.refuse(older.name)
        (row,) = fsck(t, "deep = true")
        assert told([row]) == [("checkpoint", "unknown", "none")]
        assert "The store fails here" in row.reason
    finally:
        faults.refuse(None)
    assert t.all_files() == before


def test_what_a_changed_retention_may_have_kept_is_not_left_out(
    spark: SparkSession, with_checkpoints: Checkpointed
):
    t = with_checkpoints("classic")
    spark.sql(
        f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES "
        "('delta.deletedFileRetentionDuration' = 'interval 30 days')"
    )
    (file,) = checkpoint_files(t, 4)
    overwrite(file, cut)
    (row,) = fsck(t)
    assert row.action == "none" and "has been changed since" in row.reason


def test_a_checkpoint_in_parts_that_is_not_finished_is_passed_over(with_checkpoints: Checkpointed):
    t = with_checkpoints("in parts")
    for version in (2, 4):
        lose(checkpoint_files(t, version)[0])
    assert told(fsck(t)) == [("checkpoint", "damaged", "rewrite")]
    assert fsck(t, "deep = true") == []
    assert ids_from_checkpoint(t, 4) == [1, 2, 3, 4]


def test_transactions_stay(spark: SparkSession, table: TableFactory):
    t = table(1, **MANUAL)
    spark.range(1).selectExpr("id", "0 AS p", "'t' AS text").write.format("delta").option(
        "txnAppId", "app"
    ).option("txnVersion", 7).mode("append").save(str(t.path))
    spark.sql(f"CHECKPOINT {t.sql_name}")
    t.append(3)
    (file,) = checkpoint_files(t, 2)
    overwrite(file, cut)
    assert told(fsck(t)) == [("checkpoint", "damaged", "rewrite")]
    ids_from_checkpoint(t, 2)
    transactions = (
        spark.read.parquet(str(checkpoint_files(t, 2)[0])).where("txn IS NOT NULL").collect()
    )
    assert [(row.txn.appId, row.txn.version) for row in transactions] == [("app", 7)]


@pytest.mark.one_platform
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "damaged"),
        ("", "damaged"),
        ('{"version":900,"size":7}', "damaged"),
        (None, "missing"),
    ],
)
def test_last_checkpoint_is_written_anew(
    with_checkpoints: Checkpointed, text: str | None, problem: str
):
    t = with_checkpoints("classic")
    pointer = t.log / "_last_checkpoint"
    if text is None:
        lose(pointer)
    else:
        overwrite(pointer, lambda content: text.encode())
    assert told(fsck(t)) == [("last checkpoint", problem, "rewrite")]
    assert json.loads(pointer.read_text())["version"] == 4
    assert fsck(t) == []
    assert t.ids() == [1, 2, 3, 4, 5]


def test_last_checkpoint_without_a_checkpoint_is_deleted(table: TableFactory):
    t = table(1, 2, **MANUAL)
    (t.log / "_last_checkpoint").write_text('{"version":900,"size":7}')
    assert told(fsck(t)) == [("last checkpoint", "damaged", "remove")]
    assert not (t.log / "_last_checkpoint").exists()
    assert fsck(t) == []


@with_checksums
@pytest.mark.parametrize("is_checkpointed", [False, True])
def test_a_damaged_checksum_is_written_anew(with_checkpoints: Checkpointed, is_checkpointed: bool):
    t = with_checkpoints("classic")
    checksum = t.log / f"{t.version:020}.crc"
    written = json.loads(checksum.read_text())
    overwrite(checksum, cut)
    if is_checkpointed:
        t.spark.sql(f"CHECKPOINT {t.sql_name}")
    assert told(fsck(t)) == [("checksum", "damaged", "rewrite")]
    anew = json.loads(checksum.read_text())
    for key in ("numFiles", "tableSizeBytes", "metadata", "protocol"):
        assert anew[key] == written[key]
    assert fsck(t, "deep = true") == []


def change_checksum(t: Table, version: int, **values: object) -> None:
    file = t.log / f"{version:020}.crc"
    overwrite(file, lambda content: json.dumps({**json.loads(content), **values}).encode())


@with_checksums
def test_a_checksum_that_contradicts_the_log_is_reported(with_checkpoints: Checkpointed):
    """A commit may have lost a line as well."""
    t = with_checkpoints("classic")
    change_checksum(t, t.version, numFiles=6)
    before = t.all_files()
    (row,) = fsck(t)
    assert told([row]) == [("checksum", "damaged", "none")]
    assert "the checksum says 6 files" in row.reason and "5 files" in row.reason
    assert t.all_files() == before


@with_checksums
def test_between_checksum_and_checkpoint_the_commits_decide(with_checkpoints: Checkpointed):
    t = with_checkpoints("classic")
    change_checksum(t, 4, numFiles=7)
    assert told(fsck(t)) == [("checksum", "damaged", "rewrite")]
    assert json.loads((t.log / f"{4:020}.crc").read_text())["numFiles"] == 4
    assert fsck(t, "deep = true") == []
    assert ids_from_checkpoint(t, 4) == [1, 2, 3, 4]


@with_checksums
def test_if_checksum_checkpoint_and_commits_differ_nothing_is_done(with_checkpoints: Checkpointed):
    t = with_checkpoints("classic")
    change_checksum(t, 4, numFiles=7)
    (file,) = checkpoint_files(t, 4)
    overwrite(file, cut)
    before = t.all_files()
    (row,) = fsck(t)
    assert told([row]) == [("checkpoint", "damaged", "none")] and "7 files" in row.reason
    assert t.all_files() == before


@with_checksums
def test_nothing_is_written_from_commits_that_the_newest_checksum_contradicts(
    with_checkpoints: Checkpointed,
):
    t = with_checkpoints("classic")
    (file,) = checkpoint_files(t, 4)
    overwrite(file, cut)
    lose(t.log / f"{4:020}.crc")
    change_checksum(t, t.version, numFiles=6)
    before = t.all_files()
    assert told(fsck(t)) == [("checkpoint", "damaged", "none"), ("checksum", "damaged", "none")]
    assert t.all_files() == before
    overwrite(t.log / "_last_checkpoint", cut)
    assert told(fsck(t))[2:] == [("last checkpoint", "damaged", "rewrite")]
    assert json.loads((t.log / "_last_checkpoint").read_text())["version"] == 2


def test_lost_files_and_a_damaged_checkpoint_at_once(
    spark: SparkSession, with_checkpoints: Checkpointed
):
    t = with_checkpoints("classic")
    lost = spark.sql(f"SELECT input_file_name() FROM {t.sql_name} WHERE id = 2").first()[0]
    Path(lost.removeprefix("file:").removeprefix("//")).unlink()
    (file,) = checkpoint_files(t, 4)
    overwrite(file, cut)
    forget(spark)
    *found, totals = spark.sql(f"FSCK REPAIR TABLE {t.sql_name}").collect()
    assert told(found) == [("data file", "missing", "remove"), ("checkpoint", "damaged", "rewrite")]
    assert totals.version == t.version
    assert t.ids() == [1, 3, 4, 5]


@pytest.mark.one_platform
@pytest.mark.parametrize("seed", range(3))
def test_random_damages(with_checkpoints: Checkpointed, seed: int):
    """What FSCK says that it repaired is whole, and the rows are the same."""
    chance = random.Random(seed)
    t = with_checkpoints(chance.choice(list(LAYOUTS)))
    derived = [
        file
        for file in sorted(t.log.rglob("*"))
        if file.is_file() and not file.name.startswith(".") and not file.stem.isdigit()
    ] + list(t.log.glob(f"{t.version:020}.crc"))
    for file in chance.sample(derived, chance.randint(1, 3)):
        content = file.read_bytes()
        at = chance.randrange(max(1, len(content)))
        zeros = content[:at] + bytes(20) + content[at + 20 :]
        changed = chance.choice([content[:at], zeros, b""])
        overwrite(file, lambda _, changed=changed: changed)
    repaired = fsck(t, "deep = true")
    assert all(row.action == "rewrite" for row in repaired), repaired
    assert fsck(t, "deep = true") == []
    forget(t.spark)
    assert t.ids() == [1, 2, 3, 4, 5]
    assert ids_from_checkpoint(t, 4) == [1, 2, 3, 4]
