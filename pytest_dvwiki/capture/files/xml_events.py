"""Event-based XML reader: it builds no tree, expands no entities, and refuses broken or endless files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol
from xml.parsers import expat

from pytest_dvwiki import reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AGAIN = "generate it again"
"""Advice for a broken file."""
_CHUNK = 1 << 18
_FILE_LIMIT = 1 << 30
_TAG_LIMIT = 8 << 20
_DEPTH_LIMIT = 64


class FileError(Exception):
    """A file cannot be used; the message gives the file and the reason."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class UnfitError(Exception):
    """Raised by a listener for an unexpected element or value; the message says what is wrong."""


class Listener(Protocol):
    """Receives the elements and the text of a file in reading order."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        ...

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        ...

    def characters(self, data: str) -> None:
        """Handle a piece of text inside the innermost element."""
        ...


def read_events(path: Path, listener: Listener, error: type[FileError]) -> None:
    """Read an XML file, and pass its elements to a listener until the listener raises `UnfitError`.

    Raises:
        FileError: The file is missing, too large, broken, of another format, or declares entities; `error` is the
            subclass that is raised.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEPTH_LIMIT:
            raise error(path, f"nested deeper than {_DEPTH_LIMIT} elements; {AGAIN}")
        listener.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        listener.end(tag)

    def entity(name: str, *_: object) -> None:
        raise error(path, f"declares the entity {name[:80]!r}; remove the declaration")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = listener.characters
    parser.EntityDeclHandler = entity
    try:
        fed = 0
        for chunk in _chunks(path, error):
            parser.Parse(chunk, False)  # noqa: FBT003  # positional only
            fed += len(chunk)
            # The parser buffers a tag until it is complete; an endless tag must not make it buffer the whole file.
            if fed - max(parser.CurrentByteIndex, 0) > _TAG_LIMIT:
                raise error(path, f"a tag is larger than {_TAG_LIMIT >> 20} MiB; {AGAIN}")
        parser.Parse(b"", True)  # noqa: FBT003  # positional only
    except UnfitError as unfit:
        raise error(path, f"line {parser.CurrentLineNumber}: {unfit}") from unfit
    except OSError as failed:
        raise error(path, reading.reason(failed)) from failed
    except (expat.ExpatError, ValueError, LookupError) as broken:
        # An unknown codec raises LookupError, a multi-byte encoding ValueError.
        raise error(path, f"not well-formed XML: {broken}; {AGAIN}") from broken


def _chunks(path: Path, error: type[FileError]) -> Iterator[bytes]:
    with reading.open_regular(path) as stream:
        if os.fstat(stream.fileno()).st_size > _FILE_LIMIT:
            raise error(path, f"larger than {_FILE_LIMIT >> 20} MiB; have the tests write one file each")
        while chunk := stream.read(_CHUNK):
            yield chunk
