"""How long work takes: in process time, to which other processes of the machine add little."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """For ratios with generous bounds alone: no machine is as fast as another, nor as fast as it was before."""
    began = time.process_time()
    work()
    return time.process_time() - began
