from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.upkeep.accept import accept
from pytest_dvwiki.wiki.review import ReviewError, ReviewQueue

from ..samples import layout

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

PAGE = "---\ntype: spec\nfeature: burst\n---\n\n# Bursts\n\n---\n\ntext: [\n"


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    return layout(tmp_path)


def test_a_proposal_is_read_back_as_it_was_made(place: Layout) -> None:
    made = ReviewQueue(place).propose(
        "page",
        "specs/burst",
        PAGE,
        by="agent",
        reason="seen: it\nfailed # twice",
        base="12ab",
        sources=["tasks/a.yaml"],
    )
    (read,) = ReviewQueue(place).pending()
    assert read == made
    assert (read.text, read.reason, read.sources) == (PAGE.strip(), "seen: it failed # twice", ("tasks/a.yaml",))
    assert ReviewQueue(place).get(made.id[:4]) == made


def test_the_same_proposal_is_made_once_and_stays_decided(place: Layout) -> None:
    queue = ReviewQueue(place)
    first = queue.propose("merge", "bugs/a", "bugs/b", by="agent", reason="alike")
    assert queue.propose("merge", "bugs/a", "bugs/b\n", by="librarian", reason="again") == first
    assert queue.propose("merge", "bugs/a", "bugs/c", by="agent", reason="alike").id != first.id
    decided = queue.decide(first.id, "rejected", by="Ann", note="two\nchecks")
    assert (decided.decision, decided.decided_by, decided.note) == ("rejected", "Ann", "two checks")
    assert queue.propose("merge", "bugs/a", "bugs/b", by="agent", reason="alike") == decided
    assert [each.text for each in queue.pending()] == ["bugs/c"]
    with pytest.raises(ReviewError, match=f"{first.id} was already rejected by Ann on 2026-11-22"):
        queue.decide(first.id, "accepted", by="Bob")
    with pytest.raises(ReviewError, match="was already rejected by Ann"):
        queue.edit(first.id, "x", by="Bob")


def test_an_edited_text_keeps_its_id_and_says_who_edited_it(place: Layout) -> None:
    queue = ReviewQueue(place)
    first = queue.propose("drift", "bugs/a", "it is gone", by="librarian", reason="r")
    queue.edit(first.id, "password=hunter2hunter2 it moved", by="Ann")
    read = queue.get(first.id)
    assert (read.edited_by, read.decision) == ("Ann", None)
    assert "it moved" in read.text
    assert "hunter2" not in read.text
    assert queue.propose("drift", "bugs/a", "it is gone", by="librarian", reason="r") == read


def test_a_file_that_cannot_be_read_is_named_and_hides_no_other(place: Layout) -> None:
    queue = ReviewQueue(place)
    good = queue.propose("drift", "bugs/a", "it is gone", by="librarian", reason="r")
    for name, text in (("bad1", "---\nkind: [\n---\n"), ("bad2", "---\nkind: poem\n---\nx\n")):
        (place.wiki / "review" / f"{name}.md").write_text(text, "utf-8")
    assert queue.pending() == [good]
    first, second = queue.problems()
    assert first.startswith("review/bad1.md:")
    assert "kind 'poem' is unknown; write one of page, section" in second
    with pytest.raises(ReviewError, match="kind 'poem' is unknown"):
        queue.get("bad2")
    with pytest.raises(ReviewError, match="no proposal 'zz'"):
        queue.get("zz")


def test_a_proposal_without_a_text_is_refused(place: Layout) -> None:
    with pytest.raises(ReviewError, match="needs a target and a text"):
        ReviewQueue(place).propose("page", "specs/burst", " \n", by="agent", reason="r")


def test_a_folder_that_leads_out_of_the_wiki_is_not_written(place: Layout, tmp_path: Path) -> None:
    place.wiki.mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (place.wiki / "review").symlink_to(tmp_path / "out")
    with pytest.raises(WikiError, match="leads out of the wiki"):
        ReviewQueue(place).propose("drift", "bugs/a", "text", by="agent", reason="r")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_finding_that_is_accepted_is_written_down(place: Layout) -> None:
    made = ReviewQueue(place).propose("drift", "bugs/a", "it is gone", by="librarian", reason="r")
    assert accept(place, made.id[:5], by="Ann") == "bugs/a: taken up by Ann"
    assert ReviewQueue(place).get(made.id).decision == "accepted"
    with pytest.raises(ReviewError, match="was already accepted by Ann"):
        accept(place, made.id, by="Bob")
