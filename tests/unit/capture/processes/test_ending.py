"""The end of a simulation is read from status and exception, and described in one sentence."""

from __future__ import annotations

import pytest

from pytest_dvwiki.capture.processes.ending import Ending, read_ending, sentence, status_in, was_killed


def read(error: str = "", *, status: int | None = None, longrepr: str = "") -> Ending:
    return read_ending(status=status, error=error, longrepr=longrepr, cut_short=False)


@pytest.mark.parametrize(
    ("error", "status", "signal"),
    [
        ("RuntimeError: Command failed with return code: -9", -9, 9),
        ("SystemExit: Process vvp terminated with error -11", -11, 11),
        ("RuntimeError: Command failed with return code: 137", 137, 9),
        ("RuntimeError: Command failed with return code: 1", 1, None),
        ("RuntimeError: Command failed with return code: 255", 255, None),
        ("SystemExit: 1", None, None),
        ("", None, None),
    ],
)
def test_status_and_signal_of_each_flow(error: str, status: int | None, signal: int | None) -> None:
    ending = read(error)
    assert (ending.status, ending.signal) == (status, signal)


def test_a_status_that_the_caller_knows_comes_first() -> None:
    assert read("RuntimeError: Command failed with return code: 1", status=-9).signal == 9


def test_the_handler_of_cocotb_test_tells_its_signal() -> None:
    assert read(error="AssertionError: Exiting pid: 4711 with signum: 15").signal == 15


def test_the_report_tells_a_build_from_a_run() -> None:
    assert read(longrepr=">       r.build(sources=[s])\nE       RuntimeError").building is True
    assert read(longrepr=">       r.test(test_module=m)\nE       SystemExit: 1").building is False
    assert read(longrepr="E       RuntimeError").building is None
    assert read(longrepr=">       build(s).test(test_module=m)\nE       SystemExit: 1").building is None


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (
            Ending(status=-9, signal=9),
            "the simulator was killed by signal 9 (SIGKILL) while running overflow, last logged time 55 ns",
        ),
        (
            Ending(status=1),
            "no results: simulator vvp ended with status 1 while running overflow, last logged time 55 ns",
        ),
        (
            Ending(timeout="Timeout (>6.0s) from pytest-timeout"),
            "Timeout (>6.0s) from pytest-timeout while running overflow, last logged time 55 ns",
        ),
        (Ending(cut_short=True), "run was killed while running overflow, last logged time 55 ns"),
        (Ending(status=0), None),
        (Ending(), None),
    ],
)
def test_the_sentence_names_cause_test_and_time(ending: Ending, said: str | None) -> None:
    assert sentence(ending, simulator="vvp", test="overflow", time="55 ns", finished=False) == said


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("make: *** [Makefile.icarus:68: results.xml] Terminated", -15),
        ("make: [Makefile.verilator:73: results.xml] Terminated (ignored)", -15),
        ("make[1]: [Makefile.verilator:73: results.xml] Error 137 (ignored)", 137),
        ("make: [Makefile.verilator:73: results.xml] Error 1 (ignored)", None),
        ("make[2]: *** [sim.mk:12: sim] Killed", -9),
        ("make: *** [sim.mk:12: sim] Killed: 9", -9),
        ("make: *** [sim.mk:12: sim] Alarm clock", -14),
        ("make: *** [sim.mk:12: sim] CPU time limit exceeded (core dumped)", -24),
        ("make: *** [sim.mk:12: sim] Trace/breakpoint trap (core dumped)", -5),
        ("make: *** [sim.mk:12: sim] Segmentation fault (core dumped)", -11),
        ("make: *** [sim.mk:12: sim] Error 139", 139),
        ("make: [Makefile:6: fifo-results.xml] Error 124 (ignored)", -15),
        ("make: *** [sim.mk:12: sim] Error 1", None),
        ("make: *** [sim.mk:12: sim] Error 255", None),
        ("make: *** Deleting file 'results.xml'", None),
        ("echo make: *** [sim.mk:12: sim] Killed", None),
    ],
)
def test_make_tells_the_signal_that_ended_its_command(line: str, status: int | None) -> None:
    assert status_in(["rm -f results.xml", line]) == status


@pytest.mark.parametrize(
    ("line", "killed"),
    [
        ("make: *** wait: No child processes.  Stop.", True),
        ("make[2]: *** wait: No child processes.  Stop.", True),
        ("make: *** Waiting for unfinished jobs....", False),
        ("make: *** [sim.mk:12: sim] Error 2", False),
        ("wait: No child processes", False),
    ],
)
def test_make_misses_its_commands_where_a_signal_ended_it(line: str, killed: bool) -> None:
    assert was_killed(["rm -f results.xml", line]) is killed


def test_a_limit_of_the_program_timeout_is_its_signal() -> None:
    said = "subprocess.CalledProcessError: Command '['timeout', '60', 'make']' returned non-zero exit status 124."
    assert read(said).signal == 15
    assert read(said.replace("timeout", "make")).signal is None


def test_a_limit_of_a_subprocess_is_a_timeout() -> None:
    said = "TimeoutExpired: Command '['make']' timed out after 60 seconds"
    ending = read(f"subprocess.{said}")
    assert (ending.timeout, ending.abnormal) == (said, True)


def test_after_the_last_test_no_test_is_named() -> None:
    said = sentence(Ending(status=-11, signal=11), simulator=None, test=None, time="55 ns", finished=True)
    assert said == "the simulator was killed by signal 11 (SIGSEGV) after its last test"
