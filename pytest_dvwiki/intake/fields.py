"""Parses texts of an agent system into groups of fields, such as `error_class: x`, with or without Markdown.

A group is a section with a heading about one failure, a row of a table, an object of a JSON list, or a sequence of
fields up to the start of the next group.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMES = {
    **{
        name: name
        for name in (
            "error_class", "failure_subtype", "bug_type", "confidence", "rationale", "fingerprint", "ip_type", "owner",
            "spec_section", "title", "type", "status", "seed", "test", "log", "primary", "symptom", "context",
            "covergroup", "bin", "action_class", "feature", "priority", "scenario", "filled",
        )
    },
    "subtype": "failure_subtype",
    "classification": "bug_type",
    **dict.fromkeys(("reasoning", "reason"), "rationale"),
    "assignee": "owner",
    **dict.fromkeys(("result", "outcome"), "status"),
    **dict.fromkeys(("tests", "test_name", "testcase", "test_case", "failing_tests", "failing_test"), "test"),
    **dict.fromkeys(("log_file", "log_path"), "log"),
    **dict.fromkeys(("first_cause", "message", "first_error", "error_message"), "primary"),
    "root_cause": "symptom",
    **dict.fromkeys(("evidence", "context_lines"), "context"),
    "bin_name": "bin",
}  # fmt: skip
"""Maps each spelling of a field to the field's name."""
LONGEST = 200_000
"""Maximum number of characters read from a text."""
LONGEST_LINE = 4096
MOST = 500
"""Maximum number of failures archived per report, and of paragraphs examined per section."""
_LONGEST_TITLE = 300
IDENTIFYING = frozenset({"error_class", "failure_subtype", "test", "primary", "bug_type", "fingerprint"})
"""Fields that begin the next failure when they occur again with a different value."""
_INHERITED = ("covergroup", "feature", "ip_type", "log", "seed", "test")
"""Fields of an object that also apply to the objects in its lists."""
_COLUMNS = {"error": "primary", "failure": "primary", "cause": "symptom", "likely_cause": "symptom"}
"""Maps additional column names to fields; used only for tables with a test column."""
_LONG = frozenset({"", "context", "primary", "rationale", "scenario", "symptom"})
"""Fields with a value that may have several paragraphs."""
_NOTHING = frozenset({"", "-", "none", "n/a", "na", "null", "nil", "no error", "no failure", "passed", "pass"})
_FIELD = re.compile(
    r"""[\s>*_`'"-]*(?:\d+[.)]\s[\s*_`'"]*)?([A-Za-z]\w{0,40}(?:[ -]\w{1,40})?)[*_`'"]*\s*[:=](?![:=])[\s*_`]*(.*)"""
)
HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*)|\s*\*\*([^*]+)\*\*:?\s*")
FENCE = re.compile(r"\s*(?:```|~~~)\s*(\w*)")
_ROW = re.compile(r"\s*\|(.*)\|\s*")
_RULE = re.compile(r"[\s|:-]+")
_CELL = re.compile(r"(?<!\\)\|")
_NUMBERED = re.compile(
    r"(?:\d+[.)]\s+)?(?:failure|bug|issue|defect|finding|error|cause)\s*(?:#|no\.?)?\s*\d+[\s:.)\u2013\u2014-]*(.*)",
    re.IGNORECASE,
)
_BUG = re.compile(r"(rtl|design|tb|testbench|tool)[ _]bug\s*[:\u2013\u2014-]\s*(\S.*)", re.IGNORECASE)
_FAULT = re.compile(r"(?:rtl|design|tb|testbench|tool)[ _-]bug", re.IGNORECASE)
_UNDERLINE = re.compile(r"={3,}\s*|-{3,}\s*")
_BREAK = re.compile(r"\s*([-*_])(?:\s*\1){2,}\s*")
TEST = re.compile(r"(?<![\w./-])((?:[\w.-]+/)*[\w-]+\.py::[\w.:\[\]=-]+|test_\w+|\w+_test)(?![\w/(]|\.\w)")
PASSES = re.compile(r"\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|clean|green)\b", re.IGNORECASE)
FAILS = re.compile(r"\bfail(?:s|ed|ing|ures?)?\b", re.IGNORECASE)


def groups(text: str | None, opening: frozenset[str] = IDENTIFYING) -> list[dict[str, str]]:
    """Return the groups of fields in a text, in order; an empty list if the text has no fields.

    Args:
        text: JSON, or Markdown with fields, headings, tables and fences.
        opening: The fields that begin the next group if the current group has a different value for them.
    """
    if not text:
        return []
    text = text[:LONGEST]
    if text.lstrip()[:1] in {"{", "["} and (found := _json(text)) is not None:
        return found
    return [group for group in _Markdown(opening).read(text) if group]


