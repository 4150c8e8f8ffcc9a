"""Twelve faults of the sample testbench, each an edit of the sources without their switches for faults."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "sample_tb"
FOLDERS = ("rtl", "tb", "tests")


@dataclass(frozen=True)
class Fault:
    """A fault."""

    name: str
    file: str
    before: str
    """The correct line, without its indentation; if `after` is empty, the fault removes it."""
    after: str
    test: str
    """Arguments for pytest: a test that fails with the fault."""
    introduced: str
    """Subjects of the commits that add and repair the fault; neither mentions a fault."""
    repaired: str


FAULTS = (
    Fault(
        "fifo_drop",
        "rtl/sync_fifo.v",
        "wire write = wr_en && !full;",
        "wire write = wr_en && !full && !(read && level == ONE);",
        "tests/test_fifo.py::test_random[1]",
        "fifo: simplify the last word",
        "fifo: write strobe",
    ),
    Fault(
        "fifo_late_full",
        "rtl/sync_fifo.v",
        "assign full    = level == CAPACITY;",
        "assign full    = level > CAPACITY;",
        "tests/test_fifo.py::test_fill",
        "fifo: relax full for timing",
        "fifo: full flag",
    ),
    Fault(
        "fifo_no_config",
        "tb/fifo_env.py",
        'ConfigDB().set(None, "*", "SEQR", self.sequencer)',
        'ConfigDB().set(None, "*", "SEQUENCER", self.sequencer)',
        "tests/test_fifo.py::test_streaming",
        "fifo agent: longer names",
        "fifo agent: names",
    ),
    Fault(
        "regs_ctrl_no_reset",
        "rtl/axil_regs.v",
        "ctrl          <= 0;",
        "",
        "tests/test_regs.py",
        "regs: fewer resets",
        "regs: resets",
    ),
    Fault(
        "regs_ro_okay",
        "rtl/axil_regs.v",
        "STATUS, ID: s_axil_bresp <= SLVERR;",
        "STATUS, ID: s_axil_bresp <= OKAY;",
        "tests/test_regs.py",
        "regs: answers of the bus",
        "regs: answers",
    ),
    Fault(
        "regs_no_bvalid",
        "rtl/axil_regs.v",
        "if (s_axil_wvalid && s_axil_wready) begin",
        "if (s_axil_wvalid && s_axil_wready && (have_addr || s_axil_awvalid)) begin",
        "tests/test_regs.py",
        "regs: data with their address",
        "regs: data phase",
    ),
    Fault(
        "regs_renamed_irq",
        "tb/regs_tb.py",
        "irq = dut.irq",
        "irq = dut.irq_out",
        "tests/test_regs.py",
        "regs tb: names of the pins",
        "regs tb: pins",
    ),
    Fault(
        "regs_debug_finish",
        "rtl/axil_regs.v",
        "s_axil_rresp <= DECERR;",
        "s_axil_rresp <= DECERR; $finish;",
        "tests/test_regs.py",
        "regs: bad addresses",
        "regs: tidy the map",
    ),
    Fault(
        "regs_strobes",
        "rtl/axil_regs.v",
        "SCRATCH:    scratch <= (scratch & ~mask) | (wdata & mask);",
        "SCRATCH:    scratch <= wdata & mask;",
        "tests/test_regs.py",
        "regs: shorter write of SCRATCH",
        "regs: write of SCRATCH",
    ),
    Fault(
        "counter_no_timescale",
        "rtl/event_counter.v",
        "`timescale 1ns / 1ps",
        "",
        "tests/test_counter.py",
        "counter: shorter header",
        "counter: header",
    ),
    Fault(
        "counter_edges",
        "rtl/event_counter.v",
        "if (sync[1] && !sync[2]) count <= count + 1'b1;",
        "if (sync[1] != sync[2]) count <= count + 1'b1;",
        "tests/test_counter.py",
        "counter: detect the edge by a comparison",
        "counter: detect the edge",
    ),
    Fault(
        "buffer_syntax",
        "rtl/stream_buffer.v",
        "assign in_ready  = ctrl[0] && !full;",
        "assign in_ready  = ctrl[0] && !full",
        "tests/test_buffer.py",
        "buffer: layout",
        "buffer: input side",
    ),
)

_SWITCHES = (
    ("rtl/sync_fifo.v", r"    reg fault_drop.*?    end\n\n", ""),
    ("rtl/sync_fifo.v", r"fault_late_full \? level > CAPACITY : ", ""),
    ("rtl/sync_fifo.v", r" && !\(fault_drop && read && level == ONE\)", ""),
    ("rtl/axil_regs.v", r"    reg fault_no_bvalid.*?    end\n\n", ""),
    ("rtl/axil_regs.v", r", data_first;", ";"),
    ("rtl/axil_regs.v", r"            data_first <= have_data;\n", ""),
    ("rtl/axil_regs.v", r"!\(fault_no_bvalid && data_first\)", "1"),
    ("rtl/axil_regs.v", r"fault_ro_okay \? OKAY : SLVERR", "SLVERR"),
    ("rtl/axil_regs.v", r"if \(!fault_ctrl_no_reset\) ctrl <= 0;", "ctrl          <= 0;"),
    ("rtl/axil_regs.v", r"                    if \(fault_debug_finish\) \$finish;\n", ""),
    ("rtl/event_counter.v", r"`ifndef COUNTER_NO_TIMESCALE\n(.*?)`endif\n", r"\1"),
    ("rtl/stream_buffer.v", r"`ifdef BUFFER_SYNTAX\n.*?`else\n(.*?)`endif\n", r"\1"),
    (
        "tb/fifo_env.py",
        r'        if "fifo_no_config" not in faults.active\(\):\n            ConfigDB',
        "        ConfigDB",
    ),
    ("tb/fifo_env.py", r"import faults\n", ""),
    ("tb/regs_tb.py", r'dut.irq_out if "regs_renamed_irq" in faults.active\(\) else dut.irq', "dut.irq"),
    ("tb/regs_tb.py", r"import faults\n", ""),
    ("tests/conftest.py", r"import faults\n", ""),
    ("tests/conftest.py", r"macros = faults.macros\(top\)", "macros: dict[str, int] = {}"),
    ("tests/test_buffer.py", r", plusargs=faults.plusargs\(\)", ""),
    ("tests/test_buffer.py", r"import faults\n", ""),
    ("tests/test_fifo.py", r"        plusargs=faults.plusargs\(\),\n", ""),
    ("tests/test_fifo.py", r"import faults\n", ""),
    ("tests/test_regs.py", r", plusargs=faults.plusargs\(\)", ""),
    ("tests/test_regs.py", r"import faults\n", ""),
)
"""Replacements that remove the switches: file, expression, replacement."""


def copy_of_the_sample(root: Path) -> None:
    """Copy the sample testbench without its switches, whose names would reveal the faults."""
    for folder in FOLDERS:
        shutil.copytree(SAMPLE / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__", "sim_build"))
    shutil.copy(SAMPLE / "pytest.ini", root)
    (root / "tb" / "faults.py").unlink()
    for name, expression, replacement in _SWITCHES:
        file = root / name
        text, number = re.subn(expression, replacement, file.read_text(encoding="utf-8"), flags=re.DOTALL)
        if number != 1:
            raise SystemExit(f"{name}: {expression!r} is in it {number} times: bring the benchmark up to date")
        file.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Brought:
    """A fault that was committed to the sources."""

    fault: Fault
    file: Path
    at: int
    """Index of its line; if the fault removed the line, of the next line."""
    line: str
    """The original line."""

    def is_at(self, name: str, line: int) -> bool:
        """Return whether an answer names the fault's line or one next to it."""
        return name == self.fault.file and abs(line - 1 - self.at) <= 1

    def repair(self) -> None:
        """Restore the original line."""
        lines = self.file.read_text(encoding="utf-8").split("\n")
        lines[self.at : self.at + bool(self.fault.after)] = [self.line]
        self.file.write_text("\n".join(lines), encoding="utf-8")


def bring(fault: Fault, root: Path) -> Brought:
    """Put a fault into the sources."""
    file = root / fault.file
    lines = file.read_text(encoding="utf-8").split("\n")
    (at,) = (number for number, line in enumerate(lines) if line.strip() == fault.before)
    line = lines[at]
    indent = line[: len(line) - len(line.lstrip())]
    lines[at : at + 1] = [indent + fault.after] if fault.after else []
    file.write_text("\n".join(lines), encoding="utf-8")
    return Brought(fault, file, at, line)
