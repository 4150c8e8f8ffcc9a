"""The archive moves to another registry or fingerprint: records stay, and verdicts contain the new labels."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.model import Verdict
from pytest_dvwiki.records import aggregate
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build
from pytest_dvwiki.wiki.writing.reclassify import Reclassified, reclassify

from ...samples import CAUSE, TEST, failed, files, git, layout, now_passing, occurrence, passing, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_dvwiki.model import Occurrence, RunRecord
    from pytest_dvwiki.settings import Layout

OTHER = "c" * 12
NEW = "d" * 12
OLD = 0
"""The fingerprint version of the old records."""


def old(number: int, *occurrences: Occurrence) -> RunRecord:
    return record(number, *occurrences, fingerprint_version=OLD)


def into(becomes: str | dict[str, str] = NEW, **label: str) -> Callable[[Occurrence, int], Verdict | None]:
    """Return a judge that gives causes these labels, and skips those without an excerpt."""

    def judge(item: Occurrence, version: int) -> Verdict | None:
        if not item.excerpt:
            return None
        verdict = Verdict(
            error_class=item.error_class,
            failure_subtype=item.failure_subtype,
            fingerprint=becomes if isinstance(becomes, str) else becomes.get(item.fingerprint, item.fingerprint),
            primary=item.primary,
            pattern=item.pattern,
        )
        return replace(verdict, **label)

    return judge


def run(place: Layout, judge: Callable[[Occurrence, int], Verdict | None], registry: str = "new") -> Reclassified:
    done = reclassify(place, judge, tool="dvwiki", registry=registry, fingerprint_version=1)
    result = build(place, reclassified=done)
    assert (result.refused, result.problems) == ([], [])
    assert build(place, check=True).changed == []
    return done


def bug_pages(place: Layout) -> dict[str, dict[str, object]]:
    found = sorted((place.wiki / "bugs").glob("RTL*.md"))
    return {path.name: pages.read(path.read_bytes()).metadata for path in found}


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    place = layout(tmp_path)
    archive(place, old(1, occurrence()))
    archive(place, old(2, occurrence()))
    return place


def test_a_page_keeps_its_name_and_what_people_wrote(place: Layout) -> None:
    (page,) = (place.wiki / "bugs").glob("RTL*.md")
    page.write_text(page.read_text().replace("status: open", "status: confirmed  # mine") + "\nOur words.\n")
    records = files(place.tasks)
    done = run(place, into())
    assert (done.moved, done.same, done.kept) == (1, 0, ())
    text = page.read_text()
    assert "status: confirmed  # mine" in text
    assert text.endswith("\nOur words.\n")
    ((name, metadata),) = bug_pages(place).items()
    assert name == page.name
    assert (metadata["fingerprint"], metadata["fingerprint_aliases"]) == (NEW, [CAUSE])
    assert (metadata["hit_count"], metadata["occurrence_count"]) == (2, 2)
    after = files(place.tasks)
    assert done.file is not None
    assert after.pop(done.file.relative_to(place.tasks).as_posix()) is not None
    assert after == records


def test_a_second_time_writes_nothing(place: Layout) -> None:
    run(place, into())
    before = files(place.agent)
    assert run(place, into()).file is None
    assert files(place.agent) == before


def test_the_same_archive_gives_the_same_bytes(place: Layout, tmp_path: Path) -> None:
    other = layout(tmp_path / "other")
    shutil.copytree(place.agent, other.agent, ignore=shutil.ignore_patterns(".cache"))
    run(place, into())
    run(other, into())
    assert files(other.agent) == files(place.agent)


def test_old_and_new_fingerprint_are_known_as_one_cause(place: Layout) -> None:
    run(place, into())
    with WikiHistory(place) as history:
        before, now = history.cause(CAUSE), history.cause(NEW)
        assert before is not None
        assert now is not None
        assert now.history is not None
        assert (before.history, before.page) == (now.history, now.page)
        assert (now.history.fingerprint, now.history.runs) == (NEW, 2)
        assert now.page is not None
        assert [(each.nodeid, each.fingerprint) for each in history.still_failing([now_passing()])] == [(TEST, NEW)]


@pytest.mark.parametrize("fingerprint", [CAUSE, NEW])
def test_later_runs_of_either_fingerprint_are_the_same_cause(place: Layout, fingerprint: str) -> None:
    run(place, into())
    result = archive(place, record(3, occurrence(fingerprint)))
    assert result.pages_created == []
    assert result.page_of == {fingerprint: f"bugs/{next(iter(bug_pages(place)))}"}
    ((_, metadata),) = bug_pages(place).items()
    assert (metadata["fingerprint"], metadata["hit_count"]) == (NEW, 3)
    assert build(place, check=True).changed == []


def test_causes_that_become_one_have_one_page_and_the_sum_of_their_counts(place: Layout) -> None:
    both = old(3, occurrence(), occurrence(OTHER, tests=(failed("other_test"),)))
    archive(place, both)
    assert len(bug_pages(place)) == 2
    assert run(place, into()).moved == 2
    counts = sorted((metadata["hit_count"], metadata["occurrence_count"]) for metadata in bug_pages(place).values())
    assert counts == [(0, 0), (3, 4)]
    with Archive(place.tasks, None) as records:
        records.refresh()
        assert aggregate.fingerprints(records) == [NEW]
    assert run(place, into()).file is None


def test_a_label_moves_the_counts_to_another_pattern_page(place: Layout) -> None:
    archive(place, record(3, occurrence(), registry="new"))
    done = run(place, into(CAUSE, failure_subtype="protocol_violation", pattern="uvm.other"))
    assert done.moved == 1
    with WikiHistory(place) as history:
        (was, becomes) = history.subtype("scoreboard_fail"), history.subtype("protocol_violation")
        # The newest run was named by the current patterns, and keeps its names.
        assert was is not None
        assert becomes is not None
        assert (was.runs, becomes.runs) == (1, 2)


def test_a_pattern_page_that_loses_all_its_causes_counts_none(place: Layout) -> None:
    run(place, into(CAUSE, failure_subtype="protocol_violation"))
    counts = {
        path.stem: pages.read(path.read_bytes()).metadata["hit_count"]
        for path in (place.wiki / "patterns").glob("[a-z]*.md")
    }
    assert counts == {"scoreboard_fail": 0, "protocol_violation": 2}
    assert build(place, check=True).changed == []


def test_without_an_excerpt_a_cause_keeps_its_verdict(place: Layout) -> None:
    archive(place, old(3, occurrence(OTHER, excerpt="")))
    done = run(place, into())
    assert (done.moved, done.kept) == (1, (OTHER,))


def test_a_cause_whose_occurrences_come_to_different_causes_keeps_its_verdict(place: Layout) -> None:
    archive(place, old(3, occurrence(primary="another")))

    def judge(item: Occurrence, version: int) -> Verdict | None:
        return into(NEW if item.primary == "another" else OTHER)(item, version)

    done = run(place, judge)
    assert (done.moved, done.kept, done.file) == (0, (CAUSE,), None)


def test_fixes_follow_their_cause(place: Layout) -> None:
    archive(place, passing(3, fixes=({"fingerprint": CAUSE, "text": "resized the FIFO", "by": "person"},)))
    run(place, into())
    archive(place, record(4, occurrence(NEW), commit=f"{3:040x}"))
    with WikiHistory(place) as history:
        known = history.cause(CAUSE)
        assert known is not None
        assert known.newest_fix is not None
        assert (known.newest_fix.text, known.fix_counts) == ("resized the FIFO", (0, 1))


def test_going_back_to_the_registry_before_goes_back(place: Layout) -> None:
    run(place, into())
    done = run(place, into(CAUSE), registry="older")
    assert done.moved == 1
    ((_, metadata),) = bug_pages(place).items()
    assert (metadata["fingerprint"], metadata["fingerprint_aliases"], metadata["hit_count"]) == (CAUSE, [NEW], 2)


def test_a_cause_without_a_page_is_known_by_its_old_fingerprint(place: Layout) -> None:
    for page in (place.wiki / "bugs").glob("RTL*.md"):
        page.unlink()
    run(place, into())
    with WikiHistory(place) as history:
        known = history.cause(CAUSE)
        assert known is not None
        assert (known.occurrence.fingerprint, known.page) == (NEW, None)


def test_verdicts_that_cannot_be_read_are_named_and_not_applied(place: Layout) -> None:
    done = reclassify(place, into(), tool="dvwiki", registry="new", fingerprint_version=1)
    assert done.file is not None
    done.file.write_text(done.file.read_text().replace("schema: 1", "schema: 99"))
    result = build(place)
    assert result.problems == [
        f"verdicts/{done.file.name}: schema 99 is newer than this version of dvwiki reads (2); update dvwiki"
    ]
    ((_, metadata),) = bug_pages(place).items()
    assert (metadata["fingerprint"], metadata["hit_count"]) == (CAUSE, 2)


@pytest.mark.parametrize("later", [(), (3,)], ids=["same archive", "another run on one side"])
def test_two_branches_that_both_reclassified_merge(place: Layout, later: tuple[int, ...]) -> None:
    git(place.root, "init", "--quiet", "--initial-branch=main")

    def commit() -> None:
        git(place.root, "add", "--all")
        git(place.root, "commit", "--quiet", "--message", "state")

    commit()
    git(place.root, "checkout", "--quiet", "-b", "theirs")
    run(place, into())
    commit()
    git(place.root, "checkout", "--quiet", "main")
    for number in later:
        archive(place, old(number, occurrence()))
    run(place, into())
    commit()
    git(place.root, "merge", "theirs", check=False)
    result = build(place)
    assert (result.refused, result.problems) == ([], [])
    ((_, metadata),) = bug_pages(place).items()
    assert (metadata["fingerprint"], metadata["fingerprint_aliases"]) == (NEW, [CAUSE])
    assert metadata["hit_count"] == 2 + len(later)
    assert build(place, check=True).changed == []
    assert run(place, into()).file is None
