"""Measures work in process time, on which other processes have little effect."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """Return the time of work. Use it only for ratios with generous bounds: the speed of machines varies."""
    began = time.process_time()
    work()
    return time.process_time() - began
