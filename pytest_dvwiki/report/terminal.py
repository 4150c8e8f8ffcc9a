"""Renders the section at the end of a run: the known failures with their earlier fixes, and the new failures.

Each line has a text and the names of its markup, and makes sense on its own, for example in the output of `grep`. The
caller writes the lines.
"""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki import nodeids
from pytest_dvwiki.causes.statements import (
    Accepted,
    Advice,
    AlreadyArchived,
    Beside,
    Came,
    FixedBy,
    Infrastructure,
    Regressed,
    Reproduce,
    Seen,
    SeenOn,
    Tracked,
    Unnamed,
    Unseeded,
    WithoutFix,
)
from pytest_dvwiki.causes.words import Style, fix_text, of_passes, short, text
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records.command import from_here, masked_note
from pytest_dvwiki.redact import clean
from pytest_dvwiki.report.brief import NEWS, headline, news_of
from pytest_dvwiki.wiki.page_summary import page_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.causes.statements import Statement
    from pytest_dvwiki.model import Attempt, BinRow, Command, FailedTest, Origin, OriginType, Result
    from pytest_dvwiki.pipeline import Archived

_MOST_CAUSES = 20
_MOST_POINTS = 10
_MOST_BINS = 8
_MOST_FLAKY = 10
_MOST_SEEDS = 6
_MOST_TESTS = 3
_EXCERPT_LINES = 14
_RIGHT = 80
"""Column to which the origin is right-aligned, if the terminal is wide enough."""
_BARE_CHECKS = ("AssertionError ", "AssertionError: assert ")
"""Prefixes of the message of an assertion without a text; the message then does not show the compared expressions."""
_ORIGINS: dict[OriginType, str] = {
    "RTL_BUG": "RTL bug",
    "TB_BUG": "testbench bug",
    "TOOL": "tool or environment",
    "UNKNOWN": "origin unknown",
}
_STYLE = Style(link=page_name, files=3)
_PAST = (AlreadyArchived, Beside, Seen, Regressed, FixedBy, WithoutFix, SeenOn, Infrastructure, Tracked)
"""Statements to print above the first cause."""
_PASSES = ("FIXED", "HELD", "PASSED")
"""The states of causes whose tests pass, in display order."""
_MARKUP = {
    "NEW": {"red": True, "bold": True},
    "REGRESSED": {"red": True, "bold": True},
    "KNOWN": {"yellow": True, "bold": True},
    "WAIVED": {"light": True},
    "FIXED": {"green": True, "bold": True},
    "HELD": {"green": True, "bold": True},
    "PASSED": {"green": True, "bold": True},
    "FLAKY": {"yellow": True, "bold": True},
}


class Line(Struct, frozen=True):
    """A line of text and the names of its markup."""

    text: str
    markup: dict[str, bool] = field(default_factory=dict)


class Session(Struct, frozen=True, kw_only=True):
    """What the section shows about a run."""

    archived: Archived
    root: Path
    wiki: Path
    here: Path | None = None
    """The user's current folder; None for the root."""
    notes: tuple[str, ...] = ()
    journal: Path | None = None
    """Path of the journal, to show if the wiki could not be written."""
    noise: tuple[Result, ...] = ()
    """Passed tests with error lines in their output."""
    hidden: tuple[Result, ...] = ()
    """cocotb tests that failed inside passing pytest tests."""
    committed: str = ""
    """The commit with the written files, and its branch; empty if nothing was committed."""


def render(session: Session, *, verbosity: int, width: int) -> Iterator[Line]:
    """Yield the lines of the section, without its heading.

    Args:
        session: The data to show.
        verbosity: pytest's verbosity: one line if negative; with excerpts and reasons if positive.
        width: Columns of the terminal.
    """
    lines = _parts(session, verbosity=verbosity, width=max(40, width))
    # Each part begins with an empty line, which the first part does not need.
    for line in itertools.dropwhile(lambda line: not line.text, lines):
        # Text from records and pages is not trusted: it might contain control codes that move the cursor.
        yield replace(line, text=clean(line.text).replace("\n", " "))


