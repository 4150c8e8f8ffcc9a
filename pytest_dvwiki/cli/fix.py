"""`dvwiki fix`: records how a person fixed a cause, or withdraws that statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.causes import add_cause, cause_called
from pytest_dvwiki.cli.manual_record import record_of_now, required_text
from pytest_dvwiki.cli.place import add_place, require_content, settings_of, shown
from pytest_dvwiki.model import FixRow
from pytest_dvwiki.wiki.page_summary import page_name

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.capture.git.repository import Repository
    from pytest_dvwiki.settings import Layout


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_cause(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--text", help="what was done, in one sentence")
    what.add_argument(
        "--take-back", action="store_true", help="withdraw the last statement; its record is kept but ignored"
    )
    parser.add_argument("--commit", metavar="COMMIT", help="the commit of the fix, or a range FIRST..LAST")
    parser.add_argument(
        "--result", choices=("open", "held", "failed"), help="outcome of the fix; open (default): decided by later runs"
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Archive a record of the fix, or of a fix's withdrawal, and print the path of the page that shows the fix."""
    from pytest_dvwiki.capture.git.repository import Repository  # noqa: PLC0415
    from pytest_dvwiki.wiki.writing.build import archive  # noqa: PLC0415

    settings = settings_of(args)
    layout = require_content(settings.layout)
    repository = Repository.of(settings)
    if args.take_back:
        if args.commit or args.result:
            raise UsageError("--take-back withdraws the whole statement; it takes no --commit and no --result")
        fingerprint, page = cause_called(layout, args.cause)
        row, message = _taken_back(layout, fingerprint, _display_name(fingerprint, page))
    else:
        text = required_text(args.text, "--text", "describe what was done")
        fingerprint, page = cause_called(layout, args.cause)
        row = FixRow(fingerprint=fingerprint, text=text, by="person", commits=(), result=args.result or "open")
        row = replace(row, **_commits(repository, args.commit))
        called = _display_name(fingerprint, page)
        message = f"fix of {called} is on record (to take it back: `dvwiki fix {called} --take-back`)"
    archive(layout, record_of_now("fix", repository, fixes=(row,)))
    print(f"{message}{f', see {shown(layout.wiki / page)}' if page else ''}")
    return 0


def _display_name(fingerprint: str, page: str | None) -> str:
    """Return the name of a cause's page, or the cause's fingerprint if it has no page."""
    return page_name(page) if page else fingerprint


def _taken_back(layout: Layout, fingerprint: str, called: str) -> tuple[FixRow, str]:
    """Return a row that withdraws the cause's last stated fix, and the message about it."""
    from pytest_dvwiki.records import aggregate  # noqa: PLC0415
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415

    with WikiHistory(layout) as history:
        page = next(iter(history.bug_pages(fingerprint)), None)
        names = page.fingerprints(fingerprint) if page else (fingerprint,)
        found = aggregate.statements(history.archive, names)
    if not found:
        raise UsageError(
            f"no stated fix of {called} is on record; a fix that dvwiki found in the runs cannot be taken back"
        )
    fix, task_id = found[-1]
    row = FixRow(fingerprint=fingerprint, by="person", takes_back=task_id)
    by = "an agent" if fix.by == "agent" else "a person"
    return row, f"withdrew the fix of {called} that {by} stated on {fix.date[:10]}: {fix.text!r}"


def _commits(repository: Repository, given: str | None) -> dict[str, Any]:
    """Return the two fields of a fix row that name commits: the fix's own commit, and the last commit before it."""
    if given is None:
        return {}
    first, dots, last = given.partition("..")
    if not dots:
        first, last = f"{given}^", given
    found = [repository.commit(name) for name in (first, last)]
    if not dots and found[1] and not found[0]:
        # The root commit has no parent.
        found[0] = found[1]
    commits = [commit for commit in found if commit]
    if len(commits) < len(found):
        raise UsageError(f"--commit {given}: no such commit in {repository.root}; fetch it, or give another commit")
    between = repository.between(*commits)
    return {
        "commits": tuple(commits),
        "log": tuple(between.log),
        "log_count": between.log_count,
        "files": tuple(between.files),
        "file_count": between.file_count,
        "owners": tuple(repository.people.owners(commits[-1], between.files)),
        "authors": tuple(repository.people.authors(commits[0], commits[-1], between.files)),
    }
