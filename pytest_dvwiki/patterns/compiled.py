"""The built-in registry as one JSON file, because its YAML sources take forty times as long to read.

The wheel contains the file. In a checkout it is created at first use, in the cache, under a name that depends on the
content of the sources.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.patterns import cache
from pytest_dvwiki.patterns.schema import RegistryEntry, Subtype  # noqa: TC001  # msgspec reads the annotations
from pytest_dvwiki.patterns.triggers import Triggers  # noqa: TC001  # likewise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER = Path(__file__).with_name("builtin")
FILE = "compiled.json"
"""Name of the JSON file, which a wheel has next to the YAML files, and a checkout does not have."""
FORMAT = 7
"""Version of the JSON. Increment it with every change to `Pattern`, `Subtype` or the search for literals."""


class Compiled(msgspec.Struct, frozen=True):
    """The content of all built-in files, parsed and checked."""

    entries: tuple[RegistryEntry, ...]
    """The entries of all files, in order of precedence."""
    subtypes: tuple[Subtype, ...]
    triggers: Triggers
    """The triggers of `entries`."""
    problems: tuple[str, ...] = ()
    """Problems with the files; any problem means that the installation is damaged."""


def load(sources: Callable[[], Mapping[str, str]], make: Callable[[Mapping[str, str]], Compiled]) -> Compiled:
    """Return the built-in registry: from the package's JSON file, else from the cache, else compiled now.

    Args:
        sources: Returns the content of each YAML file by name.
        make: Parses and checks these files.
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
        except ValueError:  # a damaged cache is rebuilt
            pass
    made = make(texts)
    if not made.problems:
        cache.write(key, encode(made))
    return made


def encode(compiled: Compiled) -> bytes:
    """Return the built-in registry as the content of the JSON file."""
    return msgspec.json.encode(compiled)


def decode(data: bytes) -> Compiled:
    """Return the built-in registry from the content of the JSON file.

    Raises:
        ValueError: The data have another format.
    """
    return msgspec.json.decode(data, type=Compiled)


def _key(texts: Mapping[str, str]) -> str:
    digest = hashlib.sha256(f"format {FORMAT}".encode())
    for name, text in texts.items():
        digest.update(f"\0{name}\0{text}".encode())
    return f"registry-{digest.hexdigest()[:24]}.json"
