"""From failures to a record: the origin considers the changes since the last pass, and people's verdicts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pytest_dvwiki import pipeline
from pytest_dvwiki.capture.git import command, repository
from pytest_dvwiki.model import MOST_READ, Excerpt, Failure, Result, Run, Simulator, Vcs
from pytest_dvwiki.pipeline.archiving import Archived
from pytest_dvwiki.pipeline.recalling import causes_of_record
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.report.brief import briefs_of
from pytest_dvwiki.settings import resolve

from .samples import git

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_dvwiki.model import Fix, Origin

TEST = "tests/test_fifo.py::test_fifo::overflow"
REPORT = "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] Mismatch: expected 12 got 13"
DESIGN_CHANGED = re.compile(
    "in the repository, only design files changed since it passed at [0-9a-f]+: rtl/fifo.sv"
).match


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path)


def project(folder: Path) -> Path:
    """Make a repository with a design and a testbench."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    change(folder, "rtl/fifo.sv", "tb/sb.sv", "README.md")
    return folder


def change(root: Path, *files: str) -> None:
    """Commit a change of each file."""
    commit(root, "wire more;\n", *files)


def commit(root: Path, text: str, *files: str) -> None:
    """Add a text to files, and commit them."""
    for name in files:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as stream:
            stream.write(text)
    git(root, "add", *files)
    git(root, "commit", "--quiet", "--message", "change")


def run(
    root: Path,
    number: int,
    *failing: str,
    report: str = REPORT,
    vcs: Vcs | None = None,
    seed: str | None = None,
    passing: tuple[str, ...] = (TEST,),
    reads: Mapping[str, tuple[str, ...]] | None = None,
    icarus: str | None = None,
) -> dict[str, Origin]:
    """Archive a run in which these tests fail and the others pass; return the origins by test."""
    moment = f"2026-11-21T{number:02d}:00:00Z"
    failures = tuple(
        Failure(
            nodeid=nodeid,
            in_simulator=True,
            simulator="icarus",
            seed=seed,
            excerpts=(Excerpt(source="log", lines=((1, report.replace("NAME", nodeid.rpartition("_")[2])),)),),
            reads=(reads or {}).get(nodeid, ()),
        )
        for nodeid in failing
    )
    results = tuple(
        Result(nodeid=name, outcome="failed" if name in failing else "passed", simulator="icarus", seed=seed)
        for name in {*passing, *failing}
    )
    with Services(resolve(root), note=pytest.fail) as services:
        archived = pipeline.process(
            Run(
                task_id=f"nightly_{number}",
                started=moment,
                finished=moment,
                failures=failures,
                results=results,
                simulators=(Simulator(name="icarus", version=icarus),),
                keep_suite=True,
                always_record=True,
                vcs=vcs,
            ),
            services,
        )
    assert archived.problem is None
    return {test.nodeid: cause.occurrence.origin for cause in archived.causes for test in cause.occurrence.tests}


def causes_of(root: Path, number: int) -> list[list[str]]:
    """Returns the failing tests of a run by cause, without their common beginning."""
    with Archive(resolve(root).layout.tasks, None) as archive:
        archive.refresh()
        rows = archive.db.execute(
            "SELECT f.fingerprint, f.nodeid FROM failed f JOIN runs r ON r.id = f.run WHERE r.task_id = ? ORDER BY 2",
            (f"nightly_{number}",),
        ).fetchall()
    found: dict[str, list[str]] = {}
    for cause, nodeid in rows:
        found.setdefault(cause, []).append(nodeid.rpartition("_")[2])
    return sorted(found.values())


A, B, C = (f"tests/test_parts.py::test_{name}" for name in "abc")
READS = {A: ("rtl/a.sv", "tb/sb.sv", "tb/a_test.sv"), B: ("rtl/b.sv", "tb/sb.sv", "tb/b_test.sv")}
NO_MEMORY = "terminate called after throwing an instance of 'std::bad_alloc'"
CUT = (*(f"rtl/cell_{number}.sv" for number in range(MOST_READ - 1)), "rtl/b.sv")


