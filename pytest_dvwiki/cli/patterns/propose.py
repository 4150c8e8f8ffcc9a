"""`dvwiki patterns propose`: prints patterns, for review, for frequent failures without a pattern."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.patterns.active import add_sources, registry_of
from pytest_dvwiki.cli.place import layout_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_dvwiki.model import Occurrence
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.patterns.schema import Pattern
    from pytest_dvwiki.records.aggregate import CauseHistory
    from pytest_dvwiki.records.archive import Archive

_MIN_RUNS = 2
_OCCURRENCES = 10
"""Maximum number of runs of a cause from which messages are taken."""
_WIDTH = 110
_HEADER = """\
# Proposals for .agent/patterns/, made from the records by `dvwiki patterns propose`. Review each one: give it an id,
# an error_class and a failure_subtype as `dvwiki patterns list` shows them, and say what the message means and what to
# do about it. Then `dvwiki patterns test FILE` checks it against all other patterns."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments."""
    parser.add_argument(
        "--min-runs",
        type=int,
        default=_MIN_RUNS,
        metavar="N",
        help="only failures seen in at least this many runs (default %(default)s)",
    )
    add_sources(parser)


class _Records(Struct, frozen=True):
    """The causes on record, as needed for proposals."""

    unknown: tuple[CauseHistory, ...]
    """Causes that match no active pattern, the most frequent first."""
    rare: int
    """Number of other causes without a pattern, seen in too few runs."""
    known: tuple[str, ...]
    """First causes of all failures that match a pattern."""


def run(args: argparse.Namespace) -> int:
    """Print the proposals; nothing is written."""
    from pytest_dvwiki.records.archive import Archive  # noqa: PLC0415

    if args.min_runs < 1:
        raise UsageError(f"--min-runs {args.min_runs}: give 1 or more")
    layout = layout_of(args)
    if not layout.tasks.is_dir():
        raise UsageError(f"{layout.tasks}: no such folder; records come with `pytest --dvwiki` and `dvwiki ingest`")
    registry = registry_of(args)
    cache = layout.wiki / ".cache" / "records.sqlite" if layout.wiki.is_dir() else None
    with Archive(layout.tasks, cache) as archive:
        archive.refresh()
        records = _read(archive, registry, args.min_runs)
        proposals = list(_proposals(archive, records, registry))
    if proposals:
        print("\n\n".join((_HEADER, *proposals)))
    else:
        print(f"no failure without a pattern was seen in {args.min_runs} or more runs", file=sys.stderr)
    if records.rare:
        print(
            f"failures without a pattern that were seen in fewer than {args.min_runs} runs: {records.rare}",
            file=sys.stderr,
        )
    return 0


def _proposals(archive: Archive, records: _Records, registry: Registry) -> Iterator[str]:
    """Yield one text for each unknown cause: the proposed pattern, or why there is none."""
    from pytest_dvwiki.patterns.propose import Cluster, NoPattern, propose  # noqa: PLC0415

    foreign = [example for pattern in registry for example in pattern.examples]
    taken = [pattern.id for pattern in registry]
    for cause in records.unknown:
        cluster = Cluster(
            occurrences=tuple((found.primary, found.excerpt) for found in _occurrences(archive, cause)),
            in_simulator=any(test.simulator for test in cause.newest.tests),
            fix=cause.fixes[-1].fix.text if cause.fixes else None,
        )
        akin = [other.newest.primary for other in records.unknown if other is not cause]
        made = propose(cluster, [*records.known, *akin], foreign, taken)
        if isinstance(made, NoPattern):
            # Two causes with the same words, such as one check in two files, may share a pattern.
            made = propose(cluster, records.known, foreign, taken)
        if isinstance(made, NoPattern):
            yield f"{_about(cause)}\n# {made.reason}: {cause.newest.primary[:_WIDTH]!r}"
        else:
            taken.append(made.id)
            yield f"{_about(cause)}\n{_yaml(made)}"


def _read(archive: Archive, registry: Registry, min_runs: int) -> _Records:
    from pytest_dvwiki.patterns.matcher import Matcher  # noqa: PLC0415
    from pytest_dvwiki.records import aggregate  # noqa: PLC0415

    matcher = Matcher(registry)
    unknown: list[CauseHistory] = []
    known: list[str] = []
    rare = 0
    for fingerprint in aggregate.fingerprints(archive):
        cause = aggregate.cause(archive, (fingerprint,))
        if cause is None:
            continue
        # A record keeps its verdict; a pattern that matches may have been added since.
        if cause.newest.pattern is not None or matcher.hits(f"{cause.newest.excerpt}\n{cause.newest.primary}\n"):
            known.append(cause.newest.primary)
        elif cause.runs < min_runs:
            rare += 1
        else:
            unknown.append(cause)
    unknown.sort(key=lambda cause: (-cause.runs, -cause.tests, cause.fingerprint))
    return _Records(tuple(unknown), rare, tuple(known))


def _occurrences(archive: Archive, cause: CauseHistory) -> Iterator[Occurrence]:
    yield cause.newest
    for task_id in cause.task_ids[1:_OCCURRENCES]:
        record = archive.record(task_id)
        found = record.occurrences if record is not None else ()
        yield from (each for each in found if each.fingerprint == cause.fingerprint)


def _about(cause: CauseHistory) -> str:
    span = cause.first_seen[:10]
    span += f" to {cause.last_seen[:10]}" if cause.last_seen[:10] != span else ""
    names = ", ".join(cause.rows[0].names)
    text = f"{cause.runs} runs, {cause.tests} failing tests, {span}, fingerprint {cause.fingerprint}: {names}"
    return textwrap.fill(text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _yaml(pattern: Pattern) -> str:
    from pytest_dvwiki.yamlio import dump  # noqa: PLC0415

    fields: dict[str, Any] = {
        "id": pattern.id,
        "error_class": pattern.error_class,
        "failure_subtype": pattern.failure_subtype,
    }
    fields |= {name: value for name, value in msgspec.to_builtins(pattern).items() if value}
    lines = dump(fields).rstrip("\n").split("\n")
    return "\n".join([f"- {lines[0]}", *(f"  {line}" for line in lines[1:])])
