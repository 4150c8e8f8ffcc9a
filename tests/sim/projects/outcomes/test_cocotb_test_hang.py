"""Flow C: a simulation that never ends, and one that has already reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cocotb_test import folder, simulate  # noqa: F401


def test_reported(folder: Path) -> None:  # noqa: F811
    simulate("finish_bench", folder)


@pytest.mark.timeout(12)
def test_hang(folder: Path) -> None:  # noqa: F811
    simulate("hang_bench", folder)
