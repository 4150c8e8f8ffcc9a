"""Each kind of failure of a cocotb simulation gives the right Failures, from the files of real runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.capture.processes.tools import cocotb_version
from pytest_dvwiki.capture.simulations.reproduce import Call
from pytest_dvwiki.capture.simulations.simulation import Simulation, SimulationOutcome, collect
from pytest_dvwiki.logtext.logs import LogText
from pytest_dvwiki.model import Frame
from pytest_dvwiki.records.command import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_dvwiki.model import Failure, Tier


def pasted(failure: Failure) -> str:
    """Return the command of a failure as a user pastes it."""
    assert failure.command is not None
    return " ".join(words(failure.command))


DESIGN = """\
`timescale 1ns/1ps
module dut(input wire clk, input wire [7:0] d, output reg [7:0] q);
  initial begin
    if ($test$plusargs("fatal")) begin #55 $fatal(1, "FIFO overflow detected"); end
    if ($test$plusargs("finish")) begin #55 $finish; end
    if ($test$plusargs("noise")) begin #5 $error("q reached %0d", 3); end
  end
endmodule
"""
BAD_DESIGNS = {
    "syntax": ("module dut(input wire clk);\n  wire x = ;\nendmodule\n", "bad.sv:2: syntax error"),
    "missing": ("module dut(input wire clk);\n  missing_sub u(clk);\nendmodule\n", "Unknown module type: missing_sub"),
    "top": ("module other(input wire clk);\nendmodule\n", 'Unable to find the root module "dut"'),
}
KINDS = """\
import sys
import cocotb
from cocotb.triggers import Timer, with_timeout
from cocotb.types import LogicArray

@cocotb.test()
async def passes(dut):
    await Timer(10, "ns")
    dut._log.error("an error line")

@cocotb.test()
async def overflow(dut):
    await Timer(10, "ns")
    print("a word on the error stream", file=sys.stderr, flush=True)
    assert int(LogicArray("0011")) == 4, "expected 4 got 3"

@cocotb.test()
async def no_overflow(dut):
    await Timer(1, "ns")

@cocotb.test(timeout_time=50, timeout_unit="ns")
async def limited(dut):
    await Timer(1, "ms")

@cocotb.test()
async def waits(dut):
    await with_timeout(Timer(1, "ms"), 50, "ns")

@cocotb.test()
async def unknown(dut):
    await Timer(1, "ns")
    int(LogicArray("X"))

@cocotb.test()
async def handle(dut):
    await Timer(1, "ns")
    dut.no_such_signal.value = 1

@cocotb.test()
async def background(dut):
    async def task():
        await Timer(5, "ns")
        raise RuntimeError("task died")
    cocotb.start_soon(task())
    await Timer(100, "ns")

@cocotb.test(expect_fail=True)
async def should_fail(dut):
    await Timer(1, "ns")

@cocotb.test(expect_fail=True)
async def fails_as_told(dut):
    await Timer(1, "ns")
    assert False, "expected"

@cocotb.test(expect_error=ValueError)
async def other_error(dut):
    await Timer(1, "ns")
    raise KeyError("k")

@cocotb.test(skip=True)
async def left_out(dut):
    pass

@cocotb.test
@cocotb.parametrize(x=[1, 2])
async def par(dut, x):
    await Timer(1, "ns")
    assert x == 1
"""
ENDS = """\
import os
import cocotb
from cocotb.triggers import Timer

@cocotb.test()
async def first(dut):
    await Timer(10, "ns")

@cocotb.test()
async def second(dut):
    await Timer(10, "ns")
    assert 0 == 3

@cocotb.test()
async def third(dut):
    await Timer(35, "ns")
    if number := os.environ.get("SIGNAL"):
        os.kill(os.getpid(), int(number))
    await Timer(100, "ns")

@cocotb.test()
async def fourth(dut):
    await Timer(10, "ns")
"""
DRIVER = """\
import json, logging, sys
from pathlib import Path
from cocotb_tools.runner import get_runner

logging.basicConfig(level=logging.WARNING)
job = json.loads(sys.argv[1])
folder = Path.cwd()
error, stage = "", "build"
# GHDL looks for its library where it is started.
build = folder if job["simulator"] == "ghdl" else folder / "build"
try:
    runner = get_runner(job["simulator"])
    runner.build(sources=[folder / job["source"]], hdl_toplevel="dut", build_dir=build, always=True,
                 log_file=job.get("build_log"))
    stage = "test"
    runner.test(hdl_toplevel="dut", test_module=job["modules"], test_dir=folder, build_dir=build,
                plusargs=job["plusargs"], results_xml="results.xml", log_file=job.get("log"))
except BaseException as raised:
    error = f"{type(raised).__name__}: {raised}"
(folder / "ending.json").write_text(json.dumps([error, stage]))
"""

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog (iverilog) on PATH"),
]


@dataclass(frozen=True)
class Left:
    """Output and files of a run."""

    folder: Path
    stdout: str
    stderr: str
    error: str
    stage: str

    @property
    def simulation(self) -> Simulation:
        """Return the simulation as a caller with captured streams passes it."""
        return Simulation(
            call=Call(),
            nodeid="tests/test_fifo.py::test_fifo",
            root=self.folder,
            results=self.folder / "results.xml",
            logs=(LogText(source="stdout", text=self.stdout), LogText(source="stderr", text=self.stderr)),
            error=self.error,
            longrepr=f">       r.{self.stage}(...)\nE       {self.error}" if self.error else "",
        )


_ORDERED = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COCOTB_RANDOM_SEED": "42", "PYTHONUNBUFFERED": "1"}
"""Unbuffered, Icarus writes the design's messages between cocotb's; otherwise all may come at the end."""


def run(
    folder: Path,
    modules: str = "ends",
    *plusargs: str,
    source: str = "dut.sv",
    log: bool = False,
    together: bool = False,
    simulator: str = "icarus",
    environment: Mapping[str, str] | None = None,
) -> Left:
    """Run a real simulation in another process."""
    for name, text in {"dut.sv": DESIGN, "kinds.py": KINDS, "ends.py": ENDS, "driver.py": DRIVER}.items():
        (folder / name).write_text(text)
    job: dict[str, object] = {"modules": modules, "plusargs": plusargs, "source": source, "simulator": simulator}
    if log:
        job |= {"log": str(folder / "sim.log"), "build_log": str(folder / "build.log")}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("COCOTB_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "driver.py", json.dumps(job)],
        cwd=folder,
        env=inherited | _ORDERED | dict(environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if together else subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    error, stage = json.loads((folder / "ending.json").read_text())
    # If the test fails, pytest shows this output; there is no other trace of the simulator.
    sys.stdout.write(f"{modules} {plusargs} {environment}: {error}\n{done.stdout}\n{done.stderr}\n")
    return Left(folder, done.stdout, done.stderr or "", error, stage)


def named(outcome: SimulationOutcome, name: str) -> Failure:
    (found,) = [one for one in outcome.failures if one.nodeid == f"tests/test_fifo.py::test_fifo::{name}"]
    return found


def said(failure: Failure, source: str = "run") -> str:
    return "\n".join(excerpt.text for excerpt in failure.excerpts if excerpt.source == source)


def outcomes(outcome: SimulationOutcome) -> dict[str, str]:
    return {result.nodeid.rpartition("::")[2]: result.outcome for result in outcome.results}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Left:
    return run(tmp_path_factory.mktemp("kinds"), "kinds")


def test_every_test_of_the_runner_has_its_result(kinds: Left) -> None:
    assert outcomes(collect(kinds.simulation)) == {
        "passes": "passed",
        "overflow": "failed",
        "no_overflow": "passed",
        "limited": "failed",
        "waits": "failed",
        "unknown": "failed",
        "handle": "failed",
        "background": "failed",
        "should_fail": "failed",
        "fails_as_told": "passed",
        "other_error": "failed",
        "left_out": "skipped",
        "par/x=1": "passed",
        "par/x=2": "failed",
    }


def test_a_failing_test_has_seed_time_simulator_and_frame(kinds: Left) -> None:
    failure = named(collect(kinds.simulation), "overflow")
    assert (failure.exception, failure.message.splitlines()[0]) == ("AssertionError", "expected 4 got 3")
    assert failure.frame is not None
    assert (failure.frame.file, failure.frame.function) == ("kinds.py", "overflow")
    assert failure.frame.source.startswith('assert int(LogicArray("0011")) == 4')
    assert (failure.seed, failure.sim_time, failure.simulator) == ("42", "20.001 ns", "icarus")
    assert failure.in_simulator
    assert failure.started


@pytest.mark.parametrize(
    ("name", "exception", "words"),
    [
        ("overflow", "AssertionError", "expected 4 got 3"),
        ("limited", "SimTimeoutError", "SimTimeoutError"),
        ("waits", "SimTimeoutError", "await with_timeout(Timer"),
        ("unknown", "ValueError", "Can't convert LogicArray to int"),
        ("handle", "AttributeError", "contains no child object named no_such_signal"),
        ("background", "RuntimeError", "task died"),
        ("should_fail", None, "passed but we expected a failure"),
        ("other_error", "KeyError", "errored with unexpected type"),
    ],
)
def test_the_cause_stands_in_the_excerpts(kinds: Left, name: str, exception: str | None, words: str) -> None:
    failure = named(collect(kinds.simulation), name)
    assert failure.exception == exception
    assert words in said(failure, "results") + said(failure, "log")


@pytest.mark.parametrize(("name", "function"), [("waits", "waits"), ("background", "task"), ("limited", "limited")])
@pytest.mark.parametrize("left_out", ["nothing", "results", "logs"])
def test_the_frame_is_the_user_s_and_that_of_a_test_which_its_limit_ended_is_the_test(
    kinds: Left, name: str, function: str, left_out: str
) -> None:
    whole = kinds.simulation
    left = {"nothing": whole, "results": replace(whole, results=None), "logs": replace(whole, logs=())}[left_out]
    frame = named(collect(left), name).frame
    assert frame is not None
    assert (frame.file, frame.function) == ("kinds.py", function)


def test_a_test_s_log_holds_no_line_of_another(kinds: Left) -> None:
    log = said(named(collect(kinds.simulation), "overflow"), "log")
    assert "running kinds.overflow" in log
    assert "no_overflow" not in log
    assert "an error line" not in log


def test_error_lines_of_passing_tests_are_noise(kinds: Left) -> None:
    outcome = collect(kinds.simulation)
    assert outcome.noise_errors == 1
    assert [result.noise_errors for result in outcome.results if result.nodeid.endswith("::passes")] == [1]


def test_a_severity_of_the_design_in_a_passing_test_is_noise_too(tmp_path: Path) -> None:
    left = run(tmp_path, "kinds", "+noise", environment={"COCOTB_TEST_FILTER": "passes$"})
    outcome = collect(left.simulation)
    assert (outcome.failures, outcome.noise_errors) == ((), 2)


def test_strict_logs_refuse_a_test_that_passed_with_an_error_line(tmp_path: Path) -> None:
    left = run(tmp_path, "kinds", "+noise", environment={"COCOTB_TEST_FILTER": "passes$"})
    outcome = collect(replace(left.simulation, strict_logs=True))
    (failure,) = outcome.refused
    assert outcome.failures == ()
    assert outcome.results[0].outcome == "failed"
    assert failure.nodeid.endswith("::passes")
    assert failure.message.startswith("ERROR: ")
    assert failure.message.partition(" Time: ")[0].endswith("dut.sv:6: q reached 3")
    assert [line.strip().partition(" ")[0] for _, line in failure.excerpts[0].lines][:1] == ["ERROR:"]
    assert pasted(failure).endswith(" --dvwiki --dvwiki-strict-logs")


def test_an_error_outside_of_all_tests_counts_with_the_last_one_that_passed(tmp_path: Path) -> None:
    running = "     0.00ns INFO     cocotb.regression                  running t.{0} ({1}/2)\n"
    passed = "    10.00ns INFO     cocotb.regression                  t.{0} passed\n"
    text = "".join(part.format(name, n) for n, name in ((1, "a"), (2, "b")) for part in (running, passed))
    log = LogText(source="log", text="ERROR: dut.sv:3: at time zero\n" + text)
    sim = Simulation(nodeid="t.py::t", root=tmp_path, logs=(log,), strict_logs=True)
    (failure,) = collect(sim).refused
    assert (failure.nodeid, failure.message) == ("t.py::t::b", "ERROR: dut.sv:3: at time zero")


def test_a_test_that_failed_as_it_was_to_is_left_in_peace(tmp_path: Path) -> None:
    text = (
        "     0.00ns INFO     cocotb.regression                  running t.a (1/1)\n"
        "ERROR: dut.sv:3: provoked\n"
        "    10.00ns INFO     cocotb.regression                  t.a passed: errored as expected\n"
    )
    sim = Simulation(nodeid="t.py::t", root=tmp_path, logs=(LogText(source="log", text=text),), strict_logs=True)
    outcome = collect(sim)
    assert (outcome.refused, outcome.results[0].outcome) == ((), "passed")


def test_the_command_runs_this_test_alone_with_its_seed(kinds: Left, tmp_path: Path) -> None:
    command = shlex.split(pasted(named(collect(kinds.simulation), "overflow")))
    assert command[2:] == ["pytest", "tests/test_fifo.py::test_fifo"]
    again = run(tmp_path, "kinds", environment=dict(word.split("=", 1) for word in command[:2]))
    assert outcomes(collect(again.simulation)) == {"overflow": "failed"}
    assert collect(again.simulation).results[0].seed == "42"


def test_a_failing_test_names_the_file_that_draws_its_stimulus_without_a_seed(kinds: Left, tmp_path: Path) -> None:
    (tmp_path / "kinds.py").write_text("from drive import draw\n")
    (tmp_path / "drive.py").write_text("import numpy as np\ndef draw(): return np.random.rand()\n")
    here = replace(kinds.simulation, folder=tmp_path, root=tmp_path, modules=("kinds",))
    assert {failure.unseeded for failure in collect(here).failures} == {"drive.py"}
    (tmp_path / "drive.py").write_text("import random\ndef draw(): return random.random()\n")
    assert {failure.unseeded for failure in collect(here).failures} == {""}


def test_a_test_after_one_that_failed_is_run_with_those_before_it(kinds: Left) -> None:
    """The first failure may have left the design in an unusual state."""
    told = {failure.nodeid: "COCOTB_TEST_FILTER" in pasted(failure) for failure in collect(kinds.simulation).failures}
    assert list(told.values()) == [True, *[False] * (len(told) - 1)]


@pytest.mark.parametrize(
    ("modules", "test", "plusarg"), [("ends", "third", "+finish"), ("kinds", "limited", ""), ("kinds", "waits", "")]
)
def test_a_test_that_waits_is_run_with_those_before_it(tmp_path: Path, modules: str, test: str, plusarg: str) -> None:
    """Even a passed test may have consumed an event for which a later one waits."""
    for before, is_alone in (("first$|passes$|", False), ("left_out$|", True)):
        chosen = {"COCOTB_TEST_FILTER": rf"{before}\.{test}$"}
        outcome = collect(run(tmp_path, modules, plusarg, environment=chosen).simulation)
        assert ("COCOTB_TEST_FILTER" in pasted(named(outcome, test))) is is_alone


def test_the_command_finds_a_parametrised_test(tmp_path: Path) -> None:
    left = run(tmp_path, "kinds", environment={"COCOTB_TEST_FILTER": r"par/x=2$"})
    command = shlex.split(pasted(named(collect(left.simulation), "par/x=2")))
    again = run(tmp_path, "kinds", environment=dict(word.split("=", 1) for word in command[:2]))
    assert outcomes(collect(again.simulation)) == {"par/x=2": "failed"}


def test_fatal_is_one_failure_of_the_test_in_flight(tmp_path: Path) -> None:
    outcome = collect(run(tmp_path, "ends", "+fatal").simulation)
    third = named(outcome, "third")
    assert re.search(r"FATAL: \S+dut\.sv:4: FIFO overflow detected", said(third, "log"))
    assert (third.started, said(third), third.sim_time) == (True, "", "55 ns")
    assert [one.started for one in outcome.failures] == [True, True, False]


def test_an_early_finish_is_told_with_test_and_time(tmp_path: Path) -> None:
    outcome = collect(run(tmp_path, "ends", "+finish").simulation)
    assert said(named(outcome, "third")) == "simulation ended before third was done, at 55 ns"
    assert not named(outcome, "fourth").started
    assert outcomes(outcome) == {"first": "passed", "second": "failed", "third": "failed", "fourth": "failed"}


def test_sigterm_reads_like_an_early_finish(tmp_path: Path) -> None:
    outcome = collect(run(tmp_path, environment={"SIGNAL": "15"}).simulation)
    assert said(named(outcome, "third")).startswith("simulation ended before third was done, at 55")
    assert [one.started for one in outcome.failures] == [True, True, False]


@pytest.mark.parametrize(
    ("number", "ended"),
    [
        ("9", "the simulator was killed by signal 9 (SIGKILL)"),
        ("11", "simulator icarus was killed by signal 11 (SIGSEGV)"),
    ],
)
def test_a_killed_simulator_names_signal_and_test_and_keeps_the_results_before(
    tmp_path: Path, number: str, ended: str
) -> None:
    left = run(tmp_path, environment={"SIGNAL": number})
    assert not (tmp_path / "results.xml").exists()
    outcome = collect(left.simulation)
    assert said(named(outcome, "third")) == f"{ended} while running third, last logged time 20 ns"
    assert outcomes(outcome) == {"first": "passed", "second": "failed", "third": "failed"}
    second = named(outcome, "second")
    assert (second.exception, second.message) == ("AssertionError", "assert 0 == 3")
    assert second.frame is not None
    assert second.frame.source == "assert 0 == 3"


@pytest.mark.parametrize(
    ("text", "exception"),
    [
        ("import cocotb\nimport no_such_module\n", "ModuleNotFoundError"),
        ("def (\n", "SyntaxError"),
        (None, "ModuleNotFoundError"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_failure_of_the_runner(
    tmp_path: Path, text: str | None, exception: str
) -> None:
    if text is not None:
        (tmp_path / "broken.py").write_text(text)
    left = run(tmp_path, "broken")
    outcome = collect(replace(left.simulation, error="SystemExit: 0"))
    (failure,) = outcome.failures
    assert (failure.nodeid, failure.exception) == ("tests/test_fifo.py::test_fifo", exception)
    assert f"{exception}: {failure.message}" in said(failure, "log")
    assert said(failure) == ""
    assert failure.seed is None, "no seed changes what an import meets"
    assert failure.in_simulator
    if text is not None:
        assert failure.frame is not None
        assert failure.frame.file == "broken.py"


@pytest.mark.parametrize("kind", sorted(BAD_DESIGNS))
@pytest.mark.parametrize("log", [False, True])
def test_a_build_error_is_one_failure_of_the_runner(tmp_path: Path, kind: str, log: bool) -> None:
    design, words = BAD_DESIGNS[kind]
    (tmp_path / "bad.sv").write_text(design)
    left = run(tmp_path, source="bad.sv", log=log)
    logs = (LogText(source="log", path=tmp_path / "build.log"),) if log else left.simulation.logs
    outcome = collect(replace(left.simulation, logs=logs))
    (failure,) = outcome.failures
    assert not failure.in_simulator
    assert failure.nodeid == "tests/test_fifo.py::test_fifo"
    assert words in said(failure, "log")
    assert (failure.log is not None) is log


def test_a_build_error_in_a_fixture_is_an_error_at_setup(tmp_path: Path) -> None:
    (tmp_path / "bad.sv").write_text(BAD_DESIGNS["syntax"][0])
    left = run(tmp_path, source="bad.sv")
    (failure,) = collect(replace(left.simulation, phase="setup", longrepr="")).failures
    assert (failure.phase, failure.outcome) == ("setup", "error")


class Errors:
    """Selects lines that begin with a severity."""

    def find(self, text: str) -> Iterator[tuple[int, Tier]]:
        for found in re.finditer(r"^(?:FATAL|ERROR)", text, re.MULTILINE):
            yield found.start(), "cause"

    def is_accepted(self, message: str) -> bool:
        return False

    def is_benign(self, message: str) -> bool:
        return False


def essence(outcome: SimulationOutcome) -> list[tuple[object, ...]]:
    """Return the parts that must not depend on the way of capture."""
    return [
        *(
            (
                one.nodeid,
                one.exception,
                one.message,
                one.frame,
                one.started,
                one.in_simulator,
                one.seed,
                one.sim_time,
                one.simulator,
                said(one),
            )
            for one in outcome.failures
        ),
        *((one.nodeid, one.outcome, one.noise_errors) for one in outcome.results),
        (outcome.simulator,),
    ]


@pytest.mark.parametrize(
    ("modules", "plusargs", "environment"),
    [
        ("kinds", (), {}),
        pytest.param("ends", ("+fatal",), {}, marks=pytest.mark.further_mode),
        ("ends", (), {"SIGNAL": "9"}),
        pytest.param("broken", (), {}, marks=pytest.mark.further_mode),
    ],
)
def test_the_outcome_is_the_same_however_the_log_came(
    tmp_path: Path, modules: str, plusargs: tuple[str, ...], environment: dict[str, str]
) -> None:
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    left = run(tmp_path, modules, *plusargs, environment=environment)
    captured = essence(collect(left.simulation))
    backwards = essence(collect(replace(left.simulation, logs=left.simulation.logs[::-1])))
    spool = tmp_path / "spool"
    spool.write_text("another item's\n" + left.stdout + left.stderr)
    part = LogText(source="stdout", path=spool, start=15, lasting=False)
    spooled = essence(collect(replace(left.simulation, logs=(part,))))
    merged_run = run(tmp_path, modules, *plusargs, together=True, environment=environment)
    merged = essence(collect(merged_run.simulation))
    logged_run = run(tmp_path, modules, *plusargs, log=True, environment=environment)
    logs = (LogText(source="log", path=tmp_path / "sim.log"), LogText(source="log", path=tmp_path / "build.log"))
    logged = essence(collect(replace(logged_run.simulation, logs=logs)))
    assert captured == backwards == spooled == merged == logged


@pytest.mark.parametrize(
    "environment",
    [
        {"COCOTB_ANSI_OUTPUT": "1"},
        *(
            pytest.param({name: value}, marks=pytest.mark.further_mode)
            for name, value in (
                ("COCOTB_REDUCED_LOG_FMT", "0"),
                ("COCOTB_LOG_PREFIX", "[{record.levelname}] "),
                ("COCOTB_LOG_LEVEL", "WARNING"),
            )
        ),
    ],
)
def test_the_form_of_the_log_changes_nothing_where_there_is_a_results_file(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    plain = collect(run(tmp_path, "ends", "+fatal").simulation)
    styled = collect(run(tmp_path, "ends", "+fatal", environment=environment).simulation)
    for one, other in zip(plain.failures, styled.failures, strict=True):
        assert (one.nodeid, one.exception, one.message, one.frame, one.started, one.sim_time) == (
            (other.nodeid, other.exception, other.message, other.frame, other.started, other.sim_time)
        )
        assert ("FATAL:" in said(one, "log")) is ("FATAL:" in said(other, "log"))


def test_without_any_log_the_results_file_alone_gives_the_same_tests(kinds: Left) -> None:
    bare = collect(replace(kinds.simulation, logs=()))
    assert outcomes(bare) == outcomes(collect(kinds.simulation))
    assert named(bare, "overflow").frame == named(collect(kinds.simulation), "overflow").frame


def test_without_a_results_file_a_finished_log_gives_the_same_tests(kinds: Left) -> None:
    logged = collect(replace(kinds.simulation, results=None))
    assert outcomes(logged) == outcomes(collect(kinds.simulation))
    for failure in collect(kinds.simulation).failures:
        other = named(logged, failure.nodeid.rpartition("::")[2])
        assert (other.exception, other.started) == (failure.exception, failure.started)


def test_a_log_file_is_referred_to_with_line_and_hash(tmp_path: Path) -> None:
    left = run(tmp_path, "ends", "+fatal", log=True)
    log = LogText(source="log", path=tmp_path / "sim.log")
    third = named(collect(replace(left.simulation, logs=(log,), interest=Errors())), "third")
    assert third.log is not None
    assert (third.log.path, len(third.log.sha256 or "")) == ("sim.log", 64)
    assert third.log.line is not None
    assert (tmp_path / "sim.log").read_text().split("\n")[third.log.line - 1].startswith("FATAL: ")


def test_a_spool_leaves_no_reference_since_it_does_not_last(kinds: Left) -> None:
    spool = kinds.folder / "spool"
    spool.write_text(kinds.stdout)
    log = LogText(source="stdout", path=spool, lasting=False)
    failure = named(collect(replace(kinds.simulation, logs=(log,))), "overflow")
    assert failure.log is None
    assert all(excerpt.path is None and excerpt.sha256 is None for excerpt in failure.excerpts)


def test_an_older_results_file_is_another_run_s(kinds: Left, tmp_path: Path) -> None:
    stale = tmp_path / "results.xml"
    shutil.copy(kinds.folder / "results.xml", stale)
    os.utime(stale, (1000, 1000))
    sim = replace(kinds.simulation, results=stale, logs=(), error="SystemExit: 0", longrepr="", started=2000.0)
    (failure,) = collect(sim).failures
    assert (failure.nodeid, said(failure)) == (sim.nodeid, "no results file was written")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "results file results.xml cannot be read: the file is empty"),
        ("<testsuite>", "cannot be read: not well-formed"),
    ],
)
def test_an_unusable_results_file_is_told_where_nothing_else_is(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "results.xml").write_text(content)
    sim = Simulation(nodeid="t.py::t", root=tmp_path, results=tmp_path / "results.xml", error="SystemExit: 0")
    (failure,) = collect(sim).failures
    assert words in said(failure)


def test_an_exception_before_any_simulation_is_the_item_s_own(tmp_path: Path) -> None:
    sim = Simulation(nodeid="t.py::t", root=tmp_path, error="SystemExit: ERROR: iverilog executable not found!")
    assert collect(sim) == SimulationOutcome()


def test_a_bad_status_without_any_text_is_told(tmp_path: Path) -> None:
    sim = Simulation(nodeid="t.py::t", root=tmp_path, error="RuntimeError: … return code: 3", simulator="vvp")
    (failure,) = collect(sim).failures
    assert said(failure) == "no results: simulator icarus ended with status 3"


def test_a_crash_after_the_last_test_is_the_runner_s(tmp_path: Path) -> None:
    left = run(tmp_path, "kinds", environment={"COCOTB_TEST_FILTER": "passes$"})
    outcome = collect(replace(left.simulation, error="RuntimeError: Command failed with return code: -11"))
    (failure,) = outcome.failures
    assert failure.nodeid == left.simulation.nodeid
    assert said(failure) == "simulator icarus was killed by signal 11 (SIGSEGV) after its last test"


def test_a_failure_of_the_item_after_a_good_simulation_is_the_item_s_own(tmp_path: Path) -> None:
    left = run(tmp_path, "kinds", environment={"COCOTB_TEST_FILTER": "passes$"})
    outcome = collect(replace(left.simulation, error="AssertionError: coverage too low", longrepr=">  assert cov > 90"))
    assert (outcome.failures, outcomes(outcome)) == ((), {"passes": "passed"})


def test_pytest_timeout_and_a_killed_pytest_name_the_test_in_flight(tmp_path: Path) -> None:
    left = run(tmp_path, environment={"SIGNAL": "9"})
    hung = replace(left.simulation, error="Failed: Timeout (>6.0s) from pytest-timeout.", longrepr="")
    assert (
        said(named(collect(hung), "third"))
        == "Timeout (>6.0s) from pytest-timeout while running third, last logged time 20 ns"
    )
    cut = replace(left.simulation, error="", longrepr="", cut_short=True)
    assert said(named(collect(cut), "third")) == "run was killed while running third, last logged time 20 ns"


def test_an_interrupt_keeps_the_tests_that_had_failed_and_lets_the_others_be(kinds: Left) -> None:
    before, _, _ = kinds.stdout.partition("running kinds.waits")
    log = LogText(source="stdout", text=f"{before}running kinds.waits (5/11)\n")
    left = replace(kinds.simulation, results=None, logs=(log,), error="KeyboardInterrupt", longrepr="")
    outcome = collect(left)
    assert [failure.nodeid.rpartition("::")[2] for failure in outcome.failures] == ["overflow", "limited"]
    assert outcomes(outcome) == {"passes": "passed", "overflow": "failed", "no_overflow": "passed", "limited": "failed"}
    assert collect(replace(left, logs=())).failures == ()


def test_a_component_that_ghdl_found_no_entity_for_is_told_with_each_failure(kinds: Left) -> None:
    warned = 'rtl/top.vhd:9:3:warning: instance "u_c" of component "ctrl" is not bound [-Wbinding]\n  u_c : ctrl\n'
    logs = (LogText(source="stdout", text=kinds.stdout), LogText(source="stderr", text=warned))
    for failure in collect(replace(kinds.simulation, logs=logs)).failures:
        assert said(failure) == "rtl/top.vhd:9:3: no entity was compiled for component ctrl"


def test_two_modules_qualify_the_names(tmp_path: Path) -> None:
    left = run(tmp_path, "kinds,ends", environment={"COCOTB_TEST_FILTER": r"passes$|\.second$"})
    outcome = collect(left.simulation)
    assert outcomes(outcome) == {"kinds.passes": "passed", "ends.second": "failed"}
    assert "COCOTB_TEST_FILTER='^ends\\.second$'" in pasted(named(outcome, "ends.second"))
    filtered = run(tmp_path, "kinds,ends", environment={"COCOTB_TEST_FILTER": r"^ends\.second$"})
    known = collect(replace(filtered.simulation, modules=("kinds", "ends")))
    assert outcomes(known) == {"ends.second": "failed"}


def test_two_tests_of_one_name_have_two_nodeids(tmp_path: Path) -> None:
    (tmp_path / "twins.py").write_text(
        "import cocotb\n"
        "@cocotb.test(name='same')\nasync def a(dut):\n    assert 1 == 2\n"
        "@cocotb.test(name='same')\nasync def b(dut):\n    assert 3 == 4\n"
    )
    outcome = collect(run(tmp_path, "twins").simulation)
    assert [one.nodeid.rpartition("::")[2] for one in outcome.failures] == ["same", "same#2"]
    assert "1 == 2" in said(named(outcome, "same"), "log")
    assert "3 == 4" in said(named(outcome, "same#2"), "log")


def test_what_a_failure_holds_is_bounded_and_free_of_secrets(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import cocotb\n@cocotb.test()\nasync def loud(dut):\n"
        "    for i in range(20000):\n        dut._log.error('ERROR ' + 'x' * 200)\n"
        "    dut._log.info('clone https://joe:hunter22@host/x')\n"
        "    assert False, 'y' * 1000000 + ' https://joe:hunter22@host/x'\n"
    )
    failure = named(collect(replace(run(tmp_path, "loud").simulation, interest=Errors())), "loud")
    assert sum(len(excerpt.text) for excerpt in failure.excerpts) < 64 * 1024
    assert len(failure.message) <= 4096
    assert "hunter22" not in repr(failure)


def test_tests_that_a_limit_of_failures_left_out_had_no_turn(tmp_path: Path) -> None:
    outcome = collect(run(tmp_path, environment={"COCOTB_MAX_FAILURES": "1"}).simulation)
    assert [(one.exception, one.started) for one in outcome.failures] == [
        ("AssertionError", True),
        ("RegressionTerminated", False),
        ("RegressionTerminated", False),
    ]
    assert [said(one) for one in outcome.failures] == ["", "", ""]


@pytest.mark.skipif(shutil.which("ghdl") is None, reason="needs GHDL on PATH")
def test_ghdl_s_assertion_failure_is_of_the_test_in_flight(tmp_path: Path) -> None:
    (tmp_path / "dut.vhdl").write_text(
        "entity dut is end;\narchitecture a of dut is begin\n process begin\n"
        '  wait for 55 ns; assert false report "FIFO overflow" severity failure;\n  wait;\n end process;\nend;\n'
    )
    outcome = collect(run(tmp_path, source="dut.vhdl", simulator="ghdl").simulation)
    third = named(outcome, "third")
    assert "(assertion failure): FIFO overflow" in said(third, "log")
    assert (third.simulator, said(third), third.sim_time) == ("ghdl", "", "55 ns")


OLD_RESULTS = """<testsuites name="results"><testsuite name="all" package="all">
<property name="random_seed" value="7" />
<testcase name="ok" classname="t" file="/repo/t.py" lineno="3" time="0.1" sim_time_ns="20.0" ratio_time="1" />
<testcase name="bad" classname="t" file="/repo/t.py" lineno="9" time="0.1" sim_time_ns="50.0" ratio_time="1">
<failure message="Test failed with RANDOM_SEED=7" /></testcase>
<testcase name="cut" classname="t" file="/repo/t.py" lineno="20" time="0.1" sim_time_ns="5.0" ratio_time="1">
<failure message="Test failed with RANDOM_SEED=7" /></testcase>
<testcase name="never" classname="t" file="/repo/t.py" lineno="30" time="0" sim_time_ns="0" ratio_time="1">
<failure message="Test failed with RANDOM_SEED=7" /></testcase></testsuite></testsuites>
"""
PAD = " " * 54
OLD_LOG = f"""\
     0.00ns INFO     cocotb                             Running on Icarus Verilog version 11.0 (stable)
     0.00ns INFO     cocotb                             Running tests with cocotb v1.9.2 from /site/cocotb
     0.00ns INFO     cocotb                             Seeding Python random module with 7
     0.00ns INFO     cocotb.regression                  running ok (1/4)
    20.00ns INFO     cocotb.regression                  ok passed
    20.00ns INFO     cocotb.regression                  running bad (2/4)
    70.00ns INFO     cocotb.regression                  bad failed
{PAD}Traceback (most recent call last):
{PAD}  File "/repo/t.py", line 12, in bad
{PAD}    assert dut.q.value == 4
{PAD}AssertionError: expected 4 got 3
    70.00ns INFO     cocotb.regression                  running cut (3/4)
    75.00ns INFO     cocotb.regression                  cut failed
{PAD}cocotb.result.SimFailure: cocotb expected it would shut down the simulation
    75.00ns INFO     cocotb.regression                  never failed
{PAD}cocotb.result.SimFailure: cocotb expected it would shut down the simulation
    75.00ns INFO     cocotb.regression                  *****************************
"""


def cocotb_1_9(tmp_path: Path, log: str = OLD_LOG) -> Simulation:
    (tmp_path / "results.xml").write_text(OLD_RESULTS)
    logs = (LogText(source="log", text=log),)
    nodeid = "tests/test_fifo.py::test_fifo"
    return Simulation(
        nodeid=nodeid, root=tmp_path, results=tmp_path / "results.xml", logs=logs, error="SystemExit: 1", call=Call()
    )


def test_cocotb_1_9_tells_its_errors_in_the_log_alone(tmp_path: Path) -> None:
    outcome = collect(cocotb_1_9(tmp_path))
    bad, cut, never = outcome.failures
    assert (bad.exception, bad.message) == ("AssertionError", "expected 4 got 3")
    assert [excerpt.source for excerpt in bad.excerpts] == ["results", "log"]
    assert bad.excerpts[0].text.split("\n") == [
        "AssertionError: expected 4 got 3",
        "Traceback (most recent call last):",
        '  File "/repo/t.py", line 12, in bad',
        "    assert dut.q.value == 4",
        "AssertionError: expected 4 got 3",
    ]
    assert bad.frame == Frame(file="repo/t.py", line=12, function="bad", source="assert dut.q.value == 4")
    assert (bad.seed, bad.sim_time) == ("7", "70 ns")
    assert said(cut) == "simulation ended before cut was done, at 75 ns"
    assert (cut.started, never.started) == (True, False)


def test_cocotb_1_9_lets_the_design_speak_after_its_summary(tmp_path: Path) -> None:
    last = "FATAL: /repo/dut.sv:16: FIFO overflow detected\n       Time: 167004 Scope: dut\n"
    silent = OLD_LOG[: OLD_LOG.index("    75.00ns INFO     cocotb.regression                  cut failed")]
    summary = "    75.00ns INFO     cocotb.regression                  ****************************\n"
    _, cut, never = collect(cocotb_1_9(tmp_path, silent + summary + last)).failures
    assert "FATAL: /repo/dut.sv:16: FIFO overflow detected" in cut.excerpts[-1].text
    assert not [excerpt for excerpt in cut.excerpts if excerpt.source == "run"]
    assert not [excerpt for excerpt in never.excerpts if "FATAL" in excerpt.text]


def test_of_cocotb_1_9_s_tests_those_unknown_to_a_log_that_broke_off_had_no_turn(tmp_path: Path) -> None:
    log = OLD_LOG[: OLD_LOG.index("    75.00ns INFO     cocotb.regression                  cut failed")]
    bad, cut, never = collect(cocotb_1_9(tmp_path, log)).failures
    assert [failure.started for failure in (bad, cut, never)] == [True, True, False]


def test_cocotb_1_9_without_its_log_says_that_the_log_is_missing(tmp_path: Path) -> None:
    bad, *_ = collect(replace(cocotb_1_9(tmp_path), logs=())).failures
    assert "the log is missing" in bad.message
    assert pasted(bad).startswith("RANDOM_SEED=7 TESTCASE=bad ")


def test_cocotb_1_9_names_modules_in_its_list_of_tests(tmp_path: Path) -> None:
    found = "".join(f"     0.00ns INFO     cocotb.regression      Found test t.{name}\n" for name in ("ok", "bad"))
    timeout = OLD_LOG.replace("AssertionError: expected 4 got 3", "cocotb.result.SimTimeoutError").replace(
        "/repo/t.py", "/v/lib/python3.11/site-packages/cocotb/triggers.py"
    )
    for simulation in (
        cocotb_1_9(tmp_path, found + timeout),
        replace(cocotb_1_9(tmp_path, found + timeout), results=None),
    ):
        frame = named(collect(simulation), "bad").frame
        assert frame is not None
        assert (PurePosixPath(frame.file).name, frame.function) == ("t.py", "bad")


def test_what_make_says_of_a_signal_goes_for_the_simulator(tmp_path: Path) -> None:
    log = OLD_LOG[: OLD_LOG.index("    75.00ns INFO     cocotb.regression                  cut failed")]
    log += "make: *** Deleting file 'results.xml'\nmake: *** [Makefile.icarus:68: results.xml] Killed\n"
    text = (LogText(source="log", text=log),)
    cut = collect(Simulation(nodeid="sim.log", root=tmp_path, logs=text, failed=True)).failures[-1]
    assert said(cut) == "the simulator was killed by signal 9 (SIGKILL) while running cut, last logged time 70 ns"
    assert (cut.command, cut.unreproducible) == (None, "signal 9 (SIGKILL) ended the simulation from outside")


def test_cocotb_1_9_is_run_again_by_its_own_variables(tmp_path: Path) -> None:
    assert pasted(collect(cocotb_1_9(tmp_path)).failures[0]) == (
        "RANDOM_SEED=7 TESTCASE=bad pytest tests/test_fifo.py::test_fifo"
    )


def test_cocotb_1_9_that_never_started_is_run_again_with_its_own_seed_variable(tmp_path: Path) -> None:
    simulation = replace(
        cocotb_1_9(tmp_path, "     -.--ns INFO     gpi      ../gpi/GpiCommon.cpp:101  in gpi_print   VPI registered\n"),
        results=None,
        simulator="vvp",
        error="SystemExit: Process 'vvp' terminated with error 255",
        seed="7",
        cocotb=cocotb_version({"MODULE": "t", "RANDOM_SEED": "7"}),
    )
    assert pasted(collect(simulation).failures[0]) == "RANDOM_SEED=7 pytest tests/test_fifo.py::test_fifo"
    assert cocotb_version({"MODULE": "t", "COCOTB_TEST_MODULES": "t"}) is None


def test_a_pyuvm_test_under_cocotb_1_9_cannot_be_chosen_by_its_name(tmp_path: Path) -> None:
    simulation = cocotb_1_9(tmp_path)
    (tmp_path / "results.xml").write_text(
        OLD_RESULTS.replace("/repo/t.py", "/v/lib/python3.11/site-packages/pyuvm/extension_classes.py")
    )
    command = pasted(collect(simulation).failures[0])
    assert command == "RANDOM_SEED=7 pytest tests/test_fifo.py::test_fifo"


def test_cocotb_test_s_captured_log_reads_like_a_stream(tmp_path: Path) -> None:
    carried = "".join(f"INFO     cocotb:simulator.py:270 {line}\n" for line in OLD_LOG.splitlines())
    assert essence(collect(cocotb_1_9(tmp_path, carried))) == essence(collect(cocotb_1_9(tmp_path)))


def test_the_native_plugin_s_file_gives_type_frame_and_seed(tmp_path: Path) -> None:
    (tmp_path / "results.xml").write_text(
        '<testsuites><testsuite name="pytest"><testcase classname="test_nat" name="test_bad" time="0.1"><properties>'
        '<property name="runner_nodeid" value="test_nat.py::test_runner"/><property name="random_seed" value="42"/>'
        '<property name="file" value="test_nat.py"/><property name="line" value="12"/></properties>'
        '<failure message="AssertionError: assert 0 == 3">    async def test_bad(dut):\n&gt;       assert q == 3\n'
        "E       AssertionError: assert 0 == 3\n\ntest_nat.py:15: AssertionError</failure>"
        "</testcase></testsuite></testsuites>"
    )
    sim = Simulation(nodeid="test_nat.py::test_runner", root=tmp_path, results=tmp_path / "results.xml", error="x")
    (failure,) = collect(sim).failures
    assert (failure.nodeid, failure.exception, failure.seed) == (
        "test_nat.py::test_runner::test_bad",
        "AssertionError",
        "42",
    )
    assert failure.frame == Frame(file="test_nat.py", line=15, function="test_bad", source="assert q == 3")
