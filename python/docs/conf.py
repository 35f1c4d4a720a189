"""The site: README, the guide and the API of Python. `make docs` builds it with Sphinx.

The sources are Markdown files where they are, so that their links work in the repository too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from delta_upkeep import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Delta Upkeep"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

root_doc = "README"
MEASURED = "tests/bench/results/"
include_patterns = ["README.md", "python/docs/**.md", f"{MEASURED}**.md", ".github/*.md"]
exclude_patterns = [".git", ".venv", "build", "dist", "project", "scala", "target"]

# Headings have the anchors that they have in the repository.
myst_heading_anchors = 4

autodoc_default_options = {
    "members": True,
    # From the classes of the package, but not from theirs.
    "inherited-members": "DeltaTable,DeltaOptimizeBuilder,DataFrame,PySparkException,BaseException",
}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# "One row: path, version" is what a method returns, not its type.
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"Delta Upkeep {release}"
html_copy_source = False

# The pages of the guide in order; others come last.
GUIDE = [
    "statements",
    "results",
    "settings",
    "python",
    "operations",
    "fleets",
    "metrics",
    "errors",
    "platforms",
    "catalogs",
    "how-it-works",
    "promises",
    "limits",
    "measured",
    "contributing",
    "api",
]
OTHERS = {page.stem for page in Path(__file__).parent.glob("*.md")}.difference(GUIDE)
CONTENTS = "\n".join(
    [
        "```{toctree}",
        ":hidden:",
        "",
        *(f"python/docs/{page}" for page in (*GUIDE, *sorted(OTHERS))),
        "```",
    ]
)


def setup(app: Sphinx) -> None:
    """Give pages what they have no use for in the repository."""

    def complete(_: Sphinx, name: str, source: list[str]) -> None:
        if name == root_doc:
            source[0] += f"\n{CONTENTS}\n"
        elif name.startswith((MEASURED, ".github/")):
            # Other pages link to them; the table of contents does not.
            source[0] = f"---\norphan: true\n---\n{source[0]}"

    app.connect("source-read", complete)
