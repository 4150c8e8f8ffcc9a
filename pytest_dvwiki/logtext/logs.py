"""Logs of any size as streams: decoded, normalised, with numbered lines, in chunks of about a megabyte."""

from __future__ import annotations

import codecs
import hashlib
import itertools
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import reading
from pytest_dvwiki.redact import strip_escapes, two_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import BufferedReader
    from pathlib import Path

    from pytest_dvwiki.model import Source

_CHUNK = 1 << 20
_LINE_LIMIT = 1 << 16
_LINE_END_KEPT = 4096
_KEY_LINES = 200
_SAMPLE = 4096

# cocotb-test passes the simulator's lines through its own logger, which prints them under `-p no:logging`.
_COCOTB_TEST = re.compile(r"^(?:INFO|ERROR) (?: *cocotb:simulator\.py:\d+|cocotb:) ", re.MULTILINE)
_UNBOUNDED_ESCAPE = re.compile(r"\x1b[\]PX^_]")
_KEY_BEGIN = re.compile(r"----[- ]BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[- ]----|Private-Lines: \d+")
_KEY_END = re.compile(r"----[- ]END |Private-MAC: ")
_MASK = "[redacted]"
_UTF8_INNER = bytes(range(0x80, 0xC0))
_UTF8_LEADING = bytes(range(0xC0, 0x100))


class LogText(Struct, frozen=True, kw_only=True):
    """One output of a run: a string, a file, or a part of a file."""

    source: Source
    text: str = ""
    path: Path | None = None
    """A file to read instead of `text`."""
    start: int = 0
    """Start of the part of the file, in bytes."""
    end: int | None = None
    """End of the part of the file, in bytes; None for the file's end."""
    lasting: bool = True
    """Whether the file is permanent, so that pages may refer to it; a spool is not."""
    open: Callable[[Path], BufferedReader] = reading.open_regular
    """Opens the file at `path`."""


class Chunk(Struct, frozen=True):
    """Some whole lines of a log."""

    first: int
    """Number of the first line, from 1."""
    text: str
    """The lines, each with a line feed at its end."""


class LogStream:
    """A log that can be iterated once, in chunks of whole lines.

    Only a line feed ends a line, as in an editor. Carriage returns, escape sequences and the prefix of cocotb-test are
    removed. A line longer than 64 KiB may lose its middle. Private keys are masked here, because an excerpt might begin
    inside a key.
    """

    def __init__(self, log: LogText) -> None:
        self._log = log
        self._hash = hashlib.sha256()
        self._complete = False
        self._key_lines = 0

    @property
    def sha256(self) -> str | None:
        """Return the hash of the file's bytes; None unless a whole file has been iterated to its end."""
        whole = self._log.path is not None and self._log.start == 0 and self._log.end is None
        return self._hash.hexdigest() if whole and self._complete else None

    def __iter__(self) -> Iterator[Chunk]:
        first = 1
        for text in self._texts():
            normal = self._normalised(text)
            yield Chunk(first, normal)
            first += normal.count("\n")
        self._complete = True

    def _texts(self) -> Iterator[str]:
        if self._log.path is None:
            return _pieces(self._log.text)
        return map(_decode, blocks(self._bytes(self._log.path)))

    def _bytes(self, path: Path) -> Iterator[bytes]:
        position, end = self._log.start, self._log.end
        with self._log.open(path) as stream:
            if position:  # a stream of zstd cannot seek
                stream.seek(position)
            while data := stream.read(_CHUNK if end is None else min(_CHUNK, end - position)):
                position += len(data)
                self._hash.update(data)
                yield data

    def _normalised(self, text: str) -> str:
        if "\r" in text:
            text = re.sub(r"\r+\n", "\n", text).replace("\r", " ")
        if "\x1b" in text or "\x9b" in text:
            text = _without_escapes(text)
        if " cocotb:" in text:
            text = _COCOTB_TEST.sub("", text)
        if self._key_lines or "PRIVATE KEY" in text or "Private-Lines:" in text:
            text = "\n".join(self._without_keys(text.split("\n")))
        return text

    def _without_keys(self, lines: list[str]) -> Iterator[str]:
        for line in lines[:-1]:
            if _KEY_BEGIN.search(line):
                self._key_lines = _KEY_LINES
            inside = self._key_lines > 0
            if inside:
                self._key_lines = 0 if _KEY_END.search(line) else self._key_lines - 1
            yield _MASK if inside else line
        yield lines[-1]


