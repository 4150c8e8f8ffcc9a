"""`dvwiki lint` compares the confidence of verdicts with people's decisions, if there are enough of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import main
from pytest_dvwiki.model import Origin
from pytest_dvwiki.upkeep import calibration
from pytest_dvwiki.upkeep.calibration import FEWEST, FEWEST_OF_DECILE, Decile, Decision
from pytest_dvwiki.upkeep.lint import check, lint
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def judged(root: Path, count: int, *, confidence: float = 0.82, wrong: int = 0, start: int = 0) -> None:
    """Archive causes labelled as design bugs; people confirm most of them, and call some testbench bugs."""
    place = layout(root)
    said = Origin(type="RTL_BUG", confidence=confidence)
    made = [occurrence(f"{number:012x}", origin=said, pattern="own.check") for number in range(start, start + count)]
    archive(place, record(start, *made))
    for number in range(start, start + count):
        decide(root, f"{number:012x}", "TB_BUG" if number - start < wrong else "RTL_BUG")
    build(place)


def decide(root: Path, fingerprint: str, origin: str, status: str = "confirmed") -> None:
    pages = layout(root).wiki / "bugs"
    (page,) = (each for each in pages.glob("[!_]*.md") if f"fingerprint: {fingerprint}" in plain(each))
    text = page.read_text("utf-8")
    page.write_text(
        text.replace("type: RTL_BUG", f"type: {origin}").replace("status: open", f"status: {status}"), "utf-8"
    )


def plain(page: Path) -> str:
    return page.read_text("utf-8").replace('"', "").replace("'", "")


def found(root: Path) -> list[str]:
    return [each.text for each in lint(layout(root), "full") if each.kind == "calibration"]


def decile(low: int, said: float, right: int, count: int) -> Decile:
    decided = ["RTL_BUG"] * right + ["TB_BUG"] * (count - right)
    return Decile(low, tuple(Decision("RTL_BUG", said, each, "p") for each in decided))


def test_too_few_decisions_say_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged(tmp_path, FEWEST - 1, wrong=FEWEST - 1)
    assert check(layout(tmp_path), "full").deciles == ()
    assert found(tmp_path) == []
    assert main(["lint", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "the wiki is sound\n"


def test_confidences_that_hold_are_told_and_are_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged(tmp_path, FEWEST, wrong=4)
    assert found(tmp_path) == []
    assert main(["lint", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "the wiki is sound",
        "confidence compared with 20 decisions by people:",
        "   STATED   MEAN  CAUSES  RIGHT",
        "   80-89%    82%      20  16 (80%)",
    ]


def test_confidences_that_promise_too_much_are_found_with_the_patterns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(tmp_path, FEWEST, wrong=12)
    (told,) = found(tmp_path)
    assert told == (
        "people agreed with 8 of 20 verdicts of 80-89% confidence, where about 16 were expected; "
        "wrong most often: own.check (12)"
    )
    assert main(["lint", "--root", str(tmp_path), "--format", "json"]) == 1
    (shown,) = json.loads(capsys.readouterr().out)["calibration"]
    assert shown == {"low": 80, "high": 89, "mean": 0.82, "causes": 20, "right": 8}


def test_each_decile_stands_for_itself(tmp_path: Path) -> None:
    judged(tmp_path, 12, confidence=0.55, wrong=0)
    judged(tmp_path, 12, confidence=0.7, wrong=4, start=100)
    low, high = check(layout(tmp_path), "full").deciles
    assert (low.low, low.high, low.count, low.right, low.is_off) == (50, 59, 12, 12, True)
    assert (high.low, high.high, high.count, high.right, high.is_off) == (70, 79, 12, 8, False)


def test_certainty_belongs_to_the_last_decile(tmp_path: Path) -> None:
    judged(tmp_path, FEWEST, confidence=1.0)
    (last,) = check(layout(tmp_path), "full").deciles
    assert (last.low, last.high, last.is_off) == (90, 100, False)


def test_what_nobody_decided_and_what_claims_nothing_do_not_count(tmp_path: Path) -> None:
    judged(tmp_path, FEWEST)
    place = layout(tmp_path)
    unknown = Origin(type="UNKNOWN", confidence=0.3)
    archive(place, record(500, occurrence("e" * 12), occurrence("f" * 12, origin=unknown)))
    (decile_,) = check(place, "full").deciles
    assert decile_.count == FEWEST


def test_the_verdict_that_counts_was_given_before_people_decided(tmp_path: Path) -> None:
    judged(tmp_path, FEWEST, confidence=0.65)
    sure = Origin(type="RTL_BUG", confidence=0.95)
    archive(layout(tmp_path), record(600, *(occurrence(f"{number:012x}", origin=sure) for number in range(FEWEST))))
    assert [each.low for each in check(layout(tmp_path), "full").deciles] == [60]


def test_a_small_decile_is_no_finding() -> None:
    assert not decile(80, 0.85, 0, FEWEST_OF_DECILE - 1).is_off
    assert decile(80, 0.85, 0, FEWEST_OF_DECILE).is_off


def test_only_what_chance_does_not_explain_is_off() -> None:
    assert not decile(80, 0.85, 14, 20).is_off
    assert decile(80, 0.85, 12, 20).is_off
    assert not decile(50, 0.55, 15, 20).is_off
    assert decile(50, 0.55, 17, 20).is_off


def test_no_wiki_has_no_calibration(tmp_path: Path) -> None:
    assert check(layout(tmp_path), "full").deciles == ()
    assert calibration.table(()) == []
