"""The wiki's pages as HTML: markdown-it-py renders the Markdown, and nh3 sanitises the result.

Nothing on a page is trusted, because people write pages and pages quote logs. Scripts, styles, pictures and forms are
removed; links are kept only to pages of the wiki and to the web.
"""

from __future__ import annotations

import functools
import itertools
import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from pytest_dvwiki.report.templating import MissingError
from pytest_dvwiki.wiki.text import pages

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

_TAGS = """
a b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i kbd li ol p pre s span strong sub summary sup
table tbody td th thead tr ul
"""
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "details": {"open"}}
_SCHEMES = {"http", "https", "mailto"}
_HEADING = re.compile(r"<h1>.*?</h1>", re.DOTALL)
_TABLE = re.compile(r"</?table>")
_CITED = re.compile(r"<a\b.*?</a>|\btasks/([A-Za-z0-9_.-]+)\.yaml\b(?![^<>]*>)", re.DOTALL)
"""Matches a link element (so that its text is skipped), or else a citation of a record outside tags."""


class Rendered(NamedTuple):
    """A page of the wiki as HTML."""

    title: str
    metadata: dict[str, str]
    html: str
    """The body, sanitised."""
    has_heading: bool
    dangling: bool
    """Whether the page links to a page that the site does not have."""


@functools.cache
def _engines() -> tuple[Callable[[str], str], Callable[..., str]]:
    try:
        # Only the site needs these packages.
        import nh3  # noqa: PLC0415
        from markdown_it import MarkdownIt  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingError(error.name) from None
    return MarkdownIt("commonmark", {"html": True}).enable("table").render, nh3.clean


def render(path: str, data: bytes, known: Collection[str], run_url: Callable[[str], str | None]) -> Rendered:
    """Return a page of the wiki as HTML.

    Args:
        path: The path of the page, relative to the wiki.
        data: The content of the page.
        known: The paths of all pages of the site.
        run_url: Returns the address of a run, relative to the page; None if the site has no such run.

    Raises:
        MissingError: A package of the extra `report` is not installed.
        YamlError: The frontmatter cannot be read.
    """
    page = pages.read(data)
    to_html, sanitised = _engines()
    lost = False

    def kept(tag: str, attribute: str, value: str) -> str | None:
        nonlocal lost
        if (tag, attribute) != ("a", "href"):
            return value
        target = address(path, value, known)
        lost = lost or target is None
        return target

    clean = sanitised(
        to_html(page.body),
        tags=set(_TAGS.split()),
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        attribute_filter=kept,
        link_rel="noopener noreferrer",
    )
    metadata = {key: _shown(value) for key, value in page.metadata.items()}
    has_heading = _HEADING.search(clean) is not None
    html = _TABLE.sub(functools.partial(_in_frame, itertools.count(1)), clean)
    html = _CITED.sub(functools.partial(_cited, run_url), html)
    return Rendered(pages.title_of(page.body), metadata, html, has_heading, lost)


def _in_frame(number: Iterator[int], found: re.Match[str]) -> str:
    """Return a table's start or end tag, and the tag of a frame in which the table scrolls on a narrow screen."""
    if found[0].startswith("</"):
        return f"{found[0]}</div>"
    return f'<div class="wide" tabindex="0" role="region" aria-label="Table {next(number)}">{found[0]}'


def address(page: str, target: str, known: Collection[str]) -> str | None:
    """Return the address of a link's target; None if the target is neither on the site nor on the web."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return target if parts.scheme in _SCHEMES else None
    if not parts.path:
        return target
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
    return f"{parts.path[: -len('.md')]}.html" if path in known and parts.path.endswith(".md") else None


def _cited(run_url: Callable[[str], str | None], found: re.Match[str]) -> str:
    url = run_url(found[1]) if found[1] is not None else None
    return f'<a href="{url}">{found[0]}</a>' if url is not None else found[0]


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
