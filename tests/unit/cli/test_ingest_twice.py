"""`dvwiki ingest` counts a run once, and equal files of another run again; it always prints the failures."""

from __future__ import annotations

import os
import re
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.cli import main

from ..capture.files.test_artefacts import UNNAMED_BAD, UVM_BAD, results, write
from ..samples import files, git, written

if TYPE_CHECKING:
    from collections.abc import Mapping

BROKEN = """rm -f results.xml
mkdir -p sim_build
/usr/bin/iverilog -o sim_build/sim.vvp -s dut -g2012 -f sim_build/cmds.f  /repo/rtl/dut.sv
/repo/rtl/dut.sv:6: syntax error
/repo/rtl/dut.sv:6: error: malformed statement
make: *** [Makefile.icarus:54: sim_build/sim.vvp] Error 2
"""
QUESTA = "# vsim -c work.top\n# Start time: 10:20:{second} on Nov 21,2026\n"
WITHOUT_TIME = results().replace(' timestamp="2026-10-01T10:00:00+00:00"', "")

Call = tuple[list[str], dict[str, str]]


@pytest.fixture
def commits(project: Path) -> tuple[str, str]:
    """Return two commits of the project."""
    git(project, "init", "--quiet")
    for text in ("one", "two"):
        (project / "file").write_text(text)
        git(project, "add", "file")
        git(project, "commit", "--quiet", "-m", text)
    return git(project, "rev-parse", "HEAD~").stdout.strip(), git(project, "rev-parse", "HEAD").stdout.strip()


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> _Caller:
    return _Caller(monkeypatch, capsys)


class _Caller:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        """Call `dvwiki ingest` with environment variables, and return its output."""
        self._capsys.readouterr()
        with self._monkeypatch.context() as patch:
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            assert main(["ingest", *words]) == 0
        return self._capsys.readouterr().out


def copied(how: str) -> str:
    """Copy `make.log` with another time and place; return the path to ingest."""
    Path("copy").mkdir()
    shutil.copyfile("make.log", "copy/make.log")
    os.utime("copy/make.log", (1_700_000_000, 1_700_000_000))
    if how == "tar":
        with tarfile.open("copy.tar.gz", "w:gz") as tar:
            tar.add("copy/make.log", "job/make.log")
        return "copy.tar.gz"
    if how == "zip":
        with zipfile.ZipFile("copy.zip", "w") as zipped:
            zipped.write("copy/make.log", "job/make.log")
        return "copy.zip"
    return "copy"


GITHUB = {"GITHUB_RUN_ID": "9041", "GITHUB_RUN_NUMBER": "17"}
ONE_RUN: dict[str, tuple[str, list[str], dict[str, str]]] = {
    "run id": ("cp", ["--run-id", "nightly-7"], {}),
    "run number": ("cp", [], GITHUB),
    "run number, tar": ("tar", [], GITHUB),
    "run number, zip": ("zip", [], GITHUB),
    "LSF job": ("tar", [], {"LSB_JOBID": "811"}),
    "Slurm job": ("zip", [], {"SLURM_JOB_ID": "811"}),
    "commit": ("tar", ["--commit", "HEAD"], {}),
    "nothing": ("zip", [], {}),
}


@pytest.mark.parametrize(("how", "words", "env"), ONE_RUN.values(), ids=ONE_RUN)
@pytest.mark.usefixtures("commits")
def test_copies_of_the_artefacts_of_one_run_count_once_and_are_reported_each_time(
    project: Path, call: _Caller, how: str, words: list[str], env: dict[str, str]
) -> None:
    write(project, {"make.log": BROKEN})
    call("make.log", *words, env=env)
    before = files(project / ".agent")
    said = call(copied(how), *words, env=env)
    assert files(project / ".agent") == before
    (record,) = written(project)
    assert f"already archived as {record['task_id']}; nothing changed" in said
    assert "1 cause behind 1 failed test: 1 known" in said
    assert re.search(r"^KNOWN +compile_error / syntax_error", said, re.MULTILINE)
    assert f"already archived as {record['task_id']}\n" in said


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({**GITHUB, "GITHUB_RUN_ATTEMPT": "1"}, {**GITHUB, "GITHUB_RUN_ATTEMPT": "2"}),
        ({"CI_PIPELINE_ID": "5", "CI_JOB_ID": "51"}, {"CI_PIPELINE_ID": "5", "CI_JOB_ID": "52"}),
        ({"SLURM_JOB_ID": "811", "SLURM_RESTART_COUNT": "0"}, {"SLURM_JOB_ID": "811", "SLURM_RESTART_COUNT": "1"}),
    ],
    ids=["github", "gitlab", "slurm"],
)
def test_a_second_attempt_with_the_same_bytes_counts_once(
    project: Path, call: _Caller, first: dict[str, str], second: dict[str, str]
) -> None:
    write(project, {"make.log": BROKEN})
    call("make.log", env=first)
    os.utime("make.log", (2_000_000, 2_000_000))
    assert "nothing changed" in call("make.log", env=second)
    assert len(written(project)) == 1


