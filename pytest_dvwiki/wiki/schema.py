"""The wiki's `schema.yaml`: which sections and roles there are, who may write what, and who hands work to whom.

A section is a category (`bugs`), all pages in a category or folder (`bugs/*`, `specs/axi/*`), one page
(`bugs/RTL_20261121_480127`), the part of a page under a heading (`bugs/*#Resolution`), or a separate file (`log`,
`handoffs`, and any section that a project adds with a title). If several sections match an address, the most specific
section applies.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import Struct

from pytest_dvwiki import reading, yamlio
from pytest_dvwiki.wiki.page_summary import CATEGORIES
from pytest_dvwiki.wiki.writing.scaffold import SCHEMA_YAML

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Mode = Literal["snapshot", "log"]
ROLES = ("ingest", "agent", "reviewer", "human")
"""The roles that every wiki has; a schema can add others."""
DIRECTLY = frozenset({"ingest", "reviewer", "human"})
"""Roles that write without a review."""
MODES: tuple[Mode, ...] = get_args(Mode)
LOG, HANDOFFS = "log", "handoffs"
NAME = "schema.yaml"
READ_CAP = 4
_KEYS = ("title", "description", "mode", "writable_by", "read_cap")
_TOP = ("schema", "sections", "roles", "pipeline", "max_steps")
_VERSION = 1
_DEPTH = 3
"""Error messages give lines for keys up to this depth: `sections`, a section's name, and a key of the section."""
_SECTION = re.compile(r"(?P<category>[a-z][a-z0-9_-]*)(?:/(?P<page>[^#]*[^#/]))?(?:#(?P<heading>.+))?")
_ROLE = re.compile(r"[a-z][a-z0-9_-]{0,30}")
_TAKEN = frozenset({"flaky", "index", "review", "schema", "wiki"})
"""Reserved names: other files and folders of a wiki use them, so no section can."""


class SchemaError(reading.UserError, ValueError):
    """Raised for an invalid `schema.yaml`; the message gives file, line and remedy."""


class Address(Struct, frozen=True):
    """The address of a category, a page, or a part of a page."""

    category: str
    page: str | None = None
    """Path of the page in its category, without its suffix.

    In a schema, `*` means every page, and `axi/*` every page in `axi`.
    """
    heading: str | None = None

    @classmethod
    def of(cls, text: str) -> Address | None:
        """Parse `category`, `category/page` or `category/page#Heading`; the page may end with `.md`.

        Returns:
            The address; None if the string is not an address.
        """
        found = _SECTION.fullmatch(text.strip())
        if found is None or found["category"] in _TAKEN:
            return None
        if found["category"] not in CATEGORIES and (found["page"] or found["heading"]):
            return None
        page = found["page"] and found["page"].removesuffix(".md")
        if (found["heading"] and not page) or (page and not all(page.split("/"))):
            return None
        return cls(found["category"], page, found["heading"])

    @property
    def path(self) -> str:
        """Return the path of the address's file, relative to the wiki; for a category, its `_index.md`."""
        return f"{self.category}/{self.page or '_index'}.md" if self.category in CATEGORIES else f"{self.category}.md"

    def __str__(self) -> str:
        page = f"/{self.page}" if self.page else ""
        return f"{self.category}{page}{f'#{self.heading}' if self.heading else ''}"


class Section(Struct, frozen=True):
    """Mode and permissions of one section."""

    address: Address
    mode: Mode
    writable_by: tuple[str, ...]
    read_cap: int
    """Maximum number of times that a reader may read the section in one turn."""
    title: str = ""
    description: str = ""

    def covers(self, address: Address) -> bool:
        """Return whether the section applies to an address."""
        mine = self.address
        return (
            mine.category == address.category
            and (mine.page in {None, address.page} or _is_below(address.page, mine.page))
            and mine.heading in {None, address.heading}
        )

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Return a sort key for specificity: a heading outranks a single page, and a page outranks a folder."""
        page = self.address.page or ""
        return self.address.heading is not None, bool(page) and not page.endswith("*"), len(page)


def _is_below(page: str | None, folder: str | None) -> bool:
    """Return whether a section's page pattern, such as `axi/*`, includes a page."""
    return page is not None and folder is not None and folder.endswith("*") and page.startswith(folder[:-1])


