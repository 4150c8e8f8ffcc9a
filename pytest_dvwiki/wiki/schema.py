"""Write permissions: the sections of `wiki/schema.yaml`, which a project may change.

A section is a category (`bugs`), all pages of one (`bugs/*`), one page (`bugs/RTL_20261121_480127`), or the part of a
page under a heading (`bugs/*#Resolution`). If several match, the most specific one decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from pytest_dvwiki import reading, yamlio
from pytest_dvwiki.wiki.page_summary import CATEGORIES
from pytest_dvwiki.wiki.writing.scaffold import SCHEMA_YAML

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Role = Literal["ingest", "agent", "reviewer", "human"]
Mode = Literal["snapshot", "log"]
ROLES: tuple[Role, ...] = get_args(Role)
MODES: tuple[Mode, ...] = get_args(Mode)
LOG = "log"
NAME = "schema.yaml"
READ_CAP = 4
_KEYS = ("mode", "writable_by", "read_cap")
_TOP = ("schema", "sections", "pipeline", "max_steps")
_VERSION = 1
_DEPTH = 3
"""Levels of keys whose lines are looked up: `sections`, a section's name, and a key in it."""
_SECTION = re.compile(r"(?P<category>[a-z]+)(?:/(?P<page>[^#/]+))?(?:#(?P<heading>.+))?")


class SchemaError(ValueError):
    """An invalid `schema.yaml`; its text says file, line and remedy."""


@dataclass(frozen=True, slots=True)
class Address:
    """A place in the wiki: a category, a page, or a part of a page."""

    category: str
    page: str | None = None
    """The page's file name without suffix; `*` in a schema means every page."""
    heading: str | None = None

    @classmethod
    def of(cls, text: str) -> Address | None:
        """Parse `category`, `category/page` or `category/page#Heading`; a page may have its suffix `.md`.

        Returns:
            None if the text is not an address.
        """
        found = _SECTION.fullmatch(text.strip())
        if found is None or found["category"] not in {*CATEGORIES, LOG} or (found["heading"] and not found["page"]):
            return None
        return cls(found["category"], found["page"] and found["page"].removesuffix(".md"), found["heading"])

    def __str__(self) -> str:
        page = f"/{self.page}" if self.page else ""
        return f"{self.category}{page}{f'#{self.heading}' if self.heading else ''}"


@dataclass(frozen=True, slots=True)
class Section:
    """Mode and permissions of one section."""

    address: Address
    mode: Mode
    writable_by: tuple[Role, ...]
    read_cap: int
    """Maximum number of reads of the section in one session of a store."""

    def covers(self, address: Address) -> bool:
        """Tell whether the section applies to an address."""
        mine = self.address
        return (
            mine.category == address.category
            and (mine.page in {None, address.page} or (mine.page == "*" and address.page is not None))
            and mine.heading in {None, address.heading}
        )

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """Return how specific the section is: a heading counts most, then one page, then all pages of a category."""
        page = self.address.page
        return self.address.heading is not None, page not in {None, "*"}, page is not None


@dataclass(frozen=True, slots=True)
class Schema:
    """The sections of a wiki."""

    sections: tuple[Section, ...]

    def section_of(self, address: Address) -> Section | None:
        """Return the section that decides about an address; None if none applies."""
        return max((each for each in self.sections if each.covers(address)), key=lambda each: each.rank, default=None)

    def writable(self, role: Role) -> list[str]:
        """Return the sections that a role may write."""
        return [str(section.address) for section in self.sections if role in section.writable_by]


def load_schema(wiki: Path) -> Schema:
    """Read a wiki's `schema.yaml`; if it has none, return the schema of a new wiki.

    Raises:
        SchemaError: It is invalid.
    """
    path = wiki / NAME
    try:
        text = reading.read_text(path)
    except FileNotFoundError:
        text = SCHEMA_YAML
    except OSError as error:
        raise SchemaError(f"{path}: {reading.reason(error)}") from error
    try:
        document = yamlio.load(text, str(path))
    except yamlio.YamlError as error:
        raise SchemaError(str(error)) from error
    return Schema(tuple(_SectionReader(str(path), yamlio.located(text, _DEPTH)).sections(document)))


class _SectionReader:
    """Reader that makes sections from a document.

    Args:
        path: The file, for error messages.
        lines: Line numbers of its entries, by the keys that lead to each.
    """

    def __init__(self, path: str, lines: Mapping[tuple[str | int, ...], int]) -> None:
        self._path = path
        self._lines = lines

    def sections(self, document: Any) -> Iterator[Section]:
        """Yield the sections.

        Raises:
            SchemaError: One is invalid.
        """
        if not isinstance(document, dict) or not isinstance(document.get("sections"), dict):
            raise SchemaError(
                f"{self._path}: no mapping `sections`; remove the file and run `dvwiki init` to get the first one back"
            )
        self._reject_unknown(document, _TOP)
        if document.get("schema", _VERSION) != _VERSION:
            raise self._error(
                f"schema {document['schema']!r:.60} is not one that this version reads; write {_VERSION}", ("schema",)
            )
        for name, values in document["sections"].items():
            yield self._section(str(name), values)

    def _section(self, name: str, values: Any) -> Section:
        place = ("sections", name)
        address = Address.of(name)
        if address is None:
            known = f"{', '.join(CATEGORIES)} or {LOG}, with `/page` and `#Heading`"
            raise self._error(f"there is no such section; write one of {known}", place)
        if not isinstance(values, dict):
            raise self._error(f"it has no keys; give it {', '.join(_KEYS)}", place)
        self._reject_unknown(values, _KEYS, place)
        mode = values.get("mode", "snapshot")
        if mode not in MODES:
            raise self._error(f"mode {mode!r:.60} is unknown; write one of {', '.join(MODES)}", (*place, "mode"))
        roles = values.get("writable_by", [])
        strange = [role for role in roles if role not in ROLES] if isinstance(roles, list) else [roles]
        if strange:
            raise self._error(
                f"writable_by {strange[0]!r:.60} is unknown; write one of {', '.join(ROLES)}", (*place, "writable_by")
            )
        cap = values.get("read_cap", READ_CAP)
        if not isinstance(cap, int) or isinstance(cap, bool) or cap < 1:
            raise self._error(f"read_cap {cap!r:.60} is not a number of reads; write 1 or more", (*place, "read_cap"))
        return Section(address, mode, tuple(roles), cap)

    def _reject_unknown(self, values: Mapping[str, Any], keys: tuple[str, ...], place: tuple[str, ...] = ()) -> None:
        """Reject unknown keys.

        Raises:
            SchemaError: There is one.
        """
        for key in values:
            if key not in keys:
                raise self._error(f"unknown key {key!r}; {yamlio.nearest(key, keys)}", (*place, str(key)))

    def _error(self, what: str, place: tuple[str, ...]) -> SchemaError:
        section = f"section {place[1]!r}: " if len(place) > 1 else ""
        return SchemaError(f"{self._path}:{yamlio.line_of(place, self._lines)}: {section}{what}")
