"""The schema of a check: the keys of a `*.check.yaml` file, and the errors reported for invalid files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from msgspec import Struct
from msgspec.structs import asdict

from pytest_dvwiki import reading
from pytest_dvwiki.checks.matching import LineWaiver, ValuePattern, search_for
from pytest_dvwiki.expressions import ExpressionError, compile_re2
from pytest_dvwiki.yamlio import YamlError, line_of, load, located, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.expressions import Expression

    Location = tuple[str | int, ...]

NOT_APPLICABLE = "N/A"
OUTLINE_KEYS = ("description", "input_files", "requirements", "waivers")
KEYS = (*OUTLINE_KEYS, "items", "expected")
LISTS = ("found", "missing", "extra", "waived", "unused_waivers")
"""The lists of a result. An expected result can specify the entries of each list."""
ITEM_KEYS = ("name", "match", "required", "from", "pattern")
_LISTS = {"requirements": "pattern_items", "waivers": "waive_items"}
_VALUE = "value"
_DEPTH = 4
"""Number of keys and indexes on the path to the deepest value, such as `items`, 0, `required`, 1."""

CheckType = Literal[1, 2, 3, 4]
_T = TypeVar("_T")


class CheckError(Exception):
    """A check cannot be run. The message has the file, the line if known, and the remedy."""


class Expectation(Struct, frozen=True):
    """One item that the input files, or the files that they name, must contain."""

    name: str
    match: Expression | None = None
    """Extracts the value and fields from a line; None for an entry of `input_files`, which must only be non-empty."""
    names: tuple[str, ...] = ()
    """The fields extracted by the expression besides the value."""
    required: tuple[str, ...] = ()
    """The fields that must not be empty."""
    source: str | None = None
    """The item that gives the file to read, by its field `path` or else its value; None for the input files."""
    pattern: ValuePattern | None = None
    """The pattern for the value; None if the item only has to be found."""


class Outline(Struct, frozen=True, kw_only=True):
    """The purpose of a check and the rules for its result, without the items."""

    path: Path
    description: str
    input_files: tuple[tuple[str, int], ...]
    """The entries of `input_files`, each with its line number."""
    patterns: tuple[ValuePattern, ...] | None
    """The entries of `requirements.pattern_items`; None if `requirements.value` is N/A."""
    waivers: tuple[LineWaiver, ...] | None
    """The entries of `waivers.waive_items`; None if `waivers.value` is N/A."""
    is_global: bool
    """Whether every violation is waived. If so, `waivers` has the reasons."""

    @property
    def type(self) -> CheckType:
        """Return the check's type, which depends on whether it has requirements and whether it has waivers."""
        kinds: tuple[CheckType, CheckType] = (1, 2) if self.waivers is None else (4, 3)
        return kinds[self.patterns is not None]


class Expected(Struct, frozen=True):
    """An expected result: the status, and the entries of some lists."""

    when: str
    status: str
    lists: tuple[tuple[str, frozenset[str]], ...]


class Check(Outline, frozen=True, kw_only=True):
    """The parsed content of a check's file."""

    items: tuple[Expectation, ...]
    expected: tuple[Expected, ...] = ()
    """The accepted results. If there are none, a result without violations is accepted."""


def load_check(path: Path) -> Check:
    """Read a check.

    Raises:
        CheckError: The file cannot be read, or is not a check.
    """
    document, reader = _opened(path)
    return reader.check(document)


def parse_check(text: str, path: Path) -> Check:
    """Parse the text of a check, whose file need not exist yet.

    Raises:
        CheckError: The text is not a check.
    """
    document, reader = _parsed(text, path)
    return reader.check(document)


def load_outline(path: Path) -> Outline:
    """Read an outline, which describes what to check but not how: a check without `items`.

    Raises:
        CheckError: The file cannot be read, or is not an outline.
    """
    document, reader = _opened(path)
    return reader.outline(document, OUTLINE_KEYS)


