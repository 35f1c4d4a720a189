"""What a machine lacks is said in a line for each thing, before anything is downloaded."""

import subprocess
from pathlib import Path

import pytest

PREFLIGHT = Path(__file__).parents[2] / "project/preflight.sh"


def tool(directory: Path, name: str, text: str = "", status: int = 0) -> None:
    file = directory / name
    file.write_text(f"#!/bin/sh\n{text}\nexit {status}\n")
    file.chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A machine that has all it needs."""
    tool(tmp_path, "java", """echo 'openjdk version "17.0.15"' >&2""")
    for name in ("javac", "git", "python3"):
        tool(tmp_path, name)
    tool(tmp_path, "df", "printf 'header\\nfs 1 1 99999 1%% /\\n'")
    for name in ("sed", "head", "awk", "sh"):
        (tmp_path / name).symlink_to(Path("/usr/bin") / name)
    return tmp_path


def said_by(tools: Path, **env: str) -> tuple[int, str]:
    done = subprocess.run(
        ["/bin/bash", PREFLIGHT],
        env={"PATH": str(tools), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_says_nothing_where_nothing_is_missing(tools: Path):
    assert said_by(tools) == (0, "")


def test_names_the_java_that_is_too_old(tools: Path):
    tool(tools, "java", """echo 'java version "11.0.2"' >&2""")
    status, text = said_by(tools)
    assert status == 1
    assert text.startswith("missing: Java 17 or newer; 'java' is version 11.")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("java", "Java 17"),
        ("javac", "javac"),
        ("python3", "Python 3.11"),
        ("git", "git"),
    ],
)
def test_names_what_is_absent(tools: Path, name: str, text: str):
    (tools / name).unlink()
    status, said = said_by(tools)
    assert status == 1
    assert said.startswith(f"missing: {text}")


def test_names_a_python_that_is_too_old(tools: Path):
    tool(tools, "python3", "echo Python 3.9.1", status=1)
    assert "'python3' is Python 3.9.1" in said_by(tools)[1]


def test_names_the_space_that_is_wanting(tools: Path):
    tool(tools, "df", "printf 'header\\nfs 1 1 100 1%% /\\n'")
    status, text = said_by(tools)
    assert status == 1
    assert "3 GiB here and 100 MiB are free" in text
