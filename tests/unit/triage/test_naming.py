"""The class of the reporting phase, the ranking of messages, and evidence that is quoted unchanged."""

from __future__ import annotations

import pytest

from pytest_dvwiki.model import Excerpt, Failure, Frame
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.reading import TextClassifier

from .test_classify import SCOREBOARD, excerpt, failure, label, logged, traceback


@pytest.fixture(scope="module")
def classifier() -> TextClassifier:
    return TextClassifier(load_registry())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("xmelab: *E,MULTDRV (./top.sv,3|2): multiple drivers on q", "elaboration_error/multiple_drivers"),
        ("xmvlog: *E,MULTDRV (./top.sv,3|2): multiple drivers on q", "compile_error/multiple_drivers"),
        (
            "** Error: (vsim-3838) top.sv(5): Variable 'q' written by continuous and procedural assignments.",
            "elaboration_error/multiple_drivers",
        ),
        ("# ELAB2: Fatal Error: ELAB2_0051 Vector index out of range", "elaboration_error/width_mismatch"),
        ("rtl/top.vhd:9:3: no entity was compiled for component ctrl", "elaboration_error/missing_module"),
    ],
)
def test_an_elaborators_message_keeps_its_class(classifier: TextClassifier, text: str, wanted: str) -> None:
    assert label(classifier.classify_text(text)) == wanted


def test_a_warning_never_goes_before_an_error_of_the_same_tool(classifier: TextClassifier) -> None:
    warning = "%Warning-WIDTHTRUNC: dut.sv:12:3: Operator ASSIGN expects 4 bits"
    error = "%Error: dut.sv:20:1: syntax error, unexpected endmodule"
    end = "%Error: Exiting due to 1 error(s), 1 warning(s)"
    assert label(classifier.classify_text(f"{warning}\n{error}\n{end}")) == "compile_error/syntax_error"
    assert label(classifier.classify_text(f"{warning}\n%Error: Exiting due to 1 warning(s)")) == (
        "compile_error/width_mismatch"
    )
    built = failure(log=f"{warning}\n{error}\n{end}", simulator=False)
    assert label(classifier.classify(built)) == "compile_error/syntax_error"


@pytest.mark.parametrize(
    "stop",
    [
        "FATAL: tb.sv:30: stop\n       Time: 30 Scope: tb",
        "FATAL: tb.sv:30: Too many errors\n       Time: 30 Scope: tb",
        "FATAL: tb.sv:30: \n       Time: 30 Scope: tb",
        "%Error: tb.sv:24: Verilog $stop\nAborting...",
    ],
)
def test_a_stop_never_goes_before_the_check_that_caused_it(classifier: TextClassifier, stop: str) -> None:
    verdict = classifier.classify_text(f"MISMATCH at 10: got 3 expected 4\n{stop}")
    assert label(verdict) == "sim_error/scoreboard_fail"
    assert verdict is not None
    assert "got 3 expected 4" in verdict.primary


@pytest.mark.parametrize("shell", ["Aborted (core dumped)", "run.sh: line 4: 511 Aborted   (core dumped) ./Vtop"])
def test_a_verilated_model_that_aborts_itself_has_not_crashed(classifier: TextClassifier, shell: str) -> None:
    verdict = classifier.classify_text(f"%Error: tb.sv:24: Verilog $stop\nAborting...\n{shell}")
    assert label(verdict) == "sim_error/assertion_fail"
    assert label(classifier.classify_text(f"Loading fifo.hex\n{shell}")) == "tool_error/simulator_crash"


@pytest.mark.parametrize(
    "text",
    [
        "Test FAILED for a=1 b=2\nExpected data:    0  received data:    3.",
        "Expected data:    0  received data:    3.\nTEST FAILED",
        (
            "FAILURE: mismatch at time   1302\nData written to r5: received 3 expected: 0\n"
            "[1302] %Error: chk.sv:68: Assertion failed in TOP.tb.u_chk: mismatch seen"
        ),
    ],
)
def test_the_values_beside_a_failed_check_go_before_it(classifier: TextClassifier, text: str) -> None:
    verdict = classifier.classify_text(text)
    assert label(verdict) == "sim_error/scoreboard_fail"
    assert verdict is not None
    assert "received" in verdict.primary