NIGHTS: dict[str, tuple[Call, Call]] = {
    "run id": ((["--run-id", "mon"], {}), (["--run-id", "tue"], {})),
    "run id before run number": ((["--run-id", "mon"], GITHUB), (["--run-id", "tue"], GITHUB)),
    "github": (([], GITHUB), ([], {"GITHUB_RUN_ID": "9042", "GITHUB_RUN_NUMBER": "18"})),
    "github, number": (([], {"GITHUB_RUN_NUMBER": "17"}), ([], {"GITHUB_RUN_NUMBER": "18"})),
    "gitlab": (([], {"CI_PIPELINE_ID": "5"}), ([], {"CI_PIPELINE_ID": "6"})),
    "jenkins": (([], {"JOB_NAME": "dv", "BUILD_NUMBER": "5"}), ([], {"JOB_NAME": "dv", "BUILD_NUMBER": "6"})),
    "jenkins, job": (([], {"JOB_NAME": "dv", "BUILD_NUMBER": "5"}), ([], {"JOB_NAME": "fpga", "BUILD_NUMBER": "5"})),
    "LSF": (([], {"LSB_JOBID": "811"}), ([], {"LSB_JOBID": "812"})),
    "LSF, array, results": (
        ([], {"LSB_JOBID": "811", "LSB_JOBINDEX": "1"}),
        ([], {"LSB_JOBID": "811", "LSB_JOBINDEX": "2"}),
    ),
    "Slurm": (([], {"SLURM_JOB_ID": "811"}), ([], {"SLURM_JOB_ID": "812"})),
    "commit": ((["--commit", "HEAD~"], {}), (["--commit", "HEAD"], {})),
}


@pytest.mark.parametrize(("first", "second"), NIGHTS.values(), ids=NIGHTS)
@pytest.mark.usefixtures("commits")
def test_the_same_bytes_of_two_nights_are_two_runs(project: Path, call: _Caller, first: Call, second: Call) -> None:
    name, text = ("results.xml", WITHOUT_TIME) if "LSB_JOBINDEX" in first[1] else ("make.log", BROKEN)
    for (words, env), word in ((first, "NEW"), (second, "KNOWN")):
        write(project, {name: text})
        said = call(name, *words, env=env)
        assert re.search(rf"^{word} ", said, re.MULTILINE)
        assert "already archived" not in said
    records = written(project)
    assert len(records) == len({record["task_id"] for record in records}) == 2
    ids = {(*record["run_id"].values(), record["vcs"]["commit"]) for record in records}
    assert len(ids) == 2
    # Each of them is recognised again.
    for words, env in (first, second):
        assert "nothing changed" in call(name, *words, env=env)


def test_without_any_id_the_time_of_a_file_makes_no_second_run_of_the_same_bytes(project: Path, call: _Caller) -> None:
    write(project, {"make.log": BROKEN})
    call("make.log")
    os.utime("make.log", (9_000_000, 9_000_000))
    assert "nothing changed" in call("make.log")
    assert len(written(project)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [("results.xml", results()), ("sim.log", QUESTA.format(second="11") + UVM_BAD)],
    ids=["results", "log"],
)
def test_what_says_when_it_was_started_is_one_run_under_any_id(
    project: Path, call: _Caller, name: str, text: str
) -> None:
    write(project, {name: text})
    call(name, env=GITHUB)
    said = call(name, "--run-id", "other", env={"GITHUB_RUN_ID": "1"})
    assert "nothing changed" in said
    assert re.search(r"^KNOWN ", said, re.MULTILINE)
    assert len(written(project)) == 1


