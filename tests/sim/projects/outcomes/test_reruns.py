"""Flow R: reruns of pytest-rerunfailures, one successful and one not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_runner import Bench, bench, dut, simulate  # noqa: F401


@pytest.mark.flaky(reruns=1)
def test_second_time(bench: Bench, dut: Path) -> None:  # noqa: F811
    """The simulation fails at the first attempt only."""
    first = not (bench.folder / "again").exists()
    (bench.folder / "again").touch()
    os.environ["FLAKY"] = "1" if first else "0"
    simulate(bench, "flaky_bench", dut)


@pytest.mark.flaky(reruns=1)
def test_every_time(bench: Bench, dut: Path) -> None:  # noqa: F811
    os.environ["FLAKY"] = "1"
    simulate(bench, "flaky_bench", dut)
