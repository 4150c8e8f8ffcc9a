"""Commercial tools and the environment: the meaning of a message decides its label, whatever its prefix.

The messages are written in the form of each tool; none is an example of a pattern.
"""

from __future__ import annotations

import pytest

from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry

MATCHER = Matcher(load_registry())


def label(text: str) -> str:
    """Return class and subtype of the first known message; empty if none is known."""
    hits = MATCHER.hits(text + "\n")
    return f"{hits[0].pattern.error_class}/{hits[0].pattern.failure_subtype}" if hits else ""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "Error-[IND] Identifier not declared\ncore.sv, 4\n  Identifier 'rdy' has not",
            "compile_error/undeclared_identifier",
        ),
        (
            "Error-[UTFP] Unknown type for port\n  The type name 'op_t' is unknown.",
            "compile_error/undeclared_identifier",
        ),
        (
            "Error-[MPD] Module previously declared\n  a.sv, 1\n  module fifo #(parameter W=8)",
            "compile_error/duplicate_declaration",
        ),
        (
            "Error-[XMRENRM] Cross-module reference resolution error\n  a.sv, 8",
            "elaboration_error/unresolved_reference",
        ),
        ("Error-[XMREM] Cross-module reference resolution error\n  a.sv, 8", "compile_error/interface_mismatch"),
        ("Error-[TMPO] Too many parameter overrides\ntop.sv, 9", "elaboration_error/parameter_error"),
        ("Error-[ICPD_INIT] Illegal combination of drivers\nram.sv, 38", "compile_error/multiple_drivers"),
        ("Error-[NYI-CSTR-XYZ] NYI constraint: streaming operator", "compile_error/unsupported_construct"),
        ("Error-[SV-ACCNBI] An abstract class cannot be instantiated\ntb.sv, 7", "compile_error/illegal_construct"),
        ("Error-[DT-IV] Illegal value\ntb.sv, 7", "sim_error/index_out_of_range"),
        ("Error-[OUTMEM] The tool has just run out of memory:", "tool_error/out_of_memory"),
        ("Error-[VCS_COM_UNE] Cannot find VCS compiler", "tool_error/tool_not_found"),
        ('Fatal: "tb.sv", 60: tb: at time 900 ns\nno ack', "sim_error/assertion_fail"),
    ],
)
def test_vcs_messages_are_named_by_code_and_title(message: str, expected: str) -> None:
    assert label(message) == expected


def test_source_text_under_a_vcs_title_does_not_change_its_meaning() -> None:
    message = "Error-[ZZZQ] Duplicate thing\n  fifo.sv, 14: token is 'fifo'\n  module fifo #(parameter W=8)(input clk);"
    assert label(message) == "compile_error/duplicate_declaration"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "xmvlog: *E,NOTDIR (a.sv,4|9): `DEPTH: not a recognized directive or macro",
            "compile_error/undeclared_identifier",
        ),
        (
            "ncvlog: *E,BADDCL (a.v,7|3): identify declaration while expecting a statement.",
            "compile_error/syntax_error",
        ),
        ("*E,BADDCL: identify declaration while expecting a statement", "compile_error/syntax_error"),
        ("xmvlog: *E,ILLPDX (a.v,5|9): Multiple declarations for a port", "compile_error/duplicate_declaration"),
        ("ncelab: *E,PCPSBT (a.v,5|9): A primitive 'output' terminal must be", "elaboration_error/port_mismatch"),
        (
            "xmelab: *E,CUIOAI (a.v,18|31): Illegal interface port connection through a generate",
            "compile_error/interface_mismatch",
        ),
        ("xmelab: *E,MBXNYI (a.sv,87|20): 'unpacked structure'", "compile_error/unsupported_construct"),
        (
            "xmvlog: *E,CLSNLO (tb.sv,23|8): Access to local member 'n' is not allowed here.",
            "compile_error/illegal_construct",
        ),
        (
            "xmvlog: *E,ZZZZZQ (tb.sv,3|8): The qualifier is only legal within a class.",
            "compile_error/illegal_construct",
        ),
        (
            "xmsim: *E,BCLCST (./tb.sv,57|10): Invalid cast: a value with the class datatype",
            "sim_error/illegal_assignment",
        ),
        ("xmsim: *F,SIGUSR: Unix Signal SIGABRT raised from user application code.", "tool_error/simulator_crash"),
        ("ncsim: *E,IMPDLL: Unable to load the implicit shared object", "tool_error/tool_not_found"),
        ("xmsim: *F,VSPLIC: VSP Licensing Failure", "tool_error/tool_license"),
        ("xmsim: *F,FATSEV (./tb.sv,60): (time 12 US).", "sim_error/assertion_fail"),
        ("xmsim: *W,NCTERM: Simulation received SIGTERM signal from process 17.", "tool_error/cut_short"),
    ],
)
def test_xcelium_and_incisive_messages_are_named_by_code_and_text(message: str, expected: str) -> None:
    assert label(message) == expected


