"""A log may hold anything; on a page it stays text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from pytest_dvwiki.model import Command, LogReference, Origin
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import failed, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

EVIL = (
    "```\n# Injected heading\n<!-- dvwiki:end evidence\n-->\n---\nstatus: closed\n---\n"
    "<<<<<<< ours\n| a | b |\n=======\n>>>>>>> theirs\n[link](http://evil.example)\n````\n\x1b[31m\u202e\x00"
)


def _page(tmp_path: Path, text: str) -> str:
    place = layout(tmp_path)
    evil = occurrence(
        primary=text,
        excerpt=text,
        command=Command(arguments=("pytest", text), variables={"A": text}, folder=text, test=text),
        pattern=text,
        ip_type=text,
        origin=Origin(type="RTL_BUG", confidence=0.5, reasons=(text,)),
        tests=(failed(text, seed=text),),
        log=LogReference(path=text, line=1),
    )
    result = archive(place, record(1, evil))
    archive(place, record(2, evil))
    assert result.refused == []
    assert build(place, check=True).changed == []
    assert build(place, check=True).refused == []
    (page,) = (place.wiki / "bugs").glob("RTL*.md")
    return page.read_text("utf-8")


@pytest.mark.parametrize("text", [EVIL, "`" * 50, "|" * 20, "<!--", "-->", "\\", "a\r\nb", "_*_*", "---"])
def test_it_adds_no_heading_link_table_or_comment(tmp_path: Path, text: str) -> None:
    page = _page(tmp_path, text)
    metadata = pages.read(page.encode())
    assert metadata.metadata["status"] == "open"
    assert metadata.metadata["hit_count"] == 2
    tokens = MarkdownIt("commonmark").enable("table").parse(metadata.body)
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert len(headings) == 11
    assert not any("Injected" in heading for heading in headings[1:])
    links = [child.attrs["href"] for token in tokens for child in token.children or () if child.type == "link_open"]
    assert links == ["../patterns/scoreboard_fail.md"]
    comments = [token.content for token in tokens if token.type == "html_block"]
    assert len(comments) == 2
    assert all(comment.startswith(("<!-- dvwiki:begin", "<!-- dvwiki:end")) for comment in comments)
    rows = [token for token in tokens if token.type == "tr_open"]
    assert len(rows) == 3


def test_nothing_that_does_not_print_is_left(tmp_path: Path) -> None:
    page = _page(tmp_path, EVIL)
    assert not {"\x1b", "\u202e", "\x00"} & set(page)