@pytest.mark.parametrize(
    ("changed", "how", "causes"),
    [
        pytest.param(["rtl/a.sv", "rtl/b.sv"], {}, [["a"], ["b"]], id="each its own change"),
        pytest.param(["rtl/a.sv", "tb/b_test.sv"], {}, [["a"], ["b"]], id="one in a testbench"),
        pytest.param(["tb/a_test.sv", "tb/b_test.sv"], {}, [["a", "b"]], id="both may reveal an older fault"),
        pytest.param(["rtl/a.sv", "rtl/b.sv", "tb/sb.sv"], {}, [["a", "b"]], id="a change for both"),
        pytest.param(["rtl/a.sv", "rtl/b.sv", "rtl/data.mem"], {}, [["a", "b"]], id="a file that both may read"),
        pytest.param(["rtl/a.sv"], {}, [["a", "b"]], id="nothing changed for one"),
        pytest.param(["rtl/a.sv", "rtl/b.sv"], {"seed": "2"}, [["a", "b"]], id="another seed"),
        pytest.param(["rtl/a.sv", "rtl/b.sv"], {"reads": {A: READS[A]}}, [["a", "b"]], id="unknown sources"),
        pytest.param(["rtl/a.sv", "rtl/b.sv"], {"passing": (A,)}, [["a", "b"]], id="one never passed"),
        pytest.param(["rtl/a.sv", "rtl/b.sv"], {"report": NO_MEMORY}, [["a", "b"]], id="a tool that failed"),
        pytest.param(["rtl/a.sv", "rtl/b.sv"], {"icarus": "13.0"}, [["a", "b"]], id="another simulator"),
        pytest.param(["rtl/a.sv", "rtl/b.sv"], {"reads": READS | {B: CUT}}, [["a", "b"]], id="a list that was cut"),
    ],
)
def test_new_failures_of_one_check_are_two_causes_if_their_simulations_read_other_changes(
    root: Path, changed: list[str], how: dict[str, Any], causes: list[list[str]]
) -> None:
    change(root, *{name for names in READS.values() for name in names}, "rtl/data.mem")
    run(root, 1, passing=how.get("passing", (A, B)), seed="1", icarus="12.0")
    for name in changed:
        change(root, name)
    facts = {"seed": "1", "reads": READS, "icarus": "12.0"} | how
    run(root, 2, A, B, **facts)
    assert causes_of(root, 2) == causes


def test_a_change_since_the_pass_of_any_test_of_a_design_counts(root: Path) -> None:
    """C reads what B reads, and last passed before a file changed that A reads, too."""
    change(root, *{name for names in READS.values() for name in names})
    run(root, 1, passing=(A, B, C), seed="1")
    change(root, "tb/sb.sv")
    run(root, 2, passing=(B,), seed="1")
    change(root, "rtl/a.sv", "rtl/b.sv")
    run(root, 3, A, B, C, seed="1", reads=READS | {C: READS[B]})
    assert causes_of(root, 3) == [["a", "b", "c"]]


def test_failures_beside_those_of_an_open_cause_are_another_cause_if_that_is_ruled_out(root: Path) -> None:
    """Later, each test keeps its cause, and artefacts that are already on record show both."""
    change(root, *{name for names in READS.values() for name in names})
    run(root, 1, passing=(A, B, C), seed="1")
    change(root, "rtl/a.sv")
    run(root, 2, A, passing=(B, C), seed="1", reads=READS)
    change(root, "rtl/b.sv")
    reads = READS | {C: ("rtl/a.sv", "rtl/c.sv")}
    run(root, 3, A, B, seed="1", reads=reads)
    assert causes_of(root, 3) == [["a"], ["b"]]
    run(root, 4, A, B, C, seed="1", reads=reads)
    assert causes_of(root, 4) == [["a", "c"], ["b"]]
    run(root, 5, B, passing=(A, C), seed="1", reads=reads)
    assert causes_of(root, 5) == [["b"]]
    with Services(resolve(root), note=pytest.fail) as services:
        record = services.history.archive.record("nightly_4")
        causes = causes_of_record(record, services, is_archived=True) if record is not None else ()
    names = {each.fingerprint for each in briefs_of(Archived(causes=causes), root)}
    assert {name.partition("/")[2] for name in names} == {"", "nightly_3/2"}
    failures = tuple(
        Failure(nodeid=name, simulator="icarus", seed="1", excerpts=(Excerpt(source="log", lines=((1, REPORT),)),))
        for name in (A, B)
    )
    with Services(resolve(root), note=pytest.fail) as services:
        again = Run(task_id="nightly_6", started="2026-11-21T06:00:00Z", finished="2026-11-21T06:00:00Z")
        found = pipeline.recalled(replace(again, failures=failures), services, "nightly_3")
    assert sorted(cause.tests for cause in found.causes) == [(A,), (B,)]
    assert {cause.news for cause in found.causes} == {"KNOWN"}


