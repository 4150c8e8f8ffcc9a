"""Matching of the results file with the log, for each cocotb test."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.logtext.user_frames import last_trace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.files.results import Case
    from pytest_dvwiki.capture.simulations.regression import LoggedTest
    from pytest_dvwiki.model import Outcome

    Pair = tuple[Case | None, LoggedTest | None]

_SIMULATION_ENDED = "SimFailure"
"""Exception of the test that was running when the simulation ended, and of all tests after it."""
_STOPPED_BY_LIMIT = "RegressionTerminated"
"""Exception of the tests that do not run because COCOTB_MAX_FAILURES is reached."""
_TRACEBACK = "Traceback (most recent call last):"
_NO_REASON = "cocotb 1.x writes no error into its results file, and the log is missing"
_FACTORY_NUMBER = re.compile(r"_\d{3}$")
"""Matches the number that a TestFactory appends to the names of its tests."""
_OLD_MESSAGE = re.compile(r"Test failed with (?:COCOTB_)?RANDOM_SEED=\d+$")
"""Matches the message that cocotb 1.9 writes instead of the error."""


class CocotbTest(Struct, frozen=True, kw_only=True):
    """One cocotb test of one run of a simulator."""

    name: str
    """The test's unique name under the pytest item; it includes the module only if there are several modules."""
    bare: str
    """The test's name in cocotb, without the module."""
    module: str
    outcome: Outcome
    exception: str | None = None
    message: str = ""
    case: Case | None = None
    block: LoggedTest | None = None
    started: bool = True
    """False if the simulation ended before the test began."""
    unfinished: bool = False
    """Whether the simulation ended while the test was running."""

    @property
    def function(self) -> str:
        """Return the name of the test's function, without parameters."""
        return _FACTORY_NUMBER.sub("", self.bare.partition("/")[0])

    @property
    def failed(self) -> bool:
        """Return whether the test failed or ended with an error."""
        return self.outcome in {"failed", "error"}

    @property
    def duration_s(self) -> float:
        """Return the duration of the test in seconds; 0 if the test is only in the log."""
        return self.case.duration_s if self.case is not None else 0.0

    @property
    def time(self) -> str | None:
        """Return the simulation time at the end of the test, such as '70.001 ns'."""
        case = self.case
        if case is not None and case.sim_time_stop and _nonzero(case.sim_time_stop):
            return f"{_plain(case.sim_time_stop)} {case.sim_time_unit}"
        return self.block.time if self.block is not None and self.started else None

    @property
    def entry(self) -> str:
        """Return the test's entry in the results file: `Type: message`, then the traceback.

        If the file is missing or has no error (cocotb 1.9), an equivalent entry is built from the log's lines under the
        verdict.
        """
        case = self.case
        message = "" if case is None or _OLD_MESSAGE.match(case.message) else case.message
        first = ": ".join(part for part in ((case.type if case is not None else None) or "", message) if part)
        text = case.text.strip("\n") if case is not None else ""
        if not (first or text) and self.block is not None:
            text = _logged_trace(self.block.traceback)
            known = ": ".join(part for part in (self.exception or "", self.message) if part)
            first = known if text else self.block.note
        return "\n".join(part for part in (first, text) if part)


def join_tests(
    cases: Sequence[Case] | None, blocks: Sequence[LoggedTest], *, modules: Collection[str], root: Path
) -> list[CocotbTest]:
    """Return the tests of a simulation: those in its results file or, without a file (`cases` is None), in its log."""
    pairs = list(_matched(cases, blocks)) if cases is not None else [(None, block) for block in blocks]
    several = len(set(modules) or {_names(*pair)[0] for pair in pairs} - {""}) > 1
    taken: set[str] = set()
    return _mark_not_started([_test(*pair, several=several, taken=taken, root=root) for pair in pairs])


