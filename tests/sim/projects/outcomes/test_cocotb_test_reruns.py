"""Flow C: reruns of pytest-rerunfailures, one successful and one not."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cocotb_test import folder, simulate  # noqa: F401


@pytest.mark.flaky(reruns=1)
def test_second_time(folder: Path) -> None:  # noqa: F811
    """The simulation fails at the first attempt only."""
    first = not (folder / "again").exists()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "again").touch()
    simulate("flaky_bench", folder, extra_env={"FLAKY": "1" if first else "0"})


@pytest.mark.flaky(reruns=1)
def test_every_time(folder: Path) -> None:  # noqa: F811
    simulate("flaky_bench", folder, extra_env={"FLAKY": "1"})
