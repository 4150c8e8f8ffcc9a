"""A write changes only the tool's parts, or is refused with a reason."""

from __future__ import annotations

import pytest

from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.pages import Refused

PAGE = f"""---
# a comment of ours
type:   RTL_BUG     # a person's word
'quoted': "keep 'me'"
nested: {{a: [1, 2], b: &anchor x}}
again: *anchor
text: |
  several
    lines
status: open
hit_count: 3   # counted
task_ids: ["a", "b"]
seeds:
  - "1"
  - "2"
# a comment behind a list
last: null
---

# Title

Words of a person.

{pages.region("evidence", "RTL_1")}

More words.
---
"""
KEYS = {"hit_count": 4, "task_ids": ["c"], "seeds": ["1", "2", "3"], "last": "2026-11-21"}
REGIONS = {"evidence": "- seen twice"}


def _edited(data: bytes, keys: dict[str, object] = KEYS, regions: dict[str, str] = REGIONS) -> bytes:
    edited = pages.edit(data, keys, regions)
    assert isinstance(edited, bytes), edited
    return edited


def _refusal(text: str, keys: dict[str, object] = KEYS, regions: dict[str, str] = REGIONS) -> str:
    edited = pages.edit(text.encode(), keys, regions)
    assert isinstance(edited, Refused), edited
    return edited.reason


def test_only_owned_values_and_regions_change() -> None:
    wanted = (
        PAGE.replace("hit_count: 3 ", "hit_count: 4 ")
        .replace('["a", "b"]', "[c]")
        .replace('\n  - "1"\n  - "2"\n', ' ["1", "2", "3"]\n')
        .replace("last: null", 'last: "2026-11-21"')
        .replace("-->\n\n<!-- dvwiki:end", "-->\n\n- seen twice\n\n<!-- dvwiki:end")
    )
    assert _edited(PAGE.encode()).decode() == wanted


@pytest.mark.parametrize(
    "value", [None, "a b", "x: # y", "null", "…", 'a "b" \\c', "two\nlines", ["a", "b c"], [], 7, True]
)
def test_a_new_page_is_filled_as_it_would_be_edited(value: object) -> None:
    made = pages.draft(
        {"status": None}, ("id", "seeds", "stale"), "Title", [("Notes", "id: null")], ending=pages.region("e", "p")
    )
    keys, regions = {"seeds": value, "id": value, "stale": False}, {"e": "id: null\n---"}
    filled = pages.filled(made, keys, regions)
    assert isinstance(filled, pages.Filled)
    assert filled.data == _edited(made.text.encode(), keys, regions)
    assert filled.metadata in (None, pages.read(filled.data).metadata)


@pytest.mark.parametrize(
    "value", [None, "a b", "null", "3", "2026-11-21", 'a "b" \\c', "x: # y", ["a", "3"], [], 7, 0.5, True]
)
def test_the_frontmatter_of_a_new_page_is_known_without_reading_it(value: object) -> None:
    people = {"type": value if isinstance(value, str) else None, "status": "open"}
    made = pages.draft(people, ("id", "more"), "Title", [])
    filled = pages.filled(made, {"id": value}, {})
    assert isinstance(filled, pages.Filled)
    assert filled.metadata == pages.read(filled.data).metadata
    assert list(filled.metadata or ()) == list(pages.read(filled.data).metadata)


@pytest.mark.parametrize("value", ["…", "a\x07b", "two\nlines"])
def test_a_value_that_yaml_may_read_otherwise_has_to_be_read(value: str) -> None:
    filled = pages.filled(pages.draft({"type": value}, ("id",), "Title", []), {"id": "a"}, {})
    assert isinstance(filled, pages.Filled)
    assert filled.metadata is None


def test_a_new_page_without_a_key_is_filled_too() -> None:
    made = pages.draft({"status": None}, ("id",), "Title", [])
    filled = pages.filled(made, {"id": "a", "more": 1, "status": "open"}, {})
    assert isinstance(filled, pages.Filled)
    assert filled.data == _edited(made.text.encode(), {"id": "a", "more": 1, "status": "open"}, {})
    assert filled.metadata is None


