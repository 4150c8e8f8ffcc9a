"""Measures how often the nearest example of an unknown message has the right label, by similarity.

    python tests/bench/nearest.py [--corpus LOGS.jsonl]

Treats each message as unknown: first every example of every pattern, compared with the examples of all other tools;
then, with `--corpus`, every failure of a labelled corpus (one JSON object a line with `source`, `text`, `is_failure`,
`error_class`, `failure_subtype` and `accept`), compared with the examples and with the failures of all other
repositories. `docs/naming.md` has the results.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.triage.nearest import LEAST, Nearest
from pytest_dvwiki.triage.texts.reading import TextClassifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STEPS = (LEAST, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_Z = 1.96


@dataclass(frozen=True)
class Answer:
    """The label that the nearest example gives one message."""

    similarity: float
    right: bool
    right_class: bool


def of_examples() -> Iterator[Answer | None]:
    """Yield the answer for each example, from the examples of all other tools; None if none is similar."""
    patterns = [
        pattern
        for pattern in load_registry()
        if pattern.tier != "benign" and UNKNOWN not in {pattern.error_class, pattern.failure_subtype}
    ]
    rows = [
        (example, f"{pattern.error_class}/{pattern.failure_subtype}", pattern)
        for pattern in patterns
        for example in pattern.examples
    ]
    tools = {
        tool: frozenset(n for n, (*_, pattern) in enumerate(rows) if tool in pattern.tools)
        for tool in {tool for *_, pattern in rows for tool in pattern.tools}
    }
    for number, (text, label, pattern) in enumerate(rows):
        left_out = frozenset({number}).union(*(tools[tool] for tool in pattern.tools))
        kept = (row for n, row in enumerate(rows) if n not in left_out)
        like = Nearest((text, label, pattern.id) for text, label, pattern in kept).like(text)
        of_class = like is not None and like.label.split("/")[0] == label.split("/")[0]
        yield Answer(like.similarity, like.label == label, of_class) if like else None


def of_corpus(path: Path) -> Iterator[Answer | None]:
    """Yield the answer for each failure of a corpus, from the examples and the failures of other repositories."""
    registry = load_registry()
    classifier = TextClassifier(registry)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    failures = [record for record in records if record["is_failure"]]
    told = [verdict.primary if (verdict := classifier.classify_text(r["text"])) else r["text"] for r in failures]
    examples = [
        (example, f"{pattern.error_class}/{pattern.failure_subtype}", "")
        for pattern in registry
        if pattern.tier != "benign" and UNKNOWN not in {pattern.error_class, pattern.failure_subtype}
        for example in pattern.examples
    ]
    others = [
        (text, f"{record['error_class']}/{record['failure_subtype']}", _repository(record))
        for text, record in zip(told, failures, strict=True)
    ]
    for text, record in zip(told, failures, strict=True):
        like = Nearest([*examples, *(other for other in others if other[-1] != _repository(record))]).like(text)
        labels = {f"{record['error_class']}/{record['failure_subtype']}", *record.get("accept", ())}
        classes = {label.split("/")[0] for label in labels}
        given = like.label.split("/")[0] if like else ""
        right = like is not None and (like.label in labels or f"{given}/*" in labels)
        yield Answer(like.similarity, right, given in classes) if like else None


def _repository(record: dict[str, Any]) -> str:
    return str(record["source"]).partition(":")[0]


def lower_bound(right: int, of: int) -> float:
    """Return the lower end of Wilson's interval at 95 %."""
    if not of:
        return 0.0
    share = right / of
    middle = share + _Z**2 / (2 * of)
    spread = _Z * math.sqrt((share * (1 - share) + _Z**2 / (4 * of)) / of)
    return (middle - spread) / (1 + _Z**2 / of)


def table(answers: Iterable[Answer | None]) -> Iterator[str]:
    """Yield the curve as rows of Markdown."""
    known = list(answers)
    yield "| similarity | answered | right label | precision | lower 95 % bound | right class |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for step in STEPS:
        kept = [answer for answer in known if answer is not None and answer.similarity >= step]
        right = sum(answer.right for answer in kept)
        of_class = sum(answer.right_class for answer in kept)
        share = f"{right / len(kept):.2f}" if kept else "-"
        yield (
            f"| ≥ {step:.1f} | {len(kept)} of {len(known)} | {right} | {share} | {lower_bound(right, len(kept)):.2f}"
            f" | {of_class} |"
        )


def main() -> None:
    """Print the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a labelled corpus of logs, one JSON object a line")
    args = parser.parse_args()
    print("Examples of all patterns, one tool left out at a time:\n")
    print("\n".join(table(of_examples())))
    if args.corpus:
        print("\nFailures of the corpus, one repository left out at a time:\n")
        print("\n".join(table(of_corpus(args.corpus))))


if __name__ == "__main__":
    main()
