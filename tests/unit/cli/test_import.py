"""`dvwiki import` reads a wiki in the layout of the specification: counters become records, text stays."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_dvwiki.cli import main
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import files, layout, occurrence, record, written

SPECIFICATION = Path(__file__).parents[1] / "intake" / "specification"
"""The pages of the specification."""


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project" / ".agent").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    shutil.copytree(SPECIFICATION, tmp_path / "other")
    return tmp_path / "other"


def wiki() -> Path:
    return Path.cwd() / ".agent" / "wiki"


def metadata(path: Path) -> dict[str, Any]:
    return pages.read(path.read_bytes()).metadata


def test_the_pages_of_the_specification_are_taken_over_whole(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(other)]) == 0
    out = capsys.readouterr().out
    assert "patterns/missing_timescale.md: 7 runs, 3 with a reported fix; 4 runs without a date, so " in out
    assert out.endswith("4 pages, 10 runs: 10 new\n")
    pattern = wiki() / "patterns" / "missing_timescale.md"
    found = metadata(pattern)
    assert (found["hit_count"], found["fix_success_rate"]) == (7, 1.0)
    assert (found["first_seen"], found["last_seen"]) == ("2026-04-20", "2026-05-10")
    text = pattern.read_text("utf-8")
    assert text.count("| Added timescale | PASS (reported) |") == 3
    assert "This is the most common compile error produced by CodeGeneratorAgent.\n" in text
    assert "\nE,NOTIME.`timescale not defined\n" in text
    (bug,) = (wiki() / "bugs").glob("RTL_20260510_*.md")
    found = metadata(bug)
    kept = ("type", "status", "confidence", "error_class", "failure_subtype", "ip_type", "spec_section", "hit_count")
    expected = ["RTL_BUG", "confirmed", 0.92, "uvm_error", "protocol_violation", "axi", "3.4.2", 2]
    assert [found[key] for key in kept] == expected
    assert (found["first_seen"], found["last_updated"]) == ("2026-05-10", "2026-05-11")
    text = bug.read_text("utf-8")
    for words in (
        "# AXI SLVERR on 256-byte Boundary Write\n",
        "boundary, regardless of AWLEN value.\n",
        "Identical TB with AWADDR=0xFE00 passes (no boundary crossing)",
        "- [ ] RTL ECO ticket filed: pending human confirmation\n",
        "hardware address decode issue, not a testbench problem.\n",
        "log: sim_axi_burst_test_42.log)",
        "Imported from RTL_20260510_001.\n",
    ):
        assert words in text, words
    hole = metadata(wiki() / "coverage" / "axi_write_cov_back_pressure.md")
    assert (hole["filled"], hole["feature"], hole["priority"]) == (True, "axi_write", 2)
    assert hole["filled_by_task"].startswith("cov_fix_001_import_")
    assert "AWLEN counts beats minus one." in (wiki() / "specs" / "axi_burst_len_clarification.md").read_text("utf-8")
    place = layout(Path.cwd())
    assert build(place, check=True).changed == []
    assert [finding.kind for finding in lint(place, "full")] == ["unknown_source"]


def test_a_dry_run_writes_nothing_and_a_second_import_adds_nothing(
    other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(other), "--dry-run"]) == 0
    assert capsys.readouterr().out.endswith("4 pages, 10 runs: nothing was written\n")
    assert files(Path.cwd() / ".agent") == {}
    assert main(["import", str(other)]) == 0
    before = {path: data for path, data in files(wiki()).items() if path.endswith(".md") and path != "log.md"}
    assert main(["import", str(other)]) == 0
    assert capsys.readouterr().out.endswith("4 pages, 10 runs: 0 new\n")
    assert {path: data for path, data in files(wiki()).items() if path in before} == before


def test_a_run_that_a_bug_and_a_pattern_name_counts_once(other: Path) -> None:
    bug = other / "bugs" / "RTL_20260510_001.md"
    bug.write_text(bug.read_text().replace("protocol_violation", "missing_timescale"))
    assert main(["import", str(other)]) == 0
    assert metadata(wiki() / "patterns" / "missing_timescale.md")["hit_count"] == 7


def test_what_is_here_stays_and_its_counts_add_up(other: Path) -> None:
    place = layout(Path.cwd())
    archive(place, record(1, occurrence(failure_subtype="missing_timescale", error_class="compile_error")))
    page = wiki() / "patterns" / "missing_timescale.md"
    page.write_text(page.read_text("utf-8").replace("## Fix Template", "Our own words.\n\n## Fix Template"), "utf-8")
    assert main(["import", str(other)]) == 0
    text = page.read_text("utf-8")
    assert "Our own words." in text
    assert "CodeGeneratorAgent." not in text
    assert metadata(page)["hit_count"] == 8


def test_what_cannot_be_taken_over_is_said(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = other / "patterns" / "missing_timescale.md"
    pattern.write_text(pattern.read_text().replace("hit_count: 7", "hit_count: 5000"))
    (other / "patterns" / "broken.md").write_text("---\na: [\n---\n")
    (other / "coverage" / "odd.md").write_text("---\ncovergroup: c\nbin: b\naction_class: odd\n---\n")
    (other / "coverage" / "none.md").write_text("---\nbin: b\n---\n")
    (other / "specs" / "README.md").write_text("# The specification of our chip\n")
    assert main(["import", str(other), "--dry-run"]) == 1
    out, err = capsys.readouterr()
    assert "hit_count is 5000, but only 1000 runs are imported" in out
    assert "coverage/odd.md: 1 run; unknown action class odd: needs_investigation; no date, so today is used" in out
    assert "not imported: it lacks a covergroup or a bin" in out
    assert "dvwiki import: patterns/broken.md: " in err
    assert "dvwiki import: specs/README.md has no frontmatter" in err


def test_a_folder_without_such_a_wiki_is_a_mistake(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (other.parent / "empty").mkdir()
    assert main(["import", str(other.parent / "empty")]) == 2
    assert "it has none of the folders bugs, patterns, coverage, specs; give another" in capsys.readouterr().err
    (other.parent / "empty" / "specs").mkdir()
    (other.parent / "empty" / "specs" / "README.md").write_text("# The specification of our chip\n")
    assert main(["import", str(other.parent / "empty")]) == 2
    assert "specs/README.md has no frontmatter" in capsys.readouterr().err
    archive(layout(Path.cwd()), record(1, occurrence()))
    assert main(["import", "."]) == 2
    assert "is the wiki of this project" in capsys.readouterr().err
    shutil.copytree(".agent", other.parent / "copy" / ".agent")
    assert main(["import", str(other.parent / "copy")]) == 2
    assert "is a wiki that dvwiki made; archive its records with `dvwiki ingest`" in capsys.readouterr().err
    assert len(written(Path.cwd())) == 1


def test_secrets_of_the_other_wiki_do_not_come_along(other: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    for path in other.rglob("*.md"):
        path.write_text(f"{path.read_text()}\n## More\n\nThe token is {secret}.\n")
    assert main(["import", str(other)]) == 0
    assert not [path for path, data in files(Path.cwd() / ".agent").items() if secret.encode() in data]
