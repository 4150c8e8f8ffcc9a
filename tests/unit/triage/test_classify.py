"""The label of each kind of failure, and the line of its first cause."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pytest_dvwiki.model import Excerpt, Failure, Frame, Origin, Result, Source, Verdict
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.classify import Classifier
from pytest_dvwiki.triage.settle import settle

from ..effort import takes_seconds_at_most

INDENT = " " * 56


def logged(level: str, logger: str, text: str) -> str:
    """Return a line of cocotb's log."""
    return f"   10.00ns {level:8} {logger:35}{text}"


SCOREBOARD = ("tb/sb.py(48)", "[uvm_test_top.env.scoreboard]: ")


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    return Classifier(load_registry())


def excerpt(source: Source, text: str) -> Excerpt:
    return Excerpt(source=source, lines=tuple(enumerate(text.split("\n"), start=1)))


def failure(*, simulator: bool = True, frame: Frame | None = None, **texts: str) -> Failure:
    """Return a failure with one excerpt for each keyword (`results=`, `log=`, `run=` …)."""
    sources: dict[str, Source] = {
        "run": "run", "results": "results", "log": "log", "stdout": "stdout", "stderr": "stderr", "report": "report",
    }  # fmt: skip
    return Failure(
        nodeid="tests/test_dut.py::test_run::test_add",
        in_simulator=simulator,
        frame=frame,
        excerpts=tuple(excerpt(sources[name], text) for name, text in texts.items()),
    )


def label(verdict: Verdict | None) -> str:
    assert verdict is not None
    return f"{verdict.error_class}/{verdict.failure_subtype}"


def traceback(
    exception: str, *, file: str = "/w/tests/test_dut.py", function: str = "test_add", source: str = "check()"
) -> str:
    return (
        f"{exception}\n"
        "Traceback (most recent call last):\n"
        f'  File "{file}", line 9, in {function}\n'
        f"    {source}\n"
        f"{exception}"
    )


RESULTS = {
    "assert 0 == 99": ("AssertionError: assert 0 == 99", "sim_error/scoreboard_fail"),
    "scoreboard": ("AssertionError: scoreboard mismatch: expected 5, got 7", "sim_error/scoreboard_fail"),
    "timeout": ("SimTimeoutError", "sim_error/timeout"),
    "x to int": (
        "ValueError: Can't convert LogicArray to int: it contains non-0/1 values",
        "sim_error/x_propagation",
    ),
    "x in comparison": (
        "AssertionError: assert LogicArray('XXXXXXXX', Range(7, 'downto', 0)) == 5",
        "sim_error/x_propagation",
    ),
    "missing attribute": ("AttributeError: dut contains no child object named nope", "sim_error/handle_not_found"),
    "missing item": ("KeyError: 'dut contains no child object named nope'", "sim_error/handle_not_found"),
    "unexpected pass": ("failed: passed but we expected a failure", "sim_error/unexpected_pass"),
    "wrong type": ("errored with unexpected type", "sim_error/wrong_exception"),
    "config": ('UVMConfigItemNotFound: "uvm_test_top.env" is not in ConfigDB().', "uvm_error/config_db_missing"),
    "factory": ("UVMFactoryError: Requested type NoSuch not in uvm_factory()", "uvm_error/factory_error"),
    "name": ("NameError: name 'x' is not defined", "python_error/name_error"),
    "precision": (
        "ValueError: Unable to accurately represent 10(ns) with the simulator precision of 1e0",
        "sim_error/missing_timescale",
    ),
    "custom": ("bus.StateError: not idle", "python_error/runtime_error"),
}


@pytest.mark.parametrize("entry", RESULTS.values(), ids=RESULTS)
def test_an_entry_of_the_results_file_is_named_by_its_exception(classifier: Classifier, entry: tuple[str, str]) -> None:
    text, wanted = entry
    verdict = classifier.classify(failure(results=traceback(text)))
    assert label(verdict) == wanted
    assert verdict.primary.startswith(text)
    assert verdict.source == "results"


def test_a_plain_assert_that_names_a_model_in_its_source_is_a_scoreboard_fail(classifier: Classifier) -> None:
    text = traceback("AssertionError: assert 3 == 4", source="assert dut.q.value == expected_value")
    assert label(classifier.classify(failure(results=text))) == "sim_error/scoreboard_fail"


@pytest.mark.parametrize("raised", ["BusErr: no ack", "BusErr"])
def test_an_exception_of_an_unknown_name_goes_before_warnings(classifier: Classifier, raised: str) -> None:
    log = "     0.00ns WARNING  gpi        VPI: Not able to map type vpiNamedBegin(33) to object."
    one = replace(failure(results=traceback(raised), log=log), exception="BusErr")
    verdict = classifier.classify(one)
    assert (verdict.primary.startswith(raised), label(verdict)) == (True, "python_error/runtime_error")


