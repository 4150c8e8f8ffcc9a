"""`dvwiki link`: puts the URL of a ticket on a bug page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.manual_record import required_text
from pytest_dvwiki.cli.place import add_place, layout_of, require_wiki, shown

if TYPE_CHECKING:
    import argparse

_URL = re.compile(r"https?://\S+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("page", metavar="PAGE", help="name or path of the page, or the fingerprint of its cause")
    parser.add_argument("url", metavar="URL", help="the ticket; a page may have several")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Add the URL to the key `link` of the page.

    Returns:
        1 if the page cannot be edited.
    """
    from pytest_dvwiki.upkeep.lookup import page_named  # noqa: PLC0415
    from pytest_dvwiki.wiki.kinds import bug  # noqa: PLC0415
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415
    from pytest_dvwiki.wiki.text import pages  # noqa: PLC0415
    from pytest_dvwiki.wiki.writing.build import change_page  # noqa: PLC0415

    layout = require_wiki(layout_of(args))
    url = required_text(args.url, "URL", "give the address of the ticket")
    if not _URL.fullmatch(url):
        raise UsageError(f"{url:.80}: give the full URL, such as https://tracker.example.com/DV-17")
    with WikiHistory(layout) as history:
        page = page_named(history.page_cache, args.page)
    if page.category != "bugs":
        raise UsageError(f"{page.path} is not a bug page; only bug pages take the URL of a ticket")

    def linked(data: bytes | None) -> bytes | pages.Refused:
        # The page may have changed since it was looked up.
        metadata = pages.read(data or b"").metadata
        known = metadata.get("link")
        urls = [*(known if isinstance(known, list) else [known] if known else [])]
        value = urls if url in urls else [*urls, url]
        return bug.with_keys(data or b"", {"link": value if len(value) > 1 else value[0]})

    problem = change_page(layout, page.path, linked, log_text=f"{page.path}: link to {url}")
    if problem:
        print(f"{shown(layout.wiki / page.path)} was left alone: {problem}")
        return 1
    print(f"{shown(layout.wiki / page.path)} now links to {url}")
    return 0
