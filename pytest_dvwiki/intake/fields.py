"""Texts of an agent system, parsed as fields: `error_class: x`, with or without padding and Markdown, in any case."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.model import BinRow, Origin
from pytest_dvwiki.wiki.kinds.coverage import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.model import OriginType

_NAMES = {
    "error_class": "error_class",
    "failure_subtype": "failure_subtype",
    "subtype": "failure_subtype",
    "bug_type": "bug_type",
    "classification": "bug_type",
    "confidence": "confidence",
    "rationale": "rationale",
    "reasoning": "rationale",
    "reason": "rationale",
    "fingerprint": "fingerprint",
    "ip_type": "ip_type",
    "seed": "seed",
    "test": "test",
    "test_name": "test",
    "failing_test": "test",
    "log": "log",
    "log_file": "log",
    "log_path": "log",
    "primary": "primary",
    "first_error": "primary",
    "error_message": "primary",
    "context": "context",
    "context_lines": "context",
    "covergroup": "covergroup",
    "bin": "bin",
    "bin_name": "bin",
    "action_class": "action_class",
    "feature": "feature",
    "priority": "priority",
    "scenario": "scenario",
    "filled": "filled",
}
"""Field names by all their spellings. Any line that starts no field continues the one before."""
_FIELD = re.compile(r"""[\s>*-]*[*_`'"]*([A-Za-z]\w*(?:[ -]\w+)?)[*_`'"]*\s*[:=]\s*[*_`]*\s*(.*)""")
_CUT = 20_000
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


def fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each field of a text, in order; the lines after a field belong to its value.

    Fences around a value are removed.
    """
    name, lines = "", list[str]()
    for line in text[:_CUT].splitlines():
        found = _FIELD.fullmatch(line)
        known = _NAMES.get(re.sub(r"[ -]", "_", found[1].lower())) if found else None
        if found and known:
            if name:
                yield name, _value(lines)
            name, lines = known, [found[2]]
        elif name:
            lines.append(line)
    if name:
        yield name, _value(lines)


def first_fields(text: str | None) -> dict[str, str]:
    """Return the first non-empty value of each field; for a JSON object its keys are the fields."""
    if text and text.lstrip().startswith("{"):
        try:
            return of_result(json.loads(text))
        except ValueError:
            # The text only looked like JSON.
            pass
    found: dict[str, str] = {}
    for name, value in fields(text or ""):
        if value:
            found.setdefault(name, value)
    return found


def check_action(name: str) -> None:
    """Check the action class of a coverage hole.

    Raises:
        ValueError: There is no such class; the message names those that there are.
    """
    if name not in ACTIONS:
        raise ValueError(f"action class {name!r}: there are {', '.join(ACTIONS)}")


def holes(text: str | None) -> list[BinRow]:
    """Return the coverage holes in a text: one for each `bin`, with its fields.

    A covergroup applies to all bins after it; the other fields follow their bin.
    """
    found: list[dict[str, str]] = []
    covergroup = ""
    for name, said in fields(text or ""):
        value = " ".join(said.split()) if name == "scenario" else word(said)
        if name == "covergroup":
            covergroup = value
        elif name == "bin" and covergroup and value:
            found.append({"covergroup": covergroup, "bin": value})
        elif found and name in {"action_class", "feature", "scenario", "priority", "filled"}:
            found[-1].setdefault(name, value)
    return [_hole(row) for row in found]


def _hole(row: dict[str, str]) -> BinRow:
    priority = re.search(r"\d+", row.get("priority", ""))
    return BinRow(
        covergroup=row["covergroup"],
        bin=row["bin"],
        action_class=row.get("action_class", "needs_investigation").lower(),
        feature=row.get("feature"),
        priority=int(priority[0]) if priority else None,
        scenario=row.get("scenario"),
        filled=row.get("filled", "").lower() in {"true", "yes", "1"},
    )


def of_result(result: object) -> dict[str, str]:
    """Return the fields of a classification: from text, a mapping, or an object's attributes."""
    if isinstance(result, str):
        return first_fields(result)
    values = result if isinstance(result, Mapping) else getattr(result, "__dict__", None) or _slots(result)
    found: dict[str, str] = {}
    for key, value in values.items():
        name = _NAMES.get(str(key).lower())
        if name and value is not None:
            found.setdefault(name, _plain(value))
    return found


def _slots(result: object) -> dict[str, Any]:
    return {name: getattr(result, name) for name in _NAMES if hasattr(result, name)}


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(map(_plain, value))
    # The value of an enumeration, `RTL_BUG`, not `BugType.RTL_BUG`.
    return str(getattr(value, "value", value))


def origin(values: Mapping[str, str]) -> Origin:
    """Return the origin that a classification states; UNKNOWN if it states no known one."""
    kind = re.sub(r"[ -]", "_", word(values.get("bug_type", "")).lower())
    found: OriginType = _ORIGINS.get(kind, "UNKNOWN")
    reasons = tuple(line for line in map(_without_bullet, values.get("rationale", "").splitlines()) if line)
    return Origin(
        type=found,
        confidence=_confidence(values.get("confidence", "")),
        reasons=reasons or (f"the caller called it {found}",),
    )


def _confidence(text: str) -> float:
    found = re.match(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(%?)", text)
    if not found:
        return 0.0
    number = float(found[1]) / (100 if found[2] else 1)
    return min(1.0, number) if math.isfinite(number) else 0.0


def word(value: str) -> str:
    """Return the first line of a value without surrounding quotes, commas and emphasis."""
    return (value.splitlines() or [""])[0].strip().strip("`'\"*,_ ")


def _without_bullet(line: str) -> str:
    return line.strip().removeprefix("- ").removeprefix("* ").strip()


def _value(lines: list[str]) -> str:
    kept = [line.rstrip() for line in lines if not line.lstrip().startswith(("```", "~~~"))]
    return "\n".join(kept).strip("\n").strip()