@pytest.mark.parametrize(
    "block",
    [
        'status: open\nhit_count: 3\ntask_ids: [a, b]\nseeds: ["1", "2"]\nlast: null\nown: 1\n',
        "status: open\r\nhit_count: 3\r\ntask_ids: [a, b]\r\nseeds: []\r\nlast: null\r\n",
        "hit_count:   3\ntask_ids:\n  - a\nseeds: [1]\nlast: ~\n",
        "hit_count: 3  # counted\ntask_ids: []\nseeds: []\nlast: null\n",
        'note: "words\nhit_count: 3\nmore"\nhit_count:  3\ntask_ids: []\nseeds: []\nlast: null\n',
        'note: "words\nhit_count: 3\nmore"\nhit_count: 3\ntask_ids: []\nseeds: []\nlast: null\n',
        "note: |\n  hit_count: 3\nhit_count: 3\ntask_ids: []\nseeds: []\nlast: null\n",
        "odd: {1: a, b: .nan}\nhit_count: 3\ntask_ids: []\nseeds: []\nlast: null\nbase: &a 1\nalso: *a\n",
        "task_ids: []\nseeds: []\nlast: null\n",
    ],
)
def test_a_page_whose_values_are_known_is_edited_as_any_other_one(block: str) -> None:
    newline = "\r\n" if "\r" in block else "\n"
    data = f"---{newline}{block}---{newline}{newline}# Title{newline}".encode()
    known = pages.read(data).metadata
    edited = pages.edit(data, KEYS, {}, known)
    assert edited == pages.edit(data, KEYS, {})
    assert isinstance(edited, bytes)
    after = pages.values_after(known, KEYS)
    assert after is None or repr(after) == repr(pages.read(edited).metadata)
    assert (after is None) == ("hit_count" not in known)


def test_a_known_page_with_a_value_that_yaml_may_read_otherwise_has_to_be_read() -> None:
    assert pages.values_after({"last": None}, {"last": "2026"}) == {"last": "2026"}
    assert pages.values_after({"last": None}, {"last": "\ud800 \x07"}) is None


def test_the_same_again_changes_nothing() -> None:
    once = _edited(PAGE.encode())
    assert _edited(once) == once


@pytest.mark.parametrize("form", ["3", "'3'", '"3"', "!!int 3"])
def test_a_value_that_is_right_stays_as_it_is_written(form: str) -> None:
    page = f"---\nhit_count: {form}\n---\n".encode()
    wanted = 3 if form in {"3", "!!int 3"} else "3"
    assert _edited(page, {"hit_count": wanted}) == page


def test_line_ends_and_byte_order_mark_stay() -> None:
    page = b"\xef\xbb\xbf" + PAGE.replace("\n", "\r\n").encode()
    edited = _edited(page, KEYS | {"new": 1})
    assert edited.startswith(b"\xef\xbb\xbf---\r\n")
    assert edited.count(b"\n") == edited.count(b"\r\n")
    assert edited.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n") == _edited(PAGE.encode(), KEYS | {"new": 1})


def test_a_missing_key_comes_behind_the_last_owned_one() -> None:
    edited = _edited(b"---\ntype: x\nhit_count: 3\n# end\n---\n", {"hit_count": 3, "seeds": []})
    assert edited == b"---\ntype: x\nhit_count: 3\nseeds: []\n# end\n---\n"
    assert _edited(b"---\ntype: x\n---\n", {"hit_count": 3}) == b"---\ntype: x\nhit_count: 3\n---\n"
    assert _edited(b"---\n---\n", {"hit_count": 3}) == b"---\nhit_count: 3\n---\n"


def test_an_empty_value_is_filled() -> None:
    assert _edited(b"---\nlast:\nnext: 1\n---\n", {"last": "x"}) == b"---\nlast: x\nnext: 1\n---\n"
    assert _edited(b"---\nlast:   # none\nnext: 1\n---\n", {"last": "x"}) == b"---\nlast: x   # none\nnext: 1\n---\n"


