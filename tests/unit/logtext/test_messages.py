"""From raw lines to messages: prefixes of transports, and messages of several lines."""

from __future__ import annotations

import pytest

from pytest_dvwiki.logtext.messages import assemble, strip_line
from pytest_dvwiki.patterns.registry import builtin_files

QUESTA = "** Error: top.sv(3): near 'x'"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2026-07-02T09:11:03.1234567Z # " + QUESTA, QUESTA),
        ("2026-07-02T09:11:03.123456Z 01O " + QUESTA, QUESTA),
        ("[2026-07-02T09:11:03.123Z] 09:11:03  " + QUESTA, QUESTA),
        ("##[error]" + QUESTA, QUESTA),
        ("\x1b_bk;t=1720000000000\x07" + QUESTA, QUESTA),
        ("[12/28 20:04:32     14s] **WARN: (IMPOPT-801):\tx", "**WARN: (IMPOPT-801):\tx"),
        ("[03/11 04:51:14      0] **ERROR: (IMPOAX-142):\tx", "**ERROR: (IMPOAX-142):\tx"),
        ("sim-1  | " + QUESTA, QUESTA),
        ("SBY 10:00:01 [fifo_bmc] base: top.v:3: ERROR: x", "top.v:3: ERROR: x"),
        ("SBY [fifo_bmc] DONE (FAIL, rc=2)", "DONE (FAIL, rc=2)"),
        ("Mar  1 10:00:00 farm7 make[312]: " + QUESTA, QUESTA),
        ("build\tRun tests\t2026-03-01T10:00:00.1234567Z " + QUESTA, QUESTA),
        ("2026-03-01 10:00:00,123 - runner - INFO - " + QUESTA, QUESTA),
        ("2026-03-01 10:00:00,123 - runner - ERROR - " + QUESTA, QUESTA),
        ("2026-03-01 10:00:00,123 - ERROR - KeyError: 'clk'", "KeyError: 'clk'"),
        ("2026-03-01 10:00:00,123 - ERROR - cannot continue", "- ERROR - cannot continue"),
        ("[unit-tests] " + QUESTA, QUESTA),
        ("INFO: " + QUESTA, QUESTA),
        ("WARNING: # " + QUESTA, QUESTA),
        ("ERROR: %Error: a.sv:3:1: x", "%Error: a.sv:3:1: x"),
        ("INFO:flow.run:a.v:4: syntax error", "a.v:4: syntax error"),
        ("INFO: UVM_ERROR a.sv(1) @ 2: top [ID] x", "UVM_ERROR a.sv(1) @ 2: top [ID] x"),
        ("INFO: tb.vhd:8:3:@1ns:(assertion error): x", "tb.vhd:8:3:@1ns:(assertion error): x"),
        ("INFO:      0.00ns ERROR    cocotb.tb  x", "     0.00ns ERROR    cocotb.tb  x"),
        ("DEBUG: ValueError: x", "ValueError: x"),
        ("INFO: make[1]: *** [Makefile:3: sim] Error 1", "make[1]: *** [Makefile:3: sim] Error 1"),
        ("[INFO] " + QUESTA, QUESTA),
        ("[INFO] ValueError: x", "ValueError: x"),
        ("WARNING: /usr/bin/ld: a.o: undefined reference to `x'", "/usr/bin/ld: a.o: undefined reference to `x'"),
        ("[INFO] test_wrap FAILED", "[INFO] test_wrap FAILED"),
        ("INFO: no zero-delay loop was found", "INFO: no zero-delay loop was found"),
        ("INFO: tb.v:9: done, error count 0", "INFO: tb.v:9: done, error count 0"),
        ("WARNING: ValueError: retried", "WARNING: ValueError: retried"),
        ("ERROR: [VRFC 10-2063] x", "ERROR: [VRFC 10-2063] x"),
        ("| INFO    | job0 | compile.icarus | 0 | a.v:4: syntax error", "a.v:4: syntax error"),
        ("| INFO    | job0 | ---            | - | " + QUESTA, QUESTA),
        ("| ERROR   | job0 | compile.icarus | 0 | " + QUESTA, QUESTA),
        ("2026-03-01 10:00:00.123 | INFO     | flow.run:step:12 - " + QUESTA, QUESTA),
        ("[10:00:00][INFO][job-3] [compile] a.v:4: syntax error", "a.v:4: syntax error"),
        ("# COUT: " + QUESTA, QUESTA),
        ("#" + QUESTA, QUESTA),
        ("    \t# " + QUESTA, QUESTA),
        ("    # KERNEL: Error: tb.sv (3): no ack", "KERNEL: Error: tb.sv (3): no ack"),
        ("`# " + QUESTA + "`", QUESTA),
        (QUESTA.removeprefix("** "), QUESTA),
        ("xmelab: E,CUVMUR (./top.sv,7|12): x", "xmelab: *E,CUVMUR (./top.sv,7|12): x"),
        ("**" + QUESTA + "**", QUESTA),
        ("<p># " + QUESTA + "<br></p>", QUESTA),
        ("** Error: top.sv(3): near \u2018x\u2019", QUESTA),
        (">         # " + QUESTA, QUESTA),
        ("- ./tb.v:8: sorry: not supported", "./tb.v:8: sorry: not supported"),
        (r"*\* Error: top.sv(3): near 'x'", QUESTA),
        ("\x1b[31m" + QUESTA + "\x1b[0m", QUESTA),
        ("> > " + QUESTA, QUESTA),
        ("FAILED tests/test_a.py::test_b[x - 1] - AssertionError: sum is 3", "AssertionError: sum is 3"),
        ("FAILED tests/test_a.py::test_b - AssertionError", "AssertionError"),
        ("ERROR tests/test_a.py - pkg.errors.NoDesign: dut", "pkg.errors.NoDesign: dut"),
        ("  12 | " + QUESTA, QUESTA),
        ("12: " + QUESTA, QUESTA),
        ("// " + QUESTA, QUESTA),
        ("-- " + QUESTA, QUESTA),
        ("  * xmvlog: *E,NOTDIR (a.sv,1|2): x", "xmvlog: *E,NOTDIR (a.sv,1|2): x"),
        ("`UVM_ERROR a.sv(1) @ 2: top [ID] x", "UVM_ERROR a.sv(1) @ 2: top [ID] x"),
        (
            "** Error: a.v(2): Illegal reference to &quot;q&quot; &amp; more",
            '** Error: a.v(2): Illegal reference to "q" & more',
        ),
    ],
)
def test_what_a_transport_puts_in_front_is_taken_off(line: str, expected: str) -> None:
    assert strip_line(line + "\r") == expected


