"""Lets git merge a bug page that has the earlier layout on one side, by converting both sides first."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.git import output
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.page_summary import page_name
from pytest_dvwiki.wiki.text import former, pages
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_CONFLICTS = 127
"""The highest exit status of `git merge-file` that counts conflicts; a higher status is an error."""
_BASE_OURS_THEIRS = (1, 2, 3)
"""The numbers of the three versions of a file in git's index during a merge."""


def merged(wiki: Path, path: str) -> bytes | None:
    """Return a page with people's text from both sides of an unfinished merge.

    dvwiki's own keys are taken from our side; the generated region is left empty. Conflicts remain only where both
    sides changed the same lines.

    Args:
        wiki: The wiki's folder.
        path: A page, relative to the wiki.

    Returns:
        The page; None if no conversion is needed, or if the page cannot be converted or merged.
    """
    found = [output(wiki, "show", f":{number}:./{path}") for number in _BASE_OURS_THEIRS]
    versions = [data for data in found if data is not None]
    if len(versions) < len(_BASE_OURS_THEIRS):
        return None
    alike = [former.converted(data, page_name(path)) for data in versions]
    if alike == versions:
        return None
    try:
        metadata = pages.read(versions[1]).metadata
    except YamlError:
        return None
    keys = {key: metadata[key] for key in bug.OWNED if key in metadata}
    return _three_way(wiki, [data if isinstance(data, pages.Refused) else _with(data, keys) for data in alike])


def _with(data: bytes, keys: dict[str, Any]) -> bytes | pages.Refused:
    """Return a page in the current layout, with the given values of dvwiki's keys and an empty region."""
    return pages.edit(data, keys, {former.RECORDS: ""})


def _three_way(wiki: Path, versions: Sequence[bytes | pages.Refused]) -> bytes | None:
    """Return git's merge of base, ours and theirs; None if one of the three cannot be converted."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("base", "ours", "theirs")]
        for file, data in zip(files, versions, strict=True):
            if isinstance(data, pages.Refused):
                return None
            file.write_bytes(data)
        base, ours, theirs = map(str, files)
        names = ("-L", "ours", "-L", "base", "-L", "theirs")
        return output(wiki, "merge-file", "-p", *names, ours, base, theirs, most=_MOST_CONFLICTS)
