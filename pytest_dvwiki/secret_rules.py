"""The rules of `secrets.yaml`, which find secrets in a text.

A rule is compiled when one of its keywords first occurs; most lines have none. The wheel contains the rules as JSON,
which loads twenty times as fast as YAML.
"""

from __future__ import annotations

import bisect
import functools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    _Expression = Callable[[], re.Pattern[str]]
    """Compiles an expression on first use."""

SOURCE = Path(__file__).with_name("secrets.yaml")
COMPILED = SOURCE.with_suffix(".json")
"""The rules as JSON. An installed package has this file next to the YAML file; a checkout does not have it."""

_SEPARATOR = r"[ \t]{0,3}(?P<sep>:=|=>|[=!]?==?|:(?!:))[ \t]{0,3}"
_VALUE = r"(?:[bru]?\\?(?P<quote>['\"])(?P<quoted>[^'\"\n]*)|(?P<plain>[^\s'\"]+))"
_SUFFIX = r"(?:[_-]?(?:\d{1,3}|base|value|old|new|prod|test|dev|ci|staging|hash|b64|base64|plain|text|string))?"
_BEHIND = r",;)]}>"
"""Trailing characters that are not part of an unquoted value."""

_NUMBER = re.compile(
    r"""(?ix) [-+]?(?: 0[xbo][0-9a-f_xz?.]+ | \d*'s?[bodh]\ ?[0-9a-f_xz?]+ | \d[\d_.,:]*(?:e[-+]?\d+)? | [01xz_]{4,}
    | [xz] | \d[\d.]*\ ?[fpnum]?s | (?:\\\\?x[0-9a-f]{2})+
    | (?:LogicArray|BinaryValue|BitVector|Logic|Bit|Unsigned|Signed)\( )"""
)
_HEX = re.compile(r"(?i)(?:[0-9a-f]{2,}|[0-9a-fx]{2,}|[0-9a-f_]{4,})")
_BITS = re.compile(r"(?i)[01xz_]+")
_COMPARED = re.compile(
    r"(?i)\b(?:exp(?:ect(?:ed)?)?|act(?:ual)?|got|mismatch\w*|reg(?:ister)?s?|addr(?:ess)?|read|wrote|written|csr|crc|dump"
    r"|ref|dut|rtl|model|golden|observed)\b|[=!]=|\[\d+(?::\d+)?\]"
)
"""Words and signs that testbenches print on lines that compare numbers."""
_WORDS = frozenset(
    re.findall(
        r"\w+",
        "true false none null nil yes no ok on off pass passed fail failed error expected expect exp actual "
        "act got is was must should not required missing invalid wrong incorrect mismatch mismatched empty "
        "unset set given field for the too and or in out str int bool bytes float any optional object string "
        "text self value changed unknown undefined default register reg locked unlocked enabled disabled "
        "valid auto prompt hidden masked redacted idle busy done",
    )
)
"""Values that are ordinary words of a report or of code, not secrets."""
_CODE = re.compile(
    r"""(?x) [A-Za-z_][\w.]*[(\[] | (?:self|cls|os|args|config|settings|env|request|dut|cfg|tb|this|super)\.\w
    | \$ | % | \{\w*\} | <[\w -]+> | [*x.•]{2,}$ | (?:Optional|Union|Literal|Secret\w*|List|Dict)\b | \[ | \("""
)
"""Start of a value that is code or a placeholder, not a secret."""
_IDENTIFIER = re.compile(r"[A-Z][A-Z0-9_]*|[a-z]+(?:[_.:-][a-z0-9]+)*_?\d{0,3}|[A-Za-z_]\w*(?:\.\w+)+")
_IDENTIFIER_LEAST = 24
_OPAQUE_LEAST, _RANDOM_LEAST = 6, 16
_DIGITS_LEAST = 4
_HEX_LEAST = 9
"""Minimum number of hex digits of a secret; a shorter value is taken for a data word on a bus."""
_ENVIRONMENT = re.compile(r"\W*|.*(?:export|set|env|-e)\s*")
"""Text before a variable on a line that prints or sets the environment."""
_BEFORE_MOST = 200
"""Maximum number of characters to examine before a variable."""
_MARK = "E   "
_LONGEST_KEPT = 512
"""Maximum length of a line whose rules are cached."""
_RANDOM = re.compile(r"[A-Za-z0-9+/=_-]*")
_NAME_BEFORE = re.compile(r"[\w.-]{1,60}\Z")


