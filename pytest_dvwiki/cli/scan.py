"""`dvwiki scan`: reads logs of any size once and reports the failures in them."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import shutil
import sys
import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.classify import classifier_of
from pytest_dvwiki.cli.farm import add_farm, check_farm, farm_of
from pytest_dvwiki.cli.output import LINE_START
from pytest_dvwiki.cli.patterns.active import add_sources
from pytest_dvwiki.model.sentences import count, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.capture.files.sources import Source
    from pytest_dvwiki.pipeline.scan import ScannedFile, ScannedLog
    from pytest_dvwiki.triage.texts.reading import Sighting

EXIT_UNREADABLE = 1
EXIT_FAILED = 3
_SHOWN = 20
"""Maximum number of causes in the table without `-v`."""
_WIDEST = 160
_INDENT = " " * 6
_SLOWEST = "python"
_LARGE = 50_000_000
"""If the slowest engine reads more bytes than this, a remark suggests a faster engine."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="logs, compressed logs (.gz, .bz2, .xz, .zst), folders, archives (.tar, .tar.gz, .tar.xz, .tar.zst, "
        ".zip), globs, URLs (s3, gs, http, …); in folders and archives only files named like logs are read: *.log, "
        "*.transcript, transcript",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help=f"show all causes instead of the first {_SHOWN}, and the search engine in use",
    )
    add_farm(parser)
    parser.add_argument(
        "--exit-code", action="store_true", help=f"exit with status {EXIT_FAILED} if a log shows a failure"
    )
    parser.add_argument("--ingest", action="store_true", help="archive the logs afterwards, as `dvwiki ingest` does")
    parser.add_argument("--task", metavar="NAME", help="name of the regression, for --ingest")
    add_sources(parser)


class _Cause(Struct):
    """One cause across all logs."""

    first: Sighting
    name: str
    """Name of the first log with this cause."""
    hits: int = 0
    logs: int = 0
    failed: int = 0
    """Number of logs with this first cause."""


class _ScannedLogs(Struct):
    engine: str
    """Name of the search engine."""
    logs: list[ScannedLog] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, file: ScannedFile) -> None:
        self.logs += file.logs
        self.problems += file.problems

    @property
    def size(self) -> int:
        return sum(log.size for log in self.logs)

    @property
    def failed(self) -> int:
        return sum(log.reading.verdict is not None for log in self.logs)


def run(args: argparse.Namespace) -> int:
    """Read the logs, and print what failed.

    Returns:
        1 if a file could not be read; else the status of `--ingest`, if not 0; else 3 with `--exit-code` if a log shows
        a failure.
    """
    if args.task and not args.ingest:
        raise UsageError("--task is the name of the run for --ingest; add --ingest")
    check_farm(args)
    from pytest_dvwiki.capture.files.sources import find_sources  # noqa: PLC0415

    engine = check_engine()
    found = find_sources(args.paths)
    scan = _read_all(found.files, args, engine)
    scan.problems[:0] = found.problems
    for problem in scan.problems:
        print(f"dvwiki scan: {problem}", file=sys.stderr)
    print(_as_json(scan) if args.format == "json" else _as_text(scan, verbose=args.verbose))
    status = 0
    if args.ingest:
        status = _ingest(args)
    if scan.problems:
        return EXIT_UNREADABLE
    return status or (EXIT_FAILED if args.exit_code and scan.failed else 0)


def check_engine() -> str:
    """Return the name of the engine that searches large logs."""
    from pytest_dvwiki.patterns.engines import VARIABLE, EngineError, load  # noqa: PLC0415

    try:
        return load(("error",)).name
    except EngineError as error:
        raise UsageError(f"{VARIABLE}: {error}") from error


def _ingest(args: argparse.Namespace) -> int:
    from pytest_dvwiki.cli import ingest  # noqa: PLC0415

    parser = argparse.ArgumentParser()
    ingest.add_arguments(parser)
    options = argparse.Namespace(**vars(parser.parse_args([])) | vars(args))
    # With JSON output, what --ingest reports goes to standard error, so that standard output stays valid JSON.
    if args.format == "text":
        print()
        return ingest.run(options)
    with contextlib.redirect_stdout(sys.stderr):
        return ingest.run(options)


# Reading


def _read_all(sources: Sequence[Source], args: argparse.Namespace, engine: str) -> _ScannedLogs:
    from pytest_dvwiki.pipeline.scan import scan_file, scan_files  # noqa: PLC0415

    scan = _ScannedLogs(engine)
    size = sum(source.size for source in sources)
    bar = _Bar(size)
    classifier = classifier_of(args)
    farm = farm_of(args, files=len(sources), size=size)
    if farm.is_here:
        for source in sources:
            bar.start(source)
            scan.add(scan_file(source, classifier, bar.at))
    else:
        results = scan_files(sources, functools.partial(type(classifier), classifier.registry), farm)
        for source, result in zip(sources, results, strict=True):
            bar.start(source)
            bar.at(source.size)
            scan.add(result)
    bar.clear()
    return scan


