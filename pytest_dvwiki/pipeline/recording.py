"""Make the record of a run from its results and causes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.model import Attempt, OtherTest, RunRecord, Suite, Totals
from pytest_dvwiki.records.kinds import is_infrastructure
from pytest_dvwiki.records.store import seed_hashes, suite_id
from pytest_dvwiki.runs import epoch
from pytest_dvwiki.version import FINGERPRINT_VERSION, TOOL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_dvwiki.model import Occurrence, Result, Run
    from pytest_dvwiki.triage.classify import Classifier


def lists_of(run: Run) -> list[tuple[tuple[str | None, str | None], list[Result]]]:
    """Group the results by simulator and build configuration; empty if the run keeps no lists of tests."""
    lists: dict[tuple[str | None, str | None], list[Result]] = {}
    for result in run.results if run.keep_suite else ():
        lists.setdefault((result.simulator, result.config), []).append(result)
    return sorted(lists.items(), key=lambda one: (one[0][0] or "", one[0][1] or ""))


def _suites(run: Run) -> Iterator[Suite]:
    for (simulator, config), results in lists_of(run):
        seeds = {result.seed for result in results}
        is_one = len(seeds) == 1
        yield Suite(
            suite=suite_id(result.nodeid for result in results),
            simulator=simulator,
            config=config,
            seed=seeds.pop() if is_one else None,
            seeds=None if is_one else seed_hashes((result.nodeid, result.seed) for result in results),
        )


def _attempts(result: Result, classifier: Classifier) -> Iterator[Attempt]:
    """Yield the attempts of a flaky test: failed ones with their first failure, then the one that passed."""
    first = {failure.attempts: failure for failure in reversed(result.earlier)}
    for number in sorted(first):
        failure = first[number]
        verdict = classifier.classify(failure)
        yield Attempt(
            outcome=failure.outcome,
            fingerprint=verdict.fingerprint,
            seed=failure.seed,
            directed=failure.directed,
            error_class=verdict.error_class,
            failure_subtype=verdict.failure_subtype,
            primary=verdict.primary,
            infrastructure=is_infrastructure(verdict),
        )
    if first:
        yield Attempt(outcome="passed", seed=result.seed)


def record_of(run: Run, occurrences: tuple[Occurrence, ...], classifier: Classifier, **parts: Any) -> RunRecord:
    """Return the record of a run; `parts` are the fields that do not follow from the other arguments."""
    other = tuple(
        OtherTest(
            nodeid=result.nodeid,
            outcome=result.outcome,
            simulator=result.simulator,
            config=result.config,
            attempts=tuple(_attempts(result, classifier)),
        )
        for result in sorted(run.results, key=lambda result: result.nodeid)
        if result.outcome not in {"passed", "failed", "error"}
    )
    return RunRecord(
        task_id=run.task_id,
        tool=TOOL,
        registry=classifier.registry.hash,
        fingerprint_version=FINGERPRINT_VERSION,
        started=run.started,
        finished=run.finished,
        duration_s=round(epoch(run.finished) - epoch(run.started), 1),
        simulators=run.simulators,
        sources=run.sources,
        run_id=run.run_id,
        suites=tuple(_suites(run)),
        axes=run.axes,
        totals=_totals(run.results, occurrences, other),
        occurrences=occurrences,
        other=other,
        **parts,
    )


def _totals(results: Sequence[Result], occurrences: Sequence[Occurrence], other: Sequence[OtherTest]) -> Totals:
    counts: Mapping[str, int] = Counter(result.outcome for result in results)
    passed = sum(each.outcome == "flaky" and not each.is_flaky for each in other)
    hit = {test.nodeid for each in occurrences if is_infrastructure(each) for test in each.tests}
    hit -= {test.nodeid for each in occurrences if not is_infrastructure(each) for test in each.tests}
    return Totals(
        passed=counts["passed"] + passed,
        failed=counts["failed"],
        errors=counts["error"],
        skipped=counts["skipped"],
        xfailed=counts["xfailed"],
        flaky=counts["flaky"] - passed,
        infrastructure=sum(result.outcome in {"failed", "error"} and result.nodeid in hit for result in results),
        waived=counts["waived"],
        noise_errors=sum(result.noise_errors for result in results),
    )
