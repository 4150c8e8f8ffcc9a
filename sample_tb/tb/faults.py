"""Faults that can be switched on, to see what a failing regression looks like.

`SAMPLE_FAULTS` names them, separated by blanks; where it is not set, the file `faults.txt`
does. The RTL reads its faults as plusargs, so one build serves them all, except for the two that
concern the compiler.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]

FAULTS = {
    "fifo_drop": "RTL: the FIFO loses a write that meets a read of its only word",
    "fifo_late_full": "RTL: `full` rises one word late, the FIFO's own check ends with $fatal",
    "fifo_no_config": "testbench: the agent does not put its sequencer into the ConfigDB",
    "regs_ctrl_no_reset": "RTL: CTRL has no reset and is X until written",
    "regs_ro_okay": "RTL: a write to a read-only register is answered with OKAY",
    "regs_no_bvalid": "RTL: no write response where the data came before the address",
    "regs_renamed_irq": "testbench: it still asks for the interrupt by its old name",
    "regs_debug_finish": "RTL: a $finish left from debugging, on a read of a bad address",
    "counter_no_timescale": "RTL: the file has no `timescale",
    "buffer_syntax": "RTL: a semicolon is missing",
}

# A two-state simulator has no X, and Verilator takes 1ps where a file names no timescale.
NOT_ON_VERILATOR = frozenset({"regs_ctrl_no_reset", "counter_no_timescale"})

# Faults that a macro switches on, and the design that is compiled with it.
_MACROS = {
    "counter_no_timescale": "event_counter",
    "buffer_syntax": "stream_buffer",
}


def active() -> frozenset[str]:
    """Return the names of the faults that are switched on."""
    text = os.environ.get("SAMPLE_FAULTS")
    if text is None:
        lines = (ROOT / "faults.txt").read_text(encoding="utf-8").splitlines()
        text = " ".join(line.partition("#")[0] for line in lines)
    names = frozenset(text.split())
    if unknown := names - FAULTS.keys():
        raise ValueError(f"no such fault: {' '.join(sorted(unknown))}; known: {' '.join(FAULTS)}")
    return names


def plusargs() -> list[str]:
    """Return the plusargs by which the RTL learns of its faults."""
    return [f"+{name}" for name in sorted(active() - _MACROS.keys())]


def macros(design: str) -> dict[str, int]:
    """Return the macros with which `design` is compiled."""
    return {name.upper(): 1 for name in sorted(active()) if _MACROS.get(name) == design}
