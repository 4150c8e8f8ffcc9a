"""git merges two branches that both archived runs, and after a build all counts are sums."""

from __future__ import annotations

from datetime import date
from itertools import product
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.records import git_conflicts
from pytest_dvwiki.upkeep.compact import compact
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.kinds.spec import Clarification
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build, merge

from ..samples import CAUSE, PRIMARY, failed, files, git, layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

LATER = date(2027, 6, 1)
STYLES = ("merge", "diff3", "zdiff3")


@pytest.fixture(params=STYLES)
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Layout:
    """Return a repository in which another cause was archived before the branches."""
    place = layout(tmp_path)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "config", "merge.conflictStyle", request.param)
    archive(place, record(1, occurrence("b" * 12)))
    return place


# For merges in which git writes no conflict into a file.
one_style = pytest.mark.parametrize("place", ["merge"], indirect=True)
# A person's edits of a bug page: the original text, and that of a branch.
EDITS = {
    "value": ("owner: null", "owner: team of {branch}"),
    "key": ("type: RTL_BUG", "ticket: {branch}-1\ntype: RTL_BUG"),
    "comment": ("spec_section: null", "spec_section: null  # asked by {branch}"),
    "title": ("# UVM_ERROR sb.sv:", "# {branch}:"),
    "symptom": ("\n## Resolution\n", "\nSeen by {branch}.\n\n## Resolution\n"),
    "notes": ("## Notes\n", "## Notes\n\nSee also what {branch} wrote.\n"),
    "resolution": (" has a workaround", " has a workaround of {branch}"),
}


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
    """Archive runs whose values depend on their numbers."""
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


def _assert_told_as_the_tool_s(place: Layout) -> None:
    """Check that after the merge, lint asks a person only to run `dvwiki build`."""
    found = lint(place, "full")
    assert found
    assert [each for each in found if not (each.is_settled_by_build or each.is_warning)] == []


def test_the_same_new_cause_on_both(place: Layout) -> None:
    _merge(place, lambda: _seen(place, range(2, 4)), lambda: _seen(place, range(4, 7)))
    _assert_told_as_the_tool_s(place)
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
        page.write_text(page.read_text().replace("## Resolution", "What we know.\n\n## Resolution"))

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


@pytest.mark.parametrize("merged_on_ours", [True, False])
def test_pages_are_merged_on_one_side_while_the_other_archives_both_causes(place: Layout, merged_on_ours: bool) -> None:
    other = "b" * 12
    _seen(place, range(2, 3))
    kept, given_up = _bug(place), _bug(place, other)

    def one() -> None:
        merge(place, f"bugs/{kept.name}", f"bugs/{given_up.name}", "same counter")

    def more() -> None:
        for number in range(3, 6):
            archive(place, record(number, occurrence(), occurrence(other)))

    _merge(place, one, more) if merged_on_ours else _merge(place, more, one)
    assert build(place).refused == []
    assert pages.read(kept.read_bytes()).metadata["hit_count"] == 5
    assert pages.read(kept.read_bytes()).metadata["fingerprint_aliases"] == [other]
    assert pages.read(given_up.read_bytes()).metadata["hit_count"] == 0
    assert b"<<<<<<<" not in b"".join(files(place.agent).values())
    assert build(place, check=True).changed == []


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
        edit(("owner: null", "owner: fifo team"), ("# UVM_ERROR sb.sv:", "# Overflow:"))
        _seen(place, range(3, 5))

    def theirs() -> None:
        edit((" has a workaround", " has a workaround: slow clock\n\nmore words"))
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
    assert reason.startswith("conflict in people's text; resolve it by hand: line ")
    text = page.read_text()
    assert text.count("<<<<<<< ") == 1
    assert "status: closed" in text
    assert "status: confirmed" in text
    start, end = text.index("<<<<<<< "), text.index(">>>>>>> ")
    stop = text.index("\n", end) + 1
    page.write_text(text[:start] + "status: closed\n" + text[stop:])
    assert build(place).refused == []
    assert pages.read(page.read_bytes()).metadata["hit_count"] == 5


@one_style
def test_a_page_deleted_on_one_stays_away_until_its_cause_occurs(place: Layout) -> None:
    _seen(place, range(2, 3))
    page = _bug(place)
    _merge(place, page.unlink, lambda: archive(place, record(4, occurrence("c" * 12))))
    assert build(place).refused == []
    assert not page.exists()
    assert build(place, check=True).changed == []
    _seen(place, range(5, 6))
    assert pages.read(_bug(place).read_bytes()).metadata["hit_count"] == 2


@one_style
def test_a_page_deleted_on_one_whose_cause_occurred_on_the_other_is_there_with_the_sums(place: Layout) -> None:
    _seen(place, range(2, 3))
    page = _bug(place)
    _merge(place, page.unlink, lambda: _seen(place, range(4, 6)))
    _assert_settled(place, runs=3)


