"""A write keeps every byte of a page that is not the tool's, or the page is refused."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pytest_dvwiki.model import FailedTest, Occurrence, Origin, RunRecord
from pytest_dvwiki.settings import Layout
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.pages import Refused
from pytest_dvwiki.wiki.writing.build import archive, build

OWNED = ("hit_count", "seeds", "last_seen")
_PIECES = st.sampled_from(
    [
        *("a", "key", ":", ": ", " ", "  ", "\t", "#", " # c", "- ", "[", "]", "{", "}", ",", "'", '"', "&x ", "*x"),
        *("!t ", "|", ">", "---", "...", "é", "\u2028", "\u0085", "\ufeff", "~", "null", "1", "0001", "on", "?"),
        *("%YAML 1.1", "<<: ", "`", "\\", "\x0c"),
    ]
)
LINE = st.lists(_PIECES, max_size=6).map("".join)
_PEOPLE = st.sampled_from(
    [
        *("type: RTL_BUG", "status:   open # now", "'a b': \"c\"", "note: |", "  folded text", "list:", "  - x", ""),
        *("# comment", "map: {a: 1, b: [2]}", "base: &b {a: 1}", "use: *b", "0001: on", "time: 10:30:00", "l: [x,"),
        "  y]",
    ]
)
_TOOLS = st.sampled_from(
    [
        *("hit_count: 3", "hit_count:", "hit_count: 3   # of us", "'hit_count': \"3\"", 'seeds: ["1"]', "seeds:"),
        *("last_seen: null", "last_seen: 2026-11-21", "last_seen: >", "? hit_count", "last_seen: &l x", "seeds: *l"),
    ]
)
ENTRY = st.one_of(LINE, _PEOPLE, _TOOLS)
BODY = st.one_of(
    LINE,
    st.sampled_from(
        ["# Title", "", "---", "text  ", "```", "<!-- comment -->", "<!-- dvwiki:begin evidence", "-->", "======="]
    ),
    st.sampled_from(
        [
            pages.region("evidence", "RTL_1"),
            pages.region("fixes", "RTL_1"),
            pages.begin_marker("evidence", "RTL_1"),
            pages.end_marker("fixes", "RTL_1"),
        ]
    ),
)
VALUES = st.fixed_dictionaries(
    {
        "hit_count": st.integers(0, 99),
        "seeds": st.lists(st.text(max_size=5), max_size=3),
        "last_seen": st.none() | st.text(max_size=12),
    }
)
CONTENT = st.dictionaries(
    st.sampled_from(["evidence", "fixes", "absent"]), st.sampled_from(["", "- seen twice", "| a |\n| --- |", "a\n\nb"])
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    block = draw(st.lists(ENTRY, max_size=8))
    body = draw(st.lists(BODY, max_size=8))
    text = "\n".join(["---", *block, "---", *body])
    text += draw(st.sampled_from(["", "\n", "\n\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text


def _without_owned(text: str, keys: dict[str, Any]) -> list[str]:
    """Return the lines of a page that the tool may not change, found independently of its code.

    Removes owned keys with their continuation lines, and the content of regions.
    """
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    end = next(at for at, line in enumerate(lines) if at and re.fullmatch(r"---[ \t]*\r?", line))
    kept: list[str] = []
    owned = False
    for line in lines[:end]:
        begins = re.match(r"(?:\?\s*)?['\"]?([a-z_]+)['\"]?\s*(?::|\r?$)", line)
        if begins and begins[1] in keys:
            owned = True
        elif not re.match(r"[ \t]+\S|- |-$|\r?$|[\]}]|:", line):
            owned = False
        if not owned:
            kept.append(line)
    inside = False
    for line in lines[end:]:
        if line.startswith("<!-- dvwiki:end "):
            inside = False
        if not inside:
            kept.append(line)
        if re.match(r"(?:\S+: .* )?-->", line) and any(item.startswith("<!-- dvwiki:begin ") for item in kept[-4:]):
            inside = not any(item.startswith("<!-- dvwiki:end ") for item in kept[-4:])
    return kept


@given(texts(), VALUES, CONTENT)
@example("---\nhit_count: 3 # c\r\n---\n", {"hit_count": 4, "seeds": [], "last_seen": None}, {})
def test_a_write_keeps_every_byte_of_others_or_is_refused(
    text: str, keys: dict[str, Any], regions: dict[str, str]
) -> None:
    edited = pages.edit(text.encode(), keys, regions)
    if isinstance(edited, Refused):
        assert edited.reason
        assert "\n" not in edited.reason
        return
    after = edited.decode()
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert _without_owned(after, keys) == _without_owned(text, keys)
    metadata = pages.read(edited).metadata
    for key, value in keys.items():
        flat = [item.replace("\n", " ") for item in value] if isinstance(value, list) else value
        assert metadata[key] == (flat.replace("\n", " ") if isinstance(flat, str) else flat)
    for name, content in regions.items():
        if name in pages.region_names(edited):
            newline = "\r\n" if "\r\n" in text.split("---", 2)[1] else "\n"
            assert content.replace("\n", newline) in after


@example("---\n\ufeff\n---", {"hit_count": 0}, {})
@given(texts(), VALUES, CONTENT)
def test_a_write_again_changes_nothing(text: str, keys: dict[str, Any], regions: dict[str, str]) -> None:
    once = pages.edit(text.encode(), keys, regions)
    assume(isinstance(once, bytes))
    assert isinstance(once, bytes)
    assert pages.edit(once, keys, regions) == once


@given(texts(), VALUES, CONTENT)
def test_people_have_their_part_to_themselves(text: str, keys: dict[str, Any], regions: dict[str, str]) -> None:
    edited = pages.edit(text.encode(), keys, regions)
    if isinstance(edited, bytes):
        assert pages.skeleton(edited, keys) == pages.skeleton(text.encode(), keys)


@cache
def _template() -> Path:
    """Return a wiki with one bug page."""
    folder = Path(tempfile.mkdtemp(prefix="dvwiki-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    archive(_layout(folder), _run(1))
    return folder


def _layout(root: Path) -> Layout:
    return Layout(root=root, wiki=root / ".agent" / "wiki")


def _run(number: int) -> RunRecord:
    cause = Occurrence(
        fingerprint="9b1f03c2a7d4",
        error_class="uvm_error",
        failure_subtype="scoreboard_fail",
        pattern=None,
        origin=Origin(type="RTL_BUG", confidence=0.8),
        primary=f"UVM_ERROR sb.sv(210) @ {number}ns: expected 0x12",
        tests=(FailedTest(nodeid="t::a", seed=str(number)),),
    )
    moment = f"2026-11-21T{number:02d}:00:00Z"
    return RunRecord(
        task_id=f"run_{number}",
        tool="test",
        registry="",
        fingerprint_version=1,
        started=moment,
        finished=moment,
        duration_s=0.0,
        occurrences=(cause,),
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(ENTRY, max_size=5), st.lists(BODY, max_size=5), st.booleans(), st.booleans(), st.booleans())
def test_a_run_changes_only_what_is_the_tool_s_on_a_page_that_people_wrote_to(
    entries: list[str], body: list[str], crlf: bool, bom: bool, cut: bool
) -> None:
    """On disk: other bytes stay, a refused page is not touched, and without changes the file time stays."""
    with tempfile.TemporaryDirectory(prefix="dvwiki-") as folder:
        place = _layout(Path(folder, "project"))
        shutil.copytree(_template(), place.root)
        (page,) = place.wiki.glob("bugs/RTL_*.md")
        text = page.read_text("utf-8").replace("---\n", "\n".join(["---", *entries, ""]), 1)
        text = "\n".join([text.removesuffix("\n"), *body]) + ("" if cut else "\n")
        text = ("\ufeff" if bom else "") + (text.replace("\n", "\r\n") if crlf else text)
        page.write_bytes(text.encode())
        before = page.stat()
        refused = dict(archive(place, _run(2)).refused)
        after = page.read_bytes().decode()
        if f"bugs/{page.name}" in refused:
            assert (after, page.stat().st_mtime_ns) == (text, before.st_mtime_ns)
        elif after != text:
            owned: dict[str, Any] = dict.fromkeys(bug.OWNED)
            assert _without_owned(after, owned) == _without_owned(text, owned)
            assert pages.read(after.encode()).metadata["hit_count"] == 2
        times = {path: path.stat().st_mtime_ns for path in place.wiki.rglob("*.md")}
        archive(place, _run(2))
        build(place)
        assert {path: path.stat().st_mtime_ns for path in place.wiki.rglob("*.md")} == times
