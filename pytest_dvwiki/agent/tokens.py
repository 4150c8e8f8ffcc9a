"""What a text costs in tokens: by a conservative rule, or counted by a tokeniser whose file is at hand.

The rule needs nothing: common vocabularies take 5.2 characters of English prose a token and 3.9 of a simulator log; it
takes 4 and 3, and a token for each character outside ASCII. Who knows the model may give the `tokenizer.json` that
comes with it, which the package `tokenizers` reads without a network.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

PROSE = 4
LOG = 3
_logger = logging.getLogger(__name__)


class Count(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str, characters: int = PROSE) -> int:
        """Tokens of a text.

        Args:
            text: The text.
            characters: ASCII characters of such text that make a token, for who does not know better.
        """
        ...


def by_rule(text: str, characters: int = PROSE) -> int:
    """Tokens of a text by the rule, rounded up."""
    plain = sum(char.isascii() for char in text)
    return -(-plain // characters) + len(text) - plain


@lru_cache(maxsize=4)
def counting(tokenizer: Path | None) -> Count:
    """A way to count.

    Args:
        tokenizer: A `tokenizer.json`; where None, or where it cannot be used, which is logged, the rule counts.
    """
    if tokenizer is None:
        return by_rule
    try:
        return _exact(tokenizer)
    except Exception as error:  # noqa: BLE001 (the library raises plain exceptions; a prompt is still to be had)
        _logger.warning("context_tokenizer %s: %s; tokens are counted by a rule", tokenizer, _reason(error))
        return by_rule


def _exact(file: Path) -> Count:
    from tokenizers import Tokenizer  # noqa: PLC0415 (an extra, loaded where it is used)

    tokenizer = Tokenizer.from_buffer(file.read_bytes())

    def count(text: str, characters: int = PROSE) -> int:  # noqa: ARG001 (it knows better)
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def _reason(error: Exception) -> str:
    if isinstance(error, ImportError):
        return "the package tokenizers is not installed: pip install 'pytest-dvwiki[tokens]'"
    return (isinstance(error, OSError) and error.strerror) or f"no tokenizer.json that can be read: {error}"
