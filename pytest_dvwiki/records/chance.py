"""How many passing runs it takes until a cause that is not seen any more is not just absent by chance.

A test that fails in one of ten runs passes three times in a row by chance in 73 of 100 cases, and 29 times in 5 of 100.
Whole numbers are compared, so that every machine comes to the same number.
"""

from __future__ import annotations

from dataclasses import dataclass

_CHANCE = 20
"""One in so many is the chance that is left, 5 %."""
FEWEST_RUNS = 2
"""A rate from fewer runs is taken as if another one had passed: one failure in one run does not mean that all fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """In how many of the runs that are known to have run a test it failed with a cause."""

    failed: int
    runs: int

    @property
    def taken(self) -> tuple[int, int]:
        """The failing runs and the runs as they are reckoned with: at least one failed, and runs are not too few."""
        failed = max(1, self.failed)
        return failed, max(FEWEST_RUNS, failed, self.runs)

    @property
    def runs_needed(self) -> int:
        """The least number of passing runs of which chance explains less than one in twenty."""
        failed, runs = self.taken
        passing, all_pass, all_runs, count = runs - failed, runs - failed, runs, 1
        while all_pass * _CHANCE >= all_runs:
            all_pass, all_runs, count = all_pass * passing, all_runs * runs, count + 1
        return count

    def with_passes_by_chance(self) -> Rate:
        """The rate if as many more runs had passed as chance explains: one less than it takes to leave chance out."""
        return Rate(failed=self.failed, runs=self.runs + self.runs_needed - 1)

    def left_to_chance(self, passes: int) -> float:
        """The part of cases in which so many runs pass although nothing was fixed, to three decimals."""
        failed, runs = self.taken
        per_mille: int = (2000 * (runs - failed) ** passes // runs**passes + 1) // 2
        return per_mille / 1000
