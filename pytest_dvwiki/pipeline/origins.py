"""Find the commits that introduced a run's causes, and update the origins with what these commits changed."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pytest_dvwiki.capture.git.onset import known_or_new
from pytest_dvwiki.model import Clue, Fix, Onset, Vcs
from pytest_dvwiki.pipeline.causes import Member, origin_of
from pytest_dvwiki.records.kinds import (
    DETERMINISTIC_CLASSES,
    is_beyond_sources,
    is_deterministic_kind,
    precedes_simulator,
    seed_is_unknown,
)
from pytest_dvwiki.records.sides import concerns, reads_of
from pytest_dvwiki.records.targets import share_a_test
from pytest_dvwiki.runs import EVER
from pytest_dvwiki.triage.changes import of_changes
from pytest_dvwiki.triage.missing import module_in
from pytest_dvwiki.triage.origin import FEWEST_SEEDS, changed_side, knows_changes, of_definition, with_clues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.git.repository import Repository
    from pytest_dvwiki.causes.cause import Cause, Doubt
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Failure, FirstBad, OriginType, Verdict

_DIFFS = 5
"""Maximum number of commit ranges examined for evidence of an origin."""
_MOST_COMMITS = 10
"""Maximum number of passing commits looked up in git."""
_MOST_TESTS = 5
"""Maximum number of tests per cause whose ranges or earlier failures are compared."""
_DIFFER = Clue("changes", "UNKNOWN", "its tests do not read the same changed files: maybe two faults")
"""The clue if the changes before the failures of one check are on different sides (design, testbench)."""


class _Span(NamedTuple):
    """A range of commits from a passing to a failing run."""

    passed: str
    failed: str | None
    """Commit of the failure; None for the current state including uncommitted changes."""


def with_changes(
    failures: Sequence[Failure],
    verdicts: Sequence[Verdict],
    vcs: Vcs | None,
    history: History,
    repository: Repository,
    *,
    is_present: bool,
) -> tuple[Verdict, ...]:
    """Update the origins of verdicts, given what changed before each test started to fail.

    The changes are unknown if the repository had no commit during the run, or uncommitted changes that no longer exist.
    `is_present` means that the repository is unchanged since the run.
    """
    if vcs is None or vcs.commit is None or (vcs.dirty and not is_present):
        return tuple(verdicts)
    ranges = _Ranges(vcs, history, repository, now=None if is_present else vcs.commit)
    for most in (1, _MOST_TESTS):
        for failure, verdict in zip(failures, verdicts, strict=True):
            ranges.add(failure, verdict, most)
    weighed = tuple(map(ranges.weighed, failures, verdicts))
    sides: dict[str, set[OriginType | None]] = {}
    for failure, verdict in zip(failures, weighed, strict=True):
        if not (verdict.follower or is_deterministic_kind(verdict, (failure,)) or ranges.is_other(failure, verdict)):
            sides.setdefault(verdict.fingerprint, set()).add(changed_side(verdict))
    return tuple(
        with_clues(old, [_DIFFER]) if len(sides.get(new.fingerprint, ())) > 1 else new
        for old, new in zip(verdicts, weighed, strict=True)
    )


class _Ranges:
    """The ranges of commits in which the failures of a run began, and the clues from the files changed in them.

    `now` is the commit of the run, where ranges without a recorded end stop. If the repository is unchanged since the
    run, it is None, and they stop at the current state, including uncommitted changes.
    """

    def __init__(self, vcs: Vcs, history: History, repository: Repository, now: str | None) -> None:
        self._vcs = vcs
        self._history = history
        self._repository = repository
        self._now = now
        self._commit = str(vcs.commit)
        self._of_cause: dict[str, dict[str, _Span | None]] = {}
        self._changed: dict[_Span, tuple[str, ...]] = {}
        self._led_here = functools.cache(
            lambda commit: commit == self._commit or repository.is_older(commit, self._commit)
        )
        self._clues = functools.cache(self._clues_from)
        self._span = functools.cache(self._span_of)
        self._defining = functools.cache(repository.defining)

    def add(self, failure: Failure, verdict: Verdict, most: int) -> None:
        """Find the range in which a failure began, for up to `most` tests per cause and `_DIFFS` ranges per run."""
        spans = self._of_cause.setdefault(verdict.fingerprint, {})
        is_full = len(spans) >= most or len(self._changed) == _DIFFS
        if verdict.follower or failure.nodeid in spans or is_full:
            return
        passed = _last_pass(failure, verdict, self._history, self._led_here)
        span = _came_in(verdict, self._history, self._led_here)
        if passed is not None and not (span is not None and self._repository.is_older(passed, str(span.failed))):
            span = _Span(passed, self._now)
        spans[failure.nodeid] = span
        if span is not None and span not in self._changed:
            self._changed[span] = self._repository.changed_since(*span)

    def _span_of(self, fingerprint: str) -> _Span | None:
        """Return the range of a cause: a recorded range of one of its tests, or else the one with the latest pass."""
        found: _Span | None = None
        for span in filter(None, self._of_cause.get(fingerprint, {}).values()):
            if span.failed != self._now:
                return span
            if found is None or self._repository.is_older(found.passed, span.passed):
                found = span
        return found

    def is_other(self, failure: Failure, verdict: Verdict) -> bool:
        """Return whether a test has another fault: it passed after the commits that introduced its cause."""
        span, own = self._span(verdict.fingerprint), self._of_cause[verdict.fingerprint].get(failure.nodeid)
        return span is not None and span.failed != self._now and own not in {None, span}

    def weighed(self, failure: Failure, verdict: Verdict) -> Verdict:
        """Return the verdict on a failure, with the clues from the changes in its range."""
        module = module_in(verdict.primary) if _lacking(verdict) else None
        defined = self._defining(module, self._commit, failure.reads) if module else ""
        if module and defined:
            verdict = with_clues(verdict, [of_definition(module, defined)])
        span = self._span(verdict.fingerprint)
        if span is None or not self._changed[span]:
            return verdict
        clues = self._clues(
            span,
            reads_of(verdict.failure_subtype, failure.reads),
            in_simulator=failure.in_simulator or failure.ran_simulator,
            of_build=verdict.error_class in DETERMINISTIC_CLASSES,
            lacking=_lacking(verdict),
            is_defined=bool(defined),
        )
        return with_clues(verdict, clues)

    def _clues_from(
        self,
        span: _Span,
        reads: tuple[str, ...],
        *,
        in_simulator: bool,
        of_build: bool,
        lacking: str | None,
        is_defined: bool,
    ) -> tuple[Clue, ...]:
        """Return the clues from the changes in a range; none if some changes are undone in the failing sources."""
        files, passed = self._changed[span], self._repository.last_change(span.passed)
        failed = None if span.failed == self._now else span.failed
        reads = self._repository.with_removed(reads, passed, failed)
        if not _stays(_Span(passed, failed), files, self._vcs, reads, self._repository):
            return ()
        return of_changes(
            files,
            passed,
            failed,
            sources=reads,
            python_bench=in_simulator,
            of_build=of_build,
            lacking=lacking,
            is_defined=is_defined,
        )


def ranges_of(
    causes: Sequence[Cause], vcs: Vcs, history: History, repository: Repository
) -> tuple[dict[str, FirstBad], tuple[FirstBad, ...]]:
    """Return the commit ranges that introduced the causes of a run, and the ranges that this run adds or narrows.

    A recorded range is left out if the later failures may have a different fault.
    """
    named = [
        replace(cause.occurrence, fingerprint=cause.name)
        for cause in causes
        if not is_beyond_sources(cause.occurrence) and not _is_another_return(cause)
    ]
    in_place = {cause.name: cause.fix_in_place for cause in causes}
    came, first_bad = known_or_new(named, vcs, history, repository, in_place)
    # A failure after a fix may be a different fault from the one that an older range introduced.
    again_now = {each.name for each in causes if each.changed_since_fix and not _has_returned(each)}
    of_old = {each.name for each in causes if _precedes_fix(came.get(each.name), each.newest_fix, repository)}
    came = {
        name: found
        for name, found in came.items()
        if name not in of_old and (name not in again_now or found in first_bad)
    }
    return came, first_bad


def doubt_about(cause: Cause, passed: set[str], now: Vcs, history: History, repository: Repository) -> Doubt:
    """Return why the failures of a known cause may have another fault than its first ones; empty if nothing shows that.

    Files that the simulation did not read are ignored.

    Args:
        cause: The cause.
        passed: The tests that pass in the run.
        now: The state of the repository during the run.
        history: The archive before the run.
        repository: Compares the files of two states.
    """
    came, onset, reads = cause.first_bad, history.onset(cause.name), cause.occurrence.reads
    if cause.history is None or came is None or onset is None:
        return ""
    if onset.failed and onset.failed <= passed and not share_a_test(onset.failed, cause.tests):
        return "other tests"
    since = repository.changed(came.bad if came.dirty else came.good, now)
    files = came.files if came.dirty else repository.changed(came.good, Vcs(commit=came.bad)) or ()
    if since is not None and any(file not in since and concerns(file, reads) for file in files):
        return "undone"
    hidden = history.hidden_since(cause.name, cause.tests[:_MOST_TESTS])
    changed = repository.changed(hidden, now) if hidden is not None else None
    return "hidden" if changed and any(concerns(file, reads) for file in changed) else ""


def _has_returned(cause: Cause) -> bool:
    """Return whether an earlier run already showed that the cause came back after its newest fix."""
    return cause.newest_fix is not None and cause.newest_fix.returned is not None


def _precedes_fix(came: FirstBad | None, fix: Fix | None, repository: Repository) -> bool:
    """Return whether an uncertain range of commits ends before a fix, even if the passes after the fix may be chance.

    Such a range only shows when the check first failed, perhaps because of edits that are gone. The present failure may
    have another fault.
    """
    if came is None or came.is_certain or fix is None or fix.commits is None:
        return False
    return came.bad == fix.commits[0] or repository.is_older(came.bad, fix.commits[0])


def _is_another_return(cause: Cause) -> bool:
    """Return whether the newest fix was reverted or restored since the cause came back.

    If so, the failures of this run may have another fault.
    """
    fix = cause.newest_fix
    known = {cause.fix_in_place, fix.in_place if fix is not None and fix.returned is not None else None}
    return known == {True, False}


def with_onset(
    cause: Cause, member: Member, vcs: Vcs, history: History, repository: Repository, *, root: Path
) -> Cause:
    """Update the origin of a cause with the commits that introduced it.

    `with_changes` uses recorded ranges, and ranges from a single pass that proves the cause absent. This function uses
    `first_bad`, which may need several passes as proof. If that range is uncertain, or does not decide between design
    and testbench, the range since the last pass with any seed is used.
    """
    (failure, verdict), came = member, cause.first_bad
    if came is None or knows_changes(verdict):
        return cause
    onset = history.onset(cause.name) or Onset()
    if onset.comes_and_goes:
        return cause
    certain = _Span(came.good, came.bad) if came.is_certain else None
    for span, failures in (
        (certain, 0),
        _likely_span(cause, member, vcs, onset, history=history, repository=repository),
    ):
        if span is None:
            continue
        own = reads_of(verdict.failure_subtype, failure.reads)
        files, reads = repository.changed_since(*span), repository.with_removed(own, *span)
        if not _stays(span, files, vcs, reads, repository):
            continue
        clues = of_changes(
            files,
            repository.last_change(span.passed),
            None if span.failed in {None, vcs.commit} else span.failed,
            sources=reads,
            python_bench=failure.in_simulator or failure.ran_simulator,
            failures=failures,
            of_build=verdict.error_class in DETERMINISTIC_CLASSES,
            lacking=_lacking(verdict),
        )
        verdict = with_clues(verdict, clues)
        if knows_changes(verdict):
            break
    return replace(cause, occurrence=replace(cause.occurrence, origin=origin_of(verdict, root)))


def _stays(span: _Span, files: Iterable[str], now: Vcs, reads: Sequence[str], repository: Repository) -> bool:
    """Return whether all changes of a recorded range are in the failing sources.

    If some were reverted, the original failure may be gone, and the check may fail because of another fault. Changes to
    files that the simulation did not read are ignored.
    """
    if span.failed in {None, now.commit}:
        return True
    mattering = tuple(file for file in files if concerns(file, reads))
    changes = Fix(text="", commits=(span.passed, str(span.failed)), files=mattering, file_count=len(mattering))
    return not mattering or repository.keeps(changes, now) is True


def _lacking(verdict: Verdict) -> str | None:
    """Return the file that instantiates a missing module; None for any other failure."""
    return verdict.place.file if verdict.failure_subtype == "missing_module" and verdict.place is not None else None


def _likely_span(
    cause: Cause, member: Member, vcs: Vcs, onset: Onset, *, history: History, repository: Repository
) -> tuple[_Span | None, int]:
    """Return the range of commits that most likely introduced a cause, and the number of failing runs since.

    The range starts at the last pass with any seed. If only some seeds show the fault, that pass may be luck, so at
    least two runs with different seeds must have failed since, and none passed. A deterministic fault has no likely
    range, because any pass proves it absent.
    """
    failure, verdict = member
    if failure.directed or is_deterministic_kind(verdict, (failure,)):
        return None, 0
    failed, runs = onset.since.get(failure.nodeid, (0, 0))
    is_new = failure.seed is None or cause.history is None or failure.seed not in cause.history.seeds
    failures, end = failed + is_new, onset.commit or vcs.commit
    if failed < runs or failures < FEWEST_SEEDS or end is None:
        return None, 0
    is_edited = vcs.dirty and onset.commit is None
    if is_edited and repository.state() != vcs:
        return None, 0
    passes = dict.fromkeys(each.commit for each in history.last_passes(verdict, failure, onset.moment or EVER))
    passed = next((each for each in passes if each == end or repository.is_older(each, end)), None)
    return _Span(passed, None if is_edited else end) if passed else None, failures


def _came_in(verdict: Verdict, history: History, led_here: Callable[[str], bool]) -> _Span | None:
    """Return the recorded range that introduced a cause; None if no certain range is on record.

    A range from the last pass to the current run would be less precise: it includes later, unrelated changes, and only
    counts if the test now fails with the seed of that pass.
    """
    onset = history.onset(verdict.fingerprint)
    known = onset.first_bad if onset is not None and onset.moment is not None and not onset.comes_and_goes else None
    if known is None or not known.is_certain or not led_here(known.bad):
        return None
    return _Span(known.good, known.bad)


def _last_pass(failure: Failure, verdict: Verdict, history: History, led_here: Callable[[str], bool]) -> str | None:
    """Return the commit of the last pass that proves the cause absent; None if unknown.

    Passes at commits that are not ancestors of this run's commit, such as those on other branches, are ignored.
    """
    outside = precedes_simulator(verdict, failure) and not failure.ran_simulator
    any_seed = is_deterministic_kind(verdict, (failure,)) or outside
    if seed_is_unknown(verdict, failure) and not any_seed:
        return None
    passes = history.last_passes(verdict, failure)
    any_seed = any_seed or failure.stimulus_seed is None
    proving = dict.fromkeys(each.commit for each in passes if any_seed or each.seed == failure.seed)
    return next(filter(led_here, list(proving)[:_MOST_COMMITS]), None)