class Schema(Struct, frozen=True):
    """The sections and roles of a wiki."""

    sections: tuple[Section, ...]
    roles: tuple[str, ...] = ROLES
    pipeline: tuple[str, ...] = ()
    """The roles in the order of their work; empty if the wiki has no pipeline."""
    max_steps: int = 0
    """Maximum number of handoffs of one task."""

    def section_of(self, address: Address) -> Section | None:
        """Return the section that applies to an address; None if no section does."""
        return max((each for each in self.sections if each.covers(address)), key=lambda each: each.rank, default=None)

    def writable(self, role: str) -> list[str]:
        """Return the sections that a role may write."""
        return [str(section.address) for section in self.sections if role in section.writable_by]

    def files(self) -> list[Section]:
        """Return the sections that are separate files, such as `log`."""
        return [section for section in self.sections if section.address.category not in CATEGORIES]


def schema_text(wiki: Path) -> str:
    """Return the content of a wiki's `schema.yaml`, or the default content if the file is missing.

    Raises:
        SchemaError: The file cannot be read.
    """
    path = wiki / NAME
    try:
        return reading.read_text(path)
    except FileNotFoundError:
        return SCHEMA_YAML
    except OSError as error:
        raise SchemaError(f"{path}: {reading.reason(error)}") from error


def load_schema(wiki: Path) -> Schema:
    """Read a wiki's `schema.yaml`; return the default schema if the file is missing.

    Raises:
        SchemaError: The schema is invalid.
    """
    return parsed(schema_text(wiki), str(wiki / NAME))


def with_section(text: str, entry: str) -> str:
    """Return the content of a `schema.yaml` with a new section above the existing sections.

    Args:
        text: The content of the file.
        entry: The section as one line: `name: {mode: …, …}`.

    Raises:
        SchemaError: The entry is invalid or not exactly one new section, or the file does not have one section per
            line.
    """
    entry = entry.strip()
    try:
        document = yamlio.load(entry, "section")
    except yamlio.YamlError as error:
        raise SchemaError(str(error)) from error
    if not isinstance(document, dict) or len(document) != 1 or "\n" in entry:
        raise SchemaError("write the section as one line: `name: {mode: log, writable_by: [agent]}`")
    name = str(*document)
    if str(Address.of(name)) in {str(section.address) for section in parsed(text).sections}:
        raise SchemaError(f"there is a section {name} already; ask a person to change it in {NAME}")
    lines = text.splitlines(keepends=True)
    children = [line for place, line in yamlio.located(text, 2).items() if place[:1] == ("sections",) and place[1:]]
    first = min(children, default=1) - 1
    if not children or lines[first].startswith("sections"):
        raise SchemaError(
            f"no section was added, because {NAME} does not have each section on its own line; ask a person to add"
            f" `{entry}`"
        )
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    changed = "".join([*lines[:first], f"{indent}{entry}\n", *lines[first:]])
    parsed(changed)
    return changed


def parsed(text: str, name: str = NAME) -> Schema:
    """Return the schema that a text in the form of `schema.yaml` defines.

    Args:
        text: The content of the file.
        name: The file, for error messages.

    Raises:
        SchemaError: The schema is invalid.
    """
    try:
        document = yamlio.load(text, name)
    except yamlio.YamlError as error:
        raise SchemaError(str(error)) from error
    return _SchemaReader(name, yamlio.located(text, _DEPTH)).schema(document)