def test_a_keyword_that_xcelium_guesses_at_is_not_an_unsupported_construct() -> None:
    message = "xmvlog: *E,NOIPRT (tb.sv,2|8): Unrecognized declaration 'op_t' could be an unsupported keyword"
    assert label(message) == "compile_error/undeclared_identifier"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "# ** Error (suppressible): a.sv(9): (vlog-2623) Undefined variable: rdy.",
            "compile_error/undeclared_identifier",
        ),
        (
            'Error (suppressible): a.vhd(4): (vcom-1141) Identifier "BUFX" does not',
            "compile_error/undeclared_identifier",
        ),
        ("** Error: a.sv(1): (vlog-2164) Class or package 'p' not found.", "compile_error/missing_library"),
        ("** Error: (vcom-11) Could not find work.defs.", "compile_error/missing_library"),
        ("** Fatal: (vsim-3693) The minimum time resolution limit (1ps) in the", "compile_error/missing_timescale"),
        (
            "** Fatal: (vsim-3695) a.sv(11): The interface port 'b' must be passed an actual interface.",
            "compile_error/interface_mismatch",
        ),
        ("** Error: (vsim-3839) a.sv(3): Variable '/tb/q' is multiply driven.", "compile_error/multiple_drivers"),
        ("** Error: (vsim-3171) Could not find machine code for 'work.ctl'.", "elaboration_error/unresolved_reference"),
        ('** Failure: (vsim-3817) Port "a" of entity "g" is not in the component', "elaboration_error/port_mismatch"),
        (
            "** Error: (vsim-8754) a.sv(3): Actual input arg. of type 'int' for formal",
            "compile_error/illegal_assignment",
        ),
        ('** Error (suppressible): (vsim-3197) Load of "m.so" failed: m.so: wrong', "tool_error/tool_not_found"),
        ("** Error: (vsim-86) Argument value -4 is not in bounds of subtype NATURAL.", "sim_error/index_out_of_range"),
        ("** Failure: (vsim-10143) tb.a_req:\n   Time: 17 ns  Scope: tb", "sim_error/assertion_fail"),
        (
            "** Error: a.sv(3): met an unexpected internal error: v.c(9). Please contact us at http://x.y",
            "tool_error/simulator_crash",
        ),
    ],
)
def test_questa_messages_are_named_by_number_and_text(message: str, expected: str) -> None:
    assert label(message) == expected