def test_values_far_from_a_failed_check_stay_behind_it(classifier: TextClassifier) -> None:
    verdict = classifier.classify_text("TEST FAILED\na\nb\nc\nexpected data: 0 received data: 3")
    assert label(verdict) == "sim_error/assertion_fail"


def test_an_error_of_a_c_compiler_is_read_to_its_end(classifier: TextClassifier) -> None:
    text = '"dpi/model.cc", line 66: error: class\n          "cpu_t" has no member "step"\n      cpu->step();'
    verdict = classifier.classify_text(text)
    assert label(verdict) == "compile_error/undeclared_identifier"
    assert verdict is not None
    assert verdict.primary.endswith('error: class "cpu_t" has no member "step"')


def test_a_folder_that_coverage_lacks_never_goes_before_a_failed_assertion(classifier: TextClassifier) -> None:
    folder = "xmsim: *E,CNDIR: Could not create/open directory /cov_work. (Permission denied)."
    assertion = "xmsim: *F,ASRTST (rx.sv,56): (time 20150 NS) Assertion top.a_eot has failed"
    assert label(classifier.classify_text(f"{folder}\n{assertion}")) == "sim_error/assertion_fail"
    assert label(classifier.classify_text(f"{folder}\nSimulation failed")) == "sim_error/assertion_fail"
    assert label(classifier.classify_text(folder)) == "tool_error/tool_not_found"


def test_a_mistyped_command_never_goes_before_the_check_that_failed_after_it(classifier: TextClassifier) -> None:
    command = 'invalid command name "rum"'
    report = "UVM_ERROR tb.sv(90) @ 335: uvm_test_top.env.sb [SB] expected 3 got 4"
    assert label(classifier.classify_text(f"# {command}\n# {report}")) == "uvm_error/scoreboard_fail"
    library = "** Error: (vsim-19) Failed to access library 'w' at \"w\"."
    assert label(classifier.classify_text(f"# {command}\n# {library}")) == "tool_error/tool_not_found"


def test_a_library_that_exists_never_goes_before_the_error_of_the_compiler(classifier: TextClassifier) -> None:
    library = '# ** Error: (vlib-35) Failed to create directory "work".'
    syntax = '# ** Error: (vlog-13069) tb.sv(3): near "endmodul": syntax error, unexpected IDENTIFIER.'
    assert label(classifier.classify_text(f"{library}\n{syntax}")) == "compile_error/syntax_error"


@pytest.mark.parametrize(
    "line",
    [
        "SBY 10:22:07 [fifo] summary: engine_0 did not produce any traces",
        "* Warning. With this option, output values may be incorrect and differ from the expected results.",
        ": Use 'set_attribute hdl_error_on_latch true' to issue an error when a latch is inferred.",
        "-overloadrules 'AutomaticFuncTask-ML+severity=Error,NoTimescale-ML+severity=Error'",
    ],
)
def test_what_tools_say_of_themselves_is_no_failure(classifier: TextClassifier, line: str) -> None:
    assert classifier.classify_text(line) is None


def test_errors_of_jasper_that_nobody_knows_are_failures(classifier: TextClassifier) -> None:
    text = "ERROR (EXY104): Strange tidings.\nERROR (ENL034): 1 errors detected in the design file(s)."
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert (verdict.pattern, verdict.line) == ("jasper.error", 1)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "[info]   acme.sim.Api$FailedExpectationException: Failed Expectation: Observed value '2' != 3",
            "scoreboard_fail",
        ),
        ('** Error: (vmap-43) Cannot write the file "lib/acme.ini".', "unknown"),
        ("** Error: core executed illegal instruction 0x0 at 0x40", "unknown"),
    ],
)
def test_words_of_the_design_and_of_library_tools_name_no_construct(
    classifier: TextClassifier, text: str, wanted: str
) -> None:
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert verdict.failure_subtype == wanted


