"""The archive's answers about a cause, a subtype and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.causes.cause import PageFacts
from pytest_dvwiki.model import Origin
from pytest_dvwiki.wiki.page_files import list_pages
from pytest_dvwiki.wiki.page_summary import CATEGORIES
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, TEST, archived, layout, now_passing, occurrence, passing, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    return layout(tmp_path)


def _edit(place: Layout, old: str, new: str) -> None:
    (page,) = (place.wiki / "bugs").glob("RTL*")
    page.write_text(page.read_text().replace(old, new))


def test_a_missing_wiki_knows_nothing_and_stays_missing(place: Layout) -> None:
    with WikiHistory(place) as history:
        assert history.cause(CAUSE) is None
        assert history.subtype("scoreboard_fail") is None
        assert history.still_failing([now_passing()]) == ()
        assert history.fix_template("scoreboard_fail") == ""
        assert not history.regressed(occurrence())
    assert not place.agent.exists()


def test_a_cause_is_known_with_its_page(place: Layout) -> None:
    result = archive(place, record(1, occurrence()))
    archive(place, record(2, occurrence()))
    with WikiHistory(place) as history:
        known = history.cause(CAUSE)
    assert known is not None
    assert known.history is not None
    assert (known.history.runs, known.history.tests, known.history.first_seen) == (2, 2, "2026-11-21T01:10:00Z")
    assert known.page == PageFacts(path=result.page_of[CAUSE], status="open", type="RTL_BUG")
    assert known.newest_fix is None


def test_people_have_the_last_word(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    _edit(place, "type: RTL_BUG", "type: TB_BUG")
    _edit(place, "status: open", "status: wont_fix")
    with WikiHistory(place) as history:
        known = history.cause(CAUSE)
        assert known is not None
        assert known.page is not None
        assert (known.page.type, known.page.status) == ("TB_BUG", "wont_fix")
        assert history.still_failing([now_passing()]) == ()


def test_a_closed_cause_still_learns_what_it_passed_with(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    _edit(place, "status: open", "status: closed")
    with WikiHistory(place) as history:
        assert [each.fingerprint for each in history.still_failing([now_passing()])] == [CAUSE]


def test_the_fix_template_is_what_its_page_says(place: Layout) -> None:
    archive(place, record(1, occurrence(), occurrence("b" * 12, failure_subtype="our_own")))
    with WikiHistory(place) as history:
        assert history.fix_template("scoreboard_fail").startswith("Reproduce with the same seed")
        assert history.fix_template("our_own") == ""


def test_a_cause_is_known_by_a_fingerprint_that_it_had_before(place: Layout) -> None:
    archive(place, record(1, occurrence("a" * 12)))
    _edit(place, "fingerprint_aliases: []", f'fingerprint_aliases: ["{CAUSE}"]')
    result = archive(place, record(2, occurrence()))
    assert result.pages_created == []
    with WikiHistory(place) as history:
        known = history.cause(CAUSE)
    assert known is not None
    assert known.history is not None
    assert known.history.runs == 2


def test_a_closed_page_makes_a_regression(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    with WikiHistory(place) as history:
        assert not history.regressed(occurrence())
    _edit(place, "status: open", "status: closed")
    with WikiHistory(place) as history:
        assert history.regressed(occurrence())


def test_a_fix_that_held_makes_a_regression(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    archive(place, passing(2))
    for number in (3, 4, 5):
        with WikiHistory(place) as history:
            assert not history.regressed(occurrence())
        archived(place, record(number), [TEST])
    with WikiHistory(place) as history:
        assert history.regressed(occurrence())
        known, kind = history.cause(CAUSE), history.subtype("scoreboard_fail")
    assert known is not None
    assert known.held_fix is not None
    assert known.fix_counts == (1, 0)
    assert kind is not None
    assert kind.held_fix == known.held_fix
    assert (kind.held, kind.runs) == (1, 1)


def test_what_was_archived_since_is_seen_after_a_refresh(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    with WikiHistory(place) as history:
        assert history.cause(CAUSE) is not None
        archive(place, record(2, occurrence("c" * 12)))
        history.refresh()
        assert history.cause("c" * 12) is not None


def test_a_fault_of_a_tool_is_known_without_a_page(place: Layout) -> None:
    archive(place, record(1, occurrence(origin=Origin(type="TOOL", confidence=0.9))))
    with WikiHistory(place) as history:
        known = history.cause(CAUSE)
    assert known is not None
    assert known.page is None
    assert known.occurrence.origin.type == "TOOL"


def test_a_page_that_was_archived_after_somebody_looked_stays_known(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    with WikiHistory(place) as history:
        listing = list_pages(place.wiki, CATEGORIES)
        archive(place, record(2, occurrence("c" * 12)))
        history.refresh(listing)
        assert len(history.bug_pages("c" * 12)) == 1
        (place.wiki / history.bug_pages("c" * 12)[0].path).unlink()
        history.refresh(list_pages(place.wiki, CATEGORIES))
        assert history.bug_pages("c" * 12) == []
