"""Texts of many tools, as people paste them: their labels, and texts that are no failure."""

from __future__ import annotations

import pytest

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.reading import TextClassifier

DEEP = " " * 56

FAILURES = {
    "a source line of a traceback that ends in passed": (
        (
            "    90.00ns WARNING  cocotb.Test t.t                    assert False\n"
            f"{DEEP}Traceback (most recent call last):\n"
            f'{DEEP}  File "/w/tb/testbench.py", line 150, in check_phase\n'
            f"{DEEP}    assert passed\n"
            f"{DEEP}AssertionError: assert False"
        ),
        "sim_error/assertion_fail",
    ),
    "xcelium with the source above": (
        (
            "  fifo #(32) u0 (.*);\n              |\n"
            "xmelab: *E,CUVMUR (./tb.sv,15|14): instance 'tb.u0' of design unit 'fifo' is unresolved in 'w.tb:sv'.\n"
            "xrun: *E,ELBERR: Error during elaboration (status 1), exiting."
        ),
        "elaboration_error/unresolved_reference",
    ),
    "xcelium fault after its roll-up": (
        (
            "xrun: *E,VLGERR: An error occurred during parsing.\n"
            "xmvlog: *E,UNDIDN (a.sv,9|12): 'q': undeclared identifier."
        ),
        "compile_error/undeclared_identifier",
    ),
    "vcs in a quote": (
        "> Error-[MPD] Module previously declared\n>   Previously declared at: a.v, 1",
        "compile_error/duplicate_declaration",
    ),
    "vcs over lines": (
        "Error-[SE] Syntax error\n  Following verilog source has syntax error :\n  tb.sv, 12: token is 'endmodule'\n",
        "compile_error/syntax_error",
    ),
    "text of a $fatal under its head": (
        'Fatal: "tb.sv", 88: tb: at time 255000 ns\nTIMEOUT, no done seen\n$finish at simulation time 255000',
        "sim_error/timeout",
    ),
    "check of vcs that meets an x": (
        'Error: "chk.sv", 9: tb.chk: at time 35 ns\nexpected 3 got x',
        "sim_error/x_propagation",
    ),
    "report of VHDL in xcelium": (
        "ASSERT/FAILURE (time 40 NS) from process :tb:stim (architecture worklib.tb:sim)\nexpected 3 got 4",
        "sim_error/scoreboard_fail",
    ),
    "file that the run does not find": (
        '# RUNTIME: Fatal Error: RUNTIME_0048 rom.vhd (28): Cannot open file "rom.bin"',
        "sim_error/missing_file",
    ),
    "values above the time of questa": (
        "** Error: Incorrect 'hrdata' (transaction 160).\n   Expected 2, got 0.\n   Time: 169420 ns  Scope: tb.bfm",
        "sim_error/scoreboard_fail",
    ),
    "riviera that only warns of a randomize": (
        "# RCKERNEL: Warning: RC_0024 tb.sv(21): Randomization failed. The condition of randomize cannot be satisfied.",
        "sim_error/constraint_fail",
    ),
    "randomize that failed under an assertion": (
        (
            "# ** Error: Assertion error.\n#    Time: 0 ns  Scope: tb File: tb.sv Line: 41\n"
            "# tb.sv(41): randomize() failed due to conflicts between the following constraints:"
        ),
        "sim_error/constraint_fail",
    ),
    "VHDL that is stopped by an error": (
        "# ** Failure: Simulation stopped: wrong parity\n#    Time: 90 us  Iteration: 0  Process: /tb/p File: tb.vhd",
        "sim_error/assertion_fail",
    ),
    "a comparison in two bases": ("ERROR: expected 0x10 got 0x11", "sim_error/scoreboard_fail"),
    "a crash as the shell tells it": (
        "run.sh: line 3: 4711 Illegal instruction     (core dumped) ./simv",
        "tool_error/simulator_crash",
    ),
    "assertion far from a randomize": (
        "# ** Error: Assertion error.\n#    Time: 0 ns  Scope: tb.dut.a File: a.sv Line: 4\n"
        + "# still running\n" * 20
        + "# tb.sv(41): randomize() failed due to conflicts between the following constraints:",
        "sim_error/assertion_fail",
    ),
    "words of any tool before a mere prohibition": (
        "Error-[ZZQQ] Illegal use\n  a.sv, 5\n  'WIDTH' is a constant and cannot be assigned",
        "compile_error/illegal_assignment",
    ),
    "count of a step after one without a class": (
        "# Error in macro ./run.do line 6\n# Errors: 2, Warnings: 0\n# ** Error: /opt/q/vlog failed.",
        "compile_error/unknown",
    ),
    "questa with prefix and detail": (
        "# ** Error: (vsim-10142) tb.a_ack:\n#    Time: 30 ns  Scope: tb File: tb.sv Line: 42",
        "sim_error/assertion_fail",
    ),
    "questa by words alone": (
        "# ** Error: tb.sv(26): 'pkt' is an unknown type.\n# Errors: 1, Warnings: 0",
        "compile_error/undeclared_identifier",
    ),
    "riviera's prefix": (
        "# KERNEL: UVM_FATAL /x/base.sv(12) @ 0: uvm_test_top [NO_CFG] cfg missing",
        "uvm_fatal/config_db_missing",
    ),
    "first of many": (
        (
            "UVM_ERROR sb.sv(2) @ 5: top.sb [SB] expected 3 got 4\n"
            "UVM_FATAL t.sv(9) @ 9: top [PH_TIMEOUT] Default timeout of 9 hit\nUVM_ERROR :    1\nUVM_FATAL :    1"
        ),
        "uvm_error/scoreboard_fail",
    ),
    "only a summary": ("** Report counts\nUVM_ERROR :    8\nUVM_FATAL :    0", "uvm_error/unclassified_message"),
    "cocotb 1.x": (
        (
            "   110.00ns INFO     cocotb.regression                  test_a failed\n"
            f"{DEEP}Traceback (most recent call last):\n"
            f'{DEEP}  File "/x/test.py", line 22, in test_a\n'
            f"{DEEP}    assert dut.q.value == model(dut.a.value)\n"
            f"{DEEP}AssertionError: assert 3 == 4"
        ),
        "sim_error/scoreboard_fail",
    ),
    "raised from": (
        (
            "0.00ns ERROR    Test Failed: t (result was RuntimeError)\nTraceback (most recent call last):\n"
            '  File "t.py", line 1, in f\n    int(dut.q.value)\n'
            "ValueError: Unresolvable bit in binary string: 'x'\n\n"
            "The above exception was the direct cause of the following exception:\n\n"
            "Traceback (most recent call last):\n"
            '  File "t.py", line 3, in f\n    raise RuntimeError("read failed") from e\nRuntimeError: read failed'
        ),
        "sim_error/x_propagation",
    ),
    "translated": (
        (
            "Traceback (most recent call last):\n"
            "  File \"t.py\", line 1, in f\n    d[k]\nKeyError: 'SEQR'\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            "Traceback (most recent call last):\n"
            '  File "t.py", line 3, in f\n    get()\nUVMConfigItemNotFound: "Component x has no key: SEQR"'
        ),
        "uvm_error/config_db_missing",
    ),
    "raised warning": (
        "%Warning-WIDTHTRUNC: dut.sv:15:12: Operator ASSIGN expects 4 bits\n%Error: Exiting due to 1 warning(s)",
        "compile_error/width_mismatch",
    ),
    "cut off": ("xmvlog: *E,EXPSMC (dut.sv,16|8): expecting a semicol", "compile_error/syntax_error"),
    "job": (
        "slurmstepd: error: *** JOB 4411 ON n7 CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***",
        "tool_error/cut_short",
    ),
    "a code before words of another cause": (
        "** Error: (vlog-2892) top.v(12): Net type of 'clk' was not explicitly declared.",
        "compile_error/undeclared_identifier",
    ),
    "questa's included file": (
        (
            "** Error: ** while parsing file included at env_pkg.sv(9)\n"
            '** at drv.svh(22): (vlog-13069) near "endtask": syntax error, unexpected endtask.'
        ),
        "compile_error/syntax_error",
    ),
    "xcelium's words below": (
        "xmsim: *F,FATSEV (./top.sv,77): (time 0 FS).\ntb_top\nillegal configuration",
        "sim_error/assertion_fail",
    ),
    "an unknown code of the compiler": ("xmvlog: *SE,QQQQQQ (a.sv,1|2): strange tidings.", "compile_error/unknown"),
    "an unknown code of the elaborator": (
        "ncelab: *E,QQQQQQ (a.sv,1|2): strange tidings.",
        "elaboration_error/unknown",
    ),
    "an unknown code of the driver": ("irun: *F,QQQQQQ: strange tidings.", "tool_error/unknown"),
    "an unknown code of vopt": ("** Error: (vopt-99999) a.sv(1): strange tidings.", "elaboration_error/unknown"),
    "german": (
        "dpi.c:3:10: schwerwiegender Fehler: svdpi.h: Datei oder Verzeichnis nicht gefunden\nmake: *** [a] Fehler 1",
        "compile_error/missing_file",
    ),
    "french": ("bash: vsim : commande introuvable\nmake: *** [sim] Erreur 127", "tool_error/tool_not_found"),
    "chinese": ("bash: vsim: 未找到命令", "tool_error/tool_not_found"),
    "a status in any language": ("make: *** [Makefile:8: sim] Błąd 127", "tool_error/tool_not_found"),
    "dsim": ("=E:[IllegalAssign]: a.sv:5:3: cannot assign to input 'q'", "compile_error/illegal_assignment"),
    "svunit": (
        'ERROR: [600][apb_ut]: fail_unless_equal: "rdata" !== "5" (at ./apb_unit_test.sv line:120)',
        "sim_error/scoreboard_fail",
    ),
    "cocotb 1's verdict alone": (
        "  100.00ns ERROR    cocotb.regression  Test Failed: alu_test (result was TypeError)",
        "python_error/type_error",
    ),
    "an exception named by the testbench": (
        "cocotb.drivers.amba.AXIProtocolError: Read address 0x00000004 failed with RRESP: 2",
        "sim_error/protocol_violation",
    ),
    "killed": ("/opt/vcs/bin/vcs: line 8256: 73552 Killed                  vcs1 -Mcc=gcc", "tool_error/cut_short"),
    "a traceback whose exception no pattern knows": (
        'Traceback (most recent call last):\n  File "t.py", line 1, in f\n    go()\nvendor.Oddity',
        "python_error/unknown",
    ),
    "a traceback that ends in a roll-up": (
        (
            f'{DEEP}Traceback (most recent call last):\n{DEEP}  File "t.py", line 1, in f\n{DEEP}    go()\n'
            f"{DEEP}RuntimeError: UVM_FATAL: no more items"
        ),
        "uvm_fatal/unclassified_message",
    ),
    "an exception that a library defines": (
        'Traceback (most recent call last):\n  File "t.py", line 1, in f\n    go()\nvendor.NoSlotError: 3',
        "python_error/runtime_error",
    ),
    "an assertion that reports through UVM": (
        "\tOffending '(a == b)'\nUVM_ERROR @ 15 ps: (cnt_if.sv:21) [ASSERT FAILED] CntMatches_A",
        "uvm_error/assertion_fail",
    ),
    "cocotb without its Python": (
        "     -.--ns ERROR    gpi    gpi_embed.cpp:162  in embed_init   Failed to find Python shared library",
        "tool_error/tool_not_found",
    ),
    "words of an HDL tool in what a testbench logs": (
        (
            "    12.00ns ERROR    cocotb.tb    port 3 is not connected\n"
            "    12.00ns INFO     cocotb.regression    m.t failed\n"
            f'{DEEP}Traceback (most recent call last):\n{DEEP}  File "t.py", line 1, in f\n{DEEP}    go()\n'
            f"{DEEP}KeyError: 3"
        ),
        "python_error/key_error",
    ),
    "nvc at a place in the source": (
        "** Error: strange tidings\n     > tb.vhd:14\n     |\n  14 |  signal x",
        "compile_error/unknown",
    ),
    "a task's arguments": (
        "ERROR: tb.v:6: $isunknown's argument must be numeric.",
        "compile_error/illegal_construct",
    ),
    "an assert of the tool": (
        "nvc: ../src/lower.c:1924: lower_fcall: Assertion `tree_params(fcall) == 2' failed.",
        "tool_error/simulator_crash",
    ),
    "a test that was to fail as the simulation had ended": (
        (
            "    30.00ns WARNING  cocotb.regression                  m.t failed\n"
            f"{DEEP}cocotb.regression.SimFailure: the simulation ended prematurely\n"
            "    30.00ns WARNING  cocotb.regression                  m.u failed: errored with unexpected type\n"
            f"{DEEP}cocotb.regression.SimFailure: the simulation ended prematurely"
        ),
        "sim_error/simulation_ended_early",
    ),
    "a proof of a model checker": (
        (
            "Using MiniSAT 2.2.1\n[top.assume.1] always top.en == 1'b1: ASSUMED\n"
            "[top.assert.1] always top.a + top.b == top.sum: REFUTED\n[top.cover.1] cover top.a == 0: PROVED"
        ),
        "sim_error/assertion_fail",
    ),
    "a compiler in Haskell with its stack": (
        (
            "<no location info>: error:\n    Clash error call:\n    Clash.Netlist(90): no match\n"
            "    CallStack (from HasCallStack):\n      error, called at src/Clash/Netlist.hs:90:9 in clash-lib\n"
        ),
        "tool_error/simulator_crash",
    ),
    "sv2v with its stack": (
        "sv2v: cannot resolve q\nCallStack (from HasCallStack):\n  error, called at src/Convert.hs:12:3 in main:X",
        "compile_error/unknown",
    ),
    "an object of the testbench": (
        "AttributeError: 'RandomObject' object has no attribute 'seed'",
        "python_error/attribute_error",
    ),
    "bluespec with its text below": (
        (
            'compiling Top.bsv\nError: "Vectors.bsv", line 46, column 6: (S0015)\n'
            "  Bluespec evaluation-time error: index 10 out-of-range (array update)\n"
            '  During elaboration of the body of rule `set\' at "Top.bsv", line 17,\n  column 7.\n'
        ),
        "elaboration_error/index_out_of_range",
    ),
    "bluespec in its own words": ('Error: "Top.bsv", line 12, column 7: (T0999)\n  Tidings\n', "compile_error/unknown"),
    "a construct that circt does not lower": (
        "top.mlir:5:10: error: 'seq.firreg' op only synchronous resets are currently supported\n    %r = seq.firreg",
        "compile_error/unsupported_construct",
    ),
    "a command that only failed": (
        (
            "ERROR: [Synth 8-6156] failed synthesizing module 'top' [top.sv:5]\nsynth_design failed\n"
            "ERROR: [Common 17-69] Command failed: Synthesis failed - please see the console"
        ),
        "unknown/unknown",
    ),
    "a code of vivado that is no elaboration": (
        "ERROR: [Common 17-55] 'set_property' expects at least one object.\nResolution: check the command",
        "unknown/unknown",
    ),
    "an option that vitis refuses": (
        "INFO: [HLS 200-1510] Running: config_rtl -x none\nERROR: [HLS 200-101] 'config_rtl': Unknown option '-x'.",
        "tool_error/tool_not_found",
    ),
    "constraints of pins": (
        "ERROR  (CT1136) : Bank 6 vccio(3.3) is locked by other constraint or port, conflicting BANK_VCCIO set by 'q'",
        "unknown/unknown",
    ),
    "a port of the constraints": (
        "ERROR  (CT1108) : \"C:\\w\\top.cst\":11 | Illegal port attribute value specified on 'q'",
        "unknown/unknown",
    ),
    "a cell without a place": (
        "ERROR: Unable to find legal placement for cell 'u0' after 100 attempts\n0 warnings, 1 error",
        "unknown/unknown",
    ),
    "a step of a script": (
        "top/blink\t\tError: Executable yosys failed\n\treturncode  :  1\nfailed: Executable yosys failed (took 0.1 s)",
        "unknown/unknown",
    ),
    "a sum of test suites": (
        "Failure in testsuite: 'all' classname: 'test_a' testcase: 'walk' with parameters 'all'",
        "unknown/unknown",
    ),
    "a sum of osvvm": (
        "Build Finish time 16:30:18\nBuildError: Demo FAILED,  Passed: 0,  Failed: 11,  Skipped: 0",
        "unknown/unknown",
    ),
    "a step that a test in scala calls": (
        (
            "[info] - adds *** FAILED ***\n"
            "[info]   java.lang.AssertionError: assertion failed: verilator command failed on circuit Adder in t\n"
        ),
        "unknown/unknown",
    ),
    "limit of cycles below its head": (
        'Error: "tb.sv", 468: tb.u0: at time 20000 ps\nHit max cycle count (20000) .. stopping',
        "sim_error/timeout",
    ),
    "words of an assertion without a value": (
        "[0] %Fatal: a.svh:50: Assertion failed in TOP.pkg.find: Expected the filter to be of the type '<a>.<b>'",
        "sim_error/assertion_fail",
    ),
    "actual and expected in brackets": (
        "  58k cycles total\nFAIL -124 (actual) != -128 (expected) ***\nFAIL Golden tests failed",
        "sim_error/scoreboard_fail",
    ),
    "a part of cocotb that another version has": (
        (
            'Traceback (most recent call last):\n  File "/v/site-packages/cocotbext/axi/stream.py", line 68, in f\n'
            "    return cls(entity)\nAttributeError: 'HierarchyObject' object has no attribute '_entity'"
        ),
        "python_error/attribute_error",
    ),
    "cocotb's makefiles without their folder": (
        "/w/makefiles/Makefile.inc:54: /makefiles/Makefile.paths: No such file or directory",
        "tool_error/missing_file",
    ),
}

