"""`dvwiki spec add` makes the page of a feature, adds to it, and does not change the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from pytest_dvwiki.cli import main
from pytest_dvwiki.wiki.text import pages

from ..samples import layout

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".agent").mkdir()
    return layout(tmp_path)


def spec(text: str = "AWLEN counts beats minus one", *more: str, feature: str = "axi_burst_len") -> int:
    return main(["spec", "add", feature, "--type", "ambiguous", "--text", text, *more])


def page(place: Layout, name: str = "axi_burst_len") -> Path:
    return place.wiki / "specs" / f"{name}_clarification.md"


def said(place: Layout) -> list[str]:
    return [line for line in page(place).read_text().splitlines() if line.startswith("- ")]


def test_the_first_clarification_makes_the_page(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert spec("AWLEN[7:0] counts\nbeats minus one", "--section", "A3.4.1") == 0
    assert f"see .agent/wiki/specs/{page(place).name}\n" in capsys.readouterr().out
    assert pages.read(page(place).read_bytes()).metadata == {
        "type": "spec",
        "feature": "axi_burst_len",
        "clarification_type": "ambiguous",
        "status": "open",
    }
    (path,) = place.tasks.glob("2*/*/spec_*.yaml")
    (line,) = said(place)
    assert "(ambiguous, section A3.4.1): AWLEN\\[7:0\\] counts beats minus one (source: tasks/" in line
    assert line.endswith(f"(source: tasks/{path.stem}.yaml)")
    assert yaml.safe_load(path.read_text())["evidence"] == ["AWLEN[7:0] counts beats minus one"]
    index = (place.wiki / "index.md").read_text()
    assert (
        "| [axi_burst_len_clarification](specs/axi_burst_len_clarification.md) | axi_burst_len | ambiguous |" in index
    )
    assert "specs/axi_burst_len_clarification.md created" in (place.wiki / "log.md").read_text()


def test_a_further_one_stands_below_and_the_same_one_does_not(place: Layout) -> None:
    for text in ("one", "two", "one", "three"):
        assert spec(text) == 0
    assert [line.split("): ")[1].split(" (source")[0] for line in said(place)] == ["one", "two", "three"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_people_wrote_stays_and_build_leaves_the_page_alone(place: Layout, newline: str) -> None:
    spec("one")
    text = page(place).read_text().replace("status: open", "status: agreed  # with the architect")
    text += "\nOur own words.\n\n## Waveform\n\nsee doc\n"
    page(place).write_bytes(text.replace("\n", newline).encode())
    spec("two")
    after = page(place).read_bytes().decode()
    lines = after.split(newline)
    assert all(line in lines for line in text.split("\n"))
    assert after.count("\n") == after.count(newline)
    assert after.index("Our own words.") < after.index("): two") < after.index("## Waveform")
    before = page(place).read_bytes()
    assert main(["build"]) == 0
    assert page(place).read_bytes() == before


def test_a_page_without_the_section_gets_it(place: Layout) -> None:
    page(place).parent.mkdir(parents=True)
    ours = "---\ntype: spec\nfeature: x\n---\n\n# Ours\n\ntext"
    page(place).write_text(ours)
    assert spec("one") == 0
    assert page(place).read_text().startswith(f"{ours}\n\n## Clarifications\n\n- ")


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"\xff", "it is not UTF-8"), (b"<<<<<<< a\n=======\n>>>>>>> b\n", "it has an unresolved merge conflict")],
)
def test_a_page_that_cannot_be_added_to_is_left_alone(
    place: Layout, capsys: pytest.CaptureFixture[str], data: bytes, reason: str
) -> None:
    page(place).parent.mkdir(parents=True)
    page(place).write_bytes(data)
    assert spec("one") == 1
    assert f"was left alone: {reason}" in capsys.readouterr().out
    assert page(place).read_bytes() == data


@pytest.mark.parametrize("feature", ["../../etc/passwd", "AXI burst/len", "x" * 300, "con", "<!-- dvwiki:begin a -->"])
def test_any_feature_has_a_page_inside_the_wiki(place: Layout, feature: str) -> None:
    assert spec("one", feature=feature) == 0
    (path,) = (path for path in (place.wiki / "specs").iterdir() if path.name != "_index.md")
    assert path.resolve().is_relative_to(place.wiki)
    assert pages.read(path.read_bytes()).metadata["feature"][:100] == feature[:100]


def test_a_link_that_leads_out_of_the_wiki_is_not_followed(place: Layout, tmp_path: Path) -> None:
    page(place).parent.mkdir(parents=True)
    (tmp_path / "theirs.md").write_text("theirs")
    page(place).symlink_to(tmp_path / "theirs.md")
    assert spec("one") == 1
    assert (tmp_path / "theirs.md").read_text() == "theirs"


@pytest.mark.parametrize("words", [["", "--type", "t", "--text", "x"], ["f", "--type", " ", "--text", "x"]])
def test_a_clarification_without_words_is_a_mistake(
    place: Layout, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main(["spec", "add", *words]) == 2
    assert "is empty" in capsys.readouterr().err


def test_the_newest_clarifications_reach_a_prompt(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(5):
        spec(f"number {number}")
    capsys.readouterr()
    assert main(["context", "--category", "specs"]) == 0
    out = capsys.readouterr().out
    assert "**axi_burst_len_clarification** — Specification: axi_burst_len" in out
    assert ["number" in line for line in out.splitlines()].count(True) == 3
    assert "number 4 (source: tasks/spec_" in out


def test_a_page_that_people_wrote_in_their_own_form_is_told_too(
    place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    page(place).parent.mkdir(parents=True)
    page(place).write_text("---\ntype: spec\n---\n# Burst length\n\n## Rule\n\nAWLEN counts beats\nminus one.\n")
    assert main(["context", "--category", "specs"]) == 0
    told = "**axi_burst_len_clarification** — Burst length [age unknown]\nAWLEN counts beats minus one.\n"
    assert capsys.readouterr().out == told
