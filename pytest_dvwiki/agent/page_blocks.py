"""Formats the pages of a wiki as blocks of a prompt."""

from __future__ import annotations

import logging
import re
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.agent.budget import PromptBlock
from pytest_dvwiki.agent.untrusted import named, prose, quoted
from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.causes.statements import (
    Accepted,
    Advice,
    Came,
    FixedBy,
    Proposed,
    Regressed,
    Reproduce,
    Seen,
    SeenOn,
    Tracked,
    Unseeded,
    beside,
    is_fixed_by,
    statements,
)
from pytest_dvwiki.causes.words import Style, after_return, fix_text, sentence, text
from pytest_dvwiki.model.archive import ALL_BINS, MANY_BINS
from pytest_dvwiki.model.sentences import count, is_own
from pytest_dvwiki.records import aggregate, bins
from pytest_dvwiki.records.command import from_anywhere, start
from pytest_dvwiki.records.kinds import is_deterministic
from pytest_dvwiki.wiki import age, outside
from pytest_dvwiki.wiki.index import percent
from pytest_dvwiki.wiki.kinds import spec, topic
from pytest_dvwiki.wiki.kinds.bug import ORIGINS, UNTOUCHED, effective_type, facts
from pytest_dvwiki.wiki.kinds.coverage import counted
from pytest_dvwiki.wiki.kinds.marks import drifted
from pytest_dvwiki.wiki.kinds.pattern import UNWRITTEN
from pytest_dvwiki.wiki.text import pages, parts
from pytest_dvwiki.wiki.text.markdown import cite, plain
from pytest_dvwiki.wiki.text.notes import confirmed
from pytest_dvwiki.wiki.unaccepted import is_unaccepted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from pytest_dvwiki.model import Command
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.kinds.topic import Lesson
    from pytest_dvwiki.wiki.page_summary import PageSummary
    from pytest_dvwiki.wiki.query import WikiHistory

_WORD_LENGTH = 80
_FIX_LENGTH = 300
"""Maximum length of a fix, in characters. All advice of patterns is shorter, because half an advice is useless."""
_TITLE_LENGTH = 200
_RESOLUTION_LENGTH = 600
_COMMAND_LENGTH = 500
_CLARIFICATIONS = 3
_LESSONS = 3
"""Maximum number of lessons shown with a pattern; a topic shows all its lessons."""
_DATED = re.compile(r"- (\d{4}-\d\d-\d\d) \(")
_logger = logging.getLogger(__name__)


