"""`dvwiki context`: prints wiki knowledge for a prompt."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, settings_of, without_wiki

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.settings import Settings

_BLOCK = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from pytest_dvwiki.agent.prompts import CATEGORIES  # noqa: PLC0415 (only for this command)

    parser.add_argument("query", nargs="*", help="words to search for (default: print the pages seen most often)")
    parser.add_argument(
        "--test",
        metavar="NODEID",
        help="print what is known about this test; a name without parameters matches any parameters, and a name"
        " without a cocotb test any cocotb test",
    )
    parser.add_argument("--category", choices=CATEGORIES, help="only pages of this category")
    parser.add_argument("--log", metavar="FILE", help="identify the failure in this log (- reads standard input)")
    parser.add_argument(
        "--newest", action="store_true", help="print the causes of the newest run, new and regressed ones first"
    )
    parser.add_argument(
        "--template",
        metavar="FILE",
        help="print this file (- reads standard input) with its placeholders filled, such as {{KNOWN_ERROR_PATTERNS}}",
    )
    parser.add_argument(
        "--budget",
        type=_budget,
        metavar="N",
        help="maximum number of tokens for the wiki's text (default: max_context_tokens of project.yaml, else 2000)",
    )
    add_place(parser)


def _budget(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def run(args: argparse.Namespace) -> int:
    """Print the context, or nothing if nothing is known about the subject."""
    settings = settings_of(args)
    if not settings.layout.wiki.is_dir():
        # A warning, because this may be the wrong folder; not an error, because scripts need a prompt without a wiki.
        print(f"dvwiki context: {without_wiki(settings.layout)}", file=sys.stderr)
    kinds = {"--template": args.template, "--log": args.log, "--newest": args.newest}
    chosen = [name for name, value in kinds.items() if value]
    if chosen and (len(chosen) > 1 or args.query or args.test or args.category):
        others = " or ".join(name for name in kinds if name != chosen[0])
        raise UsageError(f"{chosen[0]} cannot be combined with a query, --test, --category, {others}")
    if args.log or args.newest:
        print(_failures(args.log, settings, args.budget))
        return 0
    if args.template is not None:
        sys.stdout.write(_filled(args.template, settings, args.budget))
        return 0
    from pytest_dvwiki.agent.prompts import gather  # noqa: PLC0415
    from pytest_dvwiki.backends import BackendError, load  # noqa: PLC0415

    if args.query:
        try:
            load(settings.search_backend)
        except BackendError as error:
            raise UsageError(f"search_backend: {error}") from error
    found = gather(
        settings.layout,
        query=" ".join(args.query) or None,
        test=args.test,
        category=args.category,
        budget=settings.max_context_tokens if args.budget is None else args.budget,
        backend=settings.search_backend,
        tokenizer=settings.tokenizer,
    )
    if found.text:
        print(found.text)
    for page, reason in found.passed_over.items():
        print(f"skipped: {page}: {reason}", file=sys.stderr)
    return 0


def _failures(log: str | None, settings: Settings, budget: int | None) -> str:
    """Return the failures of a log, or of the newest run if no log is given, and what is known about them."""
    from pytest_dvwiki.mcp.answers import fitted  # noqa: PLC0415
    from pytest_dvwiki.mcp.causes import in_log, in_newest_run  # noqa: PLC0415
    from pytest_dvwiki.tokens import counting  # noqa: PLC0415
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415

    opened = partial(WikiHistory, settings.layout)
    if log is None:
        found = in_newest_run(settings, opened)
    else:
        try:
            with contextlib.nullcontext(sys.stdin.buffer) if log == "-" else reading.open_regular(log) as stream:
                found = in_log(settings, iter(partial(stream.read, _BLOCK), b""), opened)
        except OSError as error:
            raise UsageError(f"--log {log}: {reading.reason(error)}") from error
    return fitted(found, settings.max_context_tokens if budget is None else budget, counting(settings.tokenizer))[1]


def _filled(name: str, settings: Settings, budget: int | None) -> str:
    """Return the template with its placeholders filled."""
    from pytest_dvwiki.agent.loader import PromptLoader  # noqa: PLC0415
    from pytest_dvwiki.wiki.config import WikiConfig  # noqa: PLC0415

    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
    except OSError as error:
        raise UsageError(f"--template {name}: {reading.reason(error)}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--template {name}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    config = replace(WikiConfig.of(settings), enabled=True)
    return PromptLoader(config if budget is None else config.with_budget(budget)).render(text)
