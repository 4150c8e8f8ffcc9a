"""People merge two pages: one gets all runs, people's text stays, and the merge can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.cli import main
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.supersession import MergeError
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build, merge

from ..samples import CAUSE, PRIMARY, files, git, layout, occurrence, passing, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

RENAMED = "a" * 12
THIRD = "c" * 12


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    """Return a wiki with a cause in three runs, and in two more under another file name."""
    place = layout(tmp_path)
    for number in (1, 2, 3):
        archive(place, record(number, occurrence()))
    for number in (4, 5):
        archive(place, record(number, renamed()))
    return place


def renamed(fingerprint: str = RENAMED) -> Any:
    return occurrence(fingerprint, primary=PRIMARY.replace("sb.sv", "scoreboard.sv"))


def page_of(place: Layout, fingerprint: str = CAUSE) -> str:
    """Return the page of a fingerprint."""
    for page in sorted((place.wiki / "bugs").glob("RTL_*.md")):
        if pages.read(page.read_bytes()).metadata["fingerprint"] == fingerprint:
            return f"bugs/{page.name}"
    raise AssertionError(fingerprint)


def name_of(place: Layout, fingerprint: str = CAUSE) -> str:
    return page_of(place, fingerprint).removeprefix("bugs/").removesuffix(".md")


def keys(place: Layout, path: str) -> dict[str, Any]:
    return pages.read((place.wiki / path).read_bytes()).metadata


def change(place: Layout, path: str, old: str, new: str) -> None:
    text = (place.wiki / path).read_text("utf-8")
    assert old in text
    (place.wiki / path).write_text(text.replace(old, new, 1), "utf-8")


def test_the_page_that_stays_counts_the_runs_of_both(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    assert merge(place, kept, other, "the file was renamed").refused == []
    found = keys(place, kept)
    assert (found["hit_count"], found["occurrence_count"], found["corroborations"]) == (5, 5, 4)
    assert found["fingerprint_aliases"] == [RENAMED]
    assert found["aliases"] == [name_of(place, RENAMED)]
    assert (keys(place, other)["hit_count"], keys(place, other)["stale"]) == (0, True)


def test_the_pattern_page_counts_them_as_one_cause(place: Layout) -> None:
    page = place.wiki / "patterns" / "scoreboard_fail.md"
    for number, fingerprint in enumerate((CAUSE, RENAMED), 10):
        archive(place, passing(number, fingerprint))
    assert "(2 causes in all)" in page.read_text("utf-8")
    assert page.read_text("utf-8").count("| open |") == 2
    merge(place, page_of(place), page_of(place, RENAMED))
    assert "(one cause in all)" in page.read_text("utf-8")
    assert page.read_text("utf-8").partition("First cause")[2].partition("Fixes")[0].count("| [RTL_") == 1
    assert page.read_text("utf-8").count("| open |") == 1
    assert build(place, check=True).changed == []
    with WikiHistory(place) as history:
        known = history.subtype("scoreboard_fail")
    assert known is not None
    assert (known.held, known.failed) == (0, 0)


def test_so_does_the_page_of_what_both_were_called_before(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, *(occurrence(each, failure_subtype="timeout") for each in (CAUSE, RENAMED))))
    archive(place, record(2, occurrence(), renamed()))
    merge(place, page_of(place), page_of(place, RENAMED))
    assert "one cause in all" in (place.wiki / "patterns" / "timeout.md").read_text("utf-8")
    assert build(place, check=True).changed == []


def test_a_page_that_names_the_one_given_up_names_the_one_that_stays(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence(), renamed(), renamed(THIRD)))
    for number in range(2, 7):
        archive(place, passing(number))
    proposed = place.wiki / page_of(place, THIRD)
    assert name_of(place) in proposed.read_text("utf-8")
    merge(place, page_of(place, RENAMED), page_of(place))
    assert name_of(place, RENAMED) in proposed.read_text("utf-8")
    assert build(place, check=True).changed == []


def test_both_say_so_with_the_reason(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    merge(place, kept, other, "the file was renamed")
    assert keys(place, kept)["supersedes"] == name_of(place, RENAMED)
    assert keys(place, other)["superseded_by"] == name_of(place)
    assert keys(place, other)["superseded_reason"] == "the file was renamed"
    assert f"[{name_of(place)}]({name_of(place)}.md) (the file was renamed)" in (place.wiki / other).read_text("utf-8")
    assert f"({name_of(place, RENAMED)}.md): merged into this page: the file was renamed" in (
        place.wiki / kept
    ).read_text("utf-8")
    (row,) = [line for line in (place.wiki / "index.md").read_text("utf-8").splitlines() if f"({other})" in line]
    assert "| superseded |" in row
    assert lint(place, "full") == []


def test_what_people_wrote_on_either_stays_there(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    change(place, kept, "owner: null", "owner: fifo team  # since May")
    change(place, other, "## Resolution", "We saw it on the bench too.\n\n## Resolution")
    change(place, other, "## Notes", "- [x] Workaround: slow the clock down\n\n## Notes")
    merge(place, kept, other)
    assert "owner: fifo team  # since May" in (place.wiki / kept).read_text("utf-8")
    text = (place.wiki / other).read_text("utf-8")
    assert "We saw it on the bench too." in text
    assert "slow the clock down" in text
    before = [pages.skeleton((place.wiki / path).read_bytes(), bug_keys()) for path in (kept, other)]
    archive(place, record(6, occurrence(), renamed()))
    assert [pages.skeleton((place.wiki / path).read_bytes(), bug_keys()) for path in (kept, other)] == before


def bug_keys() -> tuple[str, ...]:
    from pytest_dvwiki.wiki.kinds.bug import OWNED  # noqa: PLC0415

    return OWNED


def test_what_people_wrote_on_the_page_given_up_is_found_and_told_with_the_one_that_stays(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    change(place, other, "## Notes", "- [x] Workaround: slow the zebra clock down\n\n## Notes")
    merge(place, kept, other)
    for text in (gather(place, query="zebra").text, gather(place, test="tests/test_fifo.py::test_fifo").text):
        assert f"**{name_of(place)}**" in text
        assert f"**{name_of(place, RENAMED)}**" not in text
        assert "slow the zebra clock down" in text


def test_later_runs_of_both_names_count_on_the_page_that_stays(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    merge(place, kept, other)
    done = archive(place, record(6, renamed()))
    assert done.page_of == {RENAMED: kept}
    assert keys(place, kept)["hit_count"] == 6
    archive(place, passing(7, RENAMED))
    assert "fifo: reset the read pointer" in (place.wiki / kept).read_text("utf-8")
    with WikiHistory(place) as history:
        for fingerprint in (CAUSE, RENAMED):
            known = history.cause(fingerprint)
            assert known is not None
            assert known.page is not None
            assert known.history is not None
            assert (known.page.path, known.history.runs) == (kept, 6)
    assert build(place, check=True).changed == []


def test_what_people_decided_on_a_page_of_two_names_counts_once(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    merge(place, kept, other)
    change(place, kept, "status: open", "status: confirmed")
    with WikiHistory(place) as history:
        assert history.decisions("uvm.scoreboard_mismatch", THIRD) == {"RTL_BUG": 1}
        assert history.decisions("uvm.scoreboard_mismatch", RENAMED) == {}


def test_build_keeps_it_so_and_makes_the_same_bytes_from_nothing_but_peoples_keys(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    merge(place, kept, other)
    before = files(place.wiki)
    assert build(place, check=True).changed == []
    change(place, kept, f"fingerprint_aliases: [{RENAMED}]", "fingerprint_aliases: []")
    change(place, kept, "hit_count: 5", "hit_count: 9")
    assert build(place).refused == []
    after = files(place.wiki)
    del before["log.md"], after["log.md"]
    assert after == before


def test_a_person_may_merge_by_hand(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    change(place, other, "owner: null", f"owner: null\nsuperseded_by: {name_of(place)}")
    change(place, other, "owner: null", "owner: null\nsuperseded_reason: the file was renamed")
    change(place, kept, "owner: null", f"owner: null\nsupersedes: {name_of(place, RENAMED)}")
    build(place)
    assert (keys(place, kept)["hit_count"], keys(place, other)["hit_count"]) == (5, 0)
    assert lint(place, "full") == []


@pytest.mark.parametrize("by_hand", [True, False])
def test_it_can_be_undone(place: Layout, by_hand: bool) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    git(place.root, "init", "--quiet")
    commit(place)
    before = files(place.wiki)
    merge(place, kept, other, "the file was renamed")
    commit(place)
    if by_hand:
        change(place, other, f'superseded_by: "{name_of(place)}"\n', "")
        change(place, other, 'superseded_reason: "the file was renamed"\n', "")
        change(place, kept, f'supersedes: "{name_of(place, RENAMED)}"\n', "")
        build(place)
    else:
        git(place.root, "revert", "--no-edit", "HEAD")
    after = files(place.wiki)
    del before["log.md"], after["log.md"]
    assert after == before
    assert build(place, check=True).changed == []


def commit(place: Layout) -> None:
    git(place.root, "add", "--all")
    git(place.root, "commit", "--quiet", "--message", "more")


def test_a_revert_after_further_runs_is_settled_by_build(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    git(place.root, "init", "--quiet")
    commit(place)
    merge(place, kept, other)
    commit(place)
    archive(place, record(6, occurrence(), renamed()))
    commit(place)
    git(place.root, "revert", "--no-edit", "HEAD~1", check=False)
    assert build(place).refused == []
    assert (keys(place, kept)["hit_count"], keys(place, other)["hit_count"]) == (4, 3)
    assert keys(place, kept)["fingerprint_aliases"] == []
    assert build(place, check=True).changed == []


def test_a_page_takes_in_several_and_those_that_they_had_taken_in(place: Layout) -> None:
    archive(place, record(7, renamed(THIRD)))
    archive(place, record(8, renamed("d" * 12)))
    first, second, third, fourth = (page_of(place, each) for each in (CAUSE, RENAMED, THIRD, "d" * 12))
    merge(place, second, third)
    merge(place, first, second)
    merge(place, first, fourth)
    assert keys(place, first)["supersedes"] == [name_of(place, RENAMED), name_of(place, "d" * 12)]
    assert keys(place, first)["hit_count"] == 7
    assert keys(place, first)["fingerprint_aliases"] == sorted([RENAMED, THIRD, "d" * 12])
    assert [keys(place, path)["hit_count"] for path in (second, third, fourth)] == [0, 0, 0]
    assert build(place, check=True).changed == []
    assert lint(place, "full") == []


def test_the_same_merge_again_changes_nothing(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    merge(place, kept, other, "the file was renamed")
    before = files(place.wiki)
    assert merge(place, kept, other).changed == []
    assert files(place.wiki) == before


def test_what_cannot_be_merged_is_refused_and_nothing_written(place: Layout) -> None:
    archive(place, record(7, renamed(THIRD)))
    first, second, third = (page_of(place, each) for each in (CAUSE, RENAMED, THIRD))
    own = "bugs/our_own.md"
    (place.wiki / own).write_text("---\nstatus: open\n---\n# Ours\n", "utf-8")
    merge(place, first, second)
    before = files(place.wiki)
    refused = [
        (first, first, "cannot be merged with itself"),
        (first, "patterns/scoreboard_fail.md", "different categories"),
        ("patterns/scoreboard_fail.md", "patterns/scoreboard_fail.md", "cannot be merged with itself"),
        (second, first, "already supersedes it"),
        (second, third, f"is already superseded by {name_of(place)}; merge into that page"),
        (third, second, f"is already superseded by {name_of(place)}; merge that page"),
        (first, "bugs/gone.md", "there is no such page"),
        (first, own, "has no fingerprint"),
    ]
    for kept, other, reason in refused:
        with pytest.raises(MergeError, match=reason):
            merge(place, kept, other)
    assert files(place.wiki) == before


def test_only_bug_pages_can_be_merged(place: Layout) -> None:
    archive(place, record(7, occurrence(THIRD, failure_subtype="timeout")))
    with pytest.raises(MergeError, match="only bug pages can be merged: each subtype has its own page"):
        merge(place, "patterns/timeout.md", "patterns/scoreboard_fail.md")


def test_a_page_whose_keys_cannot_be_edited_stops_the_merge_before_anything_is_written(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    change(place, kept, "owner: null", "owner: null\nsupersedes: &anchor null")
    before = files(place.wiki)
    with pytest.raises(MergeError, match="cannot be edited: the value of supersedes has an anchor"):
        merge(place, kept, other)
    assert files(place.wiki) == before


def test_two_pages_that_lead_to_each_other_lose_no_run_and_are_told_of(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    merge(place, kept, other, "one")
    change(place, kept, "owner: null", f"owner: null\nsuperseded_by: {name_of(place, RENAMED)}")
    change(place, kept, "owner: null", "owner: null\nsuperseded_reason: two")
    change(place, other, "owner: null", f"owner: null\nsupersedes: {name_of(place)}")
    build(place)
    assert sorted(keys(place, path)["hit_count"] for path in (kept, other)) == [0, 5]
    assert build(place, check=True).changed == []
    assert [(each.page, each.kind) for each in lint(place, "full")] == [(kept, "schema"), (other, "schema")]


# The command


def test_the_command_takes_names_paths_and_fingerprints(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    change(place, other, "status: open", "status: closed")
    assert main(["merge", CAUSE[:6], str(place.wiki / other), "--reason", "renamed", "--root", str(place.root)]) == 0
    out = capsys.readouterr().out
    assert f"{other} is superseded by {kept}, which counts 5 runs now (3 + 2)" in out
    assert f"to undo it: `dvwiki merge --undo {name_of(place)} {name_of(place, RENAMED)}`" in out
    assert f"the status stays 'open', as on {name_of(place)}; on {name_of(place, RENAMED)} it was 'closed'" in out
    assert (place.wiki / "log.md").read_text("utf-8").endswith(f" merge | - | {other} into {kept}: renamed\n")
    assert main(["merge", name_of(place), name_of(place, RENAMED), "--root", str(place.root)]) == 0
    assert capsys.readouterr().out == f"{other} is already superseded by {kept}\n"


def test_the_command_counts_a_run_of_both_once_and_warns_of_two_kinds(
    place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    archive(place, record(90, occurrence(), occurrence(THIRD, error_class="timeout", failure_subtype="no_answer")))
    kept, other = name_of(place), name_of(place, THIRD)
    runs = [keys(place, f"bugs/{name}.md")["hit_count"] for name in (kept, other)]
    assert main(["merge", kept, other, "--root", str(place.root)]) == 0
    out = capsys.readouterr().out
    now = keys(place, f"bugs/{kept}.md")["hit_count"]
    assert now < sum(runs)
    assert f"which counts {now} runs now ({runs[0]} + {runs[1]}, both causes in {sum(runs) - now})" in out
    assert f"warning: {kept} is uvm_error / scoreboard_fail and {other} is timeout / no_answer; " in out


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("RTL_20261121_20573", "aaaa"), "no page has this name or fingerprint; nearest: RTL_"),
        (("9b1f", "nothing"), "no page has this name or fingerprint; see index.md for all pages"),
        (("9b1f", "9b1f03c2a7d4"), "cannot be merged with itself"),
    ],
)
def test_a_mistake_in_the_call_is_told_in_one_line(
    place: Layout, capsys: pytest.CaptureFixture[str], names: tuple[str, str], said: str
) -> None:
    before = files(place.wiki)
    assert main(["merge", *names, "--root", str(place.root)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert files(place.wiki) == before


def test_a_name_that_a_page_had_finds_it(place: Layout) -> None:
    kept, other = page_of(place), page_of(place, RENAMED)
    gone = name_of(place, RENAMED)
    merge(place, kept, other)
    (place.wiki / other).unlink()
    build(place)
    assert keys(place, kept)["aliases"] == [gone]
    found = WikiSearchIndex.create("bm25", place.wiki).search(gone)
    assert found[0].page_path == kept
    change(place, kept, "## Resolution", f"As in [it]({gone}.md).\n\n## Resolution")
    (finding,) = [each for each in lint(place, "full") if each.kind == "broken_link"]
    assert finding.text == f"{gone}.md does not exist, relative to {kept}; its cause is now documented in {kept}"
    archive(place, record(7, occurrence(THIRD)))
    assert main(["merge", gone, THIRD, "--root", str(place.root)]) == 0
    assert keys(place, kept)["hit_count"] == 6
