"""`dvwiki ingest --transcript`: extracts lessons from the transcript of a session."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import settings_of
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from pytest_dvwiki.llm.configuration import LibrarianSettings
    from pytest_dvwiki.llm.model import Event


def ingest_transcript(args: argparse.Namespace) -> int:
    """Archive a session and its lessons.

    Returns:
        1 if a model was needed and did not answer; the command can be repeated.
    """
    from pytest_dvwiki.intake.service import WikiIngestService  # noqa: PLC0415  # only for this option
    from pytest_dvwiki.librarian.lessons import planned  # noqa: PLC0415
    from pytest_dvwiki.llm.client import connect  # noqa: PLC0415
    from pytest_dvwiki.llm.configuration import LibrarianSettings  # noqa: PLC0415
    from pytest_dvwiki.wiki.config import WikiConfig  # noqa: PLC0415

    if args.paths or args.log:
        raise UsageError("--transcript takes no other files; ingest them in a separate call")
    text = sys.stdin.read() if args.transcript == "-" else _text(Path(args.transcript))
    settings = settings_of(args)
    librarian = LibrarianSettings.of(settings.layout)
    if args.dry_run:
        print_plan(librarian, [(args.transcript, *planned(librarian, text))])
        return 0
    model = connect(librarian, print_event)
    service = WikiIngestService(WikiConfig.of(replace(settings, enabled=True)), model)
    task = args.task or Path(args.transcript).stem.strip("-") or "session"
    done = service.archive_all(("", None, None, None), task, text)
    if done.problem:
        print(f"{args.transcript}: kept, but no lesson was taken: {done.problem}", file=sys.stderr)
        return 1
    pages = ", ".join(sorted(set(done.lessons)))
    found = f"{count(len(done.lessons), 'lesson')}: {pages}" if pages else "no new lesson"
    print(f"{args.transcript}: {found}")
    return 0


def print_event(event: Event) -> None:
    """Show an event of a model call on the terminal."""
    print(event, file=sys.stderr)


def print_plan(settings: LibrarianSettings, pages: Iterable[tuple[str, int, int]]) -> None:
    """Print the tokens that a model would read and write for each page, and the cost if the settings have a price."""
    backend = next(iter(settings.backends), None)
    if backend is None:
        print("no model is set up; set `backends` in the block `librarian:` of .agent/project.yaml", file=sys.stderr)
    due = list(pages)
    if not due:
        print("no page is due")
    for page, tokens_in, tokens_out in due:
        cost = backend.cost(tokens_in, tokens_out) if backend else None
        price = f", at most {cost:.4f} at the price of {backend.kind}" if backend and cost is not None else ""
        print(f"{page}: about {tokens_in} tokens in, at most {tokens_out} out{price}")


def _text(path: Path) -> str:
    try:
        text = reading.read_bytes(path).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"--transcript {path}: {reading.reason(error)}") from error
    if "\0" in text:
        raise UsageError(f"--transcript {path}: this is a binary file; give a text file")
    return text
