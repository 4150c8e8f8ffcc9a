"""Fuzz targets for readers of logs and results: no bytes may crash them or take more than linear time.

A target takes any bytes and raises if a property does not hold. `test_targets.py` runs the targets with hypothesis,
`run.py` with atheris.
"""

from __future__ import annotations

import functools
import re
import string
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.files.results import ResultsError, read_results
from pytest_dvwiki.capture.runners import fusesoc, runners
from pytest_dvwiki.capture.simulations.noise import ErrorCounter
from pytest_dvwiki.capture.simulations.regression import read_regressions
from pytest_dvwiki.fingerprint import DIGITS, LONGEST, fingerprint, mask
from pytest_dvwiki.logtext import messages
from pytest_dvwiki.logtext.logs import LogStream, LogText, blocks
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.redact import clean, redact, shorten_paths
from pytest_dvwiki.triage.texts.reading import TextClassifier
from pytest_dvwiki.triage.texts.run_together import split_run_together
from pytest_dvwiki.triage.texts.sieve import _Scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NOT_PRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_SMALL, _LARGE = 4, 32
"""Numbers of lines of the two texts whose times are compared."""
_TIMES = _LARGE // _SMALL
_LINE = 4096
_SHORT = 256
_FEW = 32
_SLACK = 0.5
"""Process time in seconds that is too short to prove anything."""
_ENOUGH = 3
"""Allowed multiple of linear time."""
_ATTEMPTS = 5
"""One is enough: a busy machine slows one measurement, not all."""


@functools.cache
def classifier() -> TextClassifier:
    """Return the classifier with the built-in patterns."""
    return TextClassifier(load_registry())


def _cut(data: bytes) -> Iterator[bytes]:
    """Yield the bytes in pieces; the first byte of a piece determines its size."""
    start = 0
    while start < len(data):
        end = start + 1 + data[start] % 64
        yield data[start:end]
        start = end


