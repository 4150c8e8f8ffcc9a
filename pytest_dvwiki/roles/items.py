"""The role of a process that runs tests, alone or as an xdist worker: it watches tests and their child processes."""

from __future__ import annotations

import subprocess
import time
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.interrupted.journal import MAIN, Begin, NoPlaceError, open_journal
from pytest_dvwiki.capture.processes import tools
from pytest_dvwiki.capture.processes.children import Children, listen, unwatched
from pytest_dvwiki.capture.processes.spool import Spool, place_of
from pytest_dvwiki.roles.running import EVIDENCE, OUTCOMES, Running

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.interrupted.journal import Journal
    from pytest_dvwiki.capture.interrupted.places import JournalFolder
    from pytest_dvwiki.capture.processes.children import Child
    from pytest_dvwiki.capture.simulations.builds import Builds, Watch
    from pytest_dvwiki.roles import ProcessContext
    from pytest_dvwiki.roles.evidence import EvidenceReader

_POPEN = subprocess.Popen


class ItemRole:
    """Watches the tests of this process.

    This class is long because all its hooks share the running test, the journal and the spool.

    Args:
        context: The objects shared by the roles of this process.
        journals: Journal folders, in order of preference.
        task_id: Task id of the run.
        process: `main`, or the name of the xdist worker.
    """

    def __init__(
        self, context: ProcessContext, *, journals: Sequence[JournalFolder], task_id: str, process: str
    ) -> None:
        self._context = context
        self._config = context.config
        self._guard = context.guard
        self._journals = journals
        self._task_id = task_id
        self._process = process
        self._journal: Journal | None = None
        self._spool: Spool | None = None
        self._spool_failed = False
        self._running: Running | None = None
        self.interrupted: pytest.TestReport | None = None
        """Report of a test that was interrupted after a failure in its simulation; pytest itself makes no report."""
        capture = context.config.getoption("capture", "no")
        self._live = capture != "fd"

    @property
    def journal(self) -> Journal:
        """Return the journal of this process, opened at first use."""
        if self._journal is None:
            self._journal = open_journal(self._journals, self._task_id, self._process)
            # If a test has replaced `Popen`, git is not called: the replacement may count processes, or forbid them.
            if self._process == MAIN and subprocess.Popen is _POPEN:
                from pytest_dvwiki.capture.git.repository import Repository  # noqa: PLC0415  # most runs need no journal

                with unwatched():
                    self._journal.sources(Repository.of(self._context.settings).state())
        return self._journal

    @property
    def has_journal(self) -> bool:
        """Return whether the journal was opened."""
        return self._journal is not None

    @cached_property
    def _builds(self) -> Builds:
        from pytest_dvwiki.capture.simulations.builds import Builds  # noqa: PLC0415  # loaded only for simulations

        return Builds(self._journals[0].builds)

    @cached_property
    def _watch(self) -> Watch:
        from pytest_dvwiki.capture.simulations.builds import Watch  # noqa: PLC0415

        return Watch(self._builds)

    @cached_property
    def _evidence(self) -> EvidenceReader:
        from pytest_dvwiki.roles.evidence import EvidenceReader  # noqa: PLC0415  # a test that passes needs none

        return EvidenceReader(self._context, spooled=self._spooled, live=self._live, builds=lambda: self._builds)

    # Collection

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Add evidence to the report of a module that could not be collected."""
        report = yield
        call: pytest.CallInfo[object] | None = vars(report).get("call")
        if report.failed and call is not None and call.excinfo is not None:
            with self._guard("reading a collection error"):
                self._evidence.attach_to_collection(call.excinfo, report)
        return report

    # One test

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch the child processes of each test."""
        self._running = running = Running(item, time.time(), self._listen())
        try:
            return (yield)
        except KeyboardInterrupt:
            with self._guard("reading an interrupted test"):
                self._keep_interrupted(running)
            raise
        finally:
            listen(None)
            self._running = None
            if running.began or self._spool is not None:
                with self._guard("ending a test"):
                    self._end(running)

    def _keep_interrupted(self, running: Running) -> None:
        from pytest_dvwiki.roles import reports, simulations  # noqa: PLC0415  # loaded only after an interrupt

        if not running.children.children or simulations.is_native_runner(running.item):
            return
        call = pytest.CallInfo.from_call(_interrupt, "call")
        report = pytest.TestReport.from_item_and_call(running.item, call)
        self._evidence.attach(running.item, call, report, running)
        evidence = reports.attached(report)
        if evidence is not None and evidence.failures:
            self.interrupted = report

    def _end(self, running: Running) -> None:
        if running.began and self._journal is not None:
            self._journal.end(running.nodeid)
        if self._spool is not None:
            self._spool.clear()

    def _listen(self) -> Children:
        """Start watching the child processes of an attempt."""
        children = Children(self._begin)
        if "_watch" in vars(self):
            self._watch.next_item()
        listen(children)
        return children

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self) -> Generator[None]:
        """Spool the output of a setup. The hook is innermost, so that pytest reads its capture after the spool ends."""
        running = self._running
        if running is not None:
            if running.stdout is None:
                running.stdout = place_of(1)
            else:  # the test is run again
                self._drop_attempt(running)
        try:
            self._begin_phase()
            return (yield)
        finally:
            self._end_phase()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Generator[None]:
        """Spool the output of a call or a teardown. The hook is innermost, as for the setup."""
        try:
            self._begin_phase()
            return (yield)
        finally:
            self._end_phase()

    pytest_runtest_teardown = pytest_runtest_call

    def _drop_attempt(self, running: Running) -> None:
        """Discard the state of the previous attempt, but keep the failures of a report that was not logged."""
        running.started, running.children = time.time(), self._listen()
        running.sections_before = len(running.sections)
        if self._spool is not None:
            self._spool.clear()
        if running.open is not None:
            with self._guard("reading an attempt"):
                running.earlier += self._evidence.failures_of(running.open)
            running.open = None

    def _begin_phase(self) -> None:
        """Spool the children's output from the start of a phase, if this attempt has started a child before.

        Otherwise the spool begins with the first child. This is no context manager, because the frames of one would
        appear in tracebacks, which some plugins keep.
        """
        if self._spool is not None and self._running is not None and self._running.children.children:
            self._redirect_to_spool(self._running)

    def _end_phase(self) -> None:
        if self._spool is not None:
            with self._guard("restoring the output"):
                self._spool.detach()

    def _begin(self, child: Child) -> None:
        """Record a child process before it starts; after the first child, only simulations are recorded."""
        running = self._running
        if running is None:
            return
        runs = tools.is_simulation(child)
        if (runs or tools.is_tool(child)) and not tools.is_make(child):
            self._note_setup(running.children, child, runs=runs)
        if running.began and not runs:
            self._redirect_to_spool(running)  # has an effect only for the first child of a further attempt
            return
        setup = running.children.setup_of(child)
        self._redirect_to_spool(running)
        running.began = True
        self.journal.begin(
            Begin(
                nodeid=running.nodeid,
                spool=tuple(path.name for path in self._spool.paths)
                if self._spool is not None and self._spool.attached
                else (),
                folder=str(child.folder),
                environment=dict(child.environment),
                program=child.program,
                time=running.started,
                opened=tuple(map(str, running.children.opened[-3:])),
                simulator=setup.simulator if setup is not None else None,
                config=setup.config if setup is not None else None,
                call=self._context.call,
            )
        )

    def _note_setup(self, children: Children, child: Child, *, runs: bool) -> None:
        """Record what a tool builds or runs, while the file lists and scripts in its command line still exist."""
        from pytest_dvwiki.capture.processes.toolcalls import read_call  # noqa: PLC0415  # loaded only for simulations

        with self._guard("reading a tool's command line"):
            call = read_call(child.arguments, str(child.folder), child.environment, runs=runs)
            if call is not None:
                children.add_setup(child, self._watch.observe(call))

    def _redirect_to_spool(self, running: Running) -> None:
        if (
            not self._context.settings.tee
            or self._spool_failed
            or not running.may_be_spooled
            or running.stdout != place_of(1)
        ):
            return
        try:
            if self._spool is None:
                self._spool = Spool(self.journal.spool, live=self._live)
            self._spool.attach()
        except NoPlaceError:
            self._spool_failed = True
        except OSError as error:
            self._spool_failed = True
            self._guard.note(f"the output of child processes was not kept: {error}")

    def _spooled(self) -> tuple[Path, ...]:
        """Return the files with the output of the test's children, stdout first; empty if none was kept."""
        return () if self._spool is None or self._spool_failed else self._spool.paths

    # A debugger needs the terminal

    @pytest.hookimpl
    def pytest_enter_pdb(self) -> None:
        """Give the debugger the terminal: stop the redirection of the output to the spool."""
        if self._spool is not None:
            self._spool.detach()

    # Reports

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the evidence from a test's simulations to its reports."""
        report = yield
        running = self._running
        if running is not None and (report.outcome == "failed" or running.children.children or report.sections):
            running.open = report if report.outcome == "failed" else running.open
            with self._guard("reading the evidence of a test"):
                try:
                    self._evidence.attach(item, call, report, running)
                except pytest.fail.Exception:
                    # The alarm of pytest-timeout fired while evidence was read. It fires only once, so read again.
                    self._evidence.attach(item, call, report, running)
        return report

    def pytest_exception_interact(self, call: pytest.CallInfo[None]) -> None:
        """Keep the result of the last failed phase, because pytest-retry does not report every phase."""
        if self._running is not None:
            self._running.error = call

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write each failure of this process to the journal, unless the test will be run again.

        Called first, so that the report carries the failures to the ledger, or to xdist's main process.
        """
        running = self._running
        # The node id is compared last, because pytest builds it at each access. For most reports that is not needed.
        if (
            running is None
            or (report.outcome == "passed" and not running.earlier and report is not running.retried)
            or report.nodeid != running.nodeid
        ):
            return
        running.open = None
        with self._guard("reading an attempt"):
            if report is running.retried or (report.outcome not in OUTCOMES and not hasattr(report, EVIDENCE)):
                self._evidence.read_attempt(report, running)
            if report.outcome not in OUTCOMES:
                running.retried = report
            if running.earlier:
                self._evidence.add_earlier(report, running.earlier)
                running.earlier = ()
        if report.outcome == "failed":
            with self._guard("writing the journal"), suppress(NoPlaceError):
                for failure in self._evidence.failures_of(report):
                    self.journal.failure(failure)

    def close(self, *, remove: bool) -> None:
        """Close the spool and the journal.

        Args:
            remove: Remove the journal, because its content is archived.
        """
        if self._spool is not None:
            self._spool.close()
        if self._journal is not None:
            if remove:
                self._journal.remove()
            else:
                self._journal.close()


def _interrupt() -> None:
    raise KeyboardInterrupt
