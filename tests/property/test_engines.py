"""All engines give the same matches, on lines made of patterns' words and on real logs."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path

import pytest

from pytest_dvwiki.patterns.engines import NAMES, load
from pytest_dvwiki.patterns.kinds import KindCounts
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.reading import TextClassifier

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "logs.jsonl"
OTHERS = [name for name in NAMES if name != "python" and importlib.util.find_spec(name)]
REGISTRY = load_registry()
LITERALS = sorted({text for entry in REGISTRY.entries for needs in entry.literals for set_ in needs for text in set_})
EXAMPLES = [example for pattern in REGISTRY for example in (*pattern.examples, *pattern.counterexamples)]
FILLING = [
    "UVM_INFO drv.sv(3) @ 100:",
    "0x1f",
    "clk",
    "größe",
    "\x1b[31m",
    "\x00",
    "# ",
    "    ",
    "12.5ns",
    "[SB]",
    "\t",
]


def generated(count: int) -> list[str]:
    """Return lines of examples, literals in any case, and other text, whole and cut."""
    rng = random.Random(4)
    lines: list[str] = []
    for _ in range(count):
        parts = [
            rng.choice(
                [
                    rng.choice(FILLING),
                    rng.choice(LITERALS),
                    rng.choice(LITERALS).upper(),
                    rng.choice(LITERALS)[: rng.randint(1, 12)],
                    rng.choice(EXAMPLES).replace("\n", " ")[rng.choice((0, 0, 3)) :],
                    str(rng.randint(0, 99999)),
                ]
            )
            for _ in range(rng.randint(1, 4))
        ]
        lines.append(rng.choice(("", " ")).join(parts))
    return lines


def with_engine(name: str) -> Matcher:
    matcher = Matcher(REGISTRY)
    matcher._engine = load(list(matcher.registry.triggers.rules), name=name)  # type: ignore[assignment]  # one engine for all sizes
    return matcher


@pytest.mark.parametrize("name", OTHERS)
def test_generated_lines_come_to_the_same(name: str) -> None:
    lines = generated(10_000)
    one, other = with_engine("python"), with_engine(name)
    for start in range(0, len(lines), 500):
        text = "\n".join(lines[start : start + 500])
        assert one.hits(text) == other.hits(text)


@pytest.mark.parametrize("name", OTHERS)
def test_a_line_by_itself_comes_to_the_same(name: str) -> None:
    one, other = with_engine("python"), with_engine(name)
    for line in generated(2_000):
        assert one.hits(line) == other.hits(line)


def test_every_message_that_a_pattern_fits_holds_a_literal() -> None:
    """Otherwise no engine could find it."""
    matcher = with_engine("python")
    for pattern in REGISTRY:
        for example in pattern.examples if pattern.tier != "benign" else ():
            found = matcher.search(example.encode(), KindCounts(None), has_companion=lambda _: True)
            assert any(True for _ in found), (pattern.id, example)


@pytest.mark.skipif(not CORPUS.is_file(), reason="the corpus is not there")
@pytest.mark.parametrize("name", OTHERS)
def test_real_logs_come_to_the_same(name: str) -> None:
    one, other = TextClassifier(REGISTRY), TextClassifier(REGISTRY)
    one.matcher, other.matcher = with_engine("python"), with_engine(name)
    for record in map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines()):
        assert one.classify_text(record["text"]) == other.classify_text(record["text"]), record["id"]