class _SchemaReader(Struct, frozen=True):
    """Makes a schema from a document; a key that would have no effect is an error."""

    _path: str
    """The file, for error messages."""
    _lines: Mapping[tuple[str | int, ...], int]
    """Maps the key path of each entry in the document to its line number."""

    def schema(self, document: Any) -> Schema:
        """Return the schema.

        Raises:
            SchemaError: The document is not a valid schema.
        """
        if not isinstance(document, dict) or not isinstance(document.get("sections"), dict):
            raise SchemaError(
                f"{self._path}: no mapping `sections`; remove the file and run `dvwiki init` to get the default again"
            )
        self._reject_unknown(document, _TOP)
        if document.get("schema", _VERSION) != _VERSION:
            raise self._error(
                f"schema {document['schema']!r:.60} is unknown to this version of dvwiki; write {_VERSION}", ("schema",)
            )
        own = self._names(document, "roles", _ROLE.fullmatch, "the name of a role: lower-case letters, digits, _ and -")
        roles = (*ROLES, *(role for role in own if role not in ROLES))
        sections = tuple(self._section(str(name), values, roles) for name, values in document["sections"].items())
        pipeline = self._names(document, "pipeline", roles.__contains__, f"one of {', '.join(roles)}")
        for role in own:
            if role in ROLES or role not in {*pipeline, *(each for one in sections for each in one.writable_by)}:
                raise self._error(
                    f"the role {role!r} has no effect: every wiki has it, or neither a section nor the pipeline uses"
                    " it; remove it",
                    ("roles",),
                )
        found = Schema(sections, roles, pipeline, self._steps(document, pipeline))
        self._check_handoffs(found)
        return found

    def _names(
        self, document: Mapping[str, Any], key: str, is_valid: Callable[[str], object], valid: str
    ) -> tuple[str, ...]:
        """Return the list under a key, after checking its items."""
        values = document.get(key) or []
        for value in values if isinstance(values, list) else [values]:
            if not (isinstance(values, list) and isinstance(value, str) and is_valid(value)):
                raise self._error(
                    f"{key} {value!r:.60} is not valid; write a list in which each item is {valid}", (key,)
                )
            if values.count(value) > 1:
                raise self._error(f"{key} lists {value!r} twice; remove one", (key,))
        return tuple(values)

    def _steps(self, document: Mapping[str, Any], pipeline: Sequence[str]) -> int:
        steps = document.get("max_steps")
        if steps is None:
            return 2 * len(pipeline)
        if not pipeline:
            raise self._error("max_steps has no effect without a pipeline; remove it, or add one", ("max_steps",))
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
            raise self._error(f"max_steps {steps!r:.60} is not a number of handoffs; write 1 or more", ("max_steps",))
        return steps

    def _check_handoffs(self, schema: Schema) -> None:
        """Check that each role of the pipeline may write to the handoffs section.

        Raises:
            SchemaError: A role may not write to that section.
        """
        section = schema.section_of(Address(HANDOFFS))
        for role in schema.pipeline:
            if section is None or section.mode != "log" or role not in section.writable_by:
                remedy = f"`{HANDOFFS}: {{title: Handoffs, mode: log, writable_by: [{', '.join(schema.pipeline)}]}}`"
                raise self._error(
                    f"the role {role} of the pipeline cannot hand on its work; define the section as {remedy}",
                    ("pipeline",),
                )

    def _section(self, name: str, values: Any, roles: Sequence[str]) -> Section:
        place = ("sections", name)
        address = Address.of(name)
        is_own = address is not None and address.category not in {*CATEGORIES, LOG, HANDOFFS}
        if address is None or (is_own and not (isinstance(values, dict) and values.get("title"))):
            known = f"{', '.join((*CATEGORIES, LOG))} or {HANDOFFS}, with `/page` and `#Heading`"
            raise self._error(
                f"unknown section; write one of {known}, or give it a title if it is a separate file", place
            )
        if not isinstance(values, dict):
            raise self._error(f"it has no keys; give it one or more of {', '.join(_KEYS)}", place)
        self._reject_unknown(values, _KEYS, place)
        mode = values.get("mode", "snapshot")
        if mode not in MODES:
            raise self._error(f"mode {mode!r:.60} is unknown; write one of {', '.join(MODES)}", (*place, "mode"))
        writers = values.get("writable_by", [])
        strange = [role for role in writers if role not in roles] if isinstance(writers, list) else [writers]
        if strange:
            raise self._error(
                f"writable_by must be a list of known roles, not {strange[0]!r:.60}; write one or more of"
                f" {', '.join(roles)} in brackets",
                (*place, "writable_by"),
            )
        cap = values.get("read_cap", READ_CAP)
        if not isinstance(cap, int) or isinstance(cap, bool) or cap < 1:
            raise self._error(f"read_cap {cap!r:.60} is not a number of reads; write 1 or more", (*place, "read_cap"))
        for key in ("title", "description"):
            text = values.get(key, "")
            if not isinstance(text, str) or len(text.splitlines()) > 1:
                raise self._error(f"{key} {text!r:.60} is not a single line of text; write one line", (*place, key))
        return Section(address, mode, tuple(writers), cap, values.get("title", ""), values.get("description", ""))

    def _reject_unknown(self, values: Mapping[str, Any], keys: tuple[str, ...], place: tuple[str, ...] = ()) -> None:
        """Reject unknown keys.

        Raises:
            SchemaError: There is an unknown key.
        """
        for key in values:
            if key not in keys:
                raise self._error(f"unknown key {key!r}; {yamlio.nearest(key, keys)}", (*place, str(key)))

    def _error(self, what: str, place: tuple[str, ...]) -> SchemaError:
        section = f"section {place[1]!r}: " if len(place) > 1 else ""
        return SchemaError(f"{self._path}:{yamlio.line_of(place, self._lines)}: {section}{what}")
