"""The role of the process that the user started: it archives the session and prints the summary."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import to_builtins

from pytest_dvwiki.report import OUTPUT_FILES
from pytest_dvwiki.roles.ledger import Ledger
from pytest_dvwiki.settings import DEFAULT_WIKI_DIR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.capture.interrupted.places import JournalFolder
    from pytest_dvwiki.model import Failure
    from pytest_dvwiki.pipeline import Archived
    from pytest_dvwiki.roles import ProcessContext
    from pytest_dvwiki.roles.archivist import Archivist
    from pytest_dvwiki.roles.coverage import SessionBins, SessionCoverage
    from pytest_dvwiki.roles.gate import GateRole
    from pytest_dvwiki.roles.items import ItemRole
    from pytest_dvwiki.roles.outputs import Outputs
    from pytest_dvwiki.upkeep.routine import SessionCheck

_TEST_REPORT_OPTIONS = ("xmlpath", "htmlpath", "allure_report_dir")
"""Options of pytest and its plugins for a report with an entry for each test."""


class MainRole:
    """Collects all reports of a session and archives them at its end.

    This class is long because all hooks of the main process are here; each only calls the responsible part.

    Args:
        context: The objects shared by the roles of this process.
        journals: Journal folders, in order of preference.
        items: The role that watches the tests of this process; with xdist, there are none.
        task_id: Task id of the run.
    """

    def __init__(
        self, context: ProcessContext, *, journals: Sequence[JournalFolder], items: ItemRole, task_id: str
    ) -> None:
        config, settings, guard = context.config, context.settings, context.guard
        self._context = context
        self._config = config
        self._settings = settings
        self._guard = guard
        self._journals = journals
        self._items = items
        self._task_id = task_id
        self._started = time.time()
        self._ledger = Ledger(context)
        self._archived: Archived | None = None
        self._committed = ""
        self._check: SessionCheck | None = None
        self._taking = guard("recording a test report")
        self._gate: GateRole | None = None
        if settings.gate != "none":
            from pytest_dvwiki.roles.gate import GateRole  # noqa: PLC0415  # loaded only with --dvwiki-gate

            self._gate = GateRole(config, settings, self._ledger)
            config.pluginmanager.register(self._gate, "dvwiki_gate")
        self._is_finished = False
        self._outputs: Outputs | None = None
        is_github = settings.github and os.environ.get("GITHUB_ACTIONS") == "true"
        shows_tests = any(config.getoption(name, None) for name in _TEST_REPORT_OPTIONS)
        if is_github or shows_tests or any(getattr(settings, name) for name in OUTPUT_FILES):
            from pytest_dvwiki.roles.outputs import Outputs  # noqa: PLC0415  # loaded only where a tool reads one

            self._outputs = Outputs(context, finish=self._archive_once, shows_tests=shows_tests, is_github=is_github)
            config.pluginmanager.register(self._outputs, "dvwiki_outputs")
        self._coverage: SessionCoverage | None = None
        if settings.coverage:
            from pytest_dvwiki.roles.coverage import SessionCoverage  # noqa: PLC0415  # loaded only with --dvwiki-coverage

            with guard("looking for coverage reports"):
                self._coverage = SessionCoverage(settings.layout.root, settings.coverage)

    # The beginning

    def pytest_sessionstart(self) -> None:
        """Check the wiki if there is one. Problems that still exist at the end of the session are reported."""
        if self._config.inipath is None and not self._config.getoption("rootdir", None):
            self._warn_of_agent_folder_above()
        if not (self._settings.layout.wiki / "index.md").exists():
            return
        with self._guard("checking the wiki"):
            from pytest_dvwiki.upkeep.routine import check_session  # noqa: PLC0415  # only where there is a wiki

            self._check = check_session(self._settings)

    def _warn_of_agent_folder_above(self) -> None:
        """Warn that the project's `.agent` folder is ignored, because pytest's root is below it."""
        from pytest_dvwiki.wiki.root import memory_above  # noqa: PLC0415  # only where no file names the root

        settings = self._settings
        above = memory_above(settings.layout.root) if settings.wiki_dir == DEFAULT_WIKI_DIR else None
        if above is not None:
            way = os.path.relpath(above, self._config.invocation_params.dir)
            self._guard.note(
                f"{Path(way, '.agent')} was ignored, because pytest's root is a folder below {way};"
                f" run pytest with --rootdir={way}"
            )

    # Reports

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the report to the ledger, and write its failures to the journal.

        Reports come from this process, xdist workers or cocotb's simulators, or are about a crashed worker.
        """
        with self._taking:
            failures = self._ledger.add(report)
            if failures and not self._is_journaled_elsewhere(report):
                self._to_journal(failures)
            if "runner_nodeid" in vars(report):
                self._to_journal_unfinished(report)
            if self._outputs is not None:
                self._outputs.name(report, failures)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record whether a module could be collected."""
        if report.failed:
            with self._taking:
                self._to_journal(self._ledger.add_collection(report))
        elif report.passed and report.nodeid.endswith(".py"):
            self._ledger.collected.add(report.nodeid)

    @staticmethod
    def _is_journaled_elsewhere(report: pytest.TestReport) -> bool:
        """Return whether an xdist worker, or the item role of this process, has written the failure to its journal."""
        return not hasattr(report, "runner_nodeid") and report.when in {"setup", "call", "teardown"}

    def _to_journal(self, failures: Sequence[Failure]) -> None:
        for failure in failures:
            with suppress(OSError):
                self._items.journal.failure(failure)

    def _to_journal_unfinished(self, report: pytest.TestReport) -> None:
        """Record which test is running inside a simulator, in case this process is killed."""
        unfinished = self._ledger.unfinished(report.nodeid)
        with suppress(OSError):
            if unfinished is not None:
                self._items.journal.begin_test(unfinished)
            elif report.when == "call":
                self._items.journal.end_test(report.nodeid)

    # xdist

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """Send task id and command line to a worker. The main journal's lock shows that the run is alive."""
        with suppress(OSError):
            self._items.journal  # noqa: B018  # opened for its lock
        workerinput: dict[str, object] = node.workerinput  # type: ignore[attr-defined]
        workerinput["dvwiki"] = {"task_id": self._task_id, "call": to_builtins(self._context.call)}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Receive a worker's notes for the user."""
        for note in getattr(node, "workeroutput", {}).get("dvwiki_notes", ()):
            self._guard.note(note)

    # The end

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Archive the session. Called last, because cocotb's plugin delivers reports in its own hook of this name."""
        self._archive_once(session)
        if self._settings.commit and self._settings.layout.agent.is_dir():
            with self._guard("committing"):
                self._commit()
        if self._settings.html:
            with self._guard("making the report"):
                from pytest_dvwiki.report.site import make_site  # noqa: PLC0415  # loaded only with --dvwiki-html

                make_site(self._settings.layout, self._settings.layout.root / self._settings.html)
        if self._outputs is not None:
            self._outputs.write(self._archived, self._started)
        with self._guard("checking the wiki"):
            if self._check is not None:
                found = self._check.remark(was_written=self._archived is not None and self._archived.written)
                if found is not None:
                    self._guard.note(found)

    def _archive_once(self, session: pytest.Session) -> Archived | None:
        """Archive the session, unless an output already did."""
        if not self._is_finished:
            self._is_finished = True
            with self._guard("archiving"):
                came_to_end = session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
                self._finish(session, is_complete=came_to_end and not (session.shouldstop or session.shouldfail))
        return self._archived

    def _finish(self, session: pytest.Session, *, is_complete: bool) -> None:
        for place in self._journals:
            if place.has_others(self._task_id):
                self._archivist.take_over(place)
        if self._items.interrupted is not None:
            self._ledger.add(self._items.interrupted)
        named = bool(self._settings.task) or bool(os.environ.get("CI"))
        coverage = self._read_coverage(is_complete=is_complete)
        # If there are records, a test that passes may prove a known failure fixed.
        if coverage is not None or self._ledger.has_failures or named or self._settings.layout.tasks.is_dir():
            from pytest_dvwiki.roles.coverage import chooses_tests  # noqa: PLC0415  # not for a session without news

            words = self._words
            self._archived = self._archivist.archive(
                self._ledger,
                coverage,
                started=self._started,
                is_regression=named,
                part=not is_complete or chooses_tests(words) or any(word.endswith(".py") for word in words),
                gate_refused=self._gate.refused(session) if self._gate is not None else None,
            )
            if self._gate is not None:
                self._gate.archived = self._archived
        kept = self._archived is not None and self._archived.problem is not None
        self._items.close(remove=not kept)

    @property
    def _words(self) -> tuple[str, ...]:
        """Return the arguments of this session without `addopts`, which apply to all sessions."""
        return *self._config.invocation_params.args, *os.environ.get("PYTEST_ADDOPTS", "").split()

    def _commit(self) -> None:
        from pytest_dvwiki.pipeline.committing import RefusedError, commit  # noqa: PLC0415  # only with --dvwiki-commit

        settings = self._settings
        try:
            done = commit(settings.layout, settings.commit, self._task_id)
        except RefusedError as error:
            self._guard.note(f"nothing was committed: {error}")
            return
        self._committed = done.text
        for note in done.notes:
            self._guard.note(note)

    @cached_property
    def _archivist(self) -> Archivist:
        from pytest_dvwiki.roles.archivist import Archivist  # noqa: PLC0415  # a run with nothing to archive needs none

        return Archivist(self._context, task_id=self._task_id)

    def _read_coverage(self, *, is_complete: bool) -> SessionBins | None:
        """Return the bins from the tests' coverage reports; None if there are none."""
        if self._coverage is not None:
            with self._guard("reading coverage reports"):
                # A named run is a regression of its own, even if it selects tests.
                arguments = () if self._settings.task else self._words
                return self._coverage.read(self._guard.notes, arguments=arguments, is_complete=is_complete)
        return None

    # The summary

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the known and the new failures; nothing if there is nothing to report."""
        with self._guard("showing the summary"):
            self._show(terminalreporter)
            return
        # The guard has caught an error and noted it.
        for note in self._guard.notes:
            terminalreporter.write_line(f"dvwiki: {note}")

    def _show(self, terminalreporter: pytest.TerminalReporter) -> None:
        notes = self._guard.notes
        verbosity = self._config.get_verbosity()
        noise = self._ledger.noisy() if verbosity > 0 else ()
        hidden = self._ledger.hidden()
        archived = self._archived
        is_silent = archived is None or (archived.record is None and archived.coverage is None)
        if is_silent and not (notes or noise or hidden or self._committed):
            return
        from pytest_dvwiki.pipeline import Archived  # noqa: PLC0415  # only where there is something to show
        from pytest_dvwiki.report import terminal  # noqa: PLC0415

        report = terminal.Session(
            archived=archived or Archived(),
            notes=tuple(notes),
            journal=self._items.journal.folder if self._items.has_journal else None,
            root=self._settings.layout.root,
            here=self._config.invocation_params.dir,
            wiki=self._settings.layout.wiki,
            noise=noise,
            hidden=hidden,
            committed=self._committed,
        )
        width = terminalreporter._tw.fullwidth  # noqa: SLF001  # there is no public access to the width that pytest uses
        if verbosity >= 0:
            terminalreporter.write_sep("=", "dvwiki")
        for line in terminal.render(report, verbosity=verbosity, width=width):
            terminalreporter.write_line(line.text, **line.markup)