def lines_with(text: str, literals: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line that contains one of the literals, in order.

    Searching for one literal after another is several times faster than one expression for all literals. A literal is
    searched for only if the text has each of its characters: most texts lack some character, so this check makes the
    search forty times faster again.
    """
    starts: set[int] = set()
    for literal in literals:
        if not all(character in text for character in literal):
            continue
        at = text.find(literal)
        while at >= 0:
            starts.add(text.rfind("\n", 0, at) + 1)
            at = text.find(literal, text.find("\n", at))
    for start in sorted(starts):
        yield start, text.find("\n", start) + 1


def _without_escapes(text: str) -> str:
    """Remove escape sequences; a sequence does not continue on the next line."""
    if _UNBOUNDED_ESCAPE.search(text):
        return "\n".join(map(strip_escapes, text.split("\n")))
    return strip_escapes(text)


def _pieces(text: str) -> Iterator[str]:
    """Yield a string in pieces of whole lines; a short string is a single piece."""
    text = text if text.endswith("\n") or not text else f"{text}\n"
    position = 0
    while position < len(text):
        end = text.rfind("\n", position, position + _CHUNK) + 1 or text.find("\n", position) + 1
        piece = text[position:end]
        yield piece if len(piece) <= _CHUNK else f"{two_ends(piece[:-1], 2 * _LINE_END_KEPT)}\n"
        position = end


def blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a log, given in any pieces, in blocks of whole lines, each with a line feed at its end.

    UTF-16 is converted to UTF-8, and a byte-order mark is removed. A line longer than 64 KiB that does not end in the
    piece where it begins keeps only its two ends.
    """
    head = next(chunks, b"")
    if encoding := _utf16(head):
        chunks, head = _as_utf8(encoding, head, chunks), b""
    carry, data = b"", head.removeprefix(codecs.BOM_UTF8)
    while data or (data := next(chunks, b"")):
        end = data.rfind(b"\n") + 1
        if end:
            yield b"".join((carry, memoryview(data)[:end]))
            carry = data[end:]
        else:
            carry += data
        if len(carry) > _LINE_LIMIT:
            carry = _ends_of_bytes(carry)
        data = b""
    if carry:
        yield carry + b"\n"


def _utf16(head: bytes) -> str | None:
    """Return the UTF-16 codec of a log, from its byte-order mark or zero bytes; None if it is not UTF-16."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = head[:_SAMPLE]
    most = len(sample) * 0.4
    if sample[1::2].count(0) > most and not sample[::2].count(0):
        return "utf-16-le"
    return "utf-16-be" if sample[::2].count(0) > most and not sample[1::2].count(0) else None


def _as_utf8(encoding: str, head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for data in itertools.chain((head,), chunks):
        # Half a character decodes to an empty string, which the caller would take for the end of the log.
        if text := decoder.decode(data):
            yield text.encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return b"\n".join(map(_line_as_utf8, data.split(b"\n"))).decode()


def _line_as_utf8(line: bytes) -> bytes:
    try:
        line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1").encode()
    return line


def _ends_of_bytes(line: bytes) -> bytes:
    """Return the two ends of the line read so far, with no character cut in half."""
    head = line[:_LINE_END_KEPT].rstrip(_UTF8_INNER).rstrip(_UTF8_LEADING)
    return head + " … ".encode() + line[-_LINE_END_KEPT:].lstrip(_UTF8_INNER)
