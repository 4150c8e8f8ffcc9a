"""Fingerprints of causes: a hash of the message (with its varying values masked) and of the place that reported it."""

from __future__ import annotations

import functools
import hashlib
import re
from typing import TYPE_CHECKING

from pytest_dvwiki.redact import clean, two_ends

if TYPE_CHECKING:
    from collections.abc import Callable


LONGEST = 4096
"""Maximum number of characters of a message that are hashed; of a longer message, only the two ends."""
DIGITS = 12

UNIT = r"(?:fs|ps|ns|us|ms|s|sec|step|steps)\b"
_FILE = (
    r"(?:svh?|vh?|vhdl?|vp|vams|pyc?|cpp|cc|cxx|c|hpp|h|so|dll|exe|ya?ml|json|xml|txt|mk|tcl|log|vcd|fst|fsdb|wdb|ucdb"
    r"|prj|toml|cfg|ini|vvp)"
)
_IN_PATH = r"[\w.@+~%$\\/-]"
_INDEX = r"\[[^\]\s]{0,60}\]"
COMPARED = r"assert|got|expected|expect|exp|actual|act|was|read|wrote|vs|value|found|saw"
AFTER = r"but|and|instead|when|while|during|for|at|on|in|from|after|before"
# A compared value is followed only by other values, a new part of the sentence, or the end.
_ENDS = rf"(?=[ ]{{0,3}}(?:$|[,;:)\]}}&|/!(\#@]|\.(?!\w)|[=!]=)|[ ](?:(?i:{AFTER}|{COMPARED})\b|\w{{1,40}}[=:]))"
# Words whose letters are all hex digits: English words, and abbreviations in capitals.
_WORDS = (
    "accede ace add added bad bade be bed bee cede dad dead deaf dec decade deed def deface defaced ebb efface fab"
    " facade face faced fad fade faded fed fee feed"
)
_CAPITALS = "AB ABC AC ACC ADC AE AF BCD CBC CCD CD CDC CE CFA DAC DC DCC DDC DE DFE ECB ECC ED EF FCC FEC"
_NO_WORD = rf"(?!(?:{'|'.join((*_WORDS.split(), *_WORDS.upper().split(), *_CAPITALS.split()))})\b)"
_KEPT = r"\b(?:non-\w+(?:/\w+)*|(?:[Mm]odule(?:[ ]named)?|from)[ ]'[A-Za-z_][\w.]*')"
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_VALUE = rf"""
    [-+]?(?!0[xXbB])(?:(?=[a-fA-FxXzZ_]*[0-9xXzZ])[0-9a-fA-FxXzZ_]+|True\b|False\b)(?![\w'."])(?!\ ?{UNIT})
"""
_NAMES = rf"""
    (?P<word>(?:(?:(?<=[=:])|(?<=[=:][ ])){_NO_WORD}(?![aA]\b)[a-fA-F]+(?![\w'."])|[a-fA-F]+(?![\w'."]){_ENDS}))
  | (?P<assigned>(?<==)[A-Z][A-Z0-9_]{{1,40}}(?![\w'(\[.]))
  | (?P<constant>[A-Z][A-Z0-9_]{{1,40}}(?![\w'(\[]){_ENDS})
"""
# A single letter counts as a value only where nothing but a value fits.
_PLACES = "|".join(rf"(?<=\b{each}[ ])" for each in ("is", "at", "address", "data", "offset", "length"))
_LETTERS = (
    rf"{_NO_WORD}(?:[A-F]{{2,16}}|[a-f]{{2,16}}(?!['\"(]))"
    rf"|(?:(?:{_PLACES})(?:[b-f]|[a-f]{{1,16}}{_ENDS})|(?<=\baddr[ ])[a-f])(?!['\"(])"
    r"|(?<=[ ]\[)[a-f]{1,16}(?=\])|(?<=:[ ])[a-f]{1,16}(?=[,}])"
    r"|\d+(?:st|nd|rd|th)"
)
_BEGINNINGS = (
    f"{COMPARED}|module|from|non|nan|inf|true|false"
    "|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun"
)
"""Words that can start a token."""
_PLAIN = rf"(?:\b(?!(?i:{_BEGINNINGS})\b)[A-Za-z_]*[g-tvwyG-TVWY][A-Za-z_]*(?::?[ ]|$))+"
"""Matches words that stay as they are: each has a letter that no value has, and a space or the end follows it.

Matching such words first is faster: in most of a message, no other kind of token is tried. `word_kept`, the last kind
of token, also saves time: it matches a word up to its end, because no token but a URL can begin inside a word.
"""
# There is one pass, and the first alternative that fits wins. A sign belongs to its number; otherwise positive and
# negative values would give one scoreboard message two fingerprints. Tokens are not numbered; otherwise a cause would
# get another fingerprint whenever two of its values happened to be equal.


