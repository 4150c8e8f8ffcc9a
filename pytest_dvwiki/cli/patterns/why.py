"""`dvwiki patterns why`: shows which patterns match which lines of a log, which pattern wins, and why."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.patterns.active import add_sources, registry_of, shown
from pytest_dvwiki.cli.patterns.texts import read_text
from pytest_dvwiki.cli.place import settings_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.model import Verdict
    from pytest_dvwiki.patterns.matcher import Hit
    from pytest_dvwiki.patterns.registry import Registry

_WIDTH = 100
_LINES = 20
_LONGEST = 300


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments."""
    parser.add_argument("file", metavar="FILE", help="a log; - reads standard input")
    parser.add_argument(
        "--limit", type=int, default=_LINES, metavar="N", help="maximum number of lines to list (default %(default)s)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    add_sources(parser)


class MatchedLine(Struct, frozen=True):
    """A line of the log that at least one pattern matches."""

    line: int
    text: str
    pattern: str
    """Id of the pattern with the highest precedence."""
    tier: str
    note: str = ""
    """Remark on the line: it decides the verdict, is no failure, or is in a passing test; empty for other lines."""
    further: tuple[str, ...] = ()
    """Ids of further matching patterns, in order of precedence."""


def run(args: argparse.Namespace) -> int:
    """Print which patterns match the log, and which one wins."""
    if args.limit < 0:
        raise UsageError(f"--limit {args.limit}: give 0 or more")
    from pytest_dvwiki.patterns.registry import REPLACEMENT, precedence  # noqa: PLC0415
    from pytest_dvwiki.triage.texts.reading import TextClassifier  # noqa: PLC0415

    registry = registry_of(args)
    text = read_text(args.file)
    verdict = TextClassifier(registry).classify_text(text)
    hits = _hits(text, registry)
    lines = list(_lines(hits[: args.limit], text, registry, verdict))
    root = settings_of(args).layout.root
    name = "standard input" if args.file == "-" else args.file
    if args.format == "json":
        print(json.dumps(_as_dict(name, verdict, lines, len(hits)), indent=2))
        return 0
    print(_headline(name, verdict))
    for row in _verdict_rows(verdict, registry, root):
        print(row)
    print(f"\n{_count(text, hits, lines)}")
    for line in lines:
        for row in _line_rows(line):
            print(row)
    print("\nIf several patterns match a message, the first one in this order is used:")
    order = precedence()
    for number, rule in enumerate((*order, REPLACEMENT), start=1):
        label = f"  {number}. " if number <= len(order) else "  "
        print(textwrap.fill(rule, _WIDTH, initial_indent=label, subsequent_indent=" " * len(label)))
    return 0


def _hits(text: str, registry: Registry) -> list[Hit]:
    """Return all messages that match a pattern, including messages that a benign pattern would exclude."""
    from pytest_dvwiki.patterns.matcher import Matcher  # noqa: PLC0415
    from pytest_dvwiki.patterns.registry import Registry as Patterns  # noqa: PLC0415

    # A matcher of the full registry drops benign messages; a matcher without benign patterns lists them.
    return Matcher(Patterns([entry for entry in registry.entries if entry.pattern.tier != "benign"])).hits(text)


def _lines(hits: list[Hit], text: str, registry: Registry, verdict: Verdict | None) -> Iterator[MatchedLine]:
    from pytest_dvwiki.patterns.matcher import Matcher  # noqa: PLC0415
    from pytest_dvwiki.redact import redact  # noqa: PLC0415
    from pytest_dvwiki.triage.texts.sections import sections  # noqa: PLC0415

    matcher = Matcher(registry)
    counted = {hit.line for hit in matcher.hits(text)}
    passed = sections(text)
    for hit in hits:
        ranked = [each.pattern for each in matcher.matches(hit.text)]
        winner = ranked[0] if ranked and hit.line not in counted else hit.pattern
        if verdict is not None and hit.line == verdict.line:
            note = "this one"
        elif hit.line not in counted:
            note = "no failure"
        elif passed.in_passed(hit.line):
            note = "in a test that passed"
        else:
            note = ""
        yield MatchedLine(
            line=hit.line,
            text=redact(" ".join(hit.text.split()))[:_LONGEST],
            pattern=winner.id,
            tier=f"{winner.tier}, noise" if winner.noise else winner.tier,
            note=note,
            further=tuple(each.id for each in ranked if each.id != winner.id),
        )


def _headline(name: str, verdict: Verdict | None) -> str:
    if verdict is None:
        return f"{name}: no failure found"
    return f"{name}: {verdict.error_class} / {verdict.failure_subtype}, fingerprint {verdict.fingerprint}"


def _verdict_rows(verdict: Verdict | None, registry: Registry, root: Path) -> Iterator[str]:
    if verdict is None:
        return
    origin = verdict.origin
    source = shown(registry.source(verdict.pattern), root) if verdict.pattern else ""
    rows = [
        ("line", f"{verdict.line}: {verdict.primary}"),
        ("pattern", f"{verdict.pattern} ({source})"),
        ("rule", verdict.rule),
        ("origin", f"{origin.in_words}: {'; '.join(origin.reasons)}"),
        *(("not", f"{other.line}: {other.text} ({other.pattern})") for other in verdict.runners_up),
        ("fix", verdict.fix or "none known"),
    ]
    for label, text in rows:
        yield from _wrapped(f"  {label:<8} ", text, most=3)


def _count(text: str, hits: list[Hit], lines: list[MatchedLine]) -> str:
    if not hits:
        return f"No pattern matches any of its {text.count(chr(10))} lines."
    more = f"; the first {len(lines)}" if len(lines) < len(hits) else ""
    return f"Patterns match {len(hits)} of its {text.count(chr(10))} lines{more}:"


def _line_rows(line: MatchedLine) -> Iterator[str]:
    note = f"  <- {line.note}" if line.note else ""
    yield f"  {line.line:>7}  {line.pattern} ({line.tier}){note}"
    yield from _wrapped(" " * 11, line.text, most=2)
    if line.further:
        yield from _wrapped(" " * 11, f"also matched by {', '.join(line.further)}", most=1)


def _wrapped(indent: str, text: str, *, most: int) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        max_lines=most,
        placeholder=" …",
        break_on_hyphens=False,
    )


def _as_dict(name: str, verdict: Verdict | None, lines: list[MatchedLine], matched: int) -> dict[str, Any]:
    return {
        "file": name,
        "verdict": None if verdict is None else to_builtins(verdict),
        "matched": matched,
        "lines": [to_builtins(line) for line in lines],
    }
