"""What groups of fields report: failures, their origins, and coverage holes."""

from __future__ import annotations

import logging
import math
import re
from typing import TYPE_CHECKING

from pytest_dvwiki.intake.fields import PASSES, groups, word
from pytest_dvwiki.model import BinRow, Origin
from pytest_dvwiki.wiki.kinds.coverage import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_dvwiki.model import OriginType

_ORIGINS: dict[str, OriginType] = {
    "rtl_bug": "RTL_BUG",
    "rtl": "RTL_BUG",
    "design_bug": "RTL_BUG",
    "tb_bug": "TB_BUG",
    "tb": "TB_BUG",
    "testbench_bug": "TB_BUG",
    "tool": "TOOL",
    "tool_bug": "TOOL",
    "environment": "TOOL",
}


_JUDGEMENT = ("bug_type", "confidence", "rationale")
_NAMING = ("fingerprint", "test", "failure_subtype", "error_class", "primary")
_logger = logging.getLogger(__name__)


def is_about_failure(group: Mapping[str, str]) -> bool:
    """Return whether a group of fields is about a failure: it has a label, a message, or an origin with a description.

    A group that the report calls passed or skipped is not about a failure.
    """
    status = word(group.get("status", "")).lower()
    if PASSES.match(status) or status in {"ok", "skipped", "success"}:
        return False
    described = {"test", "title", "symptom", "context", "rationale"} & group.keys()
    return bool({"error_class", "failure_subtype", "primary"} & group.keys() or ("bug_type" in group and described))


def same_failure(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether two groups are about the same failure: they share identifying fields, and all of these agree."""
    shared = [name for name in _NAMING if name in one and name in other]
    return bool(shared) and all(word(one[name]).lower() == word(other[name]).lower() for name in shared)


def with_judgements(failures: list[dict[str, str]], judged: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Add the judgements of a classification to failures.

    A judgement is matched with a failure by identifying fields; if none match, and there are as many judgements as
    failures, by order. If there are no failures, each judgement with an origin or a label becomes a failure.
    """
    if not failures:
        return [dict(each) for each in judged if "bug_type" in each or is_about_failure(each)]
    found = list(failures)
    for number, each in enumerate(judged):
        alike = [place for place, failure in enumerate(found) if same_failure(failure, each)]
        if not alike and len(judged) == len(failures):
            alike = [number]
        if len(alike) == 1:
            judgement = {name: each[name] for name in _JUDGEMENT if name in each}
            found[alike[0]] = {**each, **found[alike[0]], **judgement}
    return found


def check_action(name: str) -> None:
    """Check the action class of a coverage hole.

    Raises:
        ValueError: The class does not exist; the message lists the valid classes.
    """
    if name not in ACTIONS:
        raise ValueError(f"unknown action class {name!r}; use one of {', '.join(ACTIONS)}")


def holes(text: str | None) -> list[BinRow]:
    """Return the coverage holes in a text: one for each group with a bin; a covergroup applies to the bins below it."""
    found, covergroup = [], ""
    for group in groups(text, frozenset({"bin", "covergroup"})):
        covergroup = word(group.get("covergroup", "")) or covergroup
        if covergroup and word(group.get("bin", "")):
            found.append(_hole({**group, "covergroup": covergroup}))
    return found


def _hole(row: dict[str, str]) -> BinRow:
    priority = re.search(r"\d+", row.get("priority", ""))
    action = re.sub(r"[ -]", "_", word(row.get("action_class", "needs_investigation")).lower())
    try:
        check_action(action)
    except ValueError as error:
        _logger.warning("%s.%s needs investigation: %s", row["covergroup"], row["bin"], error)
        action = "needs_investigation"
    return BinRow(
        covergroup=row["covergroup"],
        bin=word(row["bin"]),
        action_class=action,
        feature=word(row["feature"]) if "feature" in row else None,
        priority=int(priority[0]) if priority else None,
        scenario=" ".join(row["scenario"].split()) if "scenario" in row else None,
        filled=word(row.get("filled", "")).lower() in {"true", "yes", "1"},
    )


def origin(values: Mapping[str, str]) -> Origin:
    """Return the origin that a classification states; UNKNOWN if it states no known origin."""
    stated = word(values.get("bug_type", ""))
    # Text after the origin, as in `RTL_BUG (confidence: 92%)`, is not part of the origin's name.
    kind = re.sub(r"[ -]", "_", re.split(r"\s*[(,;:]", stated)[0].lower())
    found: OriginType = _ORIGINS.get(kind, "UNKNOWN")
    sure = values.get("confidence") or stated.lower().partition("confidence")[2].lstrip(" :=")
    reasons: list[str] = []
    for line in values.get("rationale", "").splitlines():
        # A line that begins in the middle of a sentence was wrapped.
        if reasons and line.strip()[:1].islower():
            reasons[-1] += f" {line.strip()}"
        elif text := without_bullet(line):
            reasons.append(text)
    return Origin(
        type=found, confidence=_confidence(sure), reasons=tuple(reasons) or (f"the reporter called it {found}",)
    )


def _confidence(text: str) -> float:
    found = re.match(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(%?)", text)
    if not found:
        return 0.0
    number = float(found[1]) / (100 if found[2] else 1)
    return min(1.0, number) if math.isfinite(number) else 0.0


def without_bullet(line: str) -> str:
    """Return a line without its bullet."""
    return line.strip().removeprefix("- ").removeprefix("* ").strip()