def expression(*, kept: str, quoted: str, value: str, names: str, letters: str) -> re.Pattern[str]:
    """Compile the expression that divides a message into tokens. `mask` replaces each token.

    The arguments are the subexpressions that differ between the versions of fingerprints.

    Args:
        kept: Matches names that stay as they are.
        quoted: Matches the part of a bytes literal after its `b`.
        value: Matches a literal value in a comparison.
        names: Matches a named value in a comparison.
        letters: Matches hex numbers without decimal digits, and ordinals.
    """
    return re.compile(
        rf"""
        (?P<plain>{_PLAIN})
      | (?P<url>[A-Za-z][A-Za-z0-9+.-]{{1,20}}://[^\s'"<>)\]]+)
      | (?P<kept>{kept})
      | (?P<uuid>\b[0-9a-fA-F]{{8}}-(?:[0-9a-fA-F]{{4}}-){{3}}[0-9a-fA-F]{{12}}\b)
      | (?P<date>
            \b\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?!\w)
          | \b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ )?
            (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ]{{1,2}}\d{{1,2}}
            (?:,?\ \d\d:\d\d(?::\d\d)?)?(?:,?\ ?\d{{4}}\b)?
          | \b\d{{1,2}}:\d\d:\d\d(?:[.,]\d+)?\b
        )
      | (?P<typed>\b(?:LogicArray|BinaryValue|BitVector|Logic|Bit|Range|Unsigned|Signed|Fixed)
                  \((?:[^()]|\([^()]*\))*\))
      | (?P<enumerated><[A-Za-z_]\w*(?:\.\w+)?:\ [^<>]{{1,80}}>)
      | (?P<bytes>\b(?:bytearray\()?b(?:{quoted})\)?)
      | (?P<based>(?<![\w'])[-+]?(?:\d+|(?!'\w*'))'[sS]?[bBoOdDhH]\ ?[-+]?[0-9a-fA-FxXzZ?_]+(?!\w))
      | (?P<quoted_bits>\b[xXbBoO]"[^"\s]*")
      | (?P<prefixed>(?<![\w.])[-+]?0[xXbBoO][-+]?[0-9a-fA-FxXzZ_]+\b)
      | (?P<file>(?<!{_IN_PATH})(?:[A-Za-z]:)?{_IN_PATH}+\.{_FILE}(?![\w/\\.]))
      | (?P<path>(?<![\w/.])(?:~|\.{{1,2}}|[A-Za-z]:)?(?:[\\/](?:[\w.@+~%$-]|{_INDEX})+)+)
      | (?P<hierarchy>\b[A-Za-z_$][\w$]*(?:{_INDEX}|\(\w{{1,40}}\))*
            (?:\.[A-Za-z_$][\w$]*(?:{_INDEX}|\(\w{{1,40}}\)(?=\.))*)+)
      | (?P<indexed>\b[A-Za-z_$][\w$]*)(?:\[[-+\w:\ ]{{0,60}}\])+
      | (?P<worker>\bgw)\d+\b
      | (?P<time>(?<![\w.])[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?\ ?{UNIT})
      | (?P<lead>
            (?:(?i:\b(?:{COMPARED})\b)|[=!<>]=|=)[\s:=]{{0,20}}+
        )
        (?:
            (?P<value>{value})
          | {names}
        )
      | (?P<bits>
            \b(?:[01]+[xXzZ][01xXzZ_]*|[xXzZ]{{2,}}[01xXzZ_]*|[xXzZ][01xXzZ_]{{3,}}|[uU]{{4,}})\b
          | \b(?!\d+[xX]\d+\b)(?=[0-9a-fA-F]*[xXzZ])(?=[a-zA-Z]*(?:\d|[xXzZ][a-fA-F]*[xXzZ]))[0-9a-fA-FxXzZ]{{4,64}}\b
          | (?<![\w.\[])[xXzZ](?![\w.(\[])
        )
      | (?P<number>
            (?<![\w.])[-+]?\d[\d_]*(?:,\d{{3}}\b)*(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)
          | (?<![\w.])[-+]?(?:nan|inf)\b
          | \b(?:True|False)\b
        )
      | (?P<hex>\b(?:\d[0-9a-fA-F]+|(?=[a-fA-F]+\d)[0-9a-fA-F]{{2,}}|{letters})\b)
      | (?P<word_kept>\w++(?![\w+.-]*://))
        """,
        re.ASCII | re.VERBOSE,
    )