def decode(data: bytes) -> None:
    """Decode any bytes into numbered lines without losing one."""
    for block in blocks(_cut(data)):
        assert block.endswith(b"\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sim.log"
        path.write_bytes(data)
        stream = LogStream(LogText(source="log", path=path))
        number = 1
        for chunk in stream:
            assert chunk.first == number
            assert chunk.text.endswith("\n")
            assert "\r" not in chunk.text
            number += chunk.text.count("\n")
        assert stream.sha256 is not None
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" not in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert number - 1 == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def strip(data: bytes) -> None:
    """Strip a text: the rest is printable, and stripping it again changes nothing."""
    text = data.decode("utf-8", "replace" if len(data) % 2 else "surrogateescape")
    cleaned = clean(text)
    assert not _NOT_PRINTED.search(cleaned)
    assert clean(cleaned) == cleaned
    assert not _NOT_PRINTED.search(redact(text))
    shorten_paths(text, Path("/work"))
    lines = [messages.strip_line(line) for line in text.split("\n")]
    assert all(len(line) <= messages.LONGEST + 3 for line in lines)
    last = -1
    for message in messages.assemble(lines):
        assert last < message.first <= message.last < len(lines)
        last = message.last


def scan(data: bytes) -> None:
    """Scan a log with and without the sieve; each message is on an existing line."""
    count = data.count(b"\n") + 1
    whole = classifier().sieve()
    for block in blocks(_cut(data)):
        whole.feed(block)
    reading = classifier().conclude(whole.finish())
    assert reading.verdict is None or (reading.verdict.line or 0) <= count
    pieces = list(blocks(_cut(data)))
    if pieces:
        through = _Scan(classifier().matcher, pieces[0])
        for block in pieces[1:]:
            through.feed(block)
        kept = through.finish()
        assert all(1 <= number <= count for number, _ in kept.lines)
        # Only a text without any line feeds gets them back.
        if split_run_together(data.decode("utf-8", "replace").split("\n")) is None:
            assert (classifier().conclude(kept).verdict is None) == (reading.verdict is None)
    text = data.decode("utf-8", "replace")
    counter = ErrorCounter(classifier().matcher)
    counter.feed(1, text + "\n")
    counter.result()
    read_regressions(LogText(source="log", text=text), classifier().matcher)


def identity(data: bytes) -> None:
    """Compute the identity of a text; it contains only printable characters."""
    text = data.decode("utf-8", "replace")
    masked = mask(text)
    assert "\n" not in masked
    assert not _NOT_PRINTED.search(masked)
    found = fingerprint(
        report_class="UVM_ERROR", file=text[:80], message_id=text[-80:], function=None, source_line=text, text=text
    )
    assert re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", found)


def results(data: bytes) -> None:
    """Read a results file, or get None or the declared error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.xml"
        path.write_bytes(data)
        with suppress(ResultsError):
            assert all(case.status for case in read_results(path).cases)


def runner(data: bytes) -> None:
    """Read the results of a regression runner, or get None or the declared error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "build" / "a_b_c" / "sim" / "a.eda.yml"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        fusesoc.run_in.__wrapped__(path.parent)
        for each in runners():
            with suppress(ResultsError):
                assert all(case.status for case in each.read(path).cases)


def linear(data: bytes) -> None:
    """Check that eight times the lines take at most a few times eight times the time, whatever they contain.

    The bytes are repeated to the greatest length of a line that is read.
    """
    unit = data[:_LINE].replace(b"\n", b" ") or b" "
    line = (unit * (_LINE // len(unit) + 1))[:_LINE] + b"\n"
    for work in (_decode_text, _redact_text, _scan_text, _mask_text):
        _compare(work, line * _SMALL, line * _LARGE)


def many(data: bytes) -> None:
    """Check the same as `linear`, with messages that all differ."""
    _compare(_scan_text, _distinct(data[:_SHORT], _SMALL * _FEW), _distinct(data[:_SHORT], _LARGE * _FEW))


def _distinct(data: bytes, count: int) -> bytes:
    """Repeat the text, each time with another word at the end of its last line."""
    letters = string.ascii_lowercase.encode()
    words = (bytes(letters[n // 26**power % 26] for power in range(4)) for n in range(count))
    return b"".join(data + b" " + word + b"\n" for word in words)


def _compare(work: Callable[[bytes], None], small: bytes, large: bytes) -> None:
    times = []
    for _ in range(_ATTEMPTS):
        few, more = _seconds(work, small), _seconds(work, large)
        if more < _ENOUGH * _TIMES * few + _SLACK:
            return
        times.append((few, more))
    raise AssertionError(work.__name__, times)


def dear(data: bytes) -> None:
    """Check that a long line of any bytes takes milliseconds, like any other line of its length."""
    unit = data[:_LINE].replace(b"\n", b" ") or b" "
    line = (unit * (LONGEST // len(unit) + 1))[:LONGEST] + b"\n"
    for work in (_decode_text, _redact_text, _scan_text, _mask_text):
        assert any(_seconds(work, line) < _SLACK for _ in range(_ATTEMPTS)), work.__name__


def _decode_text(data: bytes) -> None:
    for _ in blocks(iter([data])):
        pass
    for _ in LogStream(LogText(source="log", text=data.decode("utf-8", "replace"))):
        pass


def _redact_text(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for line in text.split("\n"):
        shorten_paths(redact(line), Path("/work"))


def _scan_text(data: bytes) -> None:
    sieve = classifier().sieve()
    sieve.feed(data)
    classifier().conclude(sieve.finish())


def _mask_text(data: bytes) -> None:
    for line in data.decode("utf-8", "replace").split("\n"):
        mask(line)


def _seconds(work: Callable[[bytes], None], data: bytes) -> float:
    began = time.process_time()
    work(data)
    return time.process_time() - began


TARGETS: dict[str, Callable[[bytes], None]] = {
    "decode": decode,
    "strip": strip,
    "scan": scan,
    "identity": identity,
    "results": results,
    "runner": runner,
    "linear": linear,
    "many": many,
    "dear": dear,
}
