"""The identity of a cause does not depend on values that change from run to run, and differs for another check."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.fingerprint import LONGEST, fingerprint, mask
from pytest_dvwiki.fingerprint_v1 import fingerprint_v1
from pytest_dvwiki.version import FINGERPRINT_VERSION

from .effort import takes_at_most

if TYPE_CHECKING:
    from collections.abc import Callable


def of(text: str, **parts: str) -> str:
    return fingerprint(
        report_class=parts.get("report_class", "ERROR"),
        text=text,
        file=parts.get("file"),
        message_id=parts.get("message_id"),
        function=parts.get("function"),
        source_line=parts.get("source_line"),
    )


def former_of(text: str) -> str:
    return fingerprint_v1(
        report_class="ERROR", text=text, file="sb.sv", message_id="SB", function=None, source_line=None
    )


FORMATS: dict[str, Callable[[int, int], str]] = {
    "hex": lambda v, w: f"0x{v:x}",
    "padded hex": lambda v, w: f"{v:0{(w + 3) // 4}x}",
    "upper hex": lambda v, w: f"{v:0{(w + 3) // 4}X}",
    "decimal": lambda v, w: f"{v}",
    "padded decimal": lambda v, w: f"{v:11d}",
    "signed": lambda v, w: f"{v - (1 << w) if v >> (w - 1) else v}",
    "binary": lambda v, w: f"{v:0{w}b}",
    "sized": lambda v, w: f"{w}'h{v:x}",
    "sized binary": lambda v, w: f"{w}'b{v:0{w}b}",
    "logic array": lambda v, w: f"LogicArray('{v:0{w}b}', Range({w - 1}, 'downto', 0))",
    "vhdl": lambda v, w: f'x"{v:x}"',
    "prefixed binary": lambda v, w: f"0b{v:b}",
}


@pytest.mark.parametrize("width", [1, 4, 8, 32])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "sentence",
    [
        "expected {} got {} at {} ns",
        "mismatch: exp={} act={} @{}",
        "assert {} == {} # {}",
        "sb[{2}]: got {0}, expected {1}",
        "[SCBD] Expected: {}, Actual: {} (item {})",
    ],
)
def test_a_thousand_seeds_of_one_check_have_one_fingerprint(width: int, form: str, sentence: str) -> None:
    dice = random.Random(width)
    show = FORMATS[form]
    prints = {
        of(sentence.format(show(dice.getrandbits(width), width), show(dice.getrandbits(width), width), seed * 10))
        for seed in range(1000)
    }
    assert len(prints) == 1


def test_truth_values_are_values() -> None:
    assert of("expected True got False") == of("expected False got True")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("UVM_ERROR at 1250ns", "UVM_ERROR at 90 us"),
        ("/home/ann/p/dut.sv:20: overflow", "C:\\work\\dut.sv:31: overflow"),
        ("../rtl/dut.sv:20:3 overflow", "rtl/dut.sv:20:9 overflow"),
        ("uvm_test_top.env.agent[3].drv stuck", "uvm_test_top.env.agent[0].drv stuck"),
        ("tb.u_fifo[1].u_ram stuck", "tb.u_ram stuck"),
        ("top(rtl).u1.p stuck", "top(rtl).u2.p stuck"),
        ("/tb/u0/sig stuck", "/tb/u1/sig stuck"),
        ("see https://ci.example.org/job/12", "see https://ci.example.org/job/13"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174000"),
        ("on 2026-11-21T20:27:30Z", "on 2025-01-02T03:04:05Z"),
        ("on Sat Nov 21 22:15:55 2026", "on Fri Jan  2 01:02:03 2026"),
        ("pid 4411 port 8080", "pid 9 port 65000"),
        ("<Task 3 pending at 0x7f12ab>", "<Task 12 pending at 0x55fe00>"),
        ("worker 'gw0' crashed", "worker 'gw11' crashed"),
        ("data [1, 2, 3] wrong", "data [4] wrong"),
        ("bytes b'\\x00\\x01' wrong", "bytes b'' wrong"),
        ("\x1b[31mred 5\x1b[0m", "red 6"),
        ("gain 1.5e-9 off", "gain -2 off"),
        ("resp expected OKAY got SLVERR", "resp expected EXOKAY got OKAY"),
        ("item kind=READ (3 beats) lost", "item kind=WRITE (16 beats) lost"),
        ("assert <Resp.SLVERR: 2> == <Resp.OKAY: 0>", "assert <Resp.DECERR: 3> == <Resp.EXOKAY: 1>"),
        ("beat fa at c lost", "beat 3 at beef lost"),
        ("offset 'd-12 of 0x-3", "offset 'd7 of 0x1f"),
        ("took 12 cycles until 0.160 ns", "took 3 cycles until 160"),
        ("Failed on the 0th cycle", "Failed on the 22nd cycle"),
    ],
)
def test_what_changes_from_run_to_run_is_masked(one: str, other: str) -> None:
    assert of(one) == of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sha256 differs", "sha512 differs"),
        ("fifo_32x8 full", "fifo_16x8 full"),
        ("got xx expected 5", "got 12 expected 5"),
        ("LogicArray('XX', Range(1, 'downto', 0)) == 1", "LogicArray('01', Range(1, 'downto', 0)) == 1"),
        ("q = 8'hx", "q = 8'h1"),
        ("no attribute 'a_valid'", "no attribute 'b_valid'"),
        ("No module named 'alpha'", "No module named 'beta'"),
        ("read/write error", "read only error"),
        ("expected FIFO to be empty", "expected RAM to be empty"),
        ("got back x0x0xX7xxxXf007x", "got back 5b017e4d018fe21b0"),
        ("no attribute 'a'", "no attribute 'b'"),
        ("no attribute 'bad'", "no attribute 'dac'"),
        ("cannot import name 'DaBase' from 'tb'", "cannot import name 'BadBase' from 'tb'"),
        ("port A stuck", "port B stuck"),
        ("16x8 RAM lost a word", "32x8 RAM lost a word"),
        ("port a stuck", "port b stuck"),
        ("worker a died", "worker b died"),
        ("port=a stuck", "port=b stuck"),
        ("check=PARITY failed", "check=LENGTH failed"),
        ("read DATA at 0x10 timed out", "read STATUS at 0x10 timed out"),
        ("got DATA", "got ADDR"),
        ("assert dut.kind == DATA", "assert dut.kind == ADDR"),
        ("must be set", "must not set"),
        ("value is non-0/1", "value is 0/1"),
        ("No module named 'tb.utils'", "No module named 'lib.utils'"),
        ("cannot import name 'pick' from 'tb.utils'", "cannot import name 'pick' from 'lib.utils'"),
        ("ADD overflowed", "BAD overflowed"),
        ("expected a packet", "expected the packet"),
        ("FAILED: 0x7b ADD 0x3 = 0x7e", "FAILED: 0x7b MUL 0x3 = 0x171"),
    ],
)
def test_what_tells_causes_apart_stays(one: str, other: str) -> None:
    assert of(one) != of(other)


def test_a_quoted_name_that_begins_like_a_number_stays_whole() -> None:
    text = "cannot import name 'BaseSequence' from 'base_seq'"
    assert mask(text) == text


@pytest.mark.parametrize(
    "parts",
    [
        {"file": "other_sb.sv"},
        {"message_id": "OTHER"},
        {"function": "check_write"},
        {"source_line": "assert dut.b.value == 1"},
        {"report_class": "FATAL"},
    ],
)
def test_each_part_of_a_check_tells_it_from_others(parts: dict[str, str]) -> None:
    check = {"file": "sb.sv", "message_id": "SB", "function": "check", "source_line": "assert dut.a.value == 1"}
    assert of("V differs", **check) != of("V differs", **{**check, **parts})


def test_equal_instances_of_a_component_that_gives_its_name_as_id_are_one() -> None:
    assert of("lost", message_id="top.env.agents[3].drv") == of("lost", message_id="top.env.agents[0].drv")
    assert of("lost", message_id="top.env.agent_3") == of("lost", message_id="top.env.agent_12")
    assert of("lost", message_id="top.env.rx") != of("lost", message_id="top.env.tx")
    assert of("lost", message_id="vsim-3601") != of("lost", message_id="vsim-3602")


def test_only_the_base_name_of_the_file_counts() -> None:
    assert of("x", file="/a/b/sb.sv") == of("x", file="c\\sb.sv") != of("x", file="sb2.sv")


def test_a_long_line_counts_by_its_head_and_tail() -> None:
    middle = LONGEST * 2
    assert of("head " + "a" * middle + " tail") == of("head " + "a" * middle + "aa tail")
    assert of("head " + "a" * middle + " tail") != of("head " + "a" * middle + " other")


def test_the_form_is_twelve_hex_digits_and_stands_for_ever() -> None:
    assert FINGERPRINT_VERSION == 2
    assert of("expected 3 got 4", file="sb.sv", message_id="SB") == "0a66a656159d"


@pytest.mark.parametrize(
    ("text", "former"),
    [
        ("port a stuck", "db735b0b7d83"),
        ("port A stuck", "da8e1f8730a8"),
        ("must be set", "45c399882720"),
        ("item kind=READ lost", "bbfc42cf01a1"),
        ("got DATA", "cf9d0858d767"),
        ("No module named 'tb.utils'", "fb1807d9a2f7"),
        ("value is non-0/1", "0bbe46fe21a7"),
        ("expected a packet", "5f8a70675e09"),
    ],
)
def test_the_former_fingerprint_of_a_cause_is_as_version_1_made_it(text: str, former: str) -> None:
    assert former_of(text) == former


def test_a_cause_without_a_word_that_was_masked_keeps_its_fingerprint() -> None:
    text = "UVM_ERROR at 5 ns: top.env.sb expected OKAY got SLVERR, data 0x12 of /tmp/x/dut.sv"
    assert former_of(text) == of(text, file="sb.sv", message_id="SB")


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            "a.",
            "/",
            "[",
            "x",
            "1",
            "f",
            "0x",
            "a[",
            "a[1]",
            "a(1)",
            "LogicArray(",
            "1,",
            "1.1",
            "'h",
            "-",
            "~",
            ".",
        ),
        *(
            "2026-",
            "1:1:",
            "Jan ",
            "http://",
            "<a: ",
            "=",
            "==",
            "=A",
            "=AB_",
            "exp A ",
            "exp = ",
            "a.sv",
            "a/",
            "dead x",
        ),
    ],
)
def test_the_longest_line_is_masked_in_linear_time(unit: str) -> None:
    line = (unit * LONGEST)[:LONGEST]
    # Eight times the characters; a quadratic expression needs 64 times as long.
    assert takes_at_most(24, partial(mask, line[: LONGEST // 8]), partial(mask, line))
    assert len(mask(line)) <= 2 * len(line)


@pytest.mark.parametrize(
    "texts",
    [
        ["assert 2 == 1", "assert [2, 1, 1] == 1", "assert [2, 1, 1, 1, 1, 1, ...] == 1", "assert [] == [1]"],
        [r"assert bytearray(b'\x00') == bytearray(b'\x01')", r"assert bytearray(b'\x00\'\"') == bytearray(b'\x01')"],
        [
            "assert Tlp(data=bytearray(b'a'), kind=Kind.READ, id=Id(bus=1)) == Tlp(data=b'', id=None)",
            r"assert Tlp(data=bytearray(b'\x00\x...at=0, id=Id(bus=1)) == Tlp(data=b'', kind=...d(bus=1))",
            r"assert Tlp(data=bytearray(b''), ki...False, id=Id(bus=1)) == Tlp(data=bytearray(b''), kind=Ki...us=1))",
        ],
        ["assert 'a long st...te is IDLE' == 'a long st...tate is IDLE'", "assert {'a': 1, 'bcd...} == ['e', 'f...']"],
        ["assert Tlp(data=b'ab...", "assert Tlp(kind=2, data=b'ab..."],
        ["rtl/a.v:1: error: no `d' in `a.genblk1'", "rtl/a.v:9: error: no `d' in `a.genblk3'"],
    ],
    ids=[
        "a list and its only value",
        "bytes with quotes",
        "fields",
        "cut values",
        "cut ends",
        "names of generate blocks",
    ],
)
def test_how_long_a_value_is_and_what_a_tool_counts_tells_no_cause_apart(texts: list[str]) -> None:
    assert len({of(text) for text in texts}) == 1


def test_a_url_within_a_word_is_masked_and_the_word_stays() -> None:
    assert mask("no_http://host:80/a expected_word 5 and word_5") == "no_URL expected_word V and word_5"
