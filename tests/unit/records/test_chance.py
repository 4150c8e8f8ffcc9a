"""The number of passing runs that rules out chance, from a test's failure rate."""

from __future__ import annotations

import math

import pytest

from pytest_dvwiki.records.chance import Rate


@pytest.mark.parametrize(
    ("failed", "runs", "needed"), [(1, 10, 29), (1, 2, 5), (5, 10, 5), (9, 10, 2), (1, 50, 149), (2, 20, 29)]
)
def test_the_runs_needed_leave_less_than_one_in_twenty_to_chance(failed: int, runs: int, needed: int) -> None:
    rate = Rate(failed=failed, runs=runs)
    assert rate.runs_needed == needed
    assert rate.chance_of_passing(needed) < 0.05 <= rate.chance_of_passing(needed - 1)


@pytest.mark.parametrize("runs", range(2, 51))
def test_the_number_is_that_of_the_formula(runs: int) -> None:
    for failed in range(1, runs):
        expected = math.ceil(math.log(0.05) / math.log(1 - failed / runs))
        assert Rate(failed=failed, runs=runs).runs_needed == expected


@pytest.mark.parametrize(("failed", "needed"), [(1, 5), (2, 3), (3, 3), (4, 2), (18, 2), (19, 2), (20, 1)])
def test_a_test_that_never_passed_may_pass_now_and_then_all_the_same(failed: int, needed: int) -> None:
    rate = Rate(failed=failed, runs=failed)
    assert rate.taken == (failed, failed + 1)
    assert rate.runs_needed == needed


def test_a_failure_that_no_counted_run_shows_is_one_all_the_same() -> None:
    assert Rate(failed=0, runs=40).taken == (1, 40)


def test_what_is_left_to_chance_is_rounded_to_three_decimals() -> None:
    assert Rate(failed=1, runs=10).chance_of_passing(29) == 0.047
