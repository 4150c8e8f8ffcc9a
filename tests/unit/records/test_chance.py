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


def test_one_pass_is_enough_of_a_test_that_failed_in_every_one_of_several_runs() -> None:
    rate = Rate(failed=12, runs=12)
    assert (rate.runs_needed, rate.chance_of_passing(1)) == (1, 0.0)


def test_a_single_run_tells_no_rate_of_one() -> None:
    assert Rate(failed=1, runs=1).taken == (1, 2)
    assert [Rate(failed=each, runs=each).runs_needed for each in (1, 2, 9)] == [5, 1, 1]


def test_a_failure_that_no_counted_run_shows_is_one_all_the_same() -> None:
    assert Rate(failed=0, runs=40).taken == (1, 40)


def test_what_is_left_to_chance_is_rounded_to_three_decimals() -> None:
    assert Rate(failed=1, runs=10).chance_of_passing(29) == 0.047
