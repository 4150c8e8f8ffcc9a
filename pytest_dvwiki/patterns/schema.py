"""The schema of a pattern: the fields of the YAML files, and the check of an entry.

A mistake raises a `PatternError` with file, pattern and field.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pytest_dvwiki.expressions import ExpressionError
from pytest_dvwiki.model import Canceller, OriginType, Tier
from pytest_dvwiki.patterns import expression
from pytest_dvwiki.reading import UserError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

CLASSES = (
    "compile_error",
    "elaboration_error",
    "sim_error",
    "uvm_error",
    "uvm_fatal",
    "python_error",
    "check_error",
    "tool_error",
    "unknown",
)
"""The error classes. The subtypes are in `builtin/subtypes.yaml`; projects can add further subtypes."""

UNKNOWN = "unknown"
_NAME = re.compile(r"\{([a-z_]+)\}")
_SUBTYPE = re.compile(r"[a-z][a-z0-9_]{1,59}", re.ASCII)
_LIKE = 0.85
"""Minimum similarity for a new subtype to be reported as a misspelling."""

PatternTier = Tier | Literal["benign"]
"""`benign` is for messages that look like failures but are not; it takes precedence over every other pattern."""


class PatternError(UserError, ValueError):
    """Raised for a mistake in a pattern; the message gives the problem, and file, line, pattern and field."""


class Pattern(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An entry of the registry: expressions for a message, its meaning, and advice."""

    id: str
    """The id, `tool.name`, unique in the registry."""
    tier: PatternTier
    match: tuple[str, ...]
    """Expressions; at least one must match the message.

    A match with equal groups `expected` and `actual` is ignored.
    """
    description: str
    error_class: str = UNKNOWN
    failure_subtype: str = UNKNOWN
    tools: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    """Expressions; if any of them matches the message, the pattern does not apply."""
    together_with: tuple[str, ...] = ()
    """Expressions; one must match a line of the same log, such as "warnings are treated as errors"."""
    noise: bool = False
    """Whether the message also occurs in passing tests, and so does not prove a failure."""
    cancelled_by: Canceller | None = None
    """Whose success proves that the message was harmless, if nothing else failed.

    `run`: success of the run or of the test, for messages that would stop the run if they were errors. `test`: only
    success of the test, because a test checks its results.
    """
    origin: OriginType | None = None
    fix: str = ""
    """What to do; `{name}` is replaced by the group of that name."""
    examples: tuple[str, ...] = ()
    counterexamples: tuple[str, ...] = ()

    def advice(self, groups: Mapping[str, str]) -> str:
        """Return what to do about a message.

        Args:
            groups: Values for the names in `fix`; the sentence is readable even if a value is missing.
        """
        others = [value for name, value in groups.items() if value and name not in {"expected", "actual"}]
        named = {"name": others[0]} if len(others) == 1 else {}
        return _NAME.sub(lambda found: (groups.get(found[1]) or named.get(found[1])) or f"the {found[1]}", self.fix)


class RegistryEntry(msgspec.Struct, frozen=True):
    """A checked pattern, with the literals that a text must contain before its expressions are tried."""

    pattern: Pattern
    literals: tuple[expression.Needs, ...]
    """The literals of each expression, from `expression.check`."""
    source: str = ""
    """File of the pattern, as shown in error messages."""
    user_written: bool = True
    """Whether a user wrote the pattern, so that its expressions are searched with RE2; built-in ones use `re`."""

    def groups_in(self, message: str) -> dict[str, str]:
        """Return the values of the pattern's named groups in a message."""
        from pytest_dvwiki.patterns import search  # noqa: PLC0415  # a registry that is only loaded has no use for it

        ready = search.compiled_by_re2 if self.user_written else search.compiled
        found = next((match for source in self.pattern.match if (match := ready(source).search(message))), None)
        return {name: value for name, value in found.groups.items() if value} if found else {}


