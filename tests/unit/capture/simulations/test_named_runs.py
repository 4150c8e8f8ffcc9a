"""The log of a UVM run names its test, its seed and its simulator, and shows whether the run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.simulations.named_runs import NamedRun, PathTemplate, command_of, named_run
from pytest_dvwiki.logtext.logs import LogText
from pytest_dvwiki.model import Simulator

if TYPE_CHECKING:
    from pathlib import Path

END = "--- UVM Report Summary ---\n"
BODY = "UVM_INFO @ 0: reporter [RNTST] Running test axi_burst_test...\n"
VCS = """Command: ../simv +UVM_TESTNAME=axi_burst_test {option} -l run.log
Compiler version T-2022.06-SP1_Full64; Runtime version T-2022.06-SP1_Full64;  May  1 23:27 2025
"""
QUESTA = """# vsim -c -sv_seed random "+UVM_TESTNAME=axi_burst_test" top_opt -do "run -all; quit"
# Start time: 10:21:44 on Nov 22,2026
# //  Questa Sim-64
# //  Version 2023.1 linux_x86_64 Jan 23 2023
# Sv_Seed = 3377432
"""
XCELIUM = """TOOL:\txrun(64)\t23.09-s001: Started on Jul 01, 2025 at 10:50:53 EDT
xrun(64): 23.09-s001: (c) Copyright 1995-2023 Cadence Design Systems, Inc.
xrun
\t-R
\t-svseed random
\t+UVM_TESTNAME=axi_burst_test
SVSEED set randomly from command line: 507536884
"""


def run(text: str, shown: str = "nightly/axi_burst_test.7/run.log", *templates: str) -> NamedRun | None:
    return named_run(LogText(source="log", text=text), shown, [PathTemplate.of(each) for each in templates])


@pytest.mark.parametrize(
    ("text", "seed", "simulator", "words"),
    [
        (
            VCS.format(option="+ntb_random_seed=7"),
            "7",
            Simulator(name="vcs", version="T-2022.06-SP1_Full64"),
            "../simv +UVM_TESTNAME=axi_burst_test +ntb_random_seed=7 -l run.log",
        ),
        (
            VCS.format(option="+ntb_random_seed_automatic") + "NOTE: automatic random seed used: 41\n",
            "41",
            Simulator(name="vcs", version="T-2022.06-SP1_Full64"),
            "../simv +UVM_TESTNAME=axi_burst_test +ntb_random_seed=41 -l run.log",
        ),
        (
            QUESTA,
            "3377432",
            Simulator(name="questa", version="2023.1"),
            "vsim -c -sv_seed 3377432 +UVM_TESTNAME=axi_burst_test top_opt -do run -all; quit",
        ),
        (
            XCELIUM,
            "507536884",
            Simulator(name="xcelium", version="23.09-s001"),
            "xrun -R -svseed 507536884 +UVM_TESTNAME=axi_burst_test",
        ),
        ("", None, None, ""),
    ],
)
def test_test_seed_simulator_and_command(text: str, seed: str, simulator: Simulator, words: str) -> None:
    found = run(text + BODY + END)
    assert found is not None
    assert (found.test, found.seed, found.simulator) == ("nightly::axi_burst_test", seed, simulator)
    assert (" ".join(found.words), found.is_cut_short) == (words, False)


def test_a_quotation_in_a_sourced_command_survives_the_split() -> None:
    found = run(QUESTA + BODY + END)
    assert found is not None
    assert found.words[-1] == "run -all; quit"


@pytest.mark.parametrize("end", [END, "$finish at simulation time 10\n", "# End time: 10:21:50 on Nov 22,2026\n"])
def test_any_end_of_a_run_will_do(end: str) -> None:
    found = run(BODY + end)
    assert found is not None
    assert not found.is_cut_short


def test_a_log_without_its_end_is_cut_short() -> None:
    found = run(BODY + "UVM_INFO tb/env.sv(44) @ 10: uvm_test_top.env [ENV] burst length 16\n")
    assert found is not None
    assert found.is_cut_short


@pytest.mark.parametrize(
    "text", ["", "make: nothing to be done\n", BODY + BODY.replace("burst", "wrap") + END, "vcs -full64 top.sv\n"]
)
def test_a_log_of_no_test_or_of_several_names_none(text: str) -> None:
    assert run(text) is None


@pytest.mark.parametrize(
    ("shown", "nodeid"),
    [
        ("run.log", "axi_burst_test"),
        ("nightly/axi_burst.log", "nightly::axi_burst_test"),
        ("nightly/7/axi_burst_test/sim.log", "nightly::axi_burst_test"),
        ("nightly/job_12/run.log", "nightly::axi_burst_test"),
        ("nightly/long_axi_burst_test_7/run.log", "nightly/long_axi_burst_test_*::axi_burst_test"),
        ("nightly/0.uart_smoke.7/latest/run.log", "nightly/*.uart_smoke.*::axi_burst_test"),
        ("nightly/axi_long.log", "nightly/axi_long::axi_burst_test"),
        ("axi4/tb/axi_burst_test.7/run.log", "axi4/tb::axi_burst_test"),
    ],
)
def test_all_seeds_of_a_test_are_one_test_and_other_runs_are_others(shown: str, nodeid: str) -> None:
    found = run(VCS.format(option="+ntb_random_seed=7") + BODY + END, shown)
    assert found is not None
    assert found.test == nodeid


@pytest.mark.parametrize(
    ("template", "shown", "expected"),
    [
        ("{test}.{seed}/run.log", "out/smoke.9/run.log", ("smoke", "9")),
        ("*/{test}/{seed}.log", "out/x86/smoke/0x1f.log", ("smoke", "0x1f")),
        ("{test}/sim.log", "smoke/sim.log", ("smoke", None)),
    ],
)
def test_the_project_says_how_paths_name_test_and_seed(template: str, shown: str, expected: tuple[str, str]) -> None:
    found = run("no word of UVM\n", shown, template)
    assert found is not None
    assert (found.test, found.seed, found.is_cut_short) == (*expected, False)


def test_a_path_that_does_not_fit_leaves_the_log_to_say_it() -> None:
    found = run(BODY + END, "nightly/run.log", "{test}.{seed}/run.log")
    assert found is not None
    assert found.test == "nightly::axi_burst_test"


@pytest.mark.parametrize("template", ["run.log", "{test}/{test}.log", "{test}.{iteration}/run.log"])
def test_a_template_without_a_test_or_with_other_fields_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"expected one \{test\}"):
        PathTemplate.of(template)


def test_a_command_counts_only_where_its_program_is(tmp_path: Path) -> None:
    folder = tmp_path / "nightly" / "axi_burst_test.7"
    folder.mkdir(parents=True)
    found = run(VCS.format(option="+ntb_random_seed=7 +TOKEN=abcdefgh12345678") + BODY + END)
    assert found is not None
    assert command_of(found, folder, tmp_path) is None
    (tmp_path / "nightly" / "simv").touch()
    command = command_of(found, folder, tmp_path)
    assert command is not None
    assert (command.folder, command.in_repository) == ("nightly/axi_burst_test.7", False)
    assert "abcdefgh12345678" not in " ".join(command.arguments)