def test_an_hdl_fatal_goes_before_the_results_entry(classifier: Classifier) -> None:
    log = (
        "FATAL: dut.sv:20: overflow\n"
        "       Time: 55000 Scope: dut\n"
        "  55.00ns WARNING  cocotb.regression                  t failed"
    )
    for results in ("SimFailure: Failing test at simulator request", traceback("AssertionError: assert 1 == 2")):
        verdict = classifier.classify(failure(results=results, log=log))
        assert label(verdict) == "sim_error/assertion_fail"
        assert verdict.primary.startswith("FATAL: dut.sv:20: overflow")
        assert verdict.source == "log"


def test_the_code_of_a_check_is_no_message_of_a_compiler(classifier: Classifier) -> None:
    check = 'assert width == 16, f"Error: WIDTH is not {16}: width mismatch"'
    raised = traceback("AssertionError: Error: WIDTH is not 16: width mismatch", source=check)
    log = "\n".join(INDENT + line for line in raised.split("\n")[1:])
    verdict = classifier.classify(
        failure(results=raised, log=f"{logged('WARNING', 'cocotb.regression', 'a failed')}\n{log}")
    )
    assert verdict.error_class == "sim_error"
    assert verdict.primary.startswith("AssertionError: Error: WIDTH")


FORGOTTEN = "tb/env.py:181: RuntimeWarning: coroutine 'Bfm.send' was never awaited"


@pytest.mark.parametrize(
    ("raised", "wanted"),
    [
        ("AssertionError: scoreboard saw nothing", "python_error/type_error"),
        ("SimTimeoutError", "python_error/type_error"),
        ("KeyError: 'length'", "python_error/key_error"),
    ],
)
def test_a_coroutine_that_was_never_awaited_explains_the_check_that_failed_after_it(
    classifier: Classifier, raised: str, wanted: str
) -> None:
    warned, failed = logged("WARNING", "py.warnings", FORGOTTEN), logged("WARNING", "cocotb.regression", "t.a failed")
    verdict = classifier.classify(failure(results=traceback(raised), log=f"{warned}\n{failed}"))
    assert label(verdict) == wanted
    assert ("never awaited" in verdict.primary) == (wanted == "python_error/type_error")
    elsewhere = warned.replace("tb/env.py:181", "pyuvm/sequences.py:474")
    again = classifier.classify(failure(results=traceback(raised), log=f"{elsewhere}\n{failed}"))
    assert again.fingerprint == verdict.fingerprint, "Python warns of it where it clears up"
    after = classifier.classify(failure(results=traceback(raised), log=f"{failed}\n{warned}"))
    assert "never awaited" not in after.primary, "its task was ended with the test"


@pytest.mark.parametrize(
    ("raised", "wanted"),
    [
        ("ValueError: Cannot convert Logic('U') to bool", "elaboration_error/missing_module"),
        ("KeyError: 'length'", "python_error/key_error"),
    ],
)
def test_a_component_without_an_entity_explains_a_value_without_a_driver(
    classifier: Classifier, raised: str, wanted: str
) -> None:
    said = "rtl/top.vhd:9:3: no entity was compiled for component ctrl"
    assert label(classifier.classify(failure(results=traceback(raised), run=said))) == wanted


def test_a_limit_is_told_with_its_time_which_makes_no_other_cause(classifier: Classifier) -> None:
    one = failure(results="SimTimeoutError", frame=Frame(file="tb/t.py", line=9, function="drain"))
    verdicts = [classifier.classify(replace(one, sim_time=time)) for time in ("200 us", "350 us", None)]
    assert verdicts[0].primary == "SimTimeoutError in tb/t.py:drain at 200 us"
    assert verdicts[2].primary == "SimTimeoutError in tb/t.py:drain"
    assert len({verdict.fingerprint for verdict in verdicts}) == 1


def test_a_hang_that_ends_every_test_of_a_module_by_its_limit_is_one_cause(classifier: Classifier) -> None:
    places = [Frame(file="tb/t.py", line=9, function=name) for name in ("drain", "fill")]
    places += [replace(places[0], file="tb/other.py"), replace(places[0], source="await with_timeout(done, 1)")]
    one = failure(results="SimTimeoutError")
    verdicts = [classifier.classify(replace(one, frame=frame)) for frame in places]
    assert verdicts[0].fingerprint == verdicts[1].fingerprint
    assert len({verdict.fingerprint for verdict in verdicts}) == 3


def test_a_logged_error_does_not_beat_the_exception_of_the_test(classifier: Classifier) -> None:
    log = (
        "   10.00ns ERROR    cocotb.tb                          link went down\n"
        "ERROR: dut.sv:29: q reached 3\n"
        "       Time: 30 Scope: dut"
    )
    verdict = classifier.classify(failure(results="SimTimeoutError", log=log))
    assert label(verdict) == "sim_error/timeout"
    assert verdict.source == "results"