def test_what_lies_beside_a_file_that_says_so_is_of_its_run(project: Path, call: _Caller) -> None:
    """Results of cocotb 1.x have no time; the tool's log, kept with them, has one."""
    logged = QUESTA.format(second="11") + UVM_BAD
    write(project, {"a/results.xml": WITHOUT_TIME, "a/results.log": logged})
    call("a", "--run-id", "mon")
    assert "nothing changed" in call("a", "--run-id", "tue")
    assert len(written(project)) == 1


THERE: dict[str, tuple[str, str, list[str], dict[str, str], int]] = {
    "own start": (QUESTA.format(second="11") + UVM_BAD, QUESTA.format(second="12") + UVM_BAD, [], GITHUB, 2),
    "another commit": (BROKEN, BROKEN, ["--commit", "HEAD~"], GITHUB, 2),
    "the same commit": (BROKEN, BROKEN, ["--commit", "HEAD"], GITHUB, 1),
    "run number alone": (BROKEN, BROKEN, [], GITHUB, 1),
    "nothing": (BROKEN, BROKEN, [], {}, 1),
}


@pytest.mark.parametrize("row", THERE.values(), ids=THERE)
@pytest.mark.usefixtures("commits")
def test_a_laptop_and_then_the_ci_are_two_runs_only_where_something_tells_them_apart(
    project: Path, call: _Caller, row: tuple[str, str, list[str], dict[str, str], int]
) -> None:
    here, there, laptop, ci, count = row
    write(project, {"sim.log": here})
    call("sim.log", *laptop)
    write(project, {"artifact/sim.log": there})
    said = call("artifact", "--commit", "HEAD", env=ci)
    assert re.search(r"^KNOWN ", said, re.MULTILINE)
    assert len(written(project)) == count


def test_a_record_says_by_what_its_run_is_known(project: Path, call: _Caller) -> None:
    write(project, {"make.log": BROKEN})
    call("make.log", "--run-id", "nightly", env={**GITHUB, "SLURM_JOB_ID": "811"})
    (record,) = written(project)
    assert record["run_id"] == {"given": "nightly", "ci": "github 9041 17", "job": "slurm 811", "host": None}


def test_a_fix_that_came_later_is_not_said_to_have_failed(project: Path, call: _Caller) -> None:
    write(project, {"a.log": UNNAMED_BAD})
    call("a.log", "--run-id", "1")
    write(
        project,
        {"a.log": UNNAMED_BAD.split("UVM_ERROR", maxsplit=1)[0] + "--- UVM Report Summary ---\nUVM_ERROR :    0\n"},
    )
    assert "FIXED" in call("a.log", "--run-id", "2")
    write(project, {"copy.log": UNNAMED_BAD})
    said = call("copy.log", "--run-id", "1")
    assert re.search(r"^KNOWN ", said, re.MULTILINE)
    assert "came back" not in said
    assert "not fixed" not in said
    assert len(written(project)) == 2


GREEN = (
    '<testsuites><testsuite name="t"><testcase classname="t" name="counts" time="0.1"><properties>'
    '<property name="cocotb" value="True"/><property name="random_seed" value="{seed}"/></properties></testcase>'
    "</testsuite></testsuites>"
)


def failing_tests(project: Path) -> set[str]:
    return {test["nodeid"] for record in written(project) for cause in record["occurrences"] for test in cause["tests"]}


