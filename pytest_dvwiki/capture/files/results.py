"""Reader of results files: JUnit XML of cocotb (1.9, 2.x, its native plugin) and of other tools.

The file is untrusted and may be huge or truncated. It is read as parser events, without a tree: only the attributes
of each test, and the head and tail of its failure text, are kept in memory.
"""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from pytest_dvwiki.capture.files.xml_events import FileError, UnfitError, read_events

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import Simulator

Status = Literal["passed", "failed", "error", "skipped", "xfailed"]

CASE_LIMIT = 200_000
"""Maximum number of tests in one file."""
_NAME_LIMIT = 1024
_MESSAGE_LIMIT = 8192
_TEXT_LIMIT = 32_768
_FULL_TEXTS = 500
_SHORT_TEXT_LIMIT = 2048
_CUT = "\n[…]\n"

_EXCEPTION_PREFIX = re.compile(r"(?:[A-Za-z_]\w*\.)*([A-Z]\w*)(?:: |$)")
_LINE_NUMBER = re.compile(r"[0-9]{1,9}")
_SEED = re.compile(r"Test failed with (?:COCOTB_)?RANDOM_SEED=([0-9]{1,20})$")
"""Matches the message of a failure in the results of cocotb 1.x, which contains the seed."""
_ROOT = "cocotb tests"
"""The name of the root element in a file written by cocotb 2.1."""
_SUITE = {"name": "all", "package": "all"}
"""Attributes of the only suite in a file written by cocotb before 2.1."""
_ATTRIBUTES = frozenset({"ratio_time", "sim_time_ns", "error_type", "error_msg"})
"""Attributes of tests and their failures that only cocotb writes."""
_RUN_ID = re.compile(r"run[_ -]?id", re.IGNORECASE)
_STATUS_OF: dict[str, Status] = {"failure": "failed", "error": "error", "skipped": "skipped"}
_EARLIER: dict[str, Literal["failed", "error"]] = {"flakyFailure": "failed", "flakyError": "error"}
"""Elements for failed attempts at a test that finally passed, as Surefire and others write them."""
_OUTPUT = "system-out"
_WITH_TEXT = frozenset({*_STATUS_OF, *_EARLIER, "stackTrace", _OUTPUT})


class ResultsError(FileError):
    """A results file that cannot be used."""


class EmptyResultsError(ResultsError):
    """An empty results file: the run ended before it wrote its results."""


class Case(Struct, frozen=True, kw_only=True):
    """One test of a results file."""

    name: str
    classname: str = ""
    status: Status = "passed"
    type: str | None = None
    """Name of the exception, without its module; None if the file does not contain it."""
    message: str = ""
    text: str = ""
    """Traceback, as in the file."""
    seed: str | None = None
    sim_time_stop: str | None = None
    sim_time_unit: str = "ns"
    file: str | None = None
    line: int | None = None
    duration_s: float = 0.0
    attachments: tuple[str, ...] = ()
    runner: str | None = None
    """Node id of the item that ran the simulator; None unless cocotb's own pytest plugin wrote the file."""
    package: str | None = None
    """The suite's `package`; under cocotb-test it may be the node id of the item."""
    output: str = ""
    """What the test printed; empty if the file does not contain it or the caller did not ask for it."""
    earlier: tuple[Case, ...] = ()
    """Attempts that failed before the test passed."""
    command: tuple[str, ...] = ()
    """Command line that reruns the test; empty if unknown."""
    of_cocotb: bool = False
    """Whether any attribute or property shows that cocotb ran the test."""

    @property
    def fullname(self) -> str:
        """Return the name with its module in front, as cocotb 2 logs it."""
        return f"{self.classname}.{self.name}" if self.classname else self.name


class ResultsFile(Struct, frozen=True, kw_only=True):
    """The tests of a results file, in the order of the file."""

    cases: tuple[Case, ...]
    timestamp: str | None = None
    """Time of the first suite, as in the file."""
    run_id: str | None = None
    """Id of the run, from a property in the file; None without this property."""
    simulator: Simulator | None = None
    """Simulator of all tests; None if the runner did not record it."""
    folder: Path | None = None
    """Working directory for the commands that rerun the tests; None if unknown."""
    repeats: bool = False
    """Whether entries with the same name are runs of one test with different seeds."""


