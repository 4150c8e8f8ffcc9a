"""The commands on the pages of the flows and the tutorial print what the pages show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .pages import FLOWS, TUTORIAL, Page, is_shown, refresh, run, shorten

if TYPE_CHECKING:
    from pathlib import Path

SLOW = ("cocotb-runner", "makefile")
"""Pages of flows that the table of outcomes tests in `make test`, too."""
PAGES = [
    *(
        pytest.param(path, id=path.stem, marks=[pytest.mark.further_mode] if path.stem in SLOW else [])
        for path in sorted(FLOWS.glob("*.md"))
    ),
    pytest.param(TUTORIAL, id="tutorial", marks=pytest.mark.further_mode),
]

pytestmark = [pytest.mark.sim, pytest.mark.timeout(300)]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_works_as_it_stands(tmp_path: Path, path: Path) -> None:
    page = Page.read(path)
    assert page.files
    assert page.commands
    if page.missing:
        pytest.skip(page.missing)
    if path.stem == "cocotb-test":
        pytest.importorskip("cocotb_test")
    page.write(tmp_path / "project")
    for command in page.commands:
        printed = run(tmp_path / "project", command.line)
        assert is_shown(printed, command.shown), f"$ {command.line}\n{printed}"


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("seed 17: a\nin 3.2s", "seed 4: a\nin 12.75s", True),
        ("a\nb\nc\nd", "a\n...\nd", True),
        ("a\nb", "a\nc", False),
        ("expected 3 got 4", "expected 3 got 5", False),
        ("a\nb\nc", "b\n...", False),
    ],
)
def test_only_what_is_volatile_may_differ(printed: str, shown: str, same: bool) -> None:
    assert is_shown(printed, shown) is same


def test_a_page_is_brought_up_to_date_where_it_shows_something_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = (
        "```text a.txt\nfive 5 s\nsix\n```\n\n```console\n$ cat a.txt\n{}$ cat a.txt | head -1\nfive 7 s\n```\n\nEnd\n"
    )
    page.write_text(text.format("...\nseven\n"), encoding="utf-8")
    refresh(page, tmp_path / "project")
    assert page.read_text(encoding="utf-8") == text.format("...\nfive 5 s\nsix\n")
    assert shorten("a\nb 3 s\nc\n", "...\nb 4 s\nd\n") == "...\nb 3 s\nc\n"
