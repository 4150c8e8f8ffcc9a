"""Collects what needs attention: open causes, causes new, regressed or fixed since a given day, and expiring waivers.

Each cause is listed with the people who should look at it. The data come from the records, the pages and the waivers.
`dvwiki status`, the morning summary and the site format them.
"""

from __future__ import annotations

import itertools
from collections import Counter
from contextlib import AbstractContextManager
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from pytest_dvwiki.capture.git.command import Git
from pytest_dvwiki.capture.git.people import People
from pytest_dvwiki.causes.statements import (
    Accepted,
    Beside,
    Came,
    FixedBy,
    Infrastructure,
    Regressed,
    Reproduce,
    Seen,
    SeenOn,
    Tracked,
    Unseeded,
    passes_since,
    standing,
    statements,
)
from pytest_dvwiki.causes.words import sentence, short, text
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records import overview
from pytest_dvwiki.records.command import from_anywhere
from pytest_dvwiki.redact import clean
from pytest_dvwiki.triage.waivers import load_waivers
from pytest_dvwiki.wiki.index import ENDED
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.text.markdown import in_words, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.causes.words import Style
    from pytest_dvwiki.model import RunRecord, Totals
    from pytest_dvwiki.records.aggregate import CauseHistory
    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.triage.waivers import Waiver
    from pytest_dvwiki.wiki.page_summary import PageSummary

Word = Literal["NEW", "REGRESSED", "KNOWN", "WAIVED", "FIXED", "MAYBE FIXED"]
"""The state of a cause in the newest runs; FIXED and MAYBE FIXED mean that the tests of the cause pass again."""
WEEK = timedelta(days=7)
_SHOWN = (Seen, SeenOn, Regressed, Beside, FixedBy, Came, Infrastructure, Tracked, Accepted, Reproduce, Unseeded)
"""The kinds of statements to show."""
WHY = (Regressed, FixedBy, Came, Infrastructure)
"""The kinds of statements that explain a cause's state."""


class Looker(Struct, frozen=True):
    """Somebody who should look at a cause, and the reason."""

    name: str
    why: str


class AttentionItem(Struct, frozen=True, kw_only=True):
    """A cause that needs attention."""

    cause: Cause
    word: Word
    since: str
    """The first day of the state `word`, `YYYY-MM-DD`."""
    title: str
    """The title of the cause's page; without a page, its message with variable values removed."""
    lookers: tuple[Looker, ...]

    @property
    def tests(self) -> int:
        """Return the number of tests that failed because of the cause when it last occurred."""
        return len(self.cause.tests)

    @property
    def extent(self) -> str:
        """Return as text how many tests failed in the last occurrence, if on record, and the first day of the state."""
        tests = f"{count(self.tests, 'test')}, " if self.tests else ""
        return f"{tests}since {self.since}"

    @property
    def is_failing(self) -> bool:
        """Return whether tests fail because of the cause and have not passed since."""
        return self.word not in {"FIXED", "MAYBE FIXED"}

    @property
    def first_cause(self) -> str:
        """Return the message of the cause on one line."""
        return " ".join(clean(self.cause.occurrence.primary).split())

    @property
    def command(self) -> str:
        """Return the command that reproduces the cause; empty if there is none."""
        return from_anywhere(self.cause.command) if self.cause.command is not None else ""

    def sentences(self, style: Style, kinds: tuple[type, ...] = _SHOWN) -> list[str]:
        """Return the sentences about the cause in reading order, without the command to reproduce it."""
        stated = (text(each, style) for each in statements(self.cause) if isinstance(each, kinds))
        return [sentence(words) for words in stated if words]


