"""pytest-html output: the causes, shown above the table of tests."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pytest_dvwiki.report.brief import headline, tests_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.report.brief import Brief


def anchor(fingerprint: str) -> str:
    """Return the HTML id of a cause's section."""
    return f"dvwiki-{fingerprint}"


def summary(briefs: Sequence[Brief], anchors: Callable[[Brief], Sequence[str]], link: Callable[[str], str]) -> str:
    """Return the causes as HTML.

    Args:
        briefs: The causes.
        anchors: Returns the fingerprints that tests use in their links to a cause.
        link: Returns the address of a wiki page.
    """
    return f"<h3>dvwiki: {headline(briefs)}</h3><ul>{''.join(_item(each, anchors(each), link) for each in briefs)}</ul>"


def _item(brief: Brief, anchors: Sequence[str], link: Callable[[str], str]) -> str:
    marks = "".join(f'<a id="{anchor(each)}"></a>' for each in anchors)
    lines = [f"<b>{brief.word}</b> {escape(brief.label)}", f"<code>{escape(brief.primary)}</code>"]
    lines += map(escape, filter(None, (tests_of(brief), *brief.statements)))
    lines += [f"<code>{escape(brief.command)}</code>"] if brief.command else []
    lines += [f'<a href="{escape(link(brief.page))}">{escape(brief.page)}</a>'] if brief.page else []
    return f"<li>{marks}{'<br>'.join(lines)}</li>"
