"""Removes what must not be stored: secrets, escape sequences, control and bidirectional characters.

All text that leaves a process (journal, record, page, terminal, prompt) passes through `redact` first.
"""

from __future__ import annotations

import functools
import hashlib
import re
from typing import TYPE_CHECKING

from pytest_dvwiki import secret_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|\x9b[0-?]*[ -/]*[@-~]|#x1B\[[0-9;]*m"  # the last is a colour in a results file: XML forbids the escape character
)
# C0 except tab and line feed, DEL, C1, zero-width and bidirectional controls, line and paragraph
# separators, lone surrogates: none of them is visible, and each can make a text appear different from what it is.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
MASK = "[redacted]"
"""The replacement for a secret."""
MASKED = "…"
"""The replacement, in a command, for a value that must not be stored."""
_OPENED = MASK[:-1]
_DIGITS = 8
_LONGEST_KEPT = 2048
"""Maximum length of strings with a cached result. Messages recur within and across failures."""
_PART = r"[\w.+@%~,=-]+"
_LIBRARY_PATH = re.compile(
    rf"(?<![\w./~-])/(?:{_PART}/){{1,30}}?(?:(?:site|dist)-packages/|lib/python3\.\d+/(?!site-|dist-))"
)
_CUT_PATH = re.compile(rf"(?<!\S)\.\.[\w+@%~,=-]+/(?=(?:{_PART}/)*{_PART}\()")
"""Start of a path that cocotb truncated to its column width: `..oject/tb/env.py(139)`."""
_FILE_PATH = re.compile(rf"(?<![\w./:~-])/(?:{_PART}/){{1,30}}({_PART}/{_PART}\.\w{{1,6}})\b")


def strip_escapes(text: str) -> str:
    """Remove terminal escape sequences."""
    return _ESCAPES.sub("", text) if "\x1b" in text or "\x9b" in text or "#x1B" in text else text


def clean(text: str) -> str:
    """Remove escape sequences and non-printing characters, except tab and line feed.

    CRLF and CR are replaced by a line feed.
    """
    if text.isascii() and text.isprintable() and "#x1B" not in text:
        return text
    text = strip_escapes(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", text)


def two_ends(text: str, most: int) -> str:
    """Return a string, or only its two ends with ` … ` between them if it is longer than `most` characters.

    Each end has half of `most` characters.
    """
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-(most // 2) :]}"


def shorten_paths(text: str, root: PurePath) -> str:
    """Shorten the paths in a text, so that the same failure has the same text on every machine.

    Paths below the root are made relative to it. Paths into an installed library start at the library. Of other
    absolute file paths the last two parts are kept. A path that was truncated in the log loses its incomplete first
    part.
    """
    if "/" not in text:
        return text
    text = text.replace(f"{root.as_posix()}/", "")
    text = _CUT_PATH.sub("", _LIBRARY_PATH.sub("", text))
    return _FILE_PATH.sub(r"\1", text)


def redact(text: str) -> str:
    """Clean a text, and mask its secrets: tokens, passwords, user names in URLs, licence servers."""
    return _redacted(text) if len(text) <= _LONGEST_KEPT else _redacted.__wrapped__(text)


@functools.lru_cache(maxsize=1024)
def _redacted(text: str) -> str:
    text = clean(text)
    for rule in secret_rules.rules_for(text):
        text = _masked(text, rule, lambda _: MASK)
    return text


# Cached: a test's name is masked in the journal, and again at the end of the session in the test's failures and result.
@functools.lru_cache(maxsize=1 << 14)
def redact_id(nodeid: str) -> str:
    """Return a test's name with its secrets masked. Masks include a short hash, so that different names stay different.

    The masked name of a runner is a prefix of the masked names of its tests. The hash is salted with the file's path,
    so that it cannot be looked up in a table of known hashes.
    """
    text = clean(nodeid)
    salt = nodeid.partition("::")[0]

    def mask(secret: str) -> str:
        digest = hashlib.sha256(f"{salt}\0{secret}".encode("utf-8", "surrogatepass")).hexdigest()
        return f"{_OPENED}-{digest[:_DIGITS]}]"

    # Each part separately: a secret in the file's path must not extend into the test's name.
    parts = list(text.partition("::"))
    for at, part in enumerate(parts):
        for rule in secret_rules.rules_for(part):
            parts[at] = _masked(parts[at], rule, mask)
    shown = "".join(parts)
    return nodeid if shown == nodeid else shown


def _masked(text: str, rule: secret_rules.SecretRule, mask: Callable[[str], str]) -> str:
    shown: list[str] = []
    end = 0
    for first, last in rule.parts(text):
        # A mask that is already in the text is kept, because it may contain a hash.
        if first >= end and not text.startswith(_OPENED, first):
            shown += (text[end:first], mask(text[first:last]))
            end = last
    return "".join((*shown, text[end:])) if shown else text
