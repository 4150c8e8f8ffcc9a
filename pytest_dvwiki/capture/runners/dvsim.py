"""dvsim: the JSON report of a block, with the seeds and logs of the tests that failed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files.results import CASE_LIMIT, Case, ResultsError, ResultsFile
from pytest_dvwiki.capture.runners import Runner
from pytest_dvwiki.model import Simulator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HEAD = re.compile(rb'\s*\{\s*"block":\s*\{\s*"name":')
_PASSED = re.compile(r"\d{1,6}\.(\S{1,200})\.(\d{1,100})")
_WORD = re.compile(r"[\w.-]{1,80}")
_CALLED_WITH = re.compile(rb" seed=(\d+)")
"""Matches the seed in the command that dvsim writes at the start of a log."""
_BEGINNING = 1 << 16
_DEPTH = 8
"""Maximum number of trailing path components that are used to look for a log near the report."""
_UNKNOWN = "unknown"
_NO_REASON = "dvsim counts it as failed and gives no reason"
_AGAIN = "have dvsim write it again"


class _Block(msgspec.Struct):
    name: str
    variant: str | None = None


class _Tool(msgspec.Struct):
    name: str
    version: str = _UNKNOWN


class _Counts(msgspec.Struct):
    passed: int
    total: int


class _Testpoint(msgspec.Struct):
    tests: dict[str, _Counts]


class _Stage(msgspec.Struct):
    testpoints: dict[str, _Testpoint]


class _Failed(msgspec.Struct):
    name: str
    seed: int | None
    log_path: str | None = None
    log_context: list[str] = []


class _Buckets(msgspec.Struct):
    buckets: dict[str, list[_Failed]]


class _Report(msgspec.Struct):
    block: _Block
    tool: _Tool
    timestamp: str
    stages: dict[str, _Stage]
    failed_jobs: _Buckets = msgspec.field(default_factory=lambda: _Buckets({}))
    testplan_ref: str | None = None


_REPORT = msgspec.json.Decoder(_Report)


def _read(path: Path) -> ResultsFile:
    try:
        report = _REPORT.decode(reading.read_bytes(path))
    except OSError as error:
        raise ResultsError(path, reading.reason(error)) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ResultsError(path, f"not a report of dvsim: {error}; {_AGAIN}") from error
    # A test is listed under each testpoint that it is mapped to, with the same numbers.
    tests = {
        name: counts
        for stage in report.stages.values()
        for point in stage.testpoints.values()
        for name, counts in point.tests.items()
    }
    if sum(counts.total for counts in tests.values()) > CASE_LIMIT:
        raise ResultsError(path, f"more than {CASE_LIMIT} tests; run dvsim on fewer of them, and ingest each report")
    name, version = report.tool.name, report.tool.version
    known = version if _WORD.fullmatch(version) and version != _UNKNOWN else None
    folder, configuration = _configuration(path, report)
    return ResultsFile(
        cases=tuple(_cases(path, report, tests, configuration)),
        folder=folder,
        timestamp=report.timestamp,
        simulator=Simulator(name=name, version=known) if _WORD.fullmatch(name) else None,
        repeats=True,
    )


def _cases(path: Path, report: _Report, tests: dict[str, _Counts], configuration: str | None) -> Iterator[Case]:
    block = _block(report)
    failed: Counter[str] = Counter()
    for message, jobs in report.failed_jobs.buckets.items():
        for job in jobs:
            failed[job.name] += 1
            seed = str(job.seed) if job.seed is not None else None
            is_test = job.name in tests
            again: tuple[str, ...] = ()
            if configuration and seed and is_test:
                again = ("dvsim", configuration, "-i", job.name, "--fixed-seed", seed, "--tool", report.tool.name)
            yield Case(
                # Any other job builds what the tests of the block run.
                name=job.name if is_test else "",
                classname=block,
                status="failed",
                message=message,
                text="".join(job.log_context),
                seed=seed,
                attachments=_log(path, job.log_path or "", seed),
                command=again,
            )
    seeds = _seeds_of_passes(path, report)
    for name, counts in tests.items():
        known = seeds.get(name, [])
        passed = known if len(known) == counts.passed else [None] * counts.passed
        yield from (Case(name=name, classname=block, seed=seed) for seed in passed)
        for _ in range(counts.total - counts.passed - failed[name]):
            yield Case(name=name, classname=block, status="failed", message=_NO_REASON)


def _block(report: _Report) -> str:
    """Return the name of the block with its variant, as used in file names."""
    return "_".join(filter(None, (report.block.name, report.block.variant)))


def _seeds_of_passes(path: Path, report: _Report) -> dict[str, list[str | None]]:
    """Return the seeds of the passed tests, from the links that dvsim creates for them near its reports."""
    name = f"{_block(report)}-sim-{report.tool.name}"
    found: dict[str, list[str | None]] = {}
    if not _WORD.fullmatch(name):
        return found
    try:
        written = path.stat().st_mtime
        links = (path.parent.parent / name / "passed").iterdir()
        # Newer links belong to a run that has not written its report.
        names = sorted(link.name for link in links if link.lstat().st_mtime <= written)
    except OSError:
        return found
    for match in filter(None, map(_PASSED.fullmatch, names)):
        found.setdefault(match[1], []).append(match[2])
    return found


def _log(path: Path, log: str, seed: str | None) -> tuple[str, ...]:
    """Return a tuple with the path of a job's log relative to the report; log and report may have been moved together.

    The tuple is empty if there is no log, or if the log of a later run with another seed has replaced it.
    """
    parts = log.split("/")[-_DEPTH:]
    for count in range(len(parts) if ".." not in parts else 0, 1, -1):
        near = "/".join(("..", *parts[-count:]))
        try:
            with reading.open_regular(path.parent / near) as stream:
                shown = _CALLED_WITH.findall(stream.read(_BEGINNING))
        except OSError:
            continue
        return () if (seed and shown and seed.encode() not in shown) else (near,)
    return ()


def _configuration(path: Path, report: _Report) -> tuple[Path | None, str | None]:
    """Return the project's folder, and the relative path of the block's configuration; None for both if not found."""
    plan = PurePosixPath(report.testplan_ref or "")
    file = plan.parents[1] / "dv" / f"{report.block.name}_sim_cfg.hjson" if len(plan.parts) > 2 else None  # noqa: PLR2004
    if file is None or file.is_absolute() or ".." in file.parts:
        return None, None
    folder = next((folder for folder in path.parents if (folder / file).is_file()), None)
    return folder, str(file) if folder else None


RUNNER = Runner(
    recognises=lambda name, head: name.endswith(".json") and _HEAD.match(head) is not None,
    read=_read,
    logs=("../*/*/*/*.log", "../*/*/*.log"),
)
