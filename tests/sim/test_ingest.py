"""`dvwiki ingest` gives the same causes for the files of real simulations as live capture."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from .harness import Project, environment, missing

if TYPE_CHECKING:
    from pathlib import Path

    from .harness import Call, Record

pytestmark = [
    pytest.mark.sim,
    pytest.mark.timeout(300),
    pytest.mark.skipif(missing("icarus") is not None, reason=str(missing("icarus"))),
    pytest.mark.skipif(shutil.which("make") is None, reason="needs make"),
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.copy("flows", tmp_path / "flows")
    (made.folder / ".agent").mkdir()
    return made


def make(project: Project, module: str, *, source: str = "dut", limit_s: int | None = None, results: str = "") -> Call:
    """Run cocotb's Makefile outside pytest, with its output in `sim.log`."""
    shutil.rmtree(project.folder / "sim_build", ignore_errors=True)
    command = f"timeout {limit_s} make" if limit_s else "make"
    variables = {"COCOTB_TEST_MODULES": module, "SOURCE": source}
    if results:
        variables["COCOTB_RESULTS_FILE"] = results
    return project.call(["sh", "-c", f"{command} > sim.log 2>&1"], environment("icarus", variables))


def ingest(project: Project, *words: str) -> Call:
    return project.call([sys.executable, "-m", "pytest_dvwiki", "ingest", *words], environment("icarus"))


def test_a_folder_that_failed_to_build_is_fixed_by_its_first_green_run(project: Project) -> None:
    (project.folder / "axi").mkdir()
    for name in ("Makefile", "rtl", "bench"):
        shutil.move(project.folder / name, project.folder / "axi" / name)
    there = Project(folder=project.folder / "axi")
    make(there, "quiet_bench", source="broken")
    for night in ("1", "2"):
        assert "already archived" not in ingest(project, "axi/sim.log", "--run-id", night).output
    make(there, "import_bench")
    ingest(project, "axi", "--run-id", "3")
    causes = [cause for record in project.archive.records for cause in record.causes]
    assert sorted(cause.label for cause in causes) == [*["compile_error/syntax_error"] * 2, "python_error/import_error"]
    assert {test.nodeid for cause in causes for test in cause.tests} == {"axi"}
    make(there, "quiet_bench", results="night.xml")
    call = ingest(project, "axi", "--run-id", "4")
    # A green run of another test module does not show that this one can be imported.
    assert call.output.count("FIXED ") == call.output.count("FIXED      compile_error") == 1, call.output
    shutil.copy(there.folder / "bench" / "quiet_bench.py", there.folder / "bench" / "import_bench.py")
    make(there, "import_bench", results="next.xml")
    call = ingest(project, "axi", "--run-id", "5")
    assert call.output.count("FIXED ") == call.output.count("FIXED      python_error") == 1, call.output


def names(record: Record) -> dict[str, str]:
    """Return the label of each failing test."""
    return {test.nodeid.rpartition("::")[2]: cause.label for cause in record.causes for test in cause.tests}


def test_a_makefile_regression_is_archived_afterwards(project: Project) -> None:
    assert make(project, "checks_bench").status != 0
    call = ingest(project, "results.xml", "--log", "sim.log")
    assert call.status == 0, call.output
    record = project.archive.record
    assert names(record) == {
        "mismatch": "sim_error/scoreboard_fail",
        "missing_signal": "sim_error/handle_not_found",
        "never_ready": "sim_error/timeout",
    }
    assert (record.totals["passed"], record.totals["failed"]) == (1, 3)
    assert "results.xml: 4 tests, 3 failed, 3 causes" in call.output
    commands = {cause.label: cause.command for cause in record.causes}
    first, later = commands["sim_error/scoreboard_fail"], commands["sim_error/handle_not_found"]
    assert first is not None
    assert later is not None
    assert first["arguments"] == later["arguments"] == ["make"]
    assert first["variables"]["SIM"] == later["variables"]["SIM"] == "icarus"
    # The first failure may have left the design in an unusual state.
    assert first["variables"]["COCOTB_TEST_FILTER"] == "[.]mismatch$$"
    assert "COCOTB_TEST_FILTER" not in later["variables"]


