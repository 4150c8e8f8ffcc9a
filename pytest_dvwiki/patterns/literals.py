"""Find the expressions worth trying on a message: those with a literal of each of their sets in the message.

RE2 searches for the literals of all expressions in one pass, in microseconds per message. Building its automaton takes
tens of milliseconds, so the first messages of a process are searched for each literal separately.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from pytest_dvwiki.patterns.expression import Needs
    from pytest_dvwiki.patterns.schema import RegistryEntry

WORTH_BUILDING = 40
"""Number of messages searched without RE2 before its automaton is built."""
_MEMORY = 64 << 20
_MOST_KNOWN = 4096
"""Maximum number of cached results."""

Fitting = dict[int, list[int]]
"""Maps the index of an entry to the indices of those of its expressions that are worth trying; both are ascending."""


class Literals:
    """The literals of a registry's expressions.

    Args:
        entries: The patterns in order of precedence.
        triggers: Maps each trigger to the indices of the entries to try. Every message that matches a pattern, unless
            benign, contains a trigger.
    """

    def __init__(self, entries: Sequence[RegistryEntry], triggers: Mapping[str, Sequence[int]]) -> None:
        self._needs: list[tuple[Needs, ...]] = [tuple(entry.literals) for entry in entries]
        self._triggers = triggers
        self._benign = [number for number, entry in enumerate(entries) if entry.pattern.tier == "benign"]
        self._left = WORTH_BUILDING
        self._set: _Set | None = None

    def fitting(self, lowered: str) -> Fitting:
        """Return the expressions that may match a message, which is given in lower case."""
        self._left -= 1
        found = self._found_at_once(lowered) if self._left < 0 else None
        return _in_order(self._search_one_by_one(lowered)) if found is None else found

    def _found_at_once(self, lowered: str) -> Fitting | None:
        """Return the expressions found by the automaton; None if the automaton fails."""
        if self._set is None:
            self._set = _Set(self._needs)
        return self._set.fitting(lowered)

    def _search_one_by_one(self, lowered: str) -> set[tuple[int, int]]:
        numbers = set(self._benign)
        for trigger, of_trigger in self._triggers.items():
            if trigger in lowered:
                numbers.update(of_trigger)
        return {(n, at) for n in numbers for at, sets in enumerate(self._needs[n]) if _all_there(sets, lowered)}


def _in_order(there: Iterable[tuple[int, int]]) -> Fitting:
    found: Fitting = {}
    for number, at in sorted(there):
        found.setdefault(number, []).append(at)
    return found


def _all_there(sets: Needs, present: Container[str]) -> bool:
    """Return whether `present`, a message or the literals found in it, contains a literal of each set."""
    # A generator for each set would double the time taken.
    for literals in sets:
        for literal in literals:
            if literal in present:
                break
        else:
            return False
    return True


class _Set:
    """The literals of all expressions as one automaton.

    Args:
        needs: For each entry, the sets of literals of each expression, rarest set first.
    """

    def __init__(self, needs: Sequence[Sequence[Needs]]) -> None:
        # Imported here: a run with a handful of failures does not need it.
        import re2  # type: ignore[import-untyped]  # noqa: PLC0415  # it has no stubs

        options = re2.Options()
        options.literal = True
        options.log_errors = False
        options.max_mem = _MEMORY
        self._matcher: Any = re2.Set.SearchSet(options)
        expressions = [(number, at, sets) for number, each in enumerate(needs) for at, sets in enumerate(each)]
        self._literals = list({literal: None for *_, sets in expressions for literals in sets for literal in literals})
        for literal in self._literals:
            self._matcher.Add(literal)
        self._matcher.Compile()
        self._owners: dict[str, list[tuple[int, int, Needs]]] = {}
        """Maps each literal to the expressions whose rarest set contains it, as entry, index in the entry, all sets."""
        for number, at, sets in expressions:
            for literal in sets[0] if sets else ():
                self._owners.setdefault(literal, []).append((number, at, sets))
        self._always = [(number, at) for number, at, sets in expressions if not sets]
        """Expressions of benign patterns without literals."""
        self._known: dict[tuple[int, ...], Fitting] = {}
        """Maps the literals in a message to the expressions that may match; messages of a cause have equal literals."""

    def fitting(self, lowered: str) -> Fitting | None:
        """Return the expressions that may match a message in lower case; None if the automaton fails."""
        try:
            found = tuple(self._matcher.Match(lowered) or ())
        except UnicodeEncodeError:
            return None
        if not found:
            # The automaton also finds nothing when it runs out of memory.
            return None
        if found not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            present = {self._literals[at] for at in found}
            owners = (owner for literal in present for owner in self._owners.get(literal, ()))
            there = {(number, at) for number, at, sets in owners if _all_there(sets, present)}
            self._known[found] = _in_order({*self._always, *there})
        return self._known[found]