@pytest.mark.parametrize("text", ["probe is not defined", "illegal opcode seen", "port 3 is not ready", "width check"])
def test_what_a_fatal_of_the_testbench_says_is_not_taken_for_a_compiler_message(text: str) -> None:
    assert label(f"# ** Fatal: {text}\n#    Time: 4 ns  Scope: tb File: tb.sv Line: 8").startswith("sim_error/")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("[VRFC 10-2989] 'rdy' is not declared", "compile_error/undeclared_identifier"),
        (
            "ERROR: [VRFC 10-2991] 'mem' is not declared under prefix 'u0' [t.sv:4]",
            "elaboration_error/unresolved_reference",
        ),
        ("ERROR: [XSIM 43-3409] Failed to compile generated C file a.c.", "tool_error/tool_not_found"),
        ("ERROR: Index 12 out of bound 7 downto 0", "sim_error/index_out_of_range"),
        ("ERROR: Array sizes do not match, left array has 2 elements", "sim_error/width_mismatch"),
        ('ERROR VCP2020 "begin...end pair(s) mismatch detected." "a.sv" 90 1', "compile_error/unmatched_block"),
        ('COMP96 ERROR COMP96_0049: "Syntax error in expression." "a.vhd" 6 42', "compile_error/syntax_error"),
        ('ERROR VCP2937 "Cannot instantiate abstract class: base." "tb.sv" 15  10', "compile_error/illegal_construct"),
        ("# KERNEL: Error: tb.sv (29): fell too early", "sim_error/assertion_fail"),
        ("# KERNEL: Error: tb.sv (29): expected 3 got 4", "sim_error/scoreboard_fail"),
        (
            "RUNTIME: Fatal Error: RUNTIME_0067 a.vhd (23): Value 300 out of range (0 to 255).",
            "sim_error/index_out_of_range",
        ),
    ],
)
def test_vivado_and_riviera_messages_are_named(message: str, expected: str) -> None:
    assert label(message) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Feature VCSRuntime_Net does not exist in the license file.", "tool_error/tool_license"),
        ("Cannot read data from license server system. (-16,287)", "tool_error/tool_license"),
        ("slurmstepd: error: *** STEP 85.0 ON n7 CANCELLED AT 2026-04-27T19:13:46 ***", "tool_error/cut_short"),
        ("TERM_OWNER: job killed by owner", "tool_error/cut_short"),
        ("Multiple interrupts shutting everything down", "tool_error/cut_short"),
        ("** Fatal: (vsim-4) ****** Memory allocation failure. *****", "tool_error/out_of_memory"),
    ],
)
def test_the_environment_is_never_a_failure_of_the_design(message: str, expected: str) -> None:
    assert label(message) == expected


@pytest.mark.parametrize(
    "text",
    [
        "# ** Failure: end of simulation\n#    Time: 36 ns  Iteration: 0  Process: /tb/p File: tb.vhd",
        "# ** Failure: Simulation Finished",
        "# ** Failure: *** All tests passed ***\n#    Time: 35 ns  Iteration: 0",
        "# ** Warning: (vsim-3017) tb.v(9): [TFMPC] - Too few port connections. Expected 4, found 3.",
        "# ** Note: (vsim-12126) Error and warning message counts have been restored: Errors=0, Warnings=4.",
        "ncelab: *W,CUVWSP (top.v,24|8): 1 output port was not connected:",
        "Warning-[PCWM-W] Port connection width mismatch\ntop.sv, 4",
        "**WARNING**: [VRFC 10-3380] identifier 'count' is used before its declaration",
        "UVM_INFO @ 0: reporter [MISCMP] 1 Miscompare(s) for object a@1 vs. b@2",
        '#@     error "index $i is out of range"',
        '  assert(t.randomize()) else $fatal("randomization failed");',
        '15  1  ***0***  `uvm_fatal(get_type_name(), "unable to get the configuration")',
        "**WARN: (IMPOPT-801): executable not found in PATH. Install it and rerun.",
        "| flat_net_error | 0 | Passed | Flat net internal error |",
        "sh: lsb_release: command not found",
        "tests/test_api.py::test_array[MemoryError-of 3] PASSED [ 12%]",
        "[gw1] [ 12%] PASSED tests/test_api.py::test_timeout_error",
        "test_memory_error (test.test_api.Errors.test_memory_error) ... ok",
    ],
)
def test_a_good_run_raises_no_alarm(text: str) -> None:
    assert label(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "# ** Failure: simulation finished with 2 errors\n#    Time: 9 us",
        "# ** Failure: test done, 3 checks failed\n#    Time: 9 us",
        "# ** Failure: end of test reached by timeout\n#    Time: 9 us",
        "# ** Failure: processor halted in error mode\n#    Time: 9 us",
    ],
)
def test_a_vhdl_failure_that_tells_of_trouble_is_one(text: str) -> None:
    assert label(text).startswith("sim_error/")
