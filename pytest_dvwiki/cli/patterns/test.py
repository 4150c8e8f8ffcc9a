"""`dvwiki patterns test`: checks the examples and counterexamples of all patterns, and the project's sample logs.

A log in `.agent/patterns/samples/PATTERN/` must match that pattern. A log in `samples/passes/` must match no pattern.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli.patterns.active import add_sources, registry_of, shown
from pytest_dvwiki.cli.patterns.texts import read_text
from pytest_dvwiki.cli.place import layout_of
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_dvwiki.patterns.registry import Registry

PASSES = "passes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="pattern files or folders, checked as if they were in .agent/patterns"
    )
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Check the patterns, and print the problems.

    Returns:
        1 if there are problems.
    """
    from pytest_dvwiki.patterns.check import Checker  # noqa: PLC0415  # the registry loads with it

    problems: list[str] = []
    registry = registry_of(args, first=[Path(file) for file in args.files], problem=problems.append)
    layout = layout_of(args)
    problems += (shown(str(problem), layout.root) for problem in Checker(registry).problems())
    samples = _samples(layout.patterns / "samples")
    problems += (shown(problem, layout.root) for problem in _sample_problems(samples, registry))
    for problem in problems:
        print(problem)
    examples = sum(len(pattern.examples) for pattern in registry)
    counterexamples = sum(len(pattern.counterexamples) for pattern in registry)
    result = f"{count(len(problems), 'problem')}" if problems else "no problems"
    checked = (
        f"{len(registry)} patterns, {examples} examples, {counterexamples} counterexamples, {len(samples)} samples"
    )
    print(f"{checked}: {result}")
    return 1 if problems else 0


def _samples(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*/*") if path.is_file() and not path.name.startswith("."))


def _sample_problems(samples: list[Path], registry: Registry) -> Iterator[str]:
    from pytest_dvwiki.triage.texts.reading import TextClassifier  # noqa: PLC0415

    classifier = TextClassifier(registry)
    for path in samples:
        wanted = path.parent.name
        pattern = registry.get(wanted)
        if pattern is None and wanted != PASSES:
            yield f"{path}: no pattern has the id {wanted}; name the folder after a pattern, or {PASSES}"
            continue
        verdict = classifier.classify_text(read_text(str(path)))
        if verdict is None and pattern is not None:
            advice = "extend the expression, or remove the sample"
            yield f"{path}: pattern {wanted}: field match: finds nothing in this sample; {advice}"
        elif verdict is not None and verdict.pattern != wanted:
            taken = f"matches line {verdict.line}, {verdict.primary!r}"
            yield f"{path}: pattern {verdict.pattern}: field match: {taken}; `dvwiki patterns why {path}` shows more"