def test_a_logged_comparison_beats_the_plain_assert_that_raised_it(classifier: Classifier) -> None:
    log = "  140.00ns ERROR    cocotb.tb.scoreboard               mismatch at 0x10: expected 5, got 7"
    verdict = classifier.classify(failure(results=traceback("AssertionError: assert 3 == 0"), log=log))
    assert label(verdict) == "sim_error/scoreboard_fail"
    assert "expected 5, got 7" in verdict.primary


def test_a_report_with_the_values_beats_the_exception_that_only_says_that_they_differ(classifier: Classifier) -> None:
    log = logged("ERROR", SCOREBOARD[0], SCOREBOARD[1] + "mismatch: wrote 0x11 != read 0x10")
    for exception in ("AssertionError: failed by a data mismatch. assert False", "Exception: outputs do not match"):
        verdict = classifier.classify(failure(results=traceback(exception), log=log))
        assert label(verdict) == "uvm_error/scoreboard_fail"
        assert "wrote 0x11 != read 0x10" in verdict.primary
    telling = traceback("AssertionError: mismatch at 4: expected 7, got 8")
    assert "expected 7, got 8" in classifier.classify(failure(results=telling, log=log)).primary


@pytest.mark.parametrize(
    ("exception", "in_simulator", "plain"),
    [
        ("Exception: mismatch at 0x40: expected 5 got 6", "sim_error/scoreboard_fail", "python_error/runtime_error"),
        ("RuntimeError: timeout waiting for ready", "sim_error/timeout", "sim_error/timeout"),
        ("Exception: Test failed", "sim_error/assertion_fail", "python_error/runtime_error"),
        ("TimeoutError: no grant", "sim_error/timeout", "python_error/runtime_error"),
        ("RuntimeError: generator raised StopIteration", "python_error/runtime_error", "python_error/runtime_error"),
    ],
)
def test_a_check_that_raises_a_plain_exception_is_called_what_its_words_say(
    classifier: Classifier, exception: str, in_simulator: str, plain: str
) -> None:
    assert label(classifier.classify(failure(results=traceback(exception)))) == in_simulator
    assert label(classifier.classify(failure(report=f"E   {exception}", simulator=False))) == plain


def test_the_first_scoreboard_report_goes_before_the_assert_in_check_phase(classifier: Classifier) -> None:
    log = (
        logged("ERROR", SCOREBOARD[0], SCOREBOARD[1] + "FAILED: 0x0f ADD 0xf0 = 0x0000")
        + "\n"
        + logged("ERROR", SCOREBOARD[0], SCOREBOARD[1] + "FAILED: 0x01 ADD 0x01 = 0x0000")
    )
    for results in ("AssertionError: assert False", "AssertionError: 2 mismatches were reported"):
        frame = Frame(file="tb/sb.py", line=60, function="check_phase", source="assert passed")
        verdict = classifier.classify(failure(results=results, log=log, frame=frame))
        assert label(verdict) == "uvm_error/scoreboard_fail"
        assert "0x0f ADD 0xf0" in verdict.primary
        assert verdict.frame is None, "the report stands elsewhere, and names its place"


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Error: Can't convert LogicArray to int: it contains non-0/1 values", "sim_error/x_propagation"),
        ("Error: fifo contains no child object named rd_vld", "sim_error/handle_not_found"),
    ],
)
def test_what_a_monitor_caught_goes_before_the_check_that_misses_its_values(
    classifier: Classifier, said: str, wanted: str
) -> None:
    caught = logged("ERROR", "tb/monitor.py(87)", f"[uvm_test_top.env.agent.monitor]: {said}")
    results = traceback("RuntimeError: scoreboard: 1 errors")
    missing = logged("ERROR", SCOREBOARD[0], SCOREBOARD[1] + "End of test with 2 unprocessed expected items")
    verdict = classifier.classify(failure(results=results, log=f"{caught}\n{missing}"))
    assert label(verdict) == wanted
    assert said in verdict.primary
    compared = logged("ERROR", SCOREBOARD[0], SCOREBOARD[1] + "mismatch: expected 5, got 7")
    verdict = classifier.classify(failure(results=results, log=f"{caught}\n{compared}"))
    assert label(verdict) == "uvm_error/scoreboard_fail"


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("coverage holes: [(READ, 3), (WRITE, 3)]", "uvm_error/coverage_miss"),
        ("something is odd", "uvm_error/unclassified_message"),
    ],
)
def test_an_assert_that_says_nothing_gives_way_to_the_report_that_it_sums_up(
    classifier: Classifier, said: str, wanted: str
) -> None:
    report = logged("ERROR", "tb/cov.py(306)", f"[uvm_test_top.env.coverage]: {said}")
    frame = Frame(file="tb/cov.py", line=307, function="report_phase", source="assert False")
    verdict = classifier.classify(failure(frame=frame, results="AssertionError: assert False", log=report))
    assert label(verdict) == wanted
    assert said in verdict.primary


