"""A check that was fixed and fails again: the same cause, or another fault with a page of its own."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_dvwiki.model import PassedAgain, SinceFix
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import archive, build, merge

from ..samples import CAUSE, failed, files, fixed, git, layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord

READ, WRITE, BURST = (f"tests/test_fifo.py::test_fifo::{name}" for name in ("reads", "writes", "bursts"))


def failing(number: int, *tests: str, seed: str | None, **changes: Any) -> RunRecord:
    return record(number, occurrence(tests=tuple(failed(test, seed) for test in tests)), schema=2, **changes)


def mended(number: int, test: str, seed: str, *sources: str, cause: str = CAUSE) -> RunRecord:
    """A run that passes a test with the seed that had failed, since some sources were changed."""
    again = PassedAgain(
        nodeid=test, fingerprint=cause, seed=seed, changed="commit", failed_seed=seed, simulator="icarus"
    )
    row = fixed(number, cause, files=list(sources), file_count=len(sources))
    return record(number, passed_again=(again,), fixes=(row,), schema=2)


def since(run: RunRecord, *sources: str, passed: Iterable[str] = (READ,)) -> tuple[SinceFix, ...]:
    return (
        SinceFix(
            fingerprint=CAUSE, since=run.task_id, files=sources, file_count=len(sources), passed=tuple(sorted(passed))
        ),
    )


FIRST = failing(1, READ, seed="1")
FIX = mended(2, READ, "1", "rtl/read.sv")
SECOND = failing(3, WRITE, seed="3", since_fix=since(FIX, "rtl/write.sv"))
FOUND = f"{CAUSE}/{SECOND.task_id}"


def archived(root: Path, *records: RunRecord) -> None:
    for each in records:
        archive(layout(root), each)


def keys(root: Path) -> dict[str, dict[str, Any]]:
    """The keys of the bug pages by the name of their causes, those that only lead to others left out."""
    found = {}
    for path in sorted((layout(root).wiki / "bugs").glob("[!_]*.md")):
        metadata = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
        if metadata["hit_count"]:
            assert metadata["cause"] not in found
            found[metadata["cause"]] = metadata
    return found


def page(root: Path, cause: str) -> str:
    with WikiHistory(layout(root)) as history:
        return (layout(root).wiki / history.bug_pages(cause)[0].path).read_text(encoding="utf-8")


def test_another_fault_at_a_check_has_its_own_page_and_the_fix_stays_good(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX, SECOND)
    found = keys(tmp_path)
    assert {cause: each["hit_count"] for cause, each in found.items()} == {CAUSE: 1, FOUND: 1}
    assert {each["fingerprint"] for each in found.values()} == {CAUSE}
    assert found[CAUSE]["passes_since"]
    assert found[CAUSE]["regressed"] is None
    with WikiHistory(layout(tmp_path)) as history:
        (state,) = history.archive.fix_states((CAUSE,))
        assert (state.returned, state.fix.result) == (None, "open")
        assert history.archive.fix_states((FOUND,)) == []
    old, new = found[CAUSE]["id"], found[FOUND]["id"]
    assert f"[{new}]({new}.md): another fault that the same check reported later" in page(tmp_path, CAUSE)
    assert f"[{old}]({old}.md): another fault that the same check reported before" in page(tmp_path, FOUND)
    assert build(layout(tmp_path), check=True).changed == []


@pytest.mark.parametrize(
    "returns",
    [
        pytest.param(failing(3, READ, seed="3", since_fix=since(FIX, "rtl/write.sv")), id="the same test"),
        pytest.param(failing(3, WRITE, READ, seed="3", since_fix=since(FIX, "rtl/write.sv")), id="it, too"),
        pytest.param(failing(3, f"{READ}[8]", seed="3", since_fix=since(FIX, "rtl/write.sv")), id="parameters"),
        pytest.param(failing(3, WRITE, seed="1", since_fix=since(FIX, "rtl/write.sv")), id="the same seed"),
        pytest.param(failing(3, WRITE, seed=None, since_fix=since(FIX, "rtl/write.sv")), id="no seed"),
        pytest.param(failing(3, WRITE, seed="3"), id="no evidence"),
        pytest.param(failing(3, WRITE, seed="3", since_fix=since(FIX)), id="nothing changed"),
        pytest.param(
            failing(3, WRITE, seed="3", since_fix=since(FIX, "rtl/write.sv", "rtl/read.sv")), id="what was mended"
        ),
        pytest.param(failing(3, WRITE, seed="3", since_fix=since(FIX, "rtl/write.sv", passed=())), id="not run"),
        pytest.param(
            failing(3, WRITE, seed="3", since_fix=tuple(replace(row, file_count=9) for row in SECOND.since_fix)),
            id="not all files",
        ),
    ],
)
def test_without_evidence_it_is_the_same_cause_that_returned(tmp_path: Path, returns: RunRecord) -> None:
    archived(tmp_path, FIRST, FIX, returns)
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {CAUSE: 2}
    with WikiHistory(layout(tmp_path)) as history:
        assert history.archive.fix_states((CAUSE,))[0].returned is not None


def test_what_was_never_fixed_is_one_cause(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, SECOND)
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {CAUSE: 2}


def test_later_failures_go_to_the_cause_of_their_tests(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX, SECOND, failing(4, WRITE, BURST, seed="4"), failing(5, READ, seed="1"))
    found = keys(tmp_path)
    assert {cause: each["hit_count"] for cause, each in found.items()} == {CAUSE: 2, FOUND: 2}
    with WikiHistory(layout(tmp_path)) as history:
        assert history.archive.fix_states((CAUSE,))[0].fix.result == "failed"


def test_a_third_fault_needs_evidence_against_both(tmp_path: Path) -> None:
    fix = mended(4, WRITE, "3", "rtl/write.sv", cause=FOUND)
    third = failing(
        5,
        BURST,
        seed="5",
        since_fix=since(FIX, "rtl/write.sv", "rtl/burst.sv") + since(fix, "rtl/burst.sv", passed=(READ, WRITE)),
    )
    archived(tmp_path, FIRST, FIX, SECOND, fix, third)
    assert set(keys(tmp_path)) == {CAUSE, FOUND, f"{CAUSE}/{third.task_id}"}
    assert all("passes_since" in each for each in keys(tmp_path).values())
    with WikiHistory(layout(tmp_path)) as history:
        assert [history.archive.fix_states((cause,))[0].returned for cause in (CAUSE, FOUND)] == [None, None]


def test_a_late_record_moves_an_occurrence_and_the_page_that_loses_it_leads_on(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX, SECOND)
    mine = layout(tmp_path).wiki / "bugs" / f"{keys(tmp_path)[FOUND]['id']}.md"
    mine.write_text(mine.read_text().replace("- [ ] Workaround until then", "Said by a person."))
    # The test that fails had failed before, on another branch.
    archived(tmp_path, failing(0, WRITE, seed="9"))
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {CAUSE: 3}
    text = mine.read_text()
    assert "Said by a person." in text
    assert f"stands in [{keys(tmp_path)[CAUSE]['id']}]" in text
    assert build(layout(tmp_path), check=True).changed == []


def test_a_late_record_tells_causes_apart_that_were_one(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, SECOND)
    archived(tmp_path, FIX)
    assert set(keys(tmp_path)) == {CAUSE, FOUND}
    assert build(layout(tmp_path), check=True).changed == []


def test_people_merge_the_two_pages_and_the_fix_of_one_is_stated(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX, SECOND)
    found = keys(tmp_path)
    merge(layout(tmp_path), *(f"bugs/{found[cause]['id']}.md" for cause in (FOUND, CAUSE)))
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {FOUND: 2}
    assert build(layout(tmp_path), check=True).changed == []


# Orders and branches

DAY = [
    FIRST,
    FIX,
    SECOND,
    failing(4, WRITE, BURST, seed="4"),
    mended(5, WRITE, "4", "rtl/write.sv", cause=FOUND),
    failing(6, READ, seed="1"),
    mended(7, READ, "1", "rtl/read.sv", cause=f"{CAUSE}/{FIRST.task_id}"),
]


def kept(root: Path) -> dict[str, bytes]:
    """The pages that stand, without what they say of those that lead to them, and the tables of others."""
    found = files(layout(root).wiki)
    pages = {name: data for name, data in found.items() if name.startswith(("bugs/", "patterns/"))}
    return {
        name: b"\n".join(
            line
            for line in data.split(b"\n")
            if b"has the same cause; what people" not in line and not line.startswith(b"aliases:")
        )
        for name, data in pages.items()
        if b'stale_reason: "same fingerprint"' not in data and not name.endswith("_index.md")
    }


def from_nothing(root: Path, records: Sequence[RunRecord]) -> dict[str, bytes]:
    """The pages that `build` makes of record files alone."""
    from pytest_dvwiki.records.store import write_record

    for each in records:
        write_record(layout(root).tasks, each)
    build(layout(root))
    return kept(root)


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    root = tmp_path_factory.mktemp("order")
    archived(root, *DAY)
    found = kept(root)
    assert build(layout(root), check=True).changed == []
    assert set(keys(root)) == {CAUSE, FOUND}
    return found


def test_pages_made_from_nothing_are_those_of_runs_archived_one_by_one(
    tmp_path: Path, in_order: dict[str, bytes]
) -> None:
    assert from_nothing(tmp_path, DAY) == in_order


@pytest.mark.parametrize("seed", range(4))
def test_every_order_of_the_records_ends_in_the_same_pages(
    tmp_path: Path, in_order: dict[str, bytes], seed: int
) -> None:
    for number in range(10):
        root = tmp_path / str(number)
        archived(root, *random.Random(10 * seed + number).sample(DAY, len(DAY)))
        assert kept(root) == in_order
        assert build(layout(root), check=True).changed == []