def _parts(session: Session, *, verbosity: int, width: int) -> Iterator[Line]:
    """Yield the lines about causes, tests that pass again, coverage and noise, and the footer."""
    everything = sorted(session.archived.causes, key=lambda cause: NEWS.index(cause.word))
    causes = [cause for cause in everything if not cause.is_infrastructure]
    apart = [cause for cause in everything if cause.is_infrastructure]
    fixed = sum(each.word == "FIXED" for each in session.archived.passed)
    flaky = session.archived.flaky
    if verbosity < 0:
        counts = [count(len(causes), "cause"), news_of(cause.word for cause in causes)] if causes else []
        counts += [f"infrastructure: {count(len(apart), 'cause')}"] if apart else []
        counts += [f"{fixed} fixed"] if fixed else []
        counts += [f"{len(flaky)} flaky"] if flaky else []
        if counts:
            page = f"; {_shown(session, 'index.md')}" if session.archived.problem is None else ""
            yield Line(f"dvwiki: {', '.join(counts)}{page}")
    else:
        more = f"; {fixed} fixed" if fixed else ""
        if causes:
            yield Line(f"{headline(causes)}{more}")
            yield from _causes(session, causes, verbosity=verbosity, width=width)
        if apart:
            yield Line("")
            yield Line(f"infrastructure (does not count against the tests): {headline(apart)}")
            yield from _causes(session, apart, verbosity=verbosity, width=width)
    if verbosity >= 0:
        yield from _passes(session, width)
        yield from _flaky(session, width)
        yield from _coverage(session, width)
        yield from _hidden(session.hidden)
    if verbosity > 0:
        yield from _noise(session.noise)
    yield from _footer(session, quiet=verbosity < 0)


def _causes(session: Session, causes: Sequence[Cause], *, verbosity: int, width: int) -> Iterator[Line]:
    """Yield the lines of the first causes, grouped by the commits that introduced them."""
    groups = {onset: number for onset, number in Counter(map(_onset, causes)).items() if onset and number > 1}
    causes = _grouped(causes, groups)
    advised: set[str] = set()
    for cause in causes[:_MOST_CAUSES]:
        yield Line("")
        onset = _onset(cause)
        if onset in groups:
            heading = f"{onset[0]}: {count(groups.pop(onset), 'cause')}, {onset[1]}"
            yield from map(Line, textwrap.wrap(heading, width=width, max_lines=2, placeholder=" …"))
        yield from _cause(session, cause, advised, verbosity=verbosity, width=width)
    if len(causes) > _MOST_CAUSES:
        yield Line("")
        where = f": see {_shown(session, 'index.md')}" if session.archived.problem is None else ""
        yield Line(f"{count(len(causes) - _MOST_CAUSES, 'more cause')}{where}")


def _onset(cause: Cause) -> tuple[str, ...]:
    """Return the parts of a heading for causes that appeared with the same commits; empty without an earlier pass.

    The first part is what is known about the commits, the second part names them. For a range, further parts are the
    commits in it that likely introduced the causes.
    """
    found = cause.first_bad
    # After a fix, an uncertain range only shows when the cause was seen again.
    if found is None or cause.doubt or (cause.states and not found.is_certain):
        return ()
    if found.only_commit:
        commit, _, subject = found.only_commit.partition(" ")
        return "came with the same commit", f"{short(commit)} {subject}".rstrip()
    good, bad = short(found.good), short(found.bad)
    if found.is_certain:
        return "came in the same range of commits", f"after {good}, up to {bad}", *found.likely
    edits = " with uncommitted changes" if found.dirty else ""
    # "Without them" is certain only if the test passed at this very commit, and not at an older one that differs only
    # in files that the test does not read.
    is_same = found.dirty and found.passed_with == "same" and found.good == found.bad
    before = "absent without them" if is_same else f"passed before that at {good}"
    return f"seen at the same commit{edits}", f"{bad}; {before}"


