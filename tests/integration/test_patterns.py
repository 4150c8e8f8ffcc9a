"""A project's patterns name its failures; a mistake in one is reported and changes nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .conftest import install

if TYPE_CHECKING:
    from .conftest import Project

PATTERN = """
- id: {id}
  error_class: sim_error
  failure_subtype: {subtype}
  tier: cause
  match: ["{match}"]
  description: Ours.
  fix: Ask the link team.
"""
GOOD = PATTERN.format(id="own.link", subtype="protocol_violation", match="LinkDown: lane \\\\d+ lost its lock")
FAILING = """
    class LinkDown(Exception): pass
    def test_link(): raise LinkDown("lane 3 lost its lock")
    def test_other(): assert 1 + 1 == 3
    """


def given(project: Project, text: str, name: str = "own.yaml") -> None:
    folder = project.path / ".agent" / "patterns"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    project.pytester.makepyfile(FAILING)


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_a_project_s_pattern_names_a_failure(project: Project, arguments: tuple[str, ...]) -> None:
    given(project, GOOD)
    assert project.run(*arguments, in_process=True).ret == 1
    assert project.causes() == {
        "test_link": "sim_error/protocol_violation",
        "test_other": "python_error/assertion_error",
    }
    (cause,) = [cause for cause in project.records()[0]["occurrences"] if cause["pattern"] == "own.link"]
    assert cause["primary"].endswith("LinkDown: lane 3 lost its lock")


def test_a_project_s_pattern_brings_a_subtype_and_says_what_its_page_says(project: Project) -> None:
    given(project, GOOD.replace("protocol_violation", "link_loss"))
    project.run("-k", "link", in_process=True)
    assert project.causes() == {"test_link": "sim_error/link_loss"}
    page = (project.wiki / "patterns" / "link_loss.md").read_text(encoding="utf-8")
    assert "# Pattern: Link loss\n\n## Description\n\nOurs.\n" in page
    assert "## Fix Template\n\nAsk the link team.\n" in page


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD.replace("tier: cause", "tier: root"), r"own.yaml:\d+: pattern own.link: field tier: .*root"),
        (GOOD.replace("LinkDown", "(?=LinkDown)"), r"own.yaml:\d+: pattern own.link: field match: .*look-around"),
        ("- {", r"own.yaml:2: .*; correct this line"),
    ],
)
def test_a_broken_one_is_named_and_the_run_goes_on_without_it(project: Project, text: str, told: str) -> None:
    given(project, text)
    without = project.run(plugin=False, in_process=True)
    result = project.run(in_process=True)
    assert result.ret == without.ret == 1
    result.stdout.re_match_lines([rf"dvwiki: a pattern was left out: .*{told}"])
    assert project.causes()["test_other"] == "python_error/assertion_error"


def test_only_the_broken_one_of_a_file_is_left_out(project: Project) -> None:
    given(project, GOOD + PATTERN.format(id="own.bad", subtype="scorebord_fail", match="never"))
    result = project.run(in_process=True)
    result.stdout.re_match_lines(
        [r".*own.yaml:\d+: pattern own.bad: field failure_subtype: 'scorebord_fail' is very similar to"]
    )
    assert project.causes()["test_link"] == "sim_error/protocol_violation"


def test_a_conftest_gives_more_and_the_project_s_own_win(project: Project) -> None:
    given(project, GOOD)
    (project.path / "vip.yaml").write_text(
        PATTERN.format(id="own.link", subtype="timeout", match="never found")
        + PATTERN.format(id="vip.sum", subtype="scoreboard_fail", match="assert .*1 \\\\+ 1.* == 3"),
        encoding="utf-8",
    )
    project.pytester.makeconftest(
        """
        from pathlib import Path
        def pytest_dvwiki_patterns(settings): return Path(__file__).parent / "vip.yaml"
        """
    )
    project.run(in_process=True)
    assert {cause["pattern"] for cause in project.records()[0]["occurrences"]} == {"own.link", "vip.sum"}


def test_a_hook_that_breaks_is_told_and_the_project_s_own_stay(project: Project) -> None:
    given(project, GOOD)
    project.pytester.makeconftest("def pytest_dvwiki_patterns(settings): return 1 / 0")
    result = project.run(in_process=True)
    assert result.ret == 1
    told = "dvwiki: no patterns of plugins or hooks are used, because one failed: ZeroDivisionError: division by zero"
    result.stdout.fnmatch_lines([told])
    assert project.causes()["test_link"] == "sim_error/protocol_violation"


def test_a_package_gives_more_by_its_entry_point(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    given(project, "")
    packages = project.path / "packages"
    install(
        packages,
        "vip = vip\ngone = no_such_module",
        vip="from pathlib import Path\n"
        "def pytest_dvwiki_patterns(settings): return [Path(__file__).with_name('vip.yaml')]\n",
    )
    (packages / "vip.yaml").write_text(GOOD, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(packages), prepend=":")
    result = project.run()
    assert project.causes()["test_link"] == "sim_error/protocol_violation"
    result.stdout.fnmatch_lines(["dvwiki: entry point dvwiki: gone = no_such_module was left out: ModuleNot*"])
