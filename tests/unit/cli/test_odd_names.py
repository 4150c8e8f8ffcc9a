"""Unprintable characters and names that are no text do not stop a command."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_a_terminal_of_ascii_and_a_name_that_is_no_utf_8_end_no_command(tmp_path: Path) -> None:
    log = os.fsencode(tmp_path) + b"/\xff.log"
    with open(log, "w", encoding="utf-8") as file:  # noqa: PTH123 (such a name)
        file.write("UVM_ERROR sb.sv(210) @ 1250ns: reporter [SCBD] größe: expected 0x12 got 0x13\n")
    for encoding in ("ascii", "utf-8"):
        done = subprocess.run(
            [sys.executable, "-m", "pytest_dvwiki", "classify", log],
            env={**os.environ, "PYTHONIOENCODING": encoding},
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b".log: uvm_error / scoreboard_fail" in done.stdout