class _Bar:
    """A progress bar on standard error, if that is a terminal."""

    def __init__(self, total: int) -> None:
        self._total = max(1, total)
        self._before = 0
        self._source: Source | None = None
        self._shown = sys.stderr.isatty()
        self._next = 0.0

    def start(self, source: Source) -> None:
        """Start the next file."""
        self._before += self._source.size if self._source is not None else 0
        self._source = source

    def at(self, position: int) -> None:
        """Show the number of bytes read from the file."""
        if not self._shown or self._source is None or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 0.1
        done = min(1.0, (self._before + position) / self._total)
        width = 30
        bar = "#" * int(done * width)
        text = f"[{bar:{width}}] {done:4.0%} of {_bytes(self._total)}  {self._source.shown}"
        columns = shutil.get_terminal_size().columns
        print(f"{LINE_START}{text[: columns - 1]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Erase the progress line."""
        if self._shown:
            print(LINE_START, end="", file=sys.stderr, flush=True)


# Printing


def _causes(scan: _ScannedLogs) -> list[_Cause]:
    """Return the causes of all logs, sorted by the number of failed logs, then by the number of messages."""
    causes: dict[str, _Cause] = {}
    for log in scan.logs:
        for place, sighting in enumerate(log.reading.causes):
            cause = causes.setdefault(sighting.fingerprint, _Cause(sighting, log.name))
            cause.hits += sighting.hits
            cause.logs += 1
            cause.failed += place == 0
    return sorted(causes.values(), key=lambda cause: (-cause.failed, -cause.hits))


def _as_json(scan: _ScannedLogs) -> str:
    from pytest_dvwiki.triage.texts.reading import details  # noqa: PLC0415

    return json.dumps(
        {
            "logs": [
                {
                    "file": log.name,
                    "bytes": log.size,
                    "lines": log.reading.lines,
                    **details(log.reading.verdict),
                    "causes": [
                        {"hits": sighting.hits, "line": sighting.line, **_named(sighting)}
                        for sighting in log.reading.causes
                    ],
                    "left_out": log.reading.left_out,
                }
                for log in scan.logs
            ],
            "causes": [
                {
                    "failed_logs": cause.failed,
                    "logs": cause.logs,
                    "hits": cause.hits,
                    "file": cause.name,
                    "line": cause.first.line,
                    **_named(cause.first),
                }
                for cause in _causes(scan)
            ],
            "problems": scan.problems,
            "engine": scan.engine,
        },
        indent=2,
    )


def _named(sighting: Sighting) -> dict[str, Any]:
    keys = ("error_class", "failure_subtype", "fingerprint", "pattern", "primary", "fix")
    return {key: getattr(sighting, key) for key in keys}


def _as_text(scan: _ScannedLogs, *, verbose: bool) -> str:
    total = f"{count(len(scan.logs), 'log')}, {_bytes(scan.size)}: {scan.failed or 'none'} failed"
    causes = _causes(scan)
    if not causes:
        return "\n".join([total, *_remarks(scan, causes, causes, verbose=verbose)])
    shown = causes if verbose else causes[:_SHOWN]
    rows = [(str(cause.failed or "-"), str(cause.hits), cause) for cause in shown]
    failed = max(len("FAILED"), *(len(row[0]) for row in rows))
    hits = max(len("HITS"), *(len(row[1]) for row in rows))
    lines = [total, "", f"{'FAILED':>{failed}}  {'HITS':>{hits}}  CAUSE, FIRST MESSAGE"]
    width = min(_WIDEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else _WIDEST
    for logs, messages, cause in rows:
        lines.append(
            f"{logs:>{failed}}  {messages:>{hits}}  {cause.first.error_class} / {cause.first.failure_subtype}"
            f"  [{cause.first.fingerprint}]"
        )
        lines.append(f"{_INDENT}{cause.name}:{cause.first.line}")
        lines.append(shortened(f"{_INDENT}{cause.first.primary}", width))
        if cause.failed and cause.first.fix:
            lines.append(shortened(f"{_INDENT}fix: {cause.first.fix}", width))
    return "\n".join([*lines, *_remarks(scan, causes, shown, verbose=verbose)])


def _remarks(scan: _ScannedLogs, causes: Sequence[_Cause], shown: Sequence[_Cause], *, verbose: bool) -> list[str]:
    """Return the remarks below the table."""
    remarks = []
    if len(shown) < len(causes):
        remarks.append(f"{count(len(causes) - len(shown), 'more cause')}: -v shows all")
    if left_out := sum(log.reading.left_out for log in scan.logs):
        remarks.append(f"messages counted but not examined, because there are too many: {left_out}")
    slow = scan.engine == _SLOWEST and scan.size > _LARGE
    if verbose or slow:
        faster = "; `pip install hyperscan` makes scans of this size many times faster" if slow else ""
        remarks.append(f"engine: {scan.engine}{faster}")
    return ["", *remarks] if remarks else []


def _bytes(number: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:  # noqa: PLR2004
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
