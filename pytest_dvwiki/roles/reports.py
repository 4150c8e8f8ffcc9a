"""Make failures from pytest's reports, and attach evidence to reports.

Evidence is an attribute of the report, converted to plain values when pytest sends the report from an xdist worker, or
cocotb from a simulator. It is not a user property, because user properties appear in every JUnit file.
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.capture.simulations.reproduce import STRICT, again, native
from pytest_dvwiki.checks import SUFFIX
from pytest_dvwiki.model import Command, Excerpt, Failure, Frame, Result, Simulator
from pytest_dvwiki.redact import redact
from pytest_dvwiki.roles.running import EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from pytest_dvwiki.capture.simulations.reproduce import Call
    from pytest_dvwiki.logtext.logs import LogText
    from pytest_dvwiki.masks import Masks
    from pytest_dvwiki.model import Interest, Phase, Source

_TEXT_LIMIT = 1 << 18
"""Maximum number of characters kept of a string from pytest."""
_LONGEST_WORD = 4096
_FIRST_WORD = re.compile(r"\A\S{1,4096}")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}-----|Private-MAC: \S*")
_LINE_LIMIT = 4096
_LINES_LIMIT = 400
_CAUSE = "\nThe above exception was the direct cause of the following exception:\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n"
_TIMEOUT = "SimTimeoutError"
_PHASES = frozenset({"setup", "call", "teardown"})
_WITHOUT_FILES = frozenset(
    {"cache", "capfd", "caplog", "capsys", "monkeypatch", "record_property", "recwarn", "request", "tmp_path", "tmpdir"}
)
"""Fixtures of pytest that read no file of the project."""
_CRASHED = "the xdist worker that ran the test crashed for an unknown reason"


class Simulated(Struct, frozen=True, gc=False):
    """What all simulations of an item have in common, if the item failed although they ended well."""

    simulator: str | None = None
    config: str | None = None
    seed: str | None = None
    reads: tuple[str, ...] = ()
    """The files that the simulations read, and the item's own file; empty if those of any simulation are unknown."""
    directed: bool = False
    """Whether it is known that no random number in any of the simulations depends on the seed."""
    unseeded: str = ""
    command: Command | None = None
    """Reruns the item with the seed; None without a seed."""


class Evidence(Struct, frozen=True, gc=False):
    """The evidence for an item, collected by the process that ran it."""

    failures: tuple[Failure, ...] = ()
    results: tuple[Result, ...] = ()
    """Results of cocotb tests inside the item, which are counted instead of the item's own result."""
    simulator: Simulator | None = None
    config: str | None = None
    """The build configuration as 12 hex digits."""
    reads: tuple[str, ...] = ()
    """Files read by the failed simulation of cocotb's own runner, by a test without one, or by a failed collection."""
    directed: bool = False
    """Whether it is known that no random number in the failed simulation of cocotb's own runner depends on the seed."""
    unseeded: str = ""
    """File that generates stimulus for the failed simulation of cocotb's own runner without using the seed."""
    simulated: Simulated | None = None
    """The simulations of an item that failed by itself; None for any other report."""
    excerpts: tuple[Excerpt, ...] = ()
    """Further excerpts, for the failure that `failure_of` makes from the report."""
    first_line: int | None = None
    """Line number in the simulator's output where a test of cocotb's own plugin started."""
    noise_errors: int = 0
    native_runner: bool = False
    """Whether the item is a runner of cocotb's own plugin."""
    frame: Frame | None = None
    """The innermost frame of the exception in the user's code."""
    text: str = ""
    """The exception as returned by `text_of`."""
    refused: str = ""
    """The first error line, if the test only failed because of strict logs; it replaces the exception."""
    sections_before: int = 0
    """Number of the report's sections from earlier attempts."""
    earlier: tuple[Failure, ...] = ()
    """Failures of earlier attempts that were in no report."""
    sources: tuple[tuple[str, str], ...] = ()
    """Displayed name and content hash of the files by which an ingest recognises the item's simulations.

    These are results files, and logs if the item failed or has no results files.
    """


NO_EVIDENCE = Evidence()
_recent: deque[tuple[pytest.TestReport | pytest.CollectReport, Evidence]] = deque(maxlen=4)
"""The last reports received from other processes, each with its evidence, which is thus converted only once."""


def attach(report: pytest.TestReport | pytest.CollectReport, evidence: Evidence) -> None:
    """Attach evidence to a report, for this process or to be serialised by pytest."""
    setattr(report, EVIDENCE, evidence)


