"""One cause per check: reports of generated checkers and bare asserts, as a log shows them, over many seeds."""

from __future__ import annotations

import random

import pytest

from pytest_dvwiki.fingerprint import fingerprint
from pytest_dvwiki.logtext.report_parts import parse_report
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.reading import TextClassifier

SEEDS = 1000

SV_CHECKERS = (
    "Mismatch: expected %0h got %0h",
    "addr=%0h data=%h exp=%h",
    "[%0t] item %0d: beat %0d is %0h",
    "Compare failed, expected is 'h%0h, actual is 'h%h",
    "credit %0d below %0d after %0t",
)
PY_CHECKERS = (
    "ERROR    scoreboard.py(41)  [uvm_test_top.env.sb]: expected {a:#x} got {b:#x}",
    "ERROR    scoreboard.py(55)  [uvm_test_top.env.agents[{i}].sb]: [SB] lane {i}: {a} != {b}",
    "ERROR    monitor.py(12)  [uvm_test_top.env.mon]: expected <Resp.{e}: {i}> got <Resp.{f}: {j}>",
)


def identity(line: str) -> str:
    parts = parse_report(line)
    return fingerprint(
        report_class=parts.report_class,
        file=parts.file,
        message_id=parts.message_id,
        function=None,
        source_line=None,
        text=parts.text,
    )


def sv_report(form: str, file: str, width: int, dice: random.Random) -> str:
    """Return a report of one checker in one run, with its own values, time, instance and working folder."""
    text = form
    while "%" in text:
        value = dice.getrandbits(width)
        for spec, shown in (
            ("%0h", f"{value:x}"),
            ("%h", f"{value:0{(width + 3) // 4}x}"),
            ("%0d", f"{value - (1 << width) if dice.random() < 0.5 else value}"),
            ("%0t", f"{dice.randrange(10**6)}"),
        ):
            text = text.replace(spec, shown, 1)
    scope = f"uvm_test_top.env.agents[{dice.randrange(8)}].sb"
    return f"UVM_ERROR /work/{dice.randrange(99)}/{file}(88) @ {dice.randrange(10**7)}: {scope} [{scope}] {text}"


@pytest.mark.parametrize("width", [1, 4, 8, 32])
def test_each_generated_checker_is_one_cause_over_a_thousand_seeds(width: int) -> None:
    dice = random.Random(width)
    groups = {
        (file, form): {identity(sv_report(form, file, width, dice)) for _ in range(SEEDS)}
        for file in ("rx_sb.sv", "tx_sb.sv")
        for form in SV_CHECKERS
    }
    assert {check: len(found) for check, found in groups.items()} == dict.fromkeys(groups, 1)
    assert len(set().union(*groups.values())) == len(groups)


def test_each_checker_of_a_pyuvm_testbench_is_one_cause() -> None:
    dice = random.Random(0)
    groups = [
        {
            identity(
                f"{dice.random() * 1e4:9.2f}ns "
                + form.format(
                    a=dice.getrandbits(16),
                    b=dice.getrandbits(16),
                    i=dice.randrange(8),
                    j=dice.randrange(8),
                    e=dice.choice(["OKAY", "SLVERR"]),
                    f=dice.choice(["OKAY", "DECERR"]),
                )
            )
            for _ in range(SEEDS)
        }
        for form in PY_CHECKERS
    ]
    assert [len(found) for found in groups] == [1] * len(PY_CHECKERS)
    assert len(set().union(*groups)) == len(PY_CHECKERS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("UVM_ERROR a.sv(1) @ 5: reporter [A] data lost", "UVM_ERROR a.sv(1) @ 5: reporter [B] data lost"),
        ("UVM_ERROR a.sv(1) @ 5: reporter [A] data lost", "UVM_ERROR b.sv(1) @ 5: reporter [A] data lost"),
        ("UVM_ERROR a.sv(1) @ 5: reporter [A] data lost", "UVM_FATAL a.sv(1) @ 5: reporter [A] data lost"),
        ("UVM_ERROR a.sv(1) @ 5: top.rx [top.rx] x lost", "UVM_ERROR a.sv(1) @ 5: top.tx [top.tx] x lost"),
    ],
)
def test_file_severity_and_id_of_a_report_tell_causes_apart(one: str, other: str) -> None:
    assert identity(one) != identity(other)


