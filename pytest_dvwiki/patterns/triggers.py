"""The literals that a scan looks for: few and long ones, so that most lines hold none and are skipped quickly.

Every message that an expression matches holds one literal of each of the expression's sets (`expression.Needs`). One
set is chosen for each expression; the literals of these sets are the triggers. Engines only find the lines that hold a
trigger; other lines are not candidates.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki import simulators
from pytest_dvwiki.patterns import cache
from pytest_dvwiki.patterns.expression import check

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.patterns.expression import Needs
    from pytest_dvwiki.patterns.schema import RegistryEntry

_COMMON = (
    "error", "fail", "fatal", "fault", "exception", "assert", "abort", "killed", "terminated", "interrupt", "timeout",
    "mismatch", "licens", "licenc", "signal ",
)  # fmt: skip
_SHORT = 5
"""Minimum length in characters of a literal that is rare enough to be cheap."""
_EACH = 0.02


class Triggers(msgspec.Struct, frozen=True):
    """The literals that a scan looks for on behalf of a registry."""

    rules: dict[str, list[int]]
    """Maps each trigger to the numbers of the entries to try if it is found."""
    company: list[str]
    """Literals of the lines that patterns need besides their own messages."""


FORMAT = 2
"""Version of the cached triggers; increment it and `compiled.FORMAT` with any change to `_heads` or `choose`."""


def choose(entries: Sequence[RegistryEntry]) -> Triggers:
    """Return the triggers of a registry's entries."""
    return Triggers(rules=_rules(entries), company=_of_company(entries))


def cached(entries: Sequence[RegistryEntry], name: str) -> Triggers:
    """Return the triggers of a registry's entries, from the cache if it has them.

    Args:
        entries: The patterns in order of precedence.
        name: The registry's hash.
    """
    key = f"triggers-{FORMAT}-{name}.json"
    data = cache.read(key)
    if data is not None:
        try:
            return msgspec.json.decode(data, type=Triggers)
        except ValueError:  # a damaged cache is rebuilt
            pass
    chosen = choose(entries)
    cache.write(key, msgspec.json.encode(chosen))
    return chosen


def _rules(entries: Sequence[RegistryEntry]) -> dict[str, list[int]]:
    owners: list[int] = []
    needs: list[Needs] = []
    for number, entry in enumerate(entries):
        # Nothing scans for benign messages: they only cancel what another pattern found.
        of_entry = entry.literals if entry.pattern.tier != "benign" else ()
        needs += of_entry
        owners += [number] * len(of_entry)
    return {trigger: sorted({owners[at] for at in positions}) for trigger, positions in triggers(needs).items()}


def _of_company(entries: Sequence[RegistryEntry]) -> list[str]:
    sources = {source for entry in entries for source in entry.pattern.together_with}
    sets = (check(source, needs_literal=False)[:1] for source in sorted(sources))
    return list({literal: None for needs in sets for literals in needs for literal in literals})


def triggers(needs: Iterable[Needs]) -> dict[str, list[int]]:
    """Choose the triggers.

    Args:
        needs: The sets of literals of each expression in turn; empty for an expression that is never searched for.

    Returns:
        For each trigger, in lower case, the positions of the expressions to try if it is found. No trigger is part of
        another.
    """
    wanted: dict[str, list[int]] = {}
    for position, sets in enumerate(needs):
        for literal in min(map(_narrowed, sets), key=_cost, default=()):
            wanted.setdefault(literal, []).append(position)
    kept = least(wanted)
    found: dict[str, set[int]] = {literal: set() for literal in kept}
    for literal, positions in wanted.items():
        found[next(part for part in kept if part in literal)].update(positions)
    return {literal: sorted(positions) for literal, positions in found.items()}


def least(literals: Iterable[str]) -> list[str]:
    """Return the literals that contain no other one, shortest first: a text with any literal holds one of these."""
    kept: list[str] = []
    for literal in sorted(set(literals), key=lambda literal: (len(literal), literal)):
        if not any(part in literal for part in kept):
            kept.append(literal)
    return kept


@functools.cache
def _heads() -> tuple[str, ...]:
    """Return words that a scan looks for anyway; a literal that contains one of these words adds no cost."""
    return (*_COMMON, *(word for tool in simulators.tools() for word in tool.scan_words))


def _narrowed(literals: Sequence[str]) -> frozenset[str]:
    return frozenset(next((head for head in _heads() if head in literal), literal) for literal in literals)


def _cost(literals: frozenset[str]) -> tuple[float, list[str]]:
    """Return the cost of a set in a scan: a short literal occurs in many lines that mean nothing."""
    others = sorted(literals.difference(_heads()))
    return sum(_EACH + 2.0 ** (_SHORT - len(literal)) for literal in others), others
