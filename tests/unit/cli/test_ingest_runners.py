"""The files of each regression runner are read, with test names, seeds, logs and commands.

The samples were written by the tools themselves: dvsim 1.57, VUnit 5.0, SVUnit 3.38, riscv-dv, FuseSoC 2.4.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.capture.files.results import ResultsError
from pytest_dvwiki.capture.runners import fusesoc, runner_of, runners
from pytest_dvwiki.cli import main

from ..capture.files.test_artefacts import find, results, write
from ..samples import written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.files.results import Case

SEED = 15493694738616905587542475893728225166348961894593285524381615611731310986143
BUCKET = "UVM_ERROR (counter_scoreboard.sv:88) [scoreboard] Check failed q == exp (* [*] vs * [*])"
CONFIGURATION = "hw/counter/dv/counter_sim_cfg.hjson"


def dvsim(log: str, *, tests: dict[str, tuple[int, int]] | None = None, seed: int | None = SEED) -> str:
    """Return the report of a block, as dvsim writes it."""
    counts = {
        name: {"max_time": 0.02, "sim_time": 0.0, "passed": passed, "total": total, "percent": 100.0 * passed / total}
        for name, (passed, total) in (tests or {"counter_smoke": (3, 3), "counter_wrap": (2, 3)}).items()
    }
    points = {point: {"tests": counts, "passed": 5, "total": 6, "percent": 83.3} for point in ("wrap", "Unmapped")}
    failed = {
        "name": "counter_wrap",
        "qual_name": f"0.counter_wrap.{seed}",
        "seed": seed,
        "line": 9,
        "log_path": log,
        "log_context": ["--- UVM Report Summary ---\n"],
    }
    report = {
        "block": {"name": "counter", "variant": None, "commit": "965f79ebb080", "dirty": True, "branch": "master"},
        "tool": {"name": "vcs", "version": "unknown"},
        "timestamp": "2026-11-23T11:35:37Z",
        "build_seed": None,
        "testplan_ref": "hw/counter/data/counter_testplan.hjson",
        "stages": {"unmapped": {"testpoints": points, "passed": 5, "total": 6, "percent": 83.3}},
        "failed_jobs": {"buckets": {BUCKET: [failed]}},
    }
    return json.dumps(report, separators=(",", ":"))


RUN_LOG = """[make]: simulate
Chronologic VCS simulator copyright 1991-2023
Command: sim +UVM_TESTNAME=counter_base_test +ntb_random_seed=2561590175
UVM_INFO @ 0: reporter [RNTST] Running test counter_base_test...
{}--- UVM Report Summary ---
"""
MISMATCH = (
    "UVM_ERROR @ 1250 ns: (counter_scoreboard.sv:88) [uvm_test_top.env.scoreboard] Check failed q == exp (7 vs 8)\n"
)
SCRATCH = "scratch/master/counter-sim-vcs"
REPORT = "scratch/master/reports/counter.json"
VUNIT = """<testsuite name="testsuite" errors="0" failures="2" skipped="0" tests="3" hostname="vm">\
<testcase classname="lib.tb_fifo" name="fills" time="0.2"><system-out>Seed for lib.tb_fifo.fills: d7ac11487cac55a7
simulation stopped @0ms with status 0
</system-out></testcase><testcase classname="lib.tb_fifo" name="wraps around" time="0.3"><system-out>\
Seed for lib.tb_fifo.wraps around: dd4491ec054fe4c0
               0 fs - check                -   ERROR - level after wrap - Got 7. Expected 8.
/usr/bin/ghdl-mcode:error: simulation failed
</system-out><failure message="Failed" /></testcase><testcase classname="lib.tb_fifo" name="hangs" time="0.2">\
<system-out>Seed for lib.tb_fifo.hangs: 58c59bb95ef7aa68
</system-out><failure message="Failed" /></testcase></testsuite>"""
SVUNIT = """<testsuites>
  <testsuite name="__ts">
    <testcase classname="counter_ut" name="is_zero_after_reset">
    </testcase>
    <testcase classname="counter_ut" name="counts">
      <failure message="fail_unless: q == 1 [ q is 2 ] (at ./counter_unit_test.sv line:18)" type="failure">
      </failure>
    </testcase>
  </testsuite>
</testsuites>
"""
COMPARED = """Test binary: out/asm_test/riscv_arithmetic_basic_test_0.o
spike : out/spike_sim/riscv_arithmetic_basic_test.0.csv
sail : out/sail_sim/riscv_arithmetic_basic_test.0.csv
[PASSED]: 6 matched