NEVER_AWAITED = "    35.00ns WARNING  py.warnings  bfm.py:18: RuntimeWarning: coroutine 'Bfm.send' was never awaited"

PASSING = {
    "a coroutine that was never awaited": NEVER_AWAITED,
    "the same in a cocotb test that passes": (
        "     0.00ns INFO     cocotb.regression                  running m.t (1/1)\n"
        f"{NEVER_AWAITED}\n"
        "    40.00ns INFO     cocotb.regression                  m.t passed"
    ),
    "notes of a wave dumper": "ANF: dump_status('./simv: undefined symbol: dump_status')",
    "warning that names $fatal": "WARNING: [VRFC 10-8967] first argument of $fatal is invalid; expected 0, 1 [a.sv:5]",
    "source in a report of coverage": '  15   1   ***0***   `uvm_fatal("CFG", "Unable to obtain config at driver")',
    "echoed commands": 'grep -q "TEST FAILED" run.log\nrm -f fatal.log\nmake: [clean] Error 1 (ignored)',
    "none": "Assertion coverage: 14 of 14 assertions hit, none failed\nDRC errors: none\ntotal 14, failed 0, passed 14",
    "a timeout that is tested": "  ... timeout event generated at 500 us\nPASS: test_timeout_recovery",
    "a warning of the testbench": "   900.00ns WARNING  cocotb.eth.rx    Received frame with bad FCS (expected)",
    "counts of zero": "UVM_ERROR : 0\nUVM_FATAL : 0\nTEST PASSED",
    "counts of zero in German and French": "# Fehler: 0, Warnungen: 3\nErreurs : 0",
    "words of a limit": "Test timeout set to 100us\nError count: 0",
    "names": "Running error_injection_test\nerror_injection_test PASSED\nmodule worklib.error_ctrl:sv",
    "equal values": "Expected 3, received 3\nREAD addr=0x10 exp=0x05 act=5\nexpected: 00000005, actual: 32'h5",
    "settings and counts by the names of failures": (
        "AckTimeout: 100 us\nFrameError: 0\nTIMEOUT = 10000\nError: 1.2e-5\n--error-limit=5\nfailed: []\nerror: null\n"
        "Assertion Successes: 10 Failures: 0\npassed 10 failed 0\nInjected 5 errors\nrx errors = 3"
    ),
    "traps of a processor": (
        "core   0: exception trap_illegal_instruction, epc 0x80000010\nillegal instruction exception\n"
        "bus error interrupt\nfloating point exception flags: 00"
    ),
    "failures that were asked for": "timeout occurred as expected\nERROR (expected)\nWatchdog timeout detected - PASS",
    "VHDL that ends by a failure": "\n".join(
        f"# ** Failure: {words}\n#    Time: 90 us  Iteration: 0  Process: /tb/p File: tb.vhd"
        for words in ("Simulation stopped", "OK end of the simulation", "Fin", "not an error", "Ende der Simulation")
    ),
    "a warning that another tool passes on": "ModelSim-Altera Warning: # ** Warning: Could not open WLF file: vsim.wlf",
    "tidying up": (
        "rm: cannot remove 'sim_build': No such file or directory\nfatal: not a git repository\n"
        "-- Could NOT find Doxygen (missing: DOXYGEN_EXECUTABLE)"
    ),
    "warnings": "# ** Warning: (vsim-3015) port size error-prone\nxmvlog: *W,FAILX (a.sv,1|1): assertion may fail",
    "prose": (
        "|  Rows do not match library sites. Placer will  |\n|  fail since row site must match cell site.  |\n"
        "  - check the index before the access to\n    prevent segmentation fault.\n"
        "    [-wait <integer>]:\n        queue wait timeout in minutes"
    ),
    "notes of implementation tools": (
        "[12/28 20:04:32     14s] -reset**WARN: (IMPOPT-801):\tGenus executable not found in PATH.\n"
        "**WARN: (IMPFP-3108):\tThe IOs will move because of not enough space to accommodate the IOs.\n"
        "**INFO: (TMPDIR-1001):\tThe environment variable TMPDIR is not set.\n"
        'This command "timeDesign -signoff" required an extra checkout of license tpsxl.\n'
        "  phase2 maze routing failed: 1 connection remains to try\n"
        "[InitialPlace]  Iter: 1 CG Error: 0.00044947 HPWL: 147221700\nABC: Error: The network is combinational.\n"
        " Failed clocks set      Related clocks\n1.0.N: Exited with Success (@ 134.29 s)"
    ),
    "a measured error": (
        "Percentage error: 2.384e-05\nrelative error: 3 %\n  Relative error : 5 digits\n"
        "Test passed for A=3 B=4, error=100100\nthe error is below the limit of 0.01"
    ),
    "an echoed command of Tcl": 'if {![info exists ::env(DIR)]} {\n    puts "ERROR: DIR is not set."\n    exit 2\n}',
    "words that begin like exp": (
        'Found ringing on node M5. {"history": "ExplorerRun.0"}\nLIB=found /export/lib.so\n'
        r"Found and cleaned up 1 empty switch in `\exp_fixed_point.$proc$design.v:295$2'."
    ),
    "noise of a passing cocotb test": (
        "     0.00ns INFO     cocotb.regression                  running m.t (1/1)\n"
        "ERROR: dut.sv:29: q reached 3\n       Time: 30 Scope: dut\n"
        "    20.00ns ERROR    cocotb.tb                          mismatch: expected 3 got 4\n"
        "    60.00ns INFO     cocotb.regression                  m.t passed"
    ),
    "expected failure": (
        "    90.00ns INFO     cocotb.regression                  m.t passed: failed as expected (result was KeyError)\n"
        f"{DEEP}Traceback (most recent call last):\n{DEEP}KeyError: 'a'"
    ),
    "a VHDL testbench that ends by an error": (
        "** Note: 90us+0: Report Note: ok\n** Fatal: 90us+0: Assertion Error: *** End of test ***\n     > tb.vhd:114"
    ),
    "empty": "",
}


