"""The report's page in a real browser: narrow and wide, light and dark, and in a notebook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from delta_upkeep import HealthReport
from support.health_sample import empty, sample
from support.processes import CLEAN

PROBE = Path(__file__).with_name("probe.py")
WIDTHS = (420, 1280)
# Chromium's numbers of them.
SCHEMES = {"dark": 0, "light": 1}
PAGES = ("sample", "empty", "hostile", "notebook")
TIMEOUT = 180
LONG = "W" * 300
NOTEBOOK = """<!doctype html><html style="overflow-y:scroll"><meta charset="utf-8">
<title>Notebook</title>
<style>.jp-RenderedHTMLCommon tbody tr:nth-child(odd){background:#fff}
.jp-RenderedHTMLCommon td,.jp-RenderedHTMLCommon th{text-align:right;white-space:nowrap}
.jp-OutputArea .jp-RenderedHTMLCommon pre{background:#fff}
.jp-RenderedHTMLCommon h2{color:#000}.jp-RenderedHTMLCommon svg{height:auto}</style>
<body data-jp-theme-light="false" style="background:#111;color:#eee">
<div class="outside"><h1>a</h1><p>b <code>c</code></p><table><tr><th>d</th><td>e</td></tr></table>
<pre>f</pre><details><summary>g</summary></details></div>
<div class="jp-OutputArea"><div class="jp-RenderedHTMLCommon">%s</div></div>"""

pytestmark = pytest.mark.xdist_group("browser")

Seen = dict[str, Any]


def hostile() -> HealthReport:
    """Texts that are markup, and far too long."""
    text = f"</title></svg></style><script>document.title = 'ran'</script>\"'{LONG}"
    checks = tuple(
        replace(
            check,
            message=text,
            why=text,
            remedy=text,
            details=tuple(replace(d, label=f"{d.label}{text}") for d in check.details),
        )
        for check in sample().checks
    )
    return HealthReport(text, checks)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("pages")
    for name, report in {"sample": sample(), "empty": empty(), "hostile": hostile()}.items():
        report.toHtml(directory / f"{name}.html")
    (directory / "notebook.html").write_text(NOTEBOOK % sample()._repr_html_())
    return directory


@pytest.fixture(scope="module")
def look(pages: Path) -> Callable[[str], dict[tuple[str, int], Seen]]:
    """Look at every page in a scheme, once."""
    known: dict[str, dict[tuple[str, int], Seen]] = {}

    def all_pages(scheme: str) -> dict[tuple[str, int], Seen]:
        if scheme not in known:
            places = {(n, w): f"{w}:{pages / n}.html" for n in PAGES for w in WIDTHS}
            seen = browse(scheme, list(places.values()))
            known[scheme] = {place: seen[text] for place, text in places.items()}
        return known[scheme]

    return all_pages


def browse(scheme: str, places: list[str]) -> dict[str, Seen]:
    flags = f"--no-sandbox --disable-gpu --blink-settings=preferredColorScheme={SCHEMES[scheme]}"
    environment = {"QT_QPA_PLATFORM": "offscreen", "QTWEBENGINE_CHROMIUM_FLAGS": flags}
    done = subprocess.run(
        [sys.executable, PROBE, *places],
        env={**CLEAN, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.stderr.startswith("no browser: ") and "CI" not in os.environ:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_whole(page: str, width: int, scheme: str, look, pages: Path):
    seen = look(scheme)[page, width]
    assert seen["overflow"] <= 0
    assert (seen["unnamed"], seen["empty"]) == (0, 0)
    assert seen["outside"] == []
    assert seen["faint"] == []
    assert seen["messages"] == []
    assert seen["requests"] == [f"file://{pages / page}.html"]


@pytest.mark.parametrize("width", WIDTHS)
def test_every_figure_of_the_sample_is_drawn_and_no_label_is_cut(width: int, look):
    seen = look("light")["sample", width]
    assert seen["charts"] == 10
    assert seen["cut"] == []


def test_light_and_dark_differ(look):
    light, dark = look("light")["sample", 1280], look("dark")["sample", 1280]
    for part in ("background", "ink", "page"):
        assert light[part] != dark[part]
    assert light["page"] == light["background"]


def test_texts_of_the_table_are_no_markup(look):
    seen = look("light")["hostile", 1280]
    assert seen["scripts"] == 0
    assert seen["charts"] == 10


def test_a_notebook_has_the_say_on_the_theme_and_is_not_changed(look):
    dark = look("dark")["sample", 1280]["background"]
    for scheme in SCHEMES:
        seen = look(scheme)["notebook", 1280]
        assert seen["background"] == dark
        assert seen["changed"] == 0
