"""Settings of the documentation site, which `make docs` builds with warnings as errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NAVIGATION = {
    "index": {
        "Start": ("tutorial",),
        "How-to guides": (
            "using",
            "flows/cocotb-runner",
            "flows/cocotb-native",
            "flows/cocotb-test",
            "flows/makefile",
            "flows/pyuvm",
            "flows/plain-pytest",
            "flows/uvm",
            "flows/dvsim",
            "flows/vunit",
            "flows/svunit",
            "flows/fusesoc",
            "flows/riscv-dv",
            "flows/ingest",
            "scan",
            "farm",
            "coverage",
            "ci",
            "shards",
            "flaky",
            "waivers",
            "gate",
            "checks",
            "report",
            "summary",
            "spec",
            "librarian",
            "upkeep",
            "agents",
            "export",
            "reports",
            "mcp",
            "store",
            "benchmark",
            "outputs",
            "killed-runs",
            "secrets",
            "scale",
        ),
        "Reference": (
            "reference/settings",
            "reference/commands",
            "reference/api",
            "reference/hooks",
            "reference/formats",
            "outcomes",
            "patterns",
        ),
        "Explanation": ("naming", "causes", "fixes"),
    },
    "patterns": {"By tool": ("patterns/*",)},
}
"""The captions below each page, each with its pages. It is here and not on the pages, which are also read without a
site."""

project = "pytest-dvwiki"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "pytest-dvwiki"
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]
"""Fences contain logs and excerpts that only resemble their language."""
default_role = "code"
"""The role of back-ticks in docstrings."""
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"


def add_navigation(_: Sphinx, page: str, source: list[str]) -> None:
    """Append the page's part of the navigation."""
    for caption, pages in NAVIGATION.get(page, {}).items():
        lines = ("```{toctree}", ":hidden:", ":glob:", f":caption: {caption}", "", *pages, "```")
        source[0] += "\n" + "\n".join(lines) + "\n"


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("source-read", add_navigation)
