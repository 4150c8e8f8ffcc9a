"""The origin of a fault: the evidence and the resulting confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.causes.cause import Cause, PageFacts
from pytest_dvwiki.model import Clue, Fix, Frame, Origin, OriginType, Place, Verdict
from pytest_dvwiki.patterns.registry import load_registry, load_subtypes
from pytest_dvwiki.records.sides import of_held_fix, side_of, side_of_fix
from pytest_dvwiki.triage.changes import of_changes
from pytest_dvwiki.triage.missing import module_in
from pytest_dvwiki.triage.origin import (
    CLEAR,
    as_decided,
    conclude,
    judge,
    of_definition,
    of_directed,
    of_seeds,
    of_simulators,
    with_clues,
)

from .. import known_causes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pytest_dvwiki.patterns.schema import Pattern

FRAME = Frame(file="tb/a.py", line=1, function="f")
MISMATCH = load_registry().get("uvm.scoreboard_mismatch")
COMMIT = "1f0c3a2d9e"
DECIDES = (
    "what would decide: a change on one side only since its last pass, a fix that holds, or a person's decision; a "
    "pass with another seed or another simulator would help as a comparison"
)


EMPTY = load_registry().get("python.empty_queue")


def clues(
    error_class: str,
    subtype: str,
    file: str | None = None,
    *,
    frame: Frame | None = None,
    pattern: Pattern | None = None,
    sources: Collection[str] = (),
    python_bench: bool = False,
    known: Cause | None = None,
    decided: Mapping[OriginType, int] | None = None,
) -> tuple[Clue, ...]:
    return judge(
        error_class=error_class,
        failure_subtype=subtype,
        pattern=pattern,
        file=file,
        frame=frame,
        subtypes=load_subtypes(),
        sources=sources,
        python_bench=python_bench,
        known=known,
        decided=decided,
    )


def judged(error_class: str, subtype: str, file: str | None = None, place: Place | None = None) -> Verdict:
    found = clues(error_class, subtype, file)
    return Verdict(
        error_class=error_class,
        failure_subtype=subtype,
        fingerprint="",
        primary="",
        origin=conclude(found),
        clues=found,
        place=place,
    )


@pytest.mark.parametrize(("source", "side"), [("raise BusError(msg)", "UNKNOWN"), ("bus.read(4)", "TB_BUG")])
def test_an_exception_that_a_testbench_raises_on_purpose_is_a_check(source: str, side: str) -> None:
    (own,) = (each.pattern for each in load_registry().entries if each.pattern.id == "python.exception")
    frame = Frame(file="vip/bus.py", line=3, function="_run", source=source)
    found = clues("python_error", "runtime_error", frame=frame, pattern=own, python_bench=True)
    assert conclude(found).type == side


def known(
    kind: OriginType, status: str = "open", *, decided: bool = False, runs: int = 3, fix: Fix | None = None
) -> Cause:
    page = PageFacts(path="bugs/x.md", status=status, type=kind, is_decided=decided or status != "open")
    return Cause.on_record("0" * 12, known_causes.history(*([fix] if fix else []), runs=runs), page)


CHECK = clues("sim_error", "scoreboard_fail")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (clues("compile_error", "syntax_error", "rtl/fifo.sv"), "RTL_BUG"),
        (clues("compile_error", "undeclared_identifier", "rtl/fifo.sv"), "RTL_BUG"),
        (clues("compile_error", "syntax_error", "tb/fifo_tb.sv"), "TB_BUG"),
        (clues("compile_error", "port_mismatch", "rtl/fifo.sv"), "RTL_BUG"),
        (clues("elaboration_error", "parameter_error", "rtl/fifo.sv"), "RTL_BUG"),
        (clues("compile_error", "missing_module", "rtl/fifo.sv"), "RTL_BUG"),
        (clues("compile_error", "port_mismatch", "tb/tb_top.sv"), "TB_BUG"),
        (clues("compile_error", "missing_module", "tb/tb_top.sv", python_bench=True), "TB_BUG"),
        (clues("python_error", "name_error", frame=FRAME), "TB_BUG"),
        (clues("tool_error", "tool_license"), "TOOL"),
        (clues("tool_error", "cut_short"), "UNKNOWN"),
        (clues("tool_error", "cut_short", pattern=load_registry().get("environment.job_limit")), "TOOL"),
        (clues("unknown", "unknown"), "UNKNOWN"),
        (CHECK, "UNKNOWN"),
    ],
)
def test_kind_and_place_decide(given: tuple[Clue, ...], wanted: str) -> None:
    said = conclude(given)
    assert said.type == wanted
    assert said.reasons
    assert said.confidence == 0 if wanted == "UNKNOWN" else CLEAR <= said.confidence < 1


def test_a_failed_check_alone_is_unknown_with_both_readings_and_what_would_decide() -> None:
    said = conclude(CHECK)
    assert said.reasons == (
        "either the design gave a wrong value, or the test expects a wrong one: this failure alone does not show which",
        DECIDES,
    )
    seen = conclude((*CHECK, *of_seeds(1, 2)))
    assert seen.reasons[1] == "fails with 1 of 3 seeds: the failure depends on the stimulus"
    assert "another seed" not in seen.reasons[2]


def test_a_pass_with_another_seed_is_no_comparison_for_a_directed_test() -> None:
    said = conclude((*CHECK, *of_directed(conclude(CHECK))))
    assert said.reasons[1] == "the simulation gets the same stimulus with every seed, so every run is the same"
    assert "another seed" not in said.reasons[2]
    assert "a pass with another simulator" in said.reasons[2]
    assert of_directed(Origin(type="RTL_BUG", confidence=0.9)) == ()


def test_what_the_tool_said_before_is_no_evidence() -> None:
    for runs in (1, 3, 100):
        again = clues("sim_error", "scoreboard_fail", known=known("RTL_BUG", runs=runs))
        assert conclude(again) == conclude(CHECK)


@pytest.mark.parametrize("side", ["RTL_BUG", "TB_BUG"])
def test_a_person_s_word_decides(side: OriginType) -> None:
    """Seed 000, section 13: at least 0.1 more with historical bugs than without them."""
    for given in (known(side, "confirmed"), known(side, "closed"), known(side, decided=True)):
        said = conclude(clues("sim_error", "scoreboard_fail", known=given))
        assert said.type == side
        assert said.confidence >= conclude(CHECK).confidence + 0.1
    against: OriginType = "TB_BUG" if side == "RTL_BUG" else "RTL_BUG"
    file = "rtl/fifo.sv" if against == "RTL_BUG" else "tb/fifo_tb.sv"
    torn = conclude(clues("compile_error", "syntax_error", file, known=known(side, "confirmed")))
    assert (torn.type, torn.reasons[0]) == (side, f"its page is confirmed: {side}")
    assert torn.confidence < 0.9


def test_a_person_may_say_that_nobody_knows() -> None:
    given = known("UNKNOWN", decided=True)
    assert conclude(clues("compile_error", "syntax_error", "rtl/fifo.sv", known=given)).type == "UNKNOWN"


@pytest.mark.parametrize(
    ("files", "side"),
    [(("rtl/fifo.sv",), "RTL_BUG"), (("tests/test_fifo.py",), "TB_BUG"), (("rtl/fifo.sv", "tb/env.py"), "UNKNOWN")],
)
def test_a_fix_that_held_tells_by_what_it_touched(files: tuple[str, ...], side: str) -> None:
    handle = conclude(clues("sim_error", "handle_not_found"))
    fix = Fix(text="", result="held", files=files, file_count=len(files))
    said = conclude(clues("sim_error", "handle_not_found", known=known("UNKNOWN", fix=fix)))
    assert said.type == side
    assert side == "UNKNOWN" or said.confidence >= handle.confidence + 0.1
    failed = Fix(text="", result="failed", files=files, file_count=len(files))
    for fixes in ((fix, fix), (failed, fix)):  # it has reported several faults
        given = replace(known("UNKNOWN"), history=known_causes.history(*fixes))
        assert conclude(clues("sim_error", "handle_not_found", known=given)) == handle
    assert conclude(clues("sim_error", "handle_not_found", known=known("UNKNOWN", fix=failed))) == handle
    # A check may report several faults: the next one may have another origin.
    assert conclude(clues("sim_error", "scoreboard_fail", known=known("UNKNOWN", fix=fix))) == conclude(CHECK)


def test_a_fix_that_held_is_told_with_the_files_that_count() -> None:
    fix = Fix(text="", result="held", files=("rtl/vga.vhd", "tb/test_fifo.py"), file_count=2)
    reads = ("rtl/fifo.vhd", "tb/test_fifo.py")
    assert side_of_fix(fix, reads) == "TB_BUG"
    said = of_held_fix(fix, "TB_BUG", reads)
    assert said.endswith("touched only the testbench: tb/test_fifo.py; its simulation reads no other file of the fix")
    assert side_of_fix(fix, ("rtl/fifo.vhd", "Makefile")) is None, "the build may not have read the Python file"
    with_makefile = replace(fix, files=("Makefile", "tb/test_fifo.py"))
    assert side_of_fix(with_makefile, (*reads, "Makefile")) is None
    assert side_of_fix(with_makefile, reads) == "TB_BUG"
    alone = of_held_fix(replace(fix, files=("README.md", "tb/test_fifo.py")), "TB_BUG", reads)
    assert alone.endswith("touched only the testbench: tb/test_fifo.py")


def test_a_fix_of_both_sides_decides_by_the_files_that_it_restored() -> None:
    files = reads = ("rtl/fifo.vhd", "tb/test_fifo.py")
    fix = Fix(text="", result="held", files=files, file_count=2, restored=files[:1])
    assert side_of_fix(fix, reads) == "RTL_BUG"
    said = of_held_fix(fix, "RTL_BUG", reads)
    assert said.endswith(
        "returned files to their state before the cause appeared; the relevant ones are all in the design: rtl/fifo.vhd"
    )
    assert side_of_fix(replace(fix, restored=files), reads) is None
    assert side_of_fix(replace(fix, restored=()), reads) is None


def test_what_people_decided_of_a_pattern_counts_for_its_other_causes() -> None:
    def said(decided: Mapping[OriginType, int]) -> Origin:
        return conclude(clues("uvm_error", "scoreboard_fail", pattern=MISMATCH, decided=decided))

    assert said({}).type == "UNKNOWN"
    assert said({"TB_BUG": 2, "RTL_BUG": 2}).type == "UNKNOWN"
    many, few = said({"RTL_BUG": 9}), said({"RTL_BUG": 3})
    assert many.type == few.type == "RTL_BUG"
    assert many.confidence > few.confidence >= CLEAR
    assert "people blamed the design for 3 of 3 other causes with the pattern uvm.scoreboard_mismatch" in few.reasons
    assert said({"TB_BUG": 9}).type == "TB_BUG"


def test_a_change_on_one_side_since_the_last_pass_speaks_for_that_side() -> None:
    (design,) = of_changes(["rtl/fifo.sv", "docs/fifo.md"], COMMIT)
    assert (design.side, design.text) == (
        "RTL_BUG",
        "in the repository, only design files changed since it passed at 1f0c3a2d: rtl/fifo.sv",
    )
    (known,) = of_changes(["rtl/fifo.sv", "tb/other_sb.sv"], COMMIT, sources=["rtl/fifo.sv", "tb/fifo_sb.sv"])
    assert known.text.startswith("among its sources, only design files changed")
    (bench,) = of_changes(["tb/fifo_sb.sv", "tests/test_fifo.py"], COMMIT)  # an HDL file changed
    assert (bench.side, bench.text) == (
        "TB_BUG",
        "in the repository, only testbench files changed since it passed at 1f0c3a2d: tb/fifo_sb.sv and 1 more",
    )
    assert conclude((*CHECK, design)).type == "RTL_BUG"
    assert conclude((*CHECK, bench)).type == "TB_BUG"


@pytest.mark.parametrize(
    ("files", "side"),
    [(["config.yaml", "README.md"], "UNKNOWN"), (["run.py"], "TB_BUG"), (["rtl/fifo.sv", "run.py"], "RTL_BUG")],
)
def test_what_does_not_fit_in_an_unchanged_design_was_not_brought_by_it(files: list[str], side: str) -> None:
    """A source that is missing in a list shows as a missing unit in the file that instantiates it."""
    verdict = judged("compile_error", "missing_module", "rtl/top.vhd")
    assert verdict.origin.type == "RTL_BUG"
    said = with_clues(verdict, of_changes(files, COMMIT)).origin
    assert said.type == side
    unchanged = f"no HDL file of the repository changed since it passed at 1f0c3a2d, but {files[0]}"
    assert any(reason.startswith(unchanged) for reason in said.reasons) == (side != "RTL_BUG")
    syntax = clues("compile_error", "syntax_error", "rtl/top.vhd")
    verdict = replace(verdict, failure_subtype="syntax_error", clues=syntax, origin=conclude(syntax))
    assert with_clues(verdict, of_changes(["config.yaml"], COMMIT)) == verdict


@pytest.mark.parametrize(
    ("files", "side"),
    [
        (["files.py", "rtl/regs.sv"], "UNKNOWN"),
        (["files.py", "rtl/top.sv"], "UNKNOWN"),  # top.sv asks for the module
        (["files.py", "rtl/lanes.sv"], "UNKNOWN"),  # the build did not read it: it may have defined the module
        (["sim/Makefile", "rtl/lanes.sv"], "UNKNOWN"),
        (["run.py", "rtl/lanes.sv"], "RTL_BUG"),
        (["rtl/regs.sv"], "RTL_BUG"),
    ],
)
def test_a_module_is_lost_by_who_asks_for_it_or_was_not_built(files: list[str], side: str) -> None:
    verdict = judged("compile_error", "missing_module", "rtl/top.sv")
    reads = ["rtl/top.sv", "rtl/regs.sv", "files.py", "sim/Makefile"]
    changes = of_changes(files, COMMIT, sources=reads, of_build=True, lacking="rtl/top.sv")
    assert with_clues(verdict, changes).origin.type == side


@pytest.mark.parametrize(
    ("files", "side"),
    [
        ([], "UNKNOWN"),
        (["files.py"], "TB_BUG"),
        (["sim/Makefile", "rtl/regs.sv", "rtl/other.sv"], "TB_BUG"),
        (["rtl/top.sv"], "UNKNOWN"),  # a new instance: either its file or the list should have come with it
        (["rtl/top.sv", "sim/Makefile"], "UNKNOWN"),
    ],
)
def test_a_module_that_a_file_outside_the_build_defines_is_not_lost_by_the_design(files: list[str], side: str) -> None:
    verdict = with_clues(
        judged("compile_error", "missing_module", "rtl/top.sv"), [of_definition("lane", "rtl/lane.sv")]
    )
    reads = ["rtl/top.sv", "rtl/regs.sv", "files.py", "sim/Makefile"]
    changes = of_changes(files, COMMIT, sources=reads, of_build=True, lacking="rtl/top.sv", is_defined=True)
    said = with_clues(verdict, changes).origin
    assert said.type == side
    assert "rtl/lane.sv defines lane, but the build did not read that file" in said.reasons


@pytest.mark.parametrize(
    ("files", "side"),
    [
        (["sim/Makefile", "README.md"], "TB_BUG"),
        (["other/Makefile"], "UNKNOWN"),
        (["sim/Makefile", "config.yaml"], "UNKNOWN"),
        (["sim/Makefile", "rtl/fifo.sv"], "UNKNOWN"),
        (["regress/nightly.sh", "rtl/fifo.sv"], "UNKNOWN"),
        (["README.md", "rtl/fifo.sv"], "RTL_BUG"),
        (["rtl/fifo.sv"], "RTL_BUG"),
    ],
)
def test_a_top_that_a_changed_makefile_asks_for_was_not_lost_by_the_design(files: list[str], side: str) -> None:
    verdict = judged("elaboration_error", "unresolved_reference")
    assert verdict.origin.type == "UNKNOWN"
    change = of_changes(files, COMMIT, sources=["rtl/fifo.sv", "sim/Makefile"], of_build=True)
    said = with_clues(verdict, change).origin
    assert said.type == side
    told = "no HDL file of the repository changed since its build passed at 1f0c3a2d, but sim/Makefile, which names"
    assert any(reason.startswith(told) for reason in said.reasons) == (side == "TB_BUG")


@pytest.mark.parametrize(("changed", "side"), [("rtl/pc.sv", "UNKNOWN"), ("tb/tb_pc.sv", "TB_BUG"), (None, "TB_BUG")])
def test_a_testbench_that_does_not_fit_a_changed_design_leaves_the_origin_open(changed: str | None, side: str) -> None:
    own = clues("elaboration_error", "port_mismatch", "tb/tb_pc.sv")
    change = of_changes([changed], COMMIT, None, sources=["rtl/pc.sv", "tb/tb_pc.sv"]) if changed else ()
    assert conclude((*own, *change)).type == side


@pytest.mark.parametrize(("changed", "side"), [("rtl/fifo.sv", "UNKNOWN"), ("tests/test_fifo.py", "TB_BUG")])
@pytest.mark.parametrize("failures", [0, 2])
def test_a_name_that_a_changed_design_does_not_have_leaves_the_origin_open(
    changed: str, side: str, failures: int
) -> None:
    verdict = judged("sim_error", "handle_not_found")
    said = with_clues(verdict, of_changes([changed], COMMIT, failures=failures)).origin
    assert said.type == side
    assert any(changed in reason for reason in said.reasons)
    fixed = Fix(text="", result="held", files=("rtl/fifo.sv",), file_count=1)
    found = clues("sim_error", "handle_not_found", known=known("UNKNOWN", fix=fixed))
    again = replace(verdict, clues=found, origin=conclude(found))
    assert with_clues(again, of_changes(["rtl/fifo.sv"], COMMIT, failures=failures)).origin.type == "RTL_BUG"


@pytest.mark.parametrize(
    "files", [[], ["rtl/fifo.sv", "tb/fifo_sb.sv"], ["sim_build/dump.v"], ["rtl/fifo.sv", "model/fifo.c"]]
)
def test_changes_on_both_sides_or_of_no_known_side_say_nothing(files: list[str]) -> None:
    assert of_changes(files, COMMIT) == ()


def test_a_changed_file_that_the_simulation_did_not_read_says_nothing() -> None:
    read = {"rtl/fifo.sv", "tests/test_fifo.py"}
    assert of_changes(["rtl/uart.sv"], COMMIT, sources=read) == ()
    for file in ("tests/test_fifo.py", "conftest.py"):
        (clue,) = of_changes(["rtl/uart.sv", file, "scripts/release.py"], COMMIT, sources=read)
        assert (clue.side, clue.text.rpartition(": ")[2]) == ("TB_BUG", file)
    (clue,) = of_changes(["tests/test_uart.py", "rtl/fifo.sv"], COMMIT, sources=read)
    assert clue.side == "RTL_BUG"


def test_files_that_may_not_have_been_read_are_not_called_sources() -> None:
    read = {"rtl/fifo.sv", "tests/fifo/Makefile"}  # no Python is known to have been read
    clues = of_changes(["tests/uart/test_dut.py"], COMMIT, sources=read)
    assert [each.side for each in clues] == ["UNKNOWN"]
    assert of_changes(["rtl/fifo.sv", "tests/uart/test_dut.py"], COMMIT, sources=read) == ()


def test_seeds_say_whether_a_fault_depends_on_the_stimulus() -> None:
    assert [clue.text for clue in of_seeds(1, 2)] == ["fails with 1 of 3 seeds: the failure depends on the stimulus"]
    assert of_seeds(3, 0) == of_seeds(0, 3)[1:] == ()


def test_a_simulator_that_passes_is_named() -> None:
    (clue,) = of_simulators(["icarus"], ["verilator"])
    assert clue.text.startswith("fails on icarus and passes on verilator")
    assert of_simulators(["icarus"], []) == ()


@pytest.mark.parametrize(
    ("place", "side"), [(None, "TB_BUG"), ("tests/test_fifo.py", "TB_BUG"), ("rtl/fifo.sv", "RTL_BUG")]
)
def test_a_source_that_was_moved_is_no_fault_of_the_design(place: str | None, side: str) -> None:
    """The build uses a file that no longer exists; a file that the design includes belongs to the design."""
    verdict = judged(
        "compile_error", "missing_file", place=Place(report="", words="", file=place, line=3) if place else None
    )
    assert with_clues(verdict, of_changes(["rtl/fifo.sv", "rtl/queue.sv"], COMMIT)).origin.type == side
    likely = of_changes(["rtl/fifo.sv", "rtl/queue.sv"], COMMIT, failures=2)
    assert (with_clues(verdict, likely) == verdict) == (side == "TB_BUG")
    assert with_clues(verdict, of_changes(["tests/test_fifo.py"], COMMIT)).origin.type == "TB_BUG"


@pytest.mark.parametrize(
    ("subtype", "files", "side"),
    [
        ("missing_file", ["rtl/filelists/counter.f"], "UNKNOWN"),
        ("missing_file", ["rtl/filelists/counter.f", "tests/test_fifo.py"], "UNKNOWN"),
        ("missing_file", ["tb/filelist.f"], "TB_BUG"),
        ("syntax_error", ["rtl/filelists/counter.f"], "RTL_BUG"),
    ],
)
def test_a_missing_file_after_a_change_of_a_list_of_design_sources_is_nobody_s(
    subtype: str, files: list[str], side: str
) -> None:
    verdict = judged("compile_error", subtype, "rtl/fifo.sv" if subtype == "syntax_error" else None)
    said = with_clues(verdict, of_changes(files, COMMIT)).origin
    assert said.type == side
    readings = "either the design's own list of sources is wrong, or the testbench's build asks for a wrong file"
    assert any(readings in reason for reason in said.reasons) == (side == "UNKNOWN")


def test_after_a_pass_with_another_seed_a_changed_build_description_may_have_brought_a_fault() -> None:
    (design,) = of_changes(["rtl/fifo.sv", "docs/fifo.md"], COMMIT, failures=2)
    since = "since it passed at 1f0c3a2d (with another seed; 2 failing runs since)"
    assert design.side == "RTL_BUG"
    assert design.text == f"in the repository, only design files changed {since}: rtl/fifo.sv"
    for file in ("Makefile", "sim/Makefile.inc", "rtl/fifo.f", "run.tcl"):
        assert not [each for each in of_changes(["rtl/fifo.sv", file], COMMIT, failures=2) if each.side != "UNKNOWN"]
        assert of_changes(["rtl/fifo.sv", file], COMMIT)[0].side == "RTL_BUG"


def test_more_evidence_changes_nothing_of_a_tool_s_or_a_hook_s_verdict() -> None:
    change = of_changes(["rtl/fifo.sv"], COMMIT)
    tool = Verdict(error_class="tool_error", failure_subtype="tool_license", fingerprint="", primary="")
    assert with_clues(tool, change) == tool
    said = Origin(type="TB_BUG", confidence=0.7)
    hook = Verdict(
        error_class="sim_error",
        failure_subtype="timeout",
        fingerprint="",
        primary="",
        origin=said,
        decided_by="ours",
    )
    assert with_clues(hook, change) == hook
    assert as_decided(hook, known("RTL_BUG")) == hook
    assert as_decided(hook, known("RTL_BUG", "confirmed")).origin.type == "RTL_BUG"


@pytest.mark.parametrize(
    ("file", "side"),
    [
        ("rtl/fifo.sv", "RTL_BUG"),
        ("hw/ip/uart/uart_core.vhd", "RTL_BUG"),
        ("hw/dv/sb.sv", "TB_BUG"),
        ("tests/test_fifo.py", "TB_BUG"),
        ("rtl/tb_top.sv", "TB_BUG"),
        ("tests/designs/sample/rtl/fifo.sv", "RTL_BUG"),
        ("sim_build/cocotb_iverilog_dump.v", None),
        ("sim_build/top.py", None),
        ("README.md", None),
        ("Makefile", None),
    ],
)
def test_the_side_of_a_file(file: str, side: str | None) -> None:
    assert side_of(file) == side


def test_a_source_of_the_build_is_design_wherever_it_lies() -> None:
    assert side_of("tests/dff.sv") == "TB_BUG"
    assert side_of("tests/dff.sv", {"tests/dff.sv"}) == "RTL_BUG"
    assert side_of("tests/dff.sv", python_bench=True) == "RTL_BUG"
    assert side_of("tests/test_dff.py", {"tests/test_dff.py"}) == "TB_BUG"
    assert side_of("tb/loopback.v", {"tb/loopback.v"}) == "TB_BUG"
    said = conclude(clues("compile_error", "syntax_error", "tests/dff.sv", python_bench=True))
    assert said.type == "RTL_BUG"


def test_less_than_the_least_is_not_rounded_up_to_it() -> None:
    """An exception that a wrong value can raise, after a change of only the design: 59.9 % for the testbench."""
    clues = (Clue("python values", "TB_BUG", "a"), Clue("changes", "RTL_BUG", "b"))
    assert conclude(clues).type == "UNKNOWN"


def test_a_queue_that_is_empty_tells_nothing_before_one_side_changes() -> None:
    found = clues("python_error", "index_out_of_range", frame=FRAME, pattern=EMPTY)
    assert conclude(found).type == "UNKNOWN"
    assert conclude((*found, *of_changes(["rtl/fifo.sv"], COMMIT))).type == "RTL_BUG"
    assert conclude((*found, *of_changes(["tb/a.py"], COMMIT))).type == "TB_BUG"


@pytest.mark.parametrize(
    ("message", "module"),
    [
        ("rtl/top.v:12: error: Unknown module type: lane2", "lane2"),
        ("%Error-MODMISSING: rtl/top.v:42:5: Cannot find file containing module: 'lane'", "lane"),
        ("rtl/top.v:12: syntax error", None),
    ],
)
def test_the_missing_module_is_named_by_the_tool(message: str, module: str | None) -> None:
    assert module_in(message) == module


@pytest.mark.parametrize(
    ("pattern", "subtype", "python_bench", "side"),
    [
        ("python.assert", "assertion_error", True, "UNKNOWN"),
        ("python.assert_compared", "assertion_error", True, "UNKNOWN"),
        ("python.assert_timeout", "runtime_error", True, "UNKNOWN"),
        ("python.assert", "fixture_error", True, "TB_BUG"),
        ("python.exception", "runtime_error", True, "TB_BUG"),
        ("python.assert", "assertion_error", False, "TB_BUG"),
    ],
)
def test_a_check_of_the_test_itself_does_not_show_which_side_is_wrong(
    pattern: str, subtype: str, python_bench: bool, side: str
) -> None:
    found = clues("python_error", subtype, frame=FRAME, pattern=load_registry().get(pattern), python_bench=python_bench)
    assert conclude(found).type == side