def attached(report: pytest.TestReport | pytest.CollectReport) -> Evidence | None:
    """Return the evidence attached to a report; None if there is none."""
    plain: Evidence | Mapping[str, Any] | None = getattr(report, EVIDENCE, None)
    if plain is None or isinstance(plain, Evidence):
        return plain
    for known, evidence in _recent:
        if known is report:
            return evidence
    import msgspec  # noqa: PLC0415  # takes 48 ms; loaded only for a report with evidence

    evidence = msgspec.convert(plain, Evidence)
    _recent.appendleft((report, evidence))
    return evidence


def with_excerpts(evidence: Evidence, excerpts: Sequence[Excerpt]) -> Evidence:
    """Add excerpts to all failures in the evidence. Without failures, keep them for the one made from the report."""
    if not excerpts:
        return evidence
    bounded = tuple(replace(excerpt, lines=_bounded(excerpt.lines)) for excerpt in excerpts)
    return replace(
        evidence,
        failures=tuple(replace(failure, excerpts=(*failure.excerpts, *bounded)) for failure in evidence.failures),
        excerpts=evidence.excerpts if evidence.failures else (*evidence.excerpts, *bounded),
    )


def masked(evidence: Evidence, masks: Masks) -> Evidence:
    """Apply the masks of plugins to all texts in the evidence."""
    if not masks:
        return evidence
    return replace(
        evidence,
        failures=tuple(map(masks.failure, evidence.failures)),
        excerpts=tuple(map(masks.excerpt, evidence.excerpts)),
        frame=masks.frame(evidence.frame),
        text="\n".join(map(masks.text, evidence.text.split("\n"))),
        refused=masks.text(evidence.refused),
    )


