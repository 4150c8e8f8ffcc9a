"""What became of the fixes of a cause, from the runs that followed them.

A fix begins with the first run in which a test passes after it failed with the cause, or with the row in which somebody
says what was done; all that is said until the cause returns belongs to the same fix. It is

* `open` at first,
* `held` once three later runs are known to have passed one of its tests, with the cause absent from all of them,
* `failed` where the cause returns before that.

Both ends are final: a cause that returns after its fix had held has regressed, and the fix keeps its merit. A row that
brings its own verdict (`held`, `failed`) keeps it.

A pass is known from the list of tests of a run (`suite`) or from its `passed_again`; a run without either proves
nothing. Two kinds of passes are no fix: one in a run in which the cause still fails another test, and one that says
itself (`PassedAgain.changed`) that nothing was changed that could have fixed it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pytest_dvwiki.model import Fix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_dvwiki.model import Change

PASSES_TO_HOLD = 3
Result = Literal["open", "held", "failed"]
PROVES: frozenset[Change] = frozenset({"commit", "uncommitted", "unrecorded"})
"""Differences that make a pass a fix."""
CERTAIN = 3
"""The proof that no later pass adds to."""
_RANK = {"git": 0, "agent": 1, "person": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something in a run that tells of a fix: a test that passed again, or a row that says what was done."""

    moment: str
    """Sort key of the run."""
    task_id: str
    date: str
    nodeid: str | None = None
    fix: Fix | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FixState:
    """A fix and what became of it."""

    fix: Fix
    task_id: str
    """The run in which the fix first showed."""
    moment: str
    tests: tuple[str, ...] = ()
    passes: int = 0
    """Later runs that are known to have passed, at most as many as it takes to hold."""
    returned: str | None = None
    """The time at which the cause came back."""


def judge(
    steps: Iterable[Step],
    returns: Callable[[str], tuple[str, str] | None],
    failed_before: Callable[[str], Sequence[str]],
    passing_runs: Callable[[Sequence[str], str, str | None], Sequence[str]],
) -> list[FixState]:
    """Makes fixes of the steps of one cause.

    Args:
        steps: In order of their runs.
        returns: Moment and time of the first occurrence after a moment, None where the cause has not returned.
        failed_before: Tests that failed with the cause in the last occurrence before a moment.
        passing_runs: Runs between two moments in which one of the tests is known to have passed, by task id, the first
            as many as a fix needs to hold.

    Returns:
        The fixes, oldest first.
    """
    groups: dict[tuple[str, str] | None, list[Step]] = {}
    for step in steps:
        groups.setdefault(returns(step.moment), []).append(step)
    states = []
    for returned, group in groups.items():
        first = group[0]
        tests = tuple(sorted({step.nodeid for step in group if step.nodeid}))
        tests = tests or tuple(failed_before(first.moment))
        runs = passing_runs(tests, first.moment, returned[0] if returned else None)
        result = _result(group, len(runs), returned is not None)
        held_in = runs[-1] if result == "held" and len(runs) == PASSES_TO_HOLD else None
        states.append(
            FixState(
                fix=replace(_fix(group), result=result, held_in=held_in, date=first.date),
                task_id=first.task_id,
                moment=first.moment,
                tests=tests,
                passes=len(runs),
                returned=returned[1] if returned else None,
            )
        )
    return sorted(states, key=lambda state: state.moment)


def _result(group: list[Step], passes: int, returned: bool) -> Result:  # noqa: FBT001 (named at its only call)
    stated: list[Result] = [step.fix.result for step in group if step.fix and step.fix.result != "open"]
    if stated:
        return stated[-1]
    if passes >= PASSES_TO_HOLD:
        return "held"
    return "failed" if returned else "open"


def _fix(group: list[Step]) -> Fix:
    """Takes the words of whoever knows best: a person before an agent before git, and the newest of equals."""
    told = [step.fix for step in group if step.fix]
    if not told:
        return Fix(text="passes again")
    words = max(reversed(told), key=lambda fix: (bool(fix.text), _RANK[fix.by]))
    # Whoever says what was done and names no commit means those that git tells of.
    span = words if words.commits else next((fix for fix in reversed(told) if fix.commits), words)
    return replace(
        words,
        text=words.text or "passes again",
        commits=span.commits,
        log=span.log,
        log_count=span.log_count,
        files=span.files,
        file_count=span.file_count,
    )


def proof(changed: Change, *, dirty: bool) -> int:
    """What a pass proves: 1 nothing, 2 a fix in somebody's working tree, 3 a fix.

    Args:
        changed: What differs from the failure.
        dirty: Whether the passing run had uncommitted changes: what fixed it may be among them.
    """
    if changed not in PROVES:
        return 1
    return 2 if dirty else CERTAIN


def in_short(fix: Fix) -> str:
    """A fix in one line: its commit, or first and last of several, then what was done."""
    if not fix.commits or fix.commits[0] == fix.commits[1]:
        return fix.text
    # Of one commit git tells the name; the run that passed may have been at a later one that changed no sources.
    names = [fix.log[0].partition(" ")[0]] if fix.log_count == 1 else fix.commits if fix.log_count else fix.commits[1:]
    return f"{'..'.join(name[:7] for name in names)} {fix.text}"


def newest(states: Sequence[FixState]) -> FixState | None:
    """The fix that showed last."""
    return states[-1] if states else None


def best(states: Sequence[FixState]) -> Fix | None:
    """The fix to show: the one that held last, else the newest."""
    held = [state.fix for state in states if state.fix.result == "held"]
    if held:
        return held[-1]
    return states[-1].fix if states else None


def tally(states: Iterable[FixState]) -> tuple[int, int]:
    """How many fixes held and how many failed."""
    results = [state.fix.result for state in states]
    return results.count("held"), results.count("failed")


def success_rate(held: int, failed: int) -> float | None:
    """Held fixes among those that came to an end, None before the first, to two decimals."""
    return round(held / (held + failed), 2) if held + failed else None


def stated_fix(row: dict[str, Any], date: str) -> Fix:
    """The fix of a row that says what was done."""
    commits = [str(commit) for commit in _listed(row, "commits")]
    log, files = (tuple(map(str, _listed(row, key))) for key in ("log", "files"))
    return Fix(
        text=str(row.get("text") or ""),
        result=row["result"] if row.get("result") in {"held", "failed"} else "open",
        commits=(commits[0], commits[-1]) if commits else None,
        by=row["by"] if row.get("by") in _RANK else "git",
        date=date,
        log=log,
        log_count=_count(row, "log_count", log),
        files=files,
        file_count=_count(row, "file_count", files),
    )


def _listed(row: dict[str, Any], key: str) -> list[Any]:
    value = row.get(key)
    return value if isinstance(value, list) else []


def _count(row: dict[str, Any], key: str, shown: tuple[str, ...]) -> int:
    value = row.get(key)
    return max(value, len(shown)) if isinstance(value, int) else len(shown)
