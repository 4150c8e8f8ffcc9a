"""Fingerprints of version 1, which identify the causes in older records."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from pytest_dvwiki.fingerprint import AFTER, COMPARED, UNIT, expression, fingerprint, joined, masked, shortened

if TYPE_CHECKING:
    import re


@cache
def _token() -> re.Pattern[str]:
    return expression(
        kept=r"(?!)",
        quoted=r"""'[^']*'|"[^"]*\"""",
        value=rf"""[-+]?(?!0[xXbB])(?:[0-9a-fA-FxXzZ_]+|True\b|False\b)(?![\w'."])(?!\ ?{UNIT})""",
        names=r"(?:(?<==)[A-Z][A-Z0-9_]{1,40}(?![\w'(\[.])|[A-Z][A-Z0-9_]{1,40}(?![\w'(\[])"
        rf"(?=[ ]{{0,3}}(?:$|[,;:)\]}}&|/!]|\.(?!\w)|[=!]=)|[ ](?:(?i:{AFTER}|{COMPARED})\b|\w{{1,40}}[=:])))",
        letters=r"[A-F]{2,16}|[a-f]{1,16}(?!['\"(])",
    )


def mask_v1(text: str) -> str:
    """Mask a message as version 1 did: also words of hex digits, and more names of values than `mask` does."""
    return joined(_token().sub(masked, shortened(text)))


fingerprint_v1 = partial(fingerprint, mask=mask_v1)
"""Returns the fingerprint of a cause in version 1; the arguments are those of `fingerprint`."""
