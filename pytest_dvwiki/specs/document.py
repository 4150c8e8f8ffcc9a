"""Parses a specification: its sections, fields, items, waivers, scenarios, expressions and blocks of code."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from pytest_dvwiki.yamlio import YamlError, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEADINGS = ("1. Parsing Logic", "2. Check Logic", "3. Waiver Logic", "4. Implementation Guide")
_HEADING = re.compile(r"^(#{3,5})[ \t]+(.+?)[ \t]*$", re.MULTILINE)
_LISTED = re.compile(r"^(\d+)\.[ \t]+\*\*(.+?)\*\*", re.MULTILINE)
_NUMBER = re.compile(r"(?:Item[ \t]+)?(\d)\.(\d+)[.:]?[ \t]+(.+)")
_SCENARIO = re.compile(r"^(?:#{3,5}[ \t]+|(?=\*\*.*\*\*:?$))(?:\**\d[\d.]*[ \t]+)?\**(Scenario\b.*)", re.MULTILINE)
_NO_ITEM = re.compile(r"pattern|overall|edge case|sequence|summary|pass/fail", re.IGNORECASE)
_NO_WAIVER = re.compile(r"\bmodes?\b|guidance|mapping|traceab|summary|overview", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
_REFERENCE = re.compile(r"""\bparsed_fields((?:\.\w+\b(?!\()|\[["']\w+["']\])+)""")
_STEP = re.compile(r"\w+")
_FIELDS_LINE = re.compile(r"^[ \t]*[-*][ \t]+(?:\*\*)?(?:Required )?Fields(?:\*\*)?:(.*)$", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_FIELD = re.compile(
    r"^[ \t]*[-*][ \t]+(?:\*\*)?`?([A-Za-z_][\w.]*)`?(?:\*\*)?[ \t]*(?:\([^)\n]*\))?[ \t]*:", re.MULTILINE
)
_ITEMS = re.compile(r"\bItems?\b[ \t*_`:(]*((?:2\.\d+|[\s,;&`\u2013-]|\band\b|\bor\b|\bto\b|\bthrough\b)+)")
_RANGE = re.compile(r"2\.(\d+)\s*(?:-|\u2013|\bto\b|\bthrough\b)\s*2\.(\d+)")
_ITEM = re.compile(r"2\.(\d+)")
_ALL_ITEMS = re.compile(r"\ball(?: \w+)? (?:validation )?items\b", re.IGNORECASE)
_EXPRESSION = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?(?:\*\*)?([\w /-]*?(?:pattern|expression|regex|regexp))(?:\*\*)?:(?:\*\*)?[ \t]*(\S.*)$",
    re.MULTILINE | re.IGNORECASE,
)
_OTHER_PATTERN = re.compile(r"file|name|glob|keyword|item|waiver", re.IGNORECASE)
_PREFIXED = re.compile(r"""(["'`])regex:(.+?)\1""")
_METADATA = frozenset({"value", "source_file", "line_number", "matched_content", "parsed_fields"})
"""The fields that every extraction has."""


class Entry(Struct, frozen=True):
    """An item, a waiver or a scenario."""

    number: str
    title: str
    text: str


class Block(Struct, frozen=True):
    """A code block."""

    line: int
    """Line number of the opening fence, from 1."""
    language: str
    text: str
    is_closed: bool


def sections_of(text: str) -> dict[str, str]:
    """Map the heading of each of the four sections to its text; missing sections are left out."""
    return by_heading(re.split(rf"^## ({'|'.join(map(re.escape, HEADINGS))})[ \t]*$", text, flags=re.MULTILINE))


def by_heading(pieces: Sequence[str]) -> dict[str, str]:
    """Map headings to the text below them, given a text split at headings; only the first of equal headings is used."""
    found: dict[str, str] = {}
    for heading, body in zip(pieces[1::2], pieces[2::2], strict=True):
        found.setdefault(heading, body)
    return found


def items_of(section: str) -> list[Entry]:
    """Return the items of section 2: numbered headings or, if there are none, numbered names in bold."""
    found = [each for each in _numbered(section, "2") if not _NO_ITEM.search(each.title)]
    return found or [Entry(f"2.{each.number}", each.title, each.text) for each in _bold(section)]


def waivers_of(section: str) -> list[Entry]:
    """Return the waivers of section 3: numbered headings or, if there are none, numbered names in bold."""
    return [each for each in _numbered(section, "3") or _bold(section) if not _NO_WAIVER.search(each.title)]


def scenarios_of(section: str) -> list[Entry]:
    """Return the scenarios of section 4: headings and bold lines that begin with "Scenario"."""
    found = [*_SCENARIO.finditer(section)]
    starts = sorted({each.start() for each in (*found, *_HEADING.finditer(section))})
    ends = [next((start for start in starts if start > each.start()), len(section)) for each in found]
    pairs = zip(found, ends, strict=True)
    return [Entry("", each[1].strip("*: \t"), section[each.start() : end]) for each, end in pairs]


def _headed(section: str) -> Iterator[Entry]:
    """Yield each heading with the text up to the next heading of the same or a higher level."""
    found = [*_HEADING.finditer(section)]
    for at, each in enumerate(found):
        end = next((later.start() for later in found[at + 1 :] if len(later[1]) <= len(each[1])), len(section))
        yield Entry("", each[2].replace("*", "").replace("`", "").strip(), section[each.start() : end])


def _numbered(section: str, chapter: str) -> list[Entry]:
    found = ((each, _NUMBER.fullmatch(each.title)) for each in _headed(section))
    return [Entry(f"{hit[1]}.{hit[2]}", hit[3].strip(), each.text) for each, hit in found if hit and hit[1] == chapter]


def _bold(section: str) -> list[Entry]:
    found = [*_LISTED.finditer(section)]
    ends = [each.start() for each in found[1:]] + [len(section)] * bool(found)
    pairs = zip(found, ends, strict=True)
    return [Entry(each[1], each[2].strip(" :"), section[each.start() : end]) for each, end in pairs]


def named_items(text: str, items: list[Entry]) -> tuple[list[Entry], list[str]]:
    """Return the items mentioned in a text by number or title, and the mentioned numbers that do not exist."""
    numbers: dict[str, None] = {}
    for found in _ITEMS.finditer(text):
        for first, last in _RANGE.findall(found[1]):
            numbers |= {f"2.{number}": None for number in range(int(first), min(int(last), int(first) + 99) + 1)}
        numbers |= {f"2.{number}": None for number in _ITEM.findall(found[1])}
    words = text.casefold()
    named = [
        each for each in items if each.number in numbers or each.title.casefold() in words or _ALL_ITEMS.search(text)
    ]
    return named, [number for number in numbers if number not in {each.number for each in items}]


def keywords_of(waiver: Entry) -> list[str]:
    """Return a waiver's keywords: quoted strings and code spans after `keywords:`, or else comma-separated parts."""
    found = re.search(r"keywords?(?:\*\*)?:(.*(?:\n[ \t]+(?![ \t]*[-*]).*)*)", waiver.text, re.IGNORECASE)
    if found is None:
        return []
    quoted = [one or two for one, two in re.findall(r'"([^"\n]+)"|`([^`\n]+)`', found[1])]
    return quoted or [word.strip(" .*") for word in found[1].split(",") if word.strip(" .*")]


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of code in a text. A block without a closing fence ends at the next block or the text's end."""
    found: list[Block] = []
    fence = language = ""
    first, lines = 0, list[str]()
    for number, line in enumerate(text.split("\n"), start=1):
        hit = _FENCE.match(line)
        if fence and hit and hit[1].startswith(fence):
            found.append(Block(first, language, "\n".join(lines), is_closed=not hit[2]))
            fence = ""
            if not hit[2]:
                continue
        if fence:
            lines.append(line)
        elif hit:
            fence, language, first, lines = hit[1], hit[2].partition(" ")[0].casefold(), number, []
    if fence:
        found.append(Block(first, language, "\n".join(lines), is_closed=False))
    return found


def check_items(section: str) -> list[Any] | None:
    """Return the list `items` from a YAML block of section 4, or None if no block has it."""
    for block in blocks_of(section):
        if block.language not in {"yaml", "yml"}:
            continue
        try:
            loaded = load(block.text, "the block `items`")
        except YamlError:
            continue
        if isinstance(loaded, dict) and isinstance(loaded.get("items"), list):
            return list(loaded["items"])
    return None


def expressions_of(text: str) -> list[str]:
    """Return the regular expressions in a text: after `regex:` or a label, in regex blocks, and in the list `items`."""
    found = [expression for _, expression in _PREFIXED.findall(text)]
    for label, rest in _EXPRESSION.findall(text):
        if not _OTHER_PATTERN.search(label):
            # A text without the special characters of expressions is prose or a glob.
            found += _CODE.findall(rest) or [rest] * bool(re.search(r"\\|\(\?|\)[*+?]|\]", rest))
    found += [
        line
        for block in blocks_of(text)
        if block.language in {"regex", "re"}
        for line in block.text.split("\n")
        if line
    ]
    for item in check_items(text) or ():
        if isinstance(item, dict) and isinstance(item.get("match"), str):
            found.append(item["match"])
    return [*dict.fromkeys(each.removeprefix("regex:") for each in found)]


class Fields:
    """The fields defined in section 1, in lists and in examples."""

    def __init__(self, section: str) -> None:
        self._groups = [(each.title.casefold(), {*_FIELD.findall(each.text)}) for each in _headed(section)]
        self._listed = {*_FIELD.findall(section), *_METADATA}
        self._examples: set[str] = set()
        for block in blocks_of(section):
            try:
                tree = ast.parse(block.text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Dict):
                    self._examples |= {*_paths(node)}

    def has(self, reference: str) -> bool:
        """Return whether a field is defined. The reference gives its name, alone or after its group and a dot."""
        *groups, name = reference.split(".")
        if reference in self._examples | self._listed:
            return True
        if groups and self._examples:
            return any(groups[-1].casefold() in title and name in listed for title, listed in self._groups)
        return name in self._listed


def _paths(node: ast.Dict) -> Iterator[str]:
    """Yield the dotted path of each key in a dictionary and its nested dictionaries."""
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value
            if isinstance(value, ast.Dict):
                yield from (f"{key.value}.{path}" for path in _paths(value))


def references_of(section: str) -> list[str]:
    """Return the fields used in section 2: after `parsed_fields`, and in code spans on lines that list fields."""
    found = [".".join(_STEP.findall(path)) for path in _REFERENCE.findall(section)]
    for line in _FIELDS_LINE.findall(section):
        found += [name.removeprefix("parsed_fields.") for name in _CODE.findall(line) if _DOTTED.fullmatch(name)]
    return [*dict.fromkeys(filter(None, found))]
