"""Where the fault lies: the evidence and the confidence that it gives."""

from __future__ import annotations

import pytest

from pytest_dvwiki.model import Frame, KnownCause, Origin, OriginType
from pytest_dvwiki.patterns.registry import load_registry, load_subtypes
from pytest_dvwiki.triage.origin import (
    AGREES,
    CHANGED,
    DECIDED,
    TAUGHT,
    TURNED,
    WITHOUT_HISTORY,
    judge,
    side_of,
    with_changes,
    with_history,
    with_pattern_history,
    with_seeds,
)


def origin(error_class: str, subtype: str, file: str | None = None, frame: Frame | None = None) -> Origin:
    return judge(
        error_class=error_class, failure_subtype=subtype, pattern=None, file=file, frame=frame, subtypes=load_subtypes()
    )


def known(kind: OriginType, status: str = "open", *, decided: bool = False) -> KnownCause:
    return KnownCause(
        fingerprint="0" * 12,
        first_seen="",
        last_seen="",
        runs=3,
        tests=4,
        type=kind,
        status=status,
        decided=decided or status != "open",
    )


MISMATCH = load_registry().get("uvm.scoreboard_mismatch")
EVIDENCE = (
    origin("sim_error", "scoreboard_fail"),
    origin("compile_error", "syntax_error", "rtl/fifo.sv"),
    origin("python_error", "name_error", frame=Frame(file="tb/a.py", line=1, function="f")),
    origin("tool_error", "tool_license"),
)


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


@pytest.mark.parametrize("subtype", ["syntax_error", "missing_module"])
def test_what_a_compiler_does_not_take_of_a_testbench_file_is_the_testbench_s(subtype: str) -> None:
    bench = origin("compile_error", subtype, "tb/fifo_tb.sv")
    assert bench.type == "TB_BUG"
    assert bench.confidence >= 0.7
    assert bench.reasons[-1] == "the message stands in tb/fifo_tb.sv, a testbench file by its name"


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


def test_a_page_whose_type_a_person_changed_teaches_the_next_verdict() -> None:
    given = origin("sim_error", "scoreboard_fail")
    taught = with_history(given, known("TB_BUG", decided=True))
    assert (taught.type, taught.confidence) == ("TB_BUG", DECIDED)
    assert taught.reasons[0] == "a person gave its page another type: TB_BUG"
    untouched = with_history(given, known("TB_BUG"))
    assert untouched.type == "RTL_BUG"


@pytest.mark.parametrize("given", EVIDENCE)
def test_history_that_agrees_raises_by_a_tenth_at_least_and_evidence_alone_stays_below_nine(given: Origin) -> None:
    assert given.confidence <= WITHOUT_HISTORY
    assert with_history(given, known(given.type)).confidence >= given.confidence + AGREES - 1e-9
    assert with_pattern_history(given, MISMATCH, {given.type: 1}).confidence >= given.confidence + AGREES - 1e-9


def test_what_people_decided_of_a_pattern_counts_for_its_other_causes() -> None:
    given = origin("sim_error", "scoreboard_fail")
    mixed = with_pattern_history(given, MISMATCH, {"TB_BUG": 3, "RTL_BUG": 1})
    assert (mixed.type, mixed.confidence) == ("RTL_BUG", round(given.confidence - AGREES, 2))
    always = with_pattern_history(given, MISMATCH, {"TB_BUG": 3})
    assert (always.type, always.confidence) == ("TB_BUG", TAUGHT)
    assert always.reasons[0] == (
        "people decided 3 of 3 other causes of uvm.scoreboard_mismatch to come from the testbench"
    )
    assert with_pattern_history(given, MISMATCH, {}) == given
    assert with_pattern_history(given, None, {"TB_BUG": 9}) == given


COMMIT = "1f0c3a2d9e"


def test_a_change_on_one_side_since_the_last_pass_speaks_for_that_side() -> None:
    given = origin("sim_error", "scoreboard_fail")
    design = with_changes(given, ["rtl/fifo.sv", "docs/fifo.md"], COMMIT)
    assert design.confidence == round(given.confidence + AGREES, 2)
    assert design.reasons[-1] == "since it passed at 1f0c3a2d only design files changed: rtl/fifo.sv"
    bench = with_changes(given, ["tb/fifo_sb.sv", "tests/test_fifo.py"], COMMIT)
    assert (bench.type, bench.confidence) == ("TB_BUG", TURNED["TB_BUG"])
    assert bench.reasons[0] == "since it passed at 1f0c3a2d only testbench files changed: tb/fifo_sb.sv and 1 more"
    assert bench.reasons[1:] == given.reasons
    peoples = with_changes(given, ["tb/fifo_sb.sv"], COMMIT, decided=True)
    assert (peoples.type, peoples.confidence) == ("RTL_BUG", round(given.confidence - AGREES, 2))
    unknown = with_changes(origin("unknown", "unknown"), ["rtl/fifo.sv"], COMMIT)
    assert (unknown.type, unknown.confidence) == ("RTL_BUG", CHANGED)


@pytest.mark.parametrize("files", [[], ["README.md"], ["rtl/fifo.sv", "tb/fifo_sb.sv"]])
def test_changes_on_both_sides_or_none_say_nothing(files: list[str]) -> None:
    given = origin("sim_error", "scoreboard_fail")
    assert with_changes(given, files, COMMIT) == given


def test_changes_never_make_a_verdict_without_history_surer_than_it_may_be() -> None:
    given = Origin(type="RTL_BUG", confidence=0.85)
    assert with_changes(given, ["rtl/fifo.sv"], COMMIT).confidence == WITHOUT_HISTORY
    sure = Origin(type="RTL_BUG", confidence=0.95)
    assert with_changes(sure, ["rtl/fifo.sv"], COMMIT).confidence == 0.95


def test_changes_say_nothing_of_a_tool() -> None:
    given = origin("tool_error", "tool_license")
    assert with_changes(given, ["rtl/fifo.sv"], COMMIT) == given


@pytest.mark.parametrize(
    ("file", "side"),
    [
        ("rtl/fifo.sv", "RTL_BUG"),
        ("hw/ip/uart/uart_core.vhd", "RTL_BUG"),
        ("hw/dv/sb.sv", "TB_BUG"),
        ("tests/test_fifo.py", "TB_BUG"),
        ("rtl/tb_top.sv", "TB_BUG"),
        ("README.md", None),
        ("Makefile", None),
    ],
)
def test_the_side_of_a_file(file: str, side: str | None) -> None:
    assert side_of(file) == side
