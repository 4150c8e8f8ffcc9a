"""The known example that is most similar to an unknown message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import main
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.nearest import Nearest, words
from pytest_dvwiki.triage.texts.reading import TextClassifier

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

EXAMPLES = [
    ("Net q has several drivers", "compile_error/multiple_drivers", "a.drivers"),
    ("File defs.svh is not there", "compile_error/missing_file", "a.file"),
    ("Port d is not connected", "elaboration_error/port_mismatch", "a.port"),
]


def test_the_nearest_example_has_most_words_in_common() -> None:
    like = Nearest(EXAMPLES).like("signal top.u1.r has several drivers")
    assert like is not None
    assert (like.label, like.pattern) == ("compile_error/multiple_drivers", "a.drivers")
    assert 0.5 < like.similarity < 1


def test_what_has_no_words_in_common_is_like_nothing() -> None:
    nearest = Nearest(EXAMPLES)
    assert nearest.like("the moon is made of cheese") is None


def test_places_values_and_severities_are_no_words() -> None:
    assert words("** Error: rtl/top.sv(12): width 0x12 differs from 8'hff") == words(
        "** Error: rtl/fifo.sv(3): width 7 differs from 9"
    )


def test_an_unknown_message_tells_what_it_is_most_like_and_keeps_its_label() -> None:
    classifier = TextClassifier(load_registry())
    verdict = classifier.classify_text("ERROR: the bus model stopped answering")
    assert verdict is not None
    assert (verdict.error_class, verdict.failure_subtype) == ("unknown", "unknown")
    assert verdict.like is not None
    known = classifier.classify_text("dut.sv:16: syntax error")
    assert known is not None
    assert known.like is None


def test_classify_prints_the_likeness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "run.log"
    log.write_text("ERROR: the bus model stopped answering\n", encoding="utf-8")
    assert main(["classify", str(log)]) == 0
    assert "similar, but not a match" in " ".join(capsys.readouterr().out.split())
    assert main(["classify", "--format", "json", str(log)]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    assert set(answer["like"]) == {"example", "label", "pattern", "similarity"}
