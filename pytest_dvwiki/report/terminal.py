"""The section at the end of a run: which failures are known and how they were fixed, and which are new.

Text and markup names only; the caller writes it. Every line stands for itself, so that `grep` finds it.
"""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.records.command import from_here, masked_note, with_seed
from pytest_dvwiki.records.fixes import ends, in_short, same_seed, stated_fix
from pytest_dvwiki.records.onset import came_with
from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import (
        Cause,
        Command,
        FailedTest,
        FirstBad,
        Fix,
        KnownCause,
        OriginType,
        PassedAgain,
        Result,
        Waived,
    )
    from pytest_dvwiki.pipeline import Archived

_MOST_CAUSES = 20
_MOST_POINTS = 10
_MOST_BINS = 8
_MOST_SEEDS = 6
_MOST_TESTS = 3
_MOST_FILES = 3
_EXCERPT_LINES = 14
_RIGHT = 80
"""Column at which the origin ends, where the terminal is that wide."""
_ORIGINS: dict[OriginType, str] = {
    "RTL_BUG": "RTL bug",
    "TB_BUG": "testbench bug",
    "TOOL": "tool or environment",
    "UNKNOWN": "origin unknown",
}
_NAMELESS = "none known, as no pattern knows this failure: `dvwiki patterns propose` makes one from the records"
_NEWS = ("NEW", "REGRESSED", "KNOWN", "WAIVED")
"""What a cause is said to be; the first ones are what a reader has to know first."""
_MARKUP = {
    "NEW": {"red": True, "bold": True},
    "REGRESSED": {"red": True, "bold": True},
    "KNOWN": {"yellow": True, "bold": True},
    "WAIVED": {"light": True},
    "FIXED": {"green": True, "bold": True},
    "HELD": {"green": True, "bold": True},
    "PASSED": {"green": True, "bold": True},
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line and the names of its markup."""

    text: str
    markup: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What is to be shown."""

    archived: Archived
    root: Path
    wiki: Path
    here: Path | None = None
    """Where the user stands; the root where None."""
    notes: tuple[str, ...] = ()
    journal: Path | None = None
    """Where the journal stands, should the wiki not have been written."""
    noise: tuple[Result, ...] = ()


def render(session: Session, *, verbosity: int, width: int) -> Iterator[Line]:
    """The lines of the section, without its heading.

    Args:
        session: What is to be shown.
        verbosity: pytest's: below 0 gives one line, above 0 excerpts and reasons.
        width: Columns of the terminal.
    """
    lines = _parts(session, verbosity=verbosity, width=max(40, width))
    # Each part begins with an empty line, whichever of them comes first.
    for line in itertools.dropwhile(lambda line: not line.text, lines):
        # What stands in records and pages may be anybody's, and move the cursor.
        yield replace(line, text=clean(line.text).replace("\n", " "))


def _parts(session: Session, *, verbosity: int, width: int) -> Iterator[Line]:
    """The causes, what passes again, coverage, noise and the footer."""
    causes = sorted(session.archived.causes, key=lambda cause: _NEWS.index(_word(cause)))
    now = session.archived.record.finished if session.archived.record is not None else ""
    fixed = sum(_is_fixed(session.archived))
    if verbosity < 0:
        said = [_count(len(causes), "cause"), _news(causes)] if causes else []
        said += [f"{fixed} fixed"] if fixed else []
        if said:
            page = f"; {_shown(session, 'index.md')}" if session.archived.problem is None else ""
            yield Line(f"dvwiki: {', '.join(said)}{page}")
    elif causes:
        more = f"; {fixed} fixed" if fixed else ""
        yield Line(f"{_headline(causes)}{more}")
        groups = _of_one_commit(causes)
        causes = _side_by_side(causes, groups)
        for cause in causes[:_MOST_CAUSES]:
            yield Line("")
            commit = _only_commit(cause)
            if commit in groups:
                told = f"came with the same commit: {_count(groups[commit], 'cause')}, {commit}"
                yield from map(Line, textwrap.wrap(told, width=width, max_lines=2, placeholder=" …"))
                del groups[commit]
            yield from _cause(session, cause, verbosity=verbosity, width=width, now=now)
        if len(causes) > _MOST_CAUSES:
            yield Line("")
            where = f": see {_shown(session, 'index.md')}" if session.archived.problem is None else ""
            yield Line(f"{len(causes) - _MOST_CAUSES} more causes{where}")
    if verbosity >= 0:
        yield from _passed_again(session, width)
        yield from _coverage(session, width)
    if verbosity > 0:
        yield from _noise(session.noise)
    yield from _footer(session, quiet=verbosity < 0)


def _only_commit(cause: Cause) -> str:
    """Return the commit and subject with which a cause came, empty where it may be one of several."""
    commit, _, subject = (cause.first_bad.only_commit if cause.first_bad is not None else "").partition(" ")
    return f"{commit[:7]} {subject}".rstrip()


def _of_one_commit(causes: Sequence[Cause]) -> dict[str, int]:
    """Return the commits with which several causes came, each with their number."""
    counts = Counter(map(_only_commit, causes))
    return {commit: count for commit, count in counts.items() if commit and count > 1}


def _side_by_side(causes: Sequence[Cause], groups: Mapping[str, int]) -> list[Cause]:
    """Return causes in order, those of one commit where the first of them stands."""
    first: dict[str, int] = {}
    for place, cause in enumerate(causes):
        first.setdefault(_only_commit(cause), place)
    places = [first[commit] if (commit := _only_commit(cause)) in groups else at for at, cause in enumerate(causes)]
    return [causes[at] for at in sorted(range(len(causes)), key=lambda at: (places[at], at))]


def _is_fixed(archived: Archived) -> Iterator[bool]:
    """Of each fix that a run shows whether its passes are more than chance."""
    rows = {row["fingerprint"] for row in archived.record.fixes} if archived.record is not None else ()
    for fingerprints, again in _of_one_page(archived):
        if any(fingerprint in rows for fingerprint in fingerprints):
            yield _counts(archived, again, archived.known_again.get(fingerprints[0]))


def _of_one_page(archived: Archived) -> list[tuple[list[str], list[PassedAgain]]]:
    """Return what passed again by cause: the fingerprints that one page stands for, and the tests."""
    groups: dict[str, list[PassedAgain]] = {}
    for each in archived.record.passed_again if archived.record is not None else ():
        known = archived.known_again.get(each.fingerprint)
        groups.setdefault((known and known.page) or each.fingerprint, []).append(each)
    return [(list(dict.fromkeys(each.fingerprint for each in group)), group) for group in groups.values()]


def _headline(causes: Sequence[Cause]) -> str:
    tests = len({test.nodeid for cause in causes for test in cause.occurrence.tests})
    return f"{_count(len(causes), 'cause')} behind {_count(tests, 'failed test')}: {_news(causes)}"


def _news(causes: Sequence[Cause]) -> str:
    counts = Counter(map(_word, causes))
    return ", ".join(f"{counts[word]} {word.lower()}" for word in _NEWS if counts[word])


def _word(cause: Cause) -> str:
    return "WAIVED" if is_waived(cause) else cause.news


def is_waived(cause: Cause) -> bool:
    """Whether every failing test of a cause is waived."""
    accepted = {nodeid for each in cause.waived for nodeid in each.tests}
    return bool(accepted) and accepted >= {test.nodeid for test in cause.occurrence.tests}


def _waiver(waived: Waived, cause: Cause) -> str:
    """One waiver of a cause, with the tests that it is for where these are not all."""
    from pytest_dvwiki.triage.waivers import GLOBAL, in_words  # noqa: PLC0415  # few projects have any

    names = {test.nodeid for test in cause.occurrence.tests}
    part = f" for {len(waived.tests)} of {_count(len(names), 'test')}" if len(waived.tests) < len(names) else ""
    told = f"[WAIVED_AS_INFO] {waived.reason}" if waived.id == GLOBAL else in_words(waived)
    return f"{told}{part}"


def _cause(session: Session, cause: Cause, *, verbosity: int, width: int, now: str) -> Iterator[Line]:
    occurrence = cause.occurrence
    word = _word(cause)
    label = f"{word:<10} {occurrence.error_class} / {occurrence.failure_subtype}"
    origin = _origin(cause)
    gap = min(_RIGHT, width) - len(label) - len(origin)
    yield Line(f"{label}{' ' * gap}{origin}" if gap > 1 else label, _MARKUP[word])
    if gap <= 1:
        yield Line(f"  {origin}")
    yield from _wrapped(_tests(occurrence.tests), width)
    if cause.news != "NEW":
        record = session.archived.record
        for text in _past(cause, now, dirty=record is not None and record.vcs.dirty):
            yield from _wrapped(text, width)
    else:
        if cause.beside is not None:
            yield from _wrapped(_beside(cause.beside), width)
        if cause.subtype is not None:
            yield from _wrapped(_subtype_past(cause), width)
    yield from _wrapped(occurrence.primary, width, most=3)
    if verbosity > 0 or not (cause.known and cause.known.status == "wont_fix"):
        yield from _way_on(session, cause, verbosity=verbosity, width=width)
    yield from _pages(cause)
    if verbosity > 0:
        yield from _detail(cause, width)


def _beside(fixed: KnownCause) -> str:
    """That a cause is another one than that which its check reported before."""
    page = PurePosixPath(fixed.page).stem if fixed.page else fixed.fingerprint
    fix = f" (fixed by {in_short(fixed.newest_fix)})" if fixed.newest_fix is not None else ""
    return f"another fault at the check of {page}{fix}"


def _way_on(session: Session, cause: Cause, *, verbosity: int, width: int) -> Iterator[Line]:
    """What helps to repair a cause: its place, the commits it came with, the fix, the command."""
    occurrence = cause.occurrence
    frame = cause.verdict.frame
    if frame is not None and frame.file.rpartition("/")[2] not in occurrence.primary:
        line = f":{frame.line}" if frame.line else ""
        yield Line(f"  at     {frame.file}{line}{f' in {frame.function}' if frame.function else ''}")
    yield from _accepted_and_since(cause, width, most=3 if verbosity < 1 else 12)
    if cause.fix:
        fix = cause.fix.replace("`` ", "").replace(" ``", "")  # back-ticks round a back-tick are for the pages
        yield from _wrapped(fix, width, label="fix", most=4 if verbosity < 1 else 12)
    elif cause.verdict.pattern is None and occurrence.error_class == "unknown":
        yield from _wrapped(_NAMELESS, width, label="fix")
    if occurrence.command is not None:
        yield from _command(session, occurrence.command, width)
    elif occurrence.unreproducible:
        yield from _wrapped(f"no command reproduces it: {occurrence.unreproducible}", width, label="run")


def _pages(cause: Cause) -> Iterator[Line]:
    """The cause's page, and one that says nearly the same; its id where the page is not its own, nor names it."""
    if cause.page is not None:
        yield Line(f"  page   {cause.page}")
    if cause.page is not None and "/bugs/" not in cause.page:
        yield Line(f"  id     {cause.occurrence.fingerprint}")
    if cause.like is not None:
        yield Line(f"  like   {cause.like[0]}; if the two are one cause:")
        yield Line(f"         dvwiki merge {' '.join(cause.like)}")


def _origin(cause: Cause) -> str:
    origin = cause.occurrence.origin
    if origin.type == "UNKNOWN":
        return _ORIGINS["UNKNOWN"]
    return f"{_ORIGINS[origin.type]}, {origin.confidence * 100:.0f} %"


def _tests(tests: Sequence[FailedTest]) -> str:
    names = list(dict.fromkeys(_short(test.nodeid) for test in tests))
    seeds = list(dict.fromkeys(test.seed for test in tests if test.seed is not None))
    shown = ", ".join(names[:_MOST_TESTS]) + (f", +{len(names) - _MOST_TESTS}" if len(names) > _MOST_TESTS else "")
    if not seeds:
        return f"{_count(len(names), 'test')}: {shown}"
    rest = f" +{len(seeds) - _MOST_SEEDS}" if len(seeds) > _MOST_SEEDS else ""
    noun = "seed" if len(seeds) == 1 else "seeds"
    return f"{_count(len(names), 'test')}, {noun} {' '.join(seeds[:_MOST_SEEDS])}{rest}: {shown}"


def _short(nodeid: str) -> str:
    """A node id without its folder and file, where it has more than those."""
    return nodeid.partition("::")[2] or nodeid


def _past(cause: Cause, now: str, *, dirty: bool) -> Iterator[str]:
    """What is known of a cause: since when, how often, and what was done about it.

    Args:
        cause: That fails in a run.
        now: When the run ended.
        dirty: Whether it had uncommitted changes, which may have undone what was done.
    """
    known = cause.known
    if cause.archived_as:
        yield f"already archived as {cause.archived_as}"
    if known is None:
        return
    said = [] if cause.archived_as and known.runs == 1 else [_seen(known.runs, known.first_seen)]
    if known.status in {"closed", "wont_fix", "confirmed"}:
        said.append(known.status.replace("_", " "))
    said.append(ends(known.held, known.failed))
    if any(said):
        yield ", ".join(filter(None, said))
    if cause.fixed_elsewhere and known.newest_fix is not None:
        yield f"other tests or simulators were fixed by {_fix(known.newest_fix)}, {known.newest_fix.date[:10]}"
        return
    if known.fix is not None and known.fix.result == "held":
        yield f"last fixed by {_fix(known.fix)}, {_held(known.fix, now)}"
    # Of artefacts that were read before, the fix may be younger than they are.
    newest = known.newest_fix if not cause.archived_as else None
    if cause.without_fix:
        yield "this commit does not have the newest fix"
    elif newest is not None and newest.result == "open":
        # It was told as FIXED, and that was no chance: another commit may have brought the cause back.
        if newest.counts and newest.passes:
            yield f"came back after the fix by {_fix(newest)}, {newest.date[:10]}"
        elif not dirty:
            yield f"not fixed by {_fix(newest)}, {newest.date[:10]}"


def _seen(runs: int, first_seen: str) -> str:
    """How often something was seen before this run, and since when."""
    return f"seen in {runs} runs since {first_seen[:10]}" if runs > 1 else f"seen once before, on {first_seen[:10]}"


def _fix(fix: Fix) -> str:
    """A fix with the files that it touched."""
    more = f", +{fix.file_count - _MOST_FILES}" if fix.file_count > _MOST_FILES else ""
    names = ", ".join(fix.files[:_MOST_FILES])
    # Uncommitted changes name their files themselves.
    return in_short(fix, f" ({names}{more})" if fix.log_count and names else "")


def _held(fix: Fix, now: str) -> str:
    """Since when a fix was there, and for how long it held: until the cause returned, now or in an earlier run."""
    end = fix.returned or now
    days = (date.fromisoformat(end[:10]) - date.fromisoformat(fix.date[:10])).days if end and fix.date else 0
    said = [fix.date[:10], f"held {_count(days, 'day')}" if days > 0 else ""]
    said.append(f"back since {fix.returned[:10]}" if fix.returned else "")
    return ", ".join(filter(None, said))


def _subtype_past(cause: Cause) -> str:
    known = cause.subtype
    if known is None or not known.runs:
        return ""
    told = (f"the kind is known: {_seen(known.runs, known.first_seen)}", ends(known.held, known.failed))
    return ", ".join(filter(None, told))


def _accepted_and_since(cause: Cause, width: int, *, most: int) -> Iterator[Line]:
    """The waivers of a cause, and the commits with which it came."""
    for waived in cause.waived:
        yield from _wrapped(_waiver(waived, cause), width, label="waived")
    if cause.first_bad is not None:
        yield from _wrapped(_came(cause.first_bad), width, label="came", most=most)


def _came(found: FirstBad) -> str:
    owners = f"; owners {' '.join(found.owners)}" if found.owners else ""
    return f"{came_with(found)}{owners}"


def _detail(cause: Cause, width: int) -> Iterator[Line]:
    verdict = cause.verdict
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
    for text in lines[:_EXCERPT_LINES]:
        yield Line(f"  | {text}"[:width])
    if len(lines) > _EXCERPT_LINES:
        yield Line(f"  | ({len(lines) - _EXCERPT_LINES} more lines on the page)")


def _passed_again(session: Session, width: int) -> Iterator[Line]:
    """Known failures that this run did not see any more, and what explains that."""
    archived = session.archived
    if archived.record is None:
        return
    rows = {row["fingerprint"]: stated_fix(row, archived.record.finished) for row in archived.record.fixes}
    for fingerprints, again in _of_one_page(archived):
        fingerprint = fingerprints[0]
        fix = next((rows[each] for each in fingerprints if each in rows), None)
        known = archived.known_again.get(fingerprint)
        counts = fix is not None and _counts(archived, again, known)
        yield from _heading("FIXED" if counts else "PASSED", known, fingerprint)
        names = list(dict.fromkeys(_short(test.nodeid) for test in again))
        more = f", +{len(names) - _MOST_TESTS}" if len(names) > _MOST_TESTS else ""
        verb = "passes" if len(names) == 1 else "pass"
        yield from _wrapped(f"{_count(len(names), 'test')} {verb} again: {', '.join(names[:_MOST_TESTS])}{more}", width)
        if fix:
            yield from _wrapped(_fix(fix), width, label="by" if counts else "since")
            if not counts:
                yield from _wrapped(_no_proof(again[0], known), width)
        else:
            yield from _wrapped(_no_fix(again[0], archived.causes, fingerprint), width)
        if not counts:
            yield from _both_seeds(session, again, known, width)
        yield from _page(session, fingerprint)
    for fingerprint in archived.held:
        if fingerprint in rows:  # told above
            continue
        known = archived.known_again.get(fingerprint)
        yield from _heading("HELD", known, fingerprint)
        yield from _wrapped(_held_by(known, fails=any(cause.name == fingerprint for cause in archived.causes)), width)
        if known is not None and known.newest_fix is not None:
            yield from _wrapped(_fix(known.newest_fix), width, label="by")
        yield from _page(session, fingerprint)


def _counts(archived: Archived, again: Sequence[PassedAgain], known: KnownCause | None) -> bool:
    """Whether the passes of a fix are more than chance."""
    if not archived.written or known is None or known.newest_fix is None:
        return any(same_seed(each) for each in again)
    return known.newest_fix.counts


def _no_proof(again: PassedAgain, known: KnownCause | None) -> str:
    """What it takes to know that a pass is no chance."""
    newest = known.newest_fix if known is not None else None
    passed = f"passed {newest.passes} of {newest.needed} runs needed" if newest is not None and newest.needed else ""
    if again.new_stimulus and again.seed == again.failed_seed:
        return f"may be chance, as what draws its stimulus may have changed too{f': {passed}' if passed else ''}"
    if same_seed(again):
        return f"may be chance, as it comes and goes by itself{f': {passed}' if passed else ''}"
    if again.seed_unknown:
        return f"may be chance, as the seed with which it failed is not on record{f': {passed}' if passed else ''}"
    told = f"may be chance, as it failed with seed {again.failed_seed}"
    return f"{told}: {f'{passed}, or ' if passed else ''}run it with that seed to know"


def _both_seeds(session: Session, again: Sequence[PassedAgain], known: KnownCause | None, width: int) -> Iterator[Line]:
    """The command with the seed that failed, which tells whether the cause is gone, and with the one that passed."""
    newest = known.newest if known is not None else None
    own = newest.command if newest is not None else None
    ran_on = {test.simulator for test in newest.tests if own and test.nodeid == own.test} if newest is not None else ()
    shown = next((each for each in again if own and each.nodeid == own.test and each.simulator in ran_on), None)
    if shown is None or shown.failed_seed in {None, shown.seed}:
        return
    for label, seed in (("fails", shown.failed_seed), ("passes", shown.seed)):
        command = with_seed(own, seed)
        if command is not None:
            yield from _command(session, command, width, label=label)


def _held_by(known: KnownCause | None, *, fails: bool) -> str:
    """Tell that a fix holds, also of a cause with which other tests fail."""
    passes = known.newest_fix.passes if known is not None and known.newest_fix is not None else 0
    rest = "no test that it made pass failed with the cause" if fails else "the cause did not return"
    return f"the fix holds: {_count(passes, 'run')} passed, and {rest}"


def _heading(word: str, known: KnownCause | None, fingerprint: str) -> Iterator[Line]:
    yield Line("")
    yield Line(f"{word:<10} {known.label if known is not None else fingerprint}", _MARKUP[word])


def _page(session: Session, fingerprint: str) -> Iterator[Line]:
    known = session.archived.known_again.get(fingerprint)
    if known is not None and known.page is not None:
        yield Line(f"  page   {_shown(session, known.page)}")


def _no_fix(again: PassedAgain, causes: Sequence[Cause], fingerprint: str) -> str:
    """Why a pass is no fix."""
    if any(cause.name == fingerprint for cause in causes):
        return "no fix: the cause still fails other tests"
    match again.changed:
        case "seed":
            return _other_seed(again)
        case "older":
            return "no fix: this commit is older than the one that failed; the cause came in between"
        case "branch":
            return "no fix: this branch never had the commit that failed"
        case "configuration":
            return "no fix: configuration not recorded, so it may have run with other parameters than those that failed"
        case _:
            return "no fix: the sources are those that failed, so it comes and goes by itself"


def _other_seed(again: PassedAgain) -> str:
    """Why a pass with the sources that failed is no fix: its seed is another one, or one of the two is unknown."""
    if again.seed_unknown or again.seed is None:
        whose = "with which it failed" if again.seed_unknown else "with which it passes"
        return f"no fix: the sources are those that failed, and the seed {whose} is not on record"
    return (
        f"no fix: only the seed is known to differ ({again.seed}, it failed with {again.failed_seed});"
        f" run it with seed {again.failed_seed} to know"
    )


def _coverage(session: Session, width: int) -> Iterator[Line]:
    """What the coverage reports of the run say, and which holes are news."""
    news = session.archived.coverage
    if news is None:
        return
    rest = _count(news.bins - news.covered, "hole") if news.whole else "by a part of the tests"
    told = f"{news.covered} of {_count(news.bins, 'bin')} covered, {rest}"
    counts = ((len(news.found), "new"), (len(news.again), "open again"), (len(news.filled), "filled"))
    said = ", ".join(f"{number} {word}" for number, word in counts if number)
    if session.archived.causes or (session.archived.record and session.archived.record.passed_again):
        yield Line("")
    markup = _MARKUP["REGRESSED" if news.again else "NEW" if news.found else "PASSED" if news.filled else "KNOWN"]
    yield Line(f"{'COVERAGE':<10} {told}{f': {said}' if said else ''}", markup if said else {})
    yield from _bins("again", news.again, width)
    yield from _bins("hole", news.found, width)
    yield from _bins("filled", news.filled, width)
    if news.left_out:
        yield Line(f"  {_count(news.left_out, 'more hole')} without a page: too many are open already")
    if news.rows:
        yield Line(f"  page   {_shown(session, 'coverage/_index.md')}")


def _bins(label: str, rows: Sequence[Mapping[str, Any]], width: int) -> Iterator[Line]:
    """Some bins, a line for each point that they are of."""
    points: dict[str, list[str]] = {}
    for row in rows:
        points.setdefault(row["covergroup"], []).append(row["bin"])
    for covergroup, names in list(points.items())[:_MOST_POINTS]:
        more = f"; +{len(names) - _MOST_BINS}" if len(names) > _MOST_BINS else ""
        yield from _wrapped(f"{covergroup}: {'; '.join(names[:_MOST_BINS])}{more}", width, label=label)
    if len(points) > _MOST_POINTS:
        yield Line(f"  {label:<6} {len(points) - _MOST_POINTS} more points")


def _noise(noisy: Sequence[Result]) -> Iterator[Line]:
    if not noisy:
        return
    yield Line("")
    total = sum(result.noise_errors for result in noisy)
    verb = "that passed" if len(noisy) == 1 else "that passed all the same"
    yield Line(f"{_count(total, 'error line')} in {_count(len(noisy), 'test')} {verb}:")
    for result in sorted(noisy, key=lambda result: (-result.noise_errors, result.nodeid))[:_MOST_CAUSES]:
        yield Line(f"  {result.noise_errors:4d}  {_short(result.nodeid)}")


def _footer(session: Session, *, quiet: bool) -> Iterator[Line]:
    archived = session.archived
    notes = list(session.notes)
    notes += archived.waiver_notes
    notes += (f"{page} was left alone: {reason}" for page, reason in archived.refused)
    if archived.problem is not None:
        kept = f"; the failures are kept in {session.journal}, the next run archives them" if session.journal else ""
        notes.append(f"the wiki was not written: {archived.problem}{kept}")
    passed = archived.record is not None and archived.record.passed_again
    said = archived.causes or archived.held or archived.coverage or passed
    if said and not quiet and (notes or archived.written):
        yield Line("")
    for note in notes:
        yield Line(f"dvwiki: {note}", {"yellow": True})
    if archived.written and archived.problem is None and archived.record is not None and not quiet:
        pages = _count(archived.pages, "page") if archived.pages else "no page changed"
        yield Line(f"archived as {archived.record.task_id} ({pages}, {archived.seconds:.1f} s)")


def _command(session: Session, command: Command, width: int, *, label: str = "run") -> Iterator[Line]:
    """A command on lines that can be pasted together."""
    room = width - 11
    lines = [""]
    for word in from_here(command, root=session.root, here=session.here or session.root):
        if lines[-1] and len(lines[-1]) + len(word) + 1 > room:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    for index, line in enumerate(lines):
        more = " \\" if index < len(lines) - 1 else ""
        yield Line(f"  {label if not index else '':<6} {line}{more}")
    yield from _wrapped(masked_note(command), width)


def _wrapped(text: str, width: int, *, label: str = "", most: int = 3) -> Iterator[Line]:
    """A text at an indent, in at most so many lines."""
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


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shown(session: Session, page: str) -> str:
    path = session.wiki / page
    return path.relative_to(session.root).as_posix() if path.is_relative_to(session.root) else str(path)
