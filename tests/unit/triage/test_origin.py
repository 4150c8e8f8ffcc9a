"""Where the fault lies: the evidence and the confidence that it gives."""

from __future__ import annotations

import pytest

from pytest_dvwiki.model import Frame, KnownCause, Origin, OriginType
from pytest_dvwiki.patterns.registry import load_subtypes
from pytest_dvwiki.triage.origin import AGREES, WITHOUT_HISTORY, judge, with_history, with_seeds


def origin(error_class: str, subtype: str, file: str | None = None, frame: Frame | None = None) -> Origin:
    return judge(
        error_class=error_class, failure_subtype=subtype, pattern=None, file=file, frame=frame, subtypes=load_subtypes()
    )


def known(kind: OriginType, status: str = "open") -> KnownCause:
    return KnownCause(fingerprint="0" * 12, first_seen="", last_seen="", runs=3, tests=4, type=kind, status=status)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (origin("sim_error", "scoreboard_fail"), "RTL_BUG"),
        (origin("compile_error", "syntax_error", "rtl/fifo.sv"), "RTL_BUG"),
        (origin("compile_error", "port_mismatch", "rtl/fifo.sv"), "TB_BUG"),
        (origin("compile_error", "undeclared_identifier", "rtl/fifo.sv"), "RTL_BUG"),
        (origin("python_error", "name_error", frame=Frame(file="tb/a.py", line=1, function="f")), "TB_BUG"),
        (origin("tool_error", "tool_license"), "TOOL"),
        (origin("unknown", "unknown"), "UNKNOWN"),
    ],
)
def test_kind_and_place_decide(given: Origin, wanted: str) -> None:
    assert given.type == wanted
    assert given.reasons
    assert 0 <= given.confidence <= WITHOUT_HISTORY


def test_a_testbench_file_speaks_against_the_design() -> None:
    design = origin("compile_error", "syntax_error", "rtl/fifo.sv")
    bench = origin("compile_error", "syntax_error", "tb/fifo_tb.sv")
    assert bench.confidence < design.confidence
    assert any("testbench file" in reason for reason in bench.reasons)


def test_agreeing_history_raises_and_disagreeing_lowers_the_confidence() -> None:
    for given in (origin("sim_error", "scoreboard_fail"), origin("compile_error", "syntax_error", "rtl/fifo.sv")):
        assert with_history(given, known("RTL_BUG")).confidence >= given.confidence + AGREES - 1e-9
        assert with_history(given, known("TB_BUG")).confidence < given.confidence
        assert with_history(given, None) == given


def test_a_decided_page_wins_over_the_evidence() -> None:
    given = with_history(origin("sim_error", "scoreboard_fail"), known("TB_BUG", "confirmed"))
    assert given.type == "TB_BUG"
    assert "confirmed" in given.reasons[0]


def test_seeds_say_whether_a_fault_depends_on_the_stimulus() -> None:
    given = origin("sim_error", "scoreboard_fail")
    assert with_seeds(given, 1, 2).confidence > given.confidence
    assert "fails with 3 of 3 seeds" in with_seeds(given, 3, 0).reasons
    assert with_seeds(given, 1, 0) == given


def test_a_folder_far_up_says_nothing_of_a_design_file() -> None:
    near = origin("compile_error", "syntax_error", "rtl/fifo.sv")
    far = origin("compile_error", "syntax_error", "tests/designs/sample/rtl/fifo.sv")
    assert (far.type, far.confidence) == (near.type, near.confidence)
