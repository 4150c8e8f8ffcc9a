"""The process that a person started: it alone archives, and says what came out."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki import pipeline
from pytest_dvwiki.capture import journal
from pytest_dvwiki.model import Run, Vcs
from pytest_dvwiki.roles.ledger import Ledger
from pytest_dvwiki.roles.reports import options_of_cocotb

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_dvwiki.masks import Masks
    from pytest_dvwiki.model import CoverBin, Failure
    from pytest_dvwiki.pipeline import Archived
    from pytest_dvwiki.roles.coverage import SessionCoverage
    from pytest_dvwiki.roles.guard import Guard
    from pytest_dvwiki.roles.items import ItemRole
    from pytest_dvwiki.settings import Settings


class MainRole:
    """Takes all reports of a session and archives them at its end.

    Args:
        config: pytest's configuration.
        settings: What was set.
        journals: Folders of journals, the best first.
        items: The role that watches this process's own tests; with xdist there are none.
        task_id: The run.
        tools: The registry and what hangs on it.
        guard: Keeps errors of this role away from the run.
        masks: What others mask.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        *,
        journals: Sequence[Path],
        items: ItemRole,
        task_id: str,
        tools: pipeline.Tools,
        guard: Guard,
        masks: Masks,
    ) -> None:
        self._config = config
        self._settings = settings
        self._journals = journals
        self._items = items
        self._task_id = task_id
        self._tools = tools
        self._started = time.time()
        options = options_of_cocotb(config.invocation_params.args)
        self._ledger = Ledger(lambda: tools.interest, masks, options)
        self._archived: Archived | None = None
        self._guard = guard
        self._taking = guard("taking a report")
        self._masks = masks
        self._coverage: SessionCoverage | None = None
        if settings.coverage:
            from pytest_dvwiki.roles.coverage import SessionCoverage  # noqa: PLC0415  # only who asks for it pays

            with guard("looking for coverage reports"):
                self._coverage = SessionCoverage(settings.layout.root, settings.coverage)

    # The beginning

    def pytest_sessionstart(self) -> None:
        """Looks at the wiki, where there is one: what is wrong with it is told at the end."""
        if not (self._settings.layout.wiki / "index.md").exists():
            return
        with self._guard("checking the wiki"):
            from pytest_dvwiki.upkeep.routine import look  # noqa: PLC0415  # only where there is a wiki

            found = look(self._settings)
            if found is not None:
                self._guard.note(found)

    # Reports

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes every report: of this process, of xdist's workers, of cocotb's simulators, of crashed workers."""
        with self._taking:
            failures = self._ledger.add(report)
            if failures and not self._is_journaled_elsewhere(report):
                self._to_journal(failures)
            if "runner_nodeid" in vars(report):
                self._to_journal_in_flight(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Takes a module that could not be collected."""
        if report.failed:
            with self._taking:
                self._to_journal(self._ledger.add_collection(report))

    @staticmethod
    def _is_journaled_elsewhere(report: pytest.TestReport) -> bool:
        """Whether the process that ran the test has written it down: this one as its item role, or an xdist worker."""
        return not hasattr(report, "runner_nodeid") and report.when in {"setup", "call", "teardown"}

    def _to_journal(self, failures: Sequence[Failure]) -> None:
        for failure in failures:
            with suppress(OSError):
                self._items.journal.failure(failure)

    def _to_journal_in_flight(self, report: pytest.TestReport) -> None:
        """Notes which test is inside a simulator: should this process be killed, nothing else will know."""
        flight = self._ledger.flight(report.nodeid)
        with suppress(OSError):
            if flight is not None:
                self._items.journal.takeoff(flight)
            elif report.when == "call":
                self._items.journal.landing(report.nodeid)

    # xdist

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """Tells a worker which run it belongs to; the lock on the main journal says that the run lives."""
        with suppress(OSError):
            self._items.journal  # noqa: B018  # opened for its lock
        workerinput: dict[str, object] = node.workerinput  # type: ignore[attr-defined]
        workerinput["dvwiki"] = {"task_id": self._task_id}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Takes what a worker has to say to a person."""
        for note in getattr(node, "workeroutput", {}).get("dvwiki_notes", ()):
            self._guard.note(note)

    # The end

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Archives; last, since cocotb's plugin delivers its reports until its own hook of this name has run."""
        with self._guard("archiving"):
            came_to_end = exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
            self._finish(is_complete=came_to_end and not (session.shouldstop or session.shouldfail))

    def _finish(self, *, is_complete: bool) -> None:
        self._take_over()
        named = bool(self._settings.task) or bool(os.environ.get("CI"))
        bins, whole, reports = self._read_coverage(is_complete=is_complete)
        # Where records stand, a test that passes may be the end of a known failure.
        if bins or self._ledger.has_failures or named or self._settings.layout.tasks.is_dir():
            failures, results = self._ledger.settle()
            run = Run(
                task_id=self._task_id,
                started=pipeline.utc(self._started),
                finished=pipeline.utc(time.time()),
                failures=self._of_kind(failures),
                results=results,
                simulators=self._ledger.simulators,
                sources=reports,
                keep_suite=named,
                always_record=named,
                coverage=bins,
                whole=whole,
            )
            if failures or results or bins:
                self._archive(run)
        kept = self._archived is not None and self._archived.problem is not None
        self._items.close(remove=not kept)

    def _archive(self, run: Run) -> None:
        self._archived = pipeline.process(run, self._settings, self._tools.classifier, self._tools.history)
        if self._archived.problem is None and self._archived.record is not None:
            self._config.hook.pytest_dvwiki_archived(record=self._archived.record)

    def _read_coverage(self, *, is_complete: bool) -> tuple[tuple[CoverBin, ...], bool, tuple[dict[str, str], ...]]:
        """The bins of the reports that the tests wrote, whether all tests had their turn, and the reports."""
        if self._coverage is not None:
            with self._guard("reading coverage reports"):
                from pytest_dvwiki.roles.coverage import chooses_tests  # noqa: PLC0415

                coverage, reports = self._coverage.read(self._guard.notes)
                # A run that has a name is a regression by itself, whatever it chooses.
                chosen = not self._settings.task and chooses_tests(self._config.invocation_params.args)
                return coverage.bins, is_complete and not chosen and not coverage.problems, reports
        return (), True, ()

    def _take_over(self) -> None:
        """Archives what killed runs left behind, under their own names, before this run is compared with the past."""
        for place in self._journals:
            for orphan in journal.find_orphans(place, except_for=self._task_id):
                from pytest_dvwiki.capture import takeover  # noqa: PLC0415  # only a takeover pays for it

                remains = takeover.remains_of(orphan, root=self._settings.layout.root, interest=self._tools.interest)
                run = Run(
                    task_id=orphan.task_id,
                    started=pipeline.utc(orphan.started),
                    finished=pipeline.utc(orphan.ended),
                    failures=self._of_kind(tuple(map(self._masks.failure, remains.failures))),
                    results=remains.results,
                    simulators=remains.simulators,
                    # The killed run may have been at any commit.
                    vcs=Vcs(),
                )
                archived = pipeline.process(run, self._settings, self._tools.classifier, self._tools.history)
                if archived.written or not remains.failures:
                    journal.remove(orphan.folder)
                if archived.written:
                    self._guard.note(f"archived what a killed run had left behind: {orphan.task_id}")

    def _of_kind(self, failures: Sequence[Failure]) -> tuple[Failure, ...]:
        ip_type = self._settings.ip_type or None
        return tuple(replace(failure, ip_type=failure.ip_type or ip_type) for failure in failures)

    # What people see

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says which failures are known and which are new; nothing where nothing failed."""
        with self._guard("showing the summary"):
            self._show(terminalreporter)

    def _show(self, terminalreporter: pytest.TerminalReporter) -> None:
        notes = self._guard.notes
        verbosity = self._config.get_verbosity()
        noise = self._ledger.noisy() if verbosity > 0 else ()
        archived = self._archived
        is_silent = archived is None or (archived.record is None and archived.coverage is None)
        if is_silent and not (notes or noise):
            return
        from pytest_dvwiki.report import terminal  # noqa: PLC0415  # only where there is something to show

        report = terminal.Session(
            archived=self._archived or pipeline.Archived(),
            notes=tuple(notes),
            journal=self._items.journal.folder if self._items.has_journal else None,
            root=self._settings.layout.root,
            wiki=self._settings.layout.wiki,
            noise=noise,
        )
        width = terminalreporter._tw.fullwidth  # noqa: SLF001  # no public way tells the width that pytest itself uses
        if verbosity >= 0:
            terminalreporter.write_sep("=", "dvwiki")
        for line in terminal.render(report, verbosity=verbosity, width=width):
            terminalreporter.write_line(line.text, **line.markup)
