"""Tests `--dvwiki-strict-logs` with a real simulator: a passing cocotb test with an error in its log fails."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from .harness import Project, missing

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(missing("icarus") is not None, reason=str(missing("icarus"))),
]

STRICT = "--dvwiki-strict-logs"
RUNNER = ("test_runner.py::test_checks",)
FILTER = {"COCOTB_TEST_FILTER": r"\.(passes|expected_to_fail|logs_errors_and_passes|hdl_complains_and_passes)$"}
NATIVE = (
    *("-p", "cocotb_tools._pytest.plugin", "--cocotb-simulator=icarus", "test_native.py"),
    *("-k", "test_checks and (expected_to_fail or errors_and_passes or complains_and_passes)"),
)
NOISY = {"logs_errors_and_passes", "hdl_complains_and_passes"}
BENIGN = """
- id: own.soft
  tier: benign
  match: ["q reached \\\\d+", "expected 0x55 got 0xAA", "and says it again"]
  description: The bench provokes these.
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.copy("outcomes", tmp_path / "project")


def failed(project: Project) -> dict[str, str]:
    return {
        test.nodeid.rpartition("::")[2]: cause.label for cause in project.archive.record.causes for test in cause.tests
    }


@pytest.mark.parametrize("more", [(), ("-n", "2"), pytest.param(("-s",), marks=pytest.mark.further_mode)])
def test_a_runner_s_tests(project: Project, more: tuple[str, ...]) -> None:
    call = project.run(*RUNNER, *more, STRICT, env=FILTER)
    assert (call.status, call.tally) == (1, "1 failed")
    assert failed(project).keys() == NOISY
    assert failed(project)["hdl_complains_and_passes"] == "sim_error/assertion_fail"
    totals = project.archive.record.totals
    assert (totals["passed"], totals["failed"], totals["noise_errors"]) == (2, 2, 0)
    assert "hdl_complains_and_passes passed, but its log has an error at line" in call.output
    assert ": ERROR: " in call.output
    assert "tier benign to .agent/patterns" in call.output
    (cause,) = [cause for cause in project.archive.record.causes if "q reached" in cause.primary]
    assert cause.command is not None
    assert cause.command["arguments"][-3:] == ["test_runner.py::test_checks", "--dvwiki", "--dvwiki-strict-logs"]
    assert "ERROR: " in cause.excerpt


@pytest.mark.parametrize("more", [(), pytest.param(("-n", "2"), marks=pytest.mark.further_mode)])
def test_tests_of_cocotb_s_own_plugin(project: Project, more: tuple[str, ...]) -> None:
    call = project.run(*NATIVE, *more, STRICT, "--junitxml=junit.xml")
    assert call.status == 1, call.output
    # The last one did not fail as expected; the one that failed as expected is unchanged.
    assert failed(project).keys() == NOISY | {"expected_to_fail_but_passes"}
    totals = project.archive.record.totals
    assert (totals["failed"], totals["xfailed"]) == (3, 1)
    assert "The test passed, but its log has an error at line" in call.output
    # The JUnit file names the page of each, and all three pages for the runner.
    text = (project.folder / "junit.xml").read_text("utf-8")
    assert len(set(re.findall(r'"dvwiki_page" value="([^"]+)"', text))) == 3
    assert text.count("dvwiki_fingerprint") == text.count("dvwiki_page") >= 3


def test_without_the_flag_they_pass_and_are_counted(project: Project) -> None:
    call = project.run(*RUNNER, "-v", env=FILTER)
    assert call.status == 0
    assert "3 error lines in 2 tests that passed anyway:" in call.output


def test_benign_patterns_accept_the_lines(project: Project) -> None:
    folder = project.folder / ".agent" / "patterns"
    folder.mkdir(parents=True)
    (folder / "own.yaml").write_text(BENIGN, encoding="utf-8")
    call = project.run(*RUNNER, "-v", STRICT, env=FILTER)
    assert call.status == 0, call.output
    assert "error line" not in call.output


DESIGN = """\
module tb;
  initial begin
    #5 $error("parity of word %0d", 3);
    #5 $finish;
  end
endmodule
"""
PLAIN = """\
import subprocess

def test_tb():
    subprocess.run(["iverilog", "-g2012", "-o", "tb.vvp", "tb.sv"], check=True)
    subprocess.run(["vvp", "tb.vvp"], check=True)
"""


def test_a_simulation_without_cocotb(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.folder.mkdir()
    (project.folder / "tb.sv").write_text(DESIGN, encoding="utf-8")
    (project.folder / "test_tb.py").write_text(PLAIN, encoding="utf-8")
    call = project.run("-v")
    assert call.status == 0
    assert "1 error line in 1 test that passed:" in call.output
    call = project.run(STRICT)
    assert (call.status, call.tally) == (1, "1 failed")
    (cause,) = project.archive.record.causes
    assert (cause.label, [test.nodeid for test in cause.tests]) == ("sim_error/assertion_fail", ["test_tb.py::test_tb"])
    assert "tb.sv:3: parity of word 3" in cause.primary
