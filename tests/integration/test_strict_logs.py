"""Tests `--dvwiki-strict-logs` without a simulator: output of plain tests, and results that do not change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Project

TESTS = """
    import sys
    import pytest

    def test_prints(): print("all is well\\nUVM_ERROR sb.sv(210) @ 1250: env.sb [SCBD] lost a packet")
    def test_prints_to_stderr(): print("ERROR: rtl/dut.sv:25: q reached 3", file=sys.stderr)
    def test_counts_zero(): print("UVM_ERROR :    0\\nErrors: 0, Warnings: 0\\ntimeout set to 10 us")
    def test_fails():
        print("UVM_ERROR sb.sv(210) @ 1250: env.sb [SCBD] lost a packet")
        raise KeyError("config")

    @pytest.mark.xfail
    def test_expected():
        print("UVM_ERROR @ 0: env.sb [SCBD] known")
        assert 0

    @pytest.mark.xfail
    def test_unexpected(): print("UVM_ERROR @ 0: env.sb [SCBD] known")
    """


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_a_passing_test_with_an_error_line_fails_and_is_archived(project: Project, arguments: tuple[str, ...]) -> None:
    project.pytester.makepyfile(TESTS)
    result = project.run("--dvwiki-strict-logs", *arguments, in_process=True)
    result.assert_outcomes(passed=1, failed=3, xfailed=1, xpassed=1)
    assert result.ret == 1
    assert project.causes() == {
        "test_prints": "uvm_error/scoreboard_fail",
        "test_prints_to_stderr": "sim_error/assertion_fail",
        "test_fails": project.causes()["test_fails"],
    }
    result.stdout.fnmatch_lines(
        [
            "The test passed, but its log has an error at line 2 of its output: UVM_ERROR sb.sv(210) @ 1250: *",
            "*add a pattern of tier benign to .agent/patterns*",
        ]
    )
    (cause,) = [cause for cause in project.records()[0]["occurrences"] if "lost a packet" in cause["primary"]]
    assert cause["command"]["arguments"][-2:] == ["--dvwiki", "--dvwiki-strict-logs"]


def test_each_way_to_switch_it_on(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.pytester.makepyfile("def test_prints(): print('UVM_ERROR @ 0: env.sb [SCBD] lost a packet')")
    assert project.run("-o", "dvwiki_strict_logs=true", in_process=True).ret == 1
    monkeypatch.setenv("DVWIKI_STRICT_LOGS", "1")
    assert project.run(in_process=True).ret == 1
    monkeypatch.delenv("DVWIKI_STRICT_LOGS")
    (project.path / ".agent" / "project.yaml").write_text("wiki:\n  strict_logs: true\n", encoding="utf-8")
    assert project.run(in_process=True).ret == 1


def test_without_it_they_pass_and_are_counted(project: Project) -> None:
    project.pytester.makepyfile(TESTS.replace('raise KeyError("config")', "pass"))
    result = project.run("-v", "--dvwiki-task", "nightly", in_process=True)
    result.assert_outcomes(passed=4, xfailed=1, xpassed=1)
    assert project.records()[0]["totals"]["noise_errors"] == 3
    result.stdout.fnmatch_lines(["3 error lines in 3 tests that passed anyway:", "*1  test_fails"])
    assert "error lines" not in project.run(in_process=True).stdout.str()


def test_a_benign_pattern_accepts_a_line(project: Project) -> None:
    folder = project.path / ".agent" / "patterns"
    folder.mkdir(parents=True)
    (folder / "own.yaml").write_text(
        "- {id: own.soft, tier: benign, match: ['lost a packet'], description: The bench drops packets.}\n",
        encoding="utf-8",
    )
    project.pytester.makepyfile("def test_prints(): print('UVM_ERROR @ 0: env.sb [SCBD] lost a packet')")
    assert project.run("--dvwiki-strict-logs", in_process=True).ret == 0
