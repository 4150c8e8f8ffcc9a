"""`dvwiki patterns list`: lists the active patterns, each with its file."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_dvwiki.cli.patterns.active import add_sources, registry_of, shown
from pytest_dvwiki.cli.place import settings_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.patterns.schema import Pattern

_WIDTH = 100
TIERS = ("cause", "symptom", "rollup", "benign")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments."""
    parser.add_argument("text", nargs="*", help="words to look for in id, description, fix and expressions")
    parser.add_argument("--tool", help="only patterns of this tool (icarus, questa, pyuvm, …)")
    parser.add_argument("--class", dest="error_class", metavar="CLASS", help="only patterns of this error_class")
    parser.add_argument("--subtype", help="only patterns of this failure_subtype")
    parser.add_argument("--tier", choices=TIERS, help="only patterns of this tier")
    parser.add_argument("--own", action="store_true", help="only patterns that are not built in")
    parser.add_argument("-v", "--verbose", action="store_true", help="show description, fix, expressions, example")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Print the active patterns that the options select, in order of precedence."""
    registry = registry_of(args)
    found = [pattern for pattern in registry if _is_wanted(pattern, registry, args)]
    root = settings_of(args).layout.root
    if args.format == "json":
        print(json.dumps([_as_dict(pattern, registry, root) for pattern in found], indent=2))
        return 0
    for line in _table(found, registry, root, verbose=args.verbose):
        print(line)
    own = sum(not _is_builtin(pattern, registry) for pattern in registry)
    print(f"{len(found)} of {len(registry)} patterns ({len(registry) - own} built in, {own} of the project)")
    return 0


def _is_builtin(pattern: Pattern, registry: Registry) -> bool:
    from pytest_dvwiki.patterns.registry import BUILTIN_FOLDER  # noqa: PLC0415

    return registry.source(pattern.id).startswith(BUILTIN_FOLDER)


def _is_wanted(pattern: Pattern, registry: Registry, args: argparse.Namespace) -> bool:
    text = "\n".join((pattern.id, pattern.description, pattern.fix, *pattern.match, *pattern.examples)).lower()
    return (
        (args.tool is None or args.tool.lower() in pattern.tools)
        and (args.error_class is None or args.error_class == pattern.error_class)
        and (args.subtype is None or args.subtype == pattern.failure_subtype)
        and (args.tier is None or args.tier == pattern.tier)
        and not (args.own and _is_builtin(pattern, registry))
        and all(word.lower() in text for word in args.text)
    )


def _as_dict(pattern: Pattern, registry: Registry, root: Path) -> dict[str, Any]:
    replaced = registry.replaced.get(pattern.id)
    fields: dict[str, Any] = msgspec.to_builtins(pattern)
    places = {"source": shown(registry.source(pattern.id), root), "replaces": replaced and shown(replaced, root)}
    return fields | places


def _table(found: list[Pattern], registry: Registry, root: Path, *, verbose: bool) -> Iterator[str]:
    if not found:
        return
    rows = [(pattern.id, label_of(pattern), pattern.tier, _source(pattern, registry, root)) for pattern in found]
    head = ("PATTERN", "CLASS / SUBTYPE", "TIER", "FILE")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(3)]
    for pattern, row in zip((None, *found), (head, *rows), strict=True):
        yield "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3])).rstrip()
        if verbose and pattern is not None:
            yield from _details(pattern)


def label_of(pattern: Pattern) -> str:
    """Return the class and subtype in the form shown to people."""
    return "no failure" if pattern.tier == "benign" else f"{pattern.error_class} / {pattern.failure_subtype}"


def _source(pattern: Pattern, registry: Registry, root: Path) -> str:
    replaced = registry.replaced.get(pattern.id)
    return shown(registry.source(pattern.id), root) + (f" (replaces {shown(replaced, root)})" if replaced else "")


def _details(pattern: Pattern) -> Iterator[str]:
    for label, text in (("means", pattern.description), ("fix", pattern.fix)):
        yield from textwrap.wrap(
            text, _WIDTH, initial_indent=f"    {label:<8} ", subsequent_indent=" " * 13, break_on_hyphens=False
        )
    # Expressions and messages are not wrapped, so that they can be copied.
    yield from (f"    match    {source}" for source in pattern.match)
    yield from (f"    example  {' '.join(example.split())}" for example in pattern.examples[:1])
    yield ""
