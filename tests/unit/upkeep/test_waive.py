"""A command adds entries to the waiver file, and changes no text of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.records import WikiError
from pytest_dvwiki.upkeep.waive import with_entry
from pytest_dvwiki.yamlio import load

if TYPE_CHECKING:
    from collections.abc import Mapping

ENTRY: Mapping[str, str | Mapping[str, str]] = {
    "id": "W-2",
    "match": {"page": "RTL_20261121_480127"},
    "reason": "waits: for #12",
    "owner": "fifo team",
}
ADDED = """\
- id: "W-2"
  match: {page: "RTL_20261121_480127"}
  reason: "waits: for #12"
  owner: "fifo team"
"""
FIRST = "- id: W-1  # the first\n  match:\n    test: '*'\n  reason: >\n    folded\n    text\n"


def indented(text: str, column: int) -> str:
    return "".join(f"{' ' * column}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("before", "after", "column"),
    [
        ("", "waivers:\n", 2),
        ("# terms: see the wiki\nmode: selective\n", "# terms: see the wiki\nmode: selective\nwaivers:\n", 2),
        ("waivers:   # none yet\nmode: selective\n", None, 2),
        ("waivers: []  # none yet", "waivers:  # none yet\n", 2),
        (f"waivers:\n{FIRST}", None, 0),
        (f"waivers:\n{indented(FIRST, 4)}", None, 4),
        ("waivers:\n  - {id: W-1, match: {test: '*'},\n     reason: r}  # in brackets", None, 2),
    ],
)
def test_the_entry_is_added_and_all_else_stays(before: str, after: str | None, column: int) -> None:
    text = with_entry(before, ENTRY, "waivers.yaml")
    added = indented(ADDED, column)
    assert added in text
    rest = text.replace(added, "")
    assert rest == (after if after is not None else before if before.endswith("\n") else f"{before}\n")
    assert load(text, "")["waivers"][-1] == ENTRY


def test_what_stands_after_the_list_stays_after_it() -> None:
    before = f"waivers:\n{indented(FIRST.partition('  reason')[0], 2)}\n# the mode of this project\nmode: global\n"
    text = with_entry(before, ENTRY, "waivers.yaml")
    assert text.index("W-2") < text.index("# the mode")
    assert text.replace(indented(ADDED, 2), "") == before


def test_line_ends_stay_as_they_are() -> None:
    text = with_entry("waivers:\r\n- id: W-1\r\n", ENTRY, "waivers.yaml")
    assert text.count("\n") == text.count("\r\n") == 6


@pytest.mark.parametrize(
    "before", ["waivers: [{id: W-1}]\n", "- a\n", "{mode: selective}\n", "waivers: {a: b}\n", "a: [\n"]
)
def test_a_layout_that_would_have_to_change_is_refused(before: str) -> None:
    with pytest.raises(WikiError, match=r"waivers\.yaml"):
        with_entry(before, ENTRY, "waivers.yaml")
