"""Renders the morning summary as Markdown or HTML: changed causes, who should look at each, and expiring waivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.causes.words import PLAIN, Style, waiver_text
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.report.attention import shown
from pytest_dvwiki.report.status import newest
from pytest_dvwiki.report.templating import environment
from pytest_dvwiki.wiki.page_summary import page_name
from pytest_dvwiki.wiki.text.markdown import code, escape, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.report.attention import Attention, AttentionItem, Word

MOST = 20
"""Maximum number of causes in a section."""
_SECTIONS: tuple[tuple[str, tuple[Word, ...]], ...] = (
    ("Regressed", ("REGRESSED",)),
    ("New", ("NEW",)),
    ("Known, failed again", ("KNOWN",)),
    ("Fixed", ("FIXED",)),
    ("Maybe fixed", ("MAYBE FIXED",)),
    ("Waived", ("WAIVED",)),
)
_STYLE = Style(name=code, quote=lambda words: escape(one_line(words)), link=lambda page: code(page_name(page)))


def headline(attention: Attention) -> str:
    """Return a line about the newest run, and the numbers of runs, of causes in each state, and of open bug pages."""
    news = f"{count(attention.runs, 'run')} since {attention.since}, causes: {attention.headline or 'no news'}"
    return ". ".join([*newest(attention), f"{news}; {count(len(attention.open), 'bug page')} open."])


def sections(attention: Attention) -> Iterator[tuple[str, list[AttentionItem]]]:
    """Yield the headings of the summary with their causes; empty headings are left out."""
    for heading, words in _SECTIONS:
        items = attention.of(*words)
        if items:
            yield f"{heading} ({len(items)})", items


def notes(attention: Attention) -> list[str]:
    """Return a line for each expiring or expired waiver, and for each invalid entry of the waiver file."""
    return [
        *(f"{waiver_text(each)}" for each in attention.expiring),
        *(f"expired and no longer in effect: {waiver_text(each)}" for each in attention.expired),
        *attention.problems,
    ]


def markdown(attention: Attention) -> str:
    """Return the summary as Markdown."""
    lines = [f"# Regression on {attention.day}", "", escape(headline(attention))]
    for heading, items in sections(attention):
        lines += ["", f"## {heading}", ""]
        for each in items[:MOST]:
            lines += _item(each)
        if len(items) > MOST:
            lines.append(f"- and {len(items) - MOST} more")
    waivers = notes(attention)
    if waivers:
        lines += ["", "## Waivers", "", *(f"- {escape(one_line(each))}" for each in waivers)]
    return "\n".join(lines) + "\n"


def _item(item: AttentionItem) -> list[str]:
    page = f", page {code(page_name(item.cause.page.path))}" if item.cause.page is not None else ""
    return [
        f"- **{escape(item.cause.label)}**, {item.extent}{page}",
        f"  - {code(item.first_cause)}",
        *(f"  - {each}" for each in item.sentences(_STYLE)),
        *([f"  - Who should look: {escape(one_line(shown(item.lookers)))}"] if item.is_failing else []),
        *([f"  - Run it again: {code(item.command, 1000)}"] if item.is_failing and item.command else []),
    ]


def html(attention: Attention) -> str:
    """Return the summary as HTML for mail: tables with inline styles, without scripts or external resources.

    Raises:
        MissingError: Jinja2 is not installed.
    """
    return (
        environment()
        .get_template("summary.html")
        .render(
            found=attention,
            headline=headline(attention),
            sections=list(sections(attention)),
            notes=notes(attention),
            most=MOST,
            style=PLAIN._replace(link=page_name),
            shown=shown,
            page_name=page_name,
        )
    )
