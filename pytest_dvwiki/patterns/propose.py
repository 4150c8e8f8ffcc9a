"""Propose a pattern for an unknown cause, for a person to review."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.expressions import ExpressionError
from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.logtext.messages import assemble, strip_line
from pytest_dvwiki.model.sentences import shortened
from pytest_dvwiki.patterns import expression
from pytest_dvwiki.patterns.schema import UNKNOWN, Pattern
from pytest_dvwiki.patterns.search import compiled_by_re2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_WORDS = 20
"""Maximum number of words in a proposed expression."""
EXAMPLES = 3
COUNTEREXAMPLES = 3
_NAME_WORDS = 5
_SHOWN = 100
_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]()|])")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*: ")
_ANY = r"\S+"
_PLAIN_WORDS = frozenset({"error", "the", "at", "of", "in", "is", "to", "its"})
"""Words to leave out of an id."""


class Cluster(Struct, frozen=True):
    """The recorded occurrences of a cause without a pattern."""

    occurrences: tuple[tuple[str, str], ...]
    """First cause and excerpt of each occurrence, newest first."""
    in_simulator: bool = False
    fix: str | None = None
    """How the cause was fixed; None if that is unknown."""


class NoPattern(Struct, frozen=True):
    """The reason why no pattern is proposed."""

    reason: str


def propose(
    cluster: Cluster, others: Sequence[str], foreign: Sequence[str] = (), taken: Iterable[str] = ()
) -> Pattern | NoPattern:
    """Return a pattern that matches all messages of a cause and no others, or the reason why there is none.

    Args:
        cluster: The cause.
        others: First causes of other failures, which must not match; the most similar ones become counterexamples.
        foreign: Examples of other patterns, which must not match either.
        taken: Ids already in use.
    """
    examples = tuple(dict.fromkeys(message_of(primary, excerpt) for primary, excerpt in cluster.occurrences))
    clash = ""
    for source in _expressions(examples):
        compiled = compiled_by_re2(source)
        if not all(compiled.search(example) for example in examples):
            continue
        clash = next((other for other in (*others, *foreign) if compiled.search(other)), "")
        if not clash:
            return Pattern(
                id=_name(source, set(taken)),
                error_class=_class(examples[0], in_simulator=cluster.in_simulator),
                failure_subtype=UNKNOWN,
                tier="cause",
                match=(source,),
                description=f"To be written: what {shortened(examples[0], _SHOWN)!r} means.",
                fix=cluster.fix or "To be written: what to do about it.",
                examples=examples[:EXAMPLES],
                counterexamples=_nearest(examples[0], others),
            )
    if clash:
        return NoPattern(
            f"no expression distinguishes this message from {shortened(clash, _SHOWN)!r}, which is a different failure"
        )
    return NoPattern("this message has no words that are the same in every run")


def message_of(primary: str, excerpt: str) -> str:
    """Return the message exactly as it appears in the log.

    The recorded form is not verbatim: runs of spaces are collapsed, and the source location may be appended.
    """
    whole = " ".join(primary.split())
    messages = (message.text for message in assemble([strip_line(line) for line in excerpt.split("\n")]))
    # The first cause may begin with the class of an exception and end with a source location; the log has neither.
    found = [text for text in messages if len(_joined(text)) >= len(whole) // 3 and _joined(text) in whole]
    return max(found, key=len, default=whole)


def _joined(text: str) -> str:
    return " ".join(text.split())


def _expressions(examples: Sequence[str]) -> Iterator[str]:
    """Yield valid expressions, from the most general to the most specific."""
    for keep_values in (False, True):
        words = _common(examples, keep_values=keep_values)
        if not words:  # values alone are not a pattern
            return
        for blank in (" ", r"\s+"):
            source = blank.join(words)
            try:
                expression.check(source)
            except ExpressionError:
                continue
            yield source


def _common(examples: Sequence[str], *, keep_values: bool) -> list[str]:
    """Return the words of the messages, with wildcards for words that differ or look like values."""
    rows = [example.split() for example in examples]
    shortest = min(map(len, rows))
    words: list[str] = []
    for at, word in enumerate(rows[0][:shortest]):
        same = all(row[at] == word for row in rows)
        open_word = not same or (not keep_values and mask(word) != word)
        words.append(_ANY if open_word else _SPECIAL.sub(r"\\\1", word))
    while words and words[0] == _ANY:
        del words[0]
    del words[MOST_WORDS:]
    while words and words[-1] == _ANY:
        words.pop()
    return words


def _class(example: str, *, in_simulator: bool) -> str:
    if in_simulator:
        return "sim_error"
    return "python_error" if _EXCEPTION.match(example) else UNKNOWN


def _name(source: str, taken: set[str]) -> str:
    """Return an id made of words in the expression."""
    plain = source.replace(_ANY, " ").replace(r"\s+", " ").lower()
    words = [word for word in re.findall(r"[a-z]{2,}", plain) if word not in _PLAIN_WORDS]
    base = name = f"own.{'_'.join(words[:_NAME_WORDS]) or 'failure'}"
    number = 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name


def _nearest(example: str, others: Iterable[str]) -> tuple[str, ...]:
    """Return the few messages that share the most words with an example."""
    own = _words(example)
    scored = [(len(own & _words(other)), other) for other in dict.fromkeys(others)]
    ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: (-pair[0], pair[1]))
    return tuple(other for _, other in ranked[:COUNTEREXAMPLES])


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))