def test_advice_names_the_files_of_a_project_as_the_project_does(root: Path) -> None:
    lines = ((1, f"FileNotFoundError: [Errno 2] No such file or directory: '{root}/rtl/fifo.sv'"),)
    failed = Failure(nodeid=TEST, phase="setup", excerpts=(Excerpt(source="results", lines=lines),))
    moment = "2026-11-21T01:00:00Z"
    with Services(resolve(root), note=pytest.fail) as services:
        run = Run(task_id="nightly_1", started=moment, finished=moment, failures=(failed,))
        (cause,) = pipeline.process(run, services).causes
    assert cause.advice.startswith("Correct the path of rtl/fifo.sv ")


@pytest.mark.parametrize(
    ("files", "side"),
    [(("rtl/fifo.sv", "README.md"), "design"), (("tb/sb.sv",), "testbench"), (("rtl/fifo.sv", "tb/sb.sv"), None)],
)
def test_a_failure_after_a_pass_knows_which_side_changed(root: Path, files: tuple[str, ...], side: str | None) -> None:
    run(root, 1)
    change(root, *files)
    reasons = " ".join(run(root, 2, TEST)[TEST].reasons)
    assert ("since it passed at" in reasons) is (side is not None)
    assert side is None or re.search(f"only {side} files changed since it passed at [0-9a-f]+: {files[0]}", reasons)


def test_comments_and_white_space_are_of_no_side(root: Path) -> None:
    commit(root, "wire a;\n", "tb/sb.sv")
    run(root, 1)
    change(root, "rtl/fifo.sv")
    commit(root, "// of no side\n\n", "tb/sb.sv")
    (root / "tb" / "sb.sv").write_text((root / "tb" / "sb.sv").read_text().replace("wire a;", "  wire  a;"))
    git(root, "commit", "--quiet", "-am", "indent")
    assert any(map(DESIGN_CHANGED, run(root, 2, TEST)[TEST].reasons))


def test_uncommitted_changes_count_and_runs_with_them_are_no_last_pass(root: Path) -> None:
    run(root, 1)
    change(root, "rtl/fifo.sv", "tb/sb.sv")
    (root / "rtl" / "fifo.sv").write_text("dirty")
    run(root, 2)
    git(root, "checkout", "--quiet", "rtl/fifo.sv")
    assert not any("since it passed" in reason for reason in run(root, 3, TEST)[TEST].reasons)
    run(root, 4)
    (root / "rtl" / "fifo.sv").write_text("dirty")
    assert any(map(DESIGN_CHANGED, run(root, 5, TEST)[TEST].reasons))


def test_a_cause_that_stays_keeps_the_origin_of_the_change_it_came_with(root: Path) -> None:
    run(root, 1, seed="1")
    change(root, "rtl/fifo.sv")
    assert run(root, 2, TEST, seed="1")[TEST].type == "RTL_BUG"
    change(root, "tb/sb.sv")
    for number, seed in ((3, "2"), (4, "1")):
        later = run(root, number, TEST, seed=seed)[TEST]
        assert later.type == "RTL_BUG", later
        assert re.search(
            "only design files changed since it passed at .{8} and until it failed at .{8}: rtl/fifo.sv",
            later.reasons[0],
        )
    run(root, 5, seed="1")
    assert run(root, 6, TEST, seed="2")[TEST].type == "UNKNOWN"


