"""Collect a session's reports: the outcome of each test, and its failures.

A test may report up to three phases, several attempts, subtests, and its own cocotb tests. The outcomes are determined
at the end of the session, because a runner of cocotb's own plugin reports after its tests, and sometimes instead of
them.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.capture.simulations.reproduce import LIMIT, STRICT, native
from pytest_dvwiki.nodeids import stored_results
from pytest_dvwiki.roles.running import MORE_THAN_PASSED, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

    from pytest_dvwiki.capture.simulations.unfinished import UnfinishedTest
    from pytest_dvwiki.model import Failure, Outcome, Result, Simulator
    from pytest_dvwiki.roles import ProcessContext
    from pytest_dvwiki.roles.reports import Evidence

_SUBTESTS = re.compile(r"contains \d+ failed subtests?")
_RANK: dict[Outcome, int] = {"passed": 0, "skipped": 1, "xfailed": 2, "failed": 3, "error": 4}
"""Severity of each outcome. The outcome of a test is the most severe one of its phases."""


class _Test(Struct, gc=False):
    """The state of one test while its reports arrive. Its `Result` is made at the end of the session."""

    outcome: Outcome | None = None
    duration_s: float = 0.0
    seed: str | None = None
    attempts: int = 1
    earlier: tuple[Failure, ...] = ()
    """Failures of this test, or of tests inside its simulations, in earlier attempts, in order."""
    noise_errors: int = 0
    failures: tuple[Failure, ...] = ()
    inner: tuple[Result, ...] = ()
    """Results of the cocotb tests in a runner's results file."""
    runner: str | None = None
    """Node id of the runner of this test, if cocotb's own plugin reported the test."""
    simulator: Simulator | None = None
    config: str | None = None
    reads: tuple[str, ...] = ()
    directed: bool = False
    unseeded: str = ""
    unfinished: UnfinishedTest | None = None
    """What is known of a test of cocotb's own plugin while it is running; otherwise None."""

    def worsen(self, outcome: Outcome) -> None:
        if self.outcome is None or _RANK[outcome] > _RANK[self.outcome]:
            self.outcome = outcome

    def again(self, failures: Iterable[Failure]) -> _Test:
        """Return the state at the start of another attempt, with only the failures so far."""
        return _Test(attempts=self.attempts + 1, earlier=(*self.earlier, *failures))


_Key = tuple[str, str, int]


def _key(failure: Failure) -> _Key:
    return failure.nodeid, failure.phase, failure.attempts


