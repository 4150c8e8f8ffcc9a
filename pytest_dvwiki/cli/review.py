"""`dvwiki review`: lists the entries that wait for review, and records decisions."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.manual_record import required_text, user_of
from pytest_dvwiki.cli.place import add_place, layout_of, require_wiki
from pytest_dvwiki.cli.store import print_json, text_of
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.review import Proposal, ReviewQueue


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--all", action="store_true", help="also list proposals that are already decided")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    add_place(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    show = actions.add_parser("show", help="print a proposal; a change to a page is shown as a diff")
    edit = actions.add_parser("edit", help="change the text of a proposal, with the editor of $VISUAL or $EDITOR")
    edit.add_argument("--file", metavar="FILE", help="file with the new text (- reads standard input)")
    accept = actions.add_parser("accept", help="apply a proposal, confirm an RTL bug, or accept an agent's text")
    reject = actions.add_parser("reject", help="reject a proposal")
    for action in (show, edit, accept, reject):
        several = "+" if action in {accept, reject} else None
        action.add_argument("id", nargs=several, help="id of a proposal, or its first digits")
        add_place(action, argparse.SUPPRESS)
    for action in (edit, accept, reject):
        action.add_argument("--by", metavar="NAME", help="who decides (default: your name in git's configuration)")
    for action in (accept, reject):
        action.add_argument("--note", default="", help="why, in one sentence")


def run(args: argparse.Namespace) -> int:
    """List the entries that wait for review, or record a decision.

    Returns:
        1 if a proposal cannot be read.
    """
    from pytest_dvwiki.wiki.review import ReviewQueue  # noqa: PLC0415 (YAML loads with it)

    layout = require_wiki(layout_of(args))
    queue = ReviewQueue(layout)
    if args.action is None:
        return _listed(args, layout, queue)
    if args.action == "show":
        from pytest_dvwiki.upkeep.accept import shown  # noqa: PLC0415

        print(shown(layout, queue.get(args.id)))
        return 0
    by = required_text(args.by or user_of(layout.root), "--by", "give your name")
    if args.action == "edit":
        proposal = queue.get(args.id)
        text = text_of(args.file) if args.file is not None else _edited(proposal)
        queue.edit(proposal.id, text, by=by)
        print(f"{proposal.id} was edited; `dvwiki review accept {proposal.id}` applies it")
        return 0
    for name in args.id:
        print(_decided(args, layout, queue, name, by))
    return 0


def _decided(args: argparse.Namespace, layout: Layout, queue: ReviewQueue, name: str, by: str) -> str:
    """Apply a decision, and return what was done."""
    from pytest_dvwiki.upkeep.accept import accept, confirm, reject  # noqa: PLC0415

    is_proposal = any(each.id.startswith(name) for each in queue.all())
    if args.action == "reject":
        if not is_proposal:
            raise UsageError(f"{name}: there is no such proposal; to judge a bug, set `type` or `status` on its page")
        return f"{reject(layout, name, by=by, note=args.note).id} is rejected"
    return accept(layout, name, by=by, note=args.note) if is_proposal else confirm(layout, name, by=by)


def _listed(args: argparse.Namespace, layout: Layout, queue: ReviewQueue) -> int:
    from pytest_dvwiki.upkeep.accept import unjudged  # noqa: PLC0415
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415
    from pytest_dvwiki.wiki.text.markdown import plain  # noqa: PLC0415

    proposals, problems = queue.all() if args.all else queue.pending(), queue.problems()
    with WikiHistory(layout) as history:
        bugs, written = unjudged(history.page_cache), history.unaccepted
    for problem in problems:
        print(f"cannot be read: {problem}", file=sys.stderr)
    if args.format == "json":
        pages = [{"page": page.path, "title": page.title, "metadata": page.metadata} for page in bugs]
        print_json({"proposals": [to_builtins(each) for each in proposals], "unjudged": pages, "unaccepted": written})
        return 1 if problems else 0
    for each in proposals:
        state = f", {each.decision} by {each.decided_by} on {each.decided_on[:10]}" if each.decision else ""
        print(f"{each.id}  {each.kind} {each.target}, by {each.by} on {each.made_on[:10]}{state}: {each.reason}")
    if written:
        print("texts by agents on pages; accept what is right, replace what is not:")
    for address, role in written.items():
        print(f"{address}  by {role}")
    if bugs:
        print(f"{count(len(bugs), 'RTL bug')} not reviewed yet; accept those that are right:")
    for page in bugs:
        runs, last = page.metadata.get("hit_count"), page.text("last_updated")
        print(f"{page.name}  {plain(page.title)}, seen in {runs} run{'' if runs == 1 else 's'}, last on {last}")
    if not (proposals or written or bugs or problems):
        print("nothing waits for review")
    return 1 if problems else 0


def _edited(proposal: Proposal) -> str:
    """Let a person edit the text of a proposal, and return the result."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UsageError("set EDITOR to your editor, or give the new text with --file")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{proposal.id}.md"
        file.write_text(f"{proposal.text}\n", "utf-8")
        try:
            status = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
        except OSError as error:
            raise UsageError(f"{editor}: {error.strerror}; set EDITOR to your editor, or use --file") from error
        if status:
            raise UsageError(f"{editor} ended with exit status {status}; nothing was changed, so try again")
        return text_of(str(file))