@pytest.mark.parametrize(
    ("files", "side"),
    [
        (("rtl/fifo.sv", "README.md"), "RTL_BUG"),
        (("tb/sb.sv",), "TB_BUG"),
        (("rtl/fifo.sv", "tb/sb.sv"), "UNKNOWN"),
        (("rtl/fifo.sv", "Makefile"), "UNKNOWN"),
    ],
)
def test_a_test_that_fails_with_each_seed_since_a_change_of_one_side_most_likely_has_it_from_there(
    root: Path, files: tuple[str, ...], side: str
) -> None:
    run(root, 1, seed="1")
    change(root, *files)
    assert run(root, 2, TEST, seed="2")[TEST].type == "UNKNOWN", "it may be an old fault that few seeds show"
    assert run(root, 3, TEST, seed="2")[TEST].type == "UNKNOWN", "one seed is one piece of evidence"
    change(root, "tb/other.sv")
    origin = run(root, 4, TEST, seed="3")[TEST]
    assert origin.type == side
    if side != "UNKNOWN":
        assert "(with another seed; 2 failing runs since)" in origin.reasons[0]
        assert origin.confidence < 0.86
    run(root, 5, seed="4")
    assert run(root, 6, TEST, seed="5")[TEST].type == "UNKNOWN", "it passes with some seeds"


OTHER = "tests/test_fifo.py::test_fifo::underflow"


@pytest.mark.parametrize("order", [(TEST, OTHER), (OTHER, TEST)])
def test_a_cause_has_the_origin_of_its_own_range_whatever_other_test_its_check_fails_too(
    root: Path, order: tuple[str, str]
) -> None:
    run(root, 1, seed="1", passing=(TEST, OTHER))
    change(root, "tb/sb.sv")
    run(root, 2, OTHER, seed="1")
    change(root, "rtl/fifo.sv")
    assert run(root, 3, *order, seed="1")[OTHER].type == "TB_BUG", "the test passed with the changed testbench"


@pytest.mark.parametrize("order", [(TEST, OTHER), (OTHER, TEST)])
def test_a_test_that_passed_since_takes_nothing_from_the_origin(root: Path, order: tuple[str, str]) -> None:
    change(root, "rtl/alu.sv")
    reads = {TEST: ("rtl/alu.sv", "tb/sb.sv"), OTHER: ("rtl/fifo.sv", "tb/sb.sv")}
    run(root, 1, seed="1", passing=(TEST, OTHER))
    change(root, "rtl/fifo.sv")
    run(root, 2, OTHER, seed="1", reads=reads)
    change(root, "rtl/alu.sv")
    assert run(root, 3, *order, seed="1", reads=reads)[OTHER].type == "RTL_BUG"


@pytest.mark.parametrize("order", [(TEST, OTHER), (OTHER, TEST)])
def test_the_last_pass_of_a_test_counts_for_its_cause(root: Path, order: tuple[str, str]) -> None:
    run(root, 1, seed="1", passing=(TEST, OTHER))
    change(root, "tb/sb.sv")
    run(root, 2, seed="1", passing=(OTHER,))
    change(root, "rtl/fifo.sv")
    assert run(root, 3, *order, seed="1")[TEST].type == "RTL_BUG"


def test_a_cause_whose_simulations_read_other_changed_files_has_no_side(root: Path) -> None:
    change(root, "rtl/alu.sv")
    run(root, 1, seed="1", passing=(TEST, OTHER))
    change(root, "rtl/alu.sv", "tb/sb.sv")
    reads = {TEST: ("rtl/alu.sv", "tb/sb.sv"), OTHER: ("rtl/fifo.sv", "tb/sb.sv")}
    assert run(root, 2, TEST, OTHER, seed="1", reads=reads)[TEST].type == "UNKNOWN"


def test_a_change_that_was_undone_says_nothing_of_the_fault_that_the_check_reports_now(root: Path) -> None:
    run(root, 1, seed="1")
    change(root, "rtl/fifo.sv")
    run(root, 2, TEST, seed="2")
    git(root, "revert", "--no-edit", "HEAD")
    change(root, "tb/sb.sv")
    assert run(root, 3, TEST, seed="3")[TEST].type == "UNKNOWN"


def test_no_seed_is_named_where_none_can_change_the_cause(root: Path) -> None:
    """New names of the design's files do not make a wrong path in the makefile a fault of the design."""
    run(root, 1, seed="1")
    change(root, "rtl/fifo.sv")
    missing = "make: *** No rule to make target 'rtl/queue.sv', needed by 'sim'."
    for number in (2, 3):
        origin = run(root, number, TEST, report=missing)[TEST]
        assert origin.type == "TB_BUG"
        assert not any("seed" in reason for reason in origin.reasons)