def test_a_quit_count_is_a_roll_up_of_the_first_error(classifier: Classifier) -> None:
    log = (
        logged("ERROR", SCOREBOARD[0], SCOREBOARD[1] + "[scoreboard] FAILED: a")
        + "\n"
        + logged("WARNING", SCOREBOARD[0], SCOREBOARD[1] + "[MAXQUIT] Quit count reached: 1 of 1 (UVM_ERROR)")
    )
    verdict = classifier.classify(
        failure(results="AssertionError: FAILED. Quit count reached: 1 of 1 (UVM_ERROR)", log=log)
    )
    assert label(verdict) == "uvm_error/scoreboard_fail"
    assert "[scoreboard] FAILED: a" in verdict.primary


def test_a_pyuvm_fatal_report_is_uvm_fatal(classifier: Classifier) -> None:
    log = logged("CRITICAL", SCOREBOARD[0], SCOREBOARD[1] + "[scoreboard] FAILED: a")
    verdict = classifier.classify(failure(results="RuntimeError: UVM_FATAL: FAILED: a", log=log))
    assert label(verdict) == "uvm_fatal/scoreboard_fail"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the simulator was killed by signal 9 (SIGKILL) while running t at 40 ns", "tool_error/simulator_crash"),
        ("simulator vvp was killed by signal 11 (SIGSEGV)", "tool_error/simulator_crash"),
        ("the simulator was killed by signal 15 (SIGTERM) while running t", "tool_error/cut_short"),
        ("simulator vvp was killed by signal 14 (SIGALRM) while running t", "sim_error/timeout"),
        ("simulation ended before test_dut.t was done, at 1250 ns", "sim_error/simulation_ended_early"),
        ("run was killed while running tests/test_dut.py::t at 3 ns", "tool_error/cut_short"),
        ("no results: simulator vvp ended with status 1 while running t", "tool_error/simulator_crash"),
        ("no results file was written", "sim_error/simulation_ended_early"),
    ],
)
def test_what_the_capture_saw_of_the_processes_is_a_cause(classifier: Classifier, text: str, wanted: str) -> None:
    verdict = classifier.classify(failure(run=text, report="E   SystemExit: 1"))
    assert label(verdict) == wanted
    assert verdict.primary == text


def test_the_log_explains_a_simulator_that_ended_with_a_status(classifier: Classifier) -> None:
    run = "no results: simulator vvp ended with status 1 while running t"
    log = (
        "Traceback (most recent call last):\n"
        '  File "/w/t.py", line 1, in <module>\n'
        "    import nope\n"
        "ModuleNotFoundError: No module named 'nope'"
    )
    assert label(classifier.classify(failure(run=run, log=log))) == "python_error/import_error"


def test_a_timeout_of_pytest_goes_before_the_signal_by_which_it_ended_the_simulator(
    classifier: Classifier,
) -> None:
    verdict = classifier.classify(
        failure(
            run="the simulator was killed by signal 15 (SIGTERM) while running t",
            report="E   Failed: Timeout (>6.0s) from pytest-timeout.",
        )
    )
    assert label(verdict) == "sim_error/timeout"


@pytest.mark.parametrize(
    ("log", "wanted"),
    [
        ("dut.sv:16: syntax error\ndut.sv:16: error: Malformed statement", "compile_error/syntax_error"),
        ("dut.sv:7: error: Unknown module type: sub\n2 error(s) during elaboration.", "compile_error/missing_module"),
        ("dut.sv:9: error: port ``nope'' is not a port of u_sub.", "elaboration_error/port_mismatch"),
        (
            'error: Unable to find the root module "no_top" in the Verilog source.',
            "elaboration_error/unresolved_reference",
        ),
        ('dff.vhdl:18:13: missing ";" at end of statement', "compile_error/syntax_error"),
    ],
)
def test_a_build_failure_is_named_by_the_compilers_first_message(classifier: Classifier, log: str, wanted: str) -> None:
    verdict = classifier.classify(
        failure(log=log, report="E   RuntimeError: Process 'iverilog' terminated with error 4")
    )
    assert label(verdict) == wanted
    assert verdict.line == 1


def test_a_plain_test_is_named_by_pytests_report(classifier: Classifier) -> None:
    report = (
        "    def test_a():\n"
        ">       assert f(2) == 5\n"
        "E       assert 4 == 5\n"
        "E        +  where 4 = f(2)\n"
        "\n"
        "tests/test_a.py:3: AssertionError"
    )
    verdict = classifier.classify(failure(simulator=False, report=report, stdout="ERROR: printed on purpose"))
    assert label(verdict) == "python_error/assertion_error"
    assert verdict.primary == "AssertionError: assert 4 == 5"


def test_a_python_exception_in_a_fixture_is_a_fixture_error(classifier: Classifier) -> None:
    broken = replace(failure(simulator=False, report="E   ValueError: no port"), phase="setup")
    assert label(classifier.classify(broken)) == "python_error/fixture_error"
    hdl = replace(failure(log="dut.sv:16: syntax error", report="E   RuntimeError: return code 4"), phase="setup")
    assert label(classifier.classify(hdl)) == "compile_error/syntax_error"