class SecretRule(Struct, frozen=True):
    """A rule that finds one kind of secret.

    `parts` yields the spans of the secrets in a text, in order.
    """

    id: str
    keywords: tuple[str, ...]
    """Lower-case keywords; every text with this kind of secret contains at least one of them."""
    parts: Callable[[str], Iterator[tuple[int, int]]]


@functools.cache
def entries() -> list[dict[str, Any]]:
    """Return the entries of the rules file."""
    if COMPILED.is_file():
        shipped: list[dict[str, Any]] = json.loads(COMPILED.read_text("utf-8"))
        return shipped
    from pytest_dvwiki import yamlio  # noqa: PLC0415  # an installed package does not need it

    written: list[dict[str, Any]] = yamlio.load(SOURCE.read_text("utf-8"), SOURCE.name)
    return written


def compiled() -> bytes:
    """Return the rules as JSON for the wheel, without the keys that only tests use."""
    kept = ("id", "prefixes", "alphabet", "length", "varied", "expression", "keywords", "numbers", "names", "values")
    return json.dumps([{key: entry[key] for key in kept if key in entry} for entry in entries()]).encode()


@functools.cache
def rules() -> tuple[SecretRule, ...]:
    """Return the rules in the order of the file."""
    return tuple(map(_rule, entries()))


def rules_for(text: str) -> list[SecretRule]:
    """Return the rules that have a keyword in a text, in the order of the file."""
    places: set[int] = set()
    for line in text.split("\n"):
        if line:
            # Without pytest's mark for lines of an exception, the line is more often in the cache.
            shown = line.removeprefix(_MARK)
            places.update(_places_in(shown) if len(shown) <= _LONGEST_KEPT else _places_in.__wrapped__(shown))
    return [rules()[place] for place in sorted(places)] if places else []


@functools.lru_cache(maxsize=1024)
def _places_in(line: str) -> frozenset[int]:
    """Return the indexes, in `rules`, of the rules that have a keyword in a line.

    The result is cached, because the same line is part of several texts. Two expressions cover all keywords. To search
    for each keyword separately would take three times as long in a line without keywords, and most lines have none.
    """
    lowered = line.lower()
    places: set[int] = set()
    for shortest, keywords in _filters():
        found = shortest.search(lowered)
        while found is not None:
            for keyword, of in keywords[found[0]]:
                if lowered.startswith(keyword, found.start()):
                    places.update(of)
            found = shortest.search(lowered, found.start() + 1)
    return frozenset(places)


_Keywords = dict[str, list[tuple[str, list[int]]]]


@functools.cache
def _filters() -> tuple[tuple[re.Pattern[str], _Keywords], ...]:
    """Return two filters, the first for the keywords of tokens, the second for all other keywords.

    A filter is an expression and a mapping. The expression finds only keywords that do not begin with another keyword.
    The mapping has, for each of these, all keywords that begin with it, and the indexes of the rules of each keyword.
    """
    tokens: dict[str, list[int]] = {}
    others: dict[str, list[int]] = {}
    for place, (entry, rule) in enumerate(zip(entries(), rules(), strict=True)):
        for keyword in rule.keywords:
            (tokens if "prefixes" in entry else others).setdefault(keyword, []).append(place)
    # Tokens are looked for only at the start of a word, which saves most of the search.
    return (
        (re.compile(rf"(?<![a-z0-9]){_any_of(tokens)}"), _by_beginning(tokens)),
        (re.compile(_any_of(others)), _by_beginning(others)),
    )


def _by_beginning(places: Mapping[str, list[int]]) -> _Keywords:
    found: _Keywords = {}
    for keyword, of in sorted(places.items()):  # a keyword comes after the shorter keywords that it begins with
        beginning = next((each for each in found if keyword.startswith(each)), keyword)
        found.setdefault(beginning, []).append((keyword, of))
    return found


def _any_of(words: Iterable[str]) -> str:
    """Return an expression that matches any of the words, built as a trie."""
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _branches(tree)


