"""Revisions outside git: their order, and the changes between two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.git.repository import Repository
from pytest_dvwiki.model import Fix, Vcs

from ...samples import layout

if TYPE_CHECKING:
    from pathlib import Path

P4 = """\
Change 105 on 2026/11/22 by ben@ws 'fifo: reset the read pointer'
Change 103 on 2026/11/21 by ann@ws *pending* 'fifo: wider'
Change 101 on 2026/11/20 by ann@ws 'bench: more words'
"""
NAMES = "sync-c third\nsync-b second\nsync-a first\n"


def repository(root: Path, log: str = "", revision: str = "") -> Repository:
    (root / "changes.txt").write_text(log)
    return Repository(layout(root), revision, "changes.txt")


@pytest.mark.parametrize("text", ["105", "@105", "r105", "CL105"])
def test_a_revision_takes_the_place_of_the_commit(tmp_path: Path, text: str) -> None:
    assert repository(tmp_path, revision=text).state() == Vcs(commit="@105")


@pytest.mark.parametrize(
    ("log", "before", "now", "change", "lines", "note"),
    [
        (P4, "@101", "@105", "commit", ("@105 fifo: reset the read pointer", "@103 fifo: wider"), ""),
        (P4, "@102", "@103", "commit", ("@103 fifo: wider",), ""),
        ("", "@9", "@10", "commit", (), "a change after @9 up to @10; set `revision_log` to list the changes"),
        (P4, "@105", "@101", "older", (), ""),
        (P4, "@105", "@105", "nothing", (), ""),
        (NAMES, "@sync-a", "@sync-c", "commit", ("@sync-c third", "@sync-b second"), ""),
        (NAMES, "@sync-c", "@sync-a", "older", (), ""),
        ("", "@sync-a", "@sync-c", "unrecorded", (), "it is not known which of @sync-a and @sync-c is older"),
        (NAMES, "@sync-a", "@7", "unrecorded", (), "it is not known which of @sync-a and @7 is older"),
        (P4, "1" * 40, "@105", "unrecorded", (), f"it is not known which of {'1' * 12} and @105 is older"),
        (P4, "@105", "1" * 40, "unrecorded", (), f"it is not known which of @105 and {'1' * 12} is older"),
    ],
)
def test_what_lies_between_two_runs(  # noqa: PLR0917
    tmp_path: Path, log: str, before: str, now: str, change: str, lines: tuple[str, ...], note: str
) -> None:
    found = repository(tmp_path, log).difference(Vcs(commit=before), Vcs(commit=now))
    assert (found.change, found.log, found.log_count) == (change, lines, len(lines))
    assert found.note.endswith(note)
    came = repository(tmp_path, log).came_with(before, Vcs(commit=now))
    assert (came.log if came else None) == (lines if change == "commit" else None)


def test_whether_a_revision_has_a_fix_follows_from_its_order(tmp_path: Path) -> None:
    fix = Fix(text="words", commits=("@101", "@105"))
    assert [repository(tmp_path).lacks(fix, name) for name in ("@104", "@105", "@106", "@sync-a", "1" * 40)] == [
        True,
        False,
        False,
        False,
        False,
    ]


def test_a_list_that_is_not_there_is_no_list(tmp_path: Path) -> None:
    assert Repository(layout(tmp_path), "", "none.txt").between("@1", "@2").log == ()
