"""Reads XML files by events: no tree is built, no entity is expanded, and a broken or endless file ends in an error."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol
from xml.parsers import expat

from pytest_dvwiki import reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AGAIN = "have it written again"
"""What to do about a file that is broken."""
_CHUNK = 1 << 18
_FILE_LIMIT = 1 << 30
_TAG_LIMIT = 8 << 20
_DEPTH_LIMIT = 64


class FileError(Exception):
    """A file that cannot be used; its text names the file and the reason."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class UnfitError(Exception):
    """What a listener raises for an element that is not what it should be; its text says what is wrong."""


class Listener(Protocol):
    """Takes the elements of a file one after the other."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        ...

    def end(self, tag: str) -> None:
        """An element ends."""
        ...

    def characters(self, data: str) -> None:
        """A piece of text inside the innermost element."""
        ...


def read_events(path: Path, listener: Listener, error: type[FileError]) -> None:
    """Reads a file.

    Args:
        path: The file.
        listener: Takes its elements; an `UnfitError` of it ends the reading.
        error: What to raise.

    Raises:
        FileError: The one of the caller: the file is missing, too large, broken, unfit, or declares entities.
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
        raise error(path, f"declares the entity {name[:80]!r}; such a file needs none")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = listener.characters
    parser.EntityDeclHandler = entity
    try:
        fed = 0
        for chunk in _chunks(path, error):
            parser.Parse(chunk, False)  # noqa: FBT003  # positional only
            fed += len(chunk)
            # The parser holds a tag until it is complete; a file must not make it hold all of itself.
            if fed - max(parser.CurrentByteIndex, 0) > _TAG_LIMIT:
                raise error(path, f"a tag is larger than {_TAG_LIMIT >> 20} MiB; {AGAIN}")
        parser.Parse(b"", True)  # noqa: FBT003  # positional only
    except UnfitError as unfit:
        raise error(path, f"line {parser.CurrentLineNumber}: {unfit}") from unfit
    except OSError as failed:
        raise error(path, reading.reason(failed)) from failed
    except (expat.ExpatError, ValueError, LookupError) as broken:
        # A codec that Python does not know, or one that is no 8-bit encoding, raises the latter two.
        raise error(path, f"not well-formed XML: {broken}; {AGAIN}") from broken


def _chunks(path: Path, error: type[FileError]) -> Iterator[bytes]:
    with reading.open_regular(path) as stream:
        if os.fstat(stream.fileno()).st_size > _FILE_LIMIT:
            raise error(path, f"larger than {_FILE_LIMIT >> 20} MiB; have the tests write one file each")
        while chunk := stream.read(_CHUNK):
            yield chunk
