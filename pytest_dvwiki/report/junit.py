"""Output for readers of JUnit XML: the properties of a failed test, completed after pytest has written its file."""

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
    """Return the text of a JUnit file, with the page of each cause added.

    The cause that was named when the report was made is replaced by the cause that the whole run shows. The two can
    differ, for example if the failure is only a consequence of another test's failure.

    Args:
        xml: The file as pytest wrote it.
        causes_of: Returns the causes that a test was archived with, given the fingerprint in its report.
    """
    return _PAIR.sub(lambda found: "".join(map(_properties, causes_of(found[1]))) or found[0], xml)


def _properties(brief: Brief) -> str:
    values = {LABEL: brief.label, FINGERPRINT: brief.fingerprint} | ({PAGE: brief.page} if brief.page else {})
    return "".join(f'<property name="{name}" value="{escape(value)}" />' for name, value in values.items())
