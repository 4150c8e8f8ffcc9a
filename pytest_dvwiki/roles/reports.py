"""Between pytest's reports and the project's nouns.

Evidence travels on the report itself, as an attribute of plain values: pytest's own serialisation carries it from an
xdist worker, and cocotb's from a simulator. Never as a user property, which every JUnit file would show.
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.model import Excerpt, Failure, Frame, Result, Simulator
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import Interest, Phase, Source

_ATTRIBUTE = "dvwiki"
_LINE_LIMIT = 4096
_LINES_LIMIT = 400
_LIBRARIES = ("site-packages", "dist-packages", "/_pytest/", "/pluggy/", "<")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the process that ran an item found out about it."""

    failures: tuple[Failure, ...] = ()
    results: tuple[Result, ...] = ()
    """cocotb tests inside the item; where there are any, they stand for it in the totals."""
    simulator: Simulator | None = None
    excerpts: tuple[Excerpt, ...] = ()
    """Further texts for the report's own failure."""
    first_line: int | None = None
    """Line of the simulator's output at which such a test began."""
    noise_errors: int = 0


def attach(report: pytest.TestReport | pytest.CollectReport, evidence: Evidence) -> None:
    """Lets a report carry evidence."""
    setattr(report, _ATTRIBUTE, asdict(evidence))


def attached(report: pytest.TestReport | pytest.CollectReport) -> Evidence | None:
    """The evidence that a report carries."""
    plain: Mapping[str, Any] | None = getattr(report, _ATTRIBUTE, None)
    if plain is None:
        return None
    import msgspec  # noqa: PLC0415  # 48 ms that only a run with evidence pays

    return msgspec.convert(plain, Evidence)


def with_excerpts(evidence: Evidence, excerpts: Sequence[Excerpt]) -> Evidence:
    """Adds texts to all failures of an evidence, or, where it has none, to the report's own."""
    if not excerpts:
        return evidence
    bounded = tuple(replace(excerpt, lines=_bounded(excerpt.lines)) for excerpt in excerpts)
    return replace(
        evidence,
        failures=tuple(replace(failure, excerpts=(*failure.excerpts, *bounded)) for failure in evidence.failures),
        excerpts=evidence.excerpts if evidence.failures else (*evidence.excerpts, *bounded),
    )


