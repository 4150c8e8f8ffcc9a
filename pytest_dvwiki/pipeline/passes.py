"""What a run's passes prove of failures on record."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.model import PassedAgain, Passing
from pytest_dvwiki.records.units import parents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.capture.git.repository import Difference, Repository
    from pytest_dvwiki.model import Change, Result, Simulator, StillFailing, Vcs

_BUILD_FILES = re.compile(r"(?:^|/)(?:GNUm|M|m)akefile[^/]*$|\.(?:mk|mak|f|vc|core|prj|tcl|toml|cfg|ini)$")
"""Files that say how a design is built."""
_NO_STIMULUS = re.compile(
    r"(?:^|/)(?:\.git[^/]*|\.github/.*|LICENSE[^/]*|README[^/]*|CHANGELOG[^/]*|docs?/.*)$|\.(?:md|rst|txt)$"
)
"""Files that draw no stimulus, beside those of the design."""


def passing(results: Sequence[Result]) -> list[Passing]:
    """Return the tests that passed, and what they ran inside: a runner whose build failed was a test itself."""
    ended = {(each.nodeid, each.simulator, each.config) for each in results if each.outcome in {"failed", "error"}}
    inside = {(parent, *on) for nodeid, *on in ended for parent in parents_of(nodeid)}
    found: dict[tuple[str, str | None, str | None], Passing] = {}
    for each in results:
        if each.outcome != "passed":
            continue
        for nodeid in (each.nodeid, *parents_of(each.nodeid)):
            key = (nodeid, each.simulator, each.config)
            if key not in ended:
                made = Passing(
                    nodeid=nodeid,
                    seed=each.seed,
                    simulator=each.simulator,
                    config=each.config,
                    whole=key not in inside,
                )
                found.setdefault(key, made)
    return list(found.values())


def passed_again(
    failing: Iterable[StillFailing],
    present: set[str],
    simulators: Sequence[Simulator],
    vcs: Vcs,
    repository: Repository,
) -> tuple[tuple[PassedAgain, ...], tuple[dict[str, Any], ...]]:
    """Return what this run's passes prove of failures on record.

    Args:
        failing: Those of which a pass may be news.
        present: Fingerprints of this run's own causes; what still fails elsewhere is not fixed.
        simulators: Those of this run.
        vcs: The repository during this run.
        repository: Tells what lies between.

    Returns:
        The passes, and a row for each cause that they prove fixed.
    """
    from pytest_dvwiki.records.fixes import PROVES, proof  # noqa: PLC0415  # only where something passed again

    again = []
    fixes: dict[str, dict[str, Any]] = {}
    differences: dict[tuple[Vcs, str], Difference] = {}
    for each in failing:
        # A cause may have failed thousands of tests: what lies between is the same for all that failed at one state.
        between = each.vcs, each.fingerprint
        if between not in differences:
            named = f"{each.nodeid}\n{each.evidence}"
            differences[between] = repository.difference(each.vcs, vcs, named, each.reads)
        difference = differences[between]
        changed = _changed(each, difference)
        if changed is None:
            continue
        passed = PassedAgain(
            nodeid=each.nodeid,
            fingerprint=each.fingerprint,
            seed=each.by.seed,
            changed=changed,
            failed_seed=each.seed,
            simulator=each.by.simulator,
            config=each.by.config,
            new_stimulus=each.seed is not None and _draws_anew(each, difference, simulators),
        )
        if proof(passed, dirty=vcs.dirty) <= each.proof:
            continue
        again.append(passed)
        if changed in PROVES and each.fingerprint not in present:
            fixes.setdefault(each.fingerprint, _fix_row(each, vcs, difference, repository))
    return tuple(again), tuple(fixes[fingerprint] for fingerprint in sorted(fixes))


def _changed(failing: StillFailing, difference: Difference) -> Change | None:
    """Return what differs between a failure and a pass, None where the pass says nothing of it."""
    if not failing.same_config and not _rebuilds(failing.nodeid, difference):
        return None if failing.config_known else "configuration"
    # The seed alone, where the sources are the same, or not on record, and it is another one.
    other_seed = None not in {failing.by.seed, failing.seed} and failing.by.seed != failing.seed
    return "seed" if other_seed and difference.change in {"nothing", "unrecorded"} else difference.change


def _rebuilds(nodeid: str, difference: Difference) -> bool:
    """Tell whether the command that builds the design may be among what changed."""
    runner = nodeid.partition("::")[0]
    return any(
        name == runner or name.endswith(f"/{runner}") or _BUILD_FILES.search(name) for name in difference.all_files
    )


def _draws_anew(failing: StillFailing, difference: Difference, simulators: Sequence[Simulator]) -> bool:
    """Tell whether the stimulus may be another one with the same seed.

    It may where the testbench or the simulator's version changed, or where nobody knows what changed.
    """
    versions = {each.name: f"{each.name} {each.version}" for each in simulators if each.version}
    now = versions.get(failing.by.simulator or "")
    then = [each for each in failing.simulators.split(", ") if each.startswith(f"{failing.by.simulator} ")]
    if now and then and now not in then:
        return True
    if not difference.all_files:
        return difference.change not in {"nothing", "unrecorded"}
    return _touch_stimulus(difference.all_files, failing.reads)


@functools.lru_cache(maxsize=8)
def _touch_stimulus(files: tuple[str, ...], reads: tuple[str, ...]) -> bool:
    from pytest_dvwiki.triage.origin import side_of  # noqa: PLC0415  # only where something passed again

    # Where Python drives the design, HDL is the design also in a folder of tests.
    in_python = any(name.endswith(".py") for name in reads)
    return any(
        side_of(name, reads if in_python else (), python_bench=in_python) != "RTL_BUG" and not _NO_STIMULUS.search(name)
        for name in files
    )


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
    """Return a fix with those who answer for its files; asked last, since git's time is bounded."""
    commits, files = row["commits"], row["files"]
    if not commits:
        return row
    return row | {
        "owners": list(repository.owners(commits[-1], files)),
        "authors": list(repository.authors(commits[0], commits[-1], files)),
    }
