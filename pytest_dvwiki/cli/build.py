"""`dvwiki build`: rebuilds all derived content from records and pages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.output import LINE_START
from pytest_dvwiki.cli.place import add_place, require_content, settings_of
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.runs import today

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.settings import Settings
    from pytest_dvwiki.wiki.writing.build import BuildResult
    from pytest_dvwiki.wiki.writing.reclassify import Reclassified

_SHOWN = 5
_FILES_SHOWN = 20
"""Maximum number of files listed after a build; `--check` lists all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_place(parser)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; list what differs, and exit with status 1 if anything does"
    )
    parser.add_argument(
        "--reclassify",
        action="store_true",
        help="first reclassify causes recorded with other patterns or another fingerprint version; records are not"
        " changed",
    )
    parser.add_argument("--reindex", action="store_true", help="also rebuild the search index, from all pages")
    parser.add_argument("--restore", action="store_true", help="recreate pages that were deleted")


def run(args: argparse.Namespace) -> int:
    """Build or check the derived content.

    Returns:
        1 if `--check` found a difference, or if a page could not be edited or a record not read.
    """
    from pytest_dvwiki.wiki.writing.build import build  # noqa: PLC0415 (YAML and the caches load with it)

    if args.reclassify and args.check:
        raise UsageError("--check writes nothing, and --reclassify writes verdicts; give only one of them")
    if args.reindex and args.check:
        raise UsageError("--check writes nothing, and --reindex writes the search index; give only one of them")
    settings = settings_of(args)
    layout = require_content(settings.layout)
    reclassified = _reclassify(settings) if args.reclassify else None
    progress = _progress if sys.stderr.isatty() else None
    result = build(layout, check=args.check, restore=args.restore, reclassified=reclassified, progress=progress)
    if args.reindex:
        from pytest_dvwiki.wiki.finding.search import WikiSearchIndex  # noqa: PLC0415

        WikiSearchIndex.create(settings.search_backend, layout.wiki).build()
    if sys.stderr.isatty():
        print(LINE_START, end="", file=sys.stderr)
    _report(result, check=args.check)
    if result.merged:
        from pytest_dvwiki.triage.waivers import load_waivers  # noqa: PLC0415  # only where shards are merged

        used = [each.id for record in result.merged for each in record.waived]
        where = count(len(result.merged), "run")
        for note in load_waivers(layout.waivers).unused(used, today().isoformat(), where):
            print(f"dvwiki: {note}", file=sys.stderr)
    return 1 if result.refused or result.problems or (args.check and result.changed) else 0


def _reclassify(settings: Settings) -> Reclassified:
    """Reclassify the causes on record, and print the outcome."""
    from pytest_dvwiki.upkeep.reclassify import reclassify_all  # noqa: PLC0415

    done = reclassify_all(settings)
    if done.file is not None:
        print(f"{done.summary()}; see {done.file}")
    elif not done.kept:
        print("no cause to reclassify: all match the current patterns")
    if done.kept:
        shown = ", ".join(done.kept[:_SHOWN]) + (" …" if len(done.kept) > _SHOWN else "")
        print(
            f"verdict kept, because the stored excerpts give no clear new verdict:"
            f" {count(len(done.kept), 'cause')} ({shown})"
        )
    return done


def _progress(done: str, count: int) -> None:
    print(f"{LINE_START}{count:,} {done}", end="", file=sys.stderr, flush=True)


def _report(result: BuildResult, *, check: bool) -> None:
    for path in result.changed if check else result.changed[:_FILES_SHOWN]:
        print(f"{'differs' if check else 'rebuilt'}: {path}")
    if not check and len(result.changed) > _FILES_SHOWN:
        print(f"rebuilt: {len(result.changed) - _FILES_SHOWN:,} more files")
    for path, reason in result.refused:
        print(f"left alone: {path}: {reason}", file=sys.stderr)
    for problem in result.problems:
        print(f"not counted: {problem}", file=sys.stderr)
    differs = check and result.changed
    if result.refused:
        rest = "" if differs else "; everything else agrees with the records"
        print(f"{count(len({path for path, _ in result.refused}), 'file')} left alone{rest}")
    elif not result.changed and not result.problems:
        print("the wiki agrees with its records")