_TOKEN = expression(kept=_KEPT, quoted=_QUOTED, value=_VALUE, names=_NAMES, letters=_LETTERS)
_EXPECTS = re.compile(r"(?i)\b(?:expected|expect|exp|should)\b")
_OBSERVES = re.compile(r"(?i)\b(?:got|actual|act|was|read|saw|found|received|is)\b")
_NAMING = re.compile(
    r"(?i)(?:port|channel|chan|ch|lane|bank|worker|agent|master|slave|core|side|unit|inst|instance|name|module|signal"
    r"|reg|register|field|check|phase|test)$"
)
"""Matches the end of a text before `=NAME` where the name is kept, because it tells components apart: `port=RX`."""
_UNKNOWN_BITS = re.compile(r"[xXzZuUwW-]")
_TRUTH = ("True", "False")
_SERIES = re.compile(r"\bV(?:[ ,]+V\b)+")
_LIST = re.compile(r"(?:(?<=\bassert )|(?<=[=!]= ))\[(?:V(?:, \.\.\.)?)?\]")
"""Matches a masked list in a comparison; it becomes `V`, because another occurrence may have a single value there."""
_COMPARES = re.compile(r"(\bassert |[^=!<>][=!]= )")
"""Matches what comes before a compared value."""
_OBJECT = re.compile(r"([A-Za-z_][\w.]*)\(\w+=")
"""Matches the beginning of an object printed with its fields, such as `Packet(length=3, data=b'')`."""
_CLOSING = {"(": ")", "[": "]", "{": "}", "'": "'", '"': '"'}
_GENERATED = re.compile(r"\bgenblk\d+\b")
"""Matches a simulator's name for an unnamed generate block; the number is a counter."""


@functools.lru_cache(maxsize=256)
def mask(text: str) -> str:
    """Mask everything in a message that can differ between two occurrences of one cause.

    Numbers in every notation, times, and compared names of enumeration values become `V`; values with X or Z become
    `XZ`; dates, URLs and UUIDs become `DATE`, `URL` and `UUID`. Paths keep their base name and hierarchies their last
    name. Words are kept, even words of hex digits (`be`, `port A`), and so are names such as `sha256` or `fifo_32x8`.
    """
    # The parts alternate between what `_COMPARES` matches and the text after it, which begins with a compared value.
    first, *parts = _COMPARES.split(shortened(text))
    parts[1::2] = map(_without_fields, parts[1::2])
    text = "".join((first, *parts))
    is_compared = _EXPECTS.search(text) is not None and _OBSERVES.search(text) is not None
    whole = joined(_TOKEN.sub(_masked_compared if is_compared else masked, text))
    return _GENERATED.sub("genblk", _LIST.sub("V", whole))


def _without_fields(text: str) -> str:
    """Mask a compared value at the start of a text if it is an object with fields, or was cut by pytest.

    pytest drops the middle of a long value, so the lengths of the values decide which field names are left.
    """
    opened = _OBJECT.match(text)
    name, start = (opened[1], opened.end(1)) if opened else ("", 0)
    closing, cut = _CLOSING.get(text[start : start + 1], ""), text.find("...")
    is_string = closing in {"'", '"'}
    if is_string and 0 < text.find(closing, 1) < cut:
        cut = -1  # not this string was cut, but something after it
    if not closing or (cut < 0 and not opened):
        return text
    if cut < 0:
        end = _end_of_call(text, start)
    elif is_string:
        end = text.find(closing, cut)
    else:
        end = text.rfind(closing)
    rest = text[end + 1 :] if end >= 0 else ""
    return f"{name}(V){rest}" if opened else f"V{rest}"


