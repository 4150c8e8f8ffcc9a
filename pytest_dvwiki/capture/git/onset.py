"""With which commits a cause came: records tell where a test passed and failed, git what lies between.

Two runs of a test bracket it: the last one that passed and the first one that failed, at commits of which one comes
from the other. Later runs between the two narrow it down, whether they pass or fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.model import FirstBad, Vcs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_dvwiki.capture.git.repository import Repository
    from pytest_dvwiki.model import History, Occurrence, Onset, StillFailing

_MOST = 20
"""Causes of one run of which git is asked."""


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
    """The range of a cause that fails now, and whether this run has news of it."""
    onset = history.onset(occurrence.fingerprint)
    known = onset.first_bad if onset is not None else None
    if vcs.commit is None or not occurrence.tests:
        return known, False
    if known is not None:
        if not (repository.is_older(vcs.commit, known.bad) and repository.is_older(known.good, vcs.commit)):
            return known, False
        nodeid, good = known.nodeid, known.good
    else:
        first = onset.vcs.commit if onset is not None and onset.vcs is not None else None
        if first not in {None, vcs.commit} and not repository.is_older(vcs.commit, str(first)):
            # It had failed before; where it began a later failure does not tell.
            return None, False
        nodeid = occurrence.tests[0].nodeid
        passed = history.last_pass(nodeid)
        if passed is None:
            return None, False
        good = _since_its_fix(passed, onset, repository)
    named = f"{nodeid}\n{occurrence.primary}\n{occurrence.excerpt}"
    found = _between(good, vcs, repository, fingerprint=occurrence.fingerprint, nodeid=nodeid, named=named)
    return found or known, found is not None


def narrowed(
    failing: Iterable[StillFailing], seeds: Mapping[str, str | None], vcs: Vcs, history: History, repository: Repository
) -> tuple[FirstBad, ...]:
    """What passes at a commit older than the failure tell of where causes came in.

    Args:
        failing: Causes whose tests pass now.
        seeds: The tests that pass, each with its seed.
        vcs: The repository during the run.
        history: What was archived before it.
        repository: Tells what lies between.
    """
    found: dict[str, FirstBad] = {}
    for each in failing:
        # With other seeds, or other sources than the commit's, a pass says nothing of the commit.
        other_seed = each.seed is not None and seeds[each.nodeid] != each.seed
        if other_seed or vcs.commit is None or vcs.dirty or each.vcs.commit is None or each.fingerprint in found:
            continue
        onset = history.onset(each.fingerprint) if repository.is_older(vcs.commit, each.vcs.commit) else None
        if onset is None or onset.vcs is None or onset.vcs.commit is None:
            continue
        known = onset.first_bad
        bad = known.bad if known else onset.vcs.commit
        if known and not repository.is_older(known.good, vcs.commit):
            continue
        range_of = _between(
            _since_its_fix(vcs.commit, onset, repository),
            Vcs(commit=bad),
            repository,
            fingerprint=each.fingerprint,
            nodeid=each.nodeid,
            named=f"{each.nodeid}\n{each.evidence}",
        )
        if range_of is not None:
            found[each.fingerprint] = range_of
    return tuple(found[fingerprint] for fingerprint in sorted(found))


def _since_its_fix(good: str, onset: Onset | None, repository: Repository) -> str:
    """The commit from which on a cause came in: that of a pass, or a later one at which it failed and then was fixed.

    With uncommitted changes a pass tells nothing of its commit, so the last that does may be older than the fix.
    """
    fixed_after = onset.fixed_after if onset is not None else None
    return fixed_after if fixed_after is not None and repository.is_older(good, fixed_after) else good


def _between(
    good: str, failed: Vcs, repository: Repository, *, fingerprint: str, nodeid: str, named: str
) -> FirstBad | None:
    difference = repository.came_with(good, failed, named)
    if difference is None:
        return None
    return FirstBad(
        fingerprint=fingerprint,
        nodeid=nodeid,
        good=repository.last_change(good),
        bad=repository.last_change(str(failed.commit)),
        dirty=failed.dirty,
        log=difference.log,
        log_count=difference.log_count,
        files=difference.files,
        file_count=difference.file_count,
        owners=repository.owners(str(failed.commit), difference.files),
    )
