"""Many processes that write, read and are killed lose nothing; `make survive` runs eight writers for a minute."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.slow
def test_eight_writers_two_readers_and_a_killer_lose_nothing(tmp_path: Path) -> None:
    # It forks its processes, which a process with threads must not do.
    numbers = ["--writers", "8", "--readers", "2", "--kills", "10", "--increments", "5"]
    done = subprocess.run(
        [sys.executable, "-m", "survival.crowd", str(tmp_path), *numbers],
        capture_output=True,
        text=True,
        check=False,
        cwd=TESTS,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"10 kills, [1-9]\d* records acknowledged, \d+ written, none lost\n40 of 40 increments\n", done.stdout
    )
