"""Flows R and P: the Python process of the test dies; only xdist survives that."""

from __future__ import annotations

import os
from pathlib import Path

from test_runner import Bench, bench, dut, simulate  # noqa: F401


def test_passes() -> None: ...


def test_plain_crash() -> None:
    os._exit(3)


def test_runner_crash(bench: Bench, dut: Path) -> None:  # noqa: F811
    simulate(bench, "passing_bench", dut)
    os._exit(3)
