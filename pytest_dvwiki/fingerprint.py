"""The identity of a cause, from the text of its artefacts alone: masks and a hash."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Callable

FINGERPRINT_VERSION = 1
"""Counts up when the same failure would get another fingerprint; `dvwiki build --reclassify` then moves the archive."""

LONGEST = 4096
"""Characters of a line that count: half of them from its head, half from its tail."""
DIGITS = 12

_UNIT = r"(?:fs|ps|ns|us|ms|s|sec|step|steps)\b"
_FILE = (
    r"(?:svh?|vh?|vhdl?|vp|vams|pyc?|cpp|cc|cxx|c|hpp|h|so|dll|exe|ya?ml|json|xml|txt|mk|tcl|log|vcd|fst|fsdb|wdb|ucdb"
    r"|prj|toml|cfg|ini|vvp)"
)
_IN_PATH = r"[\w.@+~%$\\/-]"
_INDEX = r"\[[^\]\s]{0,60}\]"
_COMPARED = r"assert|got|expected|expect|exp|actual|act|was|read|wrote|vs|value|found|saw"
_AFTER = r"but|and|instead|when|while|during|for|at|on|in|from|after|before"
# The name of an enumeration's value: behind `=`, or where a check compares and nothing but values or the end follows.
_CONSTANT = (
    r"(?:(?<==)[A-Z][A-Z0-9_]{1,40}(?![\w'(\[.])|[A-Z][A-Z0-9_]{1,40}(?![\w'(\[])"
    rf"(?=[ ]{{0,3}}(?:$|[,;:)\]}}&|/!]|\.(?!\w)|[=!]=)|[ ](?:(?i:{_AFTER}|{_COMPARED})\b|\w{{1,40}}[=:])))"
)
# One pass, the first alternative that fits wins. The sign goes with its number, else one scoreboard message
# splits by sign. No token is numbered, else one cause splits whenever two of its values happen to be equal.
_TOKEN = re.compile(
    rf"""
    (?P<url>[A-Za-z][A-Za-z0-9+.-]{{1,20}}://[^\s'"<>)\]]+)
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
  | (?P<bytes>\b(?:bytearray\()?b(?:'[^']*'|"[^"]*")\)?)
  | (?P<based>(?<![\w'])[-+]?\d*'[sS]?[bBoOdDhH]\ ?[-+]?[0-9a-fA-FxXzZ?_]+)
  | (?P<quoted_bits>\b[xXbBoO]"[^"\s]*")
  | (?P<prefixed>(?<![\w.])[-+]?0[xXbBoO][-+]?[0-9a-fA-FxXzZ_]+\b)
  | (?P<file>(?<!{_IN_PATH})(?:[A-Za-z]:)?{_IN_PATH}+\.{_FILE}(?![\w/\\.]))
  | (?P<path>(?<![\w/.])(?:~|\.{{1,2}}|[A-Za-z]:)?(?:[\\/](?:[\w.@+~%$-]|{_INDEX})+)+)
  | (?P<hierarchy>\b[A-Za-z_$][\w$]*(?:{_INDEX}|\(\w{{1,40}}\))*
        (?:\.[A-Za-z_$][\w$]*(?:{_INDEX}|\(\w{{1,40}}\)(?=\.))*)+)
  | (?P<indexed>\b[A-Za-z_$][\w$]*)(?:\[[-+\w:\ ]{{0,60}}\])+
  | (?P<worker>\bgw)\d+\b
  | (?P<time>(?<![\w.])[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?\ ?{_UNIT})
  | (?P<lead>
        (?:(?i:\b(?:{_COMPARED})\b)|[=!<>]=|=)[\s:=]{{0,20}}+
    )
    (?:
        (?P<value>[-+]?(?!0[xXbB])(?:[0-9a-fA-FxXzZ_]+|True\b|False\b)(?![\w'."])(?!\ ?{_UNIT}))
      | {_CONSTANT}
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
  | (?P<hex>\b(?:\d[0-9a-fA-F]+|(?=[a-fA-F]+\d)[0-9a-fA-F]{{2,}}|[A-F]{{2,16}}|[a-f]{{1,16}}(?!['"(]))\b)
    """,
    re.ASCII | re.VERBOSE,
)
_UNKNOWN_BITS = re.compile(r"[xXzZuUwW-]")
_TRUTH = ("True", "False")
_SERIES = re.compile(r"\bV(?:[ ,]+V\b)+")


def mask(text: str) -> str:
    """A text with everything replaced that differs between two occurrences of one cause.

    Numbers in every notation, times and the names of compared enumeration values become `V`, values that hold X or Z
    become `XZ`; paths keep their base name and hierarchies their last name. Names such as `sha256` or `fifo_32x8` stay.
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
    masked = _TOKEN.sub(_masked, clean(text).replace("\n", " "))
    return _SERIES.sub("V", " ".join(masked.split()))


def fingerprint(
    *,
    report_class: str,
    file: str | None,
    message_id: str | None,
    function: str | None,
    source_line: str | None,
    text: str,
) -> str:
    """The identity of a cause: 12 hex digits.

    Args:
        report_class: Severity or exception type.
        file: Source file of the message; its base name counts.
        message_id: The tool's or the report's id.
        function: The function that encloses the failing check.
        source_line: The failing check as the traceback shows it.
        text: The message itself; its mask counts.
    """
    base = re.split(r"[\\/]", file)[-1] if file else ""
    check = " ".join((source_line or "").split())
    identity = message_id or ""
    if _COMPONENT.search(identity):
        identity = _COUNTED.sub("", mask(identity))
    parts = (report_class, base, identity, function or "", check, mask(text))
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:DIGITS]


_COMPONENT = re.compile(r"[.\[@]")
"""In an id that is the name of a component, as of a report by `get_full_name()`: equal instances are one."""
_COUNTED = re.compile(r"_?\d+$")
_FIXED = {
    "url": "URL",
    "uuid": "UUID",
    "date": "DATE",
    "time": "V",
    "enumerated": "V",
    "bytes": "V",
    "number": "V",
    "hex": "V",
    "bits": "XZ",
    "worker": "gw",
}
"""Kinds whose token does not depend on the text."""
_BASE = re.compile(r"^[-+]?(?:\d*'[sS]?\w|0\w|\w(?=\"))[ ]?[-+]?", re.ASCII)
"""The base of a number: it may itself be written x."""


def _masked(found: re.Match[str]) -> str:
    # The last group that closed: that of the kind itself, and `value` behind a `lead`.
    kind = found.lastgroup or ""
    return _FIXED[kind] if kind in _FIXED else _SHOWN[kind](found)


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
    "file": lambda found: re.split(r"[\\/]", found[0])[-1],
    **dict.fromkeys(("path", "hierarchy"), lambda found: _last_name(found[0])),
}
"""What stands for a token of the other kinds."""
