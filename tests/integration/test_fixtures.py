"""A test, or an agent that runs as a test, asks the wiki with fixtures, whether or not its run archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Project

TESTS = """
import pytest

def test_breaks():
    assert 1 + 1 == 3

def test_agent(dvwiki, dvwiki_prompt, dvwiki_context):
    known = dvwiki.get_known_error_patterns()
    assert known.startswith("**"), known
    assert dvwiki.search("assert")
    assert dvwiki_prompt("Known:\\n{{KNOWN_ERROR_PATTERNS}}\\n{{KNOWN_RTL_BUGS}}\\nEnd") == f"Known:\\n{known}\\nEnd"
    assert dvwiki_prompt("{{KNOWN_RTL_BUGS}}, {{X}}", profile={"KNOWN_RTL_BUGS": "none", "X": "1"}) == "none, 1"
    assert "assert" in dvwiki_context(test="test_it.py::test_breaks")
    assert dvwiki_context("assert") and not dvwiki_context("licence")

def test_empty(dvwiki, dvwiki_prompt):
    assert dvwiki.get_known_rtl_bugs() == "" and dvwiki.search("x") == []
    assert dvwiki_prompt("a\\n{{KNOWN_RTL_BUGS}}\\nb") == "a\\nb"
"""


@pytest.mark.parametrize("plugin", [True, False])
def test_the_fixtures_tell_what_earlier_runs_left(project: Project, plugin: bool) -> None:
    (project.path / "test_it.py").write_text(TESTS)
    project.run("-k", "breaks")
    arguments = ("--dvwiki",) if plugin else ()
    done = project.pytester.runpytest_subprocess("-p", "no:cacheprovider", "-k", "agent", *arguments)
    done.assert_outcomes(passed=1, deselected=2)


def test_an_empty_project_knows_nothing(project: Project) -> None:
    (project.path / "test_it.py").write_text(TESTS)
    project.run("-k", "empty").assert_outcomes(passed=1, deselected=2)
    assert not (project.path / ".agent").exists()