def _bounded(lines: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Lines from a hook, redacted and no more than are kept of any other text."""
    return tuple((number, redact(line[:_LINE_LIMIT])) for number, line in lines[:_LINES_LIMIT])


def failure_of(
    report: pytest.TestReport | pytest.CollectReport,
    *,
    root: Path,
    interest: Interest | None,
    excerpts: Sequence[Excerpt] = (),
    options: Sequence[str] = (),
) -> Failure:
    """Makes a failure of a report that stands for itself: a plain test, a fixture, a module, a crashed worker.

    Args:
        report: The failed report.
        root: Folder that paths are shown relative to.
        interest: Which lines of a long text to keep.
        excerpts: Texts that were found elsewhere; they come before the report's own sections.
        options: Words of the command line that a test of cocotb's own plugin needs to run again.
    """
    phase: Phase = "collect" if isinstance(report, pytest.CollectReport) else _phase(report)
    text = redact(report.longreprtext)
    message, frame = _crash(report, root)
    in_simulator = bool(getattr(report, "cocotb", False))
    seed = getattr(report, "random_seed", None)
    return Failure(
        nodeid=report.nodeid,
        phase=phase,
        outcome="failed" if phase == "call" else "error",
        exception=_exception_name(message),
        message=message,
        frame=frame,
        excerpts=(
            *_kept("report", text, interest),
            *excerpts,
            *(_sections(report, interest) if not in_simulator else ()),
        ),
        in_simulator=in_simulator,
        seed=None if seed is None else str(seed),
        sim_time=sim_time_of(report),
        duration_s=round(float(getattr(report, "duration", 0.0)), 3),
        reproduce=reproduce_command(report.nodeid, getattr(report, "runner_nodeid", None), seed, options),
    )


def _phase(report: pytest.TestReport) -> Phase:
    # The controller's report of a crashed xdist worker has "???".
    return report.when if report.when in {"setup", "call", "teardown"} else "call"


def _crash(report: pytest.TestReport | pytest.CollectReport, root: Path) -> tuple[str, Frame | None]:
    """The exception's text and the user's innermost frame."""
    longrepr = report.longrepr
    crash = getattr(longrepr, "reprcrash", None)
    if crash is None:
        lines = [line for line in report.longreprtext.splitlines() if line.strip()]
        errors = [line[1:].strip() for line in lines if line.startswith("E ")]
        return redact((errors or lines or [""])[-1 if errors else 0]), None
    entries = getattr(getattr(longrepr, "reprtraceback", None), "reprentries", ())
    for entry in reversed(entries):
        location = getattr(entry, "reprfileloc", None)
        if location is not None and not any(part in str(location.path) for part in _LIBRARIES):
            return redact(crash.message), Frame(
                file=shown_path(location.path, root),
                line=int(location.lineno),
                function=_function_of(entry, report),
                source=_source_of(entry),
            )
    return redact(crash.message), None


def _function_of(entry: object, report: pytest.TestReport | pytest.CollectReport) -> str:
    """Name of the function of a traceback entry; pytest shows it in the entry's own source only."""
    lines: Sequence[str] = getattr(entry, "lines", ())
    for line in lines:
        words = line.lstrip("> ").split()
        if words[:1] == ["def"] or words[:2] == ["async", "def"]:
            return words[words.index("def") + 1].partition("(")[0]
    return report.nodeid.rpartition("::")[2].partition("[")[0]


def _source_of(entry: object) -> str:
    """The source line that a traceback entry marks."""
    marked = (line for line in getattr(entry, "lines", ()) if line.startswith(">"))
    return redact(next(marked, ">")[1:].strip())


def _exception_name(message: str) -> str | None:
    head = message.partition("\n")[0].partition(":")[0].strip()
    return head.rpartition(".")[2] if head and all(part.isidentifier() for part in head.split(".")) else None


def _sections(report: pytest.TestReport | pytest.CollectReport, interest: Interest | None) -> Iterable[Excerpt]:
    """What pytest captured in the report's own phase; the sections of earlier phases repeat in later reports."""
    for header, content in report.sections:
        if header.startswith("Captured "):
            stream = header.split()[1]
            source: Source = "stdout" if stream == "stdout" else "stderr" if stream == "stderr" else "log"
            yield from _kept(source, content, interest)


def _kept(source: Source, text: str, interest: Interest | None) -> tuple[Excerpt, ...]:
    from pytest_dvwiki.capture.excerpts import excerpt  # noqa: PLC0415  # only failures pay for it
    from pytest_dvwiki.capture.logs import LogStream, LogText  # noqa: PLC0415

    kept = excerpt(LogStream(LogText(source=source, text=text)), interest, source=source)
    return (kept,) if kept.lines else ()


def sim_time_of(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """Simulation time at which a phase inside a simulator ended."""
    stop: float | None = getattr(report, "sim_time_stop", None)
    return None if stop is None else f"{stop:.15g} {getattr(report, 'sim_time_unit', 'step')}"


def reproduce_command(nodeid: str, runner: str | None, seed: object, options: Sequence[str]) -> str:
    """A command that runs one test again, with its seed.

    Args:
        nodeid: The test.
        runner: Node id of its runner, for a test of cocotb's own plugin.
        seed: The runner's seed.
        options: Words of the command line without which the plugin would not be there.
    """
    if runner is None:
        return shlex.join(["pytest", nodeid])
    # A node id would select the runner and none of its tests: in the simulator the same words name other items.
    keywords = f"{runner.rpartition('::')[2]} and {nodeid.rpartition('::')[2]}"
    command = shlex.join(["pytest", *options, runner.partition("::")[0], "-k", keywords])
    return command if seed is None else f"COCOTB_RANDOM_SEED={shlex.quote(str(seed))} {command}"


def options_of_cocotb(arguments: Sequence[str]) -> tuple[str, ...]:
    """Of a command line the words without which cocotb's own plugin would not be there, or not the same."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        plugin = next(words, "") if word == "-p" else word.removeprefix("-p") if word.startswith("-p") else None
        if plugin is not None:
            kept += [] if plugin.startswith("no:") else ["-p", plugin]
        elif word.startswith("--cocotb-") and not word.startswith("--cocotb-seed"):
            kept.append(word)
    return tuple(kept)


def shown_path(path: str | PurePath, root: Path) -> str:
    """A path relative to the root with `/`; one outside it keeps its last two parts."""
    pure = PurePath(path)
    if not pure.is_absolute():
        return pure.as_posix()
    if pure.is_relative_to(root):
        return pure.relative_to(root).as_posix()
    return PurePath(*pure.parts[-2:]).as_posix()
