"""A text without its line feeds is split at the heads of its messages; one message stays one."""

from __future__ import annotations

import pytest

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.reading import TextClassifier
from pytest_dvwiki.triage.texts.run_together import split_run_together


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            (
                "iverilog -g2012 -o sim.vvp ./adder_tb.v ./adder.v:23: error: Unknown module type: half_adder "
                "2 error(s) during elaboration."
            ),
            "missing_module",
        ),
        (
            (
                "40.00ns WARNING cocotb.regression m.t failed Traceback (most recent call last): "
                'File "/w/m.py", line 9, in t await run(dut) KeyError: 4'
            ),
            "key_error",
        ),
        (
            (
                "0 errors so far xmvlog: *W,SPDUSD: unused. xmelab: *E,CUVMUR (./tb.sv,15|14): instance 'tb.u0' of "
                "design unit 'fifo' is unresolved in 'w.tb:sv'. xrun: *E,ELBERR: Error during elaboration (status 1), "
                "exiting."
            ),
            "unresolved_reference",
        ),
        (
            (
                "# ** Note: (vsim-3812) Design is being optimized... # ** Warning: top.sv(9): (vopt-2182) 'q' might be "
                "read before written. # ** Error: (vsim-3033) Instantiation of 'fifo_ctl' failed. The design unit was "
                "not found. # Error loading design"
            ),
            "unresolved_reference",
        ),
    ],
)
def test_lines_that_lost_their_line_feeds_are_lines_again(line: str, wanted: str) -> None:
    verdict = TextClassifier(load_registry()).classify_text(line)
    assert verdict is not None
    assert (verdict.failure_subtype, verdict.line) == (wanted, 1)


@pytest.mark.parametrize(
    "line",
    [
        "%Error-UNSUPPORTED: rtl/fifo_by_name.sv:11:26: Unsupported: dotted expressions in parameters",
        "# ** Error: (vlog-13067) rtl/fifo_by_name.sv(3): Syntax error, unexpected non-printable character",
        "UVM_ERROR /w/env/fifo_scoreboard.sv(31) @ 250: uvm_test_top.env.sb [SB] the line fifo.sv:31: told nothing",
    ],
)
def test_one_message_in_one_line_is_left_alone(line: str) -> None:
    assert split_run_together([line, ""]) is None


def test_a_log_with_many_lines_is_left_alone() -> None:
    told = "INFO: compared: # ** Warning: top.sv(9): 'q' might be read before written. # ** Error: (vsim-3033) failed."
    assert split_run_together([told, *(f"INFO: {number} of 9 done" for number in range(3)), ""]) is None
