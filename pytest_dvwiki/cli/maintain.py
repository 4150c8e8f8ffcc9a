"""`dvwiki maintain`: runs all maintenance of a wiki, as one commit on a separate branch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.export import check_format, export
from pytest_dvwiki.cli.place import add_place, require_wiki, settings_of
from pytest_dvwiki.cli.transcript import print_event
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_dvwiki.settings import Settings

BRANCH = "dvwiki/maintain"
_STALE_DAYS = 90
_BUSY = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--branch",
        default=BRANCH,
        help="branch that gets the commit; HEAD means the branch that is checked out (default: %(default)s)",
    )
    parser.add_argument(
        "--export",
        nargs=2,
        action="append",
        default=[],
        metavar=("FORMAT", "PATH"),
        help="afterwards export the wiki, as `dvwiki export` does; an export inside the repository is committed, too",
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Run the maintenance, and commit its changes.

    Returns:
        1 if another process is maintaining the wiki, or if git refused the commit.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415

    from pytest_dvwiki.pipeline.committing import RefusedError, Upkeep, changed_by_people, commit  # noqa: PLC0415

    for name, _ in args.export:
        check_format(name)
    settings = settings_of(args)
    layout = require_wiki(settings.layout)
    try:
        # The system releases the lock when the process ends, however it ends.
        with FileLock(layout.wiki / ".lock.maintain", timeout=0, mode=0o666, fallback_to_soft=False):
            try:
                people = changed_by_people(layout, args.branch)
            except RefusedError as error:
                raise UsageError(f"nothing was changed: {error}") from error
            for done in _steps(settings):
                print(done)
            for name, path in args.export:
                export(layout, name, Path(path).absolute())
            also = tuple(Path(path).absolute() for _, path in args.export)
            try:
                upkeep = Upkeep(people=people, also=also)
                made = commit(layout, args.branch, "maintain", upkeep=upkeep)
            except RefusedError as error:
                print(f"not committed: {error}")
                return 1
    except Timeout:
        print(f"another dvwiki maintain is working on {layout.wiki}; nothing was done, so run it again later")
        return _BUSY
    for note in made.notes:
        print(note)
    print(f"committed {made.text}" if made.text else "nothing to commit")
    return 0


def _steps(settings: Settings) -> Iterator[str]:
    """Run the steps, and yield a line for each step that changed something."""
    from pytest_dvwiki.patterns.schema import PatternError  # noqa: PLC0415
    from pytest_dvwiki.upkeep.compact import compact  # noqa: PLC0415
    from pytest_dvwiki.upkeep.drift import mark  # noqa: PLC0415
    from pytest_dvwiki.upkeep.lint import lint  # noqa: PLC0415
    from pytest_dvwiki.upkeep.reclassify import reclassify_all  # noqa: PLC0415
    from pytest_dvwiki.wiki.writing.build import build, leave_out  # noqa: PLC0415

    layout = settings.layout
    try:
        reclassified = reclassify_all(settings)
        if reclassified.file is not None:
            yield f"reclassify: {reclassified.summary()}"
    except PatternError as error:
        reclassified = None
        yield f"reclassify: skipped, because a pattern is invalid: {error}"
    built = build(layout, reclassified=reclassified)
    if built.changed:
        yield f"build: {count(len(built.changed), 'file')}"
    if left := leave_out(layout, _STALE_DAYS):
        yield f"stale for {_STALE_DAYS} days, left out of index and prompts: {', '.join(_pages(left))}"
    if marked := mark(layout):
        yield f"drift: {', '.join(_pages(marked))}: warning about missing code set or removed"
    yield from _compiled(settings)
    compacted = compact(layout)
    if compacted.months:
        yield f"compact: {count(sum(compacted.months.values()), 'record')} from {', '.join(compacted.months)}"
    found = [each for each in lint(layout, "full") if not each.is_warning]
    if found:
        yield f"lint: {count(len(found), 'finding')} for a person to resolve, see `dvwiki lint`"


def _compiled(settings: Settings) -> Iterator[str]:
    """Compile the topics that are due, and yield a line for each that was rewritten, proposed or failed."""
    from pytest_dvwiki.librarian.compile import compile_topics  # noqa: PLC0415
    from pytest_dvwiki.llm.client import connect  # noqa: PLC0415
    from pytest_dvwiki.llm.configuration import LibrarianSettings  # noqa: PLC0415

    librarian = LibrarianSettings.of(settings.layout)
    for outcome in compile_topics(librarian, model=connect(librarian, print_event)):
        if outcome.status in {"proposed", "written", "failed"}:
            yield f"compile: {outcome.page}: {outcome.status}: {outcome.text}"


def _pages(files: list[str]) -> list[str]:
    return [path for path in files if not path.endswith(("index.md", "log.md"))]
