"""Choose the literals to scan for: few and long ones, so that most lines are skipped quickly.

A message that matches an expression contains a literal of each of its sets (`expression.Needs`). The literals of one
set per expression are chosen as triggers. Engines find the lines that contain a trigger; other lines cannot match.
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
"""Minimum length of a literal that is cheap to scan for; the cost of a shorter one doubles per missing character."""
_EACH = 0.02


class Triggers(msgspec.Struct, frozen=True):
    """The literals that logs are scanned for, chosen for all patterns of a registry."""

    rules: dict[str, list[int]]
    """Maps each trigger to the indices of the entries to try."""
    companions: list[str]
    """Literals of `together_with`: a line that matches one of these expressions contains one of these literals."""


FORMAT = 3
"""Version of the cached triggers. Increment it and `compiled.FORMAT` with any change to `_heads` or `choose`."""


def choose(entries: Sequence[RegistryEntry]) -> Triggers:
    """Return the triggers of a registry's entries."""
    return Triggers(rules=_rules(entries), companions=_of_companions(entries))


def cached(entries: Sequence[RegistryEntry], name: str) -> Triggers:
    """Return the triggers of a registry's entries, from the cache if possible; `name` is the registry's hash."""
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


def _of_companions(entries: Sequence[RegistryEntry]) -> list[str]:
    sources = {source for entry in entries for source in entry.pattern.together_with}
    sets = (check(source, needs_literal=False)[:1] for source in sorted(sources))
    return list({literal: None for needs in sets for literals in needs for literal in literals})


def triggers(needs: Iterable[Needs]) -> dict[str, list[int]]:
    """Choose the triggers.

    Args:
        needs: The sets of literals of each expression; empty for an expression that is not searched for.

    Returns:
        Maps each lower-case trigger to the indices of the expressions to try. No trigger contains another one.
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
    """Return the literals that contain no other literal, shortest first."""
    kept: list[str] = []
    for literal in sorted(set(literals), key=lambda literal: (len(literal), literal)):
        if not any(part in literal for part in kept):
            kept.append(literal)
    return kept


@functools.cache
def _heads() -> tuple[str, ...]:
    """Return words that are always scanned for, so that a literal with one of these words costs nothing more."""
    return (*_COMMON, *(word for tool in simulators.tools() for word in tool.scan_words))


def _narrowed(literals: Sequence[str]) -> frozenset[str]:
    return frozenset(next((head for head in _heads() if head in literal), literal) for literal in literals)


def _cost(literals: frozenset[str]) -> tuple[float, list[str]]:
    """Return a key to compare sets of literals by the cost of a scan; short ones occur in many irrelevant lines."""
    others = sorted(literals.difference(_heads()))
    return sum(_EACH + 2.0 ** (_SHORT - len(literal)) for literal in others), others