class Subtype(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The initial description of a failure subtype in the wiki, for the team to improve."""

    id: str
    title: str
    description: str
    signature: str
    """Prose about what the failure looks like; may be empty."""
    fix: str
    checklist: str
    """A line for the author's checklist before the next design or testbench; may be empty."""
    origin: OriginType = "UNKNOWN"


def own_subtype(pattern: Pattern) -> Subtype:
    """Return a new subtype with the description of the project's pattern that adds it."""
    return Subtype(
        id=pattern.failure_subtype,
        title=pattern.failure_subtype.replace("_", " ").capitalize(),
        description=pattern.description,
        signature="",
        fix=pattern.advice({}),
        checklist="",
        origin=pattern.origin or "UNKNOWN",
    )


class _Place(msgspec.Struct, frozen=True):
    """The location of an entry in a file of patterns."""

    name: str
    """Name of the file."""
    text: str
    """Content of the file; empty for an entry that is not from a file."""
    position: int
    label: str
    """The pattern's id, or else its number in the file."""

    def error(self, problem: str, field: str = "") -> PatternError:
        """Return an error about the entry or one of its fields."""
        from pytest_dvwiki import yamlio  # noqa: PLC0415 (a registry without mistakes may need no YAML)

        known = yamlio.located(self.text, 2) if self.text else {}
        line = f":{yamlio.line_of((self.position - 1, field.partition('[')[0]), known)}" if known else ""
        which = f"field {field}: " if field else ""
        return PatternError(f"{self.name}{line}: pattern {self.label}: {which}{problem}")


def check_pattern(
    raw: object, *, name: str, position: int, subtypes: Collection[str], text: str = "", user_written: bool = True
) -> RegistryEntry:
    """Convert a parsed YAML entry to a checked pattern.

    Args:
        raw: The parsed entry.
        name: File name for the error.
        position: Number of the entry in the file, from 1.
        subtypes: The built-in subtypes; a project's patterns can add others.
        text: Content of the file, to find the line number for an error; empty if there is no file.
        user_written: Whether a user wrote the pattern, so that its expressions are searched with RE2.

    Raises:
        PatternError: A field is missing, unknown, of the wrong type, or not allowed by `expression`.
    """
    label = raw.get("id") if isinstance(raw, dict) else None
    place = _Place(name, text, position, label if isinstance(label, str) and label else f"no. {position}")
    for key in raw if isinstance(raw, dict) else ():
        if key not in Pattern.__struct_fields__:
            raise place.error(_unknown(key, Pattern.__struct_fields__), str(key))
    try:
        pattern = msgspec.convert(raw, Pattern)
    except msgspec.ValidationError as error:
        raise place.error(*_misfit(error)) from error
    for field, problem in _problems(pattern, subtypes, user_written=user_written):
        raise place.error(problem, field)
    # Nothing scans for benign messages: they only cancel what another pattern found.
    scanned = pattern.tier != "benign"
    literals = tuple(
        _checked(source, place, "match", needs_literal=scanned, user_written=user_written) for source in pattern.match
    )
    for field in ("unless", "together_with"):
        for source in getattr(pattern, field):
            _checked(source, place, field, needs_literal=False, user_written=user_written)
    return RegistryEntry(pattern=pattern, literals=literals, source=name, user_written=user_written)


def check_subtype(raw: object, *, name: str) -> Subtype:
    """Convert a parsed YAML entry to a subtype.

    Raises:
        PatternError: A field is missing, unknown or of the wrong type.
    """
    try:
        return msgspec.convert(raw, Subtype)
    except msgspec.ValidationError as error:
        label = raw.get("id", "?") if isinstance(raw, dict) else "?"
        problem, field = _misfit(error)
        raise PatternError(f"{name}: subtype {label}: {f'field {field}: ' if field else ''}{problem}") from error


def _misfit(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return the problem in a msgspec error, with a remedy, and the field with the problem (empty if unknown)."""
    from pytest_dvwiki import yamlio  # noqa: PLC0415 (as above)

    field, problem = yamlio.misfit(error)
    return f"{problem}; correct it", field


def _unknown(key: object, known: Iterable[str]) -> str:
    return f"unknown field; {_nearest(key, known)}"


def _nearest(key: object, known: Iterable[str]) -> str:
    from pytest_dvwiki import yamlio  # noqa: PLC0415 (as above)

    return yamlio.nearest(key, known)


def _problems(pattern: Pattern, subtypes: Collection[str], *, user_written: bool) -> Iterable[tuple[str, str]]:
    for field, what in (("id", "write tool.name"), ("description", "say what the message means")):
        if not getattr(pattern, field).strip():
            yield field, f"is empty; {what}"
    if not pattern.match:
        yield "match", "is empty; give at least one expression"
    if pattern.error_class not in CLASSES:
        yield "error_class", f"{pattern.error_class!r:.60} is not an error class; write one of {', '.join(CLASSES)}"
    name = pattern.failure_subtype
    if (
        name not in subtypes
        and name != UNKNOWN
        and (problem := _no_new_subtype(name, subtypes, user_written=user_written))
    ):
        yield "failure_subtype", f"{name!r:.60} {problem}"
    if pattern.tier == "benign":
        if (pattern.error_class, pattern.failure_subtype) != (UNKNOWN, UNKNOWN):
            yield "tier", "a benign pattern has no error_class and no failure_subtype; remove them"
    elif not pattern.fix.strip():
        yield "fix", "is empty; say what to do about the failure"


def _no_new_subtype(name: str, subtypes: Collection[str], *, user_written: bool) -> str | None:
    """Return the reason why a pattern may not add a subtype; None if it may."""
    if not user_written:
        return f"is not in the taxonomy; {_nearest(name, subtypes)}"
    if not _SUBTYPE.fullmatch(name):
        return "is not a name for a subtype; write lower-case letters, digits and underscores"
    import difflib  # noqa: PLC0415  # few patterns add a subtype

    near = difflib.get_close_matches(name, subtypes, n=1, cutoff=min(_LIKE, 1 - 1 / len(name)))
    return f"is very similar to {near[0]!r}; use that, or a clearly different name" if near else None


def _checked(source: str, place: _Place, field: str, *, needs_literal: bool, user_written: bool) -> expression.Needs:
    try:
        return expression.check(source, needs_literal=needs_literal, user_written=user_written)
    except ExpressionError as error:
        raise place.error(f"{source!r}: {error}", field) from error


def raw_entries(document: Any, *, name: str) -> list[object]:
    """Return the entries of a parsed YAML document; empty for an empty file.

    Raises:
        PatternError: The document is not a list.
    """
    if document is None:
        return []
    if not isinstance(document, list):
        raise PatternError(f"{name}: a file of patterns is a list; start each entry with `- id:`")
    return document
