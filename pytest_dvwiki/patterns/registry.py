"""The patterns in use, in order of precedence, as `precedence` describes it."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki import reading, simulators
from pytest_dvwiki.patterns import compiled, triggers
from pytest_dvwiki.patterns.compiled import Compiled
from pytest_dvwiki.patterns.schema import (
    UNKNOWN,
    Pattern,
    PatternError,
    RegistryEntry,
    Subtype,
    check_pattern,
    check_subtype,
    own_subtype,
    raw_entries,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.patterns.triggers import Triggers
    from pytest_dvwiki.simulators.tool import Tool

_FIRST = ("dvwiki", "benign", "reports")
_BEFORE_TOOLS = ("localised", "environment", "other_tools", "uvm", "pyuvm", "cocotb")
_AFTER_TOOLS = ("fusesoc", "vhdl_libraries", "scala", "pytest", "python", "hdl", "fallback", "generic")
_CODES = "_codes"
"""Suffix of files with patterns that match messages by code."""
REPLACEMENT = "A pattern replaces all patterns of the same id that come after it in this order."
"""The rule for two patterns with the same id."""
BUILTIN_FOLDER = "builtin/"
"""Prefix of the source of a built-in pattern."""


class Registry:
    """An ordered, checked set of patterns.

    Args:
        entries: The patterns in order of precedence.
        replaced: Maps the id of each replaced pattern to its source.
        chosen: The triggers of the patterns; None to compute them at first use.
    """

    def __init__(
        self,
        entries: Sequence[RegistryEntry],
        replaced: Mapping[str, str] | None = None,
        chosen: Triggers | None = None,
    ) -> None:
        self.entries = _in_order(entries)
        self.replaced = dict(replaced or {})
        """Maps the id of each replaced pattern to its source."""
        self._triggers = chosen
        self._by_id = {entry.pattern.id: entry for entry in self.entries}
        self.hash = hashlib.sha256(msgspec.json.encode(self.patterns)).hexdigest()[:16]
        """Identifies the registry in records. The same patterns give the same hash, no matter which files have them."""

    @property
    def triggers(self) -> Triggers:
        """Return the triggers of the patterns, which are the literals that logs are scanned for."""
        if self._triggers is None:
            self._triggers = triggers.cached(self.entries, self.hash)
        return self._triggers

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Return the patterns in order of precedence."""
        return tuple(entry.pattern for entry in self.entries)

    @functools.cached_property
    def subtypes(self) -> Mapping[str, Subtype]:
        """Map the name of each subtype, built-in or added by a pattern of the project, to its description.

        If several patterns add the same subtype, the first of them describes it.
        """
        known = {UNKNOWN, *load_subtypes()}
        bringing = (pattern for pattern in reversed(self.patterns) if pattern.failure_subtype not in known)
        return {**load_subtypes(), **{pattern.failure_subtype: own_subtype(pattern) for pattern in bringing}}

    def get(self, pattern_id: str | None) -> Pattern | None:
        """Return the pattern with an id; None if no pattern has this id."""
        entry = self._by_id.get(pattern_id) if pattern_id is not None else None
        return entry.pattern if entry is not None else None

    def advice(
        self, pattern_id: str | None, failure_subtype: str, message: str, quoted: Callable[[str], str] = str
    ) -> str | None:
        """Return advice about a message; None if the pattern is unknown.

        Args:
            pattern_id: The pattern that matched.
            failure_subtype: Subtype of the failure. If the pattern has another subtype, the advice of the failure's
                subtype is returned.
            message: The message, whose names are filled in.
            quoted: Puts a name from the message into quotes, as the output needs them.
        """
        entry = self._by_id.get(pattern_id) if pattern_id is not None else None
        if entry is None:
            return None
        pattern = entry.pattern
        if failure_subtype != pattern.failure_subtype and failure_subtype in self.subtypes:
            return self.subtypes[failure_subtype].fix
        return pattern.advice({name: quoted(value) for name, value in entry.groups_in(message).items()})

    def source(self, pattern_id: str) -> str:
        """Return the file of the pattern with an id, as shown in messages."""
        return self._by_id[pattern_id].source

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self.patterns)


@functools.cache
def builtin_files() -> Mapping[str, Tool | None]:
    """Map the names of the built-in files, in order of precedence, to their tools; None for a file of several tools.

    Patterns for message codes precede patterns for wording; catch-alls come last.
    """
    tools = simulators.tools()
    return {
        **dict.fromkeys(_FIRST),
        **{name: tool for tool in tools if _is_there(name := f"{tool.name}{_CODES}")},
        **dict.fromkeys(_BEFORE_TOOLS),
        **{tool.name: tool for tool in tools if _is_there(tool.name)},
        **dict.fromkeys(_AFTER_TOOLS),
    }


def _is_there(name: str) -> bool:
    return compiled.FOLDER.joinpath(f"{name}.yaml").is_file()


def precedence() -> tuple[str, ...]:
    """Describe the groups of patterns in order of precedence: of several patterns that match, the first is used."""
    return (
        "benign patterns from all files, because their messages are not failures",
        "the project's own patterns: the files of .agent/patterns in alphabetical order, each from top to bottom",
        "patterns of hooks (pytest_dvwiki_patterns) and of the entry-point group dvwiki, in the order given",
        f"the built-in patterns, each file from top to bottom: {', '.join(builtin_files())}",
    )


