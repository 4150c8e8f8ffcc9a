"""For sources outside git, the run's changelist replaces the commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from .conftest import Project

P4 = """\
Change 1234570 on 2026/11/22 by ben@ws 'fifo: reset the read pointer'
Change 1234568 on 2026/11/21 by ann@ws 'fifo: wider'
"""


def run(project: Project, revision: str, *, passes: bool, log: bool = True) -> str:
    project.pytester.makepyfile(test_it=f"def test_word(): assert {passes}, 'wrong word'")
    (project.path / "changes.txt").write_text(P4, encoding="utf-8")
    named = ("--dvwiki-revision-log=changes.txt",) if log else ()
    done = project.run("--dvwiki-task=nightly", f"--dvwiki-revision={revision}", *named, in_process=True)
    return " ".join(done.stdout.str().split())


def test_a_cause_came_with_and_was_fixed_by_a_changelist(project: Project) -> None:
    run(project, "1234567", passes=True)
    assert "came with @1234568 fifo: wider" in run(project, "1234568", passes=False)
    assert "by @1234570 fifo: reset the read pointer" in run(project, "1234570", passes=True)
    assert [record["vcs"]["commit"] for record in project.records()] == ["@1234567", "@1234568", "@1234570"]
    (page,) = project.pages()
    assert "revision `@1234568`" in (project.wiki / "bugs" / page).read_text(encoding="utf-8")


def test_where_the_order_is_not_known_the_run_says_so(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run(project, "drop_b", passes=False, log=False)
    text = run(project, "drop_a", passes=True, log=False)
    assert "it is not known which of @drop_b and @drop_a is older" in text
    (project.path / "results.xml").write_text(
        '<testsuite name="a" timestamp="2026-11-24T10:00:00+00:00"><testcase classname="a" name="b">'
        '<failure message="x is 3"/></testcase></testsuite>'
    )
    project.pytester.run("dvwiki", "ingest", "results.xml", "--revision", "drop_c")
    monkeypatch.setenv("DVWIKI_REVISION", "drop d")
    assert "expected the name of a revision" in project.pytester.run("dvwiki", "ingest", "results.xml").stderr.str()
    assert {record["vcs"]["commit"] for record in project.records()} == {"@drop_a", "@drop_b", "@drop_c"}
