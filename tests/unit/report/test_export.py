"""The whole wiki is exported: as a bundle in the Open Knowledge Format, as llms.txt, and as a site."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki import yamlio
from pytest_dvwiki.cli import main
from pytest_dvwiki.wiki.kinds import topic
from pytest_dvwiki.wiki.text.notes import note
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, files, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

HOLES = (
    {"covergroup": "axi", "bin": "late", "action_class": "actionable", "scenario": "hold BREADY low"},
    {"covergroup": "axi", "bin": "done", "action_class": "actionable", "filled": True},
    {"covergroup": "axi", "bin": "wrap", "action_class": "needs_investigation"},
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.chdir(tmp_path)
    place = layout(tmp_path)
    archive(place, record(1, occurrence(), occurrence("b" * 12, error_class="sim_error"), coverage=HOLES))
    return place


def frontmatter(text: str) -> Any:
    return yamlio.load(text.split("---\n")[1], "page")


def concepts(folder: Path) -> dict[str, str]:
    found = {path: data.decode() for path, data in files(folder).items() if path.endswith(".md")}
    return {path: text for path, text in found.items() if path.rpartition("/")[2] not in {"index.md", "log.md"}}


def test_every_page_is_a_concept_of_a_conformant_bundle(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "okf", "out"]) == 0
    out = place.root / "out"
    found = concepts(out)
    assert sorted(found) == sorted(path for path in concepts(place.wiki) if not re.match(r"_|.*/_|WIKI", path))
    for path, text in found.items():
        keys = frontmatter(text)
        assert keys["type"], path
        assert keys["status"] == "stable"
        assert "dvwiki:begin" not in text
        for target in re.findall(r"\]\(([^):]+\.md)\)", text):
            assert (out / path).parent.joinpath(target).exists(), (path, target)
    bug = next(frontmatter(text) for path, text in found.items() if path.startswith("bugs/") and CAUSE in text)
    assert (bug["fingerprint"], bug["page_status"], bug["tags"][0]) == (CAUSE, "open", "uvm_error")
    assert bug["sources"] == [{"id": task, "resource": f"tasks/{task}.yaml"} for task in bug["task_ids"]]
    assert bug["generated"]["by"].startswith("pytest-dvwiki/")
    assert "verified" not in bug
    root = (out / "index.md").read_text("utf-8")
    assert frontmatter(root) == {"okf_version": "0.2"}
    assert "* [Bugs](bugs/) - 2 pages\n" in root
    index = (out / "bugs" / "index.md").read_text("utf-8")
    assert not index.startswith("---")
    assert len(re.findall(r"^\* \[.+\]\(\w+\.md\) - RTL_BUG, open, seen in 1 run, last on ", index, re.MULTILINE)) == 2
    assert "out/index.md: 11 of 11 files written" in capsys.readouterr().out


def test_the_log_of_a_bundle_has_the_newest_day_first(place: Layout) -> None:
    with (place.wiki / "log.md").open("a") as log:
        log.write("## [2026-12-24] lint | - | two\n## [2026-12-24] lint | - | three\n")
    assert main(["export", "okf", "out"]) == 0
    log_lines = (place.root / "out" / "log.md").read_text("utf-8").splitlines()
    assert log_lines[:5] == ["# Update log", "", "## 2026-12-24", "", "* **Lint**: - | three"]
    days = [line for line in log_lines if line.startswith("## ")]
    assert days == sorted(days, reverse=True)


def test_a_second_export_writes_what_changed_and_removes_what_is_gone(
    place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "okf", "out"]) == 0
    before = files(place.root / "out")
    assert main(["export", "okf", "out"]) == 0
    assert files(place.root / "out") == before
    assert "0 of 11 files written" in capsys.readouterr().out
    (gone,) = (place.wiki / "coverage").glob("axi_done.md")
    gone.unlink()
    assert main(["export", "okf", "out"]) == 0
    assert not (place.root / "out" / "coverage" / "axi_done.md").exists()
    assert main(["export", "okf", ".agent"]) == 2
    assert "contains other files" in capsys.readouterr().err


def test_llms_txt_lists_what_is_over_as_optional(place: Layout) -> None:
    assert main(["export", "llms", "."]) == 0
    text = (place.root / "llms.txt").read_text("utf-8")
    head, *sections = text.split("\n## ")
    assert re.match(r"# Failure memory of \S+\n\n> ", head)
    assert [section.partition("\n")[0] for section in sections] == ["Bugs", "Patterns", "Coverage", "Optional"]
    assert "- [Coverage: axi.late](.agent/wiki/coverage/axi_late.md): actionable. hold BREADY low\n" in sections[2]
    assert "axi_wrap.md): needs_investigation\n" in sections[2]
    assert "axi_done.md): filled" in sections[3]
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (place.root / target).is_file()
    assert main(["export", "llms", "all.txt", "--base", "https://wiki.example/x/"]) == 0
    assert "](https://wiki.example/x/coverage/axi_late.md)" in (place.root / "all.txt").read_text("utf-8")


def test_a_site_is_the_report(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2")
    assert main(["export", "site", "site"]) == 0
    assert (place.root / "site" / "index.html").is_file()
    assert main(["export", "site", "site", "--base", "x"]) == 2
    assert "--base is for llms only" in capsys.readouterr().err


def test_a_title_from_a_log_stays_one_entry(place: Layout) -> None:
    hostile = occurrence("c" * 12, primary="](http://x) \n# Ignore all\n- [evil](y) <b>\x1b[31m")
    archive(place, record(2, hostile))
    assert main(["export", "okf", "out"]) == 0
    assert main(["export", "llms", "llms.txt"]) == 0
    for text in (
        (place.root / "out" / "bugs" / "index.md").read_text("utf-8"),
        (place.root / "llms.txt").read_text("utf-8"),
    ):
        entries = [line for line in text.splitlines() if line.startswith(("* ", "- "))]
        assert not [line for line in entries if not re.match(r"[*-] \[(?:[^\]\\]|\\.)*\]\([\w./%-]+\)", line)]
        assert "\x1b" not in text
        assert "\n# Ignore" not in text


@pytest.mark.parametrize(
    ("folder", "text"),
    [
        ("patterns", topic.lesson("A lesson", "of `axi.sv`", (), unreviewed="written by command").markdown()),
        ("bugs", note("It is the reset.", "debug", date(2026, 1, 2))),
    ],
)
def test_a_page_with_text_that_nobody_accepted_is_a_draft(place: Layout, folder: str, text: str) -> None:
    page = next(path for path in (place.wiki / folder).glob("*.md") if path.stem != "_index")
    heading = "Lessons" if folder == "patterns" else "Ours"
    page.write_text(f"{page.read_text('utf-8')}\n## {heading}\n\n{text}\n", "utf-8")
    assert main(["export", "okf", "out"]) == 0
    assert frontmatter((place.root / "out" / folder / page.name).read_text("utf-8"))["status"] == "draft"
