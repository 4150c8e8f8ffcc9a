"""A cocotb log is split into its tests, for any version, level and prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.simulations.regression import Regression, read_regressions, simulator_name
from pytest_dvwiki.logtext.logs import LogText

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

INDENT = " " * 56
START = """\
     -.--ns INFO     gpi                                ../gpi/GpiCommon.cpp:74   in gpi_print_registered_impl  \
     GPI: VPI support registered
     0.00ns INFO     cocotb.initialize                  Seeding Python random module with 42
     0.00ns WARNING  gpi                                vpi_iterate returned NULL for type vpiInstance
     0.00ns INFO     cocotb.initialize                  Initialized cocotb v2.1.0 from /site/cocotb
     0.00ns INFO     cocotb.initialize                  Running on Icarus Verilog version 11.0 (stable)
     0.00ns INFO     cocotb.regression                  Running tests
"""
TESTS = f"""\
     0.00ns INFO     cocotb.regression                  running t.first (1/4)
{INDENT}    What it does.
    20.00ns ERROR    cocotb.dut                         an error line
    20.00ns INFO     cocotb.regression                  t.first passed
    20.00ns INFO     cocotb.regression                  running t.second (2/4)
    70.00ns WARNING  cocotb.regression                  t.second failed
{INDENT}Traceback (most recent call last):
{INDENT}  File "/repo/t.py", line 24, in second
{INDENT}    assert q == 4
{INDENT}AssertionError: expected 4 got 3
    70.00ns INFO     cocotb.regression                  skipping t.later (3/4)
    70.00ns INFO     cocotb.regression                  running t.third (4/4)
FATAL: /repo/dut.sv:20: FIFO overflow detected in dut
       Time: 55000 Scope: dut
