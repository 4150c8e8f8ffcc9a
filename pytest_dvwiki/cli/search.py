"""`dvwiki search`: finds pages by words."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, settings_of

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.wiki.search import SearchResult

_MOST = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    from pytest_dvwiki.agent.prompts import CATEGORIES  # noqa: PLC0415 (only for this command)

    parser.add_argument("query", nargs="+", help="words to look for; identifiers are found by their parts too")
    parser.add_argument("--category", choices=CATEGORIES, help="only pages of this category")
    parser.add_argument("--limit", type=int, default=_MOST, metavar="N", help="most results (default %(default)s)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how results are printed")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Prints what was found, the best first; nothing where no page has a word of the query."""
    from pytest_dvwiki.wiki.search import WikiSearchIndex  # noqa: PLC0415 (YAML loads with it)

    if args.limit < 1:
        raise UsageError(f"--limit {args.limit}: give 1 or more")
    settings = settings_of(args)
    if settings.search_backend == "none":
        raise UsageError("search_backend is none, which switches searching off; set it to bm25 or keyword")
    index = WikiSearchIndex.create(settings.search_backend, settings.layout.wiki)
    found = index.search(" ".join(args.query), args.limit, category=args.category)
    if args.format == "json":
        print(json.dumps([asdict(result) for result in found], indent=2, default=str))
        return 0
    for result in found:
        print(f"{result.page_path}  {', '.join(_status(result))}\n  {result.excerpt}")
    if not found:
        print("no page has a word of this query", file=sys.stderr)
    return 0


def _status(result: SearchResult) -> list[str]:
    """What a person wants to know first of a page."""
    from pytest_dvwiki.wiki.age import tag, today  # noqa: PLC0415
    from pytest_dvwiki.wiki.listed import Listed  # noqa: PLC0415

    metadata = result.frontmatter
    shown = [str(metadata[key]) for key in ("type", "status") if metadata.get(key)]
    if metadata.get("hit_count") is not None:
        shown.append(f"hit_count {metadata['hit_count']}")
    page = Listed(result.page_path, result.page_path.partition("/")[0], "", metadata, "")
    if page.leads_to:
        return [*shown, f"superseded by {page.leads_to}"]
    return [*shown, tag(page, today())] if metadata.get("first_seen") else shown
