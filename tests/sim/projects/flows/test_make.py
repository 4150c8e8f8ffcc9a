"""A test that runs cocotb's Makefile through subprocess."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def make(name: str, module: str, source: str = "dut") -> None:
    """Runs the Makefile in a copy of its own, since it writes where it stands."""
    place = HERE / "made" / name
    place.mkdir(parents=True)
    for part in ("rtl", "bench"):
        (place / part).symlink_to(HERE / part)
    shutil.copy(HERE / "Makefile", place)
    variables = {"COCOTB_TEST_MODULES": module, "SOURCE": source}
    if os.getenv("LOG_FILES") != "1":
        subprocess.run(["make"], cwd=place, env=os.environ | variables, check=True)
        return
    with (place / "make.log").open("w") as log:
        subprocess.run(["make"], cwd=place, env=os.environ | variables, check=True, stdout=log, stderr=log)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("checks_bench", "dut"),
        ("uvm_bench", "dut"),
        ("fatal_bench", "dut"),
        ("import_bench", "dut"),
        ("quiet_bench", "broken"),
        ("quiet_bench", "dut"),
    ],
)
def test_make(module: str, source: str) -> None:
    make(f"{module}-{source}", module, source)