"""
SUMMARY = f"""\
    70.00ns INFO     cocotb.regression                  ****************************
{INDENT}** TEST     STATUS  SIM TIME (ns)  **
{INDENT}** t.second  FAIL
{INDENT}****************************
"""


def split(text: str, names: Collection[str] = ()) -> Regression:
    (one,) = read_regressions(LogText(source="stdout", text=text), names=names)
    return one


def judged(one: Regression) -> list[tuple[str, str | None]]:
    return [(block.name, block.judgement) for block in one.blocks]


def text_of(one: Regression, name: str) -> str:
    (block,) = [block for block in one.blocks if block.name == name]
    return "\n".join(line for _, line in block.lines)


FOUR = [("t.first", "passed"), ("t.second", "failed"), ("t.later", "skipped"), ("t.third", None)]


def test_each_test_has_its_verdict_and_its_lines() -> None:
    one = split(START + TESTS)
    assert judged(one) == FOUR
    assert text_of(one, "t.second").splitlines()[0].endswith("running t.second (2/4)")
    assert text_of(one, "t.second").splitlines()[-1].strip() == "AssertionError: expected 4 got 3"


def test_what_stands_under_the_verdict_is_the_traceback() -> None:
    one = split(START + TESTS)
    assert one.blocks[1].traceback.split()[:2] == ["Traceback", "(most"]
    assert "failed" not in one.blocks[1].traceback


def test_lines_of_the_design_belong_to_the_test_that_ran() -> None:
    assert "FATAL: /repo/dut.sv:20" in text_of(split(START + TESTS), "t.third")


def test_the_test_in_flight_is_the_one_without_a_verdict() -> None:
    last = split(START + TESTS).blocks[-1]
    assert (last.name, last.time, last.judgement, last.began) == ("t.third", "70 ns", None, True)


def test_after_the_summary_none_is_in_flight_and_its_table_is_no_evidence() -> None:
    one = split(
        START + TESTS.rpartition("    70.00ns INFO     cocotb.regression                  running")[0] + SUMMARY
    )
    assert None not in [block.judgement for block in one.blocks]
    assert one.finished
    assert "** t.second" not in text_of(one, "t.second")


def test_the_log_tells_simulator_versions_and_seed() -> None:
    one = split(START + TESTS)
    assert one.simulator is not None
    assert (one.simulator.name, one.simulator.version) == ("icarus", "11.0")
    assert (one.cocotb, one.seed, one.time, one.started) == ("2.1.0", "42", "70 ns", True)


def test_a_test_s_own_words_do_not_tell_the_simulator() -> None:
    silent = "".join(line for line in START.splitlines(keepends=True) if "Running on" not in line)
    one = split(silent + TESTS + "    80.00ns INFO     t   Running on Verilator version 9\n")
    assert one.simulator is None


def test_the_verdict_and_its_traceback_stay_in_a_long_test() -> None:
    chatter = "    20.00ns INFO     t   chatter\n" * 500
    head, verdict, rest = TESTS.partition("    70.00ns WARNING")
    traceback, after, tail = rest.partition("    70.00ns INFO     cocotb.regression                  skipping")
    text = text_of(split(START + head + chatter + verdict + traceback + chatter + after + tail), "t.second")
    assert "t.second failed" in text
    assert "AssertionError: expected 4 got 3" in text


def test_error_lines_are_counted_for_the_test_they_stand_in() -> None:
    one = split(START + TESTS)
    assert [block.errors.count for block in one.blocks] == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("    20.00ns ERROR    cocotb.dut       x", 1),
        ("    20.00ns CRITICAL cocotb.dut       x", 1),
        ("ERROR: /repo/dut.sv:29: q reached 3", 1),
        ("/repo/g.vhdl:5:20:@25ns:(assertion error): soft", 1),
        ("[50000] %Error: dut.sv:29: Assertion failed in dut", 1),
        ("UVM_ERROR sb.sv(210) @ 1250: mismatch", 1),
        ("UVM_ERROR :    0", 0),
        ("    20.00ns INFO     cocotb.dut       no ERROR: here", 0),
    ],
)
def test_an_error_line_is_one_by_its_severity(line: str, count: int) -> None:
    text = START + f"     0.00ns INFO     cocotb.regression   running t.a (1/1)\n{line}\n"
    assert split(text).blocks[0].errors.count == count


def test_a_passing_test_keeps_no_lines() -> None:
    assert split(START + TESTS).blocks[0].lines == ()


def test_level_warning_hides_the_start_of_a_test_but_not_its_evidence() -> None:
    hidden = "".join(line for line in (START + TESTS).splitlines(keepends=True) if " INFO " not in line)
    tail = f"    55.00ns WARNING  cocotb.regression                  t.third failed\n{INDENT}x.SimFailure: ended\n"
    tail += f"    55.00ns WARNING  cocotb.regression                  t.fourth failed\n{INDENT}x.SimFailure: ended\n"
    one = split(hidden + tail)
    assert judged(one) == [("t.second", "failed"), ("t.third", "failed"), ("t.fourth", "failed")]
    assert "AssertionError" in text_of(one, "t.second")
    assert "FATAL" not in text_of(one, "t.second")
    assert "FATAL" in text_of(one, "t.third")
    assert text_of(one, "t.fourth").splitlines()[0].endswith("t.fourth failed")


def test_a_test_that_had_no_turn_is_told_from_the_one_before() -> None:
    end = f"    55.00ns WARNING  cocotb.regression                  t.third failed\n{INDENT}x.SimFailure: ended\n"
    end += f"    55.00ns WARNING  cocotb.regression                  t.fourth failed\n{INDENT}x.SimFailure: ended\n"
    third, fourth = split(START + TESTS + end).blocks[-2:]
    assert (third.began, fourth.began) == (True, False)
    assert all("fourth" not in line for _, line in third.lines)


def full_format(text: str) -> str:
    columns = "regression.py:661  in _log_test_start                 "
    return text.replace("cocotb.regression                  ", f"cocotb.regression                    {columns}")


def cocotb_1_9(text: str) -> str:
    text = text.replace("GPI: VPI support registered", "VPI registered")
    text = text.replace("Initialized cocotb v2.1.0 from", "Running tests with cocotb v1.9.2 from")
    return text.replace(" t.", " ").replace("WARNING  cocotb.regression", "INFO     cocotb.regression")


def ansi(text: str) -> str:
    text = text.replace("running ", "\x1b[34mrunning\x1b[49m\x1b[39m ").replace(
        " failed", " \x1b[31mfailed\x1b[49m\x1b[39m"
    )
    return text.replace(" passed", " \x1b[32mpassed\x1b[49m\x1b[39m\x1b[49m\x1b[39m")


def cocotb_test(text: str) -> str:
    return "".join(f"INFO     cocotb:simulator.py:270 {line}\n" for line in text.splitlines())


def windows(text: str) -> str:
    return text.replace("\n", "\r\n")


@pytest.mark.parametrize("style", [full_format, ansi, cocotb_test, windows])
def test_format_colours_and_carriers_make_no_difference(style: Callable[[str], str]) -> None:
    one = split(style(START + TESTS))
    assert judged(one) == FOUR
    assert (one.seed, one.cocotb) == ("42", "2.1.0")
    assert "AssertionError: expected 4 got 3" in text_of(one, "t.second")


def test_cocotb_1_9_has_no_module_and_judges_at_level_info() -> None:
    one = split(cocotb_1_9(START + TESTS))
    assert judged(one) == [(name.removeprefix("t."), verdict) for name, verdict in FOUR]
    assert one.cocotb == "1.9.2"


PREFIXED = """\
[INFO] Seeding Python random module with 7
[INFO] Initialized cocotb v2.1.0 from /site/cocotb
[INFO] Running on Verilator version 5.048 2026-01-01
[INFO] Running tests
[INFO] running t.first (1/2)
[INFO] the transfer passed
[INFO] running around (7/9)
[INFO] t.first passed
[INFO] running t.second (2/2)
[WARNING] t.second failed
          Traceback (most recent call last):
