"""Names and types, drawn from pools that are wide on purpose."""

from __future__ import annotations

import random
import string
from collections.abc import Iterable

from pyspark.sql import types as t

from foreign.types import KEYS, draw_decimal, draw_leaf_type

# Words that mean something to a parser, or to a convention of lists and maps.
WORDS = tuple(
    """
    select from table order group by where null NULL true interval date array map struct list
    element item bag array_element key value key_value entries x_tuple array_tuple required
    optional repeated message spark_schema schema root path add stats numRecords minValues
    _metadata_ _c col-1 1 1a - _ __index_level_0__ int32 a_tuple list_tuple filePath
    """.split()  # noqa: SIM905
)
ODD = (
    "my col", "a;b", "x(y)", "a,b", "{a}", "pclass=1", "tab\there", "line\nfeed", "a.b", "a..b",
    "`tick`", "``", '"quoted"', "it's", "a/b", "a\\b", "100%", "%20", "%", "#x", "?q=1&r", "ünï",
    "名前", "😀", " lead", "trail ", " ", "*", "a:b", "[0]", "<x>", "$1", "@", "~", "|", "x=y, z=w",
    "\u00a0", "e\u0301", "required int32 a;", "optional binary x (STRING);", "a" * 200, "é" * 90,
)  # fmt: skip
PUNCTUATION = " ,;{}()=\t\n.`\"'/\\%#?:&*[]<>|~@$+-"
LETTERS = string.ascii_letters + string.digits + "_"


def draw_mixed_type(rng: random.Random) -> t.DataType:
    """Draw a type that writers store in different ways, or a list or a struct of it."""
    decimal = draw_decimal(rng)
    leaf = rng.choice(
        [t.TimestampType(), t.TimestampType(), t.TimestampNTZType(), decimal, decimal]
    )
    kind = rng.random()
    if kind < 0.2:
        return t.ArrayType(leaf)
    return t.StructType([t.StructField("held", leaf)]) if kind < 0.35 else leaf


class Names:
    """Draws names: `tame` ones are letters, which every writer takes."""

    def __init__(self, rng: random.Random, tame: bool) -> None:
        self.rng = rng
        self.tame = tame
        self.known: list[str] = []

    def draw(self, count: int) -> list[str]:
        """Draw names that differ, in any case."""
        found: dict[str, str] = {}
        while len(found) < count:
            again = self.known and self.rng.random() < 0.2  # as at another depth
            name = self.rng.choice(self.known) if again else self._one()
            found.setdefault(name.lower(), name)
        self.known += found.values()
        return list(found.values())

    def draw_beside(self, others: Iterable[str]) -> str:
        """Draw a name that differs from others, in any case."""
        taken = {name.lower() for name in others}
        return next(name for name in self.draw(len(taken) + 1) if name.lower() not in taken)

    def _one(self) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.3:
            word = rng.choice(WORDS)
            return word if not self.tame or word.isidentifier() else "w" + str(len(word))
        if self.tame or kind < 0.5:
            return rng.choice(string.ascii_letters) + "".join(rng.choices(LETTERS, k=3))
        if kind < 0.85:
            return rng.choice(ODD)
        alphabet = rng.choice([PUNCTUATION + "ab", LETTERS + "ßЖ語😀\u200b"])
        return "".join(rng.choices(alphabet, k=rng.randrange(1, 9)))

    def struct(self, depth: int) -> t.StructType:
        names = self.draw(self.rng.choice([1, 1, 1, 2, 3]))
        return t.StructType([t.StructField(n, self.type(depth - 1)) for n in names])

    def type(self, depth: int) -> t.DataType:
        """Draw a type with at most `depth` levels above its leaves."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            return draw_leaf_type(rng)
        kind = rng.randrange(3)
        if kind == 0:
            return self.struct(depth)
        if kind == 1:
            return t.ArrayType(self.type(depth - 1))
        return t.MapType(rng.choice(KEYS), self.type(depth - 1))