@pytest.mark.further_mode
def test_the_log_of_a_make_for_several_folders_makes_them_one_run(project: Project) -> None:
    for folder in ("a", "b", "c"):
        (project.folder / folder).mkdir()
        for name in ("Makefile", "rtl", "bench"):
            there = project.folder / folder / name
            (shutil.copytree if name != "Makefile" else shutil.copy)(project.folder / name, there)
    calls = "make -C a; SOURCE=broken make -C c; make -C b"
    variables = {"COCOTB_TEST_MODULES": "checks_bench", "SOURCE": "dut"}
    project.call(["sh", "-c", f"({calls}) > night.log 2>&1"], environment("icarus", variables))
    ingest(project, ".")
    record = project.archive.record
    tests = [test for cause in record.causes for test in cause.tests]
    assert {test.nodeid.partition("::")[0] for test in tests} == {"a", "b", "c"}
    assert len(tests) == len({test.nodeid for test in tests}) == record.totals["failed"]
    assert {test.simulator for test in tests} == {"icarus"}
    assert all(cause.label == "compile_error/syntax_error" for cause in record.causes if cause.tests[0].nodeid == "c")


def test_pyuvm_under_make_is_named_by_its_scoreboard_and_config_db(project: Project) -> None:
    make(project, "uvm_bench")
    ingest(project, "results.xml")  # the log is the newest beside it
    record = project.archive.record
    assert names(record) == {"check_phase": "uvm_error/scoreboard_fail", "config_miss": "uvm_error/config_db_missing"}
    assert any("mismatch: expected 0x11 got 0x91" in cause.primary for cause in record.causes)
    assert "sim.log" in record.text


def test_a_make_that_wrote_no_results_is_told_by_its_log(project: Project) -> None:
    make(project, "quiet_bench", source="broken")
    call = ingest(project, "results.xml", "--log", "sim.log")
    assert call.status == 1
    assert "results.xml: no such file" in call.output
    (cause,) = project.archive.record.causes
    assert (cause.label, cause.primary) == ("compile_error/syntax_error", "rtl/broken.sv:6: syntax error")


@pytest.mark.further_mode
def test_a_make_that_a_limit_ends_is_one_cause_and_its_followers(project: Project) -> None:
    assert make(project, "slow_bench", limit_s=30).status == 124
    ingest(project, ".")
    record = project.archive.record
    (cause,) = record.causes
    # make reports a signal only if the simulator was killed by it, not if it handled it and exited.
    if "Terminated" in (project.folder / "sim.log").read_text(encoding="utf-8"):
        assert cause.label == "tool_error/cut_short"
        assert "the simulator was killed by signal 15 (SIGTERM) while running" in cause.primary
        assert "in_flight, last logged time" in cause.primary
    else:
        assert cause.label == "sim_error/simulation_ended_early"
    assert [test.nodeid.rpartition("::")[2] for test in cause.tests] == ["in_flight", "not_started"]


@pytest.mark.further_mode
def test_live_capture_ingest_and_the_logs_alone_tell_the_same_causes(project: Project) -> None:
    project.run("test_make.py", env={"LOG_FILES": "1"})
    live = project.archive.record
    assert len(live.causes) == 8
    for words in (("made", "--task", "afterwards"), ("made/*/make.log", "--task", "logs")):
        shutil.rmtree(project.folder / ".agent")  # it has these results already
        (project.folder / ".agent").mkdir()
        assert ingest(project, *words).status == 0
        assert project.archive.record.identities == live.identities
        assert project.archive.record.totals["failed"] == live.totals["failed"] == 9


@pytest.mark.further_mode
def test_what_a_run_archived_live_counts_once(project: Project) -> None:
    project.run("test_make.py", env={"LOG_FILES": "1"})
    before = contents(project)
    for words in (
        ("made", "--task", "afterwards"),
        ("made/*_bench-broken/make.log", "made/c*/make.log", "--run-id", "other"),
    ):
        call = ingest(project, *words)
        assert (call.status, "nothing changed" in call.output) == (0, True), call.output
        assert "\nKNOWN " in call.output
    assert contents(project) == before


@pytest.mark.further_mode
def test_a_second_ingest_changes_nothing_and_says_so(project: Project) -> None:
    make(project, "checks_bench")
    ingest(project, ".")
    before = contents(project)
    moved = project.folder / "elsewhere"
    moved.mkdir()
    for name in ("results.xml", "sim.log"):
        shutil.copy(project.folder / name, moved)  # with another modification time
    for words in ((".",), ("elsewhere",), ("results.xml",)):
        call = ingest(project, *words)
        assert (call.status, "nothing changed" in call.output) == (0, True), call.output
    assert contents(project) == before


def contents(project: Project) -> dict[Path, bytes]:
    """Return all files that git would keep; the lock names its last holder."""
    files = project.archive.files()
    return {
        path: path.read_bytes() for path in files if path.name != ".lock" and not {".cache", "journal"} & {*path.parts}
    }
