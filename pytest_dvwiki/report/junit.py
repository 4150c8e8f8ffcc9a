"""JUnit XML output: completes the properties of failed tests after pytest has written the file."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.report.brief import Brief

LABEL = "dvwiki_label"
FINGERPRINT = "dvwiki_fingerprint"
PAGE = "dvwiki_page"
_PAIR = re.compile(
    rf'<property name="{LABEL}" value="[^"<>]{{0,400}}" ?/>'
    rf'<property name="{FINGERPRINT}" value="([0-9a-f]{{1,64}})" ?/>'
)


def completed(xml: str, causes_of: Callable[[str], Sequence[Brief]]) -> str:
    """Return the text of a JUnit file with each cause updated and its page added.

    The cause written when the test failed is replaced by the cause after the whole run. They differ, for example, if
    the failure turned out to be a consequence of another test's failure.

    Args:
        xml: The file as pytest wrote it.
        causes_of: Returns the archived causes of a test, given the fingerprint in its report.
    """
    return _PAIR.sub(lambda found: "".join(map(_properties, causes_of(found[1]))) or found[0], xml)


def _properties(brief: Brief) -> str:
    values = {LABEL: brief.label, FINGERPRINT: brief.fingerprint} | ({PAGE: brief.page} if brief.page else {})
    return "".join(f'<property name="{name}" value="{escape(value)}" />' for name, value in values.items())
