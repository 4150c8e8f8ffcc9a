"""Reads and writes YAML with libyaml: safe types only, and a single style.

Strings other than plain words are quoted, because libraries read `00123456`, `3.10` or `1e5` as numbers, and not all as
the same number. Keys keep their order. A list of scalars, or a mapping of scalars below the top level, is written on
one line. Multi-line strings are written as literal blocks.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_WORD = re.compile(r"[A-Za-z_]+")
_UNFIT_FOR_BLOCK = re.compile("[\\r\\x85\\u2028\\u2029]|(?:\\A|\\n)\\n\\Z")
"""Matches what a block must not contain: characters that libyaml takes for line ends, or a blank last line.

After a blank last line, libyaml adds `...` at the end of the document.
"""
_HIDDEN = "\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe-\U0010ffff"
"""Characters that libyaml escapes. To compile a set of all other characters would take `re` ten times as long."""
_SHOWN = re.compile(f"[^{_HIDDEN}]*")
"""Matches strings in which libyaml escapes only quotes and backslashes."""
_BLOCK = re.compile(rf"(?![ \n])(?:[^{_HIDDEN}]*(?<! )(?:\n|\Z))+(?<!\n)")
"""Matches strings that libyaml writes as a block with the header `|-`.

Such a string does not begin or end with a line feed, does not begin with a space, and no line ends with a space.
"""
_LONGEST_KEY = 100
"""Maximum length of a key that is always on the same line as its value."""
_SURROGATES = re.compile("[\ud800-\udfff]")
"""Code points that Python uses for non-UTF-8 bytes in file names."""
_QUOTED = re.compile(r"`([^`]*)`")
_KINDS = {
    "array": "a list",
    "object": "keys with values",
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
}
"""Maps msgspec's type names to the words used in messages."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that some YAML 1.1 or 1.2 reader takes for a boolean or null.
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# libyaml takes the width as a C int; no line is ever folded.
_WIDTH = 2**31 - 1
_TAG = "tag:yaml.org,2002:"
_STR, _MAP, _SEQ = (f"{_TAG}{kind}" for kind in ("str", "map", "seq"))
_SCALARS = frozenset(f"{_TAG}{kind}" for kind in ("null", "bool", "int", "float"))

MEND = "correct this line"
"""Remedy for text that is not YAML."""
DEEPEST = 50
"""Maximum nesting depth of lists and mappings."""
MOST_VALUES = 500_000
"""Maximum number of values in a document, including keys."""
MOST_REPEATED = 10_000
"""Maximum number of values in a document after expanding aliases."""
LONGEST_NUMBER = 64
"""Maximum number of characters in a number."""
_TOO_DEEP = f"lists or mappings are nested more than {DEEPEST} deep; flatten them"
_TOO_DEEP_FOR_LIBRARY = "exceeded maximum nesting depth"
"""The message of libyaml 0.2.6 and later, which reads ahead and can reach its limit (1,000) before our check."""
_TOO_MANY = "more than {} values in one document; split it"
_ODD = (KeyError, IndexError, AttributeError, TypeError, ValueError, OverflowError)
"""Errors raised by the library for a tag such as `!!bool` with a value of another type."""
_WRONG_TAG = "a tag (!!…) does not fit its value; remove the tag"


class YamlError(ValueError):
    """Invalid YAML. The message has the file and the line."""


class _NotPlainError(Exception):
    """Raised for a document that `_from_events` cannot read, for example one with a tag or an alias."""


class _Loader(yaml.CSafeLoader):
    """A safe loader that also rejects oversized documents, and duplicate keys (libyaml keeps the last value)."""

    _depth = _values = 0

    def descend_resolver(self, current_node: yaml.Node | None, current_index: Any) -> None:  # noqa: ARG002 (PyYAML's signature)
        # Called before each node. The library recurses in C, and without a limit this would crash the process.
        if current_node is None:
            self._depth = self._values = 0
            return
        self._depth += 1
        self._values += 1
        if self._depth > DEEPEST:
            raise _error(current_node, _TOO_DEEP)
        if self._values > MOST_VALUES:
            raise _error(current_node, _TOO_MANY.format(MOST_VALUES))

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        # Called for every node; keys repeat, so the tag of a plain scalar is cached.
        if kind is yaml.ScalarNode:
            return _tag_of_plain(value) if implicit[0] else _STR
        return _MAP if kind is yaml.MappingNode else _SEQ

    def construct_document(self, node: yaml.Node) -> Any:
        _repeated(node, {})
        try:
            return super().construct_document(node)
        except _ODD as error:
            raise _error(node, _WRONG_TAG) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 (PyYAML's signature)
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != f"{_TAG}merge":
                if key.value in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {key.value!r} appears twice", problem_mark=key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def _error(place: yaml.Node | yaml.Event, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=place.start_mark)  # type: ignore[arg-type]  # libyaml's


def _repeated(node: yaml.Node, known: dict[int, int | None]) -> int:
    """Return the number of values in a node after expanding its aliases.

    Args:
        node: A composed node.
        known: The counts of earlier nodes, by the node's `id()`; None for nodes still being counted.

    Raises:
        MarkedYAMLError: There are too many values, or an alias refers to a node that contains it.
    """
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) in known:
        count = known[id(node)]
        if count is None:
            raise _error(node, "an alias refers to itself; write the value out")
        return count
    known[id(node)] = None
    items = (item for pair in node.value for item in (pair if isinstance(pair, tuple) else (pair,)))
    count = known[id(node)] = 1 + sum(_repeated(item, known) for item in items)
    if count > MOST_REPEATED:
        raise _error(
            node, f"more than {MOST_REPEATED} values with aliases expanded; write out what is needed, or split it"
        )
    return count


