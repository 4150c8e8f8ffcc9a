"""A session checks the wiki by itself, and prints its findings on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Project

LINE = "*the wiki has 1 finding (1 schema): `dvwiki lint` lists it*"


@pytest.fixture
def ailing(project: Project) -> Project:
    """Return a project whose wiki has a page with an unknown status."""
    project.pytester.makepyfile("def test_sum():\n    assert 1 + 1 == 3\n\ndef test_more():\n    pass\n")
    project.run(in_process=True)
    (page,) = (project.wiki / "bugs").glob("[!_]*.md")
    page.write_text(page.read_text("utf-8").replace("status: open", "status: done"), "utf-8")
    return project


def test_a_session_says_what_is_wrong_with_the_wiki(ailing: Project) -> None:
    result = ailing.run("-k", "more", in_process=True)
    result.stdout.fnmatch_lines([LINE])
    assert result.ret == pytest.ExitCode.OK


def test_a_sound_wiki_is_no_news(project: Project) -> None:
    project.pytester.makepyfile("def test_sum():\n    assert 1 + 1 == 3\n")
    project.run(in_process=True)
    project.run(in_process=True).stdout.no_fnmatch_line("*dvwiki lint*")


def test_what_the_run_mends_itself_is_no_news(ailing: Project) -> None:
    (ailing.wiki / "index.md").write_text("garbage")
    ailing.run("-k", "more", in_process=True).stdout.fnmatch_lines(
        ["*the wiki has * findings (* orphan, 1 schema): `dvwiki lint` lists*"]
    )
    ailing.run(in_process=True).stdout.fnmatch_lines([LINE])


def test_a_project_may_leave_it_to_the_command(ailing: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVWIKI_LINT_ON_STARTUP", "no")
    ailing.run("-k", "more", in_process=True).stdout.no_fnmatch_line("*dvwiki lint*")


def test_with_workers_it_is_said_once(ailing: Project) -> None:
    result = ailing.run("-k", "more", "-n", "2", in_process=True)
    assert sum("`dvwiki lint`" in line for line in result.outlines) == 1