@pytest.mark.parametrize(
    "line",
    [
        "-- a comment of VHDL",
        "** TESTS=1 PASS=1 **",
        "[error] bus model stopped",
        "*****",
        "<nonstd::x>",
        "12 errors",
        "a | b",
        "| INFO | a | b |",
        "INFO | a message",
        "ERROR   | job0 | compile.icarus | 0 | Command failed with code 2.",
        "[INFO] a message",
        "[ERROR] [job0] a message",
        "&&",
        "* item",
        "> ",
        "1: note",
        "FAILED tests/test_a.py::test_b - assert 0 == 1",
        "FAILED tests/test_a.py::test_b",
    ],
)
def test_other_lines_keep_their_words(line: str) -> None:
    words = strip_line(line)
    assert line.endswith(words)
    assert words or line == "> "


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        (
            [
                "** Error: ** while parsing file included at a.sv(1)",
                "** at b.svh(2): (vlog-2730) Undefined variable: 'q'.",
            ],
            "** Error: ** while parsing file included at a.sv(1) ** at b.svh(2): (vlog-2730) Undefined variable: 'q'.",
        ),
        (
            ["=E:[UnresolvedModule]:", "    Unable to find definitions for", "    fifo_ctl", "", "done"],
            "=E:[UnresolvedModule]: Unable to find definitions for fifo_ctl",
        ),
        (["=E:[$error call] chk.sv:165", "ack came early", "", "done"], "=E:[$error call] chk.sv:165 ack came early"),
        (
            ["xmsim: *E,ERRSEV (./chk.sv,31): (time 120 NS).", "tb.u_chk", "unexpected grant"],
            "xmsim: *E,ERRSEV (./chk.sv,31): (time 120 NS). tb.u_chk unexpected grant",
        ),
        (
            ["xmsim: *E,ERRSEV (./chk.sv,31): (time 120 NS).", "xmsim: *W,RNQUIE: Simulation is complete."],
            "xmsim: *E,ERRSEV (./chk.sv,31): (time 120 NS).",
        ),
        (
            ["Error-[SE] Syntax error", "  Following verilog source has syntax error :", "Warning-[X] y"],
            "Error-[SE] Syntax error Following verilog source has syntax error :",
        ),
        (
            ["Error-[SE] Syntax error", "  Please fix this error.", "make[1]: *** [Makefile:80: simv] Error 1"],
            "Error-[SE] Syntax error Please fix this error.",
        ),
        (
            ["UVM_ERROR a.sv(1) @ 2: top [ID] item differs", "  expected 3", "  UVM_INFO b.sv(1) @ 3: top [X] y"],
            "UVM_ERROR a.sv(1) @ 2: top [ID] item differs expected 3",
        ),
        (
            ["UVM_FATAL @ 5 ps: (a.sv:147)", "[top.seq] timeout occurred!", "[other] line"],
            "UVM_FATAL @ 5 ps: (a.sv:147) [top.seq] timeout occurred!",
        ),
        (
            ["UVM_FATAL drv.sv(138) @ 0:", "cannot get() the bfm", "next"],
            "UVM_FATAL drv.sv(138) @ 0: cannot get() the bfm",
        ),
        (
            ["UVM_ERROR sb.sv(58) @ 41000: top.sb [SB]", "expected 3", "  got 4", "next"],
            "UVM_ERROR sb.sv(58) @ 41000: top.sb [SB] expected 3 got 4",
        ),
        (
            ["UVM_ERROR sb.sv(58) @ 41000: top.sb [SB]", "UVM_INFO a.sv(1) @ 42000: top [A] b"],
            "UVM_ERROR sb.sv(58) @ 41000: top.sb [SB]",
        ),
        (
            ['Fatal: "tb.sv", 8: tb: at time 25 ns', "no done", "next"],
            'Fatal: "tb.sv", 8: tb: at time 25 ns no done',
        ),
        (["Compiling into lib: a.vhd", "        failed", "more"], "Compiling into lib: a.vhd failed"),
        (
            ["** Error: Wrong answer (7).", "   Expected 2, got 0.", "   Time: 5 ns  File: a.sv Line: 4", "  next"],
            "** Error: Wrong answer (7). Expected 2, got 0. Time: 5 ns File: a.sv Line: 4",
        ),
        (["** Error: Wrong answer (7).", "   Sent packet 8.", "next"], "** Error: Wrong answer (7)."),
        (
            ["** Error: Assertion error.", "   Time: 5 ns  File: a.sv Line: 4", "next"],
            "** Error: Assertion error. Time: 5 ns File: a.sv Line: 4",
        ),
        (
            [
                "** Error: c:/work/tb/chk_if.sv(57): the compiler has encountered an",
                "   internal error: ../src/gen.c(9).",
                "next",
            ],
            ("** Error: c:/work/tb/chk_if.sv(57): the compiler has encountered an internal error: ../src/gen.c(9)."),
        ),
        (
            [
                "ncelab: *E,PCPSBT (./design/fifo/fifo.sv,51|8): A primitive 'output' terminal is to",
                "//         be connected to a single bit actual.",
            ],
            (
                "ncelab: *E,PCPSBT (./design/fifo/fifo.sv,51|8): A primitive 'output' terminal is to"
                " be connected to a single bit actual."
            ),
        ),
        (
            [
                '** Error: c:/work/tb/chk_if.sv(57): near "endtask": syntax error, unexpected endtask',
                "make: *** [Makefile:9: sim] Error 2",
            ],
            '** Error: c:/work/tb/chk_if.sv(57): near "endtask": syntax error, unexpected endtask',
        ),
        (
            [
                "    UVM_ERROR ../env/slave_monitor.sv(36) @ 9200: uvm_test_top.env.agt.mon",
                "    [MON] cannot get the configuration that the test had to set before the",
                "    component was built",
                "    xmsim: *E,ASRTST (./tb.sv,40): (time 120 NS) Assertion tb.a has failed",
            ],
            (
                "UVM_ERROR ../env/slave_monitor.sv(36) @ 9200: uvm_test_top.env.agt.mon [MON]"
                " cannot get the configuration"
                " that the test had to set before the component was built"
            ),
        ),
        (["** Error: no such thing", "     > tb.vhd:14", "     |"], "** Error: no such thing > tb.vhd:14"),
        (["ImportError: no", "     0.00ns ERROR    gpi    Passing event failed"], "ImportError: no"),
    ],
)
def test_a_message_that_a_tool_spreads_over_lines_is_one(lines: list[str], first: str) -> None:
    assert assemble(lines)[0].text == first