Test binary: out/asm_test/riscv_arithmetic_basic_test_1.o
spike : out/spike_sim/riscv_arithmetic_basic_test.1.csv
sail : out/sail_sim/riscv_arithmetic_basic_test.1.csv
Mismatch[1]:
spike[3] : pc[80000010] addi a0,zero,4: a0:00000004 
sail[3] : pc[80000010] addi a0,zero,4: a0:00000005 
Mismatch[2]:
spike[4] : pc[80000014] addi a0,zero,5: a0:00000005 
sail[4] : pc[80000014] addi a0,zero,5: a0:00000006 
[FAILED]: 3 matched, 2 mismatch

1 PASSED, 1 FAILED
"""  # noqa: W291
EDAM = """version: 0.2.1
name: acme_ip_counter_1.0.0
toplevel: tb_counter
cores:
  acme:ip:counter:1.0.0:
    core_file: ../../../cores/counter.core
    dependencies: []
parameters:
  seed:
    datatype: int
    paramtype: plusarg
    default: 99
tool_options:
  icarus: {}
flow_options: {}
"""
WORK = "build/acme_ip_counter_1.0.0/sim-icarus"


def cases(root: Path, path: str) -> Sequence[Case]:
    """Return the tests in a file, read by the runner that recognises it."""
    (runner,) = filter(None, (artefact.runner for artefact in find(root, path).artefacts))
    return runner.read(root / path).cases


def shown(case: Case) -> tuple[str, str, str | None, str]:
    return case.fullname, case.status, case.seed, " ".join(case.command)


def failures(root: Path) -> list[dict[str, Any]]:
    (record,) = written(root)
    return record["occurrences"]  # type: ignore[no-any-return]


def test_dvsim_names_tests_seeds_and_the_command(tmp_path: Path) -> None:
    seeds = {f"{number}.counter_smoke.{number + 11}" for number in range(3)}
    write(tmp_path, {REPORT: dvsim("/gone/run.log"), CONFIGURATION: "{}"})
    for name in seeds | {"0.counter_wrap.5"}:
        (tmp_path / SCRATCH / "passed" / name).mkdir(parents=True)
        os.utime(tmp_path / SCRATCH / "passed" / name, (0, 0))
    again = f"dvsim {CONFIGURATION} -i counter_wrap --fixed-seed {SEED} --tool vcs"
    assert sorted(map(shown, cases(tmp_path, REPORT)), key=str) == [
        ("counter.counter_smoke", "passed", "11", ""),
        ("counter.counter_smoke", "passed", "12", ""),
        ("counter.counter_smoke", "passed", "13", ""),
        # Two passes have one link: a seed may be missing, so none is named.
        ("counter.counter_wrap", "failed", str(SEED), again),
        ("counter.counter_wrap", "passed", None, ""),
        ("counter.counter_wrap", "passed", None, ""),
    ]


def test_dvsim_counts_failures_without_a_reason(tmp_path: Path) -> None:
    write(tmp_path, {REPORT: dvsim("/gone/run.log", tests={"counter_wrap": (0, 2)})})
    assert [case.message for case in cases(tmp_path, REPORT)] == [
        BUCKET,
        "dvsim counts it as failed and gives no reason",
    ]


def test_a_log_that_a_later_run_replaced_is_no_evidence(tmp_path: Path) -> None:
    log = f"{SCRATCH}/0.counter_wrap/latest/run.log"
    for seed, found in ((SEED, ("../counter-sim-vcs/0.counter_wrap/latest/run.log",)), (SEED + 1, ())):
        write(tmp_path, {REPORT: dvsim(f"/nightly/{log}"), log: f"[Executing]:\nmake run seed={seed} sw_images=''\n"})
        assert cases(tmp_path, REPORT)[0].attachments == found


def test_a_report_of_an_older_dvsim_has_no_reasons(tmp_path: Path) -> None:
    report = json.loads(dvsim(""))
    del report["failed_jobs"], report["testplan_ref"]
    write(tmp_path, {REPORT: json.dumps(report)})
    statuses = [(case.name, case.status, case.seed) for case in cases(tmp_path, REPORT)]
    assert statuses.count(("counter_wrap", "failed", None)) == 1
    assert len(statuses) == 6


def test_the_build_of_a_block_stands_for_the_tests_in_it(tmp_path: Path) -> None:
    write(tmp_path, {REPORT: dvsim("/gone/build.log", tests={"counter_smoke": (1, 1)}, seed=None)})
    assert shown(cases(tmp_path, REPORT)[0]) == ("counter.", "failed", None, "")


def test_the_logs_of_dvsim_are_evidence_and_no_runs_of_their_own(project: Path) -> None:
    moved = str(project.parent / "before" / SCRATCH / "0.counter_wrap/latest/run.log")
    write(project.parent, {f"before/{SCRATCH}/0.counter_wrap/latest/run.log": "UVM_FATAL @ 0: reporter [X] other\n"})
    # dvsim renames the folder of the previous run to its time.
    write(project, {f"{SCRATCH}/0.counter_wrap/20261122_113537/run.log": RUN_LOG.format(MISMATCH)})
    passed = {f"{SCRATCH}/{number}.counter_smoke/latest/run.log": RUN_LOG.format("") for number in range(3)}
    failed = {f"{SCRATCH}/0.counter_wrap/latest/run.log": RUN_LOG.format(MISMATCH)}
    write(project, {REPORT: dvsim(moved), f"{SCRATCH}/default/build.log": "[make]: build\n", **passed, **failed})
    assert main(["ingest", "scratch"]) == 0
    (record,) = written(project)
    assert (record["totals"]["passed"], record["totals"]["failed"]) == (5, 1)
    (cause,) = record["occurrences"]
    assert cause["primary"] == MISMATCH.strip()
    assert cause["tests"][0]["nodeid"] == "counter::counter_wrap"
    assert cause["tests"][0]["seed"] == str(SEED)
    assert [source["path"] for source in record["sources"]] == [*failed, REPORT]


def test_vunit_names_seed_and_command_and_keeps_the_output_of_each_test(project: Path) -> None:
    write(project, {"out.xml": VUNIT, "make.py": "", "sim.py": "from vunit import VUnit\nVUnit.from_argv()\n"})
    assert list(map(shown, cases(project, "out.xml"))) == [
        ("lib.tb_fifo.fills", "passed", "d7ac11487cac55a7", "python sim.py lib.tb_fifo.fills --seed d7ac11487cac55a7"),
        (
            "lib.tb_fifo.wraps around",
            "failed",
            "dd4491ec054fe4c0",
            "python sim.py lib.tb_fifo.wraps around --seed dd4491ec054fe4c0",
        ),
        ("lib.tb_fifo.hangs", "failed", "58c59bb95ef7aa68", "python sim.py lib.tb_fifo.hangs --seed 58c59bb95ef7aa68"),
    ]
    assert main(["ingest", "out.xml"]) == 0
    assert sorted(cause["primary"] for cause in failures(project)) == [
        "0 fs - check - ERROR - level after wrap - Got 7. Expected 8.",
        "VUnit counts the test as failed, and its output is empty",
    ]


def test_svunit_names_the_test_for_its_filter_and_its_log_is_no_other_run(project: Path) -> None:
    log = "ERROR: [50][counter_ut]: fail_unless: q == 1 [ q is 2 ] (at ./counter_unit_test.sv line:18)\n"
    write(project, {"tests.xml": SVUNIT, "run.log": log})
    with pytest.raises(ResultsError, match=r"is from a later run that did not finish; remove tests\.xml"):
        cases(project, "tests.xml")
    write(project, {"run.log": f"{log}INFO:  [50][testrunner]: FAILED (0 of 1 suites passing) [SVUnit 3.38.0]\n"})
    assert [case.command for case in cases(project, "tests.xml")][1:] == [
        ("runSVUnit", "--filter", "counter_ut.counts", "…")
    ]
    assert main(["ingest", "."]) == 0
    (cause,) = failures(project)
    assert cause["primary"] == "fail_unless: q == 1 [ q is 2 ] (at ./counter_unit_test.sv line:18)"
    assert cause["command"]["arguments"][2] == "counter_ut.counts"


@pytest.mark.parametrize(
    ("seeds", "log", "expected"),
    [
        ({"0": 41}, "UVM_INFO @ 0: reporter [RNTST] Running test", ["41", "41", "--iterations 2 --start_seed 41"]),
        # Only the first program of a batch from Python has the seed.
        ({"0": 41}, "TEST GENERATED USING SEED VALUE = 219553824", ["41", None, None]),
        ({"0": 41, "1": 42}, "", ["41", "42", "--seed 42"]),
        # With several programs in several batches, only the first program's batch is known.
        ({"0": 41, "2": 42, "3": 43}, "UVM_INFO", ["41", None, None]),
        ({}, "UVM_INFO", [None, None, None]),
    ],
)
def test_the_seed_of_a_program_of_riscv_dv_is_that_of_its_batch(
    tmp_path: Path, seeds: dict[str, int], log: str, expected: list[str | None]
) -> None:
    lines = (f"riscv_arithmetic_basic_test_{number}: '{seed}'\n" for number, seed in seeds.items())
    test = "riscv_arithmetic_basic_test"
    write(tmp_path, {"out/iss_regr.log": COMPARED, "out/seed.yaml": "".join(lines), "run.py": ""})
    write(tmp_path, {f"out/sim_{test}_0.log": log})
    assert list(map(shown, cases(tmp_path, "out/iss_regr.log"))) == [
        (f"{test}_0", "passed", expected[0], ""),
        (
            f"{test}_1",
            "failed",
            expected[1],
            f"python3 run.py --test {test} {expected[2]} --iss spike,sail …" if expected[2] else "",
        ),
    ]


def test_a_comparison_that_ended_early_does_not_tell_the_batches(tmp_path: Path) -> None:
    seeds = "".join(f"riscv_arithmetic_basic_test_{number}: '4{number}'\n" for number in range(2))
    write(tmp_path, {"out/iss_regr.log": COMPARED.replace("1 PASSED, 1 FAILED\n", ""), "out/seed.yaml": seeds})
    assert [case.seed for case in cases(tmp_path, "out/iss_regr.log")] == ["40", None]


def test_riscv_dv_tells_the_first_mismatch_and_a_comparison_without_an_end(tmp_path: Path) -> None:
    write(tmp_path, {"out/iss_regr.log": COMPARED + COMPARED.partition("[FAILED]")[0].partition("\n\n")[2]})
    mismatched, cut = cases(tmp_path, "out/iss_regr.log")[1:]
    first = "Mismatch[1]: spike[3] : pc[80000010] addi a0,zero,4: a0:00000004 sail[3] : pc[80000010] addi a0,zero,4:"
    assert mismatched.message == f"{first} a0:00000005"
    assert mismatched.text.count("\n") == 2
    assert cut.status == "failed"
    assert cut.message == "the comparison of the two traces ended without a result"
    write(tmp_path, {"out/iss_regr.log": f"{COMPARED}Test binary: ", "cut/iss_regr.log": "Test binary: "})
    assert (len(cases(tmp_path, "out/iss_regr.log")), len(cases(tmp_path, "cut/iss_regr.log"))) == (2, 0)


def test_fusesoc_names_the_run_of_the_logs_in_its_folder(project: Path) -> None:
    log = "seed 99\nFATAL: src/counter/tb/tb_counter.v:9: count is wrong\n       Time: 20 Scope: tb_counter\n"
    write(project, {f"{WORK}/counter.eda.yml": EDAM, f"{WORK}/icarus.log": log})
    assert main(["ingest", "build"]) == 0
    (cause,) = failures(project)
    (test,) = cause["tests"]
    assert (test["nodeid"], test["seed"], test["simulator"]) == ("acme:ip:counter::sim", "99", "icarus")
    assert " ".join(cause["command"]["arguments"]) == (
        "fusesoc --cores-root cores run --target=sim --tool=icarus acme:ip:counter:1.0.0 --seed=99"
    )
    assert cause["command"]["folder"] == "."


def test_a_log_of_an_earlier_run_of_fusesoc_has_no_seed(project: Path) -> None:
    write(project, {f"{WORK}/counter.eda.yml": EDAM, f"{WORK}/first.log": "FATAL: tb.v:9: count is wrong\n"})
    described = (project / WORK / "counter.eda.yml").stat().st_mtime
    os.utime(project / WORK / "first.log", (described - 60, described - 60))
    assert main(["ingest", "build"]) == 0
    (cause,) = failures(project)
    assert (cause["tests"][0]["nodeid"], cause["tests"][0]["seed"]) == ("acme:ip:counter::sim", None)
    assert cause["command"] is None


def test_a_makefile_of_fusesoc_runs_no_cocotb_test_again(project: Path) -> None:
    write(project, {f"{WORK}/counter.eda.yml": EDAM, f"{WORK}/Makefile": "all:\n", f"{WORK}/results.xml": results()})
    assert main(["ingest", "build"]) == 0
    assert failures(project)[0]["command"] is None


@pytest.mark.parametrize("text", ["", "[", "cores: []", "cores: {acme:ip:other:1.0.0: {}}", "name: 1\ncores:\n  a: 1"])
def test_another_description_names_no_run(tmp_path: Path, text: str) -> None:
    write(tmp_path, {f"{WORK}/counter.eda.yml": text})
    assert fusesoc.run_in(tmp_path / WORK) is None


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.json", '{"block":{"name":"a"},"tool":', "not a report of dvsim"),
        ("a.json", '{"block":{"name":"a"},"tool":{"name":"vcs"}}', "missing required field `timestamp`"),
        ("a.json", '{"block":{"name":' + "[" * 100_000, "not a report of dvsim"),
        ("a.json", dvsim("").replace('"total":3', '"total":1000000'), "more than 200000 tests"),
        ("a.log", "Test binary: a\n" * 200_001, "more than 200000 tests"),
    ],
)
def test_a_broken_file_is_told(tmp_path: Path, name: str, text: str, reason: str) -> None:
    write(tmp_path, {name: text})
    with pytest.raises(ResultsError, match=reason):
        cases(tmp_path, name)


def test_other_files_are_no_runners() -> None:
    assert len(runners()) == 4
    assert runner_of("results.xml", b'<testsuites name="results"><testsuite name="all" package="all">') is None
    assert runner_of("package.json", b'{"name": "x"}') is None
    assert runner_of("sim.log", b"Test binary\n") is None
