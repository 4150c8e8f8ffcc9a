"""How a simulation ended, and a sentence that describes it."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.model.sentences import LOGGED

if TYPE_CHECKING:
    from collections.abc import Iterable

_STATUS = re.compile(r"(?:return code: |terminated with error |returned non-zero exit status )(-?\d{1,10})")
_HANDLED = re.compile(r"Exiting pid: \d+ with signum: (\d{1,3})\b")
"""Matches the message of cocotb-test's handler for Ctrl-C and SIGTERM."""
_TIMEOUT = re.compile(
    r"Timeout \(>[\d.]+s\) from pytest-timeout|TimeoutExpired: Command .{1,200} timed out after [\d.]+ seconds"
)
_LIMIT_PROGRAM = re.compile(r"Command '(?:\['|\S*/)?timeout\b.* returned non-zero exit status 124\b")
"""Matches the exception for a command that the program `timeout` stopped."""
_MAKE_ERROR = re.compile(
    r"^make(?:\[\d+\])?: (?:\*\*\* )?\[.{1,400}\] "
    r"(?:Error (?P<status>\d{3})|(?P<words>[A-Z][\w/ ]+?)(?:: \d+)?)(?: \(core dumped\))?(?: \(ignored\))?$"
)
"""Matches make's message about a failed command.

A leading `-`, as in cocotb's Makefile for Verilator, makes make ignore the failure.
"""
_MAKE_SIGNALLED = re.compile(r"^make(?:\[\d+\])?: \*\*\* wait: No child processes\.")
"""Matches the message that make prints if a signal arrives while make handles the end of a command.

make's signal handler has already waited for all commands, so the message names no target.
"""
_SIGNALS = {(signal.strsignal(number) or "").partition(":")[0]: number for number in signal.valid_signals()}
"""Maps the C library's description of a signal, without the number that macOS adds, to the signal."""
_SENT = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM})
"""Signals that come from another process, not from a crash."""
FROM_OUTSIDE = "the run was killed from outside"
_BUILD_CALL = re.compile(r"^>.*\bbuild\(", re.MULTILINE)
_TEST_CALL = re.compile(r"^>.*\b(?:test|run)\(", re.MULTILINE)
_SHELL_SIGNALS = 128
_LIMIT_STATUS = 124


class Ending(Struct, frozen=True, kw_only=True):
    """How a simulation or the build before it ended, as far as is known."""

    status: int | None = None
    """Exit status; None if unknown."""
    signal: int | None = None
    interrupted: bool = False
    """Whether the user interrupted the simulation; only tests that failed before the interrupt are failures."""
    timeout: str | None = None
    """Timeout message of pytest-timeout or `subprocess`; None if neither reported a timeout."""
    cut_short: bool = False
    building: bool | None = None
    """True if the build failed, False if the simulation did; None if unknown."""
    limited: bool = False
    """Whether the simulation reached a limit that the item itself set, as with `timeout 60 make`."""

    @property
    def abnormal(self) -> bool:
        """Return whether a kill, a timeout or a signal ended the simulation."""
        return self.cut_short or self.timeout is not None or self.signal is not None

    @property
    def bad_status(self) -> bool:
        """Return whether the exit status alone shows an error."""
        return self.status is not None and self.status != 0

    @property
    def from_outside(self) -> str:
        """Describe what ended the simulation from outside; empty if nothing did. A rerun may end differently."""
        if self.cut_short:
            return FROM_OUTSIDE
        if self.signal in _SENT and not self.limited and self.timeout is None:
            return f"signal {self.signal} ({_signal_name(self.signal)}) ended the simulation from outside"
        return ""


def read_ending(*, status: int | None, error: str, longrepr: str, cut_short: bool) -> Ending:
    """Derive the ending from the exit status, exception and report of the item."""
    if status is None and (found := _STATUS.search(error) or _STATUS.search(longrepr)):
        status = int(found[1])
    limited = status == _LIMIT_STATUS and _LIMIT_PROGRAM.search(error) is not None
    if limited:
        status = -signal.SIGTERM
    handled = _HANDLED.search(error)
    return Ending(
        status=status,
        signal=int(handled[1]) if handled else _signal(status),
        timeout=timeout_in(error) or timeout_in(longrepr),
        cut_short=cut_short,
        interrupted=error.startswith("KeyboardInterrupt"),
        building=_building(longrepr),
        limited=limited,
    )


def timeout_in(text: str) -> str | None:
    """Return the timeout message of pytest-timeout or `subprocess` in a string; None if the string contains neither."""
    found = _TIMEOUT.search(text)
    return found[0] if found else None


def status_in(lines: Iterable[str]) -> int | None:
    """Return the status of a command that was ended by a signal, from make's message; None if no message shows one."""
    for line in lines:
        if found := _MAKE_ERROR.match(line):
            if found["words"] in _SIGNALS:
                return -_SIGNALS[found["words"]]
            status = int(found["status"] or 0)
            if status == _LIMIT_STATUS:
                return -signal.SIGTERM  # `timeout 60 make` in a recipe
            if _signal(status) is not None:
                return status
    return None


def was_killed(lines: Iterable[str]) -> bool:
    """Return whether make reports that it received a signal, in a message that does not name the signal."""
    return any(map(_MAKE_SIGNALLED.match, lines))


def sentence(
    ending: Ending, *, simulator: str | None, test: str | None, time: str | None, finished: bool
) -> str | None:
    """Describe what ended a simulation, or its bad exit status, in a sentence; None if there is neither.

    `time` is the last simulation time in the log, and `finished` means that all tests had ended.
    """
    where = " after its last test" if finished else place(test, time)
    # If another process sent the signal, the cause is the same with each simulator.
    name = f"simulator {simulator}" if simulator and ending.signal not in _SENT else "the simulator"
    if ending.cut_short:
        return f"run was killed{where}"
    if ending.timeout is not None:
        return f"{ending.timeout}{where}"
    if ending.signal is not None:
        return f"{name} was killed by signal {ending.signal} ({_signal_name(ending.signal)}){where}"
    if ending.bad_status:
        return f"{'' if finished else 'no results: '}{name} ended with status {ending.status}{where}"
    return None


def place(test: str | None, time: str | None) -> str:
    """Return ' while running TEST, last logged time TIME', as far as known."""
    return (f" while running {test}" if test else "") + (f"{LOGGED}{time}" if time else "")


def _signal(status: int | None) -> int | None:
    """Return the signal in an exit status (negative from a child, above 128 from a shell); None for other statuses."""
    if status is None:
        return None
    number = -status if status < 0 else status - _SHELL_SIGNALS
    return number if _signal_name(number) != "unknown" else None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _building(longrepr: str) -> bool | None:
    build, test = _BUILD_CALL.search(longrepr) is not None, _TEST_CALL.search(longrepr) is not None
    return build if build != test else None  # `build(…).test(…)` on one line does not show which