def test_a_worker_crash_is_a_tool_error(classifier: Classifier) -> None:
    report = "worker 'gw0' crashed while running 'tests/test_a.py::test_a'"
    assert label(classifier.classify(failure(simulator=False, report=report))) == "tool_error/worker_crash"


def test_a_traceback_that_was_cut_off_is_named_by_what_its_last_frame_raises(classifier: Classifier) -> None:
    head = 'Traceback (most recent call last):\n  File "/w/tests/model.py", line 9, in step\n'
    cut = f'{head}    raise ValueError("no such mode")'
    verdict = classifier.classify(failure(simulator=False, report=cut))
    assert verdict.primary.startswith("ValueError: no such mode")


@pytest.mark.parametrize("text", ["", "nothing to see", "\x00\x1b[31m\ufffd", "a" * 100_000])
def test_every_failure_gets_a_verdict_with_a_fingerprint(classifier: Classifier, text: str) -> None:
    for given in (failure(log=text), failure(), replace(failure(), exception="Odd", message=text)):
        verdict = classifier.classify(given)
        assert label(verdict) == "unknown/unknown"
        assert len(verdict.fingerprint) == 12
        assert verdict.primary


def test_the_verdict_tells_pattern_line_rule_and_at_most_three_runners_up(classifier: Classifier) -> None:
    log = "\n".join(f"dut.sv:{n}: syntax error" for n in range(1, 9))
    verdict = classifier.classify(failure(log=log))
    assert verdict.pattern == "icarus.syntax"
    assert verdict.line == 1
    assert verdict.rule
    assert [other.line for other in verdict.runners_up] == [2, 3, 4]


def test_secrets_do_not_reach_the_verdict(classifier: Classifier) -> None:
    verdict = classifier.classify(failure(log="** Error: cannot checkout license from 27000@lic.example.org"))
    assert "lic.example.org" not in verdict.primary + verdict.excerpt


def test_a_hook_is_asked_first_and_named(classifier: Classifier) -> None:
    def mine(given: Failure) -> Verdict | None:
        return Verdict(error_class="sim_error", failure_subtype="hang", fingerprint="0" * 12, primary=given.nodeid)

    verdict = Classifier(classifier.registry, hooks=[lambda _: None, mine]).classify(failure(log="x"))
    assert (verdict.failure_subtype, verdict.decided_by) == ("hang", "mine")


def test_the_fingerprint_is_the_same_with_and_without_the_log(classifier: Classifier) -> None:
    """`-s` loses the log; the results file stays."""
    results = traceback("AssertionError: assert 0 == 99", source="assert dut.q.value == 99")
    log = (
        "  10.00ns WARNING  cocotb.regression                  m.t failed\n"
        f"{INDENT}Traceback (most recent call last):\n"
        f"{INDENT}AssertionError: assert 0 == 99"
    )
    assert (
        classifier.classify(failure(results=results)).fingerprint
        == classifier.classify(failure(results=results, log=log, report="E   SystemExit: 1")).fingerprint
    )


CALLED = """\
Traceback (most recent call last):
  File "/p/tests/{test}.py", line 113, in {test}
    {call}
  File "/p/tests/{library}.py", line 12, in {function}
    assert golden == actual, f"Golden {{golden}}; Actual {{actual}}"
AssertionError: Golden 3; Actual 4"""


@pytest.mark.parametrize(
    ("function", "calls", "causes"),
    [
        ("check_result", ("check_result(dut.full_o.value, 1)", "check_result(dut.data_o.value, word)"), 2),
        ("checkEqual", ("self.checkEqual(full, 1)", "self.checkEqual(empty, 1)"), 2),
        ("check_result", ("check_result(dut.full_o.value, 1)", "check_result(dut.full_o.value, 0)"), 1),
        ("run_burst", ("await run_burst(dut, writes)", "await run_burst(dut, reads)"), 1),
        ("check_phase", ("await uvm_root().run_test('Short')", "await uvm_root().run_test('Long')"), 1),
    ],
)
def test_the_call_of_a_library_function_that_compares_tells_checks_apart(
    classifier: Classifier, function: str, calls: tuple[str, ...], causes: int
) -> None:
    def named(library: str) -> set[str]:
        texts = (
            CALLED.format(test=f"test_{n}", call=call, library=library, function=function)
            for n, call in enumerate(calls)
        )
        return {classifier.classify(failure(results=text)).fingerprint for text in texts}

    assert len(named("util")) == causes


def test_a_function_of_the_test_module_that_compares_is_one_check(classifier: Classifier) -> None:
    texts = [
        CALLED.format(test="test_a", call=f"check(dut.{name}.value, 1)", library="test_a", function="check")
        for name in ("full_o", "empty_o")
    ]
    assert len({classifier.classify(failure(results=text)).fingerprint for text in texts}) == 1


