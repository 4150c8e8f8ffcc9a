"""Find the commits that introduced a cause, from the runs on record and git's history.

The range of commits starts at the last run that passed and ends at the first run that failed; the passing commit must
be an ancestor of the failing one. Later runs of commits in between narrow the range. If the test also fails on sources
without any of the range's changes, another change made it fail, and the range is extended to that run.

For a build that fails, every run with a successful build is a pass.

A pass starts a range only if it proves that the cause was absent. It does if it used the seed that fails now, if the
cause does not depend on the seed, or if so many runs passed before the first failure that the probability of passing by
chance is below 5 % (`records.chance`). Otherwise, or if the failing run had uncommitted changes, no commit is reported.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pytest_dvwiki.model import FirstBad, Fix, Onset, Vcs
from pytest_dvwiki.records.kinds import is_deterministic, precedes_simulator
from pytest_dvwiki.records.sides import HDL, is_among, is_prose, is_unread
from pytest_dvwiki.records.store import seed_hash
from pytest_dvwiki.records.targets import share_a_test
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_dvwiki.capture.git.repository import Repository
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import FailedTest, Occurrence, Pass, StillFailing
    from pytest_dvwiki.model.archive import PassSeed

_MOST = 20
"""Maximum number of causes per run that are looked up in git."""
_MOST_TESTS = 5
"""Maximum number of tests per cause that are searched for passes."""
_MOST_COMMITS = 10
"""Maximum number of passing commits that are looked up in git."""

_REPORTS = frozenset({"sim_error", "uvm_error", "uvm_fatal"})
"""Error classes of failures that the simulation itself reports."""
_PYTHON_FILE = re.compile(r"[\w./-]+\.py\b")


def known_or_new(
    occurrences: Sequence[Occurrence],
    vcs: Vcs,
    history: History,
    repository: Repository,
    in_place: Mapping[str, bool | None] | None = None,
) -> tuple[dict[str, FirstBad], tuple[FirstBad, ...]]:
    """Return the ranges of commits that introduced the causes of a run.

    Args:
        occurrences: The causes, the most important first.
        vcs: The state of the repository during the run.
        history: The archive before the run.
        repository: Lists the commits between two runs.
        in_place: Maps a fingerprint to whether the sources still have the changes of its newest fix; None if unknown.
            If they do, the new failure may be another fault, and passes after the fix do not prove that this fault was
            absent.

    Returns:
        All known ranges by fingerprint, and the ranges that this run adds or narrows.
    """
    known: dict[str, FirstBad] = {}
    news = []
    for occurrence in occurrences[:_MOST]:
        onset = history.onset(occurrence.fingerprint) or Onset()
        keeps_fix = (in_place or {}).get(occurrence.fingerprint)
        has_seed = any(test.seed_unknown or test.stimulus_seed for test in occurrence.tests)
        if keeps_fix is not False and has_seed and not is_deterministic(occurrence):
            onset = replace(onset, fixed_after=None, passes_to_hold={} if keeps_fix else onset.passes_to_hold)
            if keeps_fix and _was_fixed(occurrence, history):
                # This run will be on record as a failure although the fix is still in place. Later runs will begin a
                # new range there, so this run does, too.
                onset = Onset(comes_and_goes=onset.comes_and_goes)
        if onset.fixed_after and onset.failed.isdisjoint(test.nodeid for test in occurrence.tests):
            # The tests that fail now did not fail before the fix, so another fault or other commits made them fail.
            onset = replace(onset, commit=None, first_bad=None)
        found, is_new = _range_of(occurrence, vcs, onset, history, repository)
        if found is not None:
            ordered = _with_undone_last(found, vcs, repository)
            if ordered.log != found.log:
                is_new = onset.first_bad is None or _content(ordered) != _content(onset.first_bad)
            known[occurrence.fingerprint] = found = ordered
        if found is not None and is_new:
            news.append(found)
    return known, tuple(news)


def _with_undone_last(found: FirstBad, vcs: Vcs, repository: Repository) -> FirstBad:
    """Put those commits of a range last whose changes are undone in a failing run: another commit made it fail."""
    likely = found.likely
    if not found.is_certain or found.dirty or found.likely_count < 2:  # noqa: PLR2004
        return found
    undone = repository.undone((found.good, found.bad), found.files, vcs)
    if undone.isdisjoint(likely) or undone.issuperset(likely):
        return found
    log = (*sorted(likely, key=lambda line: line in undone), *found.log[len(likely) :])
    return replace(found, log=log)


def _was_fixed(occurrence: Occurrence, history: History) -> bool:
    """Return whether a cause has a fix, and no run on record shows that the cause came back after its newest fix."""
    known = history.cause(occurrence.fingerprint)
    return known is not None and bool(known.states) and known.states[-1].returned is None


def _range_of(
    occurrence: Occurrence, vcs: Vcs, onset: Onset, history: History, repository: Repository
) -> tuple[FirstBad | None, bool]:
    """Return the range of a cause that occurs now, and whether this run adds or narrows the range."""
    known = onset.first_bad
    if vcs.dirty and vcs.commit is not None and repository.edited_beside(vcs.commit, occurrence.reads):
        vcs = replace(vcs, dirty=False)
    with_passes = functools.partial(
        _with_passes, known, occurrence, onset=onset, history=history, repository=repository
    )
    if vcs.commit is None or not occurrence.tests or (vcs.dirty and onset.moment is not None):
        return with_passes(vcs) if vcs.commit is not None and occurrence.tests else (known, False)
    named, now = f"{occurrence.primary}\n{occurrence.excerpt}", vcs
    since = passed_since(occurrence, vcs, onset, history, repository)
    if since is not None:
        start = since
    elif known is not None and known.is_certain:
        is_between = repository.is_older(vcs.commit, known.bad) and repository.is_older(known.good, vcs.commit)
        if all(test.nodeid != known.nodeid for test in occurrence.tests):
            # The range was found for other tests, whose simulations may have read other files.
            vcs = vcs if is_between else Vcs(commit=known.bad)
            own = _start(occurrence, vcs, onset, history, repository)
            is_narrower = own and own.passed_with == "same" and repository.is_older(known.good, own.commit)
            start = own if own and is_narrower else _Start(occurrence.tests[0].nodeid, known.good)
        elif is_between or is_undone(known, vcs, repository, occurrence.reads):
            start = _Start(known.nodeid, known.good)
        else:
            # The more often the cause was seen, the fewer passes before it are needed to rule out chance.
            failed = Vcs(commit=known.bad)
            later = _start(occurrence, failed, onset, history, repository) if known.log_count > 1 else None
            if later is None or later.passed_with != "same" or not repository.is_older(known.good, later.commit):
                return with_passes(vcs)
            vcs, start = failed, later
    else:
        if onset.commit is not None and not repository.is_older(str(vcs.commit), onset.commit):
            vcs = Vcs(commit=onset.commit)
        begins = _start(occurrence, vcs, onset, history, repository)
        was_edited = known is not None and known.dirty and not _fails_without_edits(known, now, repository)
        if begins is None or (begins.passed_with != "same" and was_edited):
            # No pass proves the cause absent, and the first failing run had uncommitted changes.
            return known, False
        start = begins
    between = functools.partial(
        _between,
        start,
        repository=repository,
        fingerprint=occurrence.fingerprint,
        named=evidence(start.nodeid, _suspected(named, occurrence), occurrence.reads),
        reads=occurrence.reads,
    )
    found = between(vcs)
    if found is None:
        # The pass was at the commit of the first failure, so the known range cannot get narrower.
        return with_passes(now)
    is_gone = found.is_certain and vcs != now and is_undone(found, now, repository, occurrence.reads)
    found = (between(now) or found) if is_gone else found
    found = _with_tests_of(known, found)
    with_later, joined = _with_passes(found, occurrence, now, onset=onset, history=history, repository=repository)
    return with_later, joined or known is None or _identity(found) != _identity(known)


def _with_tests_of(known: FirstBad | None, found: FirstBad) -> FirstBad:
    """Return a range with the tests that the recorded range names, if both end at the same commit."""
    if known is None or known.bad != found.bad:
        return found
    return replace(found, passed_after=known.passed_after, maybe_newer=known.maybe_newer)


def _fails_without_edits(known: FirstBad, now: Vcs, repository: Repository) -> bool:
    """Return whether the cause occurs now without uncommitted changes, at its first failing commit or an older one."""
    commit = str(now.commit)
    return not now.dirty and (repository.last_change(commit) == known.bad or repository.is_older(commit, known.bad))


def _with_passes(
    known: FirstBad | None, occurrence: Occurrence, vcs: Vcs, *, onset: Onset, history: History, repository: Repository
) -> tuple[FirstBad | None, bool]:
    """Add to a known range the failing tests that passed after its first failing commit.

    A test whose pass proves nothing is added only if neither the test nor another parametrization of it failed with the
    cause before.

    Returns:
        The range, and whether a test was added.
    """
    if known is None or not known.is_certain or onset.comes_and_goes:
        return known, False
    others = _passed_after(occurrence, vcs, known.bad, history, repository)
    after = tuple(dict.fromkeys((*known.passed_after, *others)))
    before = (*onset.failed, known.nodeid)
    new = [test for test in occurrence.tests if not share_a_test([test.nodeid], before)]
    joining = _joining(replace(occurrence, tests=tuple(new)), vcs, known.bad, history, repository)
    newer = tuple(each for each in dict.fromkeys((*known.maybe_newer, *joining)) if each not in after)
    found = replace(known, passed_after=after, maybe_newer=newer)
    return found, found != known


def _joining(
    occurrence: Occurrence, failed: Vcs, first: str, history: History, repository: Repository
) -> Iterator[str]:
    """Yield the failing tests that passed after the first failure, even if the pass does not prove anything.

    A test is left out if no code that the simulation read has changed since the pass, because then no change can have
    introduced another fault.
    """
    for nodeid, last in _last_passes(occurrence, failed, history, repository, proving=False):
        is_after = _includes(last.commit, first, repository)
        if is_after and not repository.is_unread_since(last.commit, str(failed.commit), occurrence.reads):
            yield nodeid


def _suspected(text: str, occurrence: Occurrence) -> str:
    """Return a failure's text, without names of Python files if the simulation itself reported the failure.

    The Python file with the failed check is no more suspect than the other files read by the simulation.
    """
    is_report = occurrence.error_class in _REPORTS and not is_deterministic(occurrence)
    is_report = is_report and any(map(HDL.search, occurrence.reads))
    return _PYTHON_FILE.sub("", text) if is_report else text


def is_undone(known: FirstBad, vcs: Vcs, repository: Repository, reads: Sequence[str] = ()) -> bool:
    """Return whether a failing run lacks all changes of a range, which means that another change made it fail.

    Args:
        known: The range.
        vcs: The state of the repository during the run.
        repository: Compares the files of two states.
        reads: Files that the failing simulation read; changes of files that it did not read are ignored. If empty, all
            files of the range count.
    """
    if not 0 < known.file_count == len(known.files):
        return False
    files = tuple(file for file in known.files if not (reads and (is_unread(file, reads) or is_prose(file, reads))))
    since = repository.changed(known.bad, vcs)
    if not files or (since is not None and set(files).isdisjoint(since)):
        return False
    changed = repository.changed(known.good, vcs)
    if changed is None or set(files).isdisjoint(repository.in_code(changed, known.good, vcs)):
        return changed is not None
    # Later commits may have changed other lines of these files.
    span = Fix(text="", commits=(known.good, known.bad), files=files, file_count=len(files))
    return repository.keeps(span, vcs) is False


def _identity(first_bad: FirstBad) -> tuple[object, ...]:
    return first_bad.good, first_bad.bad, first_bad.passed_with, first_bad.dirty, first_bad.log, first_bad.unread_count


def _content(first_bad: FirstBad) -> tuple[object, ...]:
    """Return what a record has of a range, apart from owners and files."""
    return *_identity(first_bad), first_bad.passed_after, first_bad.maybe_newer


class _Start(NamedTuple):
    """A pass before a cause appeared, and whether it proves that the cause was absent."""

    nodeid: str
    commit: str
    passed_with: PassSeed = "same"
    by_number: bool = False
    """Whether this pass alone proves nothing, but the number of passes since then does."""


def _start(
    occurrence: Occurrence, failed: Vcs, onset: Onset, history: History, repository: Repository
) -> _Start | None:
    """Return the last pass before a cause appeared, preferring passes that prove its absence."""

    def newer(one: _Start, other: _Start) -> _Start:
        return other if repository.is_older(one.commit, other.commit) else one

    weak: list[_Start] = []
    certain: list[_Start] = []
    is_usable = functools.partial(_is_usable, occurrence=occurrence, failed=failed, repository=repository)
    # If a fixture failed, perhaps only the first test that used it has a simulator; passes are looked up by simulator.
    tests = sorted(occurrence.tests, key=lambda test: test.simulator is None)
    for test in tests[:_MOST_TESTS]:
        before = [*filter(is_usable, history.last_passes(occurrence, test, onset.moment or EVER, edited=True))]
        if not before:
            # It may be unknown which design of a folder failed.
            others = history.last_passes(occurrence, test, onset.moment or EVER, any_design=True)
            before = _without_missing_file(others, occurrence, failed, repository)
        passes = [*filter(is_usable, history.last_passes(occurrence, test, edited=True))] if onset.moment else before
        passes = passes or before
        proving = [] if onset.comes_and_goes else [one for one in passes if _proves(one, test, occurrence)]
        enough = (onset.passes_to_hold | onset.passes_needed).get(test.nodeid)
        runs = _independent(before, comes_and_goes=onset.comes_and_goes)
        # A pass counts if it begins a series of passes that is long enough to make chance unlikely.
        for group, by_number in ((proving, False), (runs[enough - 1 :] if enough else [], True)):
            found = _nearest(group, failed, repository)
            if found is not None:
                good = _range_start(found.commit, onset, repository)
                certain.append(_Start(test.nodeid, good, by_number=by_number))
                break
        last = _nearest(before, failed, repository) if not certain else None
        if last is not None:
            seed = None if test.seed_unknown else test.stimulus_seed
            # If a test passed with several seeds in a run, their common hash does not show whether this seed was one
            # of them. Therefore only a single recorded seed shows that the pass used another seed.
            is_other = None not in {last.seed, seed} and last.seed != seed
            good = _range_start(last.commit, onset, repository)
            if good == last.commit:
                weak.append(_Start(test.nodeid, good, "other" if is_other else "unknown"))
    # All these tests fail with the cause, so a pass of any of them counts.
    starts = certain or weak
    return functools.reduce(newer, starts) if starts else None


def _without_missing_file(
    passes: Iterable[Pass], occurrence: Occurrence, failed: Vcs, repository: Repository
) -> list[Pass]:
    """Return the newest of the passes at whose commit no build can have lacked the file that a build lacks now."""
    if occurrence.failure_subtype != "missing_file" or failed.commit is None or failed.dirty:
        return []
    text = f"{occurrence.primary}\n{occurrence.excerpt}"
    by_commit = {one.commit: one for one in passes}
    for one in list(by_commit.values())[:_MOST_COMMITS]:
        is_before = repository.is_older(one.commit, failed.commit)
        if is_before and repository.lacks_unlike(one.commit, failed.commit, text, occurrence.reads):
            return [one]
    return []


def passed_since(
    occurrence: Occurrence, failed: Vcs, onset: Onset, history: History, repository: Repository
) -> _Start | None:
    """Return the last pass after the first failure on record; None unless every failing test has passed since then.

    The current failure then began after that pass. If a test has not passed since, the earlier failure may be a
    different fault that the same check found.
    """
    first = onset.first_bad.bad if onset.first_bad is not None and onset.first_bad.is_certain else onset.commit
    if first is None or onset.comes_and_goes:
        return None
    found = _passed_after(occurrence, failed, first, history, repository)
    if len(found) < len({test.nodeid for test in occurrence.tests[:_MOST_TESTS]}):
        return None
    last: _Start | None = None
    for nodeid, commit in found.items():
        if last is None or repository.is_older(commit, last.commit):
            last = _Start(nodeid, commit)
    return last


def proven_passes(occurrence: Occurrence, failed: Vcs, history: History, repository: Repository) -> list[Pass]:
    """Return the last passes of the failing tests that prove the cause absent; empty if a test has none."""
    found = [one for _, one in _last_passes(occurrence, failed, history, repository)]
    return found if len(found) == len(occurrence.tests[:_MOST_TESTS]) else []


def _passed_after(
    occurrence: Occurrence, failed: Vcs, first: str, history: History, repository: Repository
) -> dict[str, str]:
    """Map each failing test that passed after the first failure to the commit of its last pass."""
    passes = _last_passes(occurrence, failed, history, repository)
    return {nodeid: one.commit for nodeid, one in passes if _includes(one.commit, first, repository)}


def _last_passes(
    occurrence: Occurrence, failed: Vcs, history: History, repository: Repository, *, proving: bool = True
) -> Iterator[tuple[str, Pass]]:
    """Yield each failing test that passed before, with its last pass.

    With `proving`, only passes that prove the cause absent count.
    """
    is_usable = functools.partial(_is_usable, occurrence=occurrence, failed=failed, repository=repository)
    for test in occurrence.tests[:_MOST_TESTS]:
        passes = filter(is_usable, history.last_passes(occurrence, test, edited=True))
        found = _nearest([one for one in passes if not proving or _proves(one, test, occurrence)], failed, repository)
        # With uncommitted changes, the failing sources differ from those of a pass at the same commit.
        if found is not None and (failed.dirty or found.commit != failed.commit):
            yield test.nodeid, found


def _is_usable(candidate: Pass, *, occurrence: Occurrence, failed: Vcs, repository: Repository) -> bool:
    """Return whether a pass had no uncommitted changes in files that the failing simulation may have read."""
    # git is called only once for all passes with the same edits, because the failing commit is the same.
    return not candidate.edited or repository.are_unread(candidate.edited, occurrence.reads, str(failed.commit))


def _includes(commit: str, other: str, repository: Repository) -> bool:
    """Return whether a commit is `other` or a descendant of it."""
    return commit == other or repository.is_older(other, commit)


def _proves(candidate: Pass, test: FailedTest, occurrence: Occurrence) -> bool:
    """Return whether a pass proves that the cause of a current failure was absent.

    A failure before any simulator was chosen has no seed, so a pass with any seed is proof.
    """
    has_seed = _has_seed(candidate, test.stimulus_seed) or precedes_simulator(occurrence, test)
    return is_deterministic(occurrence) or (has_seed and not test.seed_unknown)


def _has_seed(one: Pass, seed: str | None) -> bool:
    """Return whether a pass is known to have used a seed; True if the seed is None, because no seed matters then."""
    return seed is None or one.seed == seed or (one.seed is None and one.seed_hash == seed_hash(seed))


def _independent(passes: Sequence[Pass], *, comes_and_goes: bool) -> list[Pass]:
    """Return one pass per run; passes with the same seed and commit are merged, unless the cause comes and goes."""
    runs = {one.moment: one for one in passes}.values()
    if comes_and_goes:
        return list(runs)
    return list({one.moment if one.seed_hash is None else (one.seed_hash, one.commit): one for one in runs}.values())


def _nearest(passes: Sequence[Pass], failed: Vcs, repository: Repository) -> Pass | None:
    """Return the last pass at the failing commit or at one of its ancestors."""
    found: Pass | None = None
    by_commit: dict[str, Pass] = {}
    for one in passes:
        by_commit.setdefault(one.commit, one)
    for one in list(by_commit.values())[:_MOST_COMMITS]:
        if one.commit == failed.commit:
            return one
        if repository.is_older(one.commit, str(failed.commit)) and (
            found is None or repository.is_older(found.commit, one.commit)
        ):
            found = one
    return found


def narrowed(
    failing: Iterable[StillFailing], vcs: Vcs, history: History, repository: Repository
) -> tuple[FirstBad, ...]:
    """Return the ranges that get narrower because tests pass at a commit older than the failure.

    Args:
        failing: Causes with tests that pass now.
        vcs: The state of the repository during the run.
        history: The archive before the run.
        repository: Lists the commits between two runs.
    """
    found: dict[str, FirstBad] = {}
    for each in failing:
        # A pass with another seed or with uncommitted changes says nothing about the commit.
        other_seed = each.seed_unknown or (each.seed is not None and each.by.seed != each.seed)
        if other_seed or vcs.commit is None or vcs.dirty or each.vcs.commit is None or each.fingerprint in found:
            continue
        onset = history.onset(each.fingerprint) if repository.is_older(vcs.commit, each.vcs.commit) else None
        if onset is None or onset.comes_and_goes:
            continue
        known = onset.first_bad if onset.first_bad is not None and onset.first_bad.is_certain else None
        bad = known.bad if known else onset.commit
        if bad is None or (known and not repository.is_older(known.good, vcs.commit)):
            continue
        start = _Start(each.nodeid, _range_start(vcs.commit, onset, repository))
        named = evidence(each.nodeid, each.evidence, each.reads)
        range_of = _between(
            start, Vcs(commit=bad), repository, fingerprint=each.fingerprint, named=named, reads=each.reads
        )
        if range_of is not None:
            found[each.fingerprint] = range_of
    return tuple(found[fingerprint] for fingerprint in sorted(found))


def evidence(nodeid: str, text: str, reads: Sequence[str]) -> str:
    """Return the text to search for names of suspect files: a failure's text, preceded by the test's node id.

    The node id is left out if the simulation is known to have read the test's file: a runner is no more suspect than
    the sources that it builds.
    """
    return text if is_among(nodeid.partition("::")[0], reads) else f"{nodeid}\n{text}"


def _range_start(good: str, onset: Onset, repository: Repository) -> str:
    """Return the start of a range: the commit of a pass, or the commit of a fix if that is later.

    The last usable pass may be older than the fix, because a pass with uncommitted changes says nothing about its
    commit.
    """
    fixed_after = onset.fixed_after
    return fixed_after if fixed_after is not None and repository.is_older(good, fixed_after) else good


def _between(
    start: _Start, failed: Vcs, repository: Repository, *, fingerprint: str, named: str, reads: Sequence[str]
) -> FirstBad | None:
    commit = str(failed.commit)
    is_same = failed.dirty and start.passed_with == "same" and repository.is_unread_since(start.commit, commit, reads)
    found = FirstBad(
        fingerprint=fingerprint,
        nodeid=start.nodeid,
        # A test that passed at one commit passes at another one that differs only in files that the test does not read.
        good=repository.last_change(commit if is_same else start.commit),
        bad=repository.last_change(commit),
        dirty=failed.dirty,
        passed_with=start.passed_with,
    )
    # If the pass proves nothing, no commit is named, only the files with uncommitted changes.
    if start.passed_with != "same" and not failed.dirty:
        return found
    difference = repository.came_with(start.commit, failed, named, reads, with_undone=start.by_number)
    if difference is None:
        return None if start.passed_with == "same" else found
    return replace(
        found,
        log=difference.log,
        log_count=difference.log_count,
        unread_count=difference.unread_count,
        files=difference.files,
        file_count=difference.file_count,
        owners=repository.people.owners(commit, difference.files),
    )
