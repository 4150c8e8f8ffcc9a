"""Where an exception was raised, and when that place tells more than the exception's text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.triage import pytest_report
from pytest_dvwiki.triage.traceback import innermost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.model import Excerpt, Frame
    from pytest_dvwiki.triage.anatomy import Anatomy

_NAMES_ITS_CAUSE = re.compile(
    r"contains no (?:child )?object\b|\bsimulator precision\b"
    r"|\bis not in ConfigDB\b|\bhas no key: |\bnot in uvm_factory\b"
)
"""Texts of cocotb and pyuvm."""
_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError"})
_WORDLESS = re.compile(r"assert (?:not )?(?:V|XZ|None|''|\"\"|\[\]|\{\}|\(\)|set\(\))")
"""What a rewritten assert without a comparison masks to."""


def is_part_of_identity(anatomy: Anatomy) -> bool:
    """Whether an exception's place tells causes of the same text apart.

    It does for an assertion (`assert V == V`), for an exception without a text and for most others (`list index out of
    range`). It does not where the text names what is missing: a handle, an entry, a time scale or a module is one cause
    however many tests ask for it.
    """
    return anatomy.report_class not in _IMPORTS and not _NAMES_ITS_CAUSE.search(anatomy.text)


def frame_in(lines: Sequence[str], at: int) -> Frame | None:
    """The user's innermost frame of the exception that is named on a line.

    Args:
        lines: The lines of a log or a results entry; the latter names the exception before its traceback does.
        at: Index of the line.
    """
    found = list(innermost(lines))
    exact = next((one for one in found if one.line == at), None)
    raised = exact or next((one for one in found if one.line >= at), None)
    return raised.frame if raised is not None else None


def frame_in_excerpt(excerpt: Excerpt, line: int) -> Frame | None:
    """The user's innermost frame of the exception that an excerpt names on a line."""
    lines = [text for _, text in excerpt.lines]
    at = next((index for index, (number, _) in enumerate(excerpt.lines) if number >= line), 0)
    shown = pytest_report.user_frame(lines) if excerpt.source == "report" else None
    return shown or frame_in(lines, at)


def with_place(text: str, anatomy: Anatomy, frame: Frame | None) -> str:
    """The text of an exception, with its place where it says nothing by itself."""
    if frame is None or not (_is_bare(anatomy) or _WORDLESS.fullmatch(mask(anatomy.text))):
        return text
    where = f"{frame.file}:{frame.function or frame.line}"
    if anatomy.report_class == "AssertionError" and frame.source.startswith("assert"):
        return f"AssertionError: {frame.source} in {where}"
    return f"{text.rstrip(':')} in {where}" + (f": {frame.source}" if frame.source else "")


def _is_bare(anatomy: Anatomy) -> bool:
    """Whether an exception has no text: its class stands for it."""
    return bool(anatomy.report_class) and anatomy.text.rsplit(".", 1)[-1].rstrip(":") == anatomy.report_class
