"""The process that runs tests, in a plain run or as xdist worker: finds evidence where and when it exists."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture import tools
from pytest_dvwiki.capture.children import Children, listen
from pytest_dvwiki.capture.journal import Begin, open_journal
from pytest_dvwiki.capture.spool import Place, Spool, place_of
from pytest_dvwiki.redact import redact
from pytest_dvwiki.roles import reports, strict
from pytest_dvwiki.roles.fixtures import BrokenFixtures

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.children import Child
    from pytest_dvwiki.capture.journal import Journal
    from pytest_dvwiki.capture.logs import LogText
    from pytest_dvwiki.masks import Masks
    from pytest_dvwiki.model import Interest, Phase, Source
    from pytest_dvwiki.roles.guard import Guard
    from pytest_dvwiki.settings import Settings

_CAPTURING = frozenset({"capfd", "capfdbinary"})
"""Fixtures by which a test reads what its children print; nothing may come between."""


@dataclass(slots=True)
class _Running:
    """The test that runs now."""

    item: pytest.Item
    started: float
    """Seconds since the epoch."""
    children: Children
    began: bool = False
    stdout: Place | None = None
    """What file descriptor 1 led to when the test began: another place means that somebody redirected it."""

    @property
    def nodeid(self) -> str:
        return self.item.nodeid

    @property
    def is_spooled(self) -> bool:
        """Whether the output of its children may be kept."""
        return _CAPTURING.isdisjoint(getattr(self.item, "fixturenames", ()))


class ItemRole:
    """Watches the tests of this process.

    Args:
        config: pytest's configuration.
        settings: What was set.
        journals: Folders of journals, the best first.
        task_id: The run.
        process: `main`, or the name of the xdist worker.
        interest: Gives, at first use, which lines of a long text to keep.
        guard: Keeps errors of this role away from the run.
        masks: What others mask.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        *,
        journals: Sequence[Path],
        task_id: str,
        process: str,
        interest: Callable[[], Interest],
        guard: Guard,
        masks: Masks,
    ) -> None:
        self._config = config
        self._settings = settings
        self._journals = journals
        self._task_id = task_id
        self._process = process
        self._interest = interest
        self._guard = guard
        self._masks = masks
        self._journal: Journal | None = None
        self._spool: Spool | None = None
        self._spool_failed = False
        self._running: _Running | None = None
        self._broken_fixtures = BrokenFixtures()
        capture = config.getoption("capture", "no")
        self._live = capture != "fd"

    @property
    def journal(self) -> Journal:
        """The journal of this process, opened at first use."""
        if self._journal is None:
            self._journal = open_journal(self._journals, self._task_id, self._process)
        return self._journal

    @property
    def has_journal(self) -> bool:
        """Whether anything was written to the journal."""
        return self._journal is not None

    # One test

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Listens to the children of each test."""
        self._running = running = _Running(item, time.time(), self._listen())
        try:
            return (yield)
        finally:
            listen(None)
            self._running = None
            if running.began or self._spool is not None:
                with self._guard("ending a test"):
                    self._end(running)

    def _end(self, running: _Running) -> None:
        if running.began:
            self.journal.end(running.nodeid)
        if self._spool is not None:
            self._spool.clear()

    def _listen(self) -> Children:
        """From now on, to the children of an attempt."""
        children = Children(self._begin)
        listen(children)
        return children

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self) -> Generator[None]:
        """Innermost round a setup: the descriptors are given back before pytest's capture reads what it kept."""
        running = self._running
        if running is not None:
            if running.stdout is None:
                running.stdout = place_of(1)
            else:  # pytest-rerunfailures tries again: what the attempt before left behind is not this one's
                running.started, running.children = time.time(), self._listen()
        try:
            if self._spool is not None:
                self._begin_phase()
            return (yield)
        finally:
            if self._spool is not None:
                self._end_phase(self._spool)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Generator[None]:
        """Innermost round a call."""
        try:
            if self._spool is not None:
                self._begin_phase()
            return (yield)
        finally:
            if self._spool is not None:
                self._end_phase(self._spool)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self) -> Generator[None]:
        """Innermost round a teardown."""
        try:
            if self._spool is not None:
                self._begin_phase()
            return (yield)
        finally:
            if self._spool is not None:
                self._end_phase(self._spool)

    def _begin_phase(self) -> None:
        if self._running is not None and self._running.children.children:
            self._lead_to_spool(self._running)

    def _end_phase(self, spool: Spool) -> None:
        with self._guard("giving the output back"):
            spool.detach()

    def _begin(self, child: Child) -> None:
        """Called before each child of a test starts; of the later ones the simulations tell something new."""
        running = self._running
        if running is None or (running.began and not tools.is_simulation(child)):
            return
        self._lead_to_spool(running)
        running.began = True
        self.journal.begin(
            Begin(
                nodeid=running.nodeid,
                spool=tuple(map(str, self._spool.paths)) if self._spool is not None and self._spool.attached else (),
                folder=str(child.folder),
                environment=dict(child.environment),
                program=child.program,
                time=running.started,
                opened=tuple(map(str, running.children.opened[-3:])),
            )
        )

    def _lead_to_spool(self, running: _Running) -> None:
        if not self._settings.tee or self._spool_failed or not running.is_spooled or running.stdout != place_of(1):
            return
        try:
            if self._spool is None:
                self._spool = Spool(self.journal.spool, live=self._live)
            self._spool.attach()
        except OSError as error:
            self._spool_failed = True
            self._guard.note(f"the output of child processes was not kept: {error}")

    # A debugger needs the terminal

    @pytest.hookimpl
    def pytest_enter_pdb(self) -> None:
        """Gives the descriptors back while a person debugs."""
        if self._spool is not None:
            self._spool.detach()

    # Reports

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attaches to each report what its simulation left behind."""
        report = yield
        running = self._running
        if running is not None and (report.outcome == "failed" or running.children.children or report.sections):
            with self._guard("reading the evidence of a test"):
                self._attach(item, call, report, running)
        return report

    def _attach(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, running: _Running
    ) -> None:
        root = self._settings.layout.root
        frame, text = None, redact(report.longreprtext) if report.failed else ""
        if report.failed and call.excinfo is not None:
            frame = reports.frame_of(call.excinfo, root)
            text = reports.text_of(call.excinfo, frame)
        evidence = reports.Evidence()
        if self._is_turn(report, running):
            from pytest_dvwiki.roles import simulations  # noqa: PLC0415  # only a run with simulations pays for it

            observed = simulations.Observed(
                nodeid=running.nodeid,
                started=running.started,
                children=running.children,
                streams=self._streams(report),
                native=simulations.is_native_runner(item),
                error="" if call.excinfo is None else redact(call.excinfo.exconly(tryshort=True)),
                longrepr=text,
                strict_logs=self._settings.strict_logs and strict.applies_to(report),
            )
            evidence = simulations.evidence_of(observed, report, root=root, interest=self._interest()) or evidence
        if evidence == reports.Evidence() and report.passed and strict.applies_to(report):
            evidence = self._errors(report)
        if report.failed and report.when == "setup":
            failures = self._broken_fixtures.failures_of(item, call.excinfo, evidence.failures)
            evidence = replace(evidence, failures=failures)
        if report.failed and not evidence.refused:
            given = item.ihook.pytest_dvwiki_evidence(report=report, settings=self._settings)
            evidence = reports.with_excerpts(evidence, [excerpt for some in given for excerpt in some or ()])
            if self._live and not evidence.failures:  # else pytest's own sections hold it
                kept = (reports.kept(text, self._interest()) for text in self._spooled())
                evidence = replace(evidence, excerpts=(*evidence.excerpts, *(each for each in kept if each.lines)))
            evidence = replace(evidence, frame=frame, text=text)
        if evidence != reports.Evidence():
            reports.attach(report, reports.masked(evidence, self._masks))

    def _errors(self, report: pytest.TestReport) -> reports.Evidence:
        """The error lines in the output of a test that ran no simulator, or none that is known."""
        from pytest_dvwiki.capture.noise import NO_ERRORS, error_lines  # noqa: PLC0415

        errors = NO_ERRORS
        for text in self._streams(report):
            errors += error_lines(text, self._interest)
        if errors.count and self._settings.strict_logs:
            return strict.refuse_lines(report, errors, reports.Evidence())
        return reports.Evidence(noise_errors=errors.count)

    @staticmethod
    def _is_turn(report: pytest.TestReport, running: _Running) -> bool:
        """Whether this phase tells of the test's simulations: the call, or a phase before or after it that failed."""
        if not running.children.children or report.skipped:
            return False
        return report.when == "call" or report.failed

    def _streams(self, report: pytest.TestReport) -> tuple[LogText, ...]:
        """What the children printed: from the spool where there is one, else from pytest's sections."""
        from pytest_dvwiki.capture.logs import LogText  # noqa: PLC0415

        found = self._spooled()
        spooled = bool(found)
        phases = _phases_so_far(report)
        for header, content in report.sections:
            captured, _, rest = header.partition(" ")
            stream, _, phase = rest.partition(" ")
            if captured == "Captured" and phase in phases and (stream == "log" or not spooled):
                source: Source = "log" if stream == "log" else "stderr" if stream == "stderr" else "stdout"
                found.append(LogText(source=source, text=content))
        return tuple(found)

    def _spooled(self) -> list[LogText]:
        """What the test's children printed into the spool."""
        from pytest_dvwiki.capture.logs import LogText  # noqa: PLC0415

        if self._spool is None or self._spool_failed:
            return []
        outputs: tuple[Source, ...] = ("stdout", "stderr")
        return [
            LogText(source=source, path=path, lasting=False)
            for path, source in zip(self._spool.paths, outputs, strict=True)
            if path.stat().st_size
        ]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Writes each failure of this process to the journal; one that will be run again is none yet."""
        # The outcome first: most reports end here, and pytest puts a node id together at each question.
        if report.outcome != "failed" or self._running is None or report.nodeid != self._running.nodeid:
            return
        with self._guard("writing the journal"):
            evidence = reports.attached(report)
            failures = evidence.failures if evidence is not None else ()
            for failure in failures or (reports.failure_of(report, interest=self._interest(), evidence=evidence),):
                self.journal.failure(self._masks.failure(failure))

    def close(self, *, remove: bool) -> None:
        """Ends it.

        Args:
            remove: Whether what the journal holds is archived, or in the hands of the main process.
        """
        if self._spool is not None:
            self._spool.close()
        if self._journal is not None:
            if remove:
                self._journal.remove()
            else:
                self._journal.close()


def _phases_so_far(report: pytest.TestReport) -> tuple[Phase, ...]:
    phases: tuple[Phase, ...] = ("setup", "call", "teardown")
    return phases[: phases.index(report.when) + 1] if report.when in phases else phases
