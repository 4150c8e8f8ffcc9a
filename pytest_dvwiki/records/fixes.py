"""What became of the fixes of a cause, from the runs that followed them.

A fix begins with the first run in which a test passes after it failed with the cause, or with the row in which somebody
says what was done; all that is said until the cause returns belongs to the same fix. It is

* `open` at first,
* `held` once three later runs are known to have passed one of its tests, with the cause absent from all of them,
* `failed` where the cause returns before that.

Both ends are final: a cause that returns after its fix had held has regressed, and the fix keeps its merit. A row that
brings its own verdict (`held`, `failed`) keeps it.

A pass is known from the list of tests of a run (`suite`) or from its `passed_again`; a run without either proves
nothing. Two kinds of passes are no fix: one in a run in which the cause still fails another test, and one at the very
commit that failed, since nothing was changed there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_dvwiki.model import Fix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PASSES_TO_HOLD = 3
Result = Literal["open", "held", "failed"]
_RANK = {"git": 0, "agent": 1, "person": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something in a run that tells of a fix: a test that passed again, or a row that says what was done."""

    moment: str
    """Sort key of the run."""
    task_id: str
    date: str
    nodeid: str | None = None
    commits: tuple[str, str] | None = None
    text: str = ""
    by: Literal["person", "agent", "git"] = "git"
    result: Result = "open"


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
    count_passes: Callable[[Sequence[str], str, str | None], int],
) -> list[FixState]:
    """Makes fixes of the steps of one cause.

    Args:
        steps: In order of their runs.
        returns: Moment and time of the first occurrence after a moment, None where the cause has not returned.
        failed_before: Tests that failed with the cause in the last occurrence before a moment.
        count_passes: Runs between two moments in which one of the tests is known to have passed.

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
        passes = count_passes(tests, first.moment, returned[0] if returned else None)
        states.append(
            FixState(
                fix=_fix(group, _result(group, passes, returned is not None)),
                task_id=first.task_id,
                moment=first.moment,
                tests=tests,
                passes=passes,
                returned=returned[1] if returned else None,
            )
        )
    return sorted(states, key=lambda state: state.moment)


def _result(group: list[Step], passes: int, returned: bool) -> Result:  # noqa: FBT001 (named at its only call)
    stated: list[Result] = [step.result for step in group if step.result != "open"]
    if stated:
        return stated[-1]
    if passes >= PASSES_TO_HOLD:
        return "held"
    return "failed" if returned else "open"


def _fix(group: list[Step], result: Result) -> Fix:
    """Takes the words of whoever knows best: a person before an agent before git, and the newest of equals."""
    told = max((step for step in group if step.text), key=lambda step: _RANK[step.by], default=None)
    spans = [step.commits for step in group if step.commits]
    words = [step for step in group if step.text and told and step.by == told.by]
    step = words[-1] if words else group[0]
    commits = step.commits or (spans[0] if spans else None)
    return Fix(
        text=step.text or _plain_words(commits),
        result=result,
        commits=commits,
        by=step.by,
        date=group[0].date,
    )


def _plain_words(commits: tuple[str, str] | None) -> str:
    if commits is None:
        return "passes again; the commits are not on record"
    first, last = commits
    if first == last:
        return f"passes again with uncommitted changes on {first[:8]}"
    return f"passes again at {last[:8]}, failed last at {first[:8]}"


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
    """The fix of a row about a subtype, which no single cause can judge."""
    commits = row.get("commits") or []
    return Fix(
        text=str(row.get("text") or ""),
        result=row["result"] if row.get("result") in {"held", "failed"} else "open",
        commits=(str(commits[0]), str(commits[-1])) if commits else None,
        by=row["by"] if row.get("by") in _RANK else "git",
        date=date,
    )


def stated_step(fix: Fix, moment: str, task_id: str) -> Step:
    """The step of a row that says what was done."""
    return Step(
        moment=moment,
        task_id=task_id,
        date=fix.date,
        commits=fix.commits,
        text=fix.text,
        by=fix.by,
        result=fix.result,
    )