def test_two_branches_that_both_began_a_wiki(tmp_path: Path) -> None:
    place = layout(tmp_path)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "README").write_text("a project")
    _merge(place, lambda: _seen(place, range(2, 4)), lambda: _seen(place, range(4, 7)))
    result = build(place)
    assert (result.refused, result.problems) == ([], [])
    assert pages.read(_bug(place).read_bytes()).metadata["hit_count"] == 5
    assert b"<<<<<<<" not in b"".join(files(place.agent).values())
    log = (place.wiki / "log.md").read_text()
    assert log.count(" ingest | ") == 5
    assert log.count("# DV Agentic Wiki Operation Log") == 1


@one_style
@pytest.mark.parametrize("before", [1, 2, 3, 5])
@pytest.mark.parametrize("ours_is_compacted", [True, False])
def test_one_side_compacted_a_month_to_which_the_other_added(
    place: Layout, before: int, *, ours_is_compacted: bool
) -> None:
    """If the folder had few records, git treats it as renamed to the month's file, and moves new records there."""
    _seen(place, range(2, 1 + before))
    sides = (lambda: compact(place, today=LATER), lambda: _seen(place, range(10, 12)))
    _merge(place, *(sides if ours_is_compacted else reversed(sides)))
    _assert_settled(place, runs=before + 1)
    assert not list(place.tasks.glob("2026/regression*"))


def test_both_sides_compacted_a_month(place: Layout) -> None:
    def side(numbers: range) -> None:
        _seen(place, numbers)
        compact(place, today=LATER)

    _merge(place, lambda: side(range(2, 5)), lambda: side(range(5, 7)))
    _assert_told_as_the_tool_s(place)
    _assert_settled(place, runs=5)


def test_both_sides_compacted_a_month_again(place: Layout) -> None:
    def side(numbers: range) -> None:
        _seen(place, numbers)
        compact(place, today=LATER)

    side(range(2, 4))
    _merge(place, lambda: side(range(10, 13)), lambda: side(range(13, 15)))
    _assert_settled(place, runs=7)


def test_a_conflict_in_a_spec_page_is_named(place: Layout) -> None:
    def told(text: str, number: int) -> Callable[[], object]:
        clarification = Clarification(feature="burst", kind="ambiguous", text=text, date="2026-11-21", task_id="x")
        return lambda: archive(place, record(number), clarification=clarification)

    _merge(place, told("Bursts wrap.", 2), told("Bursts stop.", 3))
    ((name, reason),) = build(place).refused
    assert name == "specs/burst_clarification.md"
    assert "resolve it by hand: line" in reason


@pytest.mark.slow
@one_style
def test_of_49_pairs_of_edits_no_conflict_mixes_lines_of_the_tool_and_of_people(place: Layout) -> None:
    """Both sides archive the page's cause, and a person edits it on each; the conflict styles alternate."""
    _seen(place, range(2, 3))
    page = _bug(place)
    _commit(place, "base")
    for branch, numbers in (("ours", range(3, 5)), ("theirs", range(5, 8))):
        git(place.root, "checkout", "--quiet", "-B", branch, "main")
        _seen(place, numbers)
        _commit(place, f"{branch} archives")
        for name, (old, new) in EDITS.items():
            git(place.root, "checkout", "--quiet", "-B", f"{branch}-{name}", branch)
            text = page.read_text()
            assert old in text
            page.write_text(text.replace(old, new.format(branch=branch), 1))
            _commit(place, name)
    for number, (ours, theirs) in enumerate(product(EDITS, EDITS)):
        git(place.root, "checkout", "--quiet", "--force", "-B", "merged", f"ours-{ours}")
        git(place.root, "-c", f"merge.conflictStyle={STYLES[number % 3]}", "merge", f"theirs-{theirs}", check=False)
        _no_hunk_mixes(page.read_text())
        build(place)
        text = page.read_text()
        left = [part for part in git_conflicts.split(text) if isinstance(part, git_conflicts.Hunk)]
        assert len(left) <= 1, (ours, theirs)
        if left:
            page.write_text(text.replace(left[0].whole, left[0].ours))
            assert build(place).refused == [], (ours, theirs)
        text = page.read_text()
        for branch, name in (("ours", ours), ("theirs", theirs)):
            words = EDITS[name][1].format(branch=branch).strip()
            assert words in text or (left and branch == "theirs"), (ours, theirs, words)
        assert pages.read(page.read_bytes()).metadata["hit_count"] == 6, (ours, theirs)


def _no_hunk_mixes(text: str) -> None:
    parts = git_conflicts.split(text)
    for hunk in parts:
        if not isinstance(hunk, git_conflicts.Hunk):
            continue
        both = [
            "".join(part if isinstance(part, str) else side if part is hunk else part.ours for part in parts).encode()
            for side in (hunk.ours, hunk.theirs)
        ]
        people = [pages.skeleton(data, bug.OWNED) for data in both]
        tool = [([pages.read(data).metadata.get(key) for key in bug.OWNED], pages.regions(data)) for data in both]
        assert not any(isinstance(skeleton, pages.Refused) for skeleton in people)
        assert (people[0] == people[1]) != (tool[0] == tool[1]), hunk.whole