def _number_of(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> int | float:
    """Return the number for a scalar; reject numbers longer than `LONGEST_NUMBER`."""
    if len(str(node.value)) > LONGEST_NUMBER:
        raise _error(node, f"a number of more than {LONGEST_NUMBER} characters; quote it to make it a string")
    make = loader.construct_yaml_int if node.tag == f"{_TAG}int" else loader.construct_yaml_float
    return make(node)


for _kind in ("int", "float"):
    _Loader.add_constructor(f"{_TAG}{_kind}", _number_of)


# An unquoted time stays a string: a date object would print differently.
_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != f"{_TAG}timestamp"]
    for first, pairs in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


@lru_cache(maxsize=4096)
def _tag_of_plain(value: str) -> str:
    """Return the YAML tag of an unquoted scalar."""
    resolvers = _Loader.yaml_implicit_resolvers
    candidates = (*resolvers.get(value[:1], ()), *resolvers.get(None, ()))
    return next((tag for tag, expression in candidates if expression.match(value)), _STR)


@lru_cache(maxsize=4096)
def _plain_scalar(value: str) -> str | float | bool | None:
    """Return the value of an unquoted scalar.

    Raises:
        _NotPlainError: The scalar has a special meaning, such as `<<`, or cannot be read.
    """
    tag = _tag_of_plain(value)
    if tag == _STR:
        return value
    if tag not in _SCALARS:
        raise _NotPlainError
    try:
        found: float | bool | None = _Loader.yaml_constructors[tag](_Loader(""), yaml.ScalarNode(tag, value))
    except (yaml.YAMLError, ValueError) as error:
        raise _NotPlainError from error
    return found


def _from_events(text: str | bytes) -> Any:
    """Return the value of a document, from the parser's events: no node is made, which halves the time.

    Raises:
        _NotPlainError: The text has a tag, anchor or alias, a key that is repeated or no string, a scalar that
            `_plain_scalar` rejects, too deep nesting, or not exactly one document.
        StopIteration: The document has too many values.
        YAMLError: The text is not YAML.
    """
    parser: Any = yaml.CSafeLoader(text)
    following = itertools.islice(iter(parser.get_event, None), MOST_VALUES)
    next(following)
    if type(next(following)) is not yaml.DocumentStartEvent:
        raise _NotPlainError
    found = _value(next(following), following, 1)
    next(following)
    if type(next(following)) is not yaml.StreamEndEvent:
        raise _NotPlainError
    return found


def _value(event: Any, following: Iterator[Any], depth: int) -> Any:
    """Return the value that begins with an event, and consume the rest of the value's events from `following`."""
    kind = type(event)
    if kind is yaml.AliasEvent or event.anchor is not None or event.tag is not None or depth > DEEPEST:
        raise _NotPlainError
    if kind is yaml.ScalarEvent:
        return _plain_scalar(event.value) if event.implicit[0] else event.value
    if kind is yaml.SequenceStartEvent:
        items = []
        while type(item := next(following)) is not yaml.SequenceEndEvent:
            items.append(_value(item, following, depth + 1))
        return items
    found: dict[str, Any] = {}
    while type(item := next(following)) is not yaml.MappingEndEvent:
        key = _value(item, following, depth + 1)
        if type(key) is not str or key in found:
            raise _NotPlainError
        found[key] = _value(next(following), following, depth + 1)
    return found


def load(text: str | bytes, name: str) -> Any:
    """Read one YAML document.

    Args:
        text: The document. Bytes are decoded as UTF-8, or as UTF-16 with a BOM.
        name: Name for errors, usually the file.

    Raises:
        YamlError: The text is not YAML, exceeds a limit, has a duplicate key, or has several documents.
    """
    try:
        with contextlib.suppress(_NotPlainError, StopIteration, yaml.YAMLError):
            return _from_events(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, ValueError) as error:
        raise YamlError(describe(error, name)) from error


