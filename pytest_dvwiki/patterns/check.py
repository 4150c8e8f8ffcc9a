"""Check patterns by trying every example and counterexample against all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.model.sentences import shortened
from pytest_dvwiki.patterns.matcher import Matcher, Rule
from pytest_dvwiki.patterns.registry import BUILTIN_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.patterns.schema import Pattern

_SHOWN = 100
_CORRECT = "correct the example or `match`"


class Problem(Struct, frozen=True):
    """A problem with an example or a counterexample of a pattern."""

    source: str
    """The file to correct, as in `RegistryEntry.source`."""
    pattern: str
    field: str
    text: str

    def __str__(self) -> str:
        return f"{self.source}: pattern {self.pattern}: field {self.field}: {self.text}"


class Checker:
    """Checks each pattern of a registry against all others."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._matcher = Matcher(registry)

    def problems(self) -> Iterator[Problem]:
        """Yield all problems with examples and counterexamples."""
        for pattern in self.registry:
            yield from self.problems_of(pattern)

    def problems_of(self, pattern: Pattern) -> Iterator[Problem]:
        """Yield the problems with the examples and counterexamples of one pattern; another pattern may cause them."""
        if not pattern.examples:
            yield self._problem(pattern, "examples", "is empty; give a log line that the pattern must match")
        for example in pattern.examples:
            yield from self._benign(pattern, example) if pattern.tier == "benign" else self._failure(pattern, example)
        for example in pattern.counterexamples:
            if self._matches(pattern, example.strip()):
                text = f"the pattern matches {_shown(example)}; narrow it with `unless` or a longer `match`"
                yield self._problem(pattern, "counterexamples", text)

    def _failure(self, pattern: Pattern, example: str) -> Iterator[Problem]:
        hits = self._matcher.hits(f"{example}\n{self._companion(pattern)}\n")
        if not hits:
            winner = self._matcher.match(example.strip())
            if winner is not None and winner.pattern.tier == "benign":
                yield self._taken(winner.pattern, pattern, example)
            else:
                yield self._problem(pattern, "examples", f"the pattern does not match {_shown(example)}; {_CORRECT}")
            return
        first = hits[0]
        if _label(first.pattern) != _label(pattern):
            yield self._taken(first.pattern, pattern, example)
        elif not self._matches(pattern, first.text):
            yield self._problem(pattern, "examples", f"the pattern does not match {_shown(example)}; {_CORRECT}")

    def _benign(self, pattern: Pattern, example: str) -> Iterator[Problem]:
        if not self._matches(pattern, example.strip()):
            yield self._problem(pattern, "examples", f"the pattern does not match {_shown(example)}; {_CORRECT}")
        for hit in self._matcher.hits(f"{example}\n")[:1]:
            yield self._problem(
                pattern,
                "examples",
                f"pattern {hit.pattern.id} still treats {_shown(example)} as a failure; extend `match`",
            )

    def _taken(self, winner: Pattern, loser: Pattern, example: str) -> Problem:
        own, other = self.registry.source(loser.id), self.registry.source(winner.id)
        if other.startswith(BUILTIN_FOLDER) and not own.startswith(BUILTIN_FOLDER):
            return self._problem(
                loser,
                "examples",
                f"{winner.id} ({other}, {_named(winner)}) matches {_shown(example)} first; "
                "give this pattern the id of that one to replace it",
            )
        return self._problem(
            winner,
            "match",
            f"matches the example {_shown(example)} of {loser.id} ({own}, {_named(loser)}); "
            "narrow it with `unless` or a longer `match`, or give it the id of that pattern to replace it",
        )

    def _companion(self, pattern: Pattern) -> str:
        """Return a line that matches the pattern's `together_with`, taken from the examples of all patterns."""
        rule = next(Rule(entry) for entry in self.registry.entries if entry.pattern.id == pattern.id)
        examples = (example for other in self.registry for example in other.examples)
        return next(filter(rule.has_companion, examples), "") if pattern.together_with else ""

    def _matches(self, pattern: Pattern, message: str) -> bool:
        return any(hit.pattern.id == pattern.id for hit in self._matcher.matches(message))

    def _problem(self, pattern: Pattern, field: str, text: str) -> Problem:
        return Problem(self.registry.source(pattern.id), pattern.id, field, text)


def _label(pattern: Pattern) -> tuple[str, str]:
    return pattern.error_class, pattern.failure_subtype


def _named(pattern: Pattern) -> str:
    return "benign" if pattern.tier == "benign" else " / ".join(_label(pattern))


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return repr(shortened(line, _SHOWN))
