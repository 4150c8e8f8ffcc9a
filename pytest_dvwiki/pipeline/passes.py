"""What a run's passes prove of failures on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_dvwiki.model import PassedAgain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_dvwiki.capture.git.repository import Difference, Repository
    from pytest_dvwiki.model import Change, Result, StillFailing, Vcs


def passing(results: Sequence[Result]) -> dict[str, str | None]:
    """The tests that passed, each with its seed."""
    seeds = {result.nodeid: result.seed for result in results if result.outcome == "passed"}
    # A runner whose build failed was a test itself; now its cocotb tests stand for it.
    failed = {result.nodeid.rpartition("::")[0] for result in results if result.outcome in {"failed", "error"}}
    for nodeid, seed in tuple(seeds.items()):
        runner = nodeid.rpartition("::")[0]
        if runner not in failed:
            seeds.setdefault(runner, seed)
    return seeds


def passed_again(
    failing: Iterable[StillFailing],
    seeds: Mapping[str, str | None],
    present: set[str],
    vcs: Vcs,
    repository: Repository,
) -> tuple[tuple[PassedAgain, ...], tuple[dict[str, Any], ...]]:
    """What this run's passes prove of failures on record.

    Args:
        failing: Those of which a pass is news.
        seeds: The tests that pass, each with its seed.
        present: Fingerprints of this run's own causes; what still fails elsewhere is not fixed.
        vcs: The repository during this run.
        repository: Tells what lies between.

    Returns:
        The passes, and a row for each cause that they prove fixed.
    """
    from pytest_dvwiki.records.fixes import PROVES, proof, same_seed  # noqa: PLC0415  # only where something passed again

    again = []
    fixes: dict[str, dict[str, Any]] = {}
    for each in failing:
        difference = repository.difference(each.vcs, vcs, f"{each.nodeid}\n{each.evidence}")
        seed = seeds[each.nodeid]
        changed = _changed(each, seed, difference)
        if proof(changed, dirty=vcs.dirty, same_seed=same_seed(seed, each.seed)) <= each.proof:
            continue
        again.append(
            PassedAgain(
                nodeid=each.nodeid, fingerprint=each.fingerprint, seed=seed, changed=changed, failed_seed=each.seed
            )
        )
        if changed in PROVES and each.fingerprint not in present:
            fixes.setdefault(each.fingerprint, _fix_row(each, vcs, difference, repository))
    return tuple(again), tuple(fixes[fingerprint] for fingerprint in sorted(fixes))


def _changed(failing: StillFailing, seed: str | None, difference: Difference) -> Change:
    """What differs: the seed alone, where the sources are the same, or not on record, and it is another one."""
    other_seed = None not in {seed, failing.seed} and seed != failing.seed
    return "seed" if other_seed and difference.change in {"nothing", "unrecorded"} else difference.change


def _fix_row(failing: StillFailing, vcs: Vcs, difference: Difference, repository: Repository) -> dict[str, Any]:
    ends = (failing.vcs.commit, vcs.commit)
    return {
        "fingerprint": failing.fingerprint,
        "text": difference.text,
        "by": "git",
        "commits": [repository.last_change(commit) for commit in ends if commit] if all(ends) else [],
        "result": "open",
        "log": list(difference.log),
        "log_count": difference.log_count,
        "files": list(difference.files),
        "file_count": difference.file_count,
        "note": difference.note if difference.log else "",
    }


def with_owners(row: dict[str, Any], repository: Repository) -> dict[str, Any]:
    """A fix with those who answer for its files; asked last, since git's time is bounded."""
    commits, files = row["commits"], row["files"]
    if not commits:
        return row
    return row | {
        "owners": list(repository.owners(commits[-1], files)),
        "authors": list(repository.authors(commits[0], commits[-1], files)),
    }
