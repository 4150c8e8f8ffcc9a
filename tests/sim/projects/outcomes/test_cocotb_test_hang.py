"""Flow C: a simulation that never comes back, beside one that has already reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cocotb_test import folder, simulate  # noqa: F401


def test_reported(folder: Path) -> None:  # noqa: F811
    try:
        simulate("finish_bench", folder)
    finally:
        Path("reported").touch()


@pytest.mark.timeout(12)
def test_hang(folder: Path) -> None:  # noqa: F811
    simulate("hang_bench", folder)