class PageBlocks:
    """Formats pages as blocks of a prompt.

    This class is long because each kind of page has a block of its own, and all share the same helpers.
    """

    def __init__(self, layout: Layout, history: WikiHistory, today: date) -> None:
        self._layout = layout
        self._history = history
        self._today = today

    @cached_property
    def _registry(self) -> Registry:
        from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415 (only some pages need it)
        from pytest_dvwiki.patterns.schema import PatternError  # noqa: PLC0415

        try:
            return load_registry(sorted(self._layout.patterns.glob("*.yaml")))
        except PatternError as error:
            # The user sees this error in commands that classify, so a prompt need not mention it.
            _logger.debug("the project's own patterns were not used: %s", error)
            return load_registry()

    def block(self, page: PageSummary) -> PromptBlock:
        """Return the block of a page.

        Raises:
            OSError: The page cannot be read.
            YamlError: The page's frontmatter cannot be read.
        """
        match page.category:
            case "bugs":
                return self._bug(page)
            case "patterns":
                return self._pattern(page)
            case "coverage":
                return self._hole(page)
            case "topics":
                lessons = self._lessons(page)
                return PromptBlock(f"**{_words(page.name)}** — {count(len(lessons), 'lesson')}", lessons)
            case _:
                lines = self._clarifications(page)
                header = f"**{_words(page.name)}** — {_words(plain(page.title))}"
                return PromptBlock(self._tagged(header, page, _first_date(lines)), lines[-_CLARIFICATIONS:])

    def _tagged(self, header: str, page: PageSummary, since: str | None = None) -> str:
        """Return a header with a tag that gives the page's age."""
        return f"{header} [{age.tag(page, self._today, since)}]"

    def _bug(self, page: PageSummary) -> PromptBlock:
        confidence = page.metadata.get("confidence")
        shown = f"{confidence:.2f}" if isinstance(confidence, int | float) else "n/a"
        status = _named(page.status or "open")
        kind = ORIGINS.get(effective_type(page), ORIGINS["UNKNOWN"])
        title = quoted(f"{kind}: {plain(page.title)}", _TITLE_LENGTH)
        header = self._tagged(f"**{_words(page.name)}** ({status}, {shown}) — {title}", page)
        resolution = self._resolution(page)
        history = aggregate.cause(self._history.archive, page.fingerprints())
        if history is None:
            return PromptBlock(header, resolution)
        known = replace(facts(page), status="")  # the header shows the status
        cause = self.with_advice(page, Cause.on_record(page.cause, history, known))
        task = history.task_ids[0]
        lines: list[str] = []
        again: tuple[str, ...] = ()
        for each in statements(cause):
            words = text(each, self.style)
            match each:
                case Seen():
                    shown = " ".join(map(_named, history.seeds[:8]))
                    seeds = f", seed{'s' if len(history.seeds) > 1 else ''} {shown}" if shown else ""
                    lines += [f"{sentence(f'{words}{seeds}')} {cite(task)}", *_outdated(page)]
                case Advice():
                    lines.append(f"Fix: {prose(words, _FIX_LENGTH)}")
                case Reproduce(command=command) if command is not None:
                    again = _reproduce_line(command)
                case Regressed() | FixedBy() | Came() | SeenOn() | Proposed() | Accepted() | Unseeded():
                    lines.append(f"{sentence(words)} {cite(each.task_id)}")
                case Tracked():
                    lines.append(sentence(words))
        log = history.newest.log
        source = cite(task, log.path if log else None, log.line if log else None)
        primary = history.newest.primary
        excerpt = (
            f"How the simulation ended {source}: {_words(primary)}"
            if is_own(primary)
            else quoted(primary, data="log data", source=source)
        )
        return PromptBlock(header, (*lines, *self._sibling_causes(page), *again, *resolution), excerpt)

    def with_advice(self, page: PageSummary, cause: Cause) -> Cause:
        """Return the cause with the advice for it and, if it is deterministic, with the statistics of its subtype."""
        name, newest = page.text("failure_subtype"), cause.occurrence
        advice = self._registry.advice(
            newest.pattern, newest.failure_subtype, newest.primary, lambda word: quoted(word, _WORD_LENGTH)
        )
        subtype = self._history.subtype(name) if is_deterministic(newest) else None
        return replace(cause, subtype=subtype, advice=advice or self._history.fix_template(name))

    def _sibling_causes(self, page: PageSummary) -> Iterator[str]:
        """Yield a sentence about each other cause that the same check has reported, and about that cause's fix."""
        own = self._history.archive.present((page.cause,))
        for name in self._history.archive.family(page.cause):
            known = self._history.cause(name) if name not in own else None
            if known is not None and known.page is not None:
                yield f"{sentence(text(beside(known), self.style))}"

    def _resolution(self, page: PageSummary) -> tuple[str, ...]:
        """Return people's text under Resolution, on a page and on pages merged into it, without untouched check boxes.

        Agents' notes are left out until they are confirmed.
        """

        def is_proven(commit: str) -> bool:
            known = aggregate.cause(self._history.archive, page.fingerprints())
            return known is not None and any(is_fixed_by(state, commit) for state in known.fixes)

        found = (self._section(each, "Resolution") for each in family(self._history, page))
        parts = [confirmed(part, is_proven) for part in found]
        lines = [line.rstrip() for part in parts for line in part.splitlines()]
        text = prose("\n".join(line for line in lines if not UNTOUCHED.fullmatch(line)), _RESOLUTION_LENGTH)
        return (f"Resolution: {text}",) if text else ()

    @cached_property
    def style(self) -> Style:
        """Return how a prompt marks untrusted text, such as the subject of a commit."""
        return Style(name=_named, quote=_quoted, link=self._path_of)

    def _path_of(self, cause: str) -> str:
        """Return the path of a cause's page, or the cause's name if it has no page."""
        listed = self._history.bug_pages(cause)
        return listed[0].path if listed else cause

    def _pattern(self, page: PageSummary) -> PromptBlock:
        rate = percent(page.metadata.get("fix_success_rate"))
        hits = _words(page.text("hit_count", "0"))
        known = self._history.subtype(page.text("failure_subtype", page.name))
        rate += " as reported" if known and known.reported and known.reported == known.held + known.failed else ""
        title = f"**{_words(page.name)}** (hit_count: {hits}, fix_rate: {rate}) — {self._first_line(page)}"
        header = self._tagged(title, page)
        held = known.held_fix if known else None
        template = prose(self._history.fix_template(page.name), _FIX_LENGTH)
        back = f", but it {after_return(held)}" if held and held.returned else ""
        fix = [f"Fix: {fix_text(held, self.style)} (held{back})"] if held else []
        advice = [f"{'In general' if held else 'Fix'}: {template}"] if template else []
        return PromptBlock(header, (*_outdated(page), *fix, *advice, *self._lessons(page)[:_LESSONS]))

    def _lessons(self, page: PageSummary) -> tuple[str, ...]:
        """Return the accepted lessons of a page, most confirmed first, without superseded ones."""
        text = outside.read(self._layout.wiki, page.path).decode("utf-8", "replace")
        known = [each for each in topic.lessons(text) if each.is_active and not each.unreviewed]
        known.sort(key=lambda each: -len(each.tasks))
        return tuple(self._lesson(each) for each in known)

    def _lesson(self, lesson: Lesson) -> str:
        words = prose(plain(": ".join(filter(None, (lesson.title, lesson.text)))), _RESOLUTION_LENGTH)
        again = f" (+{len(lesson.tasks) - 1})" if len(lesson.tasks) > 1 else ""
        source = f" {cite(lesson.tasks[-1])}" if lesson.tasks else ""
        return f"Lesson [{age.age(lesson.since, self._today)}{again}]: {words}{source}"

    def _hole(self, page: PageSummary) -> PromptBlock:
        bin_name = page.text("bin")
        name = f"{page.text('covergroup')}{f', {MANY_BINS}' if bin_name == ALL_BINS else f'.{bin_name}'}"
        filled = ", filled" if page.metadata.get("filled") is True else ""
        header = f"**{_words(name)}** ({_named(page.text('action_class'))}{filled}) — {_words(page.text('feature'))}"
        return PromptBlock(header.removesuffix(" — "), (*_outdated(page), *self._of_hole(page)))

    def _of_hole(self, page: PageSummary) -> Iterator[str]:
        """Yield sentences about a hole: how long it has been open, or what filled it, and a scenario to fill it."""
        hole = bins.hole(self._history.archive, page.text("covergroup"), page.text("bin"))
        if hole is not None:
            task_id, finished, newest = hole.rows[0]
            hits = f", {newest.hits} of {newest.goal} {counted(hole)}" if newest.hits is not None else ""
            scenario = f" ({_words(newest.scenario)})" if newest.hits is not None and newest.scenario else ""
            times = sum(row.state.filled for row in hole.rows)
            before = f", filled {times} times before" if times > 1 else ", filled once before" if times else ""
            since = f"Filled on {finished[:10]}" if newest.filled else f"Open since {hole.since[:10]}{hits}{before}"
            yield f"{since}{scenario}. {cite(task_id)}"
        scenario = prose(self._section(page, "Scenario"), _TITLE_LENGTH)
        if scenario and scenario != UNWRITTEN:
            yield f"Scenario: {scenario}"

    def _clarifications(self, page: PageSummary) -> tuple[str, ...]:
        """Return the clarifications on a specification page, newest last, or the page's text if there are none."""
        lines = [line.strip() for line in self._section(page, spec.SECTION).splitlines() if line.strip()]
        if not lines:
            body = plain(pages.read(outside.read(self._layout.wiki, page.path)).body)
            lines = [" ".join(line for line in body.splitlines() if parts.heading_of(line) is None)]
        return tuple(prose(line, _RESOLUTION_LENGTH) for line in lines if line.strip())

    def _first_line(self, page: PageSummary) -> str:
        text = self._section(page, "Description") or plain(page.title)
        return prose(text.strip().split("\n", 1)[0], _TITLE_LENGTH)

    def _section(self, page: PageSummary, heading: str) -> str:
        """Return the text under a heading; empty if an agent wrote it and no person has accepted it."""
        if is_unaccepted(page.path.removesuffix(".md"), self._history.unaccepted, heading):
            return ""
        return plain(pages.section(outside.read(self._layout.wiki, page.path), heading))


