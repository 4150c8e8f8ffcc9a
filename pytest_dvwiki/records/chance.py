"""Compute how many passing runs in a row are unlikely to be chance.

A test that fails in one of ten runs passes three times in a row by chance in 73 % of cases, and 29 times in 5 %. The
arithmetic uses integers, so that every machine gets the same number.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

_CHANCE = 20
"""Chance is ruled out once it explains fewer than one in this many cases (5 %)."""
FEWEST_RUNS = 2
"""Minimum number of failures, without any pass, for a test to count as failing in every run so far."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """How often a test failed with a cause: its failures, and all its known runs."""

    failed: int
    runs: int
    is_alike: bool = False
    """Whether all failures were at the same simulation time with the same values, even with different seeds."""

    @property
    def taken(self) -> tuple[int, int]:
        """Return the numbers of failures and runs to use for the estimate.

        There is at least one failure. A test that failed in all of its few runs may still pass now and then, so one
        pass is added if there was none, unless the failures of several runs are alike.
        """
        failed = max(1, self.failed)
        is_enough = self.is_alike and failed >= FEWEST_RUNS
        return failed, max(failed if is_enough else failed + 1, self.runs)

    @property
    def runs_needed(self) -> int:
        """Return how many runs must pass in a row to rule out chance."""
        failed, runs = self.taken
        passing, all_pass, all_runs, count = runs - failed, runs - failed, runs, 1
        while all_pass * _CHANCE >= all_runs:
            all_pass, all_runs, count = all_pass * passing, all_runs * runs, count + 1
        return count

    @property
    def passes_by_chance(self) -> int:
        """Return how many passes in a row chance may explain; 0 if the test failed in each of several runs."""
        return 0 if self.failed == self.runs >= FEWEST_RUNS else self.runs_needed - 1

    def with_passes_by_chance(self) -> Rate:
        """Return the rate after adding as many passes as chance may explain."""
        return replace(self, runs=self.runs + self.passes_by_chance)

    def chance_of_passing(self, passes: int) -> float:
        """Return the probability, to three decimals, that this many runs pass by chance without a fix."""
        failed, runs = self.taken
        per_mille: int = (2000 * (runs - failed) ** passes // runs**passes + 1) // 2
        return per_mille / 1000
