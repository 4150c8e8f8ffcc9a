"""A fix that held is proposed for other causes of its pattern, with the places where it held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.agent.query import WikiQueryService
from pytest_dvwiki.model import Vcs
from pytest_dvwiki.records import proposals
from pytest_dvwiki.records.store import write_suite
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import archive, build

from .. import samples
from ..samples import CAUSE, TEST, failed, fixed, layout, occurrence, passing, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.settings import Layout

OTHER = "b" * 12
PROPOSED = "A proposal, not tried for this cause: a fix like `0000000` fifo: reset the read pointer; it held for "


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    """Return two open causes of one pattern."""
    place = layout(tmp_path)
    add(place, record(1, occurrence(), occurrence(OTHER, tests=(failed("other"),))))
    return place


def add(place: Layout, *runs: RunRecord) -> None:
    for run in runs:
        archive(place, run)
        assert build(place, check=True).changed == [], "what was archived is what a build makes"


def ran(place: Layout, number: int, *names: str, branch: str = "main") -> RunRecord:
    write_suite(place.tasks, names)
    return record(number, suites=samples.suites(*names), vcs=Vcs(commit=f"{number:040x}", branch=branch))


def hold(place: Layout, first: int = 2) -> None:
    add(place, passing(first), *(ran(place, first + number, TEST) for number in (1, 2, 3)))


def page(place: Layout, fingerprint: str) -> str:
    with WikiHistory(place) as history:
        (listed,) = history.bug_pages(fingerprint)
    return (place.wiki / listed.path).read_text(encoding="utf-8")


def name(place: Layout, fingerprint: str) -> str:
    with WikiHistory(place) as history:
        return history.bug_pages(fingerprint)[0].name


def test_a_fix_that_held_is_proposed_to_open_causes_of_its_pattern(place: Layout) -> None:
    add(place, passing(2))
    assert PROPOSED not in page(place, OTHER), "nobody knows yet whether it holds"
    add(place, *(ran(place, number, TEST) for number in (3, 4, 5)))
    link = f"[{name(place, CAUSE)}]({name(place, CAUSE)}.md)"
    told = f"{PROPOSED}{link}, which the pattern `uvm.scoreboard_mismatch` matches too."
    assert told in page(place, OTHER)
    assert f"(source: tasks/{passing(2).task_id}.yaml)" in page(place, OTHER).partition(told)[2].partition("\n")[0]
    assert PROPOSED not in page(place, CAUSE)


def test_a_fix_is_not_proposed_to_another_cause_of_its_check(tmp_path: Path) -> None:
    """That cause made the check fail although the fix was in place."""
    place = layout(tmp_path)
    other = f"{CAUSE}/{record(1).task_id}/2"
    add(place, record(1, occurrence(), occurrence(other, tests=(failed("other"),)), schema=2))
    hold(place)
    assert "A proposal" not in page(place, other)


def test_prompts_mark_it_as_a_proposal_with_its_page(place: Layout) -> None:
    hold(place)
    text = WikiQueryService(WikiConfig(enabled=True, wiki_dir=place.wiki, max_context_tokens=4000)).get_known_rtl_bugs()
    fix = "A proposal, not tried for this cause: a fix like 0000000 `fifo: reset the read pointer`"
    told = f"{fix}; it held for bugs/{name(place, CAUSE)}.md, which the pattern uvm.scoreboard_mismatch matches too."
    assert told in text, text


def test_a_cause_of_another_pattern_or_with_a_fix_of_its_own_gets_none(place: Layout) -> None:
    add(place, record(2, occurrence("c" * 12, pattern="sim.timeout"), occurrence("d" * 12, pattern=None)))
    add(place, passing(3, fingerprint=OTHER, nodeid="other"))
    hold(place, 4)
    for fingerprint in (OTHER, "c" * 12, "d" * 12):
        assert PROPOSED not in page(place, fingerprint)


@pytest.mark.parametrize(
    ("changes", "is_proposed"),
    [
        ({"reads": ("rtl/fifo.sv", "tb/test_other.py")}, True),
        ({"reads": ("rtl/other.sv", "tb/test_other.py")}, False),
        ({"reads": ("rtl/other.sv",), "error_class": "compile_error"}, True),
        ({"reads": ()}, True),
    ],
    ids=["read", "not read", "not read by a build", "unknown"],
)
def test_a_fix_of_files_that_a_simulation_does_not_read_is_not_proposed_to_its_failed_check(
    place: Layout, changes: dict[str, Any], is_proposed: bool
) -> None:
    again = fixed(2, files=["rtl/fifo.sv"], file_count=1)
    add(place, passing(2, fixes=(again,)), *(ran(place, number, TEST) for number in (3, 4, 5)))
    add(place, record(7, occurrence("e" * 12, tests=(failed("third"),), **changes)))
    assert (PROPOSED in page(place, "e" * 12)) is is_proposed


def test_commits_that_did_not_fix_the_cause_for_good_are_not_proposed_to_it(place: Layout) -> None:
    add(place, passing(2, fingerprint=OTHER, nodeid="other"), record(3, occurrence(OTHER, tests=(failed("other"),))))
    same = fixed(4, log=fixed(2)["log"])
    add(place, passing(4, fixes=(same,)), *(ran(place, number, TEST) for number in (5, 6, 7)))
    assert PROPOSED not in page(place, OTHER)


@pytest.mark.parametrize("commits", [{"log": [], "log_count": 0}, {}], ids=["alone", "or a commit"])
def test_edits_that_were_never_committed_are_not_proposed(place: Layout, commits: dict[str, Any]) -> None:
    note = "dropping the uncommitted changes in rtl/fifo.sv"
    edits = fixed(2, note=note, **commits)
    add(place, passing(2, fixes=(edits,)), *(ran(place, number, TEST) for number in (3, 4, 5)))
    assert note in page(place, CAUSE)
    assert "A proposal" not in page(place, OTHER)


def test_a_fix_that_no_longer_holds_is_taken_back(place: Layout) -> None:
    hold(place)
    add(place, record(7, occurrence()))
    assert PROPOSED not in page(place, OTHER)


def test_a_new_cause_gets_the_proposal_at_once(place: Layout) -> None:
    hold(place)
    add(place, record(7, occurrence("e" * 12, tests=(failed("third"),))))
    assert PROPOSED in page(place, "e" * 12)


def test_a_new_cause_takes_the_proposal_from_nobody(place: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "LAST_SEEN", 2)
    hold(place)
    for number, fingerprint in enumerate("ef12", 7):
        run = record(number, occurrence(fingerprint * 12, tests=(failed(fingerprint),)))
        result = archive(place, run)
        assert [path.split("/")[0] for path in (*result.pages_created, *result.pages_updated)] == ["bugs", "patterns"]
        assert PROPOSED in page(place, fingerprint * 12)
    assert PROPOSED in page(place, OTHER)
    assert build(place, check=True).changed == []


def test_a_fix_is_not_proposed_to_who_was_long_gone_when_it_came(
    place: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposals, "LAST_SEEN", 2)
    add(place, *(record(2 + number, occurrence(name * 12, tests=(failed(name),))) for number, name in enumerate("ef")))
    hold(place, 4)
    assert [PROPOSED in page(place, name) for name in (OTHER, "e" * 12, "f" * 12)] == [False, True, True]
    add(place, record(9, occurrence(OTHER, tests=(failed("other"),))))
    assert PROPOSED in page(place, OTHER), "it is back"


def test_a_fix_names_other_causes_that_its_commits_fixed(place: Layout) -> None:
    add(place, passing(2))
    same = fixed(3, OTHER, log=fixed(2)["log"])
    add(place, passing(3, fingerprint=OTHER, nodeid="other", fixes=(same,)))
    for mine, theirs in ((CAUSE, OTHER), (OTHER, CAUSE)):
        link = f"[{name(place, theirs)}]({name(place, theirs)}.md)"
        assert f"The commits of the newest fix also fixed other causes: {link}." in page(place, mine)
    add(place, record(4, occurrence(OTHER, tests=(failed("other"),))))
    assert "fixed other causes" not in page(place, CAUSE)


def test_one_of_several_commits_that_may_have_fixed_a_cause_did_not_fix_another_one(place: Layout) -> None:
    add(place, passing(2))
    log = fixed(2)["log"]
    wider = fixed(3, OTHER, log=[*log, "5c5c5c5 other: more"], log_count=len(log) + 1)
    add(place, passing(3, fingerprint=OTHER, nodeid="other", fixes=(wider,)))
    assert "fixed other causes" not in page(place, CAUSE) + page(place, OTHER)


def test_a_fix_tells_on_which_branches_and_in_how_many_other_tests_it_was_seen(tmp_path: Path) -> None:
    place = layout(tmp_path)
    tests = tuple(failed(each) for each in (TEST, "t2", "t3"))
    again = (samples.again(),)
    add(place, record(1, occurrence(tests=tests)), passing(2, passed_again=again))
    add(place, ran(place, 3, TEST), ran(place, 4, TEST, "t2", branch="release"), ran(place, 5, TEST))
    assert "; on `main`, `release`; 1 of 2 other tests of the cause passed, too |" in page(place, CAUSE)
    add(place, ran(place, 6, "t3", branch="later"))
    assert "1 of 2 other tests" in page(place, CAUSE), "what held stays as it is"