@pytest.mark.parametrize(
    ("line", "message_id", "text"),
    [
        ("UVM_ERROR a.sv(1) @ 5: top.e.a[3].drv [DRV] data[4] lost", "DRV", "data[4] lost"),
        ("UVM_ERROR a.sv(1) @ 5: top.e.a[3].drv [top.e.a[3].drv] lost", "top.e.a[3].drv", "lost"),
        ("UVM_ERROR a.sv(1) @ 5 ns: top.sqr@@seq [AXI protocol] lost", "AXI protocol", "lost"),
        ("UVM_ERROR a.sv(1) @ 5: reporter [] lost", "", "lost"),
        ("UVM_FATAL @ 0: reporter [NOCOMP] nothing to run", "NOCOMP", "nothing to run"),
        ("  5.00ns ERROR    sb.py(3)  [top.e.a[3].sb]: [SB] lost", "SB", "lost"),
    ],
)
def test_the_id_of_a_report_is_found_behind_an_instance_of_an_array(line: str, message_id: str, text: str) -> None:
    parts = parse_report(line)
    assert (parts.message_id, parts.text) == (message_id, text)


BARE = (
    ("check_read", "assert dut.rdata.value == expected"),
    ("check_read", "assert dut.rresp.value == 0"),
    ("check_write", "assert dut.rdata.value == expected"),
    ("check_write", "assert got == model.read(addr)"),
    ("check_fifo", "assert fill <= DEPTH"),
    ("check_fifo", "assert not dut.full.value"),
    ("run", "assert (await axi.read(addr, 4)).data == expected"),
)


def traceback_log(function: str, source: str, dice: random.Random) -> str:
    """Return cocotb's log of an assertion that pytest rewrote, with values in place of names."""
    a, b = dice.getrandbits(8), dice.getrandbits(8)
    shown = dice.choice([f"assert LogicArray('{a:08b}', Range(7, 'downto', 0)) == {b}", f"assert {a} == {b}"])
    indent = " " * 60
    lines = [
        f"{indent}Traceback (most recent call last):",
        f'{indent}  File "/home/u{a}/tb/test_bus.py", line {dice.randrange(20, 60)}, in test_bus',
        f"{indent}    await {function}(dut)",
        f'{indent}  File "/home/u{a}/tb/checks.py", line {dice.randrange(20, 60)}, in {function}',
        f"{indent}    {source}",
        f"{indent}AssertionError: {shown}",
    ]
    head = f"{dice.random() * 1e4:9.2f}ns INFO     cocotb.regression   test_bus.test_bus failed"
    return "\n".join([head, *lines])


def test_each_bare_assert_of_a_testbench_is_one_cause() -> None:
    classifier = TextClassifier(load_registry())
    dice = random.Random(1)
    groups = []
    for function, source in BARE:
        verdicts = [classifier.classify_text(traceback_log(function, source, dice)) for _ in range(40)]
        groups.append({verdict.fingerprint if verdict else None for verdict in verdicts})
    # A truth value, a bit vector and a number look different after the assert; the check is the same.
    assert all(None not in found for found in groups)
    assert [len(found) for found in groups] == [1] * len(BARE)
    assert len(set().union(*groups)) == len(BARE)


