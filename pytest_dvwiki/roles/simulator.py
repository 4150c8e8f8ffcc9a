"""The role of the pytest inside a simulator, started by cocotb's own plugin: it adds the test's output to each report.

Standard output is the simulator's, so it includes the output of the HDL and of the testbench's loggers, even pyuvm's
loggers, which do not propagate to logging handlers. The output is read when each report is made, because later it is
unknown which test printed what.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.capture.simulations.unfinished import without_progress
from pytest_dvwiki.model import Excerpt
from pytest_dvwiki.roles import reports, strict

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_dvwiki.capture.simulations.noise import ErrorLines
    from pytest_dvwiki.logtext.logs import LogText
    from pytest_dvwiki.roles import ProcessContext

_CHUNK = 1 << 20


class _Output:
    """The simulator's output, read from the file behind standard output. `rest` returns what follows the last `skip`.

    A terminal or a pipe cannot be read back, so there is no output.
    """

    def __init__(self) -> None:
        self._path = Path("/proc/self/fd/1" if sys.platform == "linux" else "/dev/fd/1")
        self._offset = 0
        self.lines = 0

    def skip(self) -> int:
        """Skip the output so far; return the line number of the next output, from 1."""
        end = self._size()
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(self._offset)
            while self._offset < end and (chunk := file.read(min(_CHUNK, end - self._offset))):
                self.lines += chunk.count(b"\n")
                self._offset += len(chunk)
        self._offset = end
        return self.lines + 1

    def rest(self) -> LogText | None:
        """Return the output since the last skip; None if there is none."""
        from pytest_dvwiki.logtext.logs import LogText  # noqa: PLC0415  # loaded only for a failure

        end = self._size()
        if end <= self._offset:
            return None
        return LogText(source="log", path=self._path, start=self._offset, end=end, lasting=False)

    def _size(self) -> int:
        status = os.fstat(1)
        return status.st_size if stat.S_ISREG(status.st_mode) else 0


class SimulatorRole:
    """Attaches a cocotb test's output to each of its reports.

    Args:
        context: The objects shared by the roles of this process.
    """

    def __init__(self, context: ProcessContext) -> None:
        self._context = context
        self._output = _Output()
        self._c_library = ctypes.CDLL(None)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the output. cocotb's plugin reports the start and the end of a call, and logs only the second one."""
        report = yield
        with self._context.guard("reading the output of a test"):
            self._attach(item, call, report)
        return report

    def _attach(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        self._flush()
        if report.when == "setup" and report.passed:
            reports.attach(report, reports.Evidence(first_line=self._output.skip()))
        elif report.failed:
            evidence = reports.Evidence(excerpts=(*_expectation(item, call), *self._excerpts()))
            if call.excinfo is not None:
                frame = reports.frame_of(call.excinfo, self._context.settings.layout.root)
                evidence = replace(evidence, frame=frame, text=reports.text_of(call.excinfo, frame))
            reports.attach(report, reports.masked(evidence, self._context.masks))
        elif strict.applies_to(report) and (errors := self._errors()).count:
            evidence = reports.Evidence(noise_errors=errors.count)
            if self._context.settings.strict_logs:
                evidence = strict.refuse_lines(report, errors, reports.NO_EVIDENCE)
            reports.attach(report, reports.masked(evidence, self._context.masks))

    def _errors(self) -> ErrorLines:
        from pytest_dvwiki.capture.simulations.noise import NO_ERRORS, error_lines  # noqa: PLC0415  # only after output

        text = self._output.rest()
        return NO_ERRORS if text is None else error_lines(text, self._context.interest)

    def _excerpts(self) -> tuple[Excerpt, ...]:
        text = self._output.rest()
        if text is None:
            return ()
        kept = reports.kept(text, self._context.interest)
        return (replace(kept, lines=without_progress(kept.lines)),)

    def _flush(self) -> None:
        """Flush the buffers of Python and of the simulator's C library."""
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        self._c_library.fflush(None)


def _expectation(item: pytest.Item, call: pytest.CallInfo[None]) -> tuple[Excerpt, ...]:
    """Return an excerpt with the expected and the raised type of exception; empty unless the two differ.

    cocotb logs this, but the report omits it.
    """
    marker = item.get_closest_marker("xfail") if call.when == "call" else None
    expected = marker.kwargs.get("raises") if marker is not None else None
    types = tuple(kind for kind in (expected if isinstance(expected, tuple) else (expected,)) if isinstance(kind, type))
    if not types or call.excinfo is None or isinstance(call.excinfo.value, types):
        return ()
    names = " or ".join(kind.__name__ for kind in types)
    sentence = f"{item.name} failed: errored with unexpected type: expected {names}, got {call.excinfo.typename}"
    return (Excerpt(source="run", lines=((1, sentence),)),)
