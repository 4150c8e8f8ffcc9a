"""Flow R: a runner that never ends, and one that has already reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_runner import Bench, bench, dut, simulate  # noqa: F401


def test_reported(bench: Bench, dut: Path) -> None:  # noqa: F811
    simulate(bench, "finish_bench", dut)


@pytest.mark.timeout(12)
def test_hang(bench: Bench, dut: Path) -> None:  # noqa: F811
    simulate(bench, "hang_bench", dut)
