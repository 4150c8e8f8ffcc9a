"""`dvwiki ingest` of what a run left behind that archived itself: each artefact counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Project


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_the_junit_file_of_an_archived_run_is_known(project: Project, arguments: tuple[str, ...]) -> None:
    project.pytester.makepyfile("def test_sum():\n    assert 1 + 1 == 3\n")
    project.run("--junitxml=reports/junit.xml", *arguments)
    (record,) = project.records()
    assert [source["path"] for source in record["sources"]] == ["reports/junit.xml"]
    done = project.pytester.run("dvwiki", "ingest", "reports")
    assert done.ret == 0
    done.stdout.fnmatch_lines([f"*already archived as {record['task_id']}; nothing changed"])
    assert len(project.records()) == 1


def test_an_older_junit_file_is_another_run(project: Project) -> None:
    project.pytester.makepyfile("def test_sum():\n    assert 1 + 1 == 3\n")
    project.run("--junitxml=junit.xml", plugin=False)
    project.run()
    assert project.records()[0]["sources"] == []
    assert project.pytester.run("dvwiki", "ingest", "junit.xml").ret == 0
    assert len(project.records()) == 2
