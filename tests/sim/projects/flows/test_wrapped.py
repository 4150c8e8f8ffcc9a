"""Tests that run cocotb's Makefile through a shell or another program."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Path:
    """A folder with a Makefile of its own, since it writes where it stands."""
    folder = HERE / "wrapped" / request.node.callspec.id
    folder.mkdir(parents=True)
    for part in ("rtl", "bench"):
        (folder / part).symlink_to(HERE / part)
    shutil.copy(HERE / "Makefile", folder)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["timeout", "200", "make"], id="timeout"),
        pytest.param(["env", "COCOTB_RANDOM_SEED=5", "sh", "-c", "make > make.log 2>&1"], id="env"),
    ],
)
def test_wrapped(place: Path, command: list[str]) -> None:
    subprocess.run(command, cwd=place, check=True)


@pytest.mark.parametrize("kind", ["script"])
def test_shell(place: Path, kind: str) -> None:
    script = f"mkdir -p out && cd {place} && make | tee make.log; exit 1"
    subprocess.run(script, shell=True, check=True)


@pytest.mark.parametrize("kind", ["limit"])
def test_limit(place: Path, kind: str) -> None:
    variables = {"COCOTB_TEST_MODULES": "slow_bench"}
    subprocess.run(["timeout", "10", "make"], cwd=place, env=os.environ | variables, check=True)
