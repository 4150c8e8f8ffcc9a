"""`--dvwiki-gate`: turns pytest's exit status 1 into 0 if every failed test is waived or known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.causes.words import gate_text
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.reading import described

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_dvwiki.pipeline import Archived
    from pytest_dvwiki.roles.ledger import Ledger
    from pytest_dvwiki.settings import Settings

_PHASES = frozenset({"setup", "call", "teardown"})


class GateRole:
    """Watches the session for events that the gate cannot judge, and sets the exit status at the end."""

    def __init__(self, config: pytest.Config, settings: Settings, ledger: Ledger) -> None:
        self._config = config
        self._settings = settings
        self._ledger = ledger
        self._obstacle = ""
        """The first event that keeps the gate closed; empty if there was none."""
        self.archived: Archived | None = None
        """The session's run, once it is archived."""

    # The session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Watch for xdist's report of a crashed worker."""
        if report.failed and report.when not in _PHASES:
            self._note_obstacle("a worker crashed")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Watch for collection errors, which `--continue-on-collection-errors` turns into exit status 1."""
        if report.failed:
            self._note_obstacle(f"{report.nodeid or 'a test file'} could not be collected")

    def pytest_internalerror(self) -> None:
        """Watch for errors of pytest and its plugins."""
        self._note_obstacle("there was an internal error")

    def pytest_keyboard_interrupt(self) -> None:
        """Watch for interrupts and for `pytest.exit`, which can set any exit status."""
        self._note_obstacle("the session was interrupted")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        """Watch for crashed workers."""
        if error:
            self._note_obstacle("a worker crashed")

    def _note_obstacle(self, what: str) -> None:
        self._obstacle = self._obstacle or what

    def refused(self, session: pytest.Session) -> str:
        """Return why the gate must stay closed; empty if it may open."""
        if self._obstacle:
            return self._obstacle
        if session.shouldfail or session.shouldstop:
            return f"not all tests ran: {session.shouldfail or session.shouldstop}"
        if session.testsfailed != self._ledger.failed_reports:
            reported = count(self._ledger.failed_reports, "failed report")
            return f"pytest counts {count(session.testsfailed, 'failure')}, but dvwiki got {reported}"
        option = self._config.option
        if getattr(option, "no_cov_on_fail", False) and getattr(option, "cov_fail_under", None):
            return "coverage was not checked, because of --no-cov-on-fail"
        unsettled = self._ledger.unsettled()
        return f"a failed report of {unsettled[0]} was not assigned to any cause" if unsettled else ""

    # The exit status

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Register the wrapper of pytest_sessionfinish now: the later it is registered, the further outside it is."""
        self._config.pluginmanager.register(_End(self._config, self), "dvwiki_gate_end")

    def settle(self, session: pytest.Session) -> str:
        """Set the exit status to 0 if the gate allows every failure; return the line for the terminal."""
        status = int(session.exitstatus)
        record = self.archived.record if self.archived is not None else None
        gate = record.gate if record is not None else None
        if status != pytest.ExitCode.TESTS_FAILED:
            refused = self._obstacle or f"the gate only applies to exit status 1, not {status}"
        else:
            refused = self.refused(session) or self._unwritten()
        if gate is not None and gate.is_open and not refused:
            session.exitstatus = pytest.ExitCode.OK
        waived = record.waived if record is not None else ()
        return gate_text(self._settings.gate, gate, refused=refused, status=status, waived=waived)

    def _unwritten(self) -> str:
        if self._settings.archive == "no":
            return "the run has no record, because archiving is switched off"
        is_written = self.archived is not None and self.archived.written and self.archived.problem is None
        return "" if is_written else "the record of the run was not written"


class _End:
    """The outermost wrapper of the session's end. It sees the exit status set by all other plugins."""

    def __init__(self, config: pytest.Config, gate: GateRole) -> None:
        self._config = config
        self._gate = gate

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        result = yield
        if session.exitstatus == pytest.ExitCode.OK:
            return result
        try:
            line = self._gate.settle(session)
        except Exception as error:  # noqa: BLE001  # the exit status stays
            line = f"dvwiki gate: failed, so the exit status stays: {described(error)}"
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        if terminal is not None:
            is_open = session.exitstatus == pytest.ExitCode.OK
            terminal.write_line(line, green=is_open, yellow=not is_open)
        return result