def _grouped(causes: Sequence[Cause], groups: Mapping[tuple[str, ...], int]) -> list[Cause]:
    """Return the causes with the members of each group placed right after the first of them."""
    first: dict[tuple[str, ...], int] = {}
    for place, cause in enumerate(causes):
        first.setdefault(_onset(cause), place)
    places = [first[onset] if (onset := _onset(cause)) in groups else at for at, cause in enumerate(causes)]
    return [causes[at] for at in sorted(range(len(causes)), key=lambda at: (places[at], at))]


def _cause(session: Session, cause: Cause, advised: set[str], *, verbosity: int, width: int) -> Iterator[Line]:
    """Yield the lines of a cause, and add its advice to `advised`; advice that was given before is left out."""
    occurrence = cause.occurrence
    word = cause.word
    label = f"{word:<10} {occurrence.error_class} / {occurrence.failure_subtype}"
    origin = _origin(cause.occurrence.origin)
    gap = min(_RIGHT, width) - len(label) - len(origin)
    yield Line(f"{label}{' ' * gap}{origin}" if gap > 1 else label, _MARKUP[word])
    if gap <= 1:
        yield Line(f"  {origin}")
    yield from _wrapped(_tests(occurrence.tests), width)
    stated = list(session.archived.statements(cause))
    advice = {text(each, _STYLE) for each in stated if isinstance(each, Advice)}
    if verbosity <= 0 and advice <= advised:
        stated = [each for each in stated if not isinstance(each, Advice)]
    advised |= advice
    for each in stated:
        if isinstance(each, _PAST):
            # The end of the text says whether the fix is still in place, so more lines are allowed.
            yield from _wrapped(text(each, _STYLE), width, most=9 if isinstance(each, FixedBy) else 3)
    yield from _wrapped(occurrence.primary, width, most=3)
    if verbosity > 0 or not (cause.page and cause.page.status == "wont_fix"):
        yield from _next_steps(session, cause, stated, verbosity=verbosity, width=width)
    yield from _pages(cause)
    if verbosity > 0:
        yield from _detail(cause, width)


def _next_steps(
    session: Session, cause: Cause, stated: Sequence[Statement], *, verbosity: int, width: int
) -> Iterator[Line]:
    """Yield lines that help to repair a cause: source line, introducing commits, fix, command."""
    most = 3 if verbosity < 1 else 12
    frame = cause.verdict.frame if cause.verdict is not None else None
    if frame is not None and frame.file.rpartition("/")[2] not in cause.occurrence.primary:
        line = f":{frame.line}" if frame.line else ""
        yield Line(f"  at     {frame.file}{line}{f' in {frame.function}' if frame.function else ''}")
    place = cause.occurrence.place
    if place is not None and f"{cause.occurrence.primary} ".startswith(_BARE_CHECKS):
        yield from _wrapped(place.source, width, label="check")
    for each in stated:
        words = text(each, _STYLE)
        match each:
            case Accepted():
                yield from _wrapped(words, width, label="waived")
            case Came(found=found, doubt=doubt):
                # The end of the text says that tests may have a different fault, so more lines are allowed.
                at_most = max(9, most) if doubt or found.passed_after or found.maybe_newer else most
                yield from _wrapped(words.removeprefix("came "), width, label="came", most=at_most)
            case Advice():
                # Only pages need double back-ticks around a text with back-ticks.
                words = words.replace("`` ", "").replace(" ``", "")
                yield from _wrapped(words, width, label="fix", most=max(4, most))
            case Unnamed():
                yield from _wrapped(words, width, label="fix")
            case Reproduce(command=command) if command is not None:
                yield from _command(session, command, width)
            case Reproduce():
                yield from _wrapped(words, width, label="run")
            case Unseeded():
                yield from _wrapped(words, width)


