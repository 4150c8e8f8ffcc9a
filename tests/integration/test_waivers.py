"""Tests `waivers.yaml` in a real run: waived failures are counted separately, and the exit status does not change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Project

WAIVERS = """\
waivers:
  - id: W-1
    match: {test: "*::test_accepted"}
    reason: waits for the specification
    owner: fifo team
    expires: "2999-12-31"
  - id: W-2
    match: {test: "*::test_open"}
    reason: was accepted for a while
    owner: fifo team
    expires: "2020-12-31"
  - id: W-3
    match: {message: "*never*"}
    reason: nobody knows
    owner: fifo team
"""


@pytest.fixture
def accepted(project: Project) -> Project:
    project.pytester.makepyfile(
        """
        def test_accepted(): raise ValueError("wrong word")
        def test_open(): raise KeyError("config")
        """
    )
    (project.path / ".agent").mkdir()
    (project.path / ".agent" / "waivers.yaml").write_text(WAIVERS, encoding="utf-8")
    return project


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_a_waived_failure_is_counted_and_told_apart(accepted: Project, arguments: tuple[str, ...]) -> None:
    result = accepted.run(*arguments, in_process=not arguments)
    result.assert_outcomes(failed=2)
    assert result.ret == 1, "the exit status is what the tests made it"
    text = result.stdout.str()
    assert "2 causes behind 2 failed tests: 1 new, 1 waived" in text
    assert "  waived W-1: waits for the specification (fifo team, until 2999-12-31)" in text
    assert "dvwiki: [WAIVER] expired and no longer in effect: W-2: was accepted for a while" in text
    assert "dvwiki: [WAIVER] W-3: matched no failure of this run" in text
    (record,) = accepted.records()
    assert (record["totals"]["failed"], record["totals"]["waived"]) == (1, 1)
    assert len(record["occurrences"]) == 2
    (waived,) = record["waived"]
    assert (waived["id"], waived["tests"], waived["expires"]) == (
        "W-1",
        [f"{next(accepted.path.glob('test_*.py')).name}::test_accepted"],
        "2999-12-31",
    )
    assert [each["outcome"] for each in record["other"]] == ["waived"]
    assert len(accepted.pages()) == 1, "a waiver silences its cause"


def test_the_page_of_a_cause_says_that_it_is_waived(accepted: Project) -> None:
    waivers = accepted.path / ".agent" / "waivers.yaml"
    waivers.unlink()
    accepted.run(in_process=True)
    assert len(accepted.pages()) == 2
    waivers.write_text(WAIVERS, encoding="utf-8")
    accepted.run(in_process=True)
    text = "".join(path.read_text(encoding="utf-8") for path in (accepted.wiki / "bugs").glob("[!_]*.md"))
    told = "Waived in the newest run by `W-1`: waits for the specification (fifo team, until 2999-12-31)."
    assert text.count(told) == 1
    assert "hit_count: 2" in text
    checked = accepted.pytester.run("dvwiki", "build", "--check")
    assert checked.ret == 0, checked.stdout.str()


def test_a_file_that_cannot_be_read_is_told_and_breaks_nothing(accepted: Project) -> None:
    (accepted.path / ".agent" / "waivers.yaml").write_text("waivers:\n  - id: [\n", encoding="utf-8")
    result = accepted.run(in_process=True)
    result.assert_outcomes(failed=2)
    assert result.ret == 1
    assert "waivers.yaml:3: " in result.stdout.str()
    assert "no failures are waived until this is fixed" in result.stdout.str()
    assert len(accepted.pages()) == 2


def test_strict_logs_let_a_line_stand_that_is_accepted_for_now(project: Project) -> None:
    project.pytester.makepyfile(
        """
        def test_accepted(): print("UVM_ERROR @ 12: env.sb [SCBD] lost packet 7")
        def test_other_value(): print("UVM_ERROR @ 12: env.sb [SCBD] lost packet 8")
        def test_both():
            print("UVM_ERROR @ 12: env.sb [SCBD] lost packet 7")
            print("UVM_ERROR @ 13: env.sb [DRV] no answer")
        """
    )
    (project.path / ".agent").mkdir()
    waivers = project.path / ".agent" / "waivers.yaml"
    accepted = "    match: {message: '*lost packet 7'}\n    reason: r\n    owner: o\n"
    waivers.write_text(f"waivers:\n  - id: W-1\n{accepted}", encoding="utf-8")
    result = project.run("--dvwiki-strict-logs", in_process=True)
    result.assert_outcomes(passed=1, failed=2)
    assert set(project.causes()) == {"test_other_value", "test_both"}
    assert "that matches by message or pattern" in result.stdout.str()
    waivers.write_text(f"waivers:\n  - id: W-1\n{accepted}    expires: '2020-01-01'\n", encoding="utf-8")
    project.run("--dvwiki-strict-logs", in_process=True).assert_outcomes(failed=3)
    waivers.write_text("mode: global\n", encoding="utf-8")
    project.run("--dvwiki-strict-logs", in_process=True).assert_outcomes(passed=3)


def test_a_test_that_passes_again_after_a_waiver_is_news(accepted: Project) -> None:
    accepted.run(in_process=True)
    accepted.pytester.makepyfile("def test_accepted(): pass\ndef test_open(): pass\n")
    assert accepted.run(in_process=True).ret == 0
    assert len(accepted.records()[-1]["passed_again"]) == 2
