"""Tests `--dvwiki-coverage`: holes in a session's reports become pages, and later are marked as filled."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.wiki.text import pages

if TYPE_CHECKING:
    from .conftest import Project

LEVELS = """
    from pathlib import Path
    import pytest

    @pytest.mark.parametrize("level", [0, 1, 2, 3])
    def test_level(level):
        hits = "".join(f'<bin{at} bin="{at}" hits="{int(at == level)}"/>' for at in range(5))
        text = f'<top abs_name="top"><fifo abs_name="top.fifo"><l abs_name="top.fifo.l">{hits}</l></fifo></top>'
        Path("out").mkdir(exist_ok=True)
        Path(f"out/{level}.xml").write_text(text)

    def test_other(): pass
"""
OPTION = "--dvwiki-coverage=out/*.xml"


def holes(project: Project) -> dict[str, Any]:
    found = (pages.read(path.read_bytes()).metadata for path in (project.wiki / "coverage").glob("[!_]*.md"))
    return {page["bin"]: page["filled_by_task"] for page in found}


def fill(project: Project) -> None:
    """Add the test that reaches the last level."""
    path = project.path / "test_it.py"
    path.write_text(path.read_text().replace("[0, 1, 2, 3]", "[0, 1, 2, 3, 4]"))


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_passing_run_finds_a_hole_and_a_later_one_fills_it(project: Project, workers: tuple[str, ...]) -> None:
    project.pytester.makepyfile(test_it=LEVELS)
    found = project.run(OPTION, *workers, in_process=True)
    found.stdout.fnmatch_lines(["COVERAGE   4 of 5 bins covered, 1 hole: 1 new", "  hole   fifo.l: 4", "  page   *"])
    assert found.ret == 0
    assert holes(project) == {"4": None}
    (record,) = project.records()
    assert [row["bin"] for row in record["coverage"]] == ["4"]
    assert [source["path"] for source in record["sources"]] == [f"out/{level}.xml" for level in range(4)]
    assert all(re.fullmatch("[0-9a-f]{64}", source["sha256"]) for source in record["sources"])
    fill(project)
    project.run(OPTION, *workers, in_process=True).stdout.fnmatch_lines(
        ["COVERAGE   5 of 5 bins covered, 0 holes: 1 filled", "  filled fifo.l: 4"]
    )
    assert holes(project) == {"4": project.records()[-1]["task_id"]}


def test_a_run_without_news_makes_no_record(project: Project) -> None:
    project.pytester.makepyfile(test_it=LEVELS)
    project.run(OPTION, in_process=True)
    again = project.run(OPTION, in_process=True)
    again.stdout.fnmatch_lines(["COVERAGE   4 of 5 bins covered, 1 hole"])
    again.stdout.no_fnmatch_line("*archived as*")
    assert len(project.records()) == 1


def test_reports_of_earlier_runs_do_not_count(project: Project) -> None:
    project.pytester.makepyfile(test_it=LEVELS)
    project.run(plugin=False, in_process=True)
    result = project.run(OPTION, "test_it.py::test_other", in_process=True)
    result.stdout.no_fnmatch_line("*COVERAGE*")
    assert project.records() == []


@pytest.mark.parametrize("chosen", [("-k", "level and 1"), ("test_it.py::test_level",), ("-x", "--maxfail=1")])
def test_a_part_of_the_tests_finds_no_holes_but_fills_them(project: Project, chosen: tuple[str, ...]) -> None:
    project.pytester.makepyfile(
        test_it=LEVELS + '\n    def test_zz():\n        assert "-x" not in __import__("sys").argv'
    )
    part = project.run(OPTION, *chosen, in_process="-x" not in chosen)
    part.stdout.fnmatch_lines(["COVERAGE   * of 5 bins covered, by some of the tests"])
    assert not any(record["coverage"] for record in project.records())
    project.run(OPTION, in_process=True)
    fill(project)
    project.run(OPTION, "-k", "level and 4", in_process=True)
    assert holes(project) == {"4": project.records()[-1]["task_id"]}


def test_a_regression_with_a_name_is_whole_whatever_it_chooses(project: Project) -> None:
    project.pytester.makepyfile(test_it=LEVELS)
    project.run(OPTION, "-k", "level", "--dvwiki-task", "nightly", in_process=True)
    assert holes(project) == {"4": None}


def test_a_broken_report_is_named_and_the_exit_status_stays_the_tests_own(project: Project) -> None:
    project.pytester.makepyfile(test_it=LEVELS + '\n    def test_zz(): Path("out/9.xml").write_text("<top abs_name=")')
    result = project.run(OPTION, in_process=True)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["dvwiki: a coverage report was left out: out/9.xml: not well-formed XML: *"])
    assert project.records() == []


def test_a_glob_that_matches_nothing_is_told(project: Project) -> None:
    project.pytester.makepyfile(test_it=LEVELS)
    result = project.run("--dvwiki-coverage=nowhere/*.xml none.yml", in_process=True)
    result.stdout.fnmatch_lines(["dvwiki: no coverage report was read: no file matches nowhere/[*].xml none.yml in *"])
    assert result.ret == 0


def test_the_configuration_may_name_the_reports_and_a_failure_shares_their_record(project: Project) -> None:
    project.pytester.makeini("[pytest]\ndvwiki_coverage = out/*.xml missing/*.yml\n")
    project.pytester.makepyfile(test_it=LEVELS + "\n    def test_zz(): assert 0")
    assert project.run(in_process=True).ret == 1
    (record,) = project.records()
    assert (len(record["occurrences"]), len(record["coverage"])) == (1, 1)


@pytest.mark.skipif(find_spec("cocotb_coverage") is None, reason="needs cocotb-coverage")
def test_the_example_of_the_documentation_finds_its_hole_and_fills_it(project: Project) -> None:
    page = (Path(__file__).parents[2] / "docs" / "coverage.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (command,) = (shlex.split(line[2:]) for line in page.splitlines() if line.startswith("$ pytest --dvwiki "))
    said: list[str] = []
    for number in range(1, len(blocks) + 1):
        (project.path / "test_levels.py").write_text("\n\n".join(blocks[:number]), "utf-8")
        lines = project.run(*command[2:], in_process=True).outlines
        said += [line for line in lines if line.startswith(("COVERAGE", "  hole", "  filled"))]
    assert said == re.findall(r"^(?:COVERAGE|  (?:hole|filled)) .*$", page, re.MULTILINE)
    assert len(said) == 4
