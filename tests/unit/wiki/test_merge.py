"""Two branches that both archived merge by git, and all counts are the sums after a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.wiki import pages
from pytest_dvwiki.wiki.build import archive, build

from ..samples import CAUSE, PRIMARY, failed, files, git, layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

STYLES = ("merge", "diff3", "zdiff3")


@pytest.fixture(params=STYLES)
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Layout:
    """A repository in which another cause was archived before the branches part."""
    place = layout(tmp_path)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "config", "merge.conflictStyle", request.param)
    archive(place, record(1, occurrence("b" * 12)))
    return place


def _bug(place: Layout, fingerprint: str = CAUSE) -> Path:
    return next(page for page in sorted((place.wiki / "bugs").glob("RTL*.md")) if fingerprint in page.read_text())


def _merge(place: Layout, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    _commit(place, "base")
    git(place.root, "checkout", "--quiet", "-b", "theirs")
    theirs()
    _commit(place, "theirs")
    git(place.root, "checkout", "--quiet", "main")
    ours()
    _commit(place, "ours")
    git(place.root, "merge", "theirs", check=False)


def _commit(place: Layout, message: str) -> None:
    git(place.root, "add", "--all")
    git(place.root, "commit", "--quiet", "--message", message)


def _seen(place: Layout, numbers: range, **changes: object) -> None:
    """Archives runs whose values differ from those of other numbers."""
    for number in numbers:
        primary = PRIMARY.replace("0x13", f"{number:#x}").replace("1250ns", f"{number}ns")
        archive(place, record(number, occurrence(primary=primary, excerpt=primary, tests=(failed(seed=str(number)),))))


def _assert_settled(place: Layout, runs: int) -> None:
    result = build(place)
    assert result.refused == []
    assert result.problems == []
    assert pages.read(_bug(place).read_bytes()).metadata["hit_count"] == runs
    assert build(place, check=True).changed == []
    assert b"<<<<<<<" not in b"".join(files(place.agent).values())
    log = (place.wiki / "log.md").read_text()
    assert log.count(" ingest | ") == runs + 1
    assert log.count("# DV Agentic Wiki Operation Log") == 1


def test_the_same_new_cause_on_both(place: Layout) -> None:
    _merge(place, lambda: _seen(place, range(2, 4)), lambda: _seen(place, range(4, 7)))
    _assert_settled(place, runs=5)
    assert len(list((place.wiki / "bugs").glob("RTL*.md"))) == 2


def test_a_known_cause_on_both(place: Layout) -> None:
    _seen(place, range(2, 3))
    _merge(place, lambda: _seen(place, range(3, 5)), lambda: _seen(place, range(5, 9)))
    _assert_settled(place, runs=7)


def test_new_pages_on_both(place: Layout) -> None:
    def other() -> None:
        for number in range(4, 6):
            archive(place, record(number, occurrence("c" * 12)))

    _merge(place, lambda: _seen(place, range(2, 4)), other)
    build(place)
    assert build(place, check=True).changed == []
    counts = {
        fingerprint: pages.read(_bug(place, fingerprint).read_bytes()).metadata["hit_count"]
        for fingerprint in (CAUSE, "c" * 12)
    }
    assert counts == {CAUSE: 2, "c" * 12: 2}


def test_the_same_cause_on_two_dates_keeps_one_page_and_a_pointer(place: Layout) -> None:
    def ours() -> None:
        _seen(place, range(30, 32))
        page = _bug(place)
        page.write_text(page.read_text().replace("## Evidence", "What we know.\n\n## Evidence"))

    _merge(place, ours, lambda: _seen(place, range(2, 4)))
    assert build(place).refused == []
    kept, pointer = (page for page in sorted((place.wiki / "bugs").glob("RTL*.md")) if CAUSE in page.read_text())
    metadata = pages.read(kept.read_bytes()).metadata
    assert (metadata["hit_count"], metadata["aliases"]) == (4, [pointer.stem])
    assert f"[{kept.stem}]({kept.stem}.md)" in pointer.read_text()
    assert "What we know." in pointer.read_text()
    assert pages.read(pointer.read_bytes()).metadata["hit_count"] == 0
    before = files(place.wiki)
    assert build(place).changed == []
    assert files(place.wiki) == before
    archive(place, record(40, occurrence()))
    assert build(place, check=True).changed == []
    assert pages.read(kept.read_bytes()).metadata["hit_count"] == 5


def test_people_edit_both_sides_while_both_archive(place: Layout) -> None:
    _seen(place, range(2, 3))

    def edit(*changes: tuple[str, str]) -> None:
        page = _bug(place)
        text = page.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        page.write_text(text)

    def ours() -> None:
        edit(("owner: null", "owner: fifo team"), ("# RTL bug:", "# Overflow:"))
        _seen(place, range(3, 5))

    def theirs() -> None:
        edit(("- [ ] Workaround until then", "- [x] Workaround: slow clock\n\nmore words"))
        _seen(place, range(5, 7))

    _merge(place, ours, theirs)
    _assert_settled(place, runs=5)
    text = _bug(place).read_text()
    for words in ("owner: fifo team", "# Overflow:", "more words"):
        assert words in text


def test_what_people_have_to_settle_is_named_and_left(place: Layout) -> None:
    _seen(place, range(2, 3))

    def edit(owner: str, numbers: range) -> None:
        page = _bug(place)
        page.write_text(page.read_text().replace("status: open", f"status: {owner}"))
        _seen(place, numbers)

    _merge(place, lambda: edit("closed", range(3, 5)), lambda: edit("confirmed", range(5, 7)))
    ((name, reason), *_) = build(place).refused
    page = _bug(place)
    assert name == f"bugs/{page.name}"
    assert "settled by hand" in reason or "conflict" in reason
    text = page.read_text()
    assert text.count("<<<<<<< ") == 1
    assert "status: closed" in text
    assert "status: confirmed" in text
    start, end = text.index("<<<<<<< "), text.index(">>>>>>> ")
    stop = text.index("\n", end) + 1
    page.write_text(text[:start] + "status: closed\n" + text[stop:])
    assert build(place).refused == []
    assert pages.read(page.read_bytes()).metadata["hit_count"] == 5