def _raise(error: PatternError) -> None:
    raise error


def load_registry(
    extra: Sequence[Path | Pattern] = (), *, problem: Callable[[PatternError], None] = _raise
) -> Registry:
    """Return the registry of a project's own patterns followed by the built-in ones.

    Args:
        extra: Files, folders (with `*.yaml` sorted by name) and patterns, in order of precedence. No file or folder may
            have two patterns with one id.
        problem: Called with the error for each unreadable file and invalid pattern. If it returns, the file or pattern
            is left out.

    Raises:
        PatternError: A pattern is invalid, unless `problem` handles it.
    """
    own = (_each_once(_entries_of(source, problem), problem) for source in extra)
    entries: dict[str, RegistryEntry] = {}
    replaced: dict[str, str] = {}
    for found in (*own, builtin().entries):
        for entry in found:
            if entry.pattern.id in entries:
                replaced.setdefault(entry.pattern.id, entry.source)
            else:
                entries[entry.pattern.id] = entry
    for text in builtin().problems:
        problem(PatternError(f"{text}; this file belongs to pytest-dvwiki: install the package again"))
    is_builtin = len(entries) == len(builtin().entries) and not replaced
    return Registry(tuple(entries.values()), replaced, builtin().triggers if is_builtin else None)


@functools.cache
def load_subtypes() -> Mapping[str, Subtype]:
    """Return all built-in subtypes by name."""
    return {subtype.id: subtype for subtype in builtin().subtypes}


@functools.cache
def builtin() -> Compiled:
    """Return the built-in patterns and subtypes."""
    return compiled.load(_builtin_texts, compile_builtin)


def _read_each(
    text: str,
    name: str,
    subtypes: Mapping[str, Subtype],
    problem: Callable[[PatternError], None],
    *,
    user_written: bool = True,
) -> Iterator[RegistryEntry]:
    try:
        raws = raw_entries(_parse(text, name), name=name)
    except PatternError as error:
        problem(error)
        return
    for position, raw in enumerate(raws, start=1):
        try:
            yield check_pattern(
                raw, name=name, position=position, subtypes=subtypes, text=text, user_written=user_written
            )
        except PatternError as error:
            problem(error)


def _entries_of(source: Path | Pattern, problem: Callable[[PatternError], None]) -> Iterator[RegistryEntry]:
    if isinstance(source, Pattern):
        raw = {name: getattr(source, name) for name in Pattern.__struct_fields__}
        yield check_pattern(raw, name="given patterns", position=1, subtypes=load_subtypes())
        return
    for path in sorted(source.glob("*.yaml")) if source.is_dir() else [source]:
        try:
            text = _read(path)
        except PatternError as error:
            problem(error)
        else:
            yield from _read_each(text, str(path), load_subtypes(), problem)


def _each_once(entries: Iterator[RegistryEntry], problem: Callable[[PatternError], None]) -> Iterator[RegistryEntry]:
    seen: dict[str, str] = {}
    for entry in entries:
        name = entry.pattern.id
        if name in seen:
            problem(PatternError(f"{entry.source}: pattern {name}: field id: is also in {seen[name]}; rename one"))
        else:
            seen[name] = entry.source
            yield entry


def _read(path: Path) -> str:
    try:
        return reading.read_text(path)
    except OSError as error:
        raise PatternError(f"{path}: {reading.reason(error)}") from error


def _parse(text: str, name: str) -> object:
    # Imported here: a registry from the cache needs no YAML.
    from pytest_dvwiki import yamlio  # noqa: PLC0415

    try:
        return yamlio.load(text, name)
    except yamlio.YamlError as error:
        raise PatternError(f"{error}; its patterns are ignored until this is fixed") from error


def _builtin_texts() -> dict[str, str]:
    names = (*builtin_files(), "subtypes")
    return {name: compiled.FOLDER.joinpath(f"{name}.yaml").read_text(encoding="utf-8") for name in names}


def compile_builtin(texts: Mapping[str, str] | None = None) -> Compiled:
    """Parse and check the built-in YAML files. Invalid entries are left out and listed as problems.

    Args:
        texts: The content of the files by name; None for the package's own.

    Raises:
        PatternError: The file of subtypes is invalid, so no pattern can be checked.
    """
    texts = _builtin_texts() if texts is None else texts
    name = f"{BUILTIN_FOLDER}subtypes.yaml"
    document = _parse(texts["subtypes"], name)
    subtypes = tuple(check_subtype(raw, name=name) for raw in raw_entries(document, name=name))
    by_id = {subtype.id: subtype for subtype in subtypes}
    problems: list[str] = []

    def problem(error: PatternError) -> None:
        problems.append(str(error))

    found = (
        entry
        for name in builtin_files()
        for entry in _read_each(texts[name], f"{BUILTIN_FOLDER}{name}.yaml", by_id, problem, user_written=False)
    )
    in_order = _in_order(_each_once(found, problem))
    return Compiled(entries=in_order, subtypes=subtypes, triggers=triggers.choose(in_order), problems=tuple(problems))


def _in_order(entries: Iterable[RegistryEntry]) -> tuple[RegistryEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.pattern.tier != "benign"))