@pytest.mark.parametrize(
    ("log", "green", "unit", "fixed"),
    [
        ("axi/make.log", "axi/results.xml", "axi", True),
        ("axi/make.log", "axi/night.xml", "axi", True),
        ("axi/2026-11-21/make.log", "axi/2026-11-22/results.xml", "axi/*", True),
        ("make.log", "results.xml", ".", True),
        ("make.log", "night.xml", ".", True),
        ("make.log", "axi/results.xml", ".", False),
        ("axi/make.log", "axi/below/night.xml", "axi", False),
        ("axi/make.log", "apb/results.xml", "axi", False),
    ],
)
def test_a_build_failure_is_the_folder_s_and_is_fixed_by_a_pass_of_that_folder(  # noqa: PLR0917
    project: Path, call: _Caller, log: str, green: str, unit: str, fixed: bool
) -> None:
    write(project, {log: BROKEN.replace("/usr/bin/iverilog", "build").replace("Makefile.icarus", "Makefile")})
    call(log)
    assert failing_tests(project) == {unit}
    write(project, {green: GREEN.format(seed=1)})
    assert ("FIXED" in call(green)) is fixed


def test_what_fails_while_it_runs_under_make_is_named_by_its_log(project: Path, call: _Caller) -> None:
    """Such logs are in one folder, one for each test, and none reports a failed build."""
    stop = "make: *** [Makefile:9: run] Error 1\n"
    write(project, {"uvm/one.log": UNNAMED_BAD + stop, "uvm/two.log": UNNAMED_BAD.replace("1250", "1300") + stop})
    call("uvm")
    assert failing_tests(project) == {"uvm/one.log", "uvm/two.log"}


def test_several_logs_of_a_build_that_failed_are_one_unit(project: Path, call: _Caller) -> None:
    write(project, {"axi/one.log": BROKEN, "axi/two.log": BROKEN.replace("dut.sv:6", "dut.sv:9")})
    call("axi")
    (record,) = written(project)
    assert record["totals"]["failed"] == 1
    assert failing_tests(project) == {"axi"}


@pytest.mark.parametrize("left", [GREEN.format(seed=1), WITHOUT_TIME], ids=["green", "red"])
def test_results_that_a_build_failure_left_from_the_run_before_are_not_of_its_run(
    project: Path, call: _Caller, left: str
) -> None:
    write(project, {"results.xml": left})
    call("results.xml", "--run-id", "mon")
    write(project, {"make.log": BROKEN})
    call("results.xml", "--log", "make.log", "--run-id", "tue")
    record = next(each for each in written(project) if each["run_id"]["given"] == "tue")
    assert [cause["error_class"] for cause in record["occurrences"]] == ["compile_error"]
    assert (record["totals"]["passed"], record["totals"]["failed"]) == (0, 1)
    assert [source["path"] for source in record["sources"]] == ["make.log"]


COCOTB = """     0.00ns INFO     gpi                                GPI: VPI support registered
     0.00ns INFO     cocotb.initialize                  Seeding Python random module with 1
     0.00ns INFO     cocotb.initialize                  Running on {simulator} version {version}
     0.00ns INFO     cocotb.regression                  running t.counts (1/1)
    10.00ns INFO     cocotb.regression                  t.counts passed
"""


@pytest.mark.parametrize(
    ("command", "simulator", "version", "fixed"),
    [
        (BROKEN.splitlines()[2], "Icarus Verilog", "11.0 (stable)", True),
        (BROKEN.splitlines()[2].replace("-s dut", "-s other"), "Icarus Verilog", "11.0 (stable)", False),
        ("verilator -cc --exe -Mdir sim_build --top-module dut /repo/rtl/dut.sv", "Verilator", "5.048 devel", False),
    ],
    ids=["the same", "another top", "another simulator"],
)
def test_only_the_simulator_and_the_top_that_failed_to_build_are_fixed(  # noqa: PLR0917
    project: Path, call: _Caller, command: str, simulator: str, version: str, fixed: bool
) -> None:
    write(project, {"axi/make.log": BROKEN})
    call("axi")
    log = f"{command}\n" + COCOTB.format(simulator=simulator, version=version)
    write(project, {"axi/results.xml": GREEN.format(seed=1), "axi/make.log": log})
    assert ("FIXED" in call("axi")) is fixed


