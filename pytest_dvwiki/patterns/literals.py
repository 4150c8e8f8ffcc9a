"""Find the expressions of a registry that have all their literals in a message, and so are worth trying.

RE2 looks for the rarest literals of all expressions at once, in microseconds per message. Building that set takes tens
of milliseconds, so the first messages of a process are searched literal by literal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_dvwiki.patterns.expression import Needs
    from pytest_dvwiki.patterns.schema import RegistryEntry

WORTH_BUILDING = 100
"""Number of messages that are searched literal by literal before the set is built."""
_MEMORY = 64 << 20

Fitting = dict[int, list[int]]
"""For each entry number the numbers of its expressions whose literals are all present; both ascending."""


class Literals:
    """The literals of a registry's expressions.

    Args:
        entries: The patterns, in their order of precedence.
        triggers: For each trigger the numbers of the entries to try if it is found. A message that matches any entry
            but a benign one contains a trigger.
    """

    def __init__(self, entries: Sequence[RegistryEntry], triggers: Mapping[str, Sequence[int]]) -> None:
        self._needs: list[tuple[Needs, ...]] = [tuple(entry.literals) for entry in entries]
        self._triggers = triggers
        self._benign = [number for number, entry in enumerate(entries) if entry.pattern.tier == "benign"]
        self._left = WORTH_BUILDING
        self._set: _Set | None = None

    def fitting(self, lowered: str) -> Fitting:
        """Return the expressions that may match a message.

        Args:
            lowered: The message in lower case.
        """
        self._left -= 1
        there = self._found_at_once(lowered) if self._left < 0 else None
        if there is None:
            there = self._search_one_by_one(lowered)
        found: Fitting = {}
        for number, at in sorted(there):
            found.setdefault(number, []).append(at)
        return found

    def _found_at_once(self, lowered: str) -> set[tuple[int, int]] | None:
        """Return the entries and expressions that the set finds; None if the set fails."""
        if self._set is None:
            self._set = _Set(self._needs)
        return self._set.fitting(lowered)

    def _search_one_by_one(self, lowered: str) -> set[tuple[int, int]]:
        numbers = set(self._benign)
        for trigger, of_trigger in self._triggers.items():
            if trigger in lowered:
                numbers.update(of_trigger)
        return {(n, at) for n in numbers for at, sets in enumerate(self._needs[n]) if _all_there(sets, lowered)}


def _all_there(sets: Needs, lowered: str) -> bool:
    """Tell whether a message contains a literal of each set."""
    # A generator for each set would double the time taken.
    for literals in sets:
        for literal in literals:
            if literal in lowered:
                break
        else:
            return False
    return True


class _Set:
    """The rarest literals of each expression in one automaton.

    Args:
        needs: For each entry and each of its expressions the sets of literals, the rarest first.
    """

    def __init__(self, needs: Sequence[Sequence[Needs]]) -> None:
        # Imported here: a run with a handful of failures does not need it.
        import re2  # type: ignore[import-untyped]  # noqa: PLC0415  # it has no stubs

        options = re2.Options()
        options.literal = True
        options.log_errors = False
        options.max_mem = _MEMORY
        self._matcher: Any = re2.Set.SearchSet(options)
        self._owners: list[list[tuple[int, int, Needs]]] = []
        """For each literal the expressions that need it: entry, position in it, and the other sets they need."""
        self._always: list[tuple[int, int]] = []
        """Expressions of benign patterns that need no literal."""
        known: dict[str, list[tuple[int, int, Needs]]] = {}
        for number, expressions in enumerate(needs):
            for at, sets in enumerate(expressions):
                if not sets:
                    self._always.append((number, at))
                for literal in sets[0] if sets else ():
                    if literal not in known:
                        known[literal] = []
                        self._matcher.Add(literal)
                        self._owners.append(known[literal])
                    known[literal].append((number, at, sets[1:]))
        self._matcher.Compile()

    def fitting(self, lowered: str) -> set[tuple[int, int]] | None:
        """Return the entries and expressions that may match; None if the automaton fails."""
        try:
            literals = self._matcher.Match(lowered)
        except UnicodeEncodeError:
            return None
        if not literals:
            # It also finds nothing when its memory does not suffice.
            return None
        owners = (owner for literal in literals for owner in self._owners[literal])
        return {*self._always, *((number, at) for number, at, others in owners if _all_there(others, lowered))}
