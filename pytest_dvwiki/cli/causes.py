"""Resolves a page name, a fingerprint or a fingerprint's first digits to a cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.model.sentences import few

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.query import WikiHistory


def add_cause(parser: argparse.ArgumentParser) -> None:
    """Add the argument that identifies a cause."""
    parser.add_argument(
        "cause",
        metavar="CAUSE",
        help="the cause: the name or path of its page, its fingerprint, or the fingerprint's first digits",
    )


def cause_called(layout: Layout, name: str) -> tuple[str, str | None]:
    """Return the name of the cause that the user means, and the path of the cause's page (None without a page).

    Args:
        layout: Where the wiki is.
        name: What the user typed: a fingerprint or its first digits, a cause's name, or a page's path, current name or
            former name.
    """
    from pytest_dvwiki.records import aggregate  # noqa: PLC0415
    from pytest_dvwiki.records.name_parts import SLASH  # noqa: PLC0415
    from pytest_dvwiki.upkeep.lookup import SHORTEST, SHOWN, pages_called  # noqa: PLC0415
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415

    with WikiHistory(layout) as history:
        known = aggregate.fingerprints(history.archive)
        page = next(iter(pages_called(history.page_cache, name, ("bugs",))), None)
        check, slash, of_run = name.partition(SLASH)
        asked = next(iter(page.fingerprints()), name) if page else check.lower()
        # If several causes have this fingerprint, all of them are found, and the user has to choose.
        found = [each for each in known if each == asked or (not page and each.startswith(f"{asked}{SLASH}"))]
        if slash and not page:
            # The user may have copied a cause's name from a run's record, where it differs from the name on the page.
            in_run = history.archive.found_in_run(f"{asked}{slash}{of_run}")
            found = [in_run] if in_run is not None else []
            if not found:
                raise UsageError(_unknown(history, name, known))
        elif not found and len(asked) >= SHORTEST:
            found = [each for each in known if each.startswith(asked)]
        if len(found) > 1:
            listed = few([_describe(history, each) for each in found], SHOWN)
            raise UsageError(
                f"{name}: several fingerprints begin with this: {listed}; give more digits, or the page's name"
            )
        cause = history.cause(found[0] if found else asked)
        if cause is None:
            raise UsageError(_unknown(history, name, known))
        name = found[0] if found else cause.occurrence.fingerprint
        return history.reference(name), cause.page.path if cause.page else None


def _unknown(history: WikiHistory, name: str, known: Sequence[str]) -> str:
    from pytest_dvwiki.upkeep.lookup import SHOWN, nearest  # noqa: PLC0415

    pages = {page.name: next(iter(page.fingerprints()), "") for page in history.page_cache.all("bugs")}
    near = nearest(name, [*known, *pages])
    causes = list(dict.fromkeys(pages.get(each, each) for each in near))
    hint = (
        f"nearest: {few([_describe(history, each) for each in causes], SHOWN)}"
        if causes
        else "give the name of its page, or the fingerprint in the page's frontmatter"
    )
    return f"{name!r:.80}: no such cause on record; {hint}"


def _describe(history: WikiHistory, fingerprint: str) -> str:
    """Return a cause as text: its fingerprint, label and page."""
    cause = history.cause(fingerprint)
    page = f", {cause.page.path}" if cause and cause.page else ""
    return f"{fingerprint} ({cause.label}{page})" if cause else fingerprint