def read_results(path: Path, *, outputs: bool = False) -> ResultsFile:
    """Read a results file; with `outputs`, also what the tests printed (`system-out`), truncated like tracebacks.

    Raises:
        ResultsError: The file is missing, empty (`EmptyResultsError`), too large, broken, or declares entities.
    """
    reader = _CaseReader(outputs=outputs)
    with suppress(OSError):
        # An OSError here occurs again in `read_events`, which reports it.
        if path.is_file() and path.stat().st_size == 0:
            raise EmptyResultsError(
                path, "the file is empty; see the log of the simulation that should have written it"
            )
    read_events(path, reader, ResultsError)
    return ResultsFile(cases=tuple(reader.cases), timestamp=reader.timestamp, run_id=reader.run_id)


class _Text:
    """Collects the pieces of a string, and keeps only its head and tail."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head: list[str] = []
        self._room = self._half
        self._tail: deque[str] = deque()
        self._held = 0
        self._cut = False

    def add(self, piece: str) -> None:
        if self._room:
            self._head.append(piece[: self._room])
            piece, self._room = piece[self._room :], max(0, self._room - len(piece))
        if piece:
            self._tail.append(piece)
            self._held += len(piece)
            while self._held - len(self._tail[0]) >= self._half:
                self._held -= len(self._tail.popleft())
                self._cut = True

    def __str__(self) -> str:
        tail = "".join(self._tail)
        cut = self._cut or len(tail) > self._half
        return "".join(self._head) + (_CUT + tail[-self._half :] if cut else tail)


def _shorten(text: str, limit: int) -> str:
    collected = _Text(limit)
    collected.add(text)
    return str(collected)


class _OpenCase(Struct):
    """A test while its `testcase` element is being read."""

    attributes: dict[str, str]
    properties: dict[str, str] = field(default_factory=dict)
    attachments: list[str] = field(default_factory=list)
    status: Status = "passed"
    type: str | None = None
    message: str = ""
    text: _Text | None = None
    output: _Text | None = None
    of_cocotb: bool = False
    earlier: list[_OpenCase] = field(default_factory=list)


class _CaseReader:
    """Parser listener that makes a Case from each `testcase` element."""

    def __init__(self, *, outputs: bool) -> None:
        self._outputs = outputs
        self.cases: list[Case] = []
        self.timestamp: str | None = None
        self.run_id: str | None = None
        self._stack: list[str] = []
        self._suite: dict[str, str] = {}
        self._package: str | None = None
        self._of_cocotb = False
        self._case: _OpenCase | None = None
        self._collect: _Text | None = None
        self._texts = 0
        self._names: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        if not self._stack and tag not in {"testsuites", "testsuite"}:
            raise UnfitError(f"not a results file: its root is <{tag[:80]}>; pass the file that the run wrote")
        self._stack.append(tag)
        if tag in {"testsuites", "testsuite"}:
            self.timestamp = self.timestamp or attributes.get("timestamp")
            self._of_cocotb |= attributes.get("name") == _ROOT or _SUITE.items() <= attributes.items()
        if tag == "testsuite":
            self._suite = {}
            self._package = self._shared(attributes.get("package", "")) or None
        elif tag == "testcase":
            self._case = _OpenCase(attributes, of_cocotb=self._of_cocotb or not _ATTRIBUTES.isdisjoint(attributes))
        elif tag == "property":
            self._property(attributes.get("name", ""), attributes.get("value", ""))
        elif tag in _STATUS_OF and self._case is not None and self._stack[-2] == "testcase":
            self._judge(self._case, _STATUS_OF[tag], attributes)
        elif tag in _EARLIER and self._case is not None:
            self._case.earlier.append(_OpenCase(self._case.attributes, self._case.properties))
            self._judge(self._case.earlier[-1], _EARLIER[tag], attributes)
        elif tag == _OUTPUT and self._outputs and self._case is not None and self._stack[-2] == "testcase":
            self._collect = self._case.output = _Text(self._room())

    def _room(self) -> int:
        """Return the maximum length of the next traceback or output; it drops after many tracebacks and outputs."""
        self._texts += 1
        return _TEXT_LIMIT if self._texts <= _FULL_TEXTS else _SHORT_TEXT_LIMIT

    def _property(self, name: str, value: str) -> None:
        value = _shorten(value, _NAME_LIMIT)
        if self._case is None:
            self._suite[name] = value
            if _RUN_ID.fullmatch(name):
                self.run_id = self.run_id or value or None
        elif name == "attachment":
            self._case.attachments.append(value)
        else:
            self._case.properties[name] = value

    def _judge(self, case: _OpenCase, status: Status, attributes: dict[str, str]) -> None:
        if case.status != "passed":
            return  # the first result counts, so that an error at teardown does not hide the failure
        case.status = status
        case.of_cocotb |= not _ATTRIBUTES.isdisjoint(attributes)
        # cocotb 2.0 has its own names for the attributes `type` and `message`.
        case.type = attributes.get("type") or attributes.get("error_type")
        if case.type == "pytest.xfail":
            case.status = "xfailed"
        message = attributes.get("message") or attributes.get("error_msg") or attributes.get("msg", "")
        case.message = _shorten(message, _MESSAGE_LIMIT)
        self._collect = case.text = _Text(self._room())

    def characters(self, data: str) -> None:
        """Collect a piece of a failure's text or of a test's output."""
        if self._collect is not None and self._stack[-1] in _WITH_TEXT:
            self._collect.add(data)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        self._stack.pop()
        if tag in _WITH_TEXT:
            self._collect = None
        elif tag == "testcase" and self._case is not None:
            if len(self.cases) >= CASE_LIMIT:
                raise UnfitError(f"more than {CASE_LIMIT} tests; split the file")
            self.cases.append(self._finish(self._case))
            self._case = None

    def _finish(self, case: _OpenCase) -> Case:
        attributes, properties = case.attributes, case.properties
        kind, message = case.type, case.message
        failed_with = _SEED.match(message)
        seed = properties.get("random_seed") or self._suite.get("random_seed") or (failed_with and failed_with[1])
        if kind is None and case.status in {"failed", "error"} and "file" in properties:
            kind, message = _split_native(message)
        return Case(
            name=_shorten(attributes.get("name", ""), _NAME_LIMIT),
            classname=self._shared(attributes.get("classname", "")),
            status=case.status,
            type=kind.rpartition(".")[2][:_NAME_LIMIT] if kind else None,
            message=message,
            text=str(case.text or ""),
            seed=seed,
            sim_time_stop=properties.get("sim_time_stop"),
            sim_time_unit=properties.get("sim_time_unit", "ns"),
            file=self._shared(properties.get("file") or attributes.get("file") or "") or None,
            line=_line_number(attributes, properties),
            duration_s=_seconds(attributes.get("time")),
            attachments=tuple(case.attachments),
            runner=self._shared(properties.get("runner_nodeid", "")) or None,
            package=self._package,
            output=str(case.output or ""),
            of_cocotb=case.of_cocotb or "cocotb" in properties or seed is not None or "sim_time_duration" in properties,
            earlier=tuple(map(self._finish, case.earlier)) if case.status == "passed" else (),
        )

    def _shared(self, name: str) -> str:
        """Intern a name, because many tests share it."""
        name = _shorten(name, _NAME_LIMIT)
        return self._names.setdefault(name, name)


def _split_native(message: str) -> tuple[str | None, str]:
    """Split pytest's message `AssertionError: text` into the exception's name and the text."""
    found = _EXCEPTION_PREFIX.match(message.partition("\n")[0])
    if found is None:
        return None, message
    return found[1], message[found.end() :]


def _line_number(attributes: dict[str, str], properties: dict[str, str]) -> int | None:
    value = properties.get("line") or attributes.get("lineno") or attributes.get("line") or ""
    if not _LINE_NUMBER.fullmatch(value):
        return None
    # Only cocotb's native plugin counts lines from 0.
    return int(value) + ("runner_nodeid" in properties)


def _seconds(value: str | None) -> float:
    """Return a duration in seconds; 0 if it is missing, not a number, or out of range."""
    try:
        seconds = float((value or "0").replace(",", ""))
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < 1e9 else 0.0  # noqa: PLR2004  # about thirty years