def _bounded(lines: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Return lines from a hook, redacted and limited in number and length."""
    return tuple((number, redact(line[:_LINE_LIMIT])) for number, line in lines[:_LINES_LIMIT])


def shortened(text: str) -> str:
    """Return a string, reduced to its two ends if it is very long: an assertion may print a whole memory.

    The string is cut at spaces. The second part starts after any private key that the cut may have split, so that no
    part of a secret remains that cannot be recognised.
    """
    if len(text) <= _TEXT_LIMIT:
        return text
    head, tail = text[: _TEXT_LIMIT // 2], text[-_TEXT_LIMIT // 2 :]
    blank = max(head.rfind(" ", -_LONGEST_WORD), head.rfind("\n", -_LONGEST_WORD))
    head = head[:blank] if blank >= 0 else head
    key_end = _KEY_END.search(tail)
    tail = tail[key_end.end() :] if key_end and "-----BEGIN" not in tail[: key_end.start()] else tail
    return f"{head}\n… {len(text) - _TEXT_LIMIT} characters were left out …\n{_FIRST_WORD.sub('', tail)}"


def failure_of(
    report: pytest.TestReport | pytest.CollectReport,
    *,
    interest: Interest | None,
    call: Call,
    evidence: Evidence | None = None,
) -> Failure:
    """Make a failure from the report of a test, fixture, module or crashed worker whose evidence has no failure.

    Args:
        report: The failed report.
        interest: Selects the lines to keep of a long log.
        call: Command line of the session.
        evidence: The evidence attached to the report.
    """
    evidence = evidence or NO_EVIDENCE
    if evidence.refused:
        return _refused(report, evidence, call)
    phase: Phase = "collect" if isinstance(report, pytest.CollectReport) else _phase(report)
    message = _message(report)
    in_simulator = bool(getattr(report, "cocotb", False))
    seed = getattr(report, "random_seed", None)
    crashed = phase != "collect" and report.when not in _PHASES
    ran = evidence.simulated or Simulated()
    seed = ran.seed if seed is None else seed
    return Failure(
        nodeid=report.nodeid,
        phase=phase,
        outcome="failed" if phase == "call" else "error",
        exception=_exception_name(message),
        message=message,
        frame=evidence.frame or (_place_of_limit(report, message) if in_simulator else None),
        excerpts=(
            *_kept("report", evidence.text or redact(shortened(report.longreprtext)), interest),
            *evidence.excerpts,
            *(_sections(report, interest, evidence.sections_before) if not in_simulator else ()),
        ),
        in_simulator=in_simulator,
        ran_simulator=evidence.simulated is not None,
        seed=None if seed is None else str(seed),
        seeded=in_simulator or evidence.simulated is not None,
        directed=ran.directed,
        simulator=ran.simulator,
        config=ran.config,
        unseeded=ran.unseeded,
        sim_time=sim_time_of(report),
        duration_s=round(float(getattr(report, "duration", 0.0)), 3),
        reads=ran.reads if evidence.native_runner else ran.reads or evidence.reads,
        command=None if crashed else ran.command or _command(report, seed, call),
        unreproducible=_CRASHED if crashed else "",
    )


def _place_of_limit(report: pytest.TestReport | pytest.CollectReport, message: str) -> Frame | None:
    """Return where a cocotb test is defined if its own timeout ended it, which no line of code raises; else None."""
    location = report.location
    if _exception_name(message) != _TIMEOUT or location is None:
        return None
    file, line, name = location
    function = name.partition("[")[0].rpartition(".")[2]
    return Frame(file=redact(file), line=(line or 0) + 1, function=redact(function))


def _refused(report: pytest.TestReport | pytest.CollectReport, evidence: Evidence, call: Call) -> Failure:
    """Return the failure of a test that passed with error lines in its log."""
    seed = getattr(report, "random_seed", None)
    return Failure(
        nodeid=report.nodeid,
        message=evidence.refused,
        excerpts=evidence.excerpts,
        in_simulator=bool(getattr(report, "cocotb", False)),
        seed=None if seed is None else str(seed),
        seeded=bool(getattr(report, "cocotb", False)),
        sim_time=sim_time_of(report),
        duration_s=round(float(getattr(report, "duration", 0.0)), 3),
        command=_command(report, seed, call, strict=True),
        by_strict_logs=True,
    )


def text_of(
    excinfo: pytest.ExceptionInfo[BaseException], frame: Frame | None, report: pytest.TestReport | None = None
) -> str:
    """Return the text of a failure, independent of `--tb`: its location, then the chain of exceptions.

    Args:
        excinfo: The exception.
        frame: The innermost frame in the user's code.
        report: pytest's report, which usually has the exception's text already.
    """
    texts: list[str] = []
    error: BaseException | None = excinfo.value
    crash = getattr(report.longrepr, "reprcrash", None) if report is not None else None
    met: set[int] = set()
    while error is not None and id(error) not in met:
        message = crash.message if crash is not None and not met else _exception_text(error)
        met.add(id(error))
        text = shortened(message)
        texts.insert(0, "\n".join(f"E   {line}" for line in text.splitlines()))
        if error.__cause__ is not None:
            texts.insert(0, _CAUSE)
        elif error.__context__ is not None and not error.__suppress_context__:
            texts.insert(0, _CONTEXT)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if frame is not None:
        texts.insert(0, f"{frame.file}:{frame.line}: in {frame.function}\n>   {frame.source}")
    return redact("\n".join(texts))


def _exception_text(error: BaseException) -> str:
    return pytest.ExceptionInfo.from_exception(error).exconly(tryshort=True)


def frame_of(excinfo: pytest.ExceptionInfo[BaseException], root: Path) -> Frame | None:
    """Return the innermost frame of an exception in the user's code, whatever pytest shows of the traceback."""
    from pytest_dvwiki.logtext.frames import is_library  # noqa: PLC0415  # loaded only for failures

    # pytest's own traceback entries take ten times as long to make, and most of them are frames of pytest.
    own: list[tuple[str, int, str]] = []
    entry: TracebackType | None = excinfo.tb
    while entry is not None:
        code = entry.tb_frame.f_code
        if not is_library(code.co_filename):
            own.append((code.co_filename, entry.tb_lineno, code.co_name))
        entry = entry.tb_next
    innermost = _innermost(tuple(own), os.getcwd()) if own else None  # noqa: PTH109  # only a part of the cache's key
    if innermost is None:
        return None
    return _shown(innermost, linecache.getline(innermost.file, innermost.line), root)


def files_in(excinfo: pytest.ExceptionInfo[BaseException], root: Path) -> tuple[str, ...]:
    """Return the project's files in an exception's traceback and their imports, as in `Failure.reads`.

    For a module that could not be imported, the result also says that no HDL was read: the module ended before it could
    build a design.
    """
    from pytest_dvwiki.capture.simulations.builds import Setup  # noqa: PLC0415  # loaded only for failures
    from pytest_dvwiki.capture.simulations.reads import files_read  # noqa: PLC0415
    from pytest_dvwiki.records.sides import NO_HDL  # noqa: PLC0415

    files = map(os.path.abspath, _files_in_traceback(excinfo))
    reads = files_read(Setup(), files=files, modules=(), folder=str(root), root=root)
    return (NO_HDL, *reads) if reads and isinstance(excinfo.value, ImportError | SyntaxError) else reads


def files_of_plain_test(
    item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException], plugins: Iterable[str], root: Path
) -> tuple[str, ...]:
    """Return the project's files that a failed test without child processes read, as in `Failure.reads`.

    The result is empty if the test may have read other files, for example through a fixture.

    Args:
        item: The test.
        excinfo: The exception that ended the test.
        plugins: The files of the project's pytest plugins, such as conftest.py, whose hooks run in each test.
        root: Root of the project.
    """
    from pytest_dvwiki.capture.simulations.reads import files_read_without_simulation  # noqa: PLC0415

    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if not {*getattr(item, "fixturenames", ("",))} <= {*_WITHOUT_FILES, *parameters}:
        return ()
    return files_read_without_simulation((*_files_in_traceback(excinfo), *plugins), root)


