"""Compares the process time of work with that of other work in the same run, since the speed of machines varies."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ATTEMPTS = 5
_LOOPS = 1_000_000  # about 0.1 seconds


def seconds(work: Callable[[], object]) -> float:
    """Return the process time of work. Compare it only with that of other work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def takes_at_most(times: float, other: Callable[[], object], work: Callable[[], object]) -> bool:
    """Return whether work takes at most so many times as long as other work.

    One attempt of five is enough: a busy machine slows one measurement, not all.
    """
    return any(seconds(work) <= times * max(seconds(other), 0.01) for _ in range(_ATTEMPTS))


def takes_seconds_at_most(limit: float, work: Callable[[], object]) -> bool:
    """Return whether work is that short on a machine whose Python takes 0.1 seconds for a million rounds of a loop."""
    return takes_at_most(10 * limit, _loop, work)


def _loop() -> None:
    total = 0
    for number in range(_LOOPS):
        total += number & 3