@pytest.fixture(scope="module")
def classifier() -> TextClassifier:
    return TextClassifier(load_registry())


@pytest.mark.parametrize("given", FAILURES.values(), ids=FAILURES)
def test_a_failure_is_named(classifier: TextClassifier, given: tuple[str, str]) -> None:
    text, wanted = given
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert f"{verdict.error_class}/{verdict.failure_subtype}" == wanted
    assert verdict.line is not None
    assert " ".join(text.split("\n")[verdict.line - 1].strip(" >#").split())[:15] in verdict.primary


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("assert dut_word == model_word, 'wrap'", "scoreboard_fail"),
        ('raise SimTimeoutError(f"no ack in {limit} ns")', "timeout"),
    ],
)
def test_a_traceback_that_was_cut_off_is_named_by_its_last_statement(
    classifier: TextClassifier, statement: str, wanted: str
) -> None:
    frame = f'{DEEP}  File "/w/test_fifo.py", line 31, in test_wrap\n{DEEP}    {statement}'
    verdict = classifier.classify_text(
        f"{DEEP}Traceback (most recent call last):\n{frame}\n  50.00ns INFO  cocotb  x\n"
    )
    assert verdict is not None
    assert (verdict.error_class, verdict.failure_subtype) == ("sim_error", wanted)