class Attention(Struct, frozen=True, kw_only=True):
    """The causes and waivers that need attention on a day."""

    day: date
    since: date
    newest: RunRecord | None
    """The newest run with at least one test."""
    before: Totals | None
    """The totals of the previous run of the same name; None if there is none."""
    runs: int
    """Number of runs on or after the day `since`."""
    news: tuple[AttentionItem, ...]
    """The causes whose tests failed or passed again on or after `since`, those with the most failing tests first."""
    open: tuple[PageSummary, ...]
    """The pages of open causes whose tests still fail, the most recently seen first."""
    expiring: tuple[Waiver, ...]
    """The waivers that expire within a week, in order of expiry."""
    expired: tuple[Waiver, ...]
    problems: tuple[str, ...]
    """The invalid entries of the waiver file."""

    def of(self, *words: Word) -> list[AttentionItem]:
        """Return the causes in any of these states, in the order of the states given."""
        return [each for word in words for each in self.news if each.word == word]

    @property
    def headline(self) -> str:
        """Return the number of causes in each state as text, such as `1 regressed, 2 new`."""
        counts = Counter(each.word for each in self.news)
        words: tuple[Word, ...] = ("REGRESSED", "NEW", "KNOWN", "WAIVED", "FIXED", "MAYBE FIXED")
        return ", ".join(f"{counts[word]} {word.lower()}" for word in words if counts[word])


