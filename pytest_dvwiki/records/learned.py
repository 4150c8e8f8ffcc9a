"""Learn which recorded fingerprints differ only in a printed name, and merge them into one cause.

Version 2 fingerprints keep words. So a check that prints an operation, channel, state or transaction name gets a
different fingerprint for each name. These fingerprints are one cause if the same line of code (file, function, line,
source and callers) reported them in runs of the same sources, and the messages differ at exactly one position, with at
least three different words. Once three words are known, a further word at that position is accepted if the line
reported the word in runs of the same sources, if the line's source and callers are on record and unchanged, or if the
line reported the word together with two of the known words.

The result depends only on the records, so every machine gets the same one. It is stored with its evidence in a file of
verdicts (see `verdicts`).
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.records.checks import tokens_of
from pytest_dvwiki.records.verdicts import Member, Merge

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.records.verdicts import Verdicts

FEWEST = 3
"""Minimum number of distinct words at a position for the position to count as a value."""
_NAME = re.compile(r"(?!(?:V|XZ)$)[A-Za-z_]\w*", re.ASCII)
_FAULT = re.compile(
    r"(?i)(?:mis)?match(?:es|ed)?|errors?|fail(?:s|ed|ures?|ing)?|checks?|checker|violat(?:ion|ions|ed|es)|wrong|bad"
    r"|incorrect|invalid|illegal|missing|missed|unexpected|extra|duplicated?|dropped|lost|late|early|stuck|hang|hung"
    r"|timeout|timed|overflow(?:ed)?|underflow(?:ed)?|overrun|underrun|deadlock|livelock|parity|crc|ecc|checksum"
    r"|corrupt(?:ed|ion)?|unknown|unstable|glitch|reordered"
)
"""Words that describe a fault. They, and the word before them, identify a check; they are not values."""
_NAMED = re.compile(
    r"(?i)op|opcode|operation|cmd|command|instr|instruction|channel|chan|ch|port|state|txn|transaction|packet|pkt|type"
    r"|kind|mode|lane|bank|worker|agent|master|slave|core|seq|sequence|item|req|request|resp|response|burst|phase"
)
"""Nouns that precede a printed value: `op ADD`."""


def new_merges(db: sqlite3.Connection, known: Verdicts) -> list[Merge]:
    """Return the merges that the records justify and that are not in a file of verdicts yet.

    Args:
        db: The tables.
        known: The content of the files of verdicts.
    """
    families = db.execute(
        "SELECT family FROM checks WHERE family IN (SELECT family FROM checks WHERE fresh)"
        " GROUP BY family HAVING COUNT(DISTINCT fingerprint) >= ? ORDER BY family",
        (FEWEST,),
    ).fetchall()
    found = [merge for (family,) in families for merge in _of_family(_rows(db, family))]
    return [merge for merge in found if known.is_new(merge)]


class _Row(Struct, frozen=True):
    """The first occurrence of a cause at a spot: a statement in one version of the sources."""

    fingerprint: str
    spot: str
    """Hash of the statement and the version of the sources."""
    statement: str
    sources: str
    tokens: tuple[str, ...]
    member: Member
    file: str
    function: str
    source: str
    """The source line; empty if no traceback showed it."""


def _rows(db: sqlite3.Connection, family: str) -> list[_Row]:
    rows = db.execute(
        "SELECT c.fingerprint, c.spot, c.statement, c.sources, c.words, c.file, c.function, c.source, c.line,"
        " MIN(r.moment), r.task_id, r.vcs_commit FROM checks c JOIN runs r ON r.id = c.run WHERE c.family = ?"
        " GROUP BY c.fingerprint, c.spot ORDER BY MIN(r.moment), c.fingerprint, c.spot",
        (family,),
    )
    return [
        _Row(
            fingerprint=fingerprint,
            spot=spot,
            statement=statement,
            sources=sources,
            tokens=tokens_of(words),
            member=Member(fingerprint=fingerprint, word="", first=moment, task_id=task, commit=commit, line=line),
            file=file,
            function=function,
            source=source,
        )
        for fingerprint, spot, statement, sources, words, file, function, source, line, moment, task, commit in rows
    ]


def _of_family(rows: Sequence[_Row]) -> Iterator[Merge]:
    """Yield the merges that follow from the causes of one family."""
    by_form: dict[tuple[int, tuple[str, ...]], list[_Row]] = defaultdict(list)
    for row in rows:
        for at, token in enumerate(row.tokens):
            if _NAME.fullmatch(token):
                by_form[at, (*row.tokens[:at], "*", *row.tokens[at + 1 :])].append(row)
    for (at, form), members in sorted(by_form.items(), key=lambda item: item[0]):
        if len({row.tokens[at] for row in members}) < FEWEST:
            continue
        for group in _linked(members):
            merge = _merge(group, at, form)
            if merge is not None:
                yield merge


def _linked(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Group the rows by the statement that printed them, as far as it can be identified.

    A spot is a statement in one version of the sources. Two spots are taken to be one statement if tracebacks show the
    same source line. If at least two causes were reported at both, they are also one statement, whose line has moved.
    Adding rows never splits a group, so the order of the rows does not matter.
    """
    statements: dict[str, set[str]] = defaultdict(set)
    sources = {row.spot: row.sources for row in rows}
    causes: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        causes[row.spot].add(row.fingerprint)
        if row.source:
            statements[row.statement].add(row.spot)
    groups = {spot: {spot} for spot in causes}

    def join(spots: Iterable[str]) -> None:
        joined = set().union(*(groups[spot] for spot in spots))
        groups.update(dict.fromkeys(joined, joined))

    for spots in statements.values():
        join(spots)
    for one, other in itertools.combinations(causes, 2):
        is_one = groups[one] is groups[other] or sources[one] == sources[other]
        if not is_one and len(causes[one] & causes[other]) > 1:
            join((one, other))
    distinct = {id(group): group for group in groups.values()}.values()
    return [[row for row in rows if row.spot in group] for group in sorted(distinct, key=min)]


def _merge(rows: Sequence[_Row], at: int, form: tuple[str, ...]) -> Merge | None:
    """Return the merge that a group of rows justifies; None if there are too few words, or if they identify checks."""
    at_spot: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        at_spot[row.spot].add(row.tokens[at])
    words = {row.tokens[at] for row in rows}
    if max(map(len, at_spot.values())) < FEWEST or any(_FAULT.fullmatch(word) for word in words):
        return None
    if not (rows[0].source or _is_value(form, at)):
        return None
    members: dict[str, Member] = {}
    for row in rows:
        members.setdefault(row.fingerprint, replace(row.member, word=row.tokens[at]))
    return Merge(
        words=" ".join(form),
        file=rows[0].file,
        function=rows[0].function,
        source=rows[0].source,
        members=tuple(members.values()),
    )


def _is_value(form: Sequence[str], at: int) -> bool:
    """Return whether a word in a report must be a value, judging by its neighbours."""
    before = form[at - 1] if at else ""
    after = form[at + 1] if at + 1 < len(form) else ""
    if _FAULT.fullmatch(after):
        return False
    return before in {"V", "="} or after == "V" or _NAMED.fullmatch(before) is not None
