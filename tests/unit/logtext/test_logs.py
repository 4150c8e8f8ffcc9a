"""A log of any size and encoding becomes numbered lines, in little memory."""

from __future__ import annotations

import hashlib
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.logtext.excerpts import excerpt
from pytest_dvwiki.logtext.logs import LogStream, LogText

if TYPE_CHECKING:
    from pathlib import Path


def _stream(path: Path) -> LogStream:
    return LogStream(LogText(source="log", path=path))


def lines(data: bytes, tmp_path: Path) -> list[str]:
    path = tmp_path / "sim.log"
    path.write_bytes(data)
    return "".join(chunk.text for chunk in _stream(path)).split("\n")[:-1]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("größe 5 μs\n".encode(), "größe 5 μs"),
        ("\ufeffgröße\n".encode(), "größe"),
        ("größe\n".encode("utf-16"), "größe"),
        ("größe\n".encode("latin-1"), "größe"),
        (b"\x1b[31mred\x1b[39m text\n", "red text"),
        (b"INFO     cocotb:simulator.py:270    55.00ns WARNING  x\n", "   55.00ns WARNING  x"),
        (b"INFO cocotb:    55.00ns WARNING  x\n", "   55.00ns WARNING  x"),
        (b"10%\r20%\r\n", "10% 20%"),
        (b"no line feed", "no line feed"),
    ],
)
def test_a_line_is_decoded_and_normalised(tmp_path: Path, data: bytes, expected: str) -> None:
    assert lines(data, tmp_path) == [expected]


def test_a_line_that_is_not_utf_8_does_not_spoil_its_neighbours(tmp_path: Path) -> None:
    assert lines("μ\n".encode() + b"gr\xf6\xdfe\n" + "μ\n".encode(), tmp_path) == ["μ", "größe", "μ"]


def test_line_numbers_are_those_of_an_editor(tmp_path: Path) -> None:
    data = b"a\r\nb\x0cb\nc\xe2\x80\xa8c\n\nd\n"
    assert len(lines(data, tmp_path)) == data.count(b"\n")


def test_an_escape_sequence_without_end_hides_only_its_line(tmp_path: Path) -> None:
    assert lines(b"before\n\x1b]0;title\nERROR: after\n", tmp_path) == ["before", "", "ERROR: after"]


def test_chunks_are_whole_lines_with_running_numbers(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    path.write_text("".join(f"line {i}\n" for i in range(1, 400_001)))
    chunks = list(_stream(path))
    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.text.startswith(f"line {chunk.first}\n")


def test_text_and_file_give_the_same(tmp_path: Path) -> None:
    text = "".join(f"größe {i}\r\n" for i in range(100_000)) + "end"
    path = tmp_path / "sim.log"
    path.write_bytes(text.encode())
    from_text = "".join(chunk.text for chunk in LogStream(LogText(source="stdout", text=text)))
    assert from_text == "".join(chunk.text for chunk in _stream(path))


def test_the_hash_is_that_of_the_bytes_and_known_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "sim.log"
    path.write_bytes(b"a\r\nb\n" * 1000)
    stream = _stream(path)
    assert stream.sha256 is None
    list(stream)
    assert stream.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_part_of_a_file_can_be_read_and_has_no_hash(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    path.write_text("one\ntwo\nthree\n")
    stream = LogStream(LogText(source="stdout", path=path, start=4, end=8))
    assert [chunk.text for chunk in stream] == ["two\n"]
    assert stream.sha256 is None


def test_a_private_key_is_masked_even_where_an_excerpt_would_begin_inside_it(tmp_path: Path) -> None:
    key = b"-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----\nafter\n"
    assert lines(key, tmp_path) == ["[redacted]"] * 4 + ["after"]


def test_a_key_without_end_does_not_mask_the_rest_of_the_log(tmp_path: Path) -> None:
    data = b"-----BEGIN PRIVATE KEY-----\n" + b"x\n" * 300
    assert lines(data, tmp_path)[-1] == "x"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_line_without_end_keeps_its_two_ends_in_little_memory(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "sim.log"
    with path.open("w", encoding=encoding) as stream:
        stream.write("begin")
        for _ in range(40):
            stream.write("ü" * (1 << 20))
        stream.write("end")
    tracemalloc.start()
    found = excerpt(_stream(path), None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.lines[0][1].startswith("beginü")
    assert found.lines[0][1].endswith("üend")
    assert len(found.lines[0][1]) < 5000
    assert peak < 16 << 20


@pytest.mark.slow
def test_a_large_log_costs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "sim.log"
    block = "".join(f"  {i}.00ns INFO     cocotb.dut     transaction {i} passed\n" for i in range(20_000))
    with path.open("w") as stream:
        for _ in range(100):
            stream.write(block)
    tracemalloc.start()
    found = excerpt(_stream(path), None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.lines[-1][0] == 2_000_000
    assert peak < 16 << 20