@pytest.mark.parametrize(("simulator", "fixed"), [("GHDL", True), ("NVC", False)])
def test_a_silent_build_that_failed_is_fixed_on_its_simulator(
    project: Path, call: _Caller, simulator: str, fixed: bool
) -> None:
    """With `make -s`, as in a Makefile that calls cocotb's, the log shows no command."""
    broken = 'plic.vhd:82:43: missing ";" at end of object declaration\n'
    write(project, {"lsu/make.log": f"{broken}make[1]: *** [simulators/Makefile.ghdl:73: analyse] Error 1\n"})
    call("lsu")
    write(
        project,
        {"lsu/results.xml": GREEN.format(seed=1), "lsu/make.log": COCOTB.format(simulator=simulator, version="2.0")},
    )
    assert ("FIXED" in call("lsu")) is fixed


def test_a_simulator_whose_version_is_known_is_listed_once(project: Path, call: _Caller) -> None:
    broken = 'plic.vhd:82:43: missing ";" at end of object declaration\n'
    log = COCOTB.format(simulator="GHDL", version="2.0.0")
    write(project, {"n/lsu/make.log": f"{broken}make[1]: *** [simulators/Makefile.ghdl:73: analyse] Error 1\n"})
    write(project, {"n/alu/results.xml": GREEN.format(seed=1), "n/alu/make.log": log})
    call("n", "--task", "nightly")
    assert [record["simulators"] for record in written(project)] == [[{"name": "ghdl", "version": "2.0.0"}]]


def test_old_results_beside_a_new_log_show_no_cause_that_their_record_does_not_have(
    project: Path, call: _Caller
) -> None:
    """A make that was killed before it deleted the previous run's results leaves both."""
    ended = '<failure type="SimFailure" message="the simulation ended prematurely"/></testcase>'
    left = GREEN.format(seed=1).replace('<testsuite name="t">', '<testsuite name="t" timestamp="2026-10-01T10:00:00Z">')
    bound = "ghdl-mcode:error: bound check failure at zero.vhd:14\n"
    log = COCOTB.format(simulator="GHDL", version="2.0.0").replace("    10.00ns INFO ", bound + "    10.00ns INFO ")
    write(
        project,
        {"n/a/results.xml": left.replace("</testcase>", ended), "n/a/make.log": log.replace("passed", "failed")},
    )
    assert "index_out_of_range" in call("n", "--task", "nightly", "--run-id", "mon")
    write(project, {"n/a/make.log": "mkdir -p sim_build\n", "n/b/results.xml": GREEN.format(seed=2)})
    said = call("n", "--task", "nightly", "--run-id", "tue")
    assert "1 file skipped, already archived" in said
    assert "simulation_ended_early" not in said


LOOP = """make sim COCOTB_TOPLEVEL={top} COCOTB_TEST_MODULES=t VHDL_SOURCES={top}.vhd
make[1]: Entering directory '{folder}'
ghdl -i --workdir=sim_build --work=work {top}.vhd && \\
ghdl -m --workdir=sim_build --work=work {top}
"""
LOOP_MAKEFILE = "sim:\n\t$(shell cocotb-config --makefiles)\n" + "".join(
    f"{top}:\n\t$(MAKE) sim COCOTB_TOPLEVEL={top} COCOTB_TEST_MODULES=t VHDL_SOURCES={top}.vhd\n"
    for top in ("regs", "ram")
)
STOP = "make[1]: *** [Makefile.ghdl:73: analyse] Error 1\nmake[1]: Leaving directory '{folder}'\n"


def test_designs_of_one_makefile_that_fail_to_build_are_told_apart(project: Path, call: _Caller) -> None:
    """GHDL's library keeps the file that a build could not read, so the next design fails in it too."""
    one = f"{LOOP}regs.vhd:37:17: 'then' is expected here\n{STOP}"
    log = "".join(one.format(top=top, folder=project / "hw") for top in ("regs", "ram"))
    write(project, {"hw/Makefile": LOOP_MAKEFILE, "hw/make.log": log})
    said = call("hw")
    assert "make sim COCOTB_TOPLEVEL=regs" in " ".join(said.split())
    (record,) = written(project)
    tests = [test for cause in record["occurrences"] for test in cause["tests"]]
    assert {test["nodeid"] for test in tests} == {"hw"}
    assert len({test["config"] for test in tests}) == len(("regs", "ram"))


