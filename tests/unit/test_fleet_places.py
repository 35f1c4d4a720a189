"""Files of a fleet at places that are no plain files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from delta_upkeep.fleet.files import Files, Uri, place_of


def test_a_device_is_written_to_and_not_replaced():
    reader, writer = os.openpty()
    device = Path(os.ttyname(writer))
    Files().write(device, "a summary")
    assert os.read(reader, 9) == b"a summary"
    assert device.is_char_device()


def test_a_directory_is_no_file(tmp_path: Path):
    with pytest.raises(OSError, match="directory"):
        Files().write(tmp_path, "a summary")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("upkeep.toml", Path("upkeep.toml")),
        ("file:/srv/upkeep.toml", Path("/srv/upkeep.toml")),
        ("FILE:///srv/upkeep.toml", Path("/srv/upkeep.toml")),
        ("/data/file:/x/y", Path("/data/file:/x/y")),
        ("s3a://lake/upkeep.toml", Uri("s3a://lake/upkeep.toml")),
        ("hdfs:/upkeep.toml", Uri("hdfs:/upkeep.toml")),
    ],
)
def test_what_is_local(text: str, place: object):
    assert place_of(text) == place