def test_two_checks_of_the_same_text_have_two_fingerprints(classifier: Classifier) -> None:
    one = failure(results=traceback("AssertionError: assert 0 == 1", source="assert dut.a.value == 1"))
    two = failure(results=traceback("AssertionError: assert 0 == 1", source="assert dut.b.value == 1"))
    assert classifier.classify(one).fingerprint != classifier.classify(two).fingerprint


BUILD = "RuntimeError: Command failed with return code: 2"
NO_RESULTS = "RuntimeError: ERROR: Simulation terminated abnormally. Results file sim_build/results.xml not found."


@pytest.mark.parametrize(
    ("log", "wanted"),
    [
        ("/w/rtl/dut.sv:7: syntax error\n/w/rtl/dut.sv:7: error: malformed statement", "compile_error/syntax_error"),
        ("rtl/a.sv:5: error: Unknown module type: sub\n2 error(s) during elaboration.", "compile_error/missing_module"),
        ("/usr/bin/ghdl-mcode: cannot find entity or configuration top", "elaboration_error/unresolved_reference"),
    ],
)
def test_the_compiler_names_a_failed_build_not_the_exception_of_the_runner(
    classifier: Classifier, log: str, wanted: str
) -> None:
    report = f">       self.runner.build(\nE       {BUILD}\n\ntest_runner.py:35: RuntimeError"
    verdict = classifier.classify(failure(simulator=False, log=log, report=report))
    assert label(verdict) == wanted
    assert verdict.primary == log.split("\n", maxsplit=1)[0]


def test_without_the_compilers_output_a_failed_build_has_no_name(classifier: Classifier) -> None:
    report = f">       self.runner.build(\nE       {BUILD}\n\ntest_runner.py:35: RuntimeError"
    verdict = classifier.classify(failure(simulator=False, report=report))
    assert (label(verdict), verdict.primary) == ("unknown/unknown", BUILD)


@pytest.mark.parametrize(
    ("end", "wanted"),
    [
        ("ModuleNotFoundError: No module named 'no_such'", "python_error/import_error"),
        ("SyntaxError: '(' was never closed", "python_error/python_syntax_error"),
    ],
)
def test_a_test_module_that_cannot_be_imported_is_named_by_its_exception(
    classifier: Classifier, end: str, wanted: str
) -> None:
    log = traceback(end, function="<module>", source="import no_such").partition("\n")[2]
    verdict = classifier.classify(failure(log=log, report=f"E   {NO_RESULTS}"))
    assert (label(verdict), verdict.primary) == (wanted, end)


def test_a_syntax_error_in_pytests_report_begins_with_its_name(classifier: Classifier) -> None:
    report = "E     File \"/w/tb/a.py\", line 6\nE       async def (dut\nE   SyntaxError: '(' was never closed"
    verdict = classifier.classify(failure(simulator=False, report=report))
    assert label(verdict) == "python_error/python_syntax_error"
    assert verdict.primary.startswith("SyntaxError: '(' was never closed")


def test_cocotb_says_that_another_exception_was_expected(classifier: Classifier) -> None:
    said = logged("WARNING", "cocotb.regression", "m.test_add failed: errored with unexpected type")
    verdict = classifier.classify(failure(results=traceback("KeyError: 'opcode'"), log=said))
    assert label(verdict) == "sim_error/wrong_exception"
    assert "errored with unexpected type" in verdict.primary
    assert verdict.runners_up[0].text == "KeyError: 'opcode'"


def test_a_logged_difference_goes_before_an_assert_that_only_counts_it(classifier: Classifier) -> None:
    log = logged("ERROR", "scoreboard", "MISMATCH on q: expected 0x20 got 0x21")
    check = traceback("AssertionError: scoreboard reported errors", source='assert not n, "scoreboard reported errors"')
    verdict = classifier.classify(failure(results=check, log=log))
    assert label(verdict) == "sim_error/scoreboard_fail"
    assert "MISMATCH on q: expected 0x20 got 0x21" in verdict.primary


@pytest.mark.parametrize(
    "summary",
    [
        "AssertionError: known_values_test failed with 6 errors\nassert 6 == 0",
        "AssertionError: Errors: 6\nassert 6 == 0",
        "AssertionError: 6 of 40 checks failed",
        "AssertionError: Scoreboard saw 6 data mismatches in 40 beats",
    ],
)
@pytest.mark.parametrize("logged", ["Row 0[5]: in=21, exp=21, got=0", "lane 3: got 0x7, exp 0x9"])
def test_a_logged_difference_goes_before_a_count_of_them_that_is_compared(
    classifier: Classifier, logged: str, summary: str
) -> None:
    log = f"   225.00ns ERROR    cocotb.relu_n                      {logged}"
    verdict = classifier.classify(failure(log=log, results=summary))
    assert logged in verdict.primary


def test_an_assertion_with_the_values_goes_before_a_logged_difference(classifier: Classifier) -> None:
    log = "   225.00ns ERROR    cocotb.relu_n                      Row 0[5]: in=21, exp=21, got=0"
    verdict = classifier.classify(failure(log=log, results="AssertionError: 3 errors: expected 6, got 7"))
    assert "expected 6, got 7" in verdict.primary