def test_edits_of_one_side_most_likely_made_a_test_fail_with_each_seed(root: Path) -> None:
    run(root, 1, seed="1")
    (root / "rtl" / "fifo.sv").write_text("dirty")
    assert run(root, 2, TEST, seed="2")[TEST].type == "UNKNOWN"
    assert run(root, 3, TEST, seed="3")[TEST].type == "RTL_BUG"


def test_of_a_range_in_which_both_sides_changed_the_part_since_the_last_pass_is_likely(root: Path) -> None:
    run(root, 1, seed="9")
    change(root, "tb/sb.sv")
    run(root, 2, seed="1")
    change(root, "rtl/fifo.sv")
    run(root, 3, TEST, seed="2")
    assert run(root, 4, TEST, seed="9")[TEST].type == "RTL_BUG"


def test_a_cause_that_returns_has_the_origin_of_the_change_it_came_back_with(root: Path) -> None:
    """Enough passes with other seeds show that it was absent, although none of these seeds fails now."""
    for number in range(1, 4):
        run(root, number, TEST, seed=str(number))
    change(root, "rtl/fifo.sv", "tb/sb.sv")
    for number in range(4, 10):
        run(root, number, seed=str(number))
    (root / "rtl" / "fifo.sv").write_text("relaxed")
    git(root, "commit", "--quiet", "-am", "relax")
    origin = run(root, 10, TEST, seed="10")[TEST]
    assert origin.type == "RTL_BUG"
    assert any(map(DESIGN_CHANGED, origin.reasons))


def test_what_changed_by_now_says_nothing_of_artefacts_of_any_time(root: Path) -> None:
    run(root, 1)
    commit = git(root, "rev-parse", "HEAD").stdout.strip()
    change(root, "rtl/fifo.sv")
    middle = git(root, "rev-parse", "HEAD").stdout.strip()
    change(root, "tb/sb.sv")
    for number, vcs in enumerate((Vcs(), Vcs(commit=commit)), start=2):
        assert not any("since it passed" in reason for reason in run(root, number, TEST, vcs=vcs)[TEST].reasons)
    told = run(root, 4, TEST, vcs=Vcs(commit=middle))[TEST].reasons
    assert any(map(DESIGN_CHANGED, told))


def test_uncommitted_changes_count_for_artefacts_while_they_are_there(root: Path) -> None:
    run(root, 1)
    change(root, "tb/sb.sv")
    (root / "rtl" / "fifo.sv").write_text("dirty")
    state = repository.Repository(resolve(root).layout).state()
    told = run(root, 2, TEST, vcs=state)[TEST].reasons
    assert state.dirty
    assert not any("since it passed" in reason for reason in told)
    git(root, "checkout", "--quiet", "rtl/fifo.sv")
    assert not any("since it passed" in reason for reason in run(root, 3, TEST, vcs=state)[TEST].reasons)


def test_a_pass_on_another_branch_is_none_since_which_anything_changed(root: Path) -> None:
    run(root, 1)
    first = git(root, "rev-parse", "HEAD").stdout.strip()
    git(root, "checkout", "--quiet", "-b", "other")
    change(root, "rtl/fifo.sv")
    run(root, 2)
    git(root, "checkout", "--quiet", "main")
    change(root, "tb/sb.sv")
    told = run(root, 3, TEST)[TEST].reasons
    assert f"in the repository, only testbench files changed since it passed at {first[:8]}: tb/sb.sv" in told


@pytest.mark.parametrize(("seed", "is_fixed"), [("44", True), (None, False)])
def test_a_build_is_repaired_although_the_only_test_inside_fails_now(
    root: Path, seed: str | None, is_fixed: bool
) -> None:
    runner = TEST.rpartition("::")[0]
    run(root, 1, runner, report="%Error: rtl/fifo.sv:3:1: syntax error, unexpected endmodule")
    change(root, "rtl/fifo.sv")
    report = Failure(
        nodeid=TEST,
        in_simulator=True,
        simulator="icarus",
        seed=seed,
        excerpts=(Excerpt(source="log", lines=((1, REPORT),)),),
    )
    moment = "2026-11-21T02:00:00Z"
    results = (Result(nodeid=TEST, outcome="failed", simulator="icarus", seed=seed),)
    with Services(resolve(root), note=pytest.fail) as services:
        done = Run(task_id="nightly_2", started=moment, finished=moment, failures=(report,), results=results)
        archived = pipeline.process(done, services)
    told = [(each.word, each.tests, each.fails_inside) for each in archived.passed]
    assert told == ([("FIXED", (runner,), (runner,))] if is_fixed else [])
    fixes = [each.cause.newest_fix for each in archived.passed if each.cause is not None]
    assert [fix.result for fix in fixes if fix is not None] == ["held"] * is_fixed


