"""Renders the state of the wiki on one screen."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pytest_dvwiki.causes.words import waiver_text
from pytest_dvwiki.model.sentences import count, shortened
from pytest_dvwiki.records import overview
from pytest_dvwiki.report.attention import names
from pytest_dvwiki.wiki.page_summary import page_name
from pytest_dvwiki.wiki.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.model import Totals
    from pytest_dvwiki.report.attention import Attention, AttentionItem, Word

_FAILING: tuple[Word, ...] = ("REGRESSED", "NEW", "KNOWN", "WAIVED")
_PASSING: tuple[Word, ...] = ("FIXED", "MAYBE FIXED")
_MOST_CAUSES = 5
_MOST_FIXED = 2
_MOST_PAGES = 3
_MOST_WAIVERS = 3


def render(attention: Attention, *, width: int) -> Iterator[str]:
    """Yield up to 24 lines about runs, causes that failed or passed again, open causes, and expiring waivers."""
    for line in _lines(attention):
        yield textwrap.shorten(line, width, placeholder=" …") if not line.startswith(" ") else shortened(line, width)


def _lines(attention: Attention) -> Iterator[str]:
    yield from (f"{each}." for each in newest(attention))
    news = f"{count(attention.runs, 'run')} since {attention.since}; causes: {attention.headline or 'no news'}"
    yield f"{news}; {count(len(attention.open), 'bug page')} open."
    failing, passing = attention.of(*_FAILING), attention.of(*_PASSING)
    for each in failing[:_MOST_CAUSES]:
        yield f"{_cause(each)}: {names(each.lookers)}"
        yield f"  {'':<10} {each.title}"
    yield from (f"{_cause(each)}: {each.title}" for each in passing[:_MOST_FIXED])
    more = max(0, len(failing) - _MOST_CAUSES) + max(0, len(passing) - _MOST_FIXED)
    if more:
        yield f"  and {more} more: dvwiki report --summary"
    named = {each.cause.page.path for each in attention.news if each.cause.page is not None}
    rest = [page for page in attention.open if page.path not in named]
    for page in rest[:_MOST_PAGES]:
        yield f"  {'OPEN':<10} {page.name}, last seen {page.text('last_updated')}: {plain(page.title)}"
    if len(rest) > _MOST_PAGES:
        yield f"  and {count(len(rest) - _MOST_PAGES, 'more open page')}"
    if not (attention.expiring or attention.expired):
        yield "No waiver expires within a week."
    waivers = [("expired", each) for each in attention.expired] + [("expires", each) for each in attention.expiring]
    for word, waiver in waivers[:_MOST_WAIVERS]:
        yield f"  {word:<10} {waiver_text(waiver)}"
    if len(waivers) > _MOST_WAIVERS:
        yield f"  and {count(len(waivers) - _MOST_WAIVERS, 'more waiver')}"


def _cause(item: AttentionItem) -> str:
    page = page_name(item.cause.page.path) if item.cause.page is not None else "no page"
    return f"  {item.word:<10} {item.extent}, {page}"


def newest(attention: Attention) -> Iterator[str]:
    """Yield lines about the newest run and about the previous run of the same name."""
    record = attention.newest
    if record is None:
        yield "No run is on record"
        return
    name = overview.name_of(record.task_id)
    yield f"The newest run, {name}, {record.finished[:10]} {record.finished[11:16]} UTC: {totals(record.totals)}"
    if attention.before is not None:
        yield f"The previous run of that name: {totals(attention.before)}"


def totals(counts: Totals) -> str:
    """Return the test counts of a run in words: failed, passed and so on."""
    named = (
        (counts.failed, "failed"),
        (counts.errors, "with errors"),
        (counts.waived, "waived"),
        (counts.flaky, "flaky"),
        (counts.passed, "passed"),
    )
    return ", ".join(f"{number} {word}" for number, word in named if number) or "no test counted"