def test_a_region_that_people_took_out_stays_out() -> None:
    page = b"---\nhit_count: 1\n---\n\nno region here\n"
    assert _edited(page, {"hit_count": 1}) == page


def test_a_body_with_lines_of_dashes_is_body() -> None:
    page = b"---\na: 1\n---\nhit_count: 3\n---\n----\n"
    assert _edited(page, {"hit_count": 4}) == b"---\na: 1\nhit_count: 4\n---\nhit_count: 3\n---\n----\n"


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("hit_count: 3\nhit_count: 3", "the key hit_count appears twice"),
        ("type: a\ntype: b", "the key type appears twice"),
        ("<<<<<<< ours\nhit_count: 3\n=======\nhit_count: 4\n>>>>>>> theirs", "line 2: conflict marker"),
        ("hit_count: &count 3", "has an anchor"),
        ("other: &count 3\nhit_count: *count", "has an anchor or an alias"),
        ("hit_count: !mine 3", "has a tag"),
        ("hit_count: |\n  3", "is a block of text"),
        ("hit_count: {a: 1}", "is a mapping"),
        ("task_ids:\n- a # why\n- b", "comment inside"),
        ("{hit_count: 3}", "not a block of keys"),
        ("- a", "not a block of keys"),
        ("hit_count: [", "frontmatter:"),
        ("hit_count:\n\t- 3", "frontmatter:"),
        (f"own: {'[' * 100_000}\nhit_count: 3", "more than 50 deep; flatten them"),
    ],
)
def test_a_block_that_cannot_be_edited_is_refused_with_the_reason(block: str, reason: str) -> None:
    assert reason in _refusal(f"---\n{block}\n---\n")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (pages.region("evidence", "RTL_1") * 2, "begin mark"),
        (
            pages.region("evidence", "RTL_1") + "\n" + pages.region("evidence", "RTL_1"),
            "line 13: the region evidence begins a second time",
        ),
        (pages.begin_marker("evidence", "RTL_1"), "line 4: the region evidence has no end mark"),
        (
            pages.begin_marker("evidence", "RTL_1") + "\n" + pages.region("fixes", "RTL_1"),
            "line 4: the region evidence has no end mark",
        ),
        (pages.end_marker("evidence", "RTL_1"), "line 4: the end mark of evidence has no begin mark"),
        ("<!-- dvwiki:begin evidence\n", "has no closing -->"),
        (
            pages.region("evidence", "RTL_1").replace(" -->", "", 1),
            "line 4: the begin mark of evidence has no closing -->",
        ),
        (pages.region("evidence", "RTL_1").removesuffix(" -->"), "line 9: the end mark of evidence has no closing -->"),
        ("<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs", "conflict marker"),
    ],
)
def test_a_body_that_cannot_be_edited_is_refused_with_the_reason(body: str, reason: str) -> None:
    assert reason in _refusal(f"---\nhit_count: 3\n---\n{body}\n", {"hit_count": 3})


def test_a_page_without_frontmatter_or_in_another_encoding_is_refused() -> None:
    assert "no frontmatter" in _refusal("# Title\n")
    assert "no frontmatter" in _refusal("---\na: 1\n----\n")
    edited = pages.edit(b"---\na: \xff\n---\n", {}, {})
    assert isinstance(edited, Refused)
    assert "UTF-8" in edited.reason


def test_a_page_is_read_as_it_is_edited() -> None:
    page = pages.read(("\ufeff" + PAGE).encode())
    assert page.metadata["hit_count"] == 3
    assert page.metadata["again"] == "x"
    assert page.body.startswith("\n# Title") or page.body.startswith("# Title")
    assert page.body.rstrip().endswith("---")


def test_the_marks_of_a_region_have_four_lines_each() -> None:
    assert pages.begin_marker("fixes", "RTL_1").count("\n") == pages.end_marker("fixes", "RTL_1").count("\n") == 3
    assert list(map(len, pages.comments("RTL_1"))) == [4, 4]
