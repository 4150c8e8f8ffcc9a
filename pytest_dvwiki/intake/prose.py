"""Failures that a report mentions in prose; rules find them by quoted messages and labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.intake.fields import (
    FAILS,
    FENCE,
    HEADING,
    LONGEST,
    LONGEST_LINE,
    MOST,
    PASSES,
    TEST,
    groups,
    of_heading,
    title_in,
)
from pytest_dvwiki.intake.findings import is_about_failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_dvwiki.model import Verdict

Block = list[tuple[str, bool]]
"""The lines of a paragraph, each with whether the line is quoted, for instance in a fence."""
_SEEDS = re.compile(r"\bseeds?\b\s*[:=#]?\s*`?(\w*\d\w*(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+)\d+)*)", re.IGNORECASE)
_LABEL = re.compile(
    r"\b((?:compile|elaboration|sim|uvm|python|check|tool)_error|uvm_fatal)`?\s*/\s*`?([a-z][a-z0-9_]{2,60})"
)
_OVER = re.compile(r"\b(?:fixed|resolved|no longer|not reproduc\w+|used to|would)\b", re.IGNORECASE)
_MESSAGE = re.compile(
    r"UVM_(?:ERROR|FATAL)\b|\*+ ?(?:Error|Fatal)\b|%Error\b|Error-\[|xm\w+: \*[EF]|\w+Error\b|"
    r"\S+:\d+(?::\d+)?: (?:error|fatal)|(?:ERROR|FATAL)\b"
)
_SPAN = re.compile(r"(?<!`)(`{1,3})([^`]{1,4000})\1(?!`)")
_IN_QUOTES = re.compile(r'"([^"\n]{8,4000})"')
_BULLET = re.compile(r"\s*(?:[-*+>]|\d+[.)])\s+")


def failures_in_prose(
    text: str, classify: Callable[[str], Verdict | None], *, only_headed: bool = False
) -> list[dict[str, str]]:
    """Return the failures that a text describes by quoting a message or label, outside sections with fields.

    Failures that the text calls fixed or passed, or only suspects, are left out. With `only_headed`, only sections with
    a heading about one failure are read; this is for texts that also have fields. `classify` returns None for a message
    that is no failure.
    """
    found: list[dict[str, str]] = []
    for headed, blocks in _sections(text[:LONGEST]):
        if len(found) >= MOST:
            break
        if (headed or {}).get("status") == "passed" or (only_headed and headed is None):
            continue
        if any(map(is_about_failure, groups("\n".join(line for block in blocks for line, _ in block)))):
            continue
        groups_of_fields = [group for block in blocks[:MOST] if (group := _of_block(block, classify))]
        # All messages under the heading of one failure belong to that failure.
        found += groups_of_fields if headed is None else [headed | group for group in groups_of_fields[:1]]
    return found


def _of_block(block: Block, classify: Callable[[str], Verdict | None]) -> dict[str, str]:
    """Return the fields of the failure that a paragraph and the fences after it quote; empty if they quote none."""
    prose = "\n".join(line for line, quoted in block if not quoted)
    plain = [_BULLET.sub("", line) for line in prose.splitlines()]
    quoted = [line for line, is_quoted in block if is_quoted]
    quoted += [found[2] for found in _SPAN.finditer(prose) if " " in found[2]]
    quoted += [found[1] for found in _IN_QUOTES.finditer(prose) if _MESSAGE.match(found[1])]
    words = _SPAN.sub(" ", prose)
    if _OVER.search(words) or (PASSES.search(words) and not FAILS.search(words)):
        return {}
    messages = [*quoted, *(line for line in plain if _MESSAGE.match(line))]
    verdict = classify("\n".join(messages)) if messages else None
    label = _LABEL.search(prose)
    if verdict is None and label is None:
        return {}
    group = {"context": "\n".join(messages)} if messages else {}
    if verdict is not None:
        group |= {"primary": verdict.primary}
        group |= {"error_class": verdict.error_class, "failure_subtype": verdict.failure_subtype}
    if label is not None:
        group |= {"error_class": label[1], "failure_subtype": label[2]}
    for name, expression in (("test", TEST), ("seed", _SEEDS)):
        if hit := expression.search(prose):
            group[name] = hit[1]
    if "primary" not in group:
        group["symptom"] = " ".join(" ".join(plain).split())
    return group


def _sections(text: str) -> list[tuple[dict[str, str] | None, list[Block]]]:
    """Return the sections of a text, each with the fields in its heading (None if it has none) and its paragraphs.

    A fenced block becomes part of the paragraph before it.
    """
    sections: list[tuple[dict[str, str] | None, list[Block]]] = [(None, [])]
    in_fence, is_new, level = False, True, 0
    for line in (each[:LONGEST_LINE] for each in text.splitlines()):
        blocks = sections[-1][1]
        if FENCE.match(line):
            in_fence, is_new = not in_fence, True
            if in_fence and not blocks:
                blocks.append([])
        elif in_fence:
            blocks[-1].append((line, True))
        elif heading := HEADING.fullmatch(line):
            title, depth, is_new = title_in(heading), len(heading[1] or "#######"), True
            headed = of_heading(title)
            if headed is None and PASSES.search(title):
                headed = {"status": "passed"}
            if headed is not None or depth <= level:
                sections.append((headed, []))
                level = depth
        elif not line.strip():
            is_new = True
        elif is_new and blocks and line.startswith(("    ", "\t")):
            # Text that is indented this far is code, like text in a fence.
            blocks[-1].append((line.strip(), True))
        else:
            if is_new or (_BULLET.match(line) and not line.startswith(" ")):
                blocks.append([])
            blocks[-1].append((line, False))
            is_new = False
    return sections
