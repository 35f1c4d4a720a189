"""The page index of a Parquet file, read from its bytes, since pyarrow does not show it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 12
ORDERS = {0: "UNORDERED", 1: "ASCENDING", 2: "DESCENDING"}


@dataclass(frozen=True)
class PageIndex:
    """The offset and column index of one chunk; without the latter, `null_pages` is None."""

    first_rows: list[int]
    null_pages: list[bool] | None
    null_counts: list[int] | None
    lows: list[bytes]
    highs: list[bytes]
    order: str


class _Compact:
    """Thrift's compact protocol: a struct becomes its fields by their ids."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def fields(self) -> dict[int, Any]:
        found: dict[int, Any] = {}
        field = 0
        while True:
            head = self._byte()
            if head == STOP:
                return found
            field = field + (head >> 4) if head >> 4 else self._integer()
            kind = head & 0x0F
            found[field] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind)

    def _value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):  # in a list, a byte each
            return self._byte() == TRUE
        if kind == BYTE:
            return self._byte()
        if kind == DOUBLE:
            return struct.unpack("<d", self._take(8))[0]
        if kind == BINARY:
            return self._take(self._varint())
        if kind in (LIST, SET):
            head = self._byte()
            size = head >> 4 if head >> 4 != 15 else self._varint()
            return [self._value(head & 0x0F) for _ in range(size)]
        return self.fields() if kind == STRUCT else self._integer()


def read_page_index(file: str) -> list[list[PageIndex]]:
    """Read the index of every chunk, by row group."""
    data = Path(file).read_bytes()
    (length,) = struct.unpack("<i", data[-8:-4])
    footer = _Compact(data, len(data) - 8 - length).fields()
    return [[_index_of(data, chunk) for chunk in group[1]] for group in footer[4]]


def _index_of(data: bytes, chunk: dict[int, Any]) -> PageIndex:
    pages = _Compact(data, chunk[4]).fields()[1] if 4 in chunk else []
    first_rows = [page[3] for page in pages]
    if 6 not in chunk:
        return PageIndex(first_rows, None, None, [], [], "")
    index = _Compact(data, chunk[6]).fields()
    return PageIndex(first_rows, index[1], index.get(5), index[2], index[3], ORDERS[index[4]])