def _json(text: str) -> list[dict[str, str]] | None:
    """Return the groups of a JSON document; None if the text is not JSON."""
    try:
        return [group for group in _objects(json.loads(text), {}) if group]
    except (ValueError, RecursionError):
        return None


def _objects(value: Any, inherited: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield the fields of an object and its nested objects as one group, then a group for each object in its lists."""
    if isinstance(value, list):
        for each in value:
            yield from _objects(each, inherited)
    if not isinstance(value, Mapping):
        return
    own, lists = dict(inherited), []
    for key, each in value.items():
        name = NAMES.get(re.sub(r"[ -]", "_", str(key).lower()))
        if isinstance(each, list) and any(isinstance(item, Mapping) for item in each):
            lists.append(each)
        elif isinstance(each, Mapping):
            for inner in itertools.islice(_objects(each, {}), 1):
                own |= inner
            lists += [item for item in each.values() if isinstance(item, list)]
        elif name and each is not None and name not in own.keys() - inherited.keys():
            own[name] = _plain(each)
    yield _cleaned(own)
    passed_on = {name: own[name] for name in _INHERITED if name in own}
    for each in lists:
        yield from _objects([item for item in each if isinstance(item, Mapping)], passed_on)


def _cleaned(group: Mapping[str, str]) -> dict[str, str]:
    """Return a group without fields that say nothing, such as `n/a`; a field `status` is always kept.

    A `type` that gives an origin becomes the `bug_type`; any other `type` is dropped.
    """
    kept = {name: value for name, value in group.items() if word(value).lower() not in _NOTHING or name == "status"}
    kind = kept.pop("type", "")
    return ({"bug_type": kind} if _FAULT.match(word(kind)) else {}) | kept


class _Markdown:
    """Parses Markdown, line by line."""

    def __init__(self, opening: frozenset[str]) -> None:
        self._opening = opening
        self._found: list[dict[str, str]] = []
        self._group: dict[str, str] = {}
        self._spelled: dict[str, str] = {}
        """Maps each field of the current group to its spelling in the text."""
        self._is_headed = False
        """Whether the group began with a heading; a paragraph below the heading then describes the failure."""
        self._is_page = False
        """Whether the group is a page's frontmatter; if so, the heading below it continues the group."""
        self._name = ""
        self._lines: list[str] = []
        """The lines of the field `_name` that have been read so far."""

    def read(self, text: str) -> list[dict[str, str]]:
        """Return the groups of fields in a text."""
        lines = [line[:LONGEST_LINE] for line in text.splitlines()]
        self._is_page = bool(lines) and lines[0].rstrip() == "---"
        place = 0
        while place < len(lines):
            line = lines[place]
            fence = FENCE.match(line)
            if fence:
                place = self._fence(lines, place, fence[1].lower())
                continue
            if _ROW.fullmatch(line):
                end = next((n for n in range(place, len(lines)) if not _ROW.fullmatch(lines[n])), len(lines))
                self._table([_cells(row) for row in lines[place:end]])
                place = end
                continue
            below = lines[place + 1] if place + 1 < len(lines) else ""
            is_title = _UNDERLINE.fullmatch(below) and line[:1].isalnum() and not _FIELD.fullmatch(line)
            if is_title:
                self._heading(line[:_LONGEST_TITLE].strip())
            else:
                self._line(line)
            place += 2 if is_title else 1
        self._flush()
        return self._found

    def _line(self, line: str) -> None:
        field = _FIELD.fullmatch(line)
        if field and (name := NAMES.get(re.sub(r"[ -]", "_", field[1].lower()))):
            # If `_FIELD` has dropped the opening back-tick of the value, the closing one is dropped, too.
            value = field[2].rstrip("` ") if field[2].count("`") % 2 else field[2]
            self._begin(name, field[1].lower(), value)
        elif heading := HEADING.fullmatch(line):
            self._heading(title_in(heading))
        elif _BREAK.fullmatch(line) or (not line.strip() and self._name not in _LONG):
            self._end_field()
        elif self._is_headed and not self._name:
            self._begin("symptom", "symptom", line)
        elif self._name:
            self._lines.append(line)

    def _begin(self, name: str, spelled: str, first: str) -> None:
        """Begin a field, in a new group if the field opens groups and the current group has another value for it."""
        self._end_field()
        old = self._group.get(name, "")
        again = old and self._spelled.get(name) == spelled and name in self._opening
        if again and first and word(first).lower() != word(old).lower():
            self._flush()
        self._name, self._lines = name, [first]
        self._spelled.setdefault(name, spelled)

    def _end_field(self) -> None:
        kept = [line.rstrip() for line in self._lines if not FENCE.match(line)]
        value = "\n".join(kept).strip("\n").strip()
        if self._name and value:
            self._group.setdefault(self._name, value)
        self._name, self._lines = "", []

    def _flush(self) -> None:
        self._end_field()
        self._found.append(_cleaned(self._group))
        self._group, self._spelled, self._is_headed = {}, {}, False

    def _heading(self, title: str) -> None:
        """End the field; begin a group at a heading about one failure, or a field at a heading that is a field name."""
        self._end_field()
        group = of_heading(title)
        if group is not None:
            if not self._is_page:
                self._flush()
            self._group = group | self._group
            self._is_headed, self._is_page = True, False
            return
        names = (title, title.rpartition(" ")[2])
        spelled = next((each.lower() for each in names if re.sub(r"[ -]", "_", each.lower()) in NAMES), "")
        if spelled:
            self._begin(NAMES[re.sub(r"[ -]", "_", spelled)], spelled, "")

    def _fence(self, lines: Sequence[str], place: int, kind: str) -> int:
        """Read a fenced block: JSON, the value of the field before it, or ordinary lines.

        Returns:
            The index of the first line after the block.
        """
        end = next((n for n in range(place + 1, len(lines)) if FENCE.match(lines[n])), len(lines))
        inside = lines[place + 1 : end]
        if (kind in {"", "json"} and (found := _json("\n".join(inside)))) and any(found):
            self._flush()
            self._found += found
        elif self._name and not any(line.strip() for line in self._lines):
            self._lines += inside
        else:
            for line in inside:
                self._line(line)
        return end + 1

    def _table(self, rows: Sequence[Sequence[str]]) -> None:
        """Read a table: each row is a group if the columns are fields, and otherwise a field of the current group.

        A table is skipped if its columns are fields but none of them opens a group.
        """
        header, *rest = rows
        rest = [row for row in rest if not all(_RULE.fullmatch(cell) or not cell for cell in row)]
        named = [re.sub(r"[ -]", "_", word(cell).lower()) for cell in header]
        of_tests = _COLUMNS if "test" in map(NAMES.get, named) else {}
        columns = [NAMES.get(name) or of_tests.get(name) for name in named]
        if any(columns) and len(header) > 1 and rest:
            if self._opening.isdisjoint(columns):
                self._end_field()
                return
            self._flush()
            for row in rest:
                # If two columns give the same field, the first one counts.
                cells = [(name, word(cell)) for name, cell in zip(columns, row, strict=False) if name]
                self._found.append(_cleaned(dict(reversed(cells))))
            return
        for row in rows:
            if len(row) > 1:
                self._line(f"{row[0]}: {row[1]}")
        self._end_field()


def title_in(heading: re.Match[str]) -> str:
    """Return the title in a line that `HEADING` matches."""
    return (heading[2] or heading[3] or "")[:_LONGEST_TITLE].strip().rstrip("# \t")


def _cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(row.strip().strip("|"))]