def test_a_simulation_of_a_loop_that_ends_before_its_tests_is_a_failure(project: Path, call: _Caller) -> None:
    """The results file is from the last simulation."""
    cocotb = COCOTB.format(simulator="GHDL", version="2.0.0")
    ended = f"    10.00ns INFO     cocotb.regression                  {'*' * 40}\n"
    died = "ghdl-mcode:error: index (16) out of bounds (0 to 15) at rom.vhd:79\n"
    runs = {
        "mux": cocotb.replace("t.counts", "t.selects") + ended,
        "regs": cocotb.splitlines()[0] + f"\n{died}{STOP}",
        "ram": cocotb + ended,
    }
    log = "".join((LOOP + text).format(top=top, folder=project / "hw") for top, text in runs.items())
    write(project, {"hw/Makefile": LOOP_MAKEFILE, "hw/results.xml": GREEN.format(seed=1), "hw/make.log": log})
    said = call("hw")
    assert "index_out_of_range" in said
    assert "make sim COCOTB_TOPLEVEL=regs" in " ".join(said.split())
    (cause,) = written(project)[0]["occurrences"]
    assert not cause["tests"][0]["seed_unknown"], "it ended before cocotb drew a seed"


@pytest.mark.parametrize("is_one_log", [False, True], ids=["a_log_each", "one_log"])
@pytest.mark.parametrize("beside", ["fails", "passes"])
def test_a_design_that_failed_to_build_was_not_repaired_by_a_build_in_another_folder(
    project: Path, call: _Caller, beside: str, *, is_one_log: bool
) -> None:
    cocotb = COCOTB.format(simulator="GHDL", version="2.0.0").replace("with 1", "with {seed}")
    cocotb += f"    10.00ns INFO     cocotb.regression                  {'*' * 40}\n"
    passes = cocotb.replace("t.counts", "t.selects") + "make[1]: Leaving directory '{folder}'\n"
    ends = {"passes": passes, "fails": f"regs.vhd:37:17: 'then' is expected here\n{STOP}"}
    logs: dict[str, str] = {}
    for seed, (name, ending) in enumerate({"a": "fails", "b": beside}.items(), start=1):
        runs = {"regs": ends[ending], "ram": cocotb + "make[1]: Leaving directory '{folder}'\n"}
        text = "".join((LOOP + run).format(top=top, folder=project / name, seed=seed) for top, run in runs.items())
        logs |= {f"{name}/make.log": text}
        write(project, {f"{name}/Makefile": LOOP_MAKEFILE, f"{name}/results.xml": GREEN.format(seed=seed)})
    write(project, {"make.log": "".join(logs.values())} if is_one_log else logs)
    call(".", "--task", "nightly")
    (record,) = written(project)
    failed = [test["nodeid"] for cause in record["occurrences"] for test in cause["tests"]]
    assert failed == (["a", "b"] if beside == "fails" else ["a"])
    assert record["totals"]["failed"] == len(failed)


@pytest.mark.parametrize("beside", ["before", "after"])
def test_a_pass_closes_a_cause_whatever_failed_to_build_in_the_same_log(
    project: Path, call: _Caller, beside: str
) -> None:
    cocotb = COCOTB.format(simulator="GHDL", version="2.0.0")
    ended = (
        f"    10.00ns INFO     cocotb.regression                  {'*' * 40}\nmake[1]: Leaving directory '{{folder}}'\n"
    )
    died = cocotb.splitlines(keepends=True)
    died[-1] = f"ghdl:error: index (16) out of bounds (0 to 15) at rom.vhd:79\n{STOP}"
    write(
        project,
        {"hw/Makefile": LOOP_MAKEFILE, "hw/make.log": (LOOP + "".join(died)).format(top="ram", folder=project / "hw")},
    )
    assert "index_out_of_range" in call("hw", "--run-id", "mon")
    runs = {"regs": f"regs.vhd:37:17: 'then' is expected here\n{STOP}", "ram": cocotb + ended}
    texts = [(LOOP + text).format(top=top, folder=project / "hw") for top, text in runs.items()]
    write(project, {"hw/make.log": "".join(texts if beside == "before" else reversed(texts))})
    said = call("hw", "--run-id", "tue")
    assert re.search(r"^(FIXED|PASSED) ", said, re.MULTILINE), said
    assert re.search("^NEW ", said, re.MULTILINE)
