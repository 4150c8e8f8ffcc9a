"""Who may write what: the sections of `wiki/schema.yaml`, which a project may change.

A section is a category (`bugs`), the pages of one (`bugs/*`), one page (`bugs/RTL_20261121_480127`), or a part of a
page under a heading (`bugs/*#Resolution`). Of several that fit, the one that names most decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, get_args

from pytest_dvwiki import yamlio
from pytest_dvwiki.wiki.listed import CATEGORIES
from pytest_dvwiki.wiki.scaffold import SCHEMA_YAML

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Role = Literal["ingest", "agent", "reviewer", "human"]
Mode = Literal["snapshot", "log"]
ROLES: tuple[Role, ...] = get_args(Role)
MODES: tuple[Mode, ...] = get_args(Mode)
LOG = "log"
READ_CAP = 4
_KEYS = ("mode", "writable_by", "read_cap")
_TOP = ("schema", "sections", "pipeline", "max_steps")
_VERSION = 1
_SECTION = re.compile(r"(?P<category>[a-z]+)(?:/(?P<page>[^#/]+))?(?:#(?P<heading>.+))?")


class SchemaError(ValueError):
    """A `schema.yaml` that cannot be used; its text names file, place and remedy."""


@dataclass(frozen=True, slots=True)
class Address:
    """What a caller speaks of: a category, a page, or a part of a page."""

    category: str
    page: str | None = None
    """The page's file name without its ending; `*` in a schema stands for every page."""
    heading: str | None = None

    @classmethod
    def of(cls, text: str) -> Address | None:
        """Reads `category`, `category/page` or `category/page#Heading`; a page may have its ending `.md`.

        Returns:
            None where the text is no address.
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
    """What holds for one section."""

    address: Address
    mode: Mode
    writable_by: tuple[Role, ...]
    read_cap: int
    """Reads of the section in one session of a store."""

    def covers(self, address: Address) -> bool:
        """Whether the section speaks of an address."""
        mine = self.address
        return (
            mine.category == address.category
            and (mine.page in {None, address.page} or (mine.page == "*" and address.page is not None))
            and mine.heading in {None, address.heading}
        )

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """How much the section names: a heading counts most, then one page, then all pages of a category."""
        page = self.address.page
        return self.address.heading is not None, page not in {None, "*"}, page is not None


@dataclass(frozen=True, slots=True)
class Schema:
    """The sections of a wiki."""

    sections: tuple[Section, ...]

    def section_of(self, address: Address) -> Section | None:
        """The section that decides about an address."""
        return max((each for each in self.sections if each.covers(address)), key=lambda each: each.rank, default=None)

    def writable(self, role: Role) -> list[str]:
        """The sections that a role may write."""
        return [str(section.address) for section in self.sections if role in section.writable_by]


def load_schema(wiki: Path) -> Schema:
    """Reads a wiki's `schema.yaml`; the one of a new wiki where it has none.

    Raises:
        SchemaError: It holds something that cannot be used.
    """
    path = wiki / "schema.yaml"
    try:
        text: str | bytes = path.read_bytes()
    except FileNotFoundError:
        text = SCHEMA_YAML
    except OSError as error:
        raise SchemaError(f"{path}: {error.strerror}; see that it can be read") from error
    try:
        document = yamlio.load(text, str(path))
    except yamlio.YamlError as error:
        raise SchemaError(str(error)) from error
    return Schema(tuple(_sections(document, str(path))))


def _sections(document: Any, path: str) -> Iterable[Section]:
    if not isinstance(document, dict) or not isinstance(document.get("sections"), dict):
        raise SchemaError(
            f"{path}: no mapping `sections`; remove the file and run `dvwiki init` to get the first one back"
        )
    _known(document, _TOP, path)
    if document.get("schema", _VERSION) != _VERSION:
        raise SchemaError(f"{path}: schema {document['schema']!r} is not one that this version reads: {_VERSION}")
    for name, values in document["sections"].items():
        place = f"{path}: section {name!r}"
        address = Address.of(str(name))
        if address is None:
            raise SchemaError(
                f"{place} is none; write one of {', '.join(CATEGORIES)} or {LOG}, with `/page` and `#Heading`"
            )
        if not isinstance(values, dict):
            raise SchemaError(f"{place} has no keys; give it {', '.join(_KEYS)}")
        _known(values, _KEYS, place)
        yield _section(address, values, place)


def _section(address: Address, values: Mapping[str, Any], place: str) -> Section:
    mode = values.get("mode", "snapshot")
    if mode not in MODES:
        raise SchemaError(f"{place}: mode {mode!r} is none of {', '.join(MODES)}")
    roles = values.get("writable_by", [])
    strange = [role for role in roles if role not in ROLES] if isinstance(roles, list) else [roles]
    if strange:
        raise SchemaError(f"{place}: writable_by {strange[0]!r} is none of {', '.join(ROLES)}")
    cap = values.get("read_cap", READ_CAP)
    if not isinstance(cap, int) or isinstance(cap, bool) or cap < 1:
        raise SchemaError(f"{place}: read_cap {cap!r} is no number of reads; write 1 or more")
    return Section(address, mode, tuple(roles), cap)


def _known(values: Mapping[str, Any], keys: tuple[str, ...], place: str) -> None:
    """Refuses a key that nothing reads.

    Raises:
        SchemaError: There is one.
    """
    for key in values:
        if key not in keys:
            near = get_close_matches(str(key), keys, n=1)
            meant = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(keys)}"
            raise SchemaError(f"{place}: unknown key {key!r}{meant}")
