"""With which commits a cause came: records tell where a test passed and failed, git what lies between.

Two runs of a test bracket it: the last one that passed and the first one that failed, at commits of which one comes
from the other. Later runs between the two narrow it down, whether they pass or fail.

A pass begins a range where the cause would have failed it: with the seed that fails now, with any seed where none can
change the cause, or so many passes before the first failure that less than 5 % is left to chance (`records.chance`).
Otherwise no commit is named, nor where the failing run had uncommitted changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_dvwiki.model import FirstBad, Onset, Vcs
from pytest_dvwiki.records.kinds import is_deterministic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.capture.git.repository import Repository
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import FailedTest, Occurrence, Pass, StillFailing
    from pytest_dvwiki.model.archive import PassSeed

_MOST = 20
"""Causes of one run of which git is asked."""
_MOST_TESTS = 5
"""Tests of a cause whose passes are looked for."""
_MOST_COMMITS = 10
"""Commits with passes of which git is asked."""


def known_or_new(
    occurrences: Sequence[Occurrence], vcs: Vcs, history: History, repository: Repository
) -> tuple[dict[str, FirstBad], tuple[FirstBad, ...]]:
    """With which commits the causes of a run came.

    Args:
        occurrences: The causes, those first that matter most.
        vcs: The repository during the run.
        history: What was archived before it.
        repository: Tells what lies between.

    Returns:
        By fingerprint what is known now, and those of them that this run makes known or narrower.
    """
    known: dict[str, FirstBad] = {}
    news = []
    for occurrence in occurrences[:_MOST]:
        found, is_new = _of_failure(occurrence, vcs, history, repository)
        if found is not None:
            known[occurrence.fingerprint] = found
        if found is not None and is_new:
            news.append(found)
    return known, tuple(news)


def _of_failure(
    occurrence: Occurrence, vcs: Vcs, history: History, repository: Repository
) -> tuple[FirstBad | None, bool]:
    """Return the range of a cause that fails now, and whether this run has news of it."""
    onset = history.onset(occurrence.fingerprint) or Onset()
    known = onset.first_bad
    if vcs.commit is None or not occurrence.tests or (vcs.dirty and onset.moment is not None):
        return known, False
    named = f"{occurrence.primary}\n{occurrence.excerpt}"
    since = _passed_since(occurrence, vcs, onset, history, repository)
    if since is not None:
        start = since
    elif known is not None and known.is_certain:
        if not (repository.is_older(vcs.commit, known.bad) and repository.is_older(known.good, vcs.commit)):
            return known, False
        start = _Start(known.nodeid, known.good)
    else:
        if onset.commit is not None and not repository.is_older(vcs.commit, onset.commit):
            vcs = Vcs(commit=onset.commit)
        begins = _start(occurrence, vcs, onset, history, repository)
        if begins is None:
            return known, False
        start = begins
    found = _between(
        start,
        vcs,
        repository,
        fingerprint=occurrence.fingerprint,
        named=f"{start.nodeid}\n{named}",
        reads=occurrence.reads,
    )
    is_news = found is not None and (known is None or _said(found) != _said(known))
    return found or known, is_news


def _said(found: FirstBad) -> tuple[object, ...]:
    return found.good, found.bad, found.passed_with, found.dirty


class _Start(NamedTuple):
    """A pass after which a cause came, as far as its seed proves it."""

    nodeid: str
    commit: str
    passed_with: PassSeed = "same"


def _start(
    occurrence: Occurrence, failed: Vcs, onset: Onset, history: History, repository: Repository
) -> _Start | None:
    """Return the last pass before a cause came, one first that proves that the cause was not there."""
    thin: _Start | None = None
    for test in occurrence.tests[:_MOST_TESTS]:
        before = history.last_passes(occurrence, test, onset.moment or "~")
        passes = history.last_passes(occurrence, test) if onset.moment else before
        proving = [] if onset.comes_and_goes else [one for one in passes if _proves(one, test, occurrence)]
        enough = onset.passes_needed.get(test.nodeid)
        runs = list({one.moment: one for one in before}.values())
        # That many passes, from this one on, are not to be had by chance.
        for group in (proving, runs[enough - 1 :] if enough else []):
            found = _nearest(group, failed, repository)
            if found is not None:
                return _Start(test.nodeid, _since_its_fix(found.commit, onset, repository))
        last = _nearest(before, failed, repository) if thin is None else None
        if last is not None:
            is_other = None not in {last.seed, test.seed} and last.seed != test.seed
            good = _since_its_fix(last.commit, onset, repository)
            if good == last.commit:
                thin = _Start(test.nodeid, good, "other" if is_other else "unknown")
    return thin


def _passed_since(
    occurrence: Occurrence, failed: Vcs, onset: Onset, history: History, repository: Repository
) -> _Start | None:
    """Return the last pass that proves that what fails now came after the first failure on record.

    Then all tests that fail now passed since: others failed before, maybe by another fault that the same check reports.
    """
    first = onset.first_bad.bad if onset.first_bad is not None and onset.first_bad.is_certain else onset.commit
    if first is None or onset.comes_and_goes:
        return None
    last: _Start | None = None
    for test in occurrence.tests[:_MOST_TESTS]:
        passes = history.last_passes(occurrence, test)
        found = _nearest([one for one in passes if _proves(one, test, occurrence)], failed, repository)
        if found is None or found.commit == failed.commit or not _has(found.commit, first, repository):
            return None
        if last is None or repository.is_older(found.commit, last.commit):
            last = _Start(test.nodeid, found.commit)
    return last


def _has(commit: str, other: str, repository: Repository) -> bool:
    """Tell whether a commit has another one in its past, or is that one."""
    return commit == other or repository.is_older(other, commit)


def _proves(one: Pass, test: FailedTest, occurrence: Occurrence) -> bool:
    """Tell whether a cause that fails now was not there when its test passed."""
    return is_deterministic(occurrence) or (one.seed == test.seed and not test.seed_unknown)


def _nearest(passes: Sequence[Pass], failed: Vcs, repository: Repository) -> Pass | None:
    """Return the last pass on the way to a commit that failed."""
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
    """What passes at a commit older than the failure tell of where causes came in.

    Args:
        failing: Causes whose tests pass now.
        vcs: The repository during the run.
        history: What was archived before it.
        repository: Tells what lies between.
    """
    found: dict[str, FirstBad] = {}
    for each in failing:
        # With other seeds, or other sources than the commit's, a pass says nothing of the commit.
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
        start = _Start(each.nodeid, _since_its_fix(vcs.commit, onset, repository))
        named = f"{each.nodeid}\n{each.evidence}"
        range_of = _between(
            start, Vcs(commit=bad), repository, fingerprint=each.fingerprint, named=named, reads=each.reads
        )
        if range_of is not None:
            found[each.fingerprint] = range_of
    return tuple(found[fingerprint] for fingerprint in sorted(found))


def _since_its_fix(good: str, onset: Onset, repository: Repository) -> str:
    """The commit from which on a cause came in: that of a pass, or a later one at which it failed and then was fixed.

    With uncommitted changes a pass tells nothing of its commit, so the last that does may be older than the fix.
    """
    fixed_after = onset.fixed_after
    return fixed_after if fixed_after is not None and repository.is_older(good, fixed_after) else good


def _between(
    start: _Start, failed: Vcs, repository: Repository, *, fingerprint: str, named: str, reads: Sequence[str]
) -> FirstBad | None:
    commit = str(failed.commit)
    found = FirstBad(
        fingerprint=fingerprint,
        nodeid=start.nodeid,
        good=repository.last_change(start.commit),
        bad=repository.last_change(commit),
        dirty=failed.dirty,
        passed_with=start.passed_with,
    )
    if start.passed_with != "same":
        return found
    difference = repository.came_with(start.commit, failed, named, reads)
    if difference is None:
        return None
    return replace(
        found,
        log=difference.log,
        log_count=difference.log_count,
        files=difference.files,
        file_count=difference.file_count,
        owners=repository.owners(commit, difference.files),
    )
