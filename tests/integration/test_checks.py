"""A check is a test: collected if the plugin is on, archived and waived like any other failure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import main

if TYPE_CHECKING:
    import pytest

    from .conftest import Project

DOCS = Path(__file__).parents[2] / "docs" / "checks.md"
CHECK = (
    "description: The log names its tool.\ninput_files: [sim.log]\nitems: [{name: tool, match: 'tool (?P<value>.+)'}]\n"
)


def test_a_violated_check_is_a_failure_like_any_other(project: Project) -> None:
    path = project.path
    (path / "tool.check.yaml").write_text(f"{CHECK}requirements: {{value: 1, pattern_items: [xsim]}}\n")
    (path / "bad.check.yaml").write_text("description: d\ninputs: []\n")
    (path / "none.check.yaml").write_text("description: d\n")
    (path / "unused.check.yaml").write_text(f"{CHECK}waivers: {{value: 1, waive_items: [tool]}}\n")
    (path / "new.check.yaml.draft").write_text(CHECK)  # a draft does not run
    (path / "sim.log").write_text("tool vcs 1\n")
    project.pytester.makepyfile("def test_passes(): pass")
    waivers = path / ".agent" / "waivers.yaml"
    waivers.parent.mkdir()
    waivers.write_text("waivers:\n- {id: W, match: {test: 'bad*'}, reason: r, owner: o}\n")

    result = project.run("-rs", "-n", "2")
    result.assert_outcomes(passed=2, failed=2, skipped=1)
    result.stdout.fnmatch_lines_random(
        [
            "check violated in tool.check.yaml: 'tool': does not match 'xsim': vcs 1 (sim.log:1)",
            "check cannot be run: bad.check.yaml:2: there is no key 'inputs'; the nearest is 'input_files'",
            "*[[]WAIVER[]] unused.check.yaml:4: 'tool' matches no violation; remove it*",
            "*the check has no conditions*",
        ]
    )
    (first,) = project.records()
    causes = {cause["failure_subtype"]: cause for cause in first["occurrences"]}
    assert causes.keys() == {"check_violated", "check_unusable"}
    assert [waived["tests"] for waived in first["waived"]] == [["bad.check.yaml::bad"]]
    assert len(project.pages()) == 1  # a waived failure has none
    violated = causes["check_violated"]
    assert {"tool.check.yaml::tool", "--dvwiki"} <= set(violated["command"]["arguments"])

    # Another line and another value are the same cause; without the plugin there is no check.
    (path / "sim.log").write_text("\n\ntool questa 2\n")
    project.run("tool.check.yaml", in_process=True)
    assert [cause["fingerprint"] for cause in project.records()[-1]["occurrences"]] == [violated["fingerprint"]]
    assert project.run("--collect-only", "-q", in_process=True).stdout.str().count(".check.yaml::") == 4
    project.run(plugin=False, in_process=True).assert_outcomes(passed=1)


def test_the_example_of_the_documentation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUN", "run")
    blocks = re.findall(r"^`?([\w./]+)`?:\n\n```\w+\n(.*?)^```$", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    for name, text in blocks:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (printed,) = re.findall(
        r"^```console\n\$ dvwiki check checks/netlist.check.yaml\n(.*?)^```$",
        DOCS.read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    assert len(blocks) == 3
    assert main(["check", "checks/netlist.check.yaml"]) == 1
    assert capsys.readouterr().out == printed