class Ledger:
    """Collects a session's reports.

    This class is long because it also determines the final outcomes, which needs the states of all tests.

    Args:
        context: The objects shared by the roles of this process.
    """

    def __init__(self, context: ProcessContext) -> None:
        self._context = context
        self._tests: dict[str, _Test] = {}
        self._simulators: dict[Simulator, None] = {}
        self.sources: dict[str, str] = {}
        """Maps the displayed name of each file in `Evidence.sources` to the hash of the file's last content."""
        self._failed_reports: list[tuple[str, str | None, tuple[Failure, ...]]] = []
        """Node id, phase and failures of each failed report."""
        self._runners: dict[str, dict[str, None]] = {}
        """Maps each runner of cocotb's own plugin to the tests that it ran, in order."""
        self.collected: set[str] = set()
        """Modules that were collected without an error."""

    def add(self, report: pytest.TestReport) -> tuple[Failure, ...]:
        """Add the report of a phase.

        Returns:
            The failures of the report.
        """
        nodeid = report.nodeid  # pytest builds the node id at each access
        test = self._tests.get(nodeid)
        if test is None:  # not `setdefault`, which would create an unused `_Test` for most reports
            test = self._tests[nodeid] = _Test()
        if report.outcome == "passed" and vars(report).keys().isdisjoint(MORE_THAN_PASSED):
            test.duration_s += report.duration
            if report.when == "call":
                test.worsen("passed")
            return ()
        return self._add(nodeid, test, report)

    def _add(self, nodeid: str, test: _Test, report: pytest.TestReport) -> tuple[Failure, ...]:
        """Add a report that is not a plain pass. The modules that this needs are loaded at first use."""
        from pytest_dvwiki.roles.reports import attached  # noqa: PLC0415

        evidence = attached(report)
        if evidence is not None and evidence.simulator is not None:
            self._simulators[evidence.simulator] = None
        if evidence is not None:
            self.sources.update(evidence.sources)
        outcome: str = report.outcome
        for failure in evidence.earlier if evidence is not None else ():
            test = self._tests[nodeid] = test.again([replace(failure, attempts=test.attempts)])
        if outcome not in OUTCOMES:
            self._tests[nodeid] = test.again(self._failures_of(report, test, evidence))
            return ()
        runner = getattr(report, "runner_nodeid", None)
        if runner is not None and report.when == "setup" and test.outcome is not None:  # the test's runner runs again
            test = self._tests[nodeid] = test.again(test.failures)
        test.duration_s += report.duration
        if runner is not None:
            test.runner = str(runner)
            self._runners.setdefault(test.runner, {})[nodeid] = None
            test.seed = str(getattr(report, "random_seed", "")) or None
            test.unfinished = self._unfinished(report, evidence) if report.when == "setup" and report.passed else None
        if evidence is not None:
            test.simulator = evidence.simulator or test.simulator
            test.config = evidence.config or test.config
            if evidence.reads:
                test.reads, test.directed, test.unseeded = evidence.reads, evidence.directed, evidence.unseeded
            test.inner = evidence.results or test.inner
            test.noise_errors += evidence.noise_errors if not test.inner else 0
        return self._outcome(report, test, evidence)

    def _unfinished(self, report: pytest.TestReport, evidence: Evidence | None) -> UnfinishedTest:
        from pytest_dvwiki.capture.simulations.unfinished import UnfinishedTest  # noqa: PLC0415
        from pytest_dvwiki.roles.reports import sim_time_of  # noqa: PLC0415

        runner, seed = str(report.runner_nodeid), getattr(report, "random_seed", None)
        return UnfinishedTest(
            nodeid=report.nodeid,
            runner=runner,
            seed=None if seed is None else str(seed),
            sim_time=sim_time_of(report),
            first_line=evidence.first_line if evidence is not None else None,
            command=native(
                self._context.call, self._chosen(report.nodeid, runner, is_hang=True), runner=runner, seed=seed
            ),
        )

    def unfinished(self, nodeid: str) -> UnfinishedTest | None:
        """Return the state of a test that is running inside a simulator; None for any other test."""
        return self._tests[nodeid].unfinished

    def _outcome(self, report: pytest.TestReport, test: _Test, evidence: Evidence | None) -> tuple[Failure, ...]:
        if hasattr(report, "wasxfail"):
            test.worsen("xfailed" if report.skipped else "passed")
        elif report.skipped:
            test.worsen("skipped")
        elif report.failed:
            return self._failed(report, test, evidence)
        elif report.when == "call":
            test.worsen("passed")
        return ()

    def _failed(self, report: pytest.TestReport, test: _Test, evidence: Evidence | None) -> tuple[Failure, ...]:
        # pytest changes a test with failed subtests to failed when it shows the report; a worker of xdist does so
        # before it sends the report.
        if test.failures and isinstance(report.longrepr, str) and _SUBTESTS.fullmatch(report.longrepr):
            test.worsen("failed")
            self._failed_reports.append((report.nodeid, report.when, test.failures))
            return ()
        failures = self._failures_of(report, test, evidence)
        if evidence is not None and evidence.native_runner:
            command = native(self._context.call, None, runner=report.nodeid, seed=failures[0].seed)
            failures = tuple(
                failure if failure.unreproducible else replace(failure, command=command) for failure in failures
            )
        test.worsen("error" if report.when in {"setup", "teardown"} else "failed")
        test.failures += failures
        self._failed_reports.append((report.nodeid, report.when, failures))
        return failures

    def _failures_of(self, report: pytest.TestReport, test: _Test, evidence: Evidence | None) -> tuple[Failure, ...]:
        """Return the failures of an attempt: those attached to its report, or else one made from the report."""
        if evidence is not None and evidence.failures:
            failures = evidence.failures
        else:
            from pytest_dvwiki.roles.reports import failure_of  # noqa: PLC0415

            failure = failure_of(report, interest=self._context.interest, call=self._context.call, evidence=evidence)
            failures = (self._context.masks.failure(failure),)
        if all(failure.attempts == test.attempts for failure in failures):
            return failures
        return tuple(replace(failure, attempts=test.attempts) for failure in failures)

    def add_collection(self, report: pytest.CollectReport) -> tuple[Failure, ...]:
        """Add the report of a module that could not be collected."""
        test = self._tests.setdefault(report.nodeid, _Test())
        if test.failures:  # each xdist worker collects, and each may report it
            return ()
        test.worsen("error")
        from pytest_dvwiki.roles.reports import attached, failure_of  # noqa: PLC0415

        evidence = attached(report)
        failure = failure_of(report, interest=self._context.interest, call=self._context.call, evidence=evidence)
        test.failures = (self._context.masks.failure(failure),)
        return test.failures

    # Outcomes

    @property
    def has_failures(self) -> bool:
        """Return whether any test has a failure."""
        return any(test.failures for test in self._tests.values())

    @property
    def failed_reports(self) -> int:
        """Return the number of failed reports that were added."""
        return len(self._failed_reports)

    def unsettled(self) -> list[str]:
        """Return the tests with a failed report whose failures are not all among the session's final failures."""
        failures = self.settle()[0]
        settled, failing = set(map(_key, failures)), {failure.nodeid for failure in failures}
        return [
            nodeid
            for nodeid, when, failures_of_report in self._failed_reports
            # The failure of a runner of cocotb's own plugin is settled by the failure of one of its tests.
            if not (
                settled.issuperset(map(_key, failures_of_report))
                or (when == "call" and not failing.isdisjoint(self._runners.get(nodeid, ())))
            )
        ]

    @property
    def simulators(self) -> tuple[Simulator, ...]:
        """Return the session's simulators, sorted by name; one is listed without a version only if no report has it."""
        versioned = {simulator.name for simulator in self._simulators if simulator.version is not None}
        known = (each for each in self._simulators if each.version is not None or each.name not in versioned)
        return tuple(sorted(known, key=lambda simulator: (simulator.name, simulator.version or "")))

    def noisy(self) -> tuple[Result, ...]:
        """Return the tests that passed although they, or their simulator, logged errors."""
        return stored_results([result for result in self.settle()[1] if result.noise_errors])

    def hidden(self) -> tuple[Result, ...]:
        """Return cocotb tests that failed inside passing tests, which ignore their results or expect a failure."""
        return stored_results([result for test in self._tests.values() for result in self._hidden(test)])

    @staticmethod
    def _hidden(test: _Test) -> list[Result]:
        passed = test.outcome == "passed" and not test.failures
        return [result for result in test.inner if passed and result.outcome in {"failed", "error"}]

    def settle(self) -> tuple[tuple[Failure, ...], tuple[Result, ...]]:
        """Return the session's failures and the outcome of each test, in the order of the reports."""
        failures: list[Failure] = []
        results: list[Result] = []
        for nodeid, test in self._tests.items():
            if nodeid in self._runners:
                failures += self._with_own_command(nodeid, self._runner_failures(test, self._runners[nodeid]))
                results += self._runner_results(nodeid, test, self._runners[nodeid])
            elif test.unfinished is None:
                failures += self._with_own_command(test.runner, self._with_simulator(test))
                results += self._results(nodeid, test)
        return tuple(failures), tuple(results)

    def _with_own_command(self, runner: str | None, failures: Iterable[Failure]) -> Iterator[Failure]:
        """Yield the failures; where possible, with a command that reruns only the failing test, not its runner."""
        for failure in failures:
            if runner is None or failure.command is None or not failure.nodeid.startswith(f"{runner}::"):
                yield failure
                continue
            strict = STRICT[-1] in failure.command.arguments
            test = self._tests.get(failure.nodeid)  # None if a log names the test differently from its report
            is_hang = failure.exception == LIMIT or (test is not None and test.unfinished is not None)
            command = native(
                self._context.call,
                failure.nodeid if strict else self._chosen(failure.nodeid, runner, is_hang=is_hang),
                runner=runner,
                seed=failure.seed,
                others=self._native_names,
                strict=strict,
            )
            yield replace(failure, command=command)

    def _chosen(self, nodeid: str, runner: str, *, is_hang: bool) -> str | None:
        """Return the node id if this test can be rerun without the earlier tests of its simulation; otherwise None."""
        before = map(self._tests.__getitem__, takewhile(lambda other: other != nodeid, self._runners[runner]))
        belong = any(test.failures or (is_hang and test.outcome != "skipped") for test in before)
        return None if belong else nodeid

    @property
    def _native_names(self) -> frozenset[str]:
        """Return the names of the runners of cocotb's own plugin and of their tests."""
        return frozenset(
            name.rpartition("::")[2] for runner, tests in self._runners.items() for name in (runner, *tests)
        )

    def _with_simulator(self, test: _Test) -> Iterator[Failure]:
        """Yield the failures of a test, with the simulator of its runner if the test ran inside a simulator."""
        runner = self._runner_of(test)
        # A module that could not be collected fails the runner that would have run its tests, too.
        collected = [failure for failure in test.failures if failure.phase == "collect"]
        for failure in collected or test.failures:
            if runner is not None and runner.simulator is not None and failure.simulator is None:
                yield replace(
                    failure,
                    simulator=runner.simulator.name,
                    config=runner.config,
                    reads=runner.reads,
                    directed=failure.seeded and runner.directed,
                    unseeded=runner.unseeded if failure.seeded else "",
                )
            else:
                yield failure

    def _runner_of(self, test: _Test) -> _Test | None:
        """Return the runner of a test reported by cocotb's own plugin; None for any other test."""
        return self._tests.get(test.runner) if test.runner is not None else None

    def _results(self, nodeid: str, test: _Test) -> Iterator[Result]:
        earlier: dict[str, list[Failure]] = {}
        for failure in test.earlier:
            earlier.setdefault(failure.nodeid, []).append(failure)
        hidden = self._hidden(test)
        for result in test.inner:
            if result in hidden:
                continue
            failed_before = tuple(earlier.get(result.nodeid, ())) if result.outcome == "passed" else ()
            yield replace(result, outcome="flaky", earlier=failed_before) if failed_before else result
        from pytest_dvwiki.model import Result  # noqa: PLC0415  # needed only to archive a session

        # A failed build, and a failure of the item itself, are not among the results of the tests inside: the item then
        # gets a result of its own.
        named = {result.nodeid for result in test.inner}
        failed = {failure.nodeid for failure in test.failures} | earlier.keys()
        if (len(test.inner) == len(hidden) or failed - named) and test.outcome is not None:
            flaky = test.outcome == "passed" and bool(test.earlier)
            ran = self._runner_of(test) or test
            yield Result(
                nodeid=nodeid,
                outcome="flaky" if flaky else test.outcome,
                duration_s=round(test.duration_s, 3),
                seed=test.seed,
                noise_errors=test.noise_errors,
                simulator=ran.simulator.name if ran.simulator is not None else None,
                config=ran.config,
                earlier=tuple(failure for failure in test.earlier if failure.nodeid not in named) if flaky else (),
            )

    def _unfinished_of(self, tests: Iterable[str]) -> UnfinishedTest | None:
        return next(
            (unfinished for nodeid in tests if (unfinished := self._tests[nodeid].unfinished) is not None), None
        )

    def _runner_failures(self, runner: _Test, tests: Iterable[str]) -> Iterator[Failure]:
        """Yield the failures to count for a runner: one if a test never ended; else all if none of its tests failed."""
        if not runner.failures:
            return
        running = self._unfinished_of(tests)
        if running is not None:
            from pytest_dvwiki.capture.simulations.unfinished import cut_off  # noqa: PLC0415

            yield cut_off(runner.failures[0], running)
        elif not any(self._tests[test].failures for test in tests):
            yield from runner.failures

    def _runner_results(self, nodeid: str, runner: _Test, tests: Iterable[str]) -> Iterator[Result]:
        from pytest_dvwiki.model import Result  # noqa: PLC0415

        running = self._unfinished_of(tests)
        if running is not None and runner.failures:
            simulator = runner.simulator.name if runner.simulator is not None else None
            yield Result(
                nodeid=running.nodeid, outcome="failed", seed=running.seed, simulator=simulator, config=runner.config
            )
        elif runner.failures and not any(self._tests[test].failures for test in tests):
            yield from self._results(nodeid, runner)
