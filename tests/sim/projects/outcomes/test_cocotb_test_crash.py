"""Flow C: the Python process of the test dies after its simulation."""

from __future__ import annotations

import os
from pathlib import Path

from test_cocotb_test import folder, simulate  # noqa: F401


def test_runner_crash(folder: Path) -> None:  # noqa: F811
    simulate("passing_bench", folder)
    os._exit(3)
