"""Text files of a fleet: local ones, and those of Hadoop's file systems."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

# A drive of Windows, as in C:\lake, has one letter.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_LOCAL = re.compile(r"file:(?://)?(?=/[^/])", re.IGNORECASE)
# In these stores a file appears, whole, when its writer closes it; renaming would copy it.
_APPEARS_WHEN_CLOSED = ("s3", "s3a", "s3n", "gs")


@dataclass(frozen=True)
class Uri:
    """A file or directory of one of Hadoop's file systems, such as ``s3a://bucket/upkeep.toml``."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __truediv__(self, name: str) -> Uri:
        return Uri(f"{self.text.rstrip('/')}/{name}")

    @property
    def parent(self) -> Uri:
        """The directory of the file."""
        return Uri(self.text.rsplit("/", 1)[0])

    @property
    def name(self) -> str:
        """The last part."""
        return self.text.rsplit("/", 1)[1]

    @property
    def scheme(self) -> str:
        """The part before the colon."""
        return self.text.split(":", 1)[0].lower()


Place = Union[Path, Uri]


def place_of(text: str) -> Place:
    """Tell a local path from a URI. ``file:`` is local; a relative path is local too."""
    local = _LOCAL.match(text)
    if _SCHEME.match(text) and not local:
        return Uri(text)
    return Path(text[local.end() :] if local else text).expanduser()


@dataclass(frozen=True)
class Entry:
    """A file of a directory, and when it was written by the clock of its store, in ms."""

    name: str
    written_ms: int


class Files:
    """Reads and writes whole files in UTF-8.

    Args:
        spark: The session whose settings reach Hadoop's file systems; None for local files alone.
    """

    def __init__(self, spark: SparkSession | None = None) -> None:
        self._spark = spark

    def read(self, place: Place) -> str:
        """Read a file.

        Raises:
            OSError: It cannot be read.
            UnicodeDecodeError: It is not UTF-8.
        """
        if isinstance(place, Path):
            return place.read_text(encoding="utf-8")
        jvm = self._jvm(place)
        with _as_os_errors(place):
            stream = self._system(place).open(self._path(place))
            try:
                content: bytes = jvm.org.apache.commons.io.IOUtils.toByteArray(stream)
            finally:
                stream.close()
        return bytes(content).decode("utf-8")

    def write(self, place: Place, text: str) -> None:
        """Write a file; a reader never sees half of it, as far as its store can do that.

        Raises:
            OSError: It cannot be written.
        """
        if isinstance(place, Path):
            if place.exists() and not place.is_file():
                # Such as /dev/stdout, which is not to be replaced.
                place.write_text(text, encoding="utf-8")
                return
            temporary = place.with_name(_temporary(place.name))
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(place)
            return
        with _as_os_errors(place):
            if place.scheme in _APPEARS_WHEN_CLOSED or not self._can_replace(place):
                self._create(place, text)
                return
            made = place.parent / _temporary(place.name)
            self._create(made, text)
            self._replace(made, place)

    def make_directory(self, place: Place) -> None:
        """Make a directory. Hadoop makes them when it writes a file."""
        if isinstance(place, Path):
            place.mkdir(exist_ok=True)

    def entries(self, directory: Place) -> list[Entry]:
        """List the files of a directory, without hidden ones; none if there is no directory."""
        if isinstance(directory, Path):
            return _local_entries(directory)
        with _as_os_errors(directory):
            try:
                found = self._system(directory).listStatus(self._path(directory))
            except Py4JJavaError as e:
                if _is_missing(e):
                    return []
                raise
            entries = (
                Entry(each.getPath().getName(), each.getModificationTime()) for each in found
            )
            return [entry for entry in entries if not entry.name.startswith(".")]

    def delete(self, place: Place) -> None:
        """Delete a file, if it is there."""
        if isinstance(place, Path):
            place.unlink(missing_ok=True)
            return
        with _as_os_errors(place):
            self._system(place).delete(self._path(place), False)

    def _create(self, place: Uri, text: str) -> None:
        stream = self._system(place).create(self._path(place), True)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()

    def _can_replace(self, place: Uri) -> bool:
        # Only FileContext renames over a file that is there.
        return self._conf(place).get(f"fs.AbstractFileSystem.{place.scheme}.impl") is not None

    def _replace(self, source: Uri, target: Uri) -> None:
        hadoop = self._jvm(target).org.apache.hadoop.fs
        context = hadoop.FileContext.getFileContext(self._path(target).toUri(), self._conf(target))
        gateway: Any = SparkContext._gateway
        options = gateway.new_array(hadoop.Options.Rename, 1)
        options[0] = hadoop.Options.Rename.OVERWRITE
        context.rename(self._path(source), self._path(target), options)

    def _system(self, place: Uri) -> Any:
        return self._path(place).getFileSystem(self._conf(place))

    def _path(self, place: Uri) -> Any:
        return self._jvm(place).org.apache.hadoop.fs.Path(place.text)

    def _conf(self, place: Uri) -> Any:
        return self._session(place)._jsparkSession.sessionState().newHadoopConf()

    def _jvm(self, place: Uri) -> Any:
        return self._session(place)._jvm

    def _session(self, place: Uri) -> SparkSession:
        if self._spark is None:
            raise OSError(errno.EINVAL, "a Spark session is needed to reach this file system")
        return self._spark


def _local_entries(directory: Path) -> list[Entry]:
    found: list[Entry] = []
    for path in directory.glob("[!.]*"):
        # Another process may delete it meanwhile.
        with suppress(FileNotFoundError):
            found.append(Entry(path.name, path.stat().st_mtime_ns // 10**6))
    return found


def _temporary(name: str) -> str:
    return f".{name}.{os.getpid()}.tmp"


@contextmanager
def _as_os_errors(place: Uri) -> Iterator[None]:
    """Raise errors of the JVM as Python does for local files."""
    try:
        yield
    except Py4JJavaError as e:
        if _is_missing(e):
            raise FileNotFoundError(errno.ENOENT, "No such file", place.text) from e
        thrown = e.java_exception
        message = f"{thrown.getClass().getName()}: {thrown.getMessage()}"
        raise OSError(errno.EIO, message, place.text) from e
    # PySpark has classes of its own for some, such as that of an unknown host; others are Py4J's.
    except (PySparkException, Py4JError) as e:
        raise OSError(errno.EIO, str(e), place.text) from e


def _is_missing(e: Py4JJavaError) -> bool:
    missing = "java.io.FileNotFoundException"
    return bool(is_instance_of(SparkContext._gateway, e.java_exception, missing))