def _branches(node: dict[str, Any]) -> str:
    if "" in node:
        return ""
    return f"(?:{'|'.join(re.escape(letter) + _branches(below) for letter, below in sorted(node.items()))})"


def _rule(entry: dict[str, Any]) -> SecretRule:
    if "prefixes" in entry:
        words = tuple(prefix.lower() for prefix in entry["prefixes"])
        return SecretRule(
            entry["id"], words, functools.partial(_tokens, functools.cache(functools.partial(_token, entry)))
        )
    if "names" in entry:
        names = entry["names"]
        words = tuple(dict.fromkeys(name.rpartition("_")[2] for name in names))
        named = functools.cache(functools.partial(_named, tuple(names)))
        return SecretRule(entry["id"], words, functools.partial(_values, named, entry["values"]))
    expression = functools.cache(functools.partial(re.compile, entry["expression"], re.MULTILINE))
    parts = functools.partial(_groups, expression, numbers_stay=entry.get("numbers") == "stay")
    return SecretRule(entry["id"], tuple(entry["keywords"]), parts)


# Tokens, which are recognised by their form


def _token(entry: dict[str, Any]) -> re.Pattern[str]:
    prefixes = "|".join(map(re.escape, entry["prefixes"]))
    alphabet, (least, *most) = entry["alphabet"], entry["length"]
    varied = r"(?=[\w-]{0,40}?(?<![A-Za-z0-9])(?=[A-Za-z]{0,16}\d)(?=\d{0,16}[A-Za-z])[A-Za-z0-9]{16})"
    end = rf"(?![{alphabet}])" if most else ""
    length = f"{{{least},{most[0] if most else ''}}}"
    lead = rf"(?<![A-Za-z0-9])(?:{prefixes}){varied if entry.get('varied') else ''}"
    return re.compile(rf"{lead}[{alphabet}]{length}{end}")


def _tokens(expression: _Expression, text: str) -> Iterator[tuple[int, int]]:
    for found in expression().finditer(text):
        # Punctuation at the end of a sentence does not belong to the token.
        yield found.start(), found.start() + len(found[0].rstrip(".-")) if found[0][-1] in ".-" else found.end()


# Secrets that are recognised only by their context


def _groups(expression: _Expression, text: str, *, numbers_stay: bool) -> Iterator[tuple[int, int]]:
    compared = _Compared(text)
    for found in expression().finditer(text):
        span = found.span(found.lastgroup or 0)
        if not (numbers_stay and _HEX.fullmatch(text, *span) and compared.beside(span)):
            yield span


