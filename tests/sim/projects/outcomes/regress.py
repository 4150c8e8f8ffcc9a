"""Flow M: a regression outside pytest that calls `make` for each item in a new folder, with output in `make.log`.

python regress.py [ITEM ...]: those named, or all but what only shows alone; with --places their folders are made only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SIM = os.getenv("SIM", "icarus")
TOP = "dff" if SIM == "ghdl" else "dut"

ITEMS = {
    "test_checks": {"COCOTB_TEST_MODULES": "checks_bench"},
    "test_uvm": {"COCOTB_TEST_MODULES": "uvm_bench"},
    "test_uvm_reports": {"COCOTB_TEST_MODULES": "uvm_report_bench"},
    "test_fatal": {"COCOTB_TEST_MODULES": "fatal_bench"},
    "test_finish": {"COCOTB_TEST_MODULES": "finish_bench"},
    "test_kill": {"COCOTB_TEST_MODULES": "kill_bench"},
    "test_segfault": {"COCOTB_TEST_MODULES": "segfault_bench"},
    "test_terminate": {"COCOTB_TEST_MODULES": "terminate_bench"},
    "test_bad_import": {"COCOTB_TEST_MODULES": "import_bench"},
    "test_bad_syntax": {"COCOTB_TEST_MODULES": "syntax_bench"},
    "test_absent_module": {"COCOTB_TEST_MODULES": "no_such_bench"},
    "test_needs_broken": {"COCOTB_TEST_MODULES": "passing_bench", "TOP": "syntax_error"},
    "test_missing_module": {"COCOTB_TEST_MODULES": "passing_bench", "TOP": "missing_module"},
    "test_port_mismatch": {"COCOTB_TEST_MODULES": "passing_bench", "TOP": "port_mismatch"},
    "test_wrong_top": {"COCOTB_TEST_MODULES": "passing_bench", "TOP": "no_top", "SOURCE": TOP},
}
ALONE = {"test_terminate"}


def place_of(item: str) -> Path:
    """Return the folder of an item, with a Makefile as projects have one for each block."""
    place = HERE / "made" / item
    place.mkdir(parents=True, exist_ok=True)
    (place / "Makefile").write_text("include ../../Makefile\n")
    return place


def make(item: str) -> None:
    """Run one item; its failures are read afterwards."""
    place = place_of(item)
    variables = {"ROOT": str(HERE), "TOP": TOP} | ITEMS[item]
    with (place / "make.log").open("wb") as log:
        subprocess.run(
            ["make"],
            cwd=place,
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["--places"]:
        for name in ITEMS:
            place_of(name)
        sys.exit()
    for name in sys.argv[1:] or [name for name in ITEMS if name not in ALONE]:
        make(name)