def _pages(cause: Cause) -> Iterator[Line]:
    """Yield the lines for the page to read (with the fingerprint, unless it is a bug page) and for a similar page."""
    page = cause.page_to_read
    if page is not None:
        yield Line(f"  page   {page}")
    if page is not None and "/bugs/" not in page:
        yield Line(f"  id     {cause.occurrence.fingerprint}")
    if cause.like is not None:
        yield Line(f"  like   {cause.like[0]}; if both have the same cause:")
        yield Line(f"         dvwiki merge {' '.join(cause.like)}")


def _origin(origin: Origin) -> str:
    if origin.type == "UNKNOWN":
        return _ORIGINS["UNKNOWN"]
    return f"{_ORIGINS[origin.type]}, {origin.confidence * 100:.0f} %"


def _tests(tests: Sequence[FailedTest]) -> str:
    names = list(dict.fromkeys(_short(test.nodeid) for test in tests))
    seeds = list(dict.fromkeys(test.seed for test in tests if test.seed is not None))
    shown = ", ".join(names[:_MOST_TESTS]) + (f", +{len(names) - _MOST_TESTS}" if len(names) > _MOST_TESTS else "")
    if not seeds:
        return f"{count(len(names), 'test')}: {shown}"
    rest = f" +{len(seeds) - _MOST_SEEDS}" if len(seeds) > _MOST_SEEDS else ""
    noun = "seed" if len(seeds) == 1 else "seeds"
    return f"{count(len(names), 'test')}, {noun} {' '.join(seeds[:_MOST_SEEDS])}{rest}: {shown}"


def _short(nodeid: str) -> str:
    """Return the name of a test without its file; a name without `::` is returned whole."""
    return nodeid.partition("::")[2] or nodeids.shown(nodeid)


def _detail(cause: Cause, width: int) -> Iterator[Line]:
    verdict = cause.verdict
    if verdict is None:
        return
    where = f" at line {verdict.line} of the {verdict.source}" if verdict.line and verdict.source else ""
    yield from _wrapped(f"{verdict.pattern or 'no pattern'}{where}; {verdict.rule}", width, label="why")
    for reason in cause.occurrence.origin.reasons:
        yield from _wrapped(reason, width, label="origin")
    if verdict.decided_by:
        yield from _wrapped(verdict.decided_by, width, label="hook")
    for runner_up in verdict.runners_up:
        yield from _wrapped(f"{runner_up.pattern or 'no pattern'}: {runner_up.text}", width, label="not", most=1)
    if cause.occurrence.log is not None:
        log = cause.occurrence.log
        yield Line(f"  log    {log.path}{f':{log.line}' if log.line else ''}")
    lines = cause.occurrence.excerpt.rstrip("\n").split("\n") if cause.occurrence.excerpt.strip() else []
    for line in lines[:_EXCERPT_LINES]:
        yield Line(f"  | {line}"[:width])
    if len(lines) > _EXCERPT_LINES:
        yield Line(f"  | ({count(len(lines) - _EXCERPT_LINES, 'more line')} on the page)")


