"""A table with a random past: a log by hand, and files that hold a line of text each.

VACUUM reads no rows, so a history of two days is written in milliseconds.
"""

from __future__ import annotations

import json
import os
import random
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

Action = dict[str, Any]

HOUR_MS = 3_600_000
# From the first commit to the last.
PAST_HOURS = 60.0
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
SAFE = "/=+-_.~!*'(),@&;$"
NAMES = [
    "part",
    "a b",
    "ü",
    "100%",
    "%20",
    "#1",
    "x=y",
    "q?",
    "a+b",
    "CaSe",
    "日本",
    "new\\line",
    "'",
]
PROPERTY = "delta.deletedFileRetentionDuration"


@dataclass
class Drawn:
    """A table that is being written.

    Attributes:
        path: Its root.
        rng: Where all choices come from.
        now: The time at which it is drawn, in milliseconds.
        hours: Its retention.
        notes: What was done, for a report.
    """

    path: Path
    rng: random.Random
    now: int
    hours: int = 0
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = self.rng
        self.log = self.path / "_delta_log"
        self.log.mkdir(parents=True)
        self.column = rng.choice(["p", "p", "_p", ".p"])
        self.in_commit_times = rng.random() < 0.25
        self.has_feed = rng.random() < 0.4
        self.has_vectors = rng.random() < 0.5
        # With them Delta opens a version much faster.
        self.has_checksums = rng.random() < 0.8
        self.clock_is_off = rng.random() < 0.3
        self.longest_transaction = rng.choice([0, 0, 0, 12, 40])
        self.folders = [self._folder() for _ in range(rng.choice([1, 2, 4]))]
        self.of_others: set[str] = set()
        self.live: dict[str, Action] = {}
        self.of_table: Action = {}
        self.gone: list[Action] = []
        self.version = -1
        self.last_time = 0
        self.hours = rng.choice([30, 40, 48])
        self.clock = self.now - int(PAST_HOURS * HOUR_MS)
        traits = {
            "times in commits": self.in_commit_times,
            "change feed": self.has_feed,
            "vectors": self.has_vectors,
            "clock off": self.clock_is_off,
            "checksums": self.has_checksums,
            "long transactions": self.longest_transaction > 0,
        }
        self.notes.append(", ".join(name for name, is_on in traits.items() if is_on))

    def begin(self) -> None:
        """Commit the table's schema."""
        features = {
            "inCommitTimestamp": self.in_commit_times,
            "changeDataFeed": self.has_feed,
            "deletionVectors": self.has_vectors,
        }
        self.commit(
            [protocol(self.has_vectors, [f for f, on in features.items() if on]), self._metadata()]
        )

    def retain(self, hours: int) -> None:
        """Change the retention."""
        self.hours = hours
        self.commit([self._metadata()])
        self.notes.append(f"retention {hours} hours")

    def live_on(self, commits: int, until_hours: float) -> None:
        """Write so many commits, the last of them so many hours ago."""
        end = self.now - int(until_hours * HOUR_MS)
        times = sorted(
            self.rng.randrange(self.clock, max(end, self.clock + 1)) for _ in range(commits)
        )
        for time in map(self._apart, times):
            self.clock = time
            self.commit(self._change())
            if self.rng.random() < 0.3:
                self._orphan()

    def commit(self, actions: list[Action]) -> None:
        """Write the next version."""
        self.version += 1
        # Times in commits ascend; those of files do not have to.
        self.last_time = max(self.clock, self.last_time + 1)
        info: Action = {
            "timestamp": self.last_time,
            "operation": "WRITE",
            "operationParameters": {},
        }
        if self.in_commit_times:
            info["inCommitTimestamp"] = self.last_time
        file = self.log / f"{self.version:020}.json"
        lines = [{"commitInfo": info}, *actions]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self._count(actions)
        skew = self.rng.randrange(-3 * HOUR_MS, 3 * HOUR_MS) if self.clock_is_off else 0
        touch(file, self._apart(min(self.last_time + skew, self.now)))

    def _count(self, actions: list[Action]) -> None:
        """Write the checksum of the version (protocol, 'Version Checksum File')."""
        for action in actions:
            self.of_table |= {k: v for k, v in action.items() if k in ("metaData", "protocol")}
        if self.has_checksums:
            checksum = {
                "tableSizeBytes": sum(add["size"] for add in self.live.values()),
                "numFiles": len(self.live),
                "numMetadata": 1,
                "numProtocol": 1,
                "metadata": self.of_table["metaData"],
                "protocol": self.of_table["protocol"],
                **({"inCommitTimestampOpt": self.last_time} if self.in_commit_times else {}),
            }
            (self.log / f"{self.version:020}.crc").write_text(json.dumps(checksum))

    def _metadata(self) -> Action:
        configuration = {PROPERTY: f"interval {self.hours} hours"}
        if self.in_commit_times:
            configuration["delta.enableInCommitTimestamps"] = "true"
        if self.has_feed:
            configuration["delta.enableChangeDataFeed"] = "true"
        if self.has_vectors:
            configuration["delta.enableDeletionVectors"] = "true"
        fields = [
            {"name": name, "type": "string", "nullable": True, "metadata": {}}
            for name in ("text", self.column)
        ]
        return {
            "metaData": {
                "id": "7a0e8a3f-0000-4000-8000-000000000000",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": [self.column],
                "configuration": configuration,
                "createdTime": self.now,
            }
        }

    def _change(self) -> list[Action]:
        rng = self.rng
        kinds = ["append"] * 3 + ["remove", "remove", "compact", "nothing", "restore"]
        kinds += ["vector", "vector"] * self.has_vectors + ["feed", "feed"] * self.has_feed
        kind = rng.choice(kinds)
        some = rng.sample(sorted(self.live), min(len(self.live), rng.choice([1, 2, 5])))
        if kind == "append":
            return [self._add() for _ in range(rng.choice([1, 2, 5]))]
        if kind == "nothing":
            return []
        if kind == "restore":
            return self._restored()
        if kind == "vector":
            return [action for name in some for action in self._hidden(name)]
        removes = [self._remove(name) for name in some]
        if kind == "compact":
            return [*removes, self._add()]
        if kind == "feed":
            return [*removes, self._change_file()]
        return removes

    def _add(self) -> Action:
        name = f"{self.rng.choice(self.folders)}{self.rng.choice(NAMES)}-{self._id()}.parquet"
        # Who writes for hours commits what is older than the retention.
        self.write(name, self._written())
        return self._added(self._spelled(name), None)

    def _added(self, path: str, vector: Action | None) -> Action:
        add = {
            "path": path,
            "partitionValues": {self.column: "v"},
            "size": 5,
            "modificationTime": self.clock,
            "dataChange": True,
            **({"deletionVector": vector} if vector else {}),
        }
        self.live[path] = add
        return {"add": add}

    def _remove(self, path: str) -> Action:
        add = self.live.pop(path)
        self.gone.append(add)
        before = self.rng.randrange(self.longest_transaction * HOUR_MS + 1)
        after = self.rng.randrange(3 * HOUR_MS) if self.clock_is_off else 0
        remove = {
            "path": path,
            "deletionTimestamp": self._apart(self.clock - before + after),
            "dataChange": True,
            "extendedFileMetadata": True,
            "partitionValues": add["partitionValues"],
            "size": add["size"],
        }
        if self.rng.random() < 0.03:
            del remove["deletionTimestamp"]
        if "deletionVector" in add:
            remove["deletionVector"] = add["deletionVector"]
        return {"remove": remove}

    def _hidden(self, path: str) -> list[Action]:
        """Hide rows of a file: it goes with its old vector, and comes with another one."""
        return [self._remove(path), self._added(path, self._vector())]

    def _vector(self) -> Action:
        rng, id = self.rng, uuid.UUID(int=self.rng.getrandbits(128))
        prefix = rng.choice(["", "", "aB", "x0"])
        name = f"{prefix}/deletion_vector_{id}.bin".lstrip("/")
        kind = rng.choice(["u", "u", "u", "p", "i"])
        if kind != "i":
            self.write(name, self._written())
        place = {
            "u": prefix + z85(id.bytes),
            "p": f"file:{quote(str(self.path / name), safe=SAFE)}",
            "i": z85(bytes(8)),
        }[kind]
        vector: Action = {
            "storageType": kind,
            "pathOrInlineDv": place,
            "sizeInBytes": 34,
            "cardinality": 1,
        }
        return vector | ({} if kind == "i" else {"offset": 1})

    def _restored(self) -> list[Action]:
        """Bring a file back, as RESTORE does, if it is still there with its vector."""
        back = [
            add for add in self.gone[-4:] if add["path"] not in self.live and self._is_whole(add)
        ]
        if not back:
            return []
        add = self.rng.choice(back)
        return [self._added(add["path"], add.get("deletionVector"))]

    def _is_whole(self, add: Action) -> bool:
        from torture.vacuum.truth import named

        return all((self.path / name).exists() for name in named(add, self.path))

    def _change_file(self) -> Action:
        name = f"_change_data/{self.rng.choice(['', *self.folders])}cdc-{self._id()}.parquet"
        self.write(name, self._written())
        path = self._spelled(name)
        return {
            "cdc": {
                "path": path,
                "partitionValues": {self.column: "v"},
                "size": 5,
                "dataChange": False,
            }
        }

    def _orphan(self) -> None:
        """Leave what a writer leaves that fails, or that is no writer of Delta."""
        rng = self.rng
        name = rng.choice(
            [
                f"{rng.choice(self.folders)}part-{self._id()}.parquet",
                f"deletion_vector_{uuid.UUID(int=rng.getrandbits(128))}.bin",
                f"_change_data/cdc-{self._id()}.parquet",
                f"_delta_index/{self._id()}.bin",
                f"_temporary/{self._id()}.parquet",
                f".hidden/{self._id()}.parquet",
                f"{rng.choice(self.folders)}.part-{self._id()}.parquet.tmp",
                f"{rng.choice(self.folders)}_SUCCESS{self._id()}",
                f"deep/er/than/others/{self._id()}.txt",
                f"empty-{self._id()}/",
                f"{rng.choice(['', 'deep/er/'])}other-{self._id()}/",
            ]
        )
        if "other-" in name:
            self._other_table(name)
            return
        if name.endswith("/"):
            (self.path / name).mkdir(parents=True)
            touch(self.path / name, self.clock)
        else:
            self.write(name, self.clock)

    def _other_table(self, name: str) -> None:
        for file in ("_delta_log/00000000000000000000.json", "a.parquet", "p=1/b.parquet"):
            self.write(name + file, self.clock)
            self.of_others.add(name + file)

    def write(self, name: str, time: int) -> None:
        """Write a file of the table's directory, at a time."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text\n")
        touch(file, self._apart(time))

    def _apart(self, time: int) -> int:
        """Keep a time out of ten minutes after a cutoff, which is whole hours ago and moves on."""
        hours, rest = divmod(self.now - time, HOUR_MS)
        return self.now - hours * HOUR_MS - rest * 5 // 6

    def _written(self) -> int:
        return self.clock - 60_000 - self.rng.randrange(self.longest_transaction * HOUR_MS + 1)

    def _folder(self) -> str:
        if self.rng.random() < 0.2:
            return ""
        value = self.rng.choice(
            ["1", "a b", "ü", "a%2Fb", "x%3Ay", "__HIVE_DEFAULT_PARTITION__", "_"]
        )
        return f"{self.column}={value}/"

    def _spelled(self, name: str) -> str:
        """Spell a path as writers do: a relative URI, or an absolute one of several forms."""
        relative = quote(name, safe=SAFE)
        root = quote(str(self.path), safe=SAFE)
        forms = [relative] * 8 + [f"file:{root}/{relative}", f"file://{root}/{relative}"]
        return self.rng.choice(forms)

    def _id(self) -> str:
        return f"{self.rng.getrandbits(48):012x}"


def protocol(has_vectors: bool, features: list[str]) -> Action:
    if not features:
        return {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
    found: Action = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features}
    if has_vectors:
        found |= {"minReaderVersion": 3, "readerFeatures": ["deletionVectors"]}
    return {"protocol": found}


def touch(file: Path, time: int) -> None:
    os.utime(file, ns=(time * 1_000_000, time * 1_000_000))


def z85(data: bytes) -> str:
    """Encode bytes, a multiple of four, as Z85 (ZeroMQ RFC 32)."""
    text = ""
    for start in range(0, len(data), 4):
        value = int.from_bytes(data[start : start + 4], "big")
        text += "".join(Z85[value // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return text
