"""A test's flaky rate counts only the runs in which it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.causes.statements import Flaky
from pytest_dvwiki.causes.words import text
from pytest_dvwiki.model import Attempt, OtherTest
from pytest_dvwiki.records.flaky import flaky_tests
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import build

from ..samples import TEST, archived, failed, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import Outcome

OTHER = "tests/test_fifo.py::test_other"
CAUSE = "c8c83526353c"
FAILED = Attempt(
    outcome="failed", fingerprint=CAUSE, error_class="sim_error", failure_subtype="timeout", primary="<b>no ack"
)


def other(outcome: Outcome, simulator: str | None = None) -> OtherTest:
    attempts = (FAILED, Attempt(outcome="passed")) if outcome == "flaky" else ()
    return OtherTest(nodeid=TEST, outcome=outcome, simulator=simulator, attempts=attempts)


def test_a_rate_has_the_runs_in_which_the_test_ran(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archived(place, record(0), [TEST, OTHER])
    archived(place, record(1, other=(other("flaky"),)), [TEST, OTHER])
    archived(place, record(2, other=(other("skipped"),)), [TEST, OTHER])
    archived(place, record(3, occurrence(tests=(failed(),))))
    archived(place, record(4, other=(other("flaky"), other("skipped", "icarus"))))
    archived(place, record(5), [OTHER])
    with WikiHistory(place) as history:
        (test,) = flaky_tests(history.archive)
        assert (test.nodeid, test.flaky, test.runs, test.last[:13]) == (TEST, 2, 4, "2026-11-21T04")
        assert history.flaky([TEST, OTHER]) == {TEST: (2, 4), OTHER: (0, 4)}
        assert flaky_tests(history.archive, runs=1) == []
    page = (place.wiki / "flaky.md").read_text(encoding="utf-8")
    assert f"| `{TEST}` | 2 | 4 | 50% | 2026-11-21 |" in page
    assert "| sim_error / timeout | 2 | 1 | `<b>no ack` |" in page
    assert "[Flaky tests](flaky.md): 1\n" in (place.wiki / "index.md").read_text(encoding="utf-8")
    assert build(place, check=True).changed == []


def test_there_is_no_page_without_a_flaky_test(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archived(place, record(0, occurrence()), [TEST])
    assert not (place.wiki / "flaky.md").exists()
    assert "Flaky" not in (place.wiki / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("seeds", "shown"),
    [
        ((), "failed, then passed"),
        ((None, None), "failed, then passed"),
        (("7", None), "failed, then passed"),
        (("7", "7"), "failed, then passed with the same seed (7)"),
        (("7", "8", "9"), "failed, then passed with seed 9, not 7, 8"),
    ],
)
def test_a_flaky_test_is_told_with_its_seeds(seeds: tuple[str | None, ...], shown: str) -> None:
    attempts = tuple(Attempt(outcome="failed", seed=seed) for seed in seeds)
    told = text(Flaky(nodeid=TEST, attempts=attempts, flaky=2, runs=9))
    assert told == f"{shown}; flaky in 2 of 9 runs on record that ran it"
