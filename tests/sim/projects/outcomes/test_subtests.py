"""Flow R: pytest's subtests, one simulation each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_runner import Bench, bench, dut, simulate  # noqa: F401


def test_parts(bench: Bench, dut: Path, subtests: pytest.Subtests) -> None:  # noqa: F811
    os.environ["FLAKY"] = "1"
    for module in ("passing_bench", "flaky_bench"):
        with subtests.test(module):
            simulate(bench, module, dut)
