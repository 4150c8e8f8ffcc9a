"""Adjust the verdicts of one run to one another."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.triage import origin as origins

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.model import Failure, Result, Verdict


def settle(
    failures: Sequence[Failure], verdicts: Sequence[Verdict], results: Iterable[Result] = ()
) -> tuple[Verdict, ...]:
    """Return the verdicts of one run, adjusted to one another.

    A failure may be a consequence of another failure in the same simulation: the test never started, or the simulation
    ended during the test, and nothing else explains this. Such a failure gets the verdict of the other one. Origins are
    updated with the seeds and simulators that failed and passed.

    Args:
        failures: The run's failures; those of one simulation are in the order of its tests.
        verdicts: The verdicts on the failures, in the same order.
        results: The results of all tests of the run.
    """
    settled = _with_first_report(failures, verdicts)
    for members in _simulations(failures).values():
        causes = [n for n in members if failures[n].started and not _only_follows(verdicts[n])]
        started = causes or [m for m in members if failures[m].started]
        for n in members:
            at = bisect_left(causes, n)
            if n in causes[at : at + 1]:
                continue
            if started and (before := causes[at - 1] if at else started[-1]) != n:
                settled[n] = replace(settled[before], follower=True)
            else:
                settled[n] = replace(settled[n], follower=False)
    return _with_results(failures, settled, list(results))


def _with_first_report(failures: Sequence[Failure], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Give a setup failure of unknown class the verdict of an earlier setup failure with the same text.

    pytest does not run a failed fixture again. It raises the same exception for every test that needs the fixture, but
    only the first has the log.
    """
    named: dict[str, Verdict] = {}
    settled: list[Verdict] = []
    for failure, verdict in zip(failures, verdicts, strict=True):
        report = "\n".join(excerpt.text for excerpt in failure.excerpts if excerpt.source == "report")
        if verdict.error_class == UNKNOWN and failure.phase == "setup" and report in named:
            settled.append(replace(named[report], follower=True))
            continue
        if report and verdict.error_class != UNKNOWN:
            named.setdefault(report, verdict)
        settled.append(verdict)
    return settled


def _simulations(failures: Sequence[Failure]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number, failure in enumerate(failures):
        if failure.in_simulator:
            groups.setdefault(failure.nodeid.rpartition("::")[0], []).append(number)
    return groups


def _only_follows(verdict: Verdict) -> bool:
    return (
        verdict.pattern in {"cocotb.sim_failure", None}
        and verdict.failure_subtype
        in {
            "simulation_ended_early",
            UNKNOWN,
        }
        and verdict.primary.startswith("SimFailure")
    )


def _with_results(
    failures: Sequence[Failure], verdicts: Sequence[Verdict], results: Sequence[Result]
) -> tuple[Verdict, ...]:
    """Add to each verdict the results of the same tests with other seeds and on other simulators."""
    seeds = _outcomes([(each.nodeid, each.seed, each.outcome) for each in results], failures, verdicts, "seed")
    simulators = _outcomes(
        [(each.nodeid, each.simulator, each.outcome) for each in results], failures, verdicts, "simulator"
    )
    weighed = []
    for failure, verdict in zip(failures, verdicts, strict=True):
        failed, passed = seeds.get(verdict.fingerprint, ((), ()))
        clues = origins.of_seeds(len(failed), len(passed)) + origins.of_simulators(
            *simulators.get(verdict.fingerprint, ((), ()))
        )
        directed = origins.of_directed(verdict.origin) if failure.directed else ()
        weighed.append(origins.with_clues(verdict, (*clues, *directed)))
    return tuple(weighed)


def _outcomes(
    results: Iterable[tuple[str, str | None, str]],
    failures: Sequence[Failure],
    verdicts: Sequence[Verdict],
    key: Literal["seed", "simulator"],
) -> dict[str, tuple[Sequence[str], Sequence[str]]]:
    """Map each cause to the seeds (or simulators) with which its tests failed, and those with which they passed."""
    passed: dict[str, set[str]] = {}
    # Thousands of tests may pass; only those that also failed are needed.
    asked = {failure.nodeid.partition("[")[0] for failure in failures}
    for nodeid, value, outcome in results:
        if outcome == "passed" and value is not None and nodeid.partition("[")[0] in asked:
            passed.setdefault(_test(nodeid, value), set()).add(value)
    failed: dict[str, set[str]] = {}
    good: dict[str, set[str]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        value = getattr(failure, key)
        if value is not None and not verdict.follower:
            failed.setdefault(verdict.fingerprint, set()).add(value)
            good.setdefault(verdict.fingerprint, set()).update(passed.get(_test(failure.nodeid, value), ()))
    return {name: (sorted(values), sorted(good[name] - values)) for name, values in failed.items()}


def _test(nodeid: str, value: str) -> str:
    """Return a test name without its seed or simulator parameter."""
    return re.sub(rf"(?<=[\[-])[^\d\[\]-]*{re.escape(value)}(?=[\]-])", "", nodeid)