class _Compared:
    """Finds lines that compare numbers, as testbenches print them.

    The comparing words are searched for once in a text, because a line can have thousands of values.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @functools.cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """Return the sorted starts and the sorted ends of the comparing words."""
        spans = [found.span() for found in _COMPARED.finditer(self._text)]
        return [start for start, _ in spans], [end for _, end in spans]

    def beside(self, span: tuple[int, int]) -> bool:
        """Return whether a comparing word is on the same line as a value."""
        starts, ends = self._places
        before = bisect.bisect_right(ends, span[0]) - 1
        if before >= 0 and starts[before] > self._text.rfind("\n", 0, span[0]):
            return True
        behind = bisect.bisect_left(starts, span[1])
        line_end = self._text.find("\n", span[1])
        return behind < len(starts) and (line_end < 0 or ends[behind] <= line_end)


# Values that follow a name, as in `password=…`


def _named(names: Sequence[str]) -> re.Pattern[str]:
    words = "|".join(name.replace("_", "[_-]?") for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?i)(?P<word>{words}){_SUFFIX}(?P<close>\\?['\"]\]?)?{_SEPARATOR}{_VALUE}")


def _values(expression: _Expression, kind: str, text: str) -> Iterator[tuple[int, int]]:
    compared = _Compared(text)
    for found in expression().finditer(text):
        span = found.span("quoted" if found["quote"] else "plain")
        value = text[slice(*span)]
        if not found["quote"]:
            value = value.partition("]::")[0]  # the end of a test's parameters
            value = value.rstrip(_BEHIND) if kind in {"any", "short"} else re.split(r"[,;&)\]}<>]", value)[0]
            value = _RANDOM.match(value)[0] if kind == "random" else value.rstrip("\\")  # type: ignore[index]
        # In "b'…'", the value ends at the inner quote, and `b` is no secret.
        is_bytes = found["quote"] and value in {"b", "\\", "b\\"}
        if value and not is_bytes and not _stays(_Value(text, found, value, compared), kind):
            yield span[0], span[0] + len(value)


class _Value:
    """A value, its name, and the text around both."""

    def __init__(self, text: str, match: re.Match[str], value: str, compared: _Compared) -> None:
        self.value = value
        self.word = match["word"].lower()
        self.quoted = match["quote"] is not None
        self.sep = match["sep"]
        self.is_key = match["close"] is not None
        """Whether the name is quoted, like a key in JSON or a Python dictionary."""
        before = _NAME_BEFORE.search(text, max(0, match.start() - 60), match.start())
        name_start = before.start() if before else match.start()
        self.prefix = before[0] if before else ""
        line_start = text.rfind("\n", 0, match.start()) + 1
        self.before = text[max(line_start, name_start - _BEFORE_MOST) : name_start]
        """Text before the name on its line; only the last part if it is long."""
        self.is_compared = compared.beside((match.start("sep"), match.end()))
        name = self.prefix + match["word"]
        self.is_variable = name == name.upper() and match.end("sep") == match.start("quote" if self.quoted else "plain")
        """Whether name and value look like an environment variable: NAME=value."""

    @property
    def in_environment(self) -> bool:
        return self.is_variable and self.sep == "=" and _ENVIRONMENT.fullmatch(self.before) is not None


def _stays(value: _Value, kind: str) -> bool:
    """Return whether a value is kept because it is not a secret."""
    text = value.value
    if text.startswith("[redacted") or text.lower() in _WORDS:
        return True
    if not value.quoted and (_CODE.match(text) or text.lower() == value.word):
        return True
    if _NUMBER.fullmatch(text):
        # A number is a password only where an environment is printed.
        is_long = len(text) >= _DIGITS_LEAST and text.isalnum() and (kind == "any" or value.prefix != "")
        return not (kind in {"any", "short"} and is_long and value.in_environment and not value.is_compared)
    if (_HEX.fullmatch(text) or _BITS.fullmatch(text)) and (value.is_compared or kind == "random"):
        return True
    return _JUDGES[kind](value)


def _any(value: _Value) -> bool:
    return value.sep.endswith("==") and not value.quoted


def _short(value: _Value) -> bool:
    if value.prefix and value.prefix[-1].isalnum():
        return True  # "bypass", "compass"
    if value.word == "pwd" and value.value.startswith(("/", "~")):
        return True
    return not (value.sep == "=" or (value.is_key and value.quoted))


def _opaque(value: _Value) -> bool:
    text = value.value
    if value.word == "auth" and not (value.is_variable or value.is_key):
        return True
    has_digit, has_letter = any(map(str.isdigit, text)), any(map(str.isalpha, text))
    if len(text) < _OPAQUE_LEAST or not has_letter:
        return True
    if _HEX.fullmatch(text):
        return not has_digit or (len(text) < _HEX_LEAST and not value.is_variable)
    if _IDENTIFIER.fullmatch(text) and len(text) < _IDENTIFIER_LEAST and not _is_mixed(text):
        return not (has_digit and value.is_key and value.quoted)
    if value.sep == ":" and not (value.is_key or value.prefix):
        return not (_is_mixed(text) and has_digit)
    return not (has_digit or _is_mixed(text))


def _random(value: _Value) -> bool:
    text = value.value
    return not (value.is_variable and len(text) >= _RANDOM_LEAST and _is_mixed(text) and any(map(str.isdigit, text)))


def _is_mixed(text: str) -> bool:
    """Return whether a text has a lower-case letter, and an upper-case letter right after such a letter or a digit."""
    return re.search(r"[a-z]", text) is not None and re.search(r"[a-z0-9][A-Z]", text) is not None


_JUDGES: dict[str, Callable[[_Value], bool]] = {"any": _any, "short": _short, "opaque": _opaque, "random": _random}
