"""Takes out of a text what must not be kept: secrets, escape codes, control and bidirectional characters.

Everything that leaves a process (journal, record, page, terminal, prompt) goes through `redact` first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import PurePath

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
# C0 without tab and line feed, DEL, C1, zero-width and bidirectional controls, line and paragraph
# separators, lone surrogates: none of them prints, and each can make a text read as what it is not.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_MASK = "[redacted]"
_PART = r"[\w.+@%~,=-]+"
_LIBRARY_PATH = re.compile(
    rf"(?<![\w./~-])/(?:{_PART}/){{1,30}}?(?:(?:site|dist)-packages/|lib/python3\.\d+/(?!site-|dist-))"
)
_CUT_PATH = re.compile(rf"(?<!\S)\.\.[\w+@%~,=-]+/(?=(?:{_PART}/)*{_PART}\()")
"""The front of a path that cocotb's log cut to the width of its column: `..oject/tb/env.py(139)`."""
_FILE_PATH = re.compile(rf"(?<![\w./:~-])/(?:{_PART}/){{1,30}}({_PART}/{_PART}\.\w{{1,6}})\b")
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    # user:password@ and user@ in URLs
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)[^\s/@'\"]{1,200}@"), rf"\1{_MASK}@"),
    # licence servers: 27000@host, and lists of them
    (re.compile(r"\b\d{3,5}@[A-Za-z0-9][A-Za-z0-9.-]*"), _MASK),
    (
        re.compile(
            r"\b((?:LM|SNPSLMD|CDS_LIC|MGLS|SALT|XILINXD|ALDEC|RLM|[A-Z0-9]+D)"
            r"_LICENSE(?:_FILE|_SERVER)?|CDS_LIC_FILE)(\s*[=:]\s*)[^\s'\",]+"
        ),
        rf"\1\2{_MASK}",
    ),
    (
        re.compile(r"(?i)\b(license server(?: (?:host|machine))?\s*[=:]?\s+)[\w-]+(?:\.[\w-]+)+"),
        rf"\1{_MASK}",
    ),
    (re.compile(r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/-]{12,}=*"), rf"\1{_MASK}"),
    (
        re.compile(
            r"(?i)\b([\w-]{0,40}(?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token"
            r"|access[_-]?token|private[_-]?key)[\w-]{0,20}['\"]?\s{0,3}[=:]\s{0,3}['\"]?)"
            r"(?!0x|\d+['\"]?(?:\W|$))[^\s'\",;]{6,}"
        ),
        rf"\1{_MASK}",
    ),
    (re.compile(r"(?<![\w-])(--?(?:password|token|secret|api-key)[= ])\S+"), rf"\1{_MASK}"),
    # tokens that name themselves
    (
        re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})"),
        _MASK,
    ),
    (re.compile(r"\b(?:sk|pk|rk)-(?:[A-Za-z0-9]+-)?[A-Za-z0-9_-]{20,}"), _MASK),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), _MASK),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), _MASK),
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
        _MASK,
    ),
)


def strip_escapes(text: str) -> str:
    """Takes terminal escape sequences out of a text."""
    return _ESCAPES.sub("", text) if "\x1b" in text or "\x9b" in text else text


def clean(text: str) -> str:
    """Takes escape sequences and characters that do not print out of a text; tab and line feed stay.

    CRLF and CR become a line feed.
    """
    if text.isascii() and text.isprintable():
        return text
    text = strip_escapes(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", text)


def shorten_paths(text: str, root: PurePath) -> str:
    """Takes the machine out of the paths in a text.

    A path below the root becomes relative to it, one of an installed library begins at the library, and any other
    absolute path to a file keeps its last two parts; a path whose front a log cut off loses the torn part. So the same
    failure reads the same on every machine.
    """
    text = text.replace(f"{root.as_posix()}/", "")
    text = _CUT_PATH.sub("", _LIBRARY_PATH.sub("", text))
    return _FILE_PATH.sub(r"\1", text)


def redact(text: str) -> str:
    """Cleans a text and masks secrets in it: tokens, passwords, user names in URLs, licence servers."""
    text = clean(text)
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
