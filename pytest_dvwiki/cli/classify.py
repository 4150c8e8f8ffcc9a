"""`dvwiki classify`: identifies the failure in a log, and prints its line, its pattern and the reasons."""

from __future__ import annotations

import contextlib
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_dvwiki import reading
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.patterns.active import add_sources, registry_of
from pytest_dvwiki.cli.patterns.texts import require_plain_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_dvwiki.model import Verdict
    from pytest_dvwiki.triage.texts.reading import TextClassifier

WIDTH = 80
_INDENT = "  "
_LABELS = 9
_CHUNK = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="a log; - reads standard input")
    parser.add_argument(
        "--jsonl",
        metavar="FILE",
        help="read one JSON object per line, with id and text (- reads standard input), and write one answer per line",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also show the runners-up and the lines around the cause"
    )
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Print what failed in each log."""
    if bool(args.files) == bool(args.jsonl):
        raise UsageError("give either files or --jsonl FILE; a single - reads standard input")
    classifier = classifier_of(args)
    if args.jsonl:
        for answer in _answers(_read(args.jsonl), args.jsonl, classifier):
            sys.stdout.write(_as_json(answer) + "\n")
        return 0
    named = [(name, _verdict(name, classifier)) for name in args.files]
    if args.format == "json":
        from pytest_dvwiki.triage.texts.reading import details  # noqa: PLC0415

        print(_as_json([{"file": name, **details(verdict)} for name, verdict in named], indent=2))
    else:
        print("\n\n".join(_paragraph(name, verdict, verbose=args.verbose) for name, verdict in named))
    return 0


def _as_json(value: object, *, indent: int | None = None) -> str:
    import json  # noqa: PLC0415  # text output needs no JSON

    return json.dumps(value, indent=indent)


def classifier_of(args: argparse.Namespace) -> TextClassifier:
    """Return a classifier with the project's active patterns; patterns given as options come before all others."""
    # Imported here: `dvwiki --help` needs neither registry nor matcher.
    from pytest_dvwiki.triage.texts.reading import TextClassifier  # noqa: PLC0415

    return TextClassifier(registry_of(args))


def _verdict(name: str, classifier: TextClassifier) -> Verdict | None:
    """Return the verdict on a log; None if it shows no failure. Like `dvwiki scan`, this reads the log in blocks."""
    from pytest_dvwiki.logtext.logs import blocks  # noqa: PLC0415

    require_plain_text(name)
    sieve = classifier.sieve()
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as stream:
            for block in blocks(iter(lambda: stream.read(_CHUNK), b"")):
                sieve.feed(block)
    except OSError as error:
        raise UsageError(f"{name}: {reading.reason(error)}") from error
    return classifier.conclude(sieve.finish()).verdict


def _read(name: str) -> str:
    """Return the text of a file or of standard input."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: {reading.reason(error)}") from error
    return data.decode("utf-8-sig", "replace")


def _answers(text: str, name: str, classifier: TextClassifier) -> Iterator[dict[str, Any]]:
    import json  # noqa: PLC0415

    from pytest_dvwiki.triage.texts.reading import details  # noqa: PLC0415

    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            identity, body = record["id"], record["text"]
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{name}: line {number}: give a JSON object with id and text ({error})") from error
        if not isinstance(body, str):
            raise UsageError(f"{name}: line {number}: text must be a string")
        yield {"id": identity, **details(classifier.classify_text(body))}


def _paragraph(name: str, verdict: Verdict | None, *, verbose: bool) -> str:
    if verdict is None:
        return f"{name}: no failure found"
    origin = verdict.origin
    rows = [
        ("line", f"{verdict.line}: {verdict.primary}"),
        ("pattern", f"{verdict.pattern}: {verdict.rule}"),
        ("origin", f"{origin.in_words}: {'; '.join(origin.reasons)}"),
        ("fix", verdict.fix or "none known"),
        ("id", verdict.fingerprint),
    ]
    if (like := verdict.like) is not None:
        similar = f"{like.similarity:.0%} {like.example} ({like.pattern}: {like.label}); similar, but not a match"
        rows.insert(1, ("like", similar))
    if verbose:
        rows += [("also", f"{other.line}: {other.text} ({other.pattern})") for other in verdict.runners_up]
    lines = [f"{name}: {verdict.error_class} / {verdict.failure_subtype}"]
    for label, text in rows:
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"{_INDENT}{label:{_LABELS}}",
            subsequent_indent=_INDENT + " " * _LABELS,
            break_on_hyphens=False,
        )
    if verbose and verdict.excerpt:
        lines += ["", *(f"{_INDENT}| {line}" for line in verdict.excerpt.split("\n"))]
    return "\n".join(lines)
