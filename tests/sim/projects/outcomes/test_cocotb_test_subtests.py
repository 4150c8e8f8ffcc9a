"""Flow C: pytest's subtests, one simulation each."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cocotb_test import folder, simulate  # noqa: F401


def test_parts(folder: Path, subtests: pytest.Subtests) -> None:  # noqa: F811
    for module in ("passing_bench", "flaky_bench"):
        with subtests.test(module):
            simulate(module, folder / module, extra_env={"FLAKY": "1"})