"""


def test_a_prefix_without_the_manager_s_name_is_read_by_names_and_counts() -> None:
    one = split(PREFIXED)
    assert judged(one) == [("t.first", "passed"), ("t.second", "failed")]
    assert (one.simulator and one.simulator.name, one.seed) == ("verilator", "7")


def test_a_prefix_and_level_warning_are_read_by_the_names_of_the_results_file() -> None:
    text = "[WARNING] t.second failed\n          Traceback\n[ERROR] transfer failed\n"
    assert judged(split(text, names={"t.second"})) == [("t.second", "failed")]
    assert judged(split(text)) == []


def test_a_test_that_says_it_failed_is_not_believed() -> None:
    text = START + TESTS + "    80.00ns ERROR    cocotb.dut     t.third failed\n"
    assert split(text).blocks[-1].judgement is None


@pytest.mark.parametrize("name", ["t.par/x=1.5/y=a b", "t.größe", "t.first_again", "t.has failed before"])
def test_names_with_blanks_dots_prefixes_and_any_script(name: str) -> None:
    text = START + "     0.00ns INFO     cocotb.regression                  running t.first (1/2)\n"
    text += "     0.00ns INFO     cocotb.regression                  t.first passed\n"
    text += f"     0.00ns INFO     cocotb.regression                  running {name} (2/2)\n"
    text += f"     1.00ns WARNING  cocotb.regression                  {name} failed: errored with unexpected type\n"
    one = split(text)
    assert judged(one)[1:] == [(name, "failed")]
    assert one.blocks[1].note == "errored with unexpected type"


def test_what_comes_before_the_first_test_is_kept_apart() -> None:
    one = split("dut.sv:7: warning: implicit wire\n" + START + TESTS)
    assert one.preamble[0] == (1, "dut.sv:7: warning: implicit wire")
    assert all("running" not in line for _, line in one.preamble)


def test_a_text_without_cocotb_is_all_preamble() -> None:
    one = split("dut.sv:7: syntax error\n")
    assert (one.started, judged(one), one.preamble) == (False, [], ((1, "dut.sv:7: syntax error"),))


def test_the_program_names_the_simulator_of_a_build() -> None:
    one = split(
        "-.--ns INFO     Icarus Running command iverilog -o sim.vvp in directory /repo\ndut.sv:7: syntax error\n"
    )
    assert one.simulator is not None
    assert (one.simulator.name, one.simulator.version) == ("icarus", None)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("/venv/cocotb_tools/makefiles/simulators/Makefile.ghdl", "ghdl"),
        ("Makefile.icarus", "icarus"),
        ("Makefile.inc", None),
        ("Makefile", None),
    ],
)
def test_the_rule_that_failed_names_the_simulator_of_a_silent_build(file: str, name: str | None) -> None:
    one = split(
        f'plic.vhd:82:43: missing ";" at end of object declaration\nmake[1]: *** [{file}:73: analyse] Error 1\n'
    )
    assert (one.simulator.name if one.simulator else None) == name


def test_two_simulations_in_one_log_are_two() -> None:
    first, second = read_regressions(LogText(source="log", text=START + TESTS + START.replace("42", "43") + TESTS))
    assert (first.seed, second.seed) == ("42", "43")
    assert judged(first) == judged(second) == FOUR
    assert first.blocks[-1].judgement is None


def test_a_simulation_without_a_test_does_not_lend_its_seed_to_the_next() -> None:
    failed = f"{START}SyntaxError: '(' was never closed\nmake: *** [results.xml] Error 1\n"
    first, second = read_regressions(LogText(source="log", text=failed + START.replace("42", "43") + TESTS))
    assert (first.seed, first.blocks, second.seed, judged(second)) == ("42", [], "43", FOUR)
    assert any("never closed" in line for _, line in first.preamble)


def test_line_numbers_and_verdict_point_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sim.log"
    path.write_text(START + TESTS)
    (one,) = read_regressions(LogText(source="log", path=path))
    lines = path.read_text().split("\n")
    for block in one.blocks:
        for number, line in block.lines:
            assert lines[number - 1] == line
    assert one.blocks[1].line is not None
    assert lines[one.blocks[1].line - 1].endswith("t.second failed")


def test_a_log_that_is_cut_into_chunks_gives_the_same(tmp_path: Path) -> None:
    filler = "    20.00ns INFO     cocotb.dut      transaction passed\n" * 60_000
    head, _, tail = TESTS.partition("    70.00ns WARNING")
    path = tmp_path / "sim.log"
    path.write_text(START + head + filler + "    70.00ns WARNING" + tail)
    (one,) = read_regressions(LogText(source="log", path=path))
    assert path.stat().st_size > 3 << 20
    assert judged(one) == FOUR
    assert "AssertionError: expected 4 got 3" in text_of(one, "t.second")


@pytest.mark.further_mode
def test_a_thousand_failing_tests_stay_bounded() -> None:
    noise = f"     0.00ns ERROR    t    {'x' * 1000}\n" * 20
    failed = "".join(
        f"     0.00ns INFO     cocotb.regression                  running t.t{i} ({i}/1500)\n{noise}"
        f"     1.00ns WARNING  cocotb.regression                  t.t{i} failed\n"
        for i in range(1, 1501)
    )
    one = split(START + failed)
    assert len(one.blocks) == 1500
    assert sum(len(line) for block in one.blocks for _, line in block.lines) < 8 << 20
    assert "failed" in text_of(one, "t.t1500")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Icarus Verilog", "icarus"),
        ("vvp", "icarus"),
        ("Verilator", "verilator"),
        ("GHDL", "ghdl"),
        ("xmsim(64)", "xcelium"),
    ],
)
def test_a_simulator_has_one_short_name(said: str, name: str) -> None:
    assert simulator_name(said) == name


BUILD = """\
make[1]: Entering directory '/repo/fifo'
mkdir -p sim_build
/usr/bin/iverilog -o sim_build/sim.vvp -s dut -g2012 \\
\t-Pdut.WIDTH=8 rtl/dut.sv
"""
RUN = """\
COCOTB_TOPLEVEL=dut TOPLEVEL_LANG=verilog \\
         /usr/bin/vvp -m /l/x.vpl sim_build/sim.vvp +mode=2
