"""A verdict as plain data, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_dvwiki.model import Verdict


def details(verdict: Verdict | None) -> dict[str, Any]:
    """Return a verdict as plain data, for JSON."""
    if verdict is None:
        return dict.fromkeys(("error_class", "failure_subtype", "fingerprint", "primary")) | {"is_failure": False}
    return {
        "is_failure": True,
        "error_class": verdict.error_class,
        "failure_subtype": verdict.failure_subtype,
        "fingerprint": verdict.fingerprint,
        "primary": verdict.primary,
        "line": verdict.line,
        "pattern": verdict.pattern,
        "rule": verdict.rule,
        "origin": {
            "type": verdict.origin.type,
            "confidence": verdict.origin.confidence,
            "reasons": list(verdict.origin.reasons),
        },
        "fix": verdict.fix,
        "like": None
        if verdict.like is None
        else {
            "example": verdict.like.example,
            "label": verdict.like.label,
            "pattern": verdict.like.pattern,
            "similarity": verdict.like.similarity,
        },
        "runners_up": [
            {"pattern": other.pattern, "line": other.line, "text": other.text} for other in verdict.runners_up
        ],
    }