def test_the_text_of_an_alert_goes_before_its_box(classifier: TextClassifier) -> None:
    text = "UVVM:     90 ns   SPI_VVC,1\nUVVM:              spi_receive(3 words)=> Failed. Frame ended."
    verdict = classifier.classify_text(f"UVVM: ***  ERROR #1  ***\n{text}")
    assert label(verdict) == "sim_error/assertion_fail"
    assert verdict is not None
    assert "Frame ended" in verdict.primary
    assert classifier.classify_text(f"UVVM: ***  WARNING #1  ***\n{text}") is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("4120.00ns CSRSEQ: ERROR: read of 0x40 did not return the expected value 0x1", "sim_error/scoreboard_fail"),
        ("512 ns arb : FATAL: two grants", "unknown/unknown"),
        ("dumps : FAILED : run done with no errors but memory mismatched", "sim_error/scoreboard_fail"),
        (
            "%%   24 ns    Alert  ERROR     in Default,  diff a.log,  File miscompare on line 4",
            "sim_error/scoreboard_fail",
        ),
        ("ld: library not found for -lz", "elaboration_error/unresolved_reference"),
    ],
)
def test_errors_after_a_time_and_a_component_are_read(classifier: TextClassifier, text: str, wanted: str) -> None:
    assert label(classifier.classify_text(text)) == wanted


def test_a_fatal_with_a_cause_of_its_own_stays_the_cause(classifier: TextClassifier) -> None:
    verdict = classifier.classify_text(
        "MISMATCH at 10: got 3 expected 4\nFATAL: tb.sv:30: fifo overflow\n Time: 3 Scope: t"
    )
    assert verdict is not None
    assert "fifo overflow" in verdict.primary


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("make: *** [Makefile:61: results.xml] Error 137", "tool_error/cut_short"),
        ("make: *** [Makefile:61: results.xml] Error 143", "tool_error/cut_short"),
        ("make: *** [Makefile:61: results.xml] Error 139", "tool_error/simulator_crash"),
        ("** Fatal: simulation kernel threw signal 9", "tool_error/cut_short"),
        ("simv threw signal 11", "tool_error/simulator_crash"),
        ("RuntimeError: Process 'vvp' terminated with error -9", "tool_error/cut_short"),
        ("make: *** [Makefile:61: results.xml] Error 2", "unknown/unknown"),
    ],
)
def test_a_killed_process_is_known_by_status_or_signal(classifier: TextClassifier, text: str, wanted: str) -> None:
    assert label(classifier.classify_text(text)) == wanted


REPORT = logged("ERROR", SCOREBOARD[0], SCOREBOARD[1] + "FAILED: expected 0x12 got 0x13")


@pytest.mark.parametrize(
    "raised",
    ["RuntimeError: scoreboard is unhappy", "ValueError: bad", "KeyError: 'x'", "SimTimeoutError", "Exception: stop"],
)
def test_a_uvm_report_names_the_failure_whatever_ends_the_test(classifier: TextClassifier, raised: str) -> None:
    verdict = classifier.classify(failure(results=traceback(raised), log=REPORT))
    assert label(verdict) == "uvm_error/scoreboard_fail"
    assert "expected 0x12 got 0x13" in verdict.primary


def test_a_report_of_unknown_words_goes_before_an_exception_that_only_ends_the_test(classifier: TextClassifier) -> None:
    report = logged("ERROR", "tb/drv.py(9)", "[uvm_test_top.env.drv]: something is odd")
    assert label(classifier.classify(failure(results=traceback("RuntimeError: stop"), log=report))) == (
        "uvm_error/unclassified_message"
    )
    assert label(classifier.classify(failure(results=traceback("KeyError: 'length'"), log=report))) == (
        "python_error/key_error"
    )


def check(text: str, source: str) -> Failure:
    """Return a failed assertion of a test, with its statement."""
    frame = Frame(file="tests/test_dut.py", line=9, function="test_add", source=source)
    return failure(results=traceback(text, source=source), frame=frame)