def _passes(session: Session, width: int) -> Iterator[Line]:
    """Yield lines about the known causes whose tests pass in this run, fixed ones first, with possible reasons."""
    found = sorted(session.archived.passed, key=lambda each: _PASSES.index(each.word))
    for each in found[:_MOST_CAUSES]:
        yield Line("")
        yield Line(f"{each.word:<10} {each.cause.label if each.cause is not None else each.name}", _MARKUP[each.word])
        passing = [test for test in each.tests if test not in each.fails_inside]
        past = "past this error, but a test in"
        for tests, verbs in (
            (passing, ("passes again", "pass again")),
            (each.fails_inside, (f"gets {past} it fails", f"get {past} each of them fails")),
        ):
            names = list(dict.fromkeys(map(_short, tests)))
            more = f", +{len(names) - _MOST_TESTS}" if len(names) > _MOST_TESTS else ""
            verb = verbs[0] if len(names) == 1 else verbs[1]
            shown = ", ".join(names[:_MOST_TESTS])
            if names:
                yield from _wrapped(f"{count(len(names), 'test')} {verb}: {shown}{more}", width)
        fix = fix_text(each.fix, _STYLE) if each.fix is not None else ""
        if each.word == "PASSED":
            yield from _wrapped(fix, width, label="since")
        yield from _wrapped(of_passes(each), width)
        if each.word != "PASSED":
            yield from _wrapped(fix, width, label="by")
        history = each.cause.history if each.cause is not None and each.word != "PASSED" else None
        if history is not None and history.origin_fix is not None:
            yield from _wrapped(f"{_origin(history.origin)}: {history.origin.reasons[0]}", width, label="origin")
        for label, command in (("failed", each.failing), ("passed", each.passing)):
            if command is not None:
                yield from _command(session, command, width, label=label)
        if each.cause is not None and each.cause.page is not None:
            yield Line(f"  page   {_shown(session, each.cause.page.path)}")
    if len(found) > _MOST_CAUSES:
        yield Line("")
        yield Line(f"{count(len(found) - _MOST_CAUSES, 'more cause')} whose tests pass: dvwiki status lists them")


def _flaky(session: Session, width: int) -> Iterator[Line]:
    """Yield lines about the tests that failed and passed when rerun; these tests are not failures."""
    tests = session.archived.flaky
    if not tests:
        return
    yield Line("")
    yield Line(f"{'FLAKY':<10} {count(len(tests), 'test')} failed, then passed when run again", _MARKUP["FLAKY"])
    for each in tests[:_MOST_FLAKY]:
        yield from _wrapped(f"{_short(each.nodeid)}: {text(each, _STYLE)}", width)
        for label, primary in dict.fromkeys((_label(attempt), attempt.primary) for attempt in each.attempts[:-1]):
            yield from _wrapped(primary, width, label="cause", most=2)
            yield Line(f"         {label}")
    if len(tests) > _MOST_FLAKY:
        yield Line(f"  {len(tests) - _MOST_FLAKY} more")
    if session.archived.written and session.archived.pages is not None:
        yield Line(f"  page   {_shown(session, 'flaky.md')}")


def _label(attempt: Attempt) -> str:
    return f"{attempt.error_class} / {attempt.failure_subtype}"


def _coverage(session: Session, width: int) -> Iterator[Line]:
    """Yield lines about the coverage of the run, and the new, reopened and filled holes."""
    news = session.archived.coverage
    if news is None:
        return
    rest = count(news.bins - news.covered, "hole") if news.whole else "by some of the tests"
    covered = f"{news.covered} of {count(news.bins, 'bin')} covered, {rest}"
    counts = ((len(news.found), "new"), (len(news.again), "open again"), (len(news.filled), "filled"))
    news_of_bins = ", ".join(f"{number} {word}" for number, word in counts if number)
    if session.archived.causes or session.archived.passed:
        yield Line("")
    markup = _MARKUP["REGRESSED" if news.again else "NEW" if news.found else "PASSED" if news.filled else "KNOWN"]
    yield Line(
        f"{'COVERAGE':<10} {covered}{f': {news_of_bins}' if news_of_bins else ''}", markup if news_of_bins else {}
    )
    yield from _bins("again", news.again, width)
    yield from _bins("hole", news.found, width)
    yield from _bins("filled", news.filled, width)
    if news.left_out:
        yield Line(f"  {count(news.left_out, 'more hole')} without a page: too many are open already")
    if news.rows:
        yield Line(f"  page   {_shown(session, 'coverage/_index.md')}")