def family(history: WikiHistory, page: PageSummary) -> list[PageSummary]:
    """Return all pages with the same cause as the given page; the main page, to which the others refer, comes first."""
    return history.page_cache.causes.pages_of(*page.fingerprints()) or [page]


def _outdated(page: PageSummary) -> tuple[str, ...]:
    """Return a note if the page cites code that no longer exists."""
    reason = drifted(page)
    return (f"Partly out of date: {prose(reason, _TITLE_LENGTH)}.",) if reason else ()


def _reproduce_line(command: Command) -> tuple[str, ...]:
    """Return a line with the command that reruns the last failing test; nothing if quoting would change the command."""
    line = from_anywhere(command)
    shown = quoted(line, _COMMAND_LENGTH)
    if line not in shown:
        return ()
    where = f" ({start(command)})" if start(command) else ""
    return (f"Run again{where}: {shown}",)


def _first_date(clarifications: Iterable[str]) -> str | None:
    """Return the date of the first clarification that has a date."""
    return next((found[1] for line in clarifications if (found := _DATED.match(line))), None)


def _named(name: str) -> str:
    return named(name, _FIX_LENGTH)


def _words(text: str) -> str:
    return prose(text, _WORD_LENGTH)


def _quoted(text: str) -> str:
    return quoted(text, _FIX_LENGTH)