@pytest.mark.parametrize(
    ("text", "source", "wanted"),
    [
        ("AssertionError: assert 1 == 3", "assert q == 3", "scoreboard_fail"),
        ("AssertionError", "assert q == 3", "scoreboard_fail"),
        ("AssertionError: bad q\nassert 1 == 3", "assert q == 3, 'bad q'", "scoreboard_fail"),
        ("AssertionError: word 3\nassert 1 == 77", "assert (", "scoreboard_fail"),
        ("AssertionError: timeout flag is wrong\nassert 0 == 1", "assert dut.irq.value == 1, text", "scoreboard_fail"),
        ("AssertionError: link is down", "assert ok, 'link is down'", "assertion_fail"),
        ("AssertionError: Testing", "assert 1 > 2, 'Testing'", "assertion_fail"),
        ("AssertionError", "assert dut.expected_done.value", "assertion_fail"),
        ("AssertionError: q\nassert '0X01' == '0001'", "assert str(q) == want, 'q'", "x_propagation"),
    ],
)
def test_an_assertion_that_compares_is_a_checkers(
    classifier: TextClassifier, text: str, source: str, wanted: str
) -> None:
    verdict = classifier.classify(check(text, source))
    assert label(verdict) == f"sim_error/{wanted}"


def test_the_first_cause_keeps_the_values_that_stand_below_its_words(classifier: TextClassifier) -> None:
    verdict = classifier.classify(check("AssertionError: bad q\nassert 1 == 3", "assert q == 3, 'bad q'"))
    assert verdict.primary == "AssertionError: bad q assert 1 == 3"
    other = classifier.classify(check("AssertionError: bad q\nassert 2 == 3", "assert q == 3, 'bad q'"))
    assert other.fingerprint == verdict.fingerprint


def test_the_fix_is_that_of_the_label_and_names_what_is_missing(classifier: TextClassifier) -> None:
    unknown = classifier.classify(check("AssertionError: q\nassert '0X01' == '0001'", "assert str(q) == want"))
    assert unknown.fix is not None
    assert unknown.fix.startswith("Trace the X")
    for text in ("dut contains no child object named valid_o", "dut has no child object named valid_o"):
        missing = classifier.classify(failure(results=traceback(f"AttributeError: {text}")))
        assert missing.fix is not None
        assert "valid_o" in missing.fix


def test_no_advice_asks_for_values(classifier: TextClassifier) -> None:
    asking = [pattern.id for pattern in classifier.registry if "the values" in pattern.fix]
    assert asking == []


def test_a_kill_is_shown_by_the_last_lines_of_the_log(classifier: TextClassifier) -> None:
    said = "the simulator was killed by signal 9 (SIGKILL) while running t, last logged time 40 ns"
    log = "\n".join(f"{n:>8}.00ns INFO     cocotb.tb          step {n}" for n in range(100))
    verdict = classifier.classify(failure(run=said, log=log))
    assert verdict.primary == said
    assert said not in verdict.excerpt
    assert verdict.excerpt.endswith("step 99")
    alone = classifier.classify(failure(run=said))
    assert alone.excerpt == ""


def test_what_nobody_knows_is_not_quoted_from_the_capture(classifier: TextClassifier) -> None:
    verdict = classifier.classify(failure(run="no words for it", log="the last line"))
    assert verdict.excerpt == "the last line"


def test_a_result_that_cocotb_logs_as_a_warning_is_one(classifier: TextClassifier) -> None:
    for text, wanted in (
        ("   WARNING  Test Failed: test_a (result was TestFailure)", "sim_error/assertion_fail"),
        ("WARNING  cocotb.regression:regression.py:569 test_dut.test_a failed", "sim_error/unknown"),
        (
            "   91.00ns WARNING  cocotb.regression      t.test_a errored: result was ValueError",
            "python_error/value_error",
        ),
        ("   91.00ns WARNING  cocotb.tb      Expected 0x12 but received 0x13", "sim_error/scoreboard_fail"),
    ):
        assert label(classifier.classify_text(text)) == wanted
    passing = (
        f"   91.00ns WARNING  cocotb.tb      Expected 0x12 but received 0x13\n{'*' * 9} TESTS=1 PASS=1 FAIL=0 SKIP=0"
    )
    assert classifier.classify_text(passing) is None


def test_two_excerpts_of_a_kill_show_both_ends(classifier: TextClassifier) -> None:
    said = Excerpt(source="run", lines=((1, "simulator ghdl was killed by signal 6 (SIGABRT) while running t"),))
    log, stream = excerpt("log", "a\nlast of the test"), excerpt("stderr", "dying words")
    verdict = classifier.classify(Failure(nodeid="t", in_simulator=True, excerpts=(said, log, stream)))
    assert verdict.excerpt == "a\nlast of the test\ndying words"