"""
COMPILE = "/usr/bin/iverilog -o sim_build/sim.vvp -s dut -g2012 \\\n\t-Pdut.WIDTH=8 rtl/dut.sv"


@pytest.mark.parametrize("style", [str, cocotb_1_9])
def test_the_commands_of_each_run_stand_with_it(style: Callable[[str], str]) -> None:
    run = style(START + TESTS)
    one, other = read_regressions(
        LogText(source="log", text=BUILD + RUN + run + SUMMARY + RUN.replace("+mode=2", "") + run)
    )
    assert one.commands == (("/repo/fifo", COMPILE), ("/repo/fifo", RUN.strip()))
    assert other.commands == (("/repo/fifo", RUN.replace("+mode=2", "").strip()),)


def test_the_commands_of_a_build_that_failed_are_there() -> None:
    left = "make[1]: Leaving directory '/repo/fifo'\n"
    one = split(BUILD + "rtl/dut.sv:7: syntax error\n" + left + "iverilog -o x top.sv\n")
    assert one.commands == (("/repo/fifo", COMPILE), ("", "iverilog -o x top.sv"))


@pytest.mark.parametrize("style", [str, cocotb_1_9])
@pytest.mark.parametrize("ending", [SUMMARY, "", "vvp: killed\n"], ids=["ended", "between", "crashed"])
def test_the_commands_of_a_build_that_failed_are_not_those_of_the_next_simulation(
    style: Callable[[str], str], ending: str
) -> None:
    fails = BUILD.replace("dut", "low") + "make[1]: *** [Makefile:9: sim_build/sim.vvp] Error 2\n"
    run = style(START + TESTS)
    before = BUILD + RUN + run + ending + ("make[1]: *** [results.xml] Error 1\n" if ending != SUMMARY else "")
    *_, one = read_regressions(LogText(source="log", text=before + fails + BUILD + RUN + run))
    assert one.commands == (("/repo/fifo", COMPILE), ("/repo/fifo", RUN.strip()))
    assert one.failed == (("/repo/fifo", COMPILE.replace("dut", "low")),)


def test_the_last_simulation_has_no_commands_of_a_build_after_it() -> None:
    one = split(START + TESTS + SUMMARY + BUILD + "make[1]: *** [Makefile:9: sim_build/sim.vvp] Error 2\n")
    assert (one.commands, one.failed) == ((), ())


def test_a_log_without_the_start_of_the_simulator_shows_its_commands() -> None:
    fails = "iverilog -o low low.sv\nmake: *** [Makefile:4: low] Error 2\n"
    failed = "    10.00ns WARNING  cocotb.regression                  t.first failed\n"
    one = split(fails + BUILD + RUN + failed + "iverilog -o high high.sv\nmake: *** [Makefile:5: high] Error 2\n")
    assert one.commands == (("/repo/fifo", COMPILE), ("/repo/fifo", RUN.strip()))
    assert one.failed == (("", "iverilog -o low low.sv"),)


def test_a_runner_says_its_commands_with_their_folder() -> None:
    said = "INFO     Icarus:runner.py:734 Running command vvp -m x.vpl /repo/sim.vvp -none in directory /repo/out\n"
    assert split(said + START).commands == (("/repo/out", "vvp -m x.vpl /repo/sim.vvp -none"),)


def test_what_a_test_prints_is_no_command_of_a_tool() -> None:
    assert split(START + TESTS.replace("What it does.", "vvp -m x.vpl other.vvp")).commands == ()


def test_a_command_that_lost_its_middle_is_left_out() -> None:
    assert split(f"iverilog {'-DX ' * 20_000} -o sim.vvp dut.sv\n" + START).commands == ()


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("tb.vhd:9:3:@70ns:(report note): still here", "70 ns"),
        ("# ** Note: still here\n#    Time: 80.5 us  Iteration: 0  Instance: /tb", "80.5 us"),
        ("ERROR: dut.sv:29: q reached 3\n       Time: 30 Scope: dut", "0 ns"),
    ],
)
def test_the_time_of_a_hang_is_also_read_from_what_the_simulator_says(line: str, time: str) -> None:
    """Icarus prints its time without a unit."""
    text = f"     0.00ns INFO     cocotb.regression                  running t.a (1/1)\n{line}\n"
    (one,) = read_regressions(LogText(source="log", text=text))
    assert one.time == time