def test_tables_of_codes_stand_before_words_and_catch_alls_last() -> None:
    order = list(builtin_files())
    codes = [order.index(name) for name in order if name.endswith("_codes")]
    words = [order.index(name) for name in ("environment", "uvm", "questa", "vcs", "xcelium", "xsim", "hdl")]
    assert max(codes) < min(words)
    assert order[-2:] == ["fallback", "generic"]
    assert max(words) < order.index("fallback")


def test_what_a_testbench_prints_below_a_message_is_none_of_it() -> None:
    lines = [
        "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] packet 7 was lost between driver and monitor",
        "sent packet 8",
        "dut.sv:2: error: Unknown module type: some_module_with_a_long_name_of_its_own",
        "dut.sv:3: error: Unknown module type: other",
    ]
    assert [message.text for message in assemble(lines)] == lines


def test_a_count_of_uvm_is_no_text_of_vcs() -> None:
    lines = ["Error-[VCS_COM_UNE] Cannot find VCS compiler", "UVM_ERROR : 0"]
    assert [message.text for message in assemble(lines)] == lines


def test_an_exception_that_shows_a_tool_s_messages_holds_only_the_first() -> None:
    shown = ["RuntimeError: build failed:", "%Error: a.sv:3:1: syntax error", "%Error: Exiting due to 1 error(s)"]
    texts = [message.text for message in assemble([f"E       {line}" for line in shown])]
    assert texts == ["RuntimeError: build failed: %Error: a.sv:3:1: syntax error", "%Error: Exiting due to 1 error(s)"]


def test_an_exception_in_an_indented_log_ends_at_the_next_line_of_the_log() -> None:
    lines = ["\tModuleNotFoundError: No module named 'tb'", "\t     0.00ns ERROR    gpi          initialization failed"]
    assert next(message.text for message in assemble(lines)) == "ModuleNotFoundError: No module named 'tb'"