@pytest.mark.parametrize(("build", "fails_inside"), [("11112222", True), ("33334444", False)])
def test_a_folder_of_several_designs_has_a_failing_test_inside_only_if_its_design_is_the_same(
    root: Path, build: str, *, fails_inside: bool
) -> None:
    design, moment = "11112222", "2026-11-2{}T02:00:00Z"
    broken = Failure(
        nodeid="out",
        in_simulator=True,
        simulator="ghdl",
        config=f"{design}0000",
        excerpts=(Excerpt(source="log", lines=((1, 'rtl/fifo.vhd:7:3: no declaration for "addres"'),)),),
    )
    wrong = Failure(
        nodeid="out/b.xml::moves",
        in_simulator=True,
        simulator="ghdl",
        config=f"{build}aaaa",
        seed="7",
        excerpts=(Excerpt(source="log", lines=((1, REPORT),)),),
    )
    good = Result(nodeid="out/a.xml::fills", outcome="passed", simulator="ghdl", config=f"{design}bbbb", seed="7")
    said = []
    for number, failure in enumerate((broken, wrong), start=1):
        ended = Result(
            nodeid=failure.nodeid, outcome="failed", simulator="ghdl", config=failure.config, seed=failure.seed
        )
        when = moment.format(number)
        results = (ended, good) if number > 1 else (ended,)
        with Services(resolve(root), note=pytest.fail) as services:
            done = Run(task_id=f"nightly_{number}", started=when, finished=when, failures=(failure,), results=results)
            said = [(each.tests, each.fails_inside) for each in pipeline.process(done, services).passed]
        change(root, "rtl/fifo.vhd")
    assert said == [(("out",), ("out",) if fails_inside else ())]


def count_calls(monkeypatch: pytest.MonkeyPatch, of: type, name: str, asked: list[str]) -> None:
    """Add the name of a method to a list at each call."""
    real = getattr(of, name)

    def listening(*arguments: object, **options: object) -> object:
        asked.append(name)
        return real(*arguments, **options)

    monkeypatch.setattr(of, name, listening)


def test_of_many_tests_of_a_cause_each_question_is_asked_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test once asked for all tests of its cause; for a repaired build of 2,000 tests that took 17 seconds."""
    tests = [TEST, *(f"tests/test_fifo.py::test_fifo::other{number}" for number in range(50))]
    run(root, 1, *tests, report="%Error: rtl/fifo.sv:3:1: syntax error, unexpected endmodule")
    change(root, "rtl/fifo.sv")
    asked: list[str] = []
    count_calls(monkeypatch, Archive, "newest_occurrence", asked)
    count_calls(monkeypatch, repository.Repository, "difference", asked)
    with Services(resolve(root), note=pytest.fail) as services:
        moment = "2026-11-21T02:00:00Z"
        results = tuple(Result(nodeid=name, outcome="passed", simulator="icarus") for name in tests)
        done = Run(task_id="nightly_2", started=moment, finished=moment, results=results)
        archived = pipeline.process(done, services)
    assert archived.record is not None
    assert len(archived.record.passed_again) == len(tests)
    assert asked.count("difference") == 1
    assert asked.count("newest_occurrence") < 10


def test_a_cause_whose_statement_prints_forty_names_is_summed_up_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each name is a fingerprint, and each once read all others; 1,500 names took minutes."""
    tests = [f"tests/test_alu.py::test_alu::test_{first}{second}" for first in "ghijk" for second in "lmnopqrs"]
    report = "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] operation NAME expected 12 got 13"
    asked: list[str] = []
    for name in ("newest_occurrence", "rates"):
        count_calls(monkeypatch, Archive, name, asked)
    for night, before in ((1, len(tests)), (2, 0)):
        asked.clear()
        run(root, night, *tests, report=report)
        assert len(list((root / ".agent" / "wiki" / "bugs").glob("[RTU]*.md"))) == 1
        assert asked.count("newest_occurrence") < before + 10, "each name is looked up before it is joined"
        assert asked.count("rates") < 10