def test_a_fatal_report_of_pyuvm_goes_before_the_exception_that_repeats_it(classifier: Classifier) -> None:
    told = "FAILED: expected 0x22 got 0x23"
    log = logged("CRITICAL", SCOREBOARD[0], f"{SCOREBOARD[1]}[scoreboard] {told}")
    verdict = classifier.classify(failure(results=traceback(f"RuntimeError: UVM_FATAL: {told}"), log=log))
    assert label(verdict) == "uvm_fatal/scoreboard_fail"
    assert f"[scoreboard] {told}" in verdict.primary
    alone = classifier.classify(failure(results=traceback(f"RuntimeError: UVM_FATAL: {told}")))
    assert label(alone) == "uvm_fatal/scoreboard_fail"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("AssertionError: ready never rose after reset", "sim_error/assertion_fail"),
        ("AssertionError: timeout waiting for ready", "sim_error/timeout"),
        ("AssertionError: expected 0x00 got 0x01", "sim_error/scoreboard_fail"),
        ("AssertionError: expected 8'h12 got 8'hxx", "sim_error/x_propagation"),
        ("AssertionError: expected 0x12 got 0xXX", "sim_error/x_propagation"),
        ("ValueError: invalid literal for int() with base 2: '0x12'", "python_error/value_error"),
        ("ValueError: invalid literal for int() with base 2: '01x1'", "sim_error/x_propagation"),
        (
            "AssertionError: STATUS took a write, it is read only assert <AxiResp.OKAY: 0> is <AxiResp.SLVERR: 2>",
            "sim_error/scoreboard_fail",
        ),
        ("AssertionError: assert <AxiResp.SLVERR: 2> == <AxiResp.OKAY: 0>", "sim_error/protocol_violation"),
    ],
)
def test_an_exception_is_called_what_its_words_say(classifier: Classifier, text: str, wanted: str) -> None:
    assert label(classifier.classify(failure(results=traceback(text)))) == wanted


def test_source_lines_of_pytests_report_are_no_causes(classifier: Classifier) -> None:
    report = (
        ">           raise AttributeError(f'{self._path} contains no child object named {name}')\n"
        "E           AttributeError: dut contains no child object named q2\n\n"
        "/v/site-packages/cocotb/handle.py:461: AttributeError"
    )
    verdict = classifier.classify(failure(report=report))
    assert verdict.primary == "AttributeError: dut contains no child object named q2"
    assert verdict.runners_up == ()


@pytest.mark.parametrize(
    ("exception", "causes"),
    [
        ("ValueError: Unable to accurately represent 10(ns) with the simulator precision of 1e0", 1),
        ('pyuvm.UVMConfigItemNotFound: "uvm_test_top" is not in ConfigDB().', 1),
        ("AttributeError: dut contains no child object named q2", 1),
        ("cocotb.triggers.SimTimeoutError", 2),
        ("AssertionError: assert 1 == 2", 2),
        ("ValueError: Can't convert LogicArray to int: it contains non-0/1 values", 2),
    ],
)
def test_two_places_are_one_cause_where_the_text_names_it(classifier: Classifier, exception: str, causes: int) -> None:
    places = [{"function": "test_a", "source": "await Timer(10)"}, {"function": "test_b", "source": "await Timer(20)"}]
    verdicts = [classifier.classify(failure(results=traceback(exception, **place))) for place in places]
    assert len({verdict.fingerprint for verdict in verdicts}) == causes


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "the simulator was killed by signal 9 (SIGKILL) while running m.first at 12 ns",
            "the simulator was killed by signal 9 (SIGKILL) while running t.py::test[a b] at 7.5 us",
        ),
        (
            "the simulator was killed by signal 9 (SIGKILL) at 12 ns",
            "the simulator was killed by signal 9 (SIGKILL)",
        ),
        ("run was killed while running m.first at 12 ns", "run was killed while running t.py::test_b"),
        ("simulation ended before m.first was done, at 1 ns", "simulation ended before m.second was done"),
        (
            "no results: simulator vvp ended with status 1 while running m.first",
            "no results: simulator vvp ended with status 1",
        ),
    ],
)
def test_the_same_end_of_two_tests_is_one_cause(classifier: Classifier, one: str, other: str) -> None:
    verdicts = [classifier.classify(failure(run=sentence)) for sentence in (one, other)]
    assert verdicts[0].fingerprint == verdicts[1].fingerprint
    assert verdicts[0].primary == one


def test_two_signals_are_two_causes(classifier: Classifier) -> None:
    ends = [f"simulator icarus was killed by signal {one} while running m.t" for one in ("9 (SIGKILL)", "11 (SIGSEGV)")]
    assert len({classifier.classify(failure(run=end)).fingerprint for end in ends}) == 2