ONE_CAUSE = {
    "a handle that several components ask for": (
        "AttributeError: dut contains no child object named mat_vld",
        "KeyError: 'dut contains no child object named mat_vld'",
        "0.00ns ERROR    det.py(58)  [top]: Test failed with exception: dut contains no child object named mat_vld",
        "5.00ns ERROR    mon.py(9)  [top.mon]: Error in monitor: top.dut contains no child object named mat_vld",
    ),
    "a syntax error": (
        "/a/rtl/gcd.v:30: syntax error",
        "%Error: gcd/gcd.v:30:9: syntax error, unexpected end",
        "%Error: gcd/gcd.v:30:9: syntax error, unexpected end, expecting ';'",
    ),
    "a module": (
        "rtl/top.v:2: error: Unknown module type: fifo_b0",
        "%Error-MODMISSING: rtl/top.v:2:3: Cannot find file containing module: 'fifo_b0'",
    ),
    "a file that is included": (
        "rtl/top.v:2: Include file gone.vh not found",
        "%Error: rtl/top.v:1:10: Cannot find include file: 'gone.vh'",
    ),
    "a port": (
        "rtl/top.v:3: error: port ``bb'' is not a port of u.",
        "%Error-PINNOTFOUND: rtl/top.v:3:19: Pin not found: 'bb'",
    ),
    "a name": (
        "rtl/top.v:2: error: Unable to bind wire/reg/memory `clkk' in `top'",
        "rtl/top.v:7: error: Unable to bind wire/reg/memory `clkk[((n)*('sd2))+('sd1):(n)*('sd2)]' in `top.lanes[0]'",
        "rtl/top.v:9: error: Could not find variable ``clkk'' in ``top''",
        "%Error: rtl/top.v:2:14: Can't find definition of variable: 'clkk'",
    ),
}
OTHERS = (
    "AttributeError: dut contains no child object named mat_vld2",
    "AttributeError: agent contains no child object named mat_vld",
    "/a/rtl/gcd.v:31: syntax error",
    "/a/rtl/lcm.v:30: syntax error",
    "rtl/top.v:2: error: Unknown module type: fifo_b1",
    "rtl/sub.v:2: error: Unknown module type: fifo_b0",
    "rtl/top.v:3: error: port ``b0'' is not a port of u.",
    "rtl/top.v:3: error: port ``b1'' is not a port of u.",
    "rtl/sub.v:2: error: Unable to bind wire/reg/memory `clkk' in `top'",
)


def test_what_is_missing_is_one_cause_whoever_reports_it() -> None:
    classifier = TextClassifier(load_registry())
    named = {what: {print_of(classifier, each) for each in messages} for what, messages in ONE_CAUSE.items()}
    assert {what: len(found) for what, found in named.items()} == dict.fromkeys(ONE_CAUSE, 1)
    others = {print_of(classifier, message) for message in OTHERS}
    assert len(others) == len(OTHERS)
    assert len(others.union(*named.values())) == len(ONE_CAUSE) + len(OTHERS)


def print_of(classifier: TextClassifier, message: str) -> str:
    verdict = classifier.classify_text(message)
    assert verdict is not None, message
    return verdict.fingerprint


def test_a_source_that_is_not_there_is_one_cause_whoever_looks_for_it() -> None:
    """With an older build, cocotb's runner and cocotb-test look for the file; without one, the tool does."""
    classifier = TextClassifier(load_registry())
    said = (
        "make[3]: *** No rule to make target '/a/rtl/{}.{}', needed by 'analyse'.",
        "make[1]: *** No rule to make target '/b/c/rtl/{}.{}', needed by 'sim_build/sim.vvp'.  Stop.",
        "FileNotFoundError: [Errno 2] No such file or directory: 'rtl/{}.{}'",
        "/a/rtl/{}.{}: No such file or directory",
        "%Error: Cannot find file containing module: '/a/rtl/{}.{}'",
        "/usr/bin/ghdl-mcode: cannot open rtl/{}.{}",
    )
    names = (("dut", "vhd"), ("top", "sv"), ("table", "hex"))
    one, other, table = ({print_of(classifier, each.format(*name)) for each in said} for name in names)
    assert len(one) == len(other) == 1
    assert not one & other
    assert len(table) > 1, "another file may be missing for any reason"