def mended(root: Path, seeds: str, unseeded: str) -> Fix:
    """Archive a run for each seed, all but the last with a failure and a change before each; return the fix."""
    for number, seed in enumerate(seeds, start=1):
        change(root, "rtl/fifo.sv")
        is_last = number == len(seeds)
        result = Result(nodeid=TEST, outcome="passed" if is_last else "failed", simulator="icarus", seed=seed)
        failure = Failure(
            nodeid=TEST,
            in_simulator=True,
            simulator="icarus",
            seed=seed,
            seeded=True,
            unseeded=unseeded,
            excerpts=(Excerpt(source="log", lines=((1, REPORT),)),),
        )
        moment = f"2026-11-21T{number:02d}:00:00Z"
        failures = () if is_last else (failure,)
        done = Run(task_id=f"n_{number}", started=moment, finished=moment, failures=failures, results=(result,))
        with Services(resolve(root), note=pytest.fail) as services:
            done = replace(done, vcs=repository.Repository(services.settings.layout).state())
            archived = pipeline.process(done, services)
    (passed,) = archived.passed
    assert passed.cause is not None
    assert passed.cause.newest_fix is not None
    return passed.cause.newest_fix


@pytest.mark.parametrize(("unseeded", "counts"), [("", True), ("tb/gen.py", False)])
def test_a_pass_with_the_seed_that_failed_proves_nothing_where_the_seed_does_not_decide_the_stimulus(
    root: Path, unseeded: str, counts: bool
) -> None:
    assert mended(root, "44", unseeded).counts is counts


def test_each_failure_with_stimulus_that_no_seed_decides_counts(tmp_path: Path) -> None:
    """Three failing runs with newly drawn stimulus are three failures, as with three seeds."""
    cases = (("seeds", "1239", ""), ("draws", "4449", "tb/gen.py"), ("seed", "4449", ""))
    of_seeds, of_draws, of_one_seed = (
        mended(project(tmp_path / name), seeds, unseeded).needed for name, seeds, unseeded in cases
    )
    assert of_seeds == of_draws < of_one_seed


def test_git_is_not_asked_where_nothing_failed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(root, 1)
    asked: list[tuple[str, ...]] = []
    real = command.git

    def listening(root: Path, *arguments: str, timeout: float = 20.0) -> str | None:
        asked.append(arguments)
        return real(root, *arguments, timeout=timeout)

    for module in (command, repository):
        monkeypatch.setattr(module, "git", listening)
    run(root, 2)
    assert not [arguments for arguments in asked if "--name-only" in arguments]
    run(root, 3, TEST, "tests/test_fifo.py::test_fifo::other")
    assert len([arguments for arguments in asked if "--name-only" in arguments]) == 1


@pytest.mark.parametrize("commit", ["--output=stolen", "HEAD~1", "0" * 40, ""])
def test_a_commit_that_git_does_not_know_is_no_evidence(root: Path, commit: str) -> None:
    assert repository.Repository(resolve(root).layout).changed_since(commit) == ()
    assert not (root / "stolen").exists()


def test_a_decided_page_teaches_other_causes_of_its_pattern(root: Path) -> None:
    assert run(root, 1, TEST)[TEST].type == "UNKNOWN"
    (page,) = (root / ".agent" / "wiki" / "bugs").glob("UNK*.md")
    page.write_text(page.read_text().replace("type: UNKNOWN", "type: TB_BUG"))
    again = run(root, 2, TEST)[TEST]
    assert (again.type, again.reasons[0]) == ("TB_BUG", "a person changed the type on its page: TB_BUG")
    other = run(root, 3, TEST, report=REPORT.replace("sb.sv", "other_sb.sv"))[TEST]
    assert any("for 1 of 1 other cause with the pattern " in reason for reason in other.reasons)


def test_a_thousand_seeds_of_one_bug_are_one_cause_with_one_page(root: Path) -> None:
    tests = [f"tests/test_fifo.py::test_fifo[{seed}]" for seed in range(1000)]
    origins = run(root, 1, *tests)
    assert len(set(origins.values())) == 1
    assert len(list((root / ".agent" / "wiki" / "bugs").glob("[RTU]*.md"))) == 1
