"""Takes out of a text what must not be kept: secrets, escape codes, control and bidirectional characters.

Everything that leaves a process (journal, record, page, terminal, prompt) goes through `redact` first.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from pytest_dvwiki import secret_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
# C0 without tab and line feed, DEL, C1, zero-width and bidirectional controls, line and paragraph
# separators, lone surrogates: none of them prints, and each can make a text read as what it is not.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
MASK = "[redacted]"
"""Stands for a secret."""
_OPENED = MASK[:-1]
_DIGITS = 8
_PART = r"[\w.+@%~,=-]+"
_LIBRARY_PATH = re.compile(
    rf"(?<![\w./~-])/(?:{_PART}/){{1,30}}?(?:(?:site|dist)-packages/|lib/python3\.\d+/(?!site-|dist-))"
)
_CUT_PATH = re.compile(rf"(?<!\S)\.\.[\w+@%~,=-]+/(?=(?:{_PART}/)*{_PART}\()")
"""The front of a path that cocotb's log cut to the width of its column: `..oject/tb/env.py(139)`."""
_FILE_PATH = re.compile(rf"(?<![\w./:~-])/(?:{_PART}/){{1,30}}({_PART}/{_PART}\.\w{{1,6}})\b")


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
    """Return a text cleaned, with the secrets in it masked: tokens, passwords, user names in URLs, licence servers."""
    text = clean(text)
    for rule in secret_rules.rules_for(text):
        text = _masked(text, rule, lambda _: MASK)
    return text


def redact_id(nodeid: str) -> str:
    """Return the name of a test with its secrets masked, each with a short hash, so that two names stay two.

    The name of what runs a test stays the beginning of the test's own name. The hash depends on the file as well: a
    password alone could be looked up by it in tables that are made for every password.
    """
    text = clean(nodeid)
    salt = nodeid.partition("::")[0]

    def mask(secret: str) -> str:
        digest = hashlib.sha256(f"{salt}\0{secret}".encode("utf-8", "surrogatepass")).hexdigest()
        return f"{_OPENED}-{digest[:_DIGITS]}]"

    # A secret in the file's path ends where that does.
    parts = list(text.partition("::"))
    for at, part in enumerate(parts):
        for rule in secret_rules.rules_for(part):
            parts[at] = _masked(parts[at], rule, mask)
    return "".join(parts)


def _masked(text: str, rule: secret_rules.Rule, mask: Callable[[str], str]) -> str:
    shown: list[str] = []
    end = 0
    for first, last in rule.parts(text):
        # What is masked already stays, with the hash that may stand in it.
        if first >= end and not text.startswith(_OPENED, first):
            shown += (text[end:first], mask(text[first:last]))
            end = last
    return "".join((*shown, text[end:])) if shown else text