class ProjectData(AbstractContextManager["ProjectData"]):
    """The records, pages and waivers of a project, and its owners and authors."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.history = WikiHistory(layout)
        self.waivers = load_waivers(layout.waivers)

    def __exit__(self, *_: object) -> None:
        self.history.close()

    @cached_property
    def people(self) -> People:
        """Return the owners and authors in the repository; all their git queries share one limit of a few seconds."""
        return People(Git(self.layout.root))

    def attention(self, day: date, since: date | None = None) -> Attention:
        """Return the causes and waivers that need attention.

        Args:
            day: The current day.
            since: The first day of the period to report; None for the day before `day`.
        """
        since = since or day - timedelta(days=1)
        archive, begin = self.history.archive, since.isoformat()
        newest = overview.newest_run(archive)
        waivers = sorted(
            (each for each in self.waivers.waivers if each.expires is not None), key=lambda each: str(each.expires)
        )
        last = (day + WEEK).isoformat()
        return Attention(
            day=day,
            since=since,
            newest=newest,
            before=overview.totals_before(archive, newest.task_id) if newest else None,
            runs=overview.runs_since(archive, begin),
            news=tuple(self._news(begin)),
            open=tuple(self._open()),
            expiring=tuple(
                each for each in waivers if not each.is_expired(day.isoformat()) and str(each.expires) <= last
            ),
            expired=tuple(each for each in waivers if each.is_expired(day.isoformat())),
            problems=self.waivers.problems,
        )

    def _news(self, since: str) -> Iterator[AttentionItem]:
        found: dict[str, AttentionItem] = {}
        for name in overview.causes_since(self.history.archive, since):
            cause = self.history.cause(name)
            if cause is not None:
                item = self.item(cause, since)
                if item is not None:
                    found.setdefault(cause.page.path if cause.page else cause.name, item)
        yield from sorted(found.values(), key=lambda each: (-each.tests, each.cause.name))

    def item(self, cause: Cause, since: str) -> AttentionItem | None:
        """Return a cause with its state and lookers, or None if it neither failed nor passed again from `since` on."""
        found = state_of(cause, self.history.archive, since)
        if found is None:
            return None
        page = next(iter(self.history.bug_pages(cause.name)), None) if cause.page is not None else None
        return AttentionItem(
            cause=cause, word=found[0], since=found[1][:10], title=title_of(cause, page), lookers=self.lookers(cause)
        )

    def _open(self) -> list[PageSummary]:
        return sorted(
            filter(is_open, self.history.page_cache.all("bugs")),
            key=lambda page: (page.text("last_updated"), page.text("first_seen"), page.name),
            reverse=True,
        )

    def lookers(self, cause: Cause) -> tuple[Looker, ...]:
        """Return who should look at a cause.

        The first of these that is known:

        1. The owner on the cause's page.
        2. The author of the only commit that can have introduced the cause, and the owners of the files that differ
           between the last pass and the first failure.
        3. The owners of the file that reports the cause, or of the file of a failing test.
        4. The last author of one of these files.
        """
        pages = self.history.bug_pages(cause.name) if cause.page is not None else []
        owner = next((page.text("owner") for page in pages if page.text("owner")), "")
        if owner:
            return (Looker(owner, "owner on its page"),)
        found = list(self._who_brought(cause)) or list(self._who_has(cause))
        return tuple({each.name: each for each in reversed(found)}.values())[::-1]

    def _who_brought(self, cause: Cause) -> Iterator[Looker]:
        came = cause.first_bad
        if came is None:
            return
        commit = came.only_commit.partition(" ")[0]
        if commit and (author := self.people.author(commit)):
            yield Looker(author, f"wrote {short(commit)}, the commit that introduced the cause")
        for owner in came.owners:
            yield Looker(owner, "owner, in CODEOWNERS, of files that changed when the cause appeared")

    def owners(self, cause: Cause, page: PageSummary | None) -> tuple[str, ...]:
        """Return who owns a cause.

        The first of these that is known: the owner on the cause's page, the owners of the file that reports the cause,
        the owners of a failing test's file.
        """
        if page is not None and page.text("owner"):
            return (page.text("owner"),)
        return tuple(each.name for each in self._owners_of_files(cause))

    def _who_has(self, cause: Cause) -> Iterator[Looker]:
        owners = self._owners_of_files(cause)
        yield from owners
        authors = ((file, self.people.last_author(file)) for file in ([] if owners else _files(cause)))
        yield from itertools.islice((Looker(name, f"changed {file} last") for file, name in authors if name), 1)

    def _owners_of_files(self, cause: Cause) -> list[Looker]:
        for file in _files(cause):
            owners = self.people.owners_now(file)
            if owners:
                return [Looker(owner, f"owner of {file} in CODEOWNERS") for owner in owners]
        return []


def _files(cause: Cause) -> list[str]:
    """Return the file that reports a cause, if known, and the file of a failing test, preferably the test to rerun."""
    place = cause.occurrence.place
    chosen = (
        (cause.command.test,) if cause.command is not None and cause.command.test in cause.tests else cause.tests[:1]
    )
    files = (nodeid.partition("::")[0] for nodeid in chosen)
    return list(dict.fromkeys([*([place.file] if place is not None else []), *files]))


def state_of(cause: Cause, archive: Archive, since: str) -> tuple[Word, str] | None:
    """Return the state of a cause, and the time of the run that began this state.

    Args:
        cause: A cause on record.
        archive: The records.
        since: First day of the period. The result is None if the cause neither failed nor passed again in it.
    """
    history = cause.history
    if history is None:
        return None
    fixed = cause.states[-1] if cause.states else None
    held_in = cause.newest_fix.held_in if cause.newest_fix is not None else None
    held_at = archive.moment(held_in) if held_in else ""
    if fixed is not None and max(fixed.moment, held_at) >= since:
        if passes_since(cause):
            return "FIXED", fixed.moment
        if fixed.moment > history.last_seen and standing(fixed) in {"chance", "stated"}:
            return "MAYBE FIXED", fixed.moment
    return _failing(cause, history, since) if history.last_seen >= since else None


def _failing(cause: Cause, history: CauseHistory, since: str) -> tuple[Word, str]:
    if cause.is_waived:
        return "WAIVED", history.first_seen
    if history.regressed is not None and history.regressed[0] >= since:
        return "REGRESSED", history.regressed[0]
    return ("NEW" if history.first_seen >= since else "KNOWN"), history.first_seen


def title_of(cause: Cause, page: PageSummary | None) -> str:
    """Return the title of a cause's page; without a page, the cause's message with variable values removed."""
    title = plain(page.title) if page is not None else ""
    return title or in_words(cause.occurrence.primary) or cause.label


def is_open(page: PageSummary) -> bool:
    """Return whether the cause of a page is open and its tests still fail."""
    is_over = page.problem or bug.is_pointer(page) or page.status in ENDED or page.metadata.get("stale") is True
    return not (is_over or page.text("passes_since"))


def shown(lookers: Iterable[Looker], most: int = 3) -> str:
    """Return the names of the first lookers as text, with the reason why each should look."""
    groups: dict[str, list[str]] = {}
    for each in list(lookers)[:most]:
        groups.setdefault(each.why, []).append(each.name)
    reasons = (f"{', '.join(names)} ({why})" for why, names in groups.items())
    return "; ".join(reasons) or "nobody: neither CODEOWNERS nor git names anyone"


def names(lookers: Sequence[Looker], most: int = 2) -> str:
    """Return the names of the first lookers as text."""
    return ", ".join(each.name for each in lookers[:most]) or "nobody known"