def _opened(path: Path) -> tuple[Any, _CheckReader]:
    try:
        return _parsed(reading.read_text(path), path)
    except FileNotFoundError as error:
        raise CheckError(f"{path}: there is no such file; check the name") from error
    except OSError as error:
        raise CheckError(f"{path}: {reading.reason(error)}") from error


def _parsed(text: str, path: Path) -> tuple[Any, _CheckReader]:
    try:
        return load(text, str(path)), _CheckReader(path, located(text, _DEPTH))
    except YamlError as error:
        raise CheckError(f"{error}; a check is written in YAML") from error


class _CheckReader(Struct, frozen=True):
    """Converts a YAML document into a check."""

    _path: Path
    _lines: Mapping[Location, int]

    def outline(self, document: Any, keys: Sequence[str]) -> Outline:
        if document is None:
            self._refuse((), "the file is empty; write at least `description:`, what the check is for")
        if not isinstance(document, dict):
            kind = "a list" if isinstance(document, list) else "a single value"
            self._refuse((), f"the file has {kind} instead of keys with values; begin with `description:`")
        self._known((), document, keys)
        description = self._text(("description",), document.get("description"), "what the check is for")
        input_files = self._texts(("input_files",), document.get("input_files"))
        wanted, pattern_items = self._counted("requirements", document.get("requirements"))
        accepted, waive_items = self._counted("waivers", document.get("waivers"))
        patterns = [
            self._compiled(("requirements", "pattern_items", at), each, ValuePattern)
            for at, each in enumerate(pattern_items)
        ]
        waivers = []
        for at, each in enumerate(waive_items):
            place = ("waivers", "waive_items", at)
            search = None if accepted == 0 else self._compiled(place, each, search_for)
            waivers.append(LineWaiver(each, line_of(place, self._lines), search))
        return Outline(
            path=self._path,
            description=description,
            input_files=tuple((each, line_of(("input_files", at), self._lines)) for at, each in enumerate(input_files)),
            patterns=None if wanted is None else tuple(patterns),
            waivers=None if accepted is None else tuple(waivers),
            is_global=accepted == 0,
        )

    def check(self, document: Any) -> Check:
        outline = self.outline(document, KEYS)
        names = [entry for entry, _ in outline.input_files]
        return Check(
            **asdict(outline),
            items=self._items(document.get("items"), names, outline.patterns or ()),
            expected=tuple(self._expected(document.get("expected"))),
        )

    def _expected(self, listed: Any) -> Iterator[Expected]:
        if not isinstance(listed, list | None):
            self._refuse(("expected",), "expected must be a list; begin each result with `- when:`")
        for at, case in enumerate(listed or ()):
            place = ("expected", at)
            if not isinstance(case, dict):
                self._refuse(place, f"a result needs keys: when, status, {', '.join(LISTS)}; write at least status")
            self._known(place, case, ("when", "status", *LISTS))
            if case.get("status") not in {"PASS", "FAIL"}:
                self._refuse((*place, "status"), "status is missing or invalid; write PASS or FAIL")
            lists = [(name, frozenset(self._texts((*place, name), case[name]))) for name in LISTS if name in case]
            yield Expected(str(case.get("when", "")), case["status"], tuple(lists))

    def _counted(self, key: str, block: Any) -> tuple[int | None, Sequence[str]]:
        """Return the number and the entries of `requirements` or `waivers`, with None as the number for N/A."""
        name = _LISTS[key]
        if block is None:
            return None, ()
        if not isinstance(block, dict):
            self._refuse((key,), f"{key} needs the keys value and {name}; write both below {key}")
        self._known((key,), block, (_VALUE, name))
        listed = self._texts((key, name), block.get(name))
        number = block.get(_VALUE)
        least = 1 if key == "requirements" else 0
        if number is None or number == NOT_APPLICABLE:
            if listed:
                self._refuse((key, name), f"{name} is not used, because value is N/A; write value: {len(listed)}")
            return None, ()
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            self._refuse(
                (key, _VALUE), f"value {number!r:.40} is invalid; write N/A or a whole number, at least {least}"
            )
        if number and number != len(listed):
            self._refuse((key, _VALUE), f"value is {number}, but {name} has {len(listed)}; make them equal")
        return number, listed

    def _items(
        self, listed: Any, input_files: Sequence[str], patterns: Sequence[ValuePattern]
    ) -> tuple[Expectation, ...]:
        if listed is None or listed == []:
            drafts = [(Expectation(name), True) for name in input_files]
        elif isinstance(listed, list):
            drafts = []
            for at, each in enumerate(listed):
                drafts.append(self._item(("items", at), each, [item.name for item, _ in drafts]))
        else:
            self._refuse(("items",), "items must be a list; begin each item with `- name:`")
        needing = sum(needs for _, needs in drafts)
        if patterns and needing != len(patterns):
            self._refuse(
                ("requirements", "pattern_items"),
                f"there are {len(patterns)} patterns for {needing} items that need one; list one pattern per item"
                f" in the same order, and write `pattern: false` for items that only have to be found",
            )
        left = iter(patterns)
        return tuple(
            Expectation(
                item.name, item.match, item.names, item.required, item.source, next(left, None) if needs else None
            )
            for item, needs in drafts
        )

    def _item(self, place: Location, entry: Any, above: Sequence[str]) -> tuple[Expectation, bool]:
        """Return an item without its pattern, and whether it needs a pattern."""
        if not isinstance(entry, dict):
            self._refuse(place, f"an item needs keys: {', '.join(ITEM_KEYS)}; write at least name and match")
        self._known(place, entry, ITEM_KEYS)
        name = self._text((*place, "name"), entry.get("name"), "the item's name in the result")
        if name in above:
            self._refuse((*place, "name"), f"two items are called {name!r}; rename one")
        source = self._text((*place, "match"), entry.get("match"), "an expression with named groups")
        compiled = self._compiled((*place, "match"), source, compile_re2)
        fields = tuple(each for each in compiled.names if each != _VALUE)
        if len(fields) == len(compiled.names):
            compiled = compile_re2(f"(?P<{_VALUE}>{source})")
        required = self._texts((*place, "required"), entry.get("required"))
        for at, each in enumerate(required):
            if each not in fields:
                known = nearest(each, fields) if fields else "its only group is `value`"
                self._refuse((*place, "required", at), f"the expression has no group {each!r}; {known}")
        parent = entry.get("from")
        if parent is not None and parent not in above:
            known = nearest(parent, above) if above else "this is the first item"
            self._refuse((*place, "from"), f"{parent!r:.60} is not an item above this one; {known}")
        needs = entry.get("pattern", True)
        if not isinstance(needs, bool):
            self._refuse((*place, "pattern"), "pattern must be true or false; write the pattern under requirements")
        return Expectation(name, compiled, fields, tuple(required), parent), needs

    def _known(self, place: Location, mapping: Mapping[Any, Any], known: Sequence[str]) -> None:
        for key in mapping:
            if key not in known:
                self._refuse((*place, str(key)), f"there is no key {key!r:.60}; {nearest(key, known)}")

    def _text(self, place: Location, value: Any, purpose: str) -> str:
        if not isinstance(value, str) or not value.strip():
            self._refuse(place, f"the key {place[-1]} is needed; write {purpose}, as a string")
        return " ".join(value.split()) if place[-1] != "match" else value

    def _texts(self, place: Location, value: Any) -> list[str]:
        if value is None:
            return []
        if not isinstance(value, list):
            self._refuse(place, f"{place[-1]} must be a list; begin each entry with `-`")
        for at, each in enumerate(value):
            if not isinstance(each, str) or not each.strip():
                self._refuse((*place, at), f"expected a string, got {each!r:.60}; write it in quotes")
        return value

    def _compiled(self, place: Location, text: str, compiling: Callable[[str], _T]) -> _T:
        try:
            return compiling(text)
        except ExpressionError as error:
            self._refuse(place, f"{text!r:.60} cannot be used: {error}")

    def _refuse(self, place: Location, what: str) -> NoReturn:
        raise CheckError(f"{self._path}:{line_of(place, self._lines)}: {what}")