@pytest.mark.parametrize("text", PASSING.values(), ids=PASSING)
def test_a_passing_text_is_no_failure(classifier: TextClassifier, text: str) -> None:
    assert classifier.classify_text(text) is None


def test_noise_of_a_passing_test_does_not_name_the_failing_one(classifier: TextClassifier) -> None:
    failing = (
        "    60.00ns INFO     cocotb.regression                  running m.u (2/2)\n"
        "    70.00ns WARNING  cocotb.regression                  m.u failed\n"
        f"{DEEP}Traceback (most recent call last):\n{DEEP}AssertionError: assert 1 == 2"
    )
    noise = PASSING["noise of a passing cocotb test"]
    verdict = classifier.classify_text(f"{noise}\n{failing}")
    assert verdict is not None
    assert verdict.primary == "AssertionError: assert 1 == 2"


def test_the_source_that_a_traceback_shows_is_no_message(classifier: TextClassifier) -> None:
    frame = 'Traceback (most recent call last):\n  File "/w/test_fifo.py", line 31, in setup\n'
    source = '    except KeyError: raise ValueError(f"no mode {name}")\n'
    verdict = classifier.classify_text(f"{frame}{source}ValueError: no mode fast\n")
    assert verdict is not None
    assert (verdict.failure_subtype, verdict.line, verdict.primary) == ("value_error", 4, "ValueError: no mode fast")


