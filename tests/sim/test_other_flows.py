"""Failures keep their labels in other flows: cocotb-test, make called by subprocess, shared folders.

The outcome table is told by `test_outcomes`; here stands what is special about each flow.
"""

from __future__ import annotations

import importlib.util
import shutil
from typing import TYPE_CHECKING

import pytest

from .harness import Project, missing

if TYPE_CHECKING:
    from pathlib import Path

    from .harness import Record

pytestmark = [
    pytest.mark.sim,
    pytest.mark.timeout(300),
    pytest.mark.skipif(missing("icarus") is not None, reason=str(missing("icarus"))),
]
needs_cocotb_test = pytest.mark.skipif(importlib.util.find_spec("cocotb_test") is None, reason="needs cocotb-test")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")

COCOTB_TEST = {
    "test_checks::mismatch": ("sim_error/scoreboard_fail", "AssertionError: expected 0x"),
    "test_checks::missing_signal": ("sim_error/handle_not_found", "contains no child object named no_such_signal"),
    "test_checks::never_ready": ("sim_error/timeout", "SimTimeoutError in bench/checks_bench.py:never_ready"),
    "test_uvm::check_phase": ("uvm_error/scoreboard_fail", "mismatch: expected 0x11 got 0x91"),
    "test_uvm::config_miss": ("uvm_error/config_db_missing", "is not in ConfigDB()"),
    "test_fatal::in_flight": ("sim_error/assertion_fail", "FATAL: rtl/dut.sv:16: FIFO overflow detected"),
    "test_fatal::not_started": ("sim_error/assertion_fail", "FATAL: rtl/dut.sv:16: FIFO overflow detected"),
    "test_bad_import": ("python_error/import_error", "ModuleNotFoundError: No module named 'no_such_library'"),
    "test_kill::in_flight": (
        "tool_error/simulator_crash",
        "killed by signal 9 (SIGKILL) while running in_flight, last logged time 22",
    ),
    "test_broken": ("compile_error/syntax_error", "rtl/broken.sv:6: syntax error"),
    "test_needs_build": ("compile_error/syntax_error", "rtl/broken.sv:6: syntax error"),
    "test_needs_build_too": ("compile_error/syntax_error", "rtl/broken.sv:6: syntax error"),
}
"""Expected label of each test's failure, in every mode."""


def found(record: Record) -> dict[str, tuple[str, str]]:
    """Return label and first cause of each failing test, by its name without the module."""
    return {
        test.nodeid.partition("::")[2]: (cause.label, cause.primary) for cause in record.causes for test in cause.tests
    }


def assert_found(record: Record, expected: dict[str, tuple[str, str]]) -> None:
    names = found(record)
    assert set(names) == set(expected)
    for name, (label, words) in expected.items():
        assert names[name][0] == label, name
        assert words in names[name][1], name


@needs_cocotb_test
@pytest.mark.parametrize(
    "mode",
    [
        pytest.param((), id="default"),
        pytest.param(("-s",), id="s"),
        pytest.param(("-n", "2"), id="n2"),
    ],
)
@pytest.mark.further_mode
def test_cocotb_test_tells_every_cause_in_every_mode(tmp_path: Path, mode: tuple[str, ...]) -> None:
    project = Project.copy("flows", tmp_path / "flows")
    call = project.run(*mode, "test_cocotb_test.py")
    record = project.archive.record
    assert_found(record, COCOTB_TEST)
    # The three builds of one broken file are one cause, and the fatal is another.
    assert len(record.causes) == 9, call.output
    assert record.totals["passed"] == 4
    assert {test.simulator for cause in record.causes for test in cause.tests} == {"icarus"}


@needs_make
def test_a_make_that_a_test_runs_is_read_as_cocotb_s_own_flow(tmp_path: Path) -> None:
    project = Project.copy("flows", tmp_path / "flows")
    project.run("test_make.py", "-k", "checks or broken")
    record = project.archive.record
    assert_found(
        record,
        {
            "test_make[checks_bench-dut]::mismatch": COCOTB_TEST["test_checks::mismatch"],
            "test_make[checks_bench-dut]::missing_signal": COCOTB_TEST["test_checks::missing_signal"],
            "test_make[checks_bench-dut]::never_ready": COCOTB_TEST["test_checks::never_ready"],
            "test_make[quiet_bench-broken]": COCOTB_TEST["test_broken"],
        },
    )
    # Only the results file has the picoseconds, so it was found without being named.
    times = {test.nodeid.rpartition("::")[2]: test.sim_time for cause in record.causes for test in cause.tests}
    assert times["missing_signal"] == "24.001 ns"


@needs_make
@pytest.mark.further_mode
@pytest.mark.parametrize("mode", [(), ("-s",)], ids=["default", "s"])
def test_a_make_behind_a_shell_or_a_limit_is_read_like_one_that_is_called(
    tmp_path: Path, mode: tuple[str, ...]
) -> None:
    project = Project.copy("flows", tmp_path / "flows")
    project.run(*mode, "test_wrapped.py")
    record = project.archive.record
    names = ("mismatch", "missing_signal", "never_ready")
    items = ("test_wrapped[timeout]", "test_wrapped[env]", "test_shell[script]")
    cut = ("tool_error/cut_short", "was killed by signal 15 (SIGTERM) while running in_flight")
    # Whether the test that never started is reported depends on how far the simulator gets before it dies.
    told = {test.nodeid.rpartition("/")[2] for cause in record.causes for test in cause.tests}
    followers = {name: cut for name in ("test_limit[limit]::not_started",) if any(name in each for each in told)}
    assert_found(
        record,
        {f"{item}::{name}": COCOTB_TEST[f"test_checks::{name}"] for item in items for name in names}
        | {"test_limit[limit]::in_flight": cut}
        | followers,
    )
    assert len(record.causes) == len(names) + 1
    seeds = {test.seed for cause in record.causes for test in cause.tests if "[env]" in test.nodeid}
    assert seeds == {"5"}


@pytest.mark.further_mode
@needs_cocotb_test
def test_runners_that_share_an_item_or_a_folder_keep_apart(tmp_path: Path) -> None:
    project = Project.copy("flows", tmp_path / "flows")
    project.run("test_shared.py")
    record = project.archive.record
    mismatch = COCOTB_TEST["test_checks::mismatch"]
    assert_found(
        record,
        {
            "test_seeds[1]::mismatch": mismatch,
            "test_seeds[2]::mismatch": mismatch,
            "test_seeds[3]::mismatch": mismatch,
            "test_two_modules::mismatch": mismatch,
            "test_two_modules::missing_signal": COCOTB_TEST["test_checks::missing_signal"],
            "test_two_modules::never_ready": COCOTB_TEST["test_checks::never_ready"],
            "test_pass_then_broken": COCOTB_TEST["test_broken"],
            "test_all_seeds_then_verdict::mismatch": mismatch,
            "test_all_seeds_then_verdict::mismatch#2": mismatch,
        },
    )
    assert len(record.causes) == 4
    tests = {test.nodeid.partition("::")[2]: test for cause in record.causes for test in cause.tests}
    assert [tests[f"test_seeds[{seed}]::mismatch"].seed for seed in (1, 2, 3)] == ["1", "2", "3"]
    assert [tests[f"test_all_seeds_then_verdict::mismatch{n}"].seed for n in ("", "#2")] == ["11", "12"]
    # A build has neither seed nor time; it must not get those of the simulation before it.
    broken = tests["test_pass_then_broken"]
    assert (broken.seed, broken.sim_time) == (None, None)
    assert record.totals["passed"] == 2