def of_heading(title: str) -> dict[str, str] | None:
    """Return the fields in a heading that is about one failure; None for any other heading."""
    # A number alone, as in `3. Set-up`, does not show that a section is about a failure.
    numbered, bug, test = _NUMBERED.match(title), _BUG.match(title), TEST.search(title)
    if not (numbered or bug or test):
        return None
    rest = bug[2] if bug else numbered[1] if numbered else title
    group = {"bug_type": f"{bug[1]}_bug"} if bug else {}
    if test:
        group["test"] = test[1]
    elif rest:
        group["title"] = rest.strip("`* ")
    if PASSES.search(title) and not FAILS.search(title):
        group["status"] = "passed"
    return group


def word(value: str) -> str:
    """Return the first line of a value without surrounding quotes, commas and emphasis."""
    return (value.splitlines() or [""])[0].strip().strip("`'\"*,_ ")


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(map(_plain, value))
    # An enumeration gives its value, `RTL_BUG`, not `BugType.RTL_BUG`.
    return str(getattr(value, "value", value))


def first_fields(text: str | None) -> dict[str, str]:
    """Return the first non-empty value of each field of a text."""
    found: dict[str, str] = {}
    for group in groups(text):
        found = group | found
    return found


def of_result(result: object) -> dict[str, str]:
    """Return the fields of a classification: from text, a mapping, or an object's attributes."""
    if isinstance(result, str):
        return first_fields(result)
    values: Any = result
    if not isinstance(result, Mapping):
        slots = ((name, getattr(result, name)) for name in NAMES if hasattr(result, name))
        values = getattr(result, "__dict__", None) or dict(slots)
    return next(_objects(values, {}), {})
