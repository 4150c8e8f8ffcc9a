"""Four CI jobs push at once while one is killed and another makes the pages; `make survive` has 50 rounds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.further_mode
def test_every_push_lands_and_no_record_is_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "survival.pushes", "--rounds", "3"],
        capture_output=True,
        text=True,
        check=False,
        cwd=TESTS,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "none lost" in done.stdout
    assert "all counts right" in done.stdout