ENTRY = '  File "/home/me/.local/bin/fusesoc", line 8, in <module>\n    sys.exit(main())\n'
INSTALLED = (
    '  File "/v/lib/python3.11/site-packages/edalize/edatool.py", line 198, in configure\n    self.configure_main()\n'
)
OWN = '  File "/w/tb/build.py", line 9, in build\n    tool.configure()\n'
HEAD = "Traceback (most recent call last):\n"
THEN = "KeyError: 'kind'\n\nDuring handling of the above exception, another exception occurred:\n\n"


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        (f"{HEAD}{ENTRY}{INSTALLED}KeyError: 'file_type'", "UNKNOWN"),
        (f"{HEAD}{ENTRY}{INSTALLED}", "UNKNOWN"),
        (f"{HEAD}{INSTALLED}{THEN}{HEAD}{INSTALLED}TypeError: unhashable type: 'list'", "UNKNOWN"),
        (f"{HEAD}{OWN}{INSTALLED}KeyError: 'file_type'", "TB_BUG"),
        (f"{HEAD}{OWN}{THEN}{HEAD}{INSTALLED}TypeError: unhashable type: 'list'", "TB_BUG"),
        ("KeyError: 'file_type'", "TB_BUG"),
    ],
    ids=["a tool", "cut off", "a chain in libraries", "called by the testbench", "a chain with the testbench", "bare"],
)
def test_code_of_tools_and_libraries_alone_is_no_testbench(classifier: TextClassifier, text: str, origin: str) -> None:
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert verdict.origin.type == origin


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            (
                "UVM_ERROR (sb.sv:24) [sb] Check failed rdata == value (* [*] vs * [*]) has 5 failures:\n\n"
                "    Test csr_rw has 5 failures.\n        0.csr_rw.6697\n\n"
                "          UVM_ERROR @ 185 ps: (sb.sv:24) [uvm_test_top.env.sb] Check failed rdata == value (31 vs 0)"
            ),
            6,
        ),
        (
            (
                "[info] - static circuits *** FAILED ***\n[info]   java.lang.RuntimeException: no counter in Top.cpp\n"
                "[error] Failed: Total 136, Failed 20, Errors 0, Passed 116"
            ),
            2,
        ),
        ("clash: panic! (the 'impossible' happened)\n  error, called at src/Netlist.hs:90:16 in main:Netlist", 1),
    ],
    ids=["a bucket", "an exception of a test", "a frame"],
)
def test_a_sum_is_not_taken_for_its_cause(classifier: TextClassifier, text: str, line: int) -> None:
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert verdict.line == line


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("dlopen failed", "Install the library or "),
        ("./simv: symbol lookup error: ./libdpi.so: undefined symbol: dpi_read", "Rebuild the library and "),
        ("Makefile.inc:54: /makefiles/Makefile.paths: No such file or directory", "Include `$(shell cocotb-config "),
        ("AttributeError: 'LogicArrayObject' object has no attribute 'binstr'", "Install the version of cocotb, "),
        ("top.sv:5:36: error: reading a net during initialization unsupported", "Rewrite it in the subset "),
    ],
)
def test_a_hint_fits_what_the_message_names(classifier: TextClassifier, text: str, fix: str) -> None:
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert verdict.fix is not None
    assert verdict.fix.startswith(fix)


def test_a_type_that_a_tool_lacks_is_no_fault_of_the_design(classifier: TextClassifier) -> None:
    verdict = classifier.classify_text("Error E04: Could not resolve type: 'Verilated.Accelerator'.\nAt top.repl:24:7:")
    assert verdict is not None
    assert verdict.origin.type == "UNKNOWN"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<no location info>: error:\n    Clash error call:\n    Clash.Rewrite.Util(409): q not found", "q not found"),
        (
            "clash: panic! (the 'impossible' happened)\n  (GHC version 9.4.7 for x86_64):\n\tno type of q",
            "no type of q",
        ),
        ("Invariant check failed\nFile: a.h:18 function: get\nCondition: q!=nullptr\nReason: set it", "q!=nullptr"),
    ],
    ids=["clash", "ghc", "ebmc"],
)
def test_a_crash_is_told_with_the_line_that_tells_it_from_others(
    classifier: TextClassifier, text: str, told: str
) -> None:
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert verdict.failure_subtype == "simulator_crash"
    assert told in verdict.primary
