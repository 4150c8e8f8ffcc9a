"""Collect the evidence for each phase of a test in the process that runs it, while files and output still exist."""

from __future__ import annotations

import functools
import os
from copy import copy
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.capture.processes.children import unwatched
from pytest_dvwiki.logtext.logs import LogText
from pytest_dvwiki.redact import redact
from pytest_dvwiki.roles import reports, strict
from pytest_dvwiki.roles.checks import CheckFailed
from pytest_dvwiki.roles.fixtures import BrokenFixtures
from pytest_dvwiki.roles.running import EVIDENCE, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.simulations.builds import Builds
    from pytest_dvwiki.model import Failure, Phase, Source
    from pytest_dvwiki.roles import ProcessContext
    from pytest_dvwiki.roles.running import Running


class EvidenceReader:
    """Reads the evidence of tests: tracebacks, output, and the results and logs of their simulations.

    Args:
        context: The objects shared by the roles of this process.
        spooled: Returns the files with the output of the test's children, stdout first.
        live: Whether pytest does not capture the children's output, so that only the spooled files contain it.
        builds: Returns the latest build in each location; called at first use.
    """

    def __init__(
        self,
        context: ProcessContext,
        *,
        spooled: Callable[[], Sequence[Path]],
        live: bool,
        builds: Callable[[], Builds],
    ) -> None:
        self._context = context
        self._spooled = spooled
        self._live = live
        self._builds = builds
        self._broken_fixtures = BrokenFixtures()

    @unwatched()
    def attach(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, running: Running
    ) -> None:
        """Attach the evidence for a phase to its report.

        Args:
            item: The test.
            call: Outcome of the phase.
            report: pytest's report of the phase.
            running: State of the test so far.
        """
        root = self._context.settings.layout.root
        frame, text = None, ""
        if report.failed and call.excinfo is not None and not isinstance(call.excinfo.value, CheckFailed):
            frame = reports.frame_of(call.excinfo, root)
            text = reports.text_of(call.excinfo, frame, report)
        elif report.failed:
            text = redact(reports.shortened(report.longreprtext))
        evidence = reports.NO_EVIDENCE
        if self._reports_simulations(report, running):
            from pytest_dvwiki.roles import simulations  # noqa: PLC0415  # loaded only in a run with simulations

            observed = simulations.Observed(
                nodeid=running.nodeid,
                started=running.started,
                children=running.children,
                streams=self._streams(report, running),
                native=simulations.is_native_runner(item),
                error="" if call.excinfo is None else redact(reports.shortened(call.excinfo.exconly(tryshort=True))),
                longrepr=text,
                strict_logs=self._context.settings.strict_logs and strict.applies_to(report),
                call=self._context.call,
            )
            found = simulations.evidence_of(
                observed, report, root=root, interest=self._context.interest, builds=self._builds()
            )
            evidence = found or evidence
            if report.when == "call" and evidence.failures:
                running.reported = running.children.children[-1]
        if report.passed and evidence == reports.NO_EVIDENCE and strict.applies_to(report):
            evidence = self._errors(report, running)
        if report.failed and report.when == "setup":
            failures = self._broken_fixtures.failures_of(item, call.excinfo, evidence.failures)
            evidence = replace(evidence, failures=failures)
        if report.failed and not evidence.refused:
            # `ihook` looks up the hooks for the item's path, which takes longer than to ask whether there are any.
            if item.config.hook.pytest_dvwiki_evidence.get_hookimpls():
                given = item.ihook.pytest_dvwiki_evidence(report=report, settings=self._context.settings)
                evidence = reports.with_excerpts(evidence, [excerpt for some in given for excerpt in some or ()])
            if self._live and not evidence.failures:  # otherwise pytest's own sections hold the output
                kept = (reports.kept(text, self._context.interest) for text in self._printed())
                evidence = replace(evidence, excerpts=(*evidence.excerpts, *(each for each in kept if each.lines)))
            reads = evidence.reads or self._files_read(item, call, report, running)
            evidence = replace(evidence, frame=frame, text=text, reads=reads, sections_before=running.sections_before)
        if evidence != reports.NO_EVIDENCE:
            reports.attach(report, reports.masked(evidence, self._context.masks))
        if report.failed and report.when == "setup" and not evidence.failures:
            failures = self._broken_fixtures.completed(call.excinfo, self.failures_of(report))
            reports.attach(report, replace(reports.attached(report) or reports.NO_EVIDENCE, failures=failures))
            self._broken_fixtures.keep(call.excinfo, failures)

    def _files_read(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, running: Running
    ) -> tuple[str, ...]:
        """Return the project's files that a test without child processes read; empty if they are unknown."""
        if report.when != "call" or call.excinfo is None or running.children.children:
            return ()
        return reports.files_of_plain_test(item, call.excinfo, self._plugins, self._context.settings.layout.root)

    @functools.cached_property
    def _plugins(self) -> tuple[str, ...]:
        """Return the files of the project's pytest plugins, such as conftest.py; all are loaded before any test."""
        base = f"{self._context.settings.layout.root}{os.sep}"
        files = (getattr(each, "__file__", None) for each in self._context.config.pluginmanager.get_plugins())
        return tuple(sorted(name for name in files if name and name.startswith(base)))

    def attach_to_collection(self, excinfo: pytest.ExceptionInfo[BaseException], report: pytest.CollectReport) -> None:
        """Attach to a module's failed collection the files that were read and, if the report omits it, the exception.

        Args:
            excinfo: The exception that ended the collection.
            report: The report of the collection.
        """
        error = excinfo.value
        if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
            excinfo = pytest.ExceptionInfo.from_exception(error.__cause__)
        root = self._context.settings.layout.root
        evidence = reports.Evidence(reads=reports.files_in(excinfo, root))
        if self._context.config.getoption("tbstyle", "auto") in {"no", "line"}:
            frame = reports.frame_of(excinfo, root)
            evidence = replace(evidence, frame=frame, text=reports.text_of(excinfo, frame))
        if evidence != reports.NO_EVIDENCE:
            reports.attach(report, reports.masked(evidence, self._context.masks))

    def read_attempt(self, report: pytest.TestReport, running: Running) -> None:
        """Attach the evidence of an attempt to its report.

        pytest-retry makes no report for the last attempt, but uses the report of the first one again.
        """
        attempt = copy(report)
        vars(attempt).pop(EVIDENCE, None)
        attempt.outcome = report.outcome if report.outcome in OUTCOMES else "failed"
        attempt.sections = [(f"Captured {stream} {phase}", text) for phase, stream, text in running.sections]
        call = running.error if report.failed else None
        self.attach(running.item, call or pytest.CallInfo.from_call(lambda: None, "call"), attempt, running)
        if attempt.failed:
            self.failures_of(attempt)
        setattr(report, EVIDENCE, getattr(attempt, EVIDENCE, None))

    @staticmethod
    def add_earlier(report: pytest.TestReport, failures: tuple[Failure, ...]) -> None:
        """Attach the failures of earlier attempts to a report."""
        reports.attach(report, replace(reports.attached(report) or reports.NO_EVIDENCE, earlier=failures))

    def _errors(self, report: pytest.TestReport, running: Running) -> reports.Evidence:
        """Return, as evidence, the error lines in the output of a passing test in which no simulation was found."""
        # Imported here: a failing test does not need it.
        from pytest_dvwiki.capture.simulations.noise import NO_ERRORS, error_lines  # noqa: PLC0415

        errors = NO_ERRORS
        for text in self._streams(report, running):
            errors += error_lines(text, self._context.interest)
        if errors.count and self._context.settings.strict_logs:
            return strict.refuse_lines(report, errors, reports.NO_EVIDENCE)
        return reports.Evidence(noise_errors=errors.count)

    @staticmethod
    def _reports_simulations(report: pytest.TestReport, running: Running) -> bool:
        """Return whether this phase reports the test's simulations: the call, or a failed setup or teardown.

        A teardown that fails by itself after a failed call does not report them again.
        """
        if not running.children.children or report.skipped or running.children.children[-1] is running.reported:
            return False
        return report.when == "call" or report.failed

    def _streams(self, report: pytest.TestReport, running: Running) -> tuple[LogText, ...]:
        """Return the output of the children, from the spool if there is one, or else from pytest's sections."""
        found = self._printed()
        spooled = bool(found)
        phases = _phases_so_far(report)
        for header, content in report.sections[running.sections_before :]:
            captured, _, rest = header.partition(" ")
            stream, _, phase = rest.partition(" ")
            if captured == "Captured" and phase in phases and (stream == "log" or not spooled):
                source: Source = "log" if stream == "log" else "stderr" if stream == "stderr" else "stdout"
                found.append(LogText(source=source, text=content))
        return tuple(found)

    def _printed(self) -> list[LogText]:
        """Return the spooled output of the test's children."""
        outputs: tuple[Source, ...] = ("stdout", "stderr")
        return [
            LogText(source=source, path=path, lasting=False)
            for path, source in zip(self._spooled(), outputs, strict=False)
            if path.stat().st_size
        ]

    @unwatched()
    def failures_of(self, report: pytest.TestReport) -> tuple[Failure, ...]:
        """Return the failures of a failed report; if its evidence has none, make one, and attach it to the report."""
        evidence = reports.attached(report)
        if evidence is None or not evidence.failures:
            failure = reports.failure_of(
                report, interest=self._context.interest, call=self._context.call, evidence=evidence
            )
            failures = (self._context.masks.failure(failure),)
            # The parts that the failures were made of are no longer needed.
            evidence = replace(evidence or reports.NO_EVIDENCE, failures=failures, excerpts=(), frame=None, text="")
            reports.attach(report, evidence)
        return evidence.failures


def _phases_so_far(report: pytest.TestReport) -> tuple[Phase, ...]:
    phases: tuple[Phase, ...] = ("setup", "call", "teardown")
    return phases[: phases.index(report.when) + 1] if report.when in phases else phases