def events(text: str) -> list[yaml.Event]:
    """Return the parser's events for a text, with the limits of `load`.

    Raises:
        MarkedYAMLError: The text is not YAML, or exceeds a limit.
    """
    found: list[yaml.Event] = []
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise _error(event, _TOO_DEEP)
        if len(found) > MOST_VALUES:
            raise _error(event, _TOO_MANY.format(MOST_VALUES))
        found.append(event)
    return found


def located(text: str, depth: int) -> dict[tuple[str | int, ...], int]:
    """Return the line number, from 1, of each entry in a document, by the entry's path.

    A path has up to `depth` keys and indexes; deeper entries are left out.

    Raises:
        YamlError: The text is not YAML.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise YamlError(describe(error, "the text")) from error
    return dict(_places(node, (), depth)) if node is not None else {}


def list_end(text: str, key: str) -> tuple[int, int] | None:
    """Return the number of the last line of the list under a top-level key, and the column of the list's dashes.

    Return None if there is no such list, or if the list is empty or in brackets. The text must be valid for `load`.
    """
    document = yaml.compose(text, Loader=_Loader)
    pairs = document.value if isinstance(document, yaml.MappingNode) else ()
    node: yaml.Node | None = next((value for name, value in pairs if name.value == key), None)
    if not isinstance(node, yaml.SequenceNode) or node.flow_style or not node.value:
        return None
    last: Any = node
    # libyaml ends a block where the next text begins, so use the end of the block's last scalar or bracket instead.
    while isinstance(last, yaml.CollectionNode) and last.value and not last.flow_style:
        last = last.value[-1]
        last = last[1] if isinstance(last, tuple) else last
    end = last.end_mark
    return end.line + (end.column > 0), node.start_mark.column


def line_of(place: Sequence[str | int], lines: Mapping[tuple[str | int, ...], int]) -> int:
    """Return the line of an entry, or of its nearest enclosing entry, from the result of `located`."""
    sizes = range(len(place), -1, -1)
    return next((lines[key] for size in sizes if (key := tuple(place[:size])) in lines), 1)


def nearest(key: object, known: Iterable[str]) -> str:
    """Return the last part of a message about an unknown key: the nearest known key, or all keys if none is near."""
    names = list(known)
    near = difflib.get_close_matches(str(key), names, n=1)
    return f"the nearest is {near[0]!r}" if near else f"choose from {', '.join(names)}"


def _places(node: yaml.Node, path: tuple[str | int, ...], depth: int) -> Iterator[tuple[tuple[str | int, ...], int]]:
    yield path, node.start_mark.line + 1
    if len(path) == depth:  # without a limit, an alias inside the value that it stands for would never end
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _places(value, (*path, str(key.value)), depth)
            yield (*path, str(key.value)), key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _places(value, (*path, number), depth)


def describe(error: Exception, name: str) -> str:
    """Return a one-line message about a YAML error: what is wrong, where, and how to fix it."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}" if mark else name
        problem = error.problem or error.context or "not YAML"
        problem = _TOO_DEEP if problem == _TOO_DEEP_FOR_LIBRARY else problem
        return f"{place}: {problem}" if ";" in problem else f"{place}: {problem}; {MEND}"
    if isinstance(error, yaml.reader.ReaderError):
        return f"{name}: character {error.position + 1} is not allowed ({error.reason}); remove it or save as UTF-8"
    return f"{name}: {' '.join(str(error).split())}; correct the text"


def misfit(error: Exception) -> tuple[str, str]:
    """Return the path of a value of the wrong type, and a description of the error.

    msgspec's errors read: "Expected `array`, got `null` - at `$.occurrences[0].tests`".
    """
    text, _, place = str(error).partition(" - at `")
    text = _QUOTED.sub(lambda found: " or ".join(_KINDS.get(kind, f"`{kind}`") for kind in found[1].split(" | ")), text)
    text = text.replace("Object missing required field", "it lacks the key").replace("Object contains", "it has the")
    return place.strip("`").removeprefix("key` in `").removeprefix("$").strip("."), f"{text[:1].lower()}{text[1:]}"


def dump(value: Any) -> str:
    """Convert mappings, lists, strings, numbers, booleans and None to YAML. Equal values give equal bytes.

    Raises:
        TypeError: A value has another type.
    """
    if isinstance(value, dict) and value:
        with contextlib.suppress(_OtherStyleError):
            return "".join(_lines(value, ""))
    return _serialise(_node(value, top=True))


class _OtherStyleError(Exception):
    """Raised for a value that needs a style that records and pages never use. libyaml then writes the document."""


