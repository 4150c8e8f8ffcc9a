"""Two bug pages that stand for one cause, and the words by which people name them."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from pytest_dvwiki.wiki.listed import CATEGORIES
from pytest_dvwiki.wiki.supersession import MergeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.wiki.catalogue import Catalogue
    from pytest_dvwiki.wiki.listed import Listed

_FINGERPRINT = re.compile(r"[0-9a-f]{4,12}")
_SUGGESTED = 3


def page_named(catalogue: Catalogue, name: str) -> Listed:
    """The page that somebody means.

    Args:
        catalogue: The pages.
        name: A page's name or path; a name that it had; a fingerprint of its cause, or the first digits of one.

    Raises:
        MergeError: There is none, or more than one.
    """
    folder, _, stem = name.replace("\\", "/").removesuffix(".md").rpartition("/")
    category = folder.rpartition("/")[2]
    wanted = (category,) if category in CATEGORIES else CATEGORIES
    by_name = (catalogue.get(f"{each}/{stem}.md") for each in wanted)
    page = next((found for found in by_name if found), None)
    if page is not None:
        return page
    bugs = list(catalogue.all("bugs"))
    found = catalogue.once_called(stem)
    if not found and _FINGERPRINT.fullmatch(stem.lower()):
        found = [page for page in bugs if page.text("fingerprint").startswith(stem.lower())]
    if len(found) == 1:
        return found[0]
    if found:
        raise MergeError(f"{name}: more than one page is called so: {_listed(found)}; give its name")
    near = difflib.get_close_matches(stem, [page.name for page in bugs], n=_SUGGESTED, cutoff=0.5)
    told = f"nearest: {_listed([page for page in bugs if page.name in near])}" if near else "index.md names all pages"
    raise MergeError(f"{name!r:.80}: no page has this name or fingerprint; {told}")


def _listed(pages: Sequence[Listed]) -> str:
    shown = ", ".join(f"{page.name} ({page.text('fingerprint')})" for page in pages[:_SUGGESTED])
    rest = len(pages) - _SUGGESTED
    return shown + (f" and {rest} more" if rest > 0 else "")
