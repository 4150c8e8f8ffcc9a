"""Counts tokens, exactly with a tokenizer file, or else by a conservative rule.

The rule needs no file. Simulator reports and wiki pages consist of names, numbers and punctuation. Common vocabularies
need up to twice as many tokens for them as for prose of the same length, and the rule counts about a third more than
such a vocabulary. Users who know their model can give its `tokenizer.json`, which the package `tokenizers` reads
without network access.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_dvwiki import reading

if TYPE_CHECKING:
    from pathlib import Path

Count = Callable[[str], int]
"""A function that counts the tokens of a text."""
_PIECE = re.compile(r"[A-Z]?[a-z]{1,4}|[A-Z]{1,2}|[0-9]{1,2}| (?=[0-9])| {2,32}|[\x00-\x1f!-/:-@\[-`{-\x7f]")
"""The pieces of ASCII text. A space before a word is part of the word."""
_logger = logging.getLogger(__name__)


def by_rule(text: str) -> int:
    """Count tokens by the rule: one per piece of ASCII text; for any other character, its UTF-8 bytes minus one."""
    return len(_PIECE.findall(text)) + len(text.encode("utf-8", "surrogatepass")) - len(text)


@lru_cache(maxsize=4)
def counting(tokenizer: Path | None) -> Count:
    """Return a function that counts tokens by a `tokenizer.json`, or by the rule if there is none.

    An invalid file is logged, and the rule is used.
    """
    if tokenizer is None:
        return by_rule
    try:
        return _exact(tokenizer)
    except Exception as error:  # noqa: BLE001 (the library raises plain exceptions; a prompt is made all the same)
        _logger.warning("context_tokenizer %s: %s; the number of tokens is estimated", tokenizer, _reason(error))
        return by_rule


def _exact(file: Path) -> Count:
    from tokenizers import Tokenizer  # noqa: PLC0415 (an extra, loaded where it is used)

    tokenizer = Tokenizer.from_buffer(reading.read_bytes(file))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _reason(error: Exception) -> str:
    if isinstance(error, ImportError):
        return "the package tokenizers is not installed: pip install 'pytest-dvwiki[tokens]'"
    return (isinstance(error, OSError) and error.strerror) or f"not a valid tokenizer.json: {error}"