def test_the_fix_for_a_verilog_fatal_reads_well(classifier: Classifier) -> None:
    verdict = classifier.classify(failure(log="[45] %Fatal: fifo.v:64: Assertion failed in sync_fifo: FIFO overflow"))
    assert verdict.fix is not None
    assert "in sync_fifo at" in verdict.fix


class TestSettle:
    def test_a_fixture_that_failed_once_is_one_cause_for_each_test_that_needs_it(self, classifier: Classifier) -> None:
        report = f">   runner.build()\nE   {BUILD}"
        built = replace(failure(simulator=False, log="dut.sv:16: syntax error", report=report), phase="setup")
        again = replace(failure(simulator=False, report=report), phase="setup", nodeid="t.py::test_two")
        other = replace(failure(simulator=False, report=f">   other.build()\nE   {BUILD}"), phase="setup")
        failures = [built, again, other]
        verdicts = settle(failures, [classifier.classify(one) for one in failures])
        assert [label(verdict) for verdict in verdicts] == [
            "compile_error/syntax_error",
            "compile_error/syntax_error",
            "unknown/unknown",
        ]
        assert verdicts[0].fingerprint == verdicts[1].fingerprint

    def failures(self) -> list[Failure]:
        fatal = failure(results="SimFailure", log="FATAL: dut.sv:20: overflow\n       Time: 5 Scope: dut")
        waiting = failure(results="SimFailure: Failing test at simulator request")
        return [
            replace(fatal, nodeid="t.py::test_run::first", seed="1"),
            replace(waiting, nodeid="t.py::test_run::second", started=False),
            replace(waiting, nodeid="t.py::test_run::third"),
            replace(waiting, nodeid="t.py::test_other::alone"),
        ]

    def test_tests_after_the_end_of_a_simulation_follow_its_cause(self, classifier: Classifier) -> None:
        failures = self.failures()
        verdicts = settle(failures, [classifier.classify(one) for one in failures])
        assert [verdict.follower for verdict in verdicts] == [False, True, True, False]
        assert len({verdict.fingerprint for verdict in verdicts[:3]}) == 1
        assert verdicts[3].failure_subtype == "simulation_ended_early"

    def test_seeds_that_pass_are_told(self, classifier: Classifier) -> None:
        bad = replace(failure(results="AssertionError: expected 1 got 2"), seed="7", nodeid="t.py::test_run[7]::a")
        verdict = classifier.classify(bad)
        good = Result(nodeid="t.py::test_run[8]::a", outcome="passed", seed="8")
        settled = settle([bad], [verdict], [good])[0]
        assert any("1 of 2 seeds" in reason for reason in settled.origin.reasons)
        other = Result(nodeid="t.py::test_run[WIDTH8]::a", outcome="passed", seed="9")
        assert settle([bad], [verdict], [other])[0].origin == verdict.origin, "another parameter is another test"

    @pytest.mark.parametrize("nodeid", ["t.py::test_run[verilator]::a", "t.py::test_run[icarus]::a"])
    def test_a_simulator_that_passes_is_told(self, classifier: Classifier, nodeid: str) -> None:
        text = "AssertionError: expected 1 got 2"
        bad = replace(failure(results=text), simulator="icarus", nodeid="t.py::test_run[icarus]::a")
        good = Result(nodeid=nodeid, outcome="passed", simulator="verilator")
        verdict = classifier.classify(bad)
        told = any("fails on icarus and passes on verilator" in reason for reason in settle_one(bad, verdict, good))
        assert told is ("verilator" in nodeid)


def settle_one(failed: Failure, verdict: Verdict, *results: Result) -> tuple[str, ...]:
    return settle([failed], [verdict], results)[0].origin.reasons


def test_an_origin_is_unknown_or_clear(classifier: Classifier) -> None:
    for text, _ in RESULTS.values():
        origin: Origin = classifier.classify(failure(results=traceback(text))).origin
        assert origin.confidence == 0 if origin.type == "UNKNOWN" else 0.6 <= origin.confidence < 1
        assert origin.reasons


def test_tests_that_pass_cost_a_verdict_nothing() -> None:
    """Each of them was once compared by an expression with its seed."""
    passed = [
        Result(nodeid=f"tests/t.py::x[{seed}]", outcome="passed", seed=str(seed), simulator="icarus")
        for seed in range(20_000)
    ]
    assert takes_seconds_at_most(2, lambda: settle([], [], passed))


def test_a_top_level_that_is_missing_is_the_same_cause_in_one_stream_and_in_two(classifier: Classifier) -> None:
    said = logged("ERROR", "gpi", "VPI: Couldn't find root handle fifo")
    raised = traceback("RuntimeError: Can not find root handle 'fifo'").partition("\n")[2]
    one = classifier.classify(failure(log=f"{said}\n{raised}"))
    two = classifier.classify(failure(simulator=False, stdout=said, stderr=raised))
    assert label(one) == label(two) == "sim_error/handle_not_found"
    assert one is not None
    assert two is not None
    assert one.primary == two.primary
