"""Tests that any bytes in a log or results file are read without a crash and in linear time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pytest_dvwiki.patterns.registry import load_registry

from .targets import TARGETS, linear, many

if TYPE_CHECKING:
    from collections.abc import Callable

REGISTRY = load_registry()
_EXAMPLES = [example.encode() for pattern in REGISTRY for example in (*pattern.examples, *pattern.counterexamples)]
_LITERALS = sorted(
    {text.encode() for entry in REGISTRY.entries for needs in entry.literals for set_ in needs for text in set_}
)
_PIECES = (
    *(b"\n", b"\r\n", b"\r", b"\t", b" " * 17, b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\x80", b"\xed\xa0\x80"),
    *("İ".encode(), "\u2028".encode(), "größe".encode(), "größe".encode("latin-1"), "失败".encode("gbk")),
    *(b"\x1b[31m", b"\x1b]0;", b"\x1b", b"\x9b1m", b"# ", b"> ", b"::error::", b"2026-11-21T20:27:30Z ", b"&#x27;"),
    *(b"Traceback (most recent call last):\n", b'  File "tb.py", line 3, in check\n', b"AssertionError: \n", b"E   "),
    *(b"During handling of the above exception, another exception occurred:", b"    100.00ns ERROR    cocotb  "),
    *(
        b"     0.00ns INFO     cocotb.regression  running test_a (1/2)\n",
        b"test_a passed\n",
        b"** TESTS=2 PASS=2 FAIL=0",
    ),
    *(b"-----BEGIN RSA PRIVATE KEY-----", b"-----END RSA PRIVATE KEY-----", b"https://user:pass@", b"27000@host"),
    *(b"0x", b"'h", b"12.5ns", b"a.b.c", b"[3:0]", b"/a/b.sv(3)", b"(((", b"<", b"exp=", b"nan", b"XZ", b"deadbeef"),
    *(b"<testsuites>", b'<testcase name="a">', b"<failure>", b"</failure>", b"</testcase>", b"<!ENTITY a 'b'>", b"&a;"),
    *(
        b"Test binary: out/asm_test/a_1.o\nspike : a.csv\n",
        b"[PASSED]: 6 matched\n",
        b"cores:\n  a:b:c: {core_file: ../a}\n",
    ),
    *(b'{"block":{"name":"a"},"tool":{"name":"vcs"},"timestamp":"","stages":{', b'},"failed_jobs":{"buckets":{}}}'),
    *(b'<?xml version="1.0" encoding="utf-16"?>', b"<![CDATA[", b"]]>", b"</testsuites>", b'time="inf"', b'line="-1"'),
)
_PIECE = st.one_of(
    st.sampled_from(_PIECES), st.sampled_from(_EXAMPLES), st.sampled_from(_LITERALS), st.binary(max_size=12)
)
TEXTS = st.lists(_PIECE, max_size=30).map(b"".join)
UNITS = st.lists(st.one_of(st.sampled_from(_PIECES), st.sampled_from(_LITERALS)), min_size=1, max_size=3).map(b"".join)
MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("target", ["decode", "strip", "scan", "identity", "results", "runner", "dear"])
def test_any_bytes_are_read(target: str) -> None:
    work: Callable[[bytes], None] = TARGETS[target]

    @MANY
    @given(TEXTS)
    def check(data: bytes) -> None:
        work(data)

    check()


@settings(MANY, max_examples=8)
@given(UNITS)
def test_time_grows_with_the_text_alone(unit: bytes) -> None:
    linear(unit)


@settings(MANY, max_examples=6)
@given(TEXTS)
@example(
    b'Traceback (most recent call last):\n  File "tb.py", line 3, in check\n    assert a == b\nAssertionError: got'
)
@example(b"dut.sv:3: syntax error")
def test_time_grows_with_the_messages_alone(data: bytes) -> None:
    many(data)
