"""The patterns in force, in their order of precedence.

Of several patterns that match one message the first in this order wins: benign ones, then the project's own in the
order given, then the built-in ones in the order of `BUILTIN`, in each file from top to bottom. A pattern of a project
replaces the built-in one of the same id.
"""

from __future__ import annotations

import functools
import hashlib
from importlib import resources
from typing import TYPE_CHECKING

from pytest_dvwiki.patterns import cache
from pytest_dvwiki.patterns.schema import (
    Entry,
    Pattern,
    PatternError,
    Subtype,
    as_json,
    check_pattern,
    check_subtype,
    from_json,
    raw_entries,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

BUILTIN = (
    "dvwiki",
    "benign",
    "questa_codes",
    "vcs_codes",
    "xcelium_codes",
    "xsim_codes",
    "environment",
    "localised",
    "uvm",
    "pyuvm",
    "cocotb",
    "verilator",
    "icarus",
    "ghdl",
    "nvc",
    "questa",
    "vcs",
    "xcelium",
    "riviera",
    "xsim",
    "dsim",
    "vhdl_libraries",
    "pytest",
    "python",
    "hdl",
    "fallback",
    "generic",
)
"""The built-in files in order: a message's code decides before any words do, catch-alls stand last."""

FORMAT = 2
"""Of the cached JSON; a change of `Pattern` or of how literals are chosen counts it up."""


class Registry:
    """An ordered, checked set of patterns."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(sorted(entries, key=lambda entry: entry.pattern.tier != "benign"))
        self._by_id = {entry.pattern.id: entry.pattern for entry in self.entries}
        self.hash = hashlib.sha256(as_json(self.entries)).hexdigest()[:16]
        """Names the registry in records: the same patterns give the same hash."""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns in their order of precedence."""
        return tuple(entry.pattern for entry in self.entries)

    def get(self, pattern_id: str | None) -> Pattern | None:
        """The pattern of that id."""
        return self._by_id.get(pattern_id) if pattern_id is not None else None

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self.patterns)


def load_registry(extra: Sequence[Path | Pattern] = ()) -> Registry:
    """The built-in patterns with a project's own in front.

    Args:
        extra: Files, folders (their `*.yaml` by name) and patterns, the first with the highest precedence.

    Raises:
        PatternError: A file cannot be read or a pattern is wrong, with its place.
    """
    own = _own(extra)
    replaced = {entry.pattern.id for entry in own}
    return Registry([*own, *(entry for entry in _builtin() if entry.pattern.id not in replaced)])


@functools.cache
def load_subtypes() -> Mapping[str, Subtype]:
    """All subtypes of the taxonomy by name."""
    name = "builtin/subtypes.yaml"
    document = _parse(_builtin_text("subtypes"), name)
    subtypes = [check_subtype(raw, name=name) for raw in raw_entries(document, name=name)]
    return {subtype.id: subtype for subtype in subtypes}


def read_patterns(text: str, *, name: str) -> tuple[Entry, ...]:
    """The checked patterns of one YAML text.

    Args:
        text: The file's content.
        name: Its name, for errors.

    Raises:
        PatternError: The text is no YAML, or a pattern is wrong.
    """
    subtypes = load_subtypes()
    return tuple(
        check_pattern(raw, name=name, position=position, subtypes=subtypes)
        for position, raw in enumerate(raw_entries(_parse(text, name), name=name), start=1)
    )


def _own(extra: Sequence[Path | Pattern]) -> list[Entry]:
    entries: list[Entry] = []
    seen: dict[str, str] = {}
    for name, found in _sources(extra):
        for entry in found:
            if entry.pattern.id in seen:
                raise PatternError(
                    f"{name}: pattern {entry.pattern.id}: field id: also in {seen[entry.pattern.id]}; "
                    "rename one of them"
                )
            seen[entry.pattern.id] = name
            entries.append(entry)
    return entries


def _sources(extra: Sequence[Path | Pattern]) -> Iterator[tuple[str, tuple[Entry, ...]]]:
    for position, source in enumerate(extra, start=1):
        if isinstance(source, Pattern):
            raw = {name: getattr(source, name) for name in Pattern.__struct_fields__}
            yield (
                "given patterns",
                (check_pattern(raw, name="given patterns", position=position, subtypes=load_subtypes()),),
            )
            continue
        for path in sorted(source.glob("*.yaml")) if source.is_dir() else [source]:
            yield str(path), read_patterns(_read(path), name=str(path))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise PatternError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PatternError(f"{path}: is not UTF-8 (byte {error.start}); save it as UTF-8") from error


def _parse(text: str, name: str) -> object:
    # Imported here: a registry from the cache needs no YAML.
    import yaml  # noqa: PLC0415

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506  (a safe loader, the one in C where there is one)
    except yaml.YAMLError as error:
        raise PatternError(f"{name}: is no YAML: {' '.join(str(error).split())}") from error


def _builtin_text(name: str) -> str:
    return resources.files(__package__).joinpath("builtin", f"{name}.yaml").read_text(encoding="utf-8")


@functools.cache
def _builtin() -> tuple[Entry, ...]:
    texts = {name: _builtin_text(name) for name in (*BUILTIN, "subtypes")}
    digest = hashlib.sha256(f"format {FORMAT}".encode())
    for name, text in texts.items():
        digest.update(f"\0{name}\0{text}".encode())
    key = f"registry-{digest.hexdigest()[:24]}.json"
    cached = cache.read(key)
    if cached is not None:
        try:
            return from_json(cached)
        except ValueError:  # a damaged cache is made again
            pass
    entries: list[Entry] = []
    seen: set[str] = set()
    for name in BUILTIN:
        for entry in read_patterns(texts[name], name=f"builtin/{name}.yaml"):
            if entry.pattern.id in seen:
                raise PatternError(f"builtin/{name}.yaml: pattern {entry.pattern.id}: field id: is there twice")
            seen.add(entry.pattern.id)
            entries.append(entry)
    cache.write(key, as_json(entries))
    return tuple(entries)
