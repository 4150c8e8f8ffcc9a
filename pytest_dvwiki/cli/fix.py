"""`dvwiki fix`: a person says how a cause was fixed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pytest_dvwiki import __version__
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, layout_of, writing

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("fingerprint", help="of the cause, as terminal and pages show it; or the name of its page")
    parser.add_argument("--text", required=True, help="what was done, in one sentence")
    parser.add_argument("--commit", metavar="COMMIT", help="the commit that did it, or a range FIRST..LAST")
    parser.add_argument(
        "--result",
        choices=("open", "held", "failed"),
        default="open",
        help="what became of it; open (the default) leaves that to the runs that follow",
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Archives a record with the fix, and says on which page it stands."""
    from pytest_dvwiki.fingerprint import FINGERPRINT_VERSION  # noqa: PLC0415
    from pytest_dvwiki.model import RunRecord  # noqa: PLC0415
    from pytest_dvwiki.pipeline import new_task_id, utc, vcs_of  # noqa: PLC0415
    from pytest_dvwiki.redact import redact  # noqa: PLC0415
    from pytest_dvwiki.wiki.build import archive  # noqa: PLC0415

    layout = layout_of(args)
    text = " ".join(redact(args.text).split())
    if not text:
        raise UsageError("--text is empty; say what was done")
    fingerprint, page = _cause(layout, args.fingerprint)
    now = time.time()
    row: dict[str, Any] = {"fingerprint": fingerprint, "text": text, "by": "person"}
    row |= {"commits": _commits(layout.root, args.commit), "result": args.result}
    record = RunRecord(
        task_id=new_task_id("fix", now),
        tool=f"pytest-dvwiki {__version__}",
        registry="",
        fingerprint_version=FINGERPRINT_VERSION,
        started=utc(now),
        finished=utc(now),
        duration_s=0.0,
        vcs=vcs_of(layout.root),
        fixes=(row,),
    )
    with writing():
        archive(layout, record)
    print(f"fix of {fingerprint} is on record{f', see {layout.wiki / page}' if page else ''}")
    return 0


def _cause(layout: Layout, name: str) -> tuple[str, str | None]:
    """The fingerprint that a name stands for, and the page of its cause.

    Raises:
        UsageError: No record has it.
    """
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415

    with WikiHistory(layout) as history:
        page = history.catalogue.get(f"bugs/{name.removeprefix('bugs/').removesuffix('.md')}.md")
        fingerprint = next(iter(page.fingerprints()), name) if page else name
        known = history.cause(fingerprint)
    if known is None:
        raise UsageError(
            f"{name!r:.80}: no record has this cause; its fingerprint stands on its page and in the terminal"
        )
    return fingerprint, known.page


def _commits(root: Path, given: str | None) -> list[str]:
    """First and last commit of a fix; the first is the last that did not have it, as for a fix that git tells of.

    Raises:
        UsageError: git does not know one.
    """
    from pytest_dvwiki.pipeline import git  # noqa: PLC0415

    if given is None:
        return []
    first, dots, last = given.partition("..")
    if not dots:
        first, last = f"{given}^", given
    found = [git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") for name in (first, last)]
    if not dots and found[1] and not found[0]:
        # The first commit of all has none before it.
        found[0] = found[1]
    commits = [commit for commit in found if commit]
    if len(commits) < len(found):
        raise UsageError(f"--commit {given}: git knows no such commit in {root}")
    return commits
