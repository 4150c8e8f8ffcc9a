"""`dvwiki search`: finds pages by words."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import to_builtins

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, require_wiki, settings_of
from pytest_dvwiki.model.sentences import few

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from pytest_dvwiki.wiki.finding.search import Facets, Filters, SearchResult, WikiSearchIndex

_MOST = 10
_CHOSEN_BY: dict[str, Callable[[Facets], str]] = {
    "category": lambda page: page.category,
    "status": lambda page: page.status,
    "label": lambda page: " / ".join(filter(None, (page.error_class, page.failure_subtype))),
    "ip_type": lambda page: page.ip_type,
}
"""Maps each filter to a function that returns the page property to compare."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from pytest_dvwiki.agent.prompts import CATEGORIES  # noqa: PLC0415 (only for this command)

    parser.add_argument("query", nargs="+", help="words to search for; parts of identifiers are also found")
    parser.add_argument("--category", choices=CATEGORIES, help="only pages of this category")
    parser.add_argument(
        "--status",
        metavar="STATUS",
        help="only pages with this status (open, closed, regressed, …; for a coverage bin: filled, …)",
    )
    parser.add_argument(
        "--label", metavar="LABEL", help="only pages of this error class, failure subtype, or 'class / subtype'"
    )
    parser.add_argument("--ip-type", metavar="NAME", help="only pages of this kind of design (axi, ddr, …)")
    parser.add_argument("--since", metavar="DAY", help="only pages last seen on this day (YYYY-MM-DD) or later")
    parser.add_argument("--until", metavar="DAY", help="only pages first seen on this day or earlier")
    parser.add_argument(
        "--limit",
        "--top-k",
        type=int,
        default=_MOST,
        metavar="N",
        help="maximum number of results (default %(default)s)",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Print the results, the best first; return 1 if there are none."""
    from pytest_dvwiki.wiki.finding.search import Filters, WikiSearchIndex  # noqa: PLC0415 (YAML loads with it)
    from pytest_dvwiki.wiki.text.markdown import one_line, plain  # noqa: PLC0415

    if args.limit < 1:
        raise UsageError(f"--limit {args.limit}: give 1 or more")
    settings = settings_of(args)
    require_wiki(settings.layout)
    if settings.search_backend == "none":
        raise UsageError("search is switched off by search_backend: none; set it to bm25 or keyword")
    try:
        filters = Filters(
            category=args.category,
            status=args.status,
            label=args.label,
            ip_type=args.ip_type,
            since=args.since,
            until=args.until,
        )
    except ValueError as error:
        raise UsageError(f"--{error}") from error
    index = WikiSearchIndex.create(settings.search_backend, settings.layout.wiki)
    found = index.search(" ".join(args.query), args.limit, filters=filters, unreviewed=True)
    if args.format == "json":
        print(json.dumps([to_builtins(result) for result in found], indent=2, default=str))
        return 0 if found else 1
    for result in found:
        about = ", ".join(filter(None, (f"score {result.score:.2f}", *_status(result), result.warning)))
        print(f"{one_line(plain(result.title))}\n  {result.page_path}  {about}\n  {result.snippet}")
    if not found:
        print(_nothing(index, filters), file=sys.stderr)
    return 0 if found else 1


def _nothing(index: WikiSearchIndex, filters: Filters) -> str:
    """Return why nothing was found: no page has a word of the query, or no page has the value of a filter.

    For a filter, the message lists the values that pages have.
    """
    from pytest_dvwiki.wiki.review import FOLDER  # noqa: PLC0415
    from pytest_dvwiki.wiki.text.notes import UNREVIEWED  # noqa: PLC0415

    asked = {name: value for name, value in to_builtins(filters).items() if value is not None}
    if not asked:
        return "no page contains any word of this query"
    facets = map(index.facets, index.present())
    pages = [page for page in facets if page.category != FOLDER or page.status == UNREVIEWED]
    for name, value_of in _CHOSEN_BY.items():
        if name in asked and not any(type(filters)(**{name: asked[name]}).accepts(page) for page in pages):
            counts = sorted(Counter(filter(None, map(value_of, pages))).items(), key=lambda each: (-each[1], each[0]))
            named = few([f"{value} ({count})" for value, count in counts], _MOST)
            return f"no page has the {name.replace('_', ' ')} {asked[name]!r}; existing values: {named or 'none'}"
    return "no page that passes the filters contains any word of this query"


def _status(result: SearchResult) -> list[str]:
    """Return what is shown about a page next to its path: type, status, number of runs, and when it was last seen."""
    from pytest_dvwiki.runs import today  # noqa: PLC0415
    from pytest_dvwiki.wiki.age import tag  # noqa: PLC0415
    from pytest_dvwiki.wiki.finding.search import shown_status  # noqa: PLC0415
    from pytest_dvwiki.wiki.kinds.bug import effective_type  # noqa: PLC0415
    from pytest_dvwiki.wiki.page_summary import PageSummary  # noqa: PLC0415

    metadata = result.frontmatter
    page = PageSummary(result.page_path, result.page_path.partition("/")[0], "", metadata, "")
    kind = effective_type(page) if page.category == "bugs" else page.text("type")
    if page.leads_to:
        return [kind, f"superseded by {page.leads_to}"]
    shown = [text for text in (kind, shown_status(page.path, metadata)) if text]
    if metadata.get("hit_count") is not None:
        shown.append(f"hit_count {metadata['hit_count']}")
    if metadata.get("target"):
        shown.append(f"for {metadata['target']}")
    return [*shown, tag(page, today())] if metadata.get("first_seen") else shown