def _lines(mapping: Mapping[Any, Any], indent: str, lead: str = "") -> Iterator[str]:
    """Yield the lines of a mapping as libyaml writes them, but several times faster.

    Args:
        mapping: A mapping that is not empty.
        indent: Spaces before the keys.
        lead: Replacement for the spaces before the first key.
    """
    before = lead or indent
    for key, value in mapping.items():
        name = _key_text(str(key))
        if isinstance(value, str) or _is_line(value):
            yield f"{before}{name}: {_line(value, indent)}\n"
        elif isinstance(value, dict):
            yield f"{before}{name}:\n"
            yield from _lines(value, f"{indent}  ")
        else:
            yield f"{before}{name}:\n"
            for item in value:
                yield from _item(item, indent)
        before = indent


def _item(item: Any, indent: str) -> Iterator[str]:
    """Yield the lines of a list item."""
    if isinstance(item, str) or _is_line(item):
        yield f"{indent}- {_line(item, indent)}\n"
    elif isinstance(item, dict):
        yield from _lines(item, f"{indent}  ", f"{indent}- ")
    else:
        raise _OtherStyleError


def _line(value: Any, indent: str = "") -> str:
    """Return a value in one-line form; a string with line feeds becomes a block, indented below `indent`."""
    if isinstance(value, str):
        return _text(value, indent)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key_text(str(key))}: {_line(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_line, value))}]"
    return _bare(value)[1]


def _text(text: str, indent: str) -> str:
    """Return a string in the form used after a key or dash: a plain word, in quotes, or an indented block."""
    style = _style(text)
    if style is None:
        return text
    if style == "|":
        if not _BLOCK.fullmatch(text):
            raise _OtherStyleError
        return "|-\n" + "\n".join(line and f"{indent}  {line}" for line in text.split("\n"))
    if not _SHOWN.fullmatch(text):
        return _serialise(_node(text)).removesuffix("\n")
    return '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"'


@lru_cache(maxsize=1024)
def _key_text(name: str) -> str:
    if len(name) > _LONGEST_KEY or not _SHOWN.fullmatch(name):
        raise _OtherStyleError
    return name if _key(name).style is None else _text(name, "")


def flow(value: Any) -> str:
    """Return a scalar, or a list of scalars, in the one-line form used after a key; line feeds become spaces.

    Raises:
        TypeError: A value has another type.
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    return _text(value.replace("\n", " "), "") if isinstance(value, str) else _bare(value)[1]


def _serialise(node: yaml.Node) -> str:
    text = yaml.serialize(node, Dumper=yaml.CSafeDumper, width=_WIDTH, allow_unicode=True)
    return str(text)


def _node(value: Any, *, top: bool = False) -> yaml.Node:
    if isinstance(value, dict):
        pairs = [(_key(str(key)), _node(item)) for key, item in value.items()]
        return yaml.MappingNode(f"{_TAG}map", pairs, flow_style=not top and _is_line(value))
    if isinstance(value, list | tuple):
        items = [_node(item) for item in value]
        return yaml.SequenceNode(f"{_TAG}seq", items, flow_style=_is_line(value))
    if isinstance(value, str):
        text = value if value.isascii() else _SURROGATES.sub("\ufffd", value)
        return yaml.ScalarNode(f"{_TAG}str", text, style=_style(text))
    kind, text = _bare(value)
    return yaml.ScalarNode(f"{_TAG}{kind}", text)


def _bare(value: Any) -> tuple[str, str]:
    """Return the kind and the text of a scalar that is not a string."""
    if value is None:
        return "null", "null"
    if isinstance(value, bool):
        return "bool", "true" if value else "false"
    if isinstance(value, int):
        return "int", str(value)
    if isinstance(value, float):
        return "float", _number(value)
    raise TypeError(f"cannot write a {type(value).__name__} as YAML: {value!r:.80}")


def _key(name: str) -> yaml.ScalarNode:
    plain = _NAME.fullmatch(name) and name.lower() not in _RESERVED
    return yaml.ScalarNode(f"{_TAG}str", name, style=None if plain else '"')


def _style(text: str) -> str | None:
    if "\n" in text:
        return '"' if _UNFIT_FOR_BLOCK.search(text) else "|"
    return None if _WORD.fullmatch(text) and text.lower() not in _RESERVED else '"'


def _number(number: float) -> str:
    if math.isnan(number):
        return ".nan"
    if math.isinf(number):
        return ".inf" if number > 0 else "-.inf"
    # YAML 1.1 reads `1e+20` as a string, because it has no dot.
    text = repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _is_line(value: Any) -> bool:
    """Return whether a value fits on one line: no string has line feeds, and no list contains mappings."""
    if isinstance(value, str):
        return "\n" not in value
    if isinstance(value, dict):
        return all(map(_is_line, value.values()))
    if isinstance(value, list | tuple):
        return not any(isinstance(item, dict) for item in value) and all(map(_is_line, value))
    return True