def _end_of_call(text: str, start: int) -> int:
    """Return the offset of the parenthesis that closes the one at `start`, or of the text's end."""
    depth = 0
    for found in re.finditer(r"[()]", text[start:]):
        depth += 1 if found[0] == "(" else -1
        if not depth:
            return start + found.start()
    return len(text)


def shortened(text: str) -> str:
    """Return the part of a message that goes into its fingerprint, on one line."""
    return clean(two_ends(text, LONGEST)).replace("\n", " ")


def joined(text: str) -> str:
    """Return a masked message with single spaces between words, and one `V` for each series of values."""
    return _SERIES.sub("V", " ".join(text.split()))


def fingerprint(
    *,
    report_class: str,
    text: str,
    file: str | None = None,
    message_id: str | None = None,
    function: str | None = None,
    source_line: str | None = None,
    mask: Callable[[str], str] = mask,
) -> str:
    """Return the identity of a cause: 12 hex digits.

    Args:
        report_class: Severity or exception type.
        text: The message, not yet masked.
        file: Source file of the message; only its base name is used.
        message_id: The tool's id for the kind of message, such as a UVM id.
        function: The function that contains the failing check.
        source_line: Source line of the failing check, from the traceback.
        mask: Function that masks the message.
    """
    base = re.split(r"[\\/]", file)[-1] if file else ""
    check = " ".join((source_line or "").split())
    identity = message_id or ""
    if _COMPONENT.search(identity):
        identity = _COUNTED.sub("", mask(identity))
    parts = (report_class, base, identity, function or "", check, mask(text))
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:DIGITS]


_COMPONENT = re.compile(r"[.\[@]")
"""Matches an id that is a component's full name. Such an id is masked, so that all instances share a fingerprint."""
_COUNTED = re.compile(r"_?\d+$")
_FIXED = {
    "url": "URL",
    "uuid": "UUID",
    "date": "DATE",
    **dict.fromkeys(("time", "enumerated", "bytes", "number", "hex"), "V"),
    "bits": "XZ",
    "worker": "gw",
}
"""Maps the kinds of tokens that have a fixed mask to that mask."""
_BASE = re.compile(r"^[-+]?(?:\d*'[sS]?\w|0\w|\w(?=\"))[ ]?[-+]?", re.ASCII)
"""Matches the base prefix of a number, such as `0x` or `8'h`, which is removed before the search for X and Z."""


def masked(match: re.Match[str]) -> str:
    """Return the mask of a token."""
    # The last group that closed is the token's kind: a `lead` closes before its value.
    kind = match.lastgroup or ""
    return _FIXED[kind] if kind in _FIXED else _SHOWN[kind](match)


def _masked_compared(match: re.Match[str]) -> str:
    return f"{match['lead']}V" if match.lastgroup == "constant" else masked(match)


def _assigned(match: re.Match[str]) -> str:
    lead = match["lead"]
    before = match.string[max(0, match.start() - 10) : match.start()]
    return match[0] if lead.startswith("=") and _NAMING.search(before) else f"{lead}V"


def _typed(text: str) -> str:
    bits = re.search(r"['\"]([^'\"]*)['\"]", text)
    return _value(bits[1]) if bits else "V"


def _value(text: str) -> str:
    return "XZ" if _UNKNOWN_BITS.search(text.lstrip("+-")) and text not in _TRUTH else "V"


def _last_name(text: str) -> str:
    without_index = re.sub(r"\[[^\]]*\]", "", text)
    return re.split(r"[\\/]|\.(?=[A-Za-z_$])", without_index)[-1] or without_index


_SHOWN: dict[str, Callable[[re.Match[str]], str]] = {
    **dict.fromkeys(("based", "quoted_bits", "prefixed"), lambda found: _value(_BASE.sub("", found[0]))),
    "typed": lambda found: _typed(found[0]),
    "lead": lambda found: f"{found['lead']}V",
    "value": lambda found: found["lead"] + _value(found["value"]),
    "indexed": lambda found: found["indexed"],
    **dict.fromkeys(("plain", "kept", "constant", "word_kept"), lambda found: found[0]),
    **dict.fromkeys(("word", "assigned"), _assigned),
    "file": lambda found: re.split(r"[\\/]", found[0])[-1],
    **dict.fromkeys(("path", "hierarchy"), lambda found: _last_name(found[0])),
}
"""Maps the kinds of tokens without a fixed mask to functions that return the mask of a token."""
