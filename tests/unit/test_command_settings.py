"""Settings of Spark on the command line, as spark-submit reads them."""

import argparse
from pathlib import Path

import pytest

from delta_upkeep._properties import read
from delta_upkeep.cli.commands import _parser
from delta_upkeep.cli.properties import settings_of
from delta_upkeep.fleet.keys import ConfigError

# The cases of java.util.Properties.load, whose format Spark's files have.
PROPERTIES = [
    ("spark.a b", {"spark.a": "b"}),
    ("spark.a=b", {"spark.a": "b"}),
    ("spark.a : b", {"spark.a": "b"}),
    ("  spark.a\t=  b c  ", {"spark.a": "b c"}),
    ("spark.a", {"spark.a": ""}),
    ("spark.a==b", {"spark.a": "=b"}),
    ("# spark.a b\n! spark.a c\n\nspark.d e", {"spark.d": "e"}),
    ("spark.a b\nspark.a c", {"spark.a": "c"}),
    ("spark.a b,\\\n    c", {"spark.a": "b,c"}),
    ("spark.a C:\\\\lake", {"spark.a": "C:\\lake"}),
    ("spark.a b\\\\\nspark.c d", {"spark.a": "b\\", "spark.c": "d"}),
    ("spark.a caf\\u00e9", {"spark.a": "café"}),
    ("spark\\ a\\=b c", {"spark a=b": "c"}),
    ("spark.a x # y", {"spark.a": "x # y"}),
    ("spark.a b\\", {"spark.a": "b"}),
]


@pytest.mark.parametrize(("text", "expected"), PROPERTIES)
def test_properties(text: str, expected: dict[str, str]):
    assert read(text) == expected


def parsed(*arguments: str) -> argparse.Namespace:
    return _parser().parse_args(arguments)


@pytest.mark.parametrize(
    "command", [("run", "--config", "f"), ("health", "t"), ("optimize", "t"), ("maintain", "t")]
)
def test_every_command_takes_settings(command: tuple[str, ...], tmp_path: Path):
    file = tmp_path / "spark.conf"
    file.write_text("spark.a of file\nspark.b of file\nspark.c of file\nother x\n")
    given = ("--conf", "spark.b=1", "--conf", "spark.c=x=y", "--properties-file", str(file))
    settings = settings_of(parsed(*command, *given))
    assert settings == {"spark.a": "of file", "spark.b": "1", "spark.c": "x=y"}
    assert settings_of(parsed(*command)) == {}


@pytest.mark.parametrize("text", ["spark.a", "a=b", "=b"])
def test_what_is_no_setting(text: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        parsed("health", "t", "--conf", text)
    assert ended.value.code == 2
    assert f"'{text}' is not KEY=VALUE" in capsys.readouterr().err


def test_a_file_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(ConfigError, match="Check --properties-file"):
        settings_of(parsed("health", "t", "--properties-file", str(tmp_path / "missing")))
    bad = tmp_path / "bad"
    bad.write_bytes(b"spark.a \xff")
    with pytest.raises(ConfigError, match="it is not UTF-8"):
        settings_of(parsed("health", "t", "--properties-file", str(bad)))