def unique_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number appended if it is taken, and add the result to `taken`."""
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name}#{number}", number + 1
    taken.add(unique)
    return unique


def _matched(cases: Iterable[Case], blocks: Iterable[LoggedTest]) -> Iterator[Pair]:
    """Yield each test of the results file with the next test of the same name in the log, or with None."""
    waiting: dict[str, deque[LoggedTest]] = defaultdict(deque)
    for block in blocks:
        waiting[block.name].append(block)
    for case in cases:
        found = waiting.get(case.fullname) or waiting.get(case.name)
        yield case, found.popleft() if found else None


def _test(case: Case | None, block: LoggedTest | None, *, several: bool, taken: set[str], root: Path) -> CocotbTest:
    module, bare = _names(case, block)
    texts = [case.text if case is not None else "", block.traceback if block is not None else ""]
    trace = next((found for text in texts if text and (found := last_trace(text, root))), None)
    message_of_case = case.message if case is not None and not _OLD_MESSAGE.match(case.message) else ""
    test = CocotbTest(
        name=unique_name(f"{module}.{bare}" if several and module else bare, taken),
        bare=bare,
        module=module,
        outcome=case.status if case is not None else _judged(block),
        case=case,
        block=block,
        unfinished=block is not None and block.judgement is None and is_silent(case),
    )
    if not test.failed:
        return test
    exception = (case.type if case is not None else None) or (trace.exception if trace is not None else None)
    note = block.note if block is not None else ""
    no_reason = _NO_REASON if case is not None and block is None and is_silent(case) else ""
    message = message_of_case or (trace.message if trace is not None else "") or note or no_reason
    return replace(test, exception=exception, message=message)


def _mark_not_started(tests: list[CocotbTest]) -> list[CocotbTest]:
    """Return the tests, with `started` and `unfinished` set for those that the end of the simulation affected.

    These are the test that was running when the simulation ended, and the tests that never began.
    """
    ended = [test for test in tests if test.failed and test.exception == _SIMULATION_ENDED]
    began = (
        [test for test in ended if test.block is not None and test.block.began]
        or [test for test in ended if test.case is not None and _nonzero(test.case.sim_time_stop)]
        or ended[:1]
    )
    running = {test.name for test in began[:1]}
    running |= {test.name for test in tests if test.unfinished}
    marked = {test.name for test in ended} | {test.name for test in tests if test.exception == _STOPPED_BY_LIMIT}
    # cocotb 1.9 writes no exception: a failed test that is not in the log never began if another test was cut off.
    marked |= {test.name for test in tests if test.failed and test.block is None and is_silent(test.case) and running}
    return [
        replace(test, started=test.name in running, unfinished=test.name in running) if test.name in marked else test
        for test in tests
    ]


def _logged_trace(text: str) -> str:
    """Return the traceback in the lines under a verdict, without their indentation."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if _TRACEBACK in line), None)
    if start is None:
        return ""
    indent = len(lines[start]) - len(lines[start].lstrip(" "))
    kept = takewhile(lambda line: not line[:indent].strip(), lines[start:])
    return "\n".join(line[indent:] for line in kept).rstrip()


def is_silent(case: Case | None) -> bool:
    """Return whether a test's error is in no results file, because the file is missing or was written by cocotb 1.9."""
    return case is None or _OLD_MESSAGE.match(case.message) is not None


def _judged(block: LoggedTest | None) -> Outcome:
    return "failed" if block is None or block.judgement is None else block.judgement


def _names(case: Case | None, block: LoggedTest | None) -> tuple[str, str]:
    """Return the module of a test, and the test's name without the module."""
    if case is not None or block is None:
        return (case.classname, case.name) if case is not None else ("", "")
    # The values of a parametrised test may hold dots: `mod.test/x=1.5`.
    module = block.name.partition("/")[0].rpartition(".")[0]
    return module, block.name[len(module) :].removeprefix(".")


def _nonzero(value: str | None) -> bool:
    try:
        return value is not None and float(value) > 0
    except ValueError:
        return False


def _plain(value: str) -> str:
    """Return a number without trailing zeros and rounding noise."""
    text = f"{float(value):.6f}"
    return text.rstrip("0").rstrip(".")
