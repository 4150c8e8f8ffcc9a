"""Outputs for other tools: what each shows of a cause, within its limits, escaped for its format."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from pytest_dvwiki.capture.files.artefacts import sha256_of
from pytest_dvwiki.report import allure, codequality, github, html, junit
from pytest_dvwiki.report.brief import Brief, headline
from pytest_dvwiki.roles.outputs import Outputs

if TYPE_CHECKING:
    from pathlib import Path

EVIL = '50% of <b>`x`</b>, a:b | </script>" & ::warning::'
CAUSE = Brief(
    fingerprint="9b1f03c2a7d4",
    word="NEW",
    label="uvm_error / scoreboard_fail",
    primary=EVIL,
    tests=("t.py::a", "t.py::b"),
    statements=("Came with 1f0c2aa [x](y).",),
    command="pytest t.py::a",
    page=".agent/wiki/bugs/RTL_1.md",
    file="tb/t.py",
    line=7,
)


def causes(word: str, number: int) -> list[Brief]:
    return [replace(CAUSE, word=word, fingerprint=f"{at:012x}") for at in range(number)]


def test_an_annotation_is_one_line_that_github_reads_as_it_was_written() -> None:
    (line,) = github.workflow_commands([CAUSE], "ip/")
    assert "\n" not in line
    level, properties, message = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line).groups()  # type: ignore[union-attr]
    about = dict(each.split("=", 1) for each in properties.split(","))
    assert (level, about["file"], about["line"]) == ("error", "ip/tb/t.py", "7")
    assert about["title"] == "NEW uvm_error / scoreboard_fail"
    told = message.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
    assert told.split("\n") == [
        EVIL,
        "2 tests: t.py::a, t.py::b",
        "Came with 1f0c2aa [x](y).",
        "pytest t.py::a",
        ".agent/wiki/bugs/RTL_1.md",
    ]


def test_a_title_with_commas_and_colons_is_escaped() -> None:
    (line,) = github.workflow_commands([replace(CAUSE, label="a,b: c%", file="", line=None)], "")
    assert line.startswith("::error title=NEW a%2Cb%3A c%25::")


def test_no_more_annotations_than_github_shows() -> None:
    lines = [*github.workflow_commands([*causes("NEW", 8), *causes("REGRESSED", 8), *causes("KNOWN", 12)], "")]
    assert [line.split(" ")[0] for line in lines] == ["::error"] * 10 + ["::warning"] * 10


def test_a_summary_shows_text_of_logs_as_text() -> None:
    shown = MarkdownIt().render(github.summary([CAUSE]))
    assert "<b>" not in shown
    assert "href" not in shown
    assert "dvwiki: 1 cause behind 2 failed tests: 1 new" in shown


@pytest.mark.parametrize("room", [300, 5_000, 100_000])
def test_a_summary_keeps_within_its_room_and_counts_the_rest(room: int) -> None:
    told = github.summary(causes("NEW", 500), room)
    assert len(told.encode()) <= room
    assert told.endswith(f"\n{500 - told.count('**NEW**')} more causes\n")


def test_code_quality() -> None:
    told = json.loads(codequality.render([CAUSE, replace(CAUSE, word="WAIVED", file="", line=None)], "ip/"))
    assert [each["severity"] for each in told] == ["major", "info"]
    assert told[0]["location"] == {"path": "ip/tb/t.py", "lines": {"begin": 7}}
    assert told[1]["location"]["path"] == "."
    assert told[0]["description"].startswith(f"NEW uvm_error / scoreboard_fail: {EVIL}; 2 tests: ")
    assert {each["check_name"] for each in told} == {"uvm_error/scoreboard_fail"}
    assert json.loads(codequality.render([], "")) == []


def test_html() -> None:
    told = html.summary([CAUSE], lambda brief: [brief.fingerprint, "abc"], lambda page: f"../{page}")
    root = ET.fromstring(f"<x>{told}</x>".replace("<br>", "<br/>"))  # noqa: S314  # a file of this test
    assert [each.get("id") for each in root.iter("a") if each.get("id")] == ["dvwiki-9b1f03c2a7d4", "dvwiki-abc"]
    assert [each.get("href") for each in root.iter("a") if each.get("href")] == ["../.agent/wiki/bugs/RTL_1.md"]
    assert next(root.iter("code")).text == EVIL


def properties(*pairs: tuple[str, str]) -> str:
    return "".join(f'<property name="dvwiki_{name}" value="{value}" />' for name, value in pairs)


def test_junit_gets_the_page_and_what_the_whole_run_showed(tmp_path: Path) -> None:
    named = properties(("label", "a / b"), ("fingerprint", "0a")) + properties(
        ("label", "c / d"), ("fingerprint", "0b")
    )
    known = replace(CAUSE, label='x / "y"', page='é & ".md')
    before = f"<testcase><properties>{named}</properties>&lt;property name=</testcase>"
    after = junit.completed(before, lambda name: [known] if name == "0a" else [])
    found = [(each.get("name"), each.get("value")) for each in ET.fromstring(after).iter("property")]  # noqa: S314
    assert found == [
        ("dvwiki_label", 'x / "y"'),
        ("dvwiki_fingerprint", CAUSE.fingerprint),
        ("dvwiki_page", 'é & ".md'),
        ("dvwiki_label", "c / d"),
        ("dvwiki_fingerprint", "0b"),
    ]
    # So `dvwiki ingest` recognises the file by the hash on record.
    for name, text in (
        ("a.xml", before),
        ("b.xml", after),
        ("c.xml", after + "x"),
        ("a.log", before),
        ("b.log", after),
    ):
        (tmp_path / name).write_text(text)
    digests = [sha256_of(tmp_path / name, since=0) for name in ("a.xml", "b.xml", "c.xml", "a.log", "b.log")]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_a_test_of_a_check_with_several_causes_gets_the_page_of_none_of_them() -> None:
    first, second = (replace(CAUSE, fingerprint=f"{CAUSE.fingerprint}{of_run}") for of_run in ("", "/nightly_2/2"))
    other = replace(CAUSE, fingerprint="0a66a656159d")
    context: Any = SimpleNamespace(config=None, settings=None, guard=None)
    outputs = Outputs(context, finish=lambda _: None, shows_tests=True, is_github=False)
    outputs.__dict__["_briefs"] = [first, second, other]
    assert outputs._causes_of(CAUSE.fingerprint) == []
    assert outputs._causes_of(other.fingerprint) == [other]
    outputs.__dict__["_briefs"] = [second, other]
    assert outputs._causes_of(CAUSE.fingerprint) == [second]


def test_the_hash_does_not_depend_on_where_a_block_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = properties(("label", "a / b"), ("fingerprint", "0a"), ("page", "p.md"))
    (tmp_path / "a.xml").write_text(f"<x>text<y/>{own}<z>{own}</z></x>" * 3)
    (tmp_path / "b.xml").write_text("<x>text<y/><z></z></x>" * 3)
    wanted = sha256_of(tmp_path / "b.xml", since=0)
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr("pytest_dvwiki.capture.files.artefacts._BLOCK", size)
        assert sha256_of(tmp_path / "a.xml", since=0) == wanted


def test_allure_keeps_what_others_wrote() -> None:
    labels = [{"name": "suite", "value": "s"}, {"name": "dvwiki_fingerprint", "value": "0a"}]
    before = json.dumps({"name": "a", "labels": labels, "description": "mine"})
    told = json.loads(allure.completed(before, lambda _: [CAUSE]))
    assert [(each["name"], each["value"]) for each in told["labels"]] == [
        ("suite", "s"),
        ("dvwiki_label", CAUSE.label),
        ("dvwiki_fingerprint", CAUSE.fingerprint),
        ("dvwiki_page", CAUSE.page),
    ]
    assert told["description"].startswith("mine\n\n**NEW** ")
    assert allure.completed(before, lambda _: []) == before
    assert allure.completed('{"labels": []}', lambda _: [CAUSE]) == '{"labels": []}'


def test_headline_without_a_cause() -> None:
    assert headline([]) == "no failure"


def test_of_a_cause_without_a_test_nothing_is_said_of_tests() -> None:
    cause = replace(CAUSE, tests=())
    (line,) = github.workflow_commands([cause], "")
    quality = json.loads(codequality.render([cause], ""))[0]["description"]
    shown = html.summary([cause], lambda brief: [brief.fingerprint], lambda page: page)
    assert github.summary([cause]).startswith("### dvwiki: 1 cause: 1 new\n")
    assert shown.startswith("<h3>dvwiki: 1 cause: 1 new</h3>")
    assert quality == f"NEW uvm_error / scoreboard_fail: {EVIL}; Came with 1f0c2aa [x](y)."
    assert "<br><br>" not in shown
    for text in (line, github.summary([cause]), quality, shown):
        assert "0 " not in text.replace("50%", "").replace("2aa", "")
