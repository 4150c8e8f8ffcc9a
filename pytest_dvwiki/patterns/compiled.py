"""The built-in registry as one file of JSON: YAML is its source, and reading that takes forty times as long.

The wheel brings the file; from a checkout it is made at first use and kept in the cache, under a name that changes with
any of the sources.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.patterns import cache
from pytest_dvwiki.patterns.schema import Entry, Subtype  # noqa: TC001  # msgspec reads the annotations
from pytest_dvwiki.patterns.triggers import Triggers  # noqa: TC001  # likewise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER = Path(__file__).with_name("builtin")
FILE = "compiled.json"
"""Beside the YAML files of the installed package; there is none in a checkout."""
FORMAT = 6
"""Of the JSON; a change of `Pattern`, `Subtype` or of how literals are found counts it up."""


class Compiled(msgspec.Struct, frozen=True):
    """All that the built-in files say, checked."""

    entries: tuple[Entry, ...]
    """In their order of precedence."""
    subtypes: tuple[Subtype, ...]
    triggers: Triggers
    """Of these entries alone."""
    problems: tuple[str, ...] = ()
    """What is wrong with the files: the installation is damaged then."""


def load(sources: Callable[[], Mapping[str, str]], make: Callable[[Mapping[str, str]], Compiled]) -> Compiled:
    """The registry that came with the package, else the cached one, else a new one.

    Args:
        sources: Gives the text of each YAML file by its name.
        make: Reads and checks them.
    """
    shipped = FOLDER / FILE
    if shipped.is_file():
        return decode(shipped.read_bytes())
    texts = sources()
    key = _key(texts)
    cached = cache.read(key)
    if cached is not None:
        try:
            return decode(cached)
        except ValueError:  # a damaged cache is made again
            pass
    made = make(texts)
    if not made.problems:
        cache.write(key, encode(made))
    return made


def encode(compiled: Compiled) -> bytes:
    """The content of the file."""
    return msgspec.json.encode(compiled)


def decode(data: bytes) -> Compiled:
    """What a file holds.

    Raises:
        ValueError: It is no such file.
    """
    return msgspec.json.decode(data, type=Compiled)


def _key(texts: Mapping[str, str]) -> str:
    digest = hashlib.sha256(f"format {FORMAT}".encode())
    for name, text in texts.items():
        digest.update(f"\0{name}\0{text}".encode())
    return f"registry-{digest.hexdigest()[:24]}.json"