def _bins(label: str, rows: Sequence[BinRow], width: int) -> Iterator[Line]:
    """Yield the first bins, one line per coverage point."""
    points: dict[str, list[str]] = {}
    for row in rows:
        points.setdefault(row.covergroup, []).append(row.shown)
    for covergroup, names in list(points.items())[:_MOST_POINTS]:
        more = f"; +{len(names) - _MOST_BINS}" if len(names) > _MOST_BINS else ""
        yield from _wrapped(f"{covergroup}: {'; '.join(names[:_MOST_BINS])}{more}", width, label=label)
    if len(points) > _MOST_POINTS:
        yield Line(f"  {label:<6} {count(len(points) - _MOST_POINTS, 'more point')}")


def _hidden(hidden: Sequence[Result]) -> Iterator[Line]:
    if not hidden:
        return
    yield Line("")
    yield Line(f"{count(len(hidden), 'cocotb test')} failed in tests that pytest counts as passed; not archived:")
    yield from (Line(f"  {_short(result.nodeid)}") for result in hidden[:_MOST_CAUSES])
    if len(hidden) > _MOST_CAUSES:
        yield Line(f"  and {len(hidden) - _MOST_CAUSES} more")


def _noise(noisy: Sequence[Result]) -> Iterator[Line]:
    if not noisy:
        return
    yield Line("")
    total = sum(result.noise_errors for result in noisy)
    verb = "that passed" if len(noisy) == 1 else "that passed anyway"
    yield Line(f"{count(total, 'error line')} in {count(len(noisy), 'test')} {verb}:")
    for result in sorted(noisy, key=lambda result: (-result.noise_errors, result.nodeid))[:_MOST_CAUSES]:
        yield Line(f"  {result.noise_errors:4d}  {_short(result.nodeid)}")


def _footer(session: Session, *, quiet: bool) -> Iterator[Line]:
    archived = session.archived
    notes = list(session.notes)
    notes += archived.waiver_notes
    notes += (f"{page} was left alone: {reason}" for page, reason in archived.refused)
    if archived.problem is not None:
        journal = session.journal
        kept = f"; the failures are saved in {journal}; the next run archives them" if journal else ""
        notes.append(f"the wiki was not written: {archived.problem}{kept}")
    if (
        (archived.causes or archived.passed or archived.flaky or archived.coverage)
        and not quiet
        and (notes or archived.written)
    ):
        yield Line("")
    for note in notes:
        yield Line(f"dvwiki: {note}", {"yellow": True})
    if archived.written and archived.problem is None and archived.record is not None and not quiet:
        none = "no page changed" if archived.pages == 0 else "record only"
        pages = count(archived.pages, "page") if archived.pages else none
        yield Line(f"archived as {archived.record.task_id} ({pages}, {archived.seconds:.1f} s)")
    if session.committed and not quiet:
        yield Line(f"committed as {session.committed}")


def _command(session: Session, command: Command, width: int, *, label: str = "run") -> Iterator[Line]:
    """Yield a command on several lines joined by backslashes, so that all lines can be pasted together."""
    left = width - 11
    lines = [""]
    for word in from_here(command, root=session.root, here=session.here or session.root):
        if lines[-1] and len(lines[-1]) + len(word) + 1 > left:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    for index, line in enumerate(lines):
        more = " \\" if index < len(lines) - 1 else ""
        yield Line(f"  {label if not index else '':<6} {line}{more}")
    yield from _wrapped(masked_note(command), width)


def _wrapped(text: str, width: int, *, label: str = "", most: int = 3) -> Iterator[Line]:
    """Yield a text, wrapped and indented, in at most `most` lines."""
    if not text.strip():
        return
    indent = " " * 9 if label else "  "
    first = f"  {label:<6} " if label else "  "
    lines = textwrap.wrap(
        " ".join(text.split()),
        width=width,
        initial_indent=first,
        subsequent_indent=indent,
        max_lines=most,
        placeholder=" …",
        break_on_hyphens=False,
    )
    for line in lines:
        yield Line(line)


def _shown(session: Session, page: str) -> str:
    path = session.wiki / page
    return path.relative_to(session.root).as_posix() if path.is_relative_to(session.root) else str(path)
