"""Decide what the passes of a run prove about recorded failures."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pytest_dvwiki.capture.git.onset import evidence
from pytest_dvwiki.capture.git.repository import EDITS
from pytest_dvwiki.model import FixRow, PassedAgain, Passing, Vcs
from pytest_dvwiki.records.chance import FEWEST_RUNS
from pytest_dvwiki.records.fixes import OF_EDITS, PROVES, proof
from pytest_dvwiki.records.sides import MAYBE_LATER, is_prose, is_unread, side_of
from pytest_dvwiki.records.units import parents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.capture.git.repository import Difference, Repository
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Change, Result, Simulator, StillFailing

_BUILD_FILES = re.compile(r"(?:^|/)(?:GNUm|M|m)akefile[^/]*$|\.(?:mk|mak|f|vc|core|prj|tcl|toml|cfg|ini)$")
"""Files that define how a design is built."""
NO_STIMULUS = re.compile(
    r"(?:^|/)(?:\.git[^/]*|\.github/.*|LICENSE[^/]*|README[^/]*|CHANGELOG[^/]*|docs?/.*)$|\.(?:md|rst|txt)$"
)
"""Files without effect on the stimulus: documentation, licences, files of git and GitHub."""


def passing(results: Sequence[Result], collected: Sequence[str] = ()) -> list[Passing]:
    """Return the tests that passed, and the runners and modules that contain them.

    If a test fails in a simulation with a seed, its runner and module are also included, because they were built and
    imported, but their `whole` is false. The modules in `collected` were collected without an error, even if none of
    their tests ran.
    """
    ended = {(each.nodeid, each.simulator, each.config) for each in results if each.outcome in {"failed", "error"}}
    inside = {(parent, *on) for nodeid, *on in ended for parent in parents_of(nodeid)}
    found: defaultdict[tuple[str, str | None, str | None], list[Result]] = defaultdict(list)
    for each in sorted(results, key=lambda each: each.outcome != "passed"):
        if each.outcome == "passed":
            passed = (each.nodeid, *parents_of(each.nodeid))
        elif each.outcome == "failed" and each.simulator is not None and each.seed is not None:
            passed = tuple(parents_of(each.nodeid))
        else:
            continue
        for nodeid in passed:
            key = (nodeid, each.simulator, each.config)
            if key not in ended:
                found[key].append(each)
    made = [
        Passing(
            nodeid=key[0],
            seed=passes[0].seed,
            other_seeds=tuple(dict.fromkeys(each.seed for each in passes if each.seed not in {None, passes[0].seed})),
            simulator=key[1],
            config=key[2],
            whole=key not in inside,
            modules=frozenset(each.module for each in passes) if all(each.module for each in passes) else frozenset(),
        )
        for key, passes in found.items()
    ]
    keys = ((nodeid, None, None) for nodeid in dict.fromkeys(collected))
    return made + [Passing(nodeid=key[0]) for key in keys if key not in ended and key not in found]


def passed_again(
    failing: Iterable[StillFailing],
    present: set[str],
    simulators: Sequence[Simulator],
    vcs: Vcs,
    *,
    history: History,
    repository: Repository,
) -> tuple[tuple[PassedAgain, ...], tuple[FixRow, ...]]:
    """Return what this run's passes prove about recorded failures.

    The causes in `present` have failures in this run: they are not fixed, even if some of their tests pass.

    Returns:
        The passes that add to the evidence, and a row for each cause that may be fixed.
    """
    again = []
    fixes: dict[str, _FixRange] = {}
    differences: dict[tuple[Vcs, str], Difference] = {}

    def since(each: StillFailing, failed: Vcs) -> Difference:
        # A cause may make thousands of tests fail; the difference is the same for all with the same sources.
        between = failed, each.fingerprint
        if between not in differences:
            named, came = _suspects(each, history), _came_in(each, history)
            differences[between] = repository.difference(
                failed, vcs, named, each.reads, came, for_every_seed=each.deterministic
            )
        return differences[between]

    of_others = functools.cache(functools.partial(_tests_of_others, history=history))
    for each in failing:
        if each.nodeid in of_others(each.fingerprint):
            continue
        difference = since(each, each.vcs)
        changed = _changed(each, vcs, difference, repository)
        if changed is None:
            continue
        passed = PassedAgain(
            nodeid=each.nodeid,
            fingerprint=each.fingerprint,
            seed=each.by.seed,
            changed=changed,
            failed_seed=each.seed,
            seed_unknown=each.seed_unknown,
            simulator=each.by.simulator,
            config=each.by.config,
            new_stimulus=each.seed is not None and _draws_anew(each, since(each, each.seed_vcs), simulators),
        )
        if proof(passed, dirty=vcs.dirty) <= each.proof:
            continue
        again.append(passed)
        if changed in PROVES and each.fingerprint not in present:
            found = _up_to_restored(_fix_between(each, vcs, difference, repository), each, vcs, history, repository)
            known = fixes.get(each.fingerprint)
            # If several tests pass again, the cause was present until the last of them failed.
            fixes[each.fingerprint] = found if known is None or _is_narrower(found, known) else known
    rows = [_fix_row(fingerprint, found, repository) for fingerprint, found in sorted(fixes.items())]
    return tuple(again), tuple(rows)


def _tests_of_others(fingerprint: str, history: History) -> tuple[str, ...]:
    """Return the tests that failed with a cause but had passed since the cause came: another fault made them fail."""
    known = history.cause(fingerprint)
    return known.first_bad.passed_after if known is not None and known.first_bad is not None else ()


def _suspects(failing: StillFailing, history: History) -> str:
    """Return the text to search for names of suspect files: the evidence, and the files of the only suspect commit."""
    known = history.cause(failing.fingerprint)
    came = known.first_bad if known is not None else None
    files = came.files if came is not None and came.is_certain and came.likely_count == 1 else ()
    return evidence(failing.nodeid, "\n".join((failing.evidence, *files)), failing.reads)


def _came_in(failing: StillFailing, history: History) -> tuple[str, str] | None:
    """Return the last good and the first bad commit of a cause; None if unknown, or if the failing run had edits."""
    known = history.cause(failing.fingerprint)
    came = known.first_bad if known is not None else None
    return (came.good, came.bad) if came is not None and not came.dirty else None


class _FixRange(NamedTuple):
    """The commits of the last failure before a fix and of the first pass after it, and the difference between them."""

    ends: tuple[str | None, str | None]
    difference: Difference


def is_reported(failing: StillFailing) -> bool:
    """Return whether a run with uncommitted changes already reported the fix of a test.

    If the uncommitted changes are the fix, a later pass only adds the commit that contains them. If they cannot be the
    fix, because the simulation reads none of the changed files, a later pass adds nothing.
    """
    known = failing.fixed
    if failing.proof != OF_EDITS or known is None or not known.counts or not known.files:
        return False
    return not known.log or not known.note


def _fix_between(failing: StillFailing, vcs: Vcs, difference: Difference, repository: Repository) -> _FixRange:
    """Return the commits that fixed a failure: the recorded fix, or else all commits between failure and pass.

    The recorded fix must lie between failure and pass. If its own passes may be chance, it must also have changed a
    file that the failing simulation read, if these files are known. For an uncommitted fix, the commit with its files
    is returned if there is only one.
    """
    known = failing.fixed
    if known is not None and known.files and not known.log and known.file_count == len(known.files):
        brought = repository.only_commit(known.files, failing.vcs, vcs)
        return _FixRange((failing.vcs.commit, vcs.commit), difference) if brought is None else _FixRange(*brought)
    if (
        known is None
        or known.commits is None
        or not known.log
        or not (known.counts or not failing.reads or set(known.files) & set(failing.reads))
        or repository.lacks(known, vcs.commit)
        or not repository.lacks(known, failing.vcs.commit)
    ):
        return _FixRange((failing.vcs.commit, vcs.commit), difference)
    had_edits = known.note.startswith(EDITS) and not vcs.dirty
    later = repository.changed(known.commits[-1], vcs) if had_edits or not known.counts else None
    is_last = later is not None and all(is_prose(name, failing.reads) for name in later)
    # Edits that are gone, and that no commit contains, were not needed for this pass.
    note = "" if had_edits and is_last else known.note
    fixed = replace(
        difference,
        change="commit",
        log=known.log,
        log_count=known.log_count,
        unread_count=known.unread_count,
        files=known.files,
        file_count=known.file_count,
        note="; ".join(filter(None, (note, "" if known.counts or is_last else MAYBE_LATER))),
    )
    return _FixRange(known.commits, fixed)


def _up_to_restored(
    found: _FixRange, failing: StillFailing, vcs: Vcs, history: History, repository: Repository
) -> _FixRange:
    """Shorten the range of a fix to end at the first commit that restored the files of an earlier pass.

    At that commit, all files that the failing simulation read had the same content as in a passing run without the
    cause. The commit therefore fixes the cause, even if no run tested it. Without such a commit, the range is returned
    as it is.
    """
    first, last = found.ends
    difference = found.difference
    is_known = first is not None and last is not None and bool(failing.reads)
    if not is_known or difference.change != "commit" or vcs.dirty or failing.vcs.dirty:
        return found
    good = _absent_at(failing, history) if difference.log_count - difference.unread_count > 1 else None
    commit = repository.restoring(good, (str(first), str(last)), failing.reads) if good else None
    if commit is None:
        return found
    named, came = _suspects(failing, history), _came_in(failing, history)
    until = Vcs(commit=commit, branch=vcs.branch)
    between = repository.difference(
        failing.vcs, until, named, failing.reads, came, for_every_seed=failing.deterministic
    )
    return _FixRange((first, commit), between)


def _absent_at(failing: StillFailing, history: History) -> str | None:
    """Return the commit at which a pass proves the cause absent, for every seed that fails; None if unknown.

    A pass proves this if the failure has no seed, if the cause has failed only with the seed of that pass, or if all
    runs since the pass failed and there are several.
    """
    known, onset = history.cause(failing.fingerprint), history.onset(failing.fingerprint)
    came = known.first_bad if known is not None else None
    if known is None or known.history is None or came is None or not came.is_certain or came.dirty:
        return None
    if onset is None or onset.comes_and_goes:
        return None
    failed, runs = onset.since.get(failing.nodeid, (0, 0))
    always = failed == runs >= FEWEST_RUNS
    has_no_seed = failing.seed is None and not failing.seed_unknown
    return came.good if has_no_seed or always or {*known.history.seeds} <= {failing.seed} else None


def _is_narrower(one: _FixRange, other: _FixRange) -> bool:
    """Return whether `one` has fewer commits than `other`."""
    return 0 < one.difference.log_count < other.difference.log_count


def _changed(failing: StillFailing, vcs: Vcs, difference: Difference, repository: Repository) -> Change | None:
    """Return what changed between a failure and a pass; None if the pass proves nothing about the failure."""
    if not failing.same_config and not _rebuilds(failing, difference, repository):
        return None if failing.config_known else "configuration"
    if failing.one_of_several and not (
        _names_any(failing.evidence, difference.all_files) or _is_found(failing, vcs, repository)
    ):
        return None
    change, files = difference.change, difference.all_files
    if change == "commit" and files and all(is_prose(name, failing.reads) for name in files):
        change = "nothing"
    # If no file that the simulation is known to read has changed, and the seed may differ, only the seed counts.
    other_seed = failing.seed_unknown or (failing.seed is not None and failing.by.seed != failing.seed)
    is_same = change in {"nothing", "unrecorded"} or (change == "commit" and difference.is_unread)
    return "seed" if other_seed and is_same else change


def _is_found(failing: StillFailing, vcs: Vcs, repository: Repository) -> bool:
    """Return whether no build can lack the file any more that the failing one lacked."""
    if vcs.commit is None or vcs.dirty or failing.vcs.commit is None or failing.vcs.dirty:
        return False
    return repository.lacks_unlike(vcs.commit, failing.vcs.commit, failing.evidence, failing.reads)


def _names_any(text: str, files: Iterable[str]) -> bool:
    """Return whether a text mentions one of the files."""
    names = "|".join(re.escape(name.rpartition("/")[2]) for name in files)
    return bool(names) and re.search(rf"(?<![\w.-])(?:{names})(?![\w.-])", text) is not None


def _rebuilds(failing: StillFailing, difference: Difference, repository: Repository) -> bool:
    """Return whether the changes may affect the command that builds the design.

    That command is in a Makefile, a list of files, the test's own file, or in Python that was read and calls a runner.
    """
    runner = failing.nodeid.partition("::")[0]
    changed = difference.all_files
    if any(name == runner or name.endswith(f"/{runner}") or _BUILD_FILES.search(name) for name in changed):
        return True
    read = {name for name in changed if name in failing.reads}
    return bool(repository.calling_runners(read, failing.vcs.commit))


def _draws_anew(failing: StillFailing, difference: Difference, simulators: Sequence[Simulator]) -> bool:
    """Return whether the failing seed may now give a different stimulus.

    This is the case if the testbench or the simulator's version changed, or if the changes are unknown.
    """
    versions = {each.name: f"{each.name} {each.version}" for each in simulators if each.version}
    now = versions.get(failing.by.simulator or "")
    then = [each for each in failing.simulators.split(", ") if each.startswith(f"{failing.by.simulator} ")]
    if now and then and now not in then:
        return True
    if not difference.all_files:
        return difference.change not in {"nothing", "unrecorded"}
    return touch_stimulus(difference.all_files, failing.reads)


@functools.lru_cache(maxsize=8)
def touch_stimulus(files: tuple[str, ...], reads: tuple[str, ...]) -> bool:
    """Return whether changes to files may change the stimulus that a seed gives in a simulation of `reads`."""
    # If Python drives the simulation, HDL files are the design, even in a folder of tests; so are lists of HDL files.
    in_python = any(name.endswith(".py") for name in reads)
    return any(
        side_of(name, reads if in_python else (), python_bench=in_python) != "RTL_BUG"
        and not NO_STIMULUS.search(name)
        and not is_unread(name, reads)
        and not (in_python and name.endswith(".f"))
        for name in files
    )


def _fix_row(fingerprint: str, found: _FixRange, repository: Repository) -> FixRow:
    difference, ends = found.difference, found.ends
    if difference.change == "uncommitted":
        ends = (ends[1], ends[1])  # no commit between the two runs changed a source
    return FixRow(
        fingerprint=fingerprint,
        text=difference.text,
        by="git",
        commits=tuple(repository.last_change(commit) for commit in ends if commit) if all(ends) else (),
        result="open",
        log=tuple(difference.log),
        log_count=difference.log_count,
        unread_count=difference.unread_count or None,
        files=tuple(difference.files),
        file_count=difference.file_count,
        note=difference.note if difference.log else "",
    )


def with_restored(row: FixRow, vcs: Vcs, history: History, repository: Repository) -> FixRow:
    """Add to a fix of several files the list of those that it restored to their state before the cause appeared.

    That state is the one at the last pass, or at a commit between that pass and the first failure. The pass must show
    that the cause was absent: the commits that introduced the cause are certain, or at least two runs followed the pass
    and all failed.
    """
    known = history.cause(row.fingerprint or "")
    came = known.first_bad if known is not None else None
    if came is None or came.dirty or not row.commits or len(row.files or ()) < 2:  # noqa: PLR2004
        return row
    onset = history.onset(row.fingerprint or "")
    rates = onset.since.values() if onset is not None else ()
    if came.is_certain or any(failed == runs >= FEWEST_RUNS for failed, runs in rates):
        files, span = row.files or (), (came.good, came.bad)
        restored = repository.restored(files, span, vcs)
        ends = row.commits[0], row.commits[-1]
        if restored and not repository.changes_back_elsewhere(files, restored, ends, span):
            return replace(row, restored=restored)
    return row


def with_owners(row: FixRow, repository: Repository) -> FixRow:
    """Add the owners and authors of a fix's files. Called last, because time for git is limited."""
    if not row.commits:
        return row
    files = row.files or ()
    return replace(
        row,
        owners=tuple(repository.people.owners(row.commits[-1], files)),
        authors=tuple(repository.people.authors(row.commits[0], row.commits[-1], files)),
    )
