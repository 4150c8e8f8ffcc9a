"""A verdict as plain data, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from pytest_dvwiki.model import Verdict

_NAMES = ("error_class", "failure_subtype", "fingerprint", "primary")
_KEYS = (*_NAMES, "line", "pattern", "rule", "origin", "fix", "like", "runners_up")


def details(verdict: Verdict | None) -> dict[str, Any]:
    """Return a verdict as plain data, for JSON."""
    if verdict is None:
        return dict.fromkeys(_NAMES) | {"is_failure": False}
    return {"is_failure": True} | {key: msgspec.to_builtins(getattr(verdict, key)) for key in _KEYS}