def _files_in_traceback(excinfo: pytest.ExceptionInfo[BaseException]) -> dict[str, None]:
    """Return the names of the files in a traceback, as the keys of a dictionary."""
    # Where Python stopped: a file with a syntax error, or the module that lacks a name.
    found = [getattr(excinfo.value, name, None) for name in ("filename", "path")]
    entry: TracebackType | None = excinfo.tb
    while entry is not None:
        found.append(entry.tb_frame.f_code.co_filename)
        entry = entry.tb_next
    return dict.fromkeys(name for name in found if isinstance(name, str) and not name.startswith("<"))


@functools.lru_cache(maxsize=256)
def _shown(frame: Frame, source: str, root: Path) -> Frame:
    """Return a frame as it is recorded, with a relative path and without secrets.

    The result is cached, because most failures of a run are raised at a few lines.
    """
    from pytest_dvwiki.logtext.user_frames import shown_path  # noqa: PLC0415  # loaded only for failures

    shown = redact(shown_path(frame.file, root))
    return replace(frame, file=shown, source=redact(source.strip()), call=redact(frame.call))


@functools.lru_cache(maxsize=256)
def _innermost(frames: tuple[tuple[str, int, str], ...], folder: str) -> Frame | None:  # noqa: ARG001  # for the cache
    """Return the innermost frame in the user's code; None if there is none.

    The result is cached, because most failures of a run are raised at a few lines.

    Args:
        frames: File, line and function of each frame, innermost last.
        folder: The working folder, for relative files.
    """
    from pytest_dvwiki.logtext.frames import user_frame  # noqa: PLC0415  # loaded only for failures

    return user_frame(
        Frame(file=_absolute(file), line=line, function=function, source=linecache.getline(file, line).strip())
        for file, line, function in reversed(frames)
    )


def _absolute(file: str) -> str:
    """Return the absolute path of a code object's file; a name that is no file, such as a template's, is unchanged."""
    path = os.path.abspath(file)  # noqa: PTH100  # pathlib does not resolve `..`, and takes ten times as long
    return path if os.path.exists(path) else file  # noqa: PTH110  # as above


def _phase(report: pytest.TestReport) -> Phase:
    # xdist's report of a crashed worker has the phase "???".
    return report.when if report.when in _PHASES else "call"


def _message(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the exception's text."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return redact(shortened(str(crash.message)))
    lines = [line for line in shortened(report.longreprtext).splitlines() if line.strip()]
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return redact(errors[-1] if errors else lines[0] if lines else "")


def _exception_name(message: str) -> str | None:
    head = message.partition("\n")[0].partition(":")[0].strip()
    # Interned, because thousands of failures share a few names.
    return sys.intern(head.rpartition(".")[2]) if all(part.isidentifier() for part in head.split(".")) else None


def _sections(
    report: pytest.TestReport | pytest.CollectReport, interest: Interest | None, before: int
) -> Iterable[Excerpt]:
    """Yield the output captured by pytest in this attempt, including its earlier phases."""
    for header, content in report.sections[before:]:
        if header.startswith("Captured "):
            stream = header.split()[1]
            source: Source = "stdout" if stream == "stdout" else "stderr" if stream == "stderr" else "log"
            yield from _kept(source, content, interest)


def kept(text: LogText, interest: Interest | None) -> Excerpt:
    """Return the excerpt of a log: its beginning, the lines around those that `interest` finds, and its end."""
    from pytest_dvwiki.logtext.excerpts import excerpt  # noqa: PLC0415  # loaded only for failures
    from pytest_dvwiki.logtext.logs import LogStream  # noqa: PLC0415

    return excerpt(LogStream(text), interest, source=text.source)


def _kept(source: Source, text: str, interest: Interest | None) -> tuple[Excerpt, ...]:
    from pytest_dvwiki.logtext.logs import LogText  # noqa: PLC0415

    found = kept(LogText(source=source, text=text), interest)
    return (found,) if found.lines else ()


def sim_time_of(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """Return the simulation time at which a phase inside a simulator ended, with its unit."""
    stop: float | None = getattr(report, "sim_time_stop", None)
    return None if stop is None else f"{stop:.15g} {getattr(report, 'sim_time_unit', 'step')}"


def _command(
    report: pytest.TestReport | pytest.CollectReport, seed: object, call: Call, *, strict: bool = False
) -> Command:
    if report.nodeid.partition("::")[0].endswith(SUFFIX):
        return call.command(report.nodeid, {}, STRICT[:1])  # without `--dvwiki`, pytest collects no checks
    runner: str | None = getattr(report, "runner_nodeid", None)
    if runner is None:
        return again(call, report.nodeid, strict=strict)
    return native(call, report.nodeid, runner=runner, seed=seed, strict=strict)
