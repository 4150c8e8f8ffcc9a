"""The text under a heading of a page, with any fences, even unclosed ones."""

from __future__ import annotations

import pytest

from pytest_dvwiki.wiki.text import pages, parts

HEAD = "---\ntype: pattern\n---\n\n# Title\n\n## Before\n\nb\n\n## Fix\n\n"


@pytest.mark.parametrize(
    ("under", "found"),
    [
        ("Reset it.\n\n## After\n\na\n", "Reset it."),
        ("Reset it.\n\n### Why\n\nIt wraps.\n\n# Other title\n", "Reset it.\n\n### Why\n\nIt wraps."),
        ("```\n## no heading\n```\nReset it.\n\n## After\n", "```\n## no heading\n```\nReset it."),
        ("~~~~ sv\n~~~\n## no heading\n~~~~\n\n## After\n", "~~~~ sv\n~~~\n## no heading\n~~~~"),
        ("```\nleft open\n\n## After\n", "```\nleft open"),
        (f"```\nleft open\n\n{pages.region('history', 'RTL_1')}\n", "```\nleft open"),
        (f"Reset it.\n\n{pages.region('history', 'RTL_1')}\n\nmore\n", "Reset it."),
        ("Reset it.\r\n\r\n## After\r\n", "Reset it."),
        ("", ""),
    ],
)
def test_a_part_reaches_to_the_next_heading_of_its_level_or_to_a_region(under: str, found: str) -> None:
    assert pages.section((HEAD + under).encode(), "Fix") == found


def test_a_page_without_the_heading_has_no_such_part() -> None:
    assert pages.section(HEAD.encode(), "After") == ""
    assert parts.part(HEAD, "Fi") is None


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("text\n### lower\n", None),
        ("text\n## same ##\n", "## same ##"),
        ("# above", "# above"),
        ("```\n# fenced\n```\n", None),
        ("```\n# in a block that stays open\n", "# in a block that stays open"),
        (pages.begin_marker("history", "RTL_1"), "<!-- dvwiki:begin history of RTL_1"),
    ],
)
def test_what_would_end_the_part_into_which_it_is_put_is_told(content: str, line: str | None) -> None:
    assert parts.breaks_out(content) == line
