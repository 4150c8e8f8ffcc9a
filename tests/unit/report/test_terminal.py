"""The section at the end of a run has the words that an engineer needs first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from msgspec.structs import replace

from pytest_dvwiki.causes.cause import Cause, PageFacts
from pytest_dvwiki.causes.passed import Lasting, Passed, passed
from pytest_dvwiki.model import (
    BinRow,
    Command,
    FailedTest,
    FirstBad,
    Fix,
    FixRow,
    Frame,
    Occurrence,
    Origin,
    PassedAgain,
    Place,
    Result,
    RunnerUp,
    RunRecord,
    Verdict,
    Waived,
)
from pytest_dvwiki.pipeline import Archived
from pytest_dvwiki.records.subtype_history import SubtypeHistory
from pytest_dvwiki.records.targets import Target
from pytest_dvwiki.report.terminal import Session, render
from pytest_dvwiki.triage.holes import CoverageNews

from .. import known_causes as on_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_dvwiki.model import Change

ROOT = Path("/work/project")
WIKI = ROOT / ".agent" / "wiki"
RECORD = RunRecord(
    task_id="regression_x",
    tool="t",
    registry="r",
    fingerprint_version=1,
    started="2026-11-21T20:25:11Z",
    finished="2026-11-21T20:25:11Z",
    duration_s=0,
)
OCCURRENCE = Occurrence(
    fingerprint="9b1f03c2a7d4",
    error_class="uvm_error",
    failure_subtype="scoreboard_fail",
    pattern="uvm.scoreboard_mismatch",
    origin=Origin(type="RTL_BUG", confidence=0.82, reasons=("fails with 3 of 3 seeds",)),
    primary="UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] expected 0x12 got 0x13",
    tests=tuple(
        FailedTest(nodeid=f"tests/test_fifo.py::test_fifo::{name}", seed=seed)
        for name, seed in [("overflow", "42"), ("wrap", "137"), ("drain", "891"), ("full", "891")]
    ),
    excerpt="line one\nline two\n",
    command=Command(
        arguments=("pytest", "tests/test_fifo.py::test_fifo"),
        variables={"COCOTB_RANDOM_SEED": "42", "COCOTB_TEST_FILTER": "overflow$"},
        test="tests/test_fifo.py::test_fifo::overflow",
    ),
)
VERDICT = Verdict(
    error_class="uvm_error",
    failure_subtype="scoreboard_fail",
    fingerprint="9b1f03c2a7d4",
    primary=OCCURRENCE.primary,
    pattern="uvm.scoreboard_mismatch",
    line=12,
    source="log",
    rule="earliest cause",
    runners_up=(RunnerUp(pattern="python.assert", line=20, text="AssertionError"),),
)
NEW = Cause(
    name="9b1f03c2a7d4",
    occurrence=OCCURRENCE,
    verdict=VERDICT,
    news="NEW",
    page_to_read=".agent/wiki/bugs/RTL_20261121_480127.md",
)
HELD = Fix(
    text="regs: ack in same cycle",
    result="held",
    commits=("aaaaaaaaaa", "ffffffffff"),
    date="2026-11-02",
    log=("1f0c2aabbb regs: ack in same cycle",),
    log_count=1,
    files=("rtl/regs.v", "rtl/axi.v", "rtl/a.v", "rtl/b.v"),
    file_count=7,
    passes=4,
    needed=4,
)
FAILED = replace(HELD, result="failed", passes=0)
KNOWN = replace(NEW, news="KNOWN", history=on_record.history(), advice="Put `timescale on line 1.")
REGRESSED = replace(
    NEW,
    news="REGRESSED",
    history=on_record.history(HELD, HELD, HELD),
    page=PageFacts(path="bugs/RTL_20261121_480127.md", status="closed"),
)


def shown(*causes: Cause, verbosity: int = 0, width: int = 80, **kwargs: object) -> list[str]:
    archived = Archived(causes=causes)
    session = Session(archived=archived, root=ROOT, wiki=ROOT / ".agent" / "wiki")
    session = replace(session, **kwargs)
    return [line.text for line in render(session, verbosity=verbosity, width=width)]


def test_a_new_cause_shows_label_origin_tests_seeds_first_cause_command_and_page() -> None:
    assert shown(NEW) == [
        "1 cause behind 4 failed tests: 1 new",
        "",
        "NEW        uvm_error / scoreboard_fail                             RTL bug, 82 %",
        "  4 tests, seeds 42 137 891: test_fifo::overflow, test_fifo::wrap,",
        "  test_fifo::drain, +1",
        "  UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] expected 0x12 got 0x13",
        "  run    COCOTB_RANDOM_SEED=42 COCOTB_TEST_FILTER='overflow$' pytest \\",
        "         tests/test_fifo.py::test_fifo",
        "  page   .agent/wiki/bugs/RTL_20261121_480127.md",
    ]


def test_a_cause_without_a_page_of_its_own_shows_the_id_by_which_commands_know_it() -> None:
    lines = shown(replace(NEW, page_to_read=".agent/wiki/patterns/license_error.md"))
    assert lines[-2:] == ["  page   .agent/wiki/patterns/license_error.md", "  id     9b1f03c2a7d4"]


def test_a_new_page_that_says_what_an_older_one_says_proposes_to_merge_them() -> None:
    lines = shown(replace(NEW, like=("RTL_20260420_118220", "RTL_20261121_480127")))
    assert lines[-2:] == [
        "  like   RTL_20260420_118220; if both have the same cause:",
        "         dvwiki merge RTL_20260420_118220 RTL_20261121_480127",
    ]


def test_a_known_cause_shows_since_when_how_often_and_its_fix() -> None:
    lines = shown(KNOWN)
    assert "  seen in 7 runs since 2026-04-20" in lines
    assert "  fix    Put `timescale on line 1." in lines


@pytest.mark.parametrize(("verbosity", "times"), [(0, 1), (1, 2)])
def test_advice_that_was_given_for_another_cause_is_not_repeated(verbosity: int, times: int) -> None:
    other = replace(KNOWN, occurrence=replace(KNOWN.occurrence, fingerprint="000000000001"), name="000000000001")
    lines = shown(KNOWN, other, verbosity=verbosity)
    assert [line.startswith("  fix ") for line in lines].count(True) == times


def test_a_known_cause_shows_who_works_on_it_and_where() -> None:
    page = PageFacts(path="bugs/RTL_20261121_480127.md", owner="fifo team", links=("https://tracker.example.com/1",))
    assert "  owner fifo team; see https://tracker.example.com/1" in shown(replace(KNOWN, page=page))


@pytest.mark.parametrize(
    ("runs", "held", "failed", "told"),
    [
        (1, 0, 0, "seen once before, on 2026-04-20"),
        (1, 1, 0, "seen once before, on 2026-04-20, 1 fix held"),
        (2, 0, 1, "seen in 2 runs since 2026-04-20, 1 fix failed"),
        (5, 0, 2, "seen in 5 runs since 2026-04-20, 2 fixes failed"),
    ],
)
def test_of_one_run_and_one_fix_it_speaks_as_of_one(runs: int, held: int, failed: int, told: str) -> None:
    known = replace(KNOWN, history=on_record.history(*[HELD] * held, *[FAILED] * failed, runs=runs))
    assert f"  {told}" in shown(known)


def test_a_cause_that_nobody_wants_fixed_is_told_in_short() -> None:
    lines = shown(replace(KNOWN, page=PageFacts(path="bugs/RTL_20261121_480127.md", status="wont_fix")))
    assert "  seen in 7 runs since 2026-04-20, wont fix" in lines
    assert lines[-1] == "  page   .agent/wiki/bugs/RTL_20261121_480127.md"
    assert not any(line.startswith(("  fix", "  run")) for line in lines)


def test_a_regressed_cause_shows_what_fixed_it_last() -> None:
    text = " ".join(" ".join(shown(REGRESSED)).split())
    assert "seen in 7 runs since 2026-04-20, closed, 3 fixes held" in text
    assert "fixed by 1f0c2aa regs: ack in same cycle (rtl/regs.v, rtl/axi.v, rtl/a.v, +4), 2026-11-02" in text
    dated = shown(REGRESSED, archived=Archived(causes=(REGRESSED,), record=RECORD))
    assert ", 2026-11-02, held 19 days" in " ".join(" ".join(dated).split())
    again = replace(REGRESSED, history=on_record.history(replace(HELD, returned="2026-11-12T03:00:00Z")))
    told = " ".join(" ".join(shown(again, archived=Archived(causes=(again,), record=RECORD))).split())
    assert ", 2026-11-02, held 10 days, back since 2026-11-12" in told


def test_a_known_cause_shows_the_fix_that_did_not_help() -> None:
    opened = Fix(text="regs: wait", commits=("a" * 40, "b" * 40), date="2026-11-20T10:00:00Z")
    known = replace(KNOWN, history=on_record.history(opened))
    assert "  maybe not fixed by bbbbbbb regs: wait, 2026-11-20" in shown(known)
    passed_once = replace(KNOWN, history=on_record.history(replace(opened, passes=1)))
    assert "  failed again after the fix by bbbbbbb regs: wait, 2026-11-20" in shown(passed_once)
    words = {
        True: "failed again {}; that fix is still in place: maybe another fault",
        False: "came back {}; that fix was undone",
    }
    for in_place, expected in words.items():
        lines = shown(replace(passed_once, fix_in_place=in_place))
        assert expected.format("after the fix by bbbbbbb regs: wait, 2026-11-20") in " ".join(" ".join(lines).split())
    long = on_record.history(replace(opened, text="regs: wait; " * 30, passes=1))
    lines = shown(replace(KNOWN, history=long, fix_in_place=False))
    assert " ".join(" ".join(lines).split()).count("that fix was undone") == 1
    chance = replace(KNOWN, history=on_record.history(replace(opened, passes=1, counts=False)))
    assert "  maybe not fixed by bbbbbbb regs: wait, 2026-11-20" in shown(chance)


def test_a_new_cause_of_a_known_kind_says_so() -> None:
    subtype = SubtypeHistory(
        name="scoreboard_fail",
        error_class="uvm_error",
        runs=4,
        tests=9,
        first_seen="2026-05-01",
        last_seen="2026-06-01",
        patterns=(),
        rows=(),
        words={},
        causes=1,
        fixes=(),
        held=1,
        failed=1,
    )
    lines = shown(replace(NEW, subtype=subtype))
    text = " ".join(" ".join(lines).split())
    assert "other causes of its subtype: seen in 4 runs since 2026-05-01, 1 fix held, 1 failed" in text


def test_a_failure_without_a_pattern_says_how_to_get_one() -> None:
    unknown = replace(OCCURRENCE, error_class="unknown", failure_subtype="unknown", pattern=None)
    nameless = replace(NEW, occurrence=unknown, verdict=replace(VERDICT, pattern=None))
    assert "dvwiki patterns propose" in " ".join(shown(nameless))
    assert "dvwiki patterns propose" not in " ".join(shown(NEW))


def test_what_is_news_stands_before_what_is_known() -> None:
    lines = shown(KNOWN, REGRESSED, NEW)
    headings = [line.split()[0] for line in lines if line.startswith(("NEW", "REGRESSED", "KNOWN"))]
    assert headings == ["NEW", "REGRESSED", "KNOWN"]


def test_quiet_is_one_line() -> None:
    assert shown(NEW, KNOWN, verbosity=-1) == ["dvwiki: 2 causes, 1 new, 1 known; .agent/wiki/index.md"]
    fixed = replace(RECORD, fixes=(FixRow(fingerprint="9b1f03c2a7d4"),), passed_again=(SAME_SEED,))
    line = "dvwiki: 1 cause, 1 known, 1 fixed; .agent/wiki/index.md"
    assert shown(verbosity=-1, archived=passes(fixed, KNOWN)) == [line]
    headline = "1 cause behind 4 failed tests: 1 known; 1 fixed"
    assert shown(archived=passes(fixed, KNOWN))[0] == headline
    line = "dvwiki: 1 fixed; .agent/wiki/index.md"
    assert shown(verbosity=-1, archived=passes(fixed)) == [line]


def test_verbose_adds_pattern_reasons_runners_up_excerpt_and_noise() -> None:
    lines = shown(NEW, verbosity=1, noise=(Result(nodeid="t.py::test_x", outcome="passed", noise_errors=2),))
    assert "  why    uvm.scoreboard_mismatch at line 12 of the log; earliest cause" in lines
    assert "  origin fails with 3 of 3 seeds" in lines
    assert "  not    python.assert: AssertionError" in lines
    assert "  | line two" in lines
    assert lines[-2:] == ["2 error lines in 1 test that passed:", "     2  test_x"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    long = replace(NEW, occurrence=replace(OCCURRENCE, primary="word " * 200))
    for line in shown(long, verbosity=1, width=width):
        # Text to copy is never cut: the path of a page, and each word of a command.
        label, words = line[:9].strip(), line[9:].removesuffix(" \\").split()
        uncut = label in {"page", "run", ""} and len(words) == 1
        assert len(line) <= width or uncut, line


def test_a_wide_terminal_keeps_the_origin_near() -> None:
    assert shown(NEW, width=200)[2].endswith("RTL bug, 82 %")
    assert len(shown(NEW, width=200)[2]) == 80


def test_of_very_many_causes_the_first_twenty_are_shown() -> None:
    causes = [replace(NEW, occurrence=replace(OCCURRENCE, fingerprint=f"{n:012x}")) for n in range(25)]
    lines = shown(*causes)
    assert sum(line.startswith("NEW ") for line in lines) == 20
    assert "5 more causes: see .agent/wiki/index.md" in lines


def test_a_wiki_that_was_not_written_names_the_journal() -> None:
    archived = Archived(causes=(NEW,), problem="/x/wiki: locked by host:123")
    lines = [
        line.text
        for line in render(
            Session(archived=archived, root=ROOT, wiki=ROOT / "wiki", journal=ROOT / ".agent/journal/run_1"),
            verbosity=-1,
            width=80,
        )
    ]
    kept = f"the failures are saved in {ROOT}/.agent/journal/run_1; the next run archives them"
    assert lines == [
        "dvwiki: 1 cause, 1 new",
        f"dvwiki: the wiki was not written: /x/wiki: locked by host:123; {kept}",
    ]


def test_what_was_archived_is_said_last() -> None:
    archived = Archived(causes=(NEW,), record=RECORD, written=True, pages=14, seconds=0.31)
    lines = [line.text for line in render(Session(archived=archived, root=ROOT, wiki=ROOT), verbosity=0, width=80)]
    assert lines[-1] == "archived as regression_x (14 pages, 0.3 s)"


AGAIN = PassedAgain(nodeid="t.py::test_x::a", fingerprint="9b1f03c2a7d4", seed="43", changed="commit", failed_seed="42")
SAME_SEED = replace(AGAIN, seed="42")
GONE = on_record.cause(HELD)


def passes(
    record: RunRecord,
    *causes: Cause,
    known: Cause = GONE,
    lasting: Lasting | None = None,
    written: bool = False,
    commands: Mapping[tuple[str, str, str | None], Command] | None = None,
) -> Archived:
    """Return the result of a run with some causes, in which the tests of a known cause pass again."""
    names = {known.name: known, "7" * 12: known}
    said = tuple(passed(record, causes, names, lasting or Lasting(), commands=commands or {}, written=written))
    return Archived(causes=causes, record=record, passed=said, written=written)


def test_a_known_failure_that_is_fixed_is_told_with_its_commit() -> None:
    row = FixRow(fingerprint="9b1f03c2a7d4", text=HELD.text, commits=HELD.commits, log=HELD.log, files=("rtl/regs.v",))
    record = replace(RECORD, passed_again=(SAME_SEED,), fixes=(row,))
    assert shown(archived=passes(record)) == [
        "FIXED      sim_error / timeout",
        "  1 test passes again: test_x::a",
        "  by     1f0c2aa regs: ack in same cycle (rtl/regs.v)",
        "  page   .agent/wiki/bugs/RTL_20261121_480127.md",
    ]


def test_passes_count_for_the_fix_of_their_tests() -> None:
    """A later fix of the cause belongs to another fault at the same check."""
    row = FixRow(fingerprint="9b1f03c2a7d4", text=HELD.text, commits=HELD.commits, log=HELD.log)
    record = replace(RECORD, passed_again=(replace(AGAIN, simulator="verilator"),), fixes=(row,))
    theirs = replace(on_record.state(HELD), tests=(Target(AGAIN.nodeid, "verilator"),))
    later = replace(
        on_record.state(replace(HELD, result="open", counts=False)), tests=(Target("t.py::test_y", "ghdl"),)
    )
    for states, word in (((theirs, later), "FIXED"), ((theirs, replace(later, tests=theirs.tests)), "PASSED")):
        known = replace(GONE, history=replace(on_record.HISTORY, fixes=states))
        assert shown(archived=passes(record, known=known, written=True))[0].startswith(word), word


def test_a_doubt_about_a_known_cause_is_never_cut() -> None:
    log = tuple(f"{number:07x} a commit with a very long subject that needs a line of its own" for number in range(9))
    cause = replace(KNOWN, first_bad=replace(CAME, log=log, log_count=9), doubt="hidden")
    assert "sources changed: maybe another fault" in " ".join(" ".join(shown(cause)).split())


def test_fixes_come_before_other_passes_and_of_many_some_are_printed() -> None:
    fixed = Passed(word="FIXED", name="f" * 12, cause=None)
    by_chance = [Passed(word="PASSED", name=f"{number:012x}", cause=None) for number in range(25)]
    lines = shown(archived=Archived(causes=(), record=RECORD, passed=(*by_chance, fixed), written=True))
    assert lines[0] == f"FIXED      {fixed.name}"
    assert sum(line.startswith("PASSED") for line in lines) == 19
    assert "6 more causes whose tests pass: dvwiki status lists them" in lines


def test_causes_with_one_page_are_fixed_once() -> None:
    other = replace(SAME_SEED, nodeid="t.py::test_x::b", fingerprint="7" * 12)
    row = FixRow(text=HELD.text, commits=HELD.commits, log=HELD.log)
    rows = tuple(replace(row, fingerprint=each.fingerprint) for each in (SAME_SEED, other))
    record = replace(RECORD, passed_again=(SAME_SEED, other), fixes=rows)
    lines = shown(NEW, archived=passes(record, NEW))
    assert [line for line in lines if line.startswith("FIXED")] == ["FIXED      sim_error / timeout"]
    assert "  2 tests pass again: test_x::a, test_x::b" in lines
    assert lines[0].endswith("; 1 fixed")


CAME = FirstBad(
    fingerprint="9b1f03c2a7d4",
    nodeid="t.py::test_x::a",
    good="aaaaaaaaaa",
    bad="ffffffffff",
    log=("ffffffffff regs: ack", "bbbbbbbbbb fifo: rework"),
    log_count=2,
    files=("rtl/regs.v",),
    file_count=1,
    owners=("@regs", "@anna"),
)


def test_a_cause_shows_the_commits_with_which_it_came() -> None:
    lines = shown(replace(NEW, first_bad=CAME))
    assert "  came   with one of 2 commits after aaaaaaa up to fffffff: fffffff regs: ack;" in lines
    assert "         bbbbbbb fifo: rework; owners @regs @anna" in lines
    one = replace(CAME, log=CAME.log[:1], log_count=1, owners=())
    lines = shown(replace(NEW, first_bad=one))
    assert "  came   with fffffff regs: ack (rtl/regs.v)" in lines
    beside = " ".join(" ".join(shown(replace(NEW, first_bad=replace(CAME, log_count=9, unread_count=8)))).split())
    only = "the only one of 9 commits after aaaaaaa up to fffffff that changes code known to be read"
    assert f"came with fffffff regs: ack, {only}" in beside
    assert "fifo: rework" not in beside


def test_what_somebody_wrote_into_a_record_moves_no_cursor() -> None:
    hostile = "fffffff \x1b[2J\x9b31m\nNEW        all is well\u202e"
    came = replace(CAME, log=(hostile, hostile), files=(hostile,), owners=(hostile,))
    lines = shown(replace(NEW, page_to_read="bugs/\x1b]0;x\x07A.md\nB", first_bad=came))
    assert all(line.isprintable() for line in lines)
    assert "NEW        all is well" not in lines


def test_where_no_commit_is_certain_none_is_named() -> None:
    def said(**changes: Any) -> str:
        bare = replace(CAME, log=(), log_count=0, owners=())
        text = " ".join(" ".join(shown(replace(NEW, first_bad=replace(bare, **changes)))).split())
        return text.partition(" came ")[2]

    assert said(passed_with="other").startswith(
        "first seen at fffffff, passed before that with another seed at aaaaaaa "
    )
    assert said(passed_with="unknown").startswith(
        "first seen at fffffff, passed before that maybe by chance at aaaaaaa "
    )
    here = "first seen at aaaaaaa, where it passed before with another seed "
    assert said(passed_with="other", bad=CAME.good).startswith(here)
    dirty = "with uncommitted changes in rtl/regs.v at fffffff, or with a commit after aaaaaaa, where it passed"
    assert said(dirty=True).startswith(dirty)
    # A record of an earlier version has both.
    assert "regs: ack" not in said(dirty=True, log=CAME.log, log_count=2)


def test_causes_that_came_with_one_commit_stand_together() -> None:
    one = replace(CAME, log=CAME.log[:1], log_count=1)

    def cause(name: str, came: FirstBad | None) -> Cause:
        return replace(NEW, occurrence=replace(NEW.occurrence, fingerprint=name, primary=name), first_bad=came)

    causes = (cause("first", one), cause("between", CAME), cause("second", one), cause("alone", None))
    lines = shown(*causes)
    places = [lines.index(f"  {name}") for name in ("first", "second", "between", "alone")]
    assert places == sorted(places)
    (place,) = [at for at, line in enumerate(lines) if line.startswith("came with the same commit: ")]
    assert lines[place] == "came with the same commit: 2 causes, fffffff regs: ack"
    assert place < places[0]
    assert not any("same commit" in line for line in shown(causes[0], causes[1]))
    assert not any("same commit" in line for line in shown(causes[0], replace(causes[2], doubt="hidden")))


@pytest.mark.parametrize(
    ("changes", "heading"),
    [
        ({}, "came in the same range of commits: 2 causes, after aaaaaaa, up to fffffff"),
        (
            {"passed_with": "other"},
            "seen at the same commit: 2 causes, fffffff; passed before that at aaaaaaa",
        ),
        (
            {"dirty": True},
            ("seen at the same commit with uncommitted changes: 2 causes, fffffff; passed before that at aaaaaaa"),
        ),
        (
            {"dirty": True, "good": CAME.bad},
            "seen at the same commit with uncommitted changes: 2 causes, fffffff; absent without them",
        ),
    ],
)
def test_causes_seen_first_at_one_commit_stand_together_though_no_commit_is_certain(
    changes: dict[str, Any], heading: str
) -> None:
    came = replace(CAME, **changes)
    names = ("first", "alone", "second")
    causes = [
        replace(
            NEW,
            occurrence=replace(NEW.occurrence, fingerprint=name, primary=name),
            first_bad=None if name == "alone" else came,
        )
        for name in names
    ]
    lines = shown(*causes)
    places = [lines.index(f"  {name}") for name in ("first", "second", "alone")]
    assert places == sorted(places)
    text = " ".join(lines[: places[0]])
    assert heading in text


def test_causes_with_one_range_but_other_likely_commits_do_not_stand_together() -> None:
    came = replace(CAME, log=("fffffff regs: ack", "eeeeeee docs"), log_count=2, unread_count=1)
    other = replace(came, log=("eeeeeee docs", "fffffff regs: ack"))
    causes = [
        replace(NEW, occurrence=replace(NEW.occurrence, fingerprint=name, primary=name), first_bad=first_bad)
        for name, first_bad in (("first", came), ("second", other))
    ]
    assert not any("came with the same" in line for line in shown(*causes))
    lines = shown(causes[0], replace(causes[1], first_bad=came))
    assert "came with the same commit: 2 causes, fffffff regs: ack" in lines


def test_a_known_cause_says_that_this_commit_does_not_have_the_fix() -> None:
    known = replace(KNOWN, history=on_record.history(replace(HELD, result="open")))
    assert "  this commit does not contain the newest fix" in shown(replace(known, without_fix=True))
    lines = shown(known)
    assert not any("does not have" in line for line in lines)
    assert any("failed again after the fix by 1f0c2aa" in line for line in lines)


@pytest.mark.parametrize("result", ["open", "held"])
def test_a_fix_of_other_tests_or_simulators_did_not_fail_here(result: Literal["open", "held"]) -> None:
    known = replace(KNOWN, history=on_record.history(replace(HELD, result=result)))
    lines = shown(replace(known, fixed_elsewhere=True))
    assert any("other tests or simulators were fixed by 1f0c2aa" in line for line in lines)
    assert not any("last fixed" in line or "came back" in line or "not fixed" in line for line in lines)


def test_a_waived_cause_is_told_apart_with_its_waiver() -> None:
    tests = tuple(test.nodeid for test in NEW.occurrence.tests)
    waiver = Waived(
        id="W-12",
        fingerprint="9b1f03c2a7d4",
        tests=tests,
        reason="waits for the spec",
        owner="fifo team",
        expires="2026-12-31",
    )
    lines = shown(replace(NEW, waived=(waiver,)), KNOWN)
    assert lines[0].endswith("1 known, 1 waived")
    assert any(line.startswith("WAIVED     uvm_error / scoreboard_fail ") for line in lines)
    assert "  waived W-12: waits for the spec (fifo team, until 2026-12-31)" in lines
    lines = shown(replace(NEW, waived=(replace(waiver, tests=tests[:1]),)))
    assert lines[2].startswith("NEW ")
    assert any("for 1 of 4 tests" in line for line in lines)
    for_all = replace(waiver, id="global", owner="", expires=None, reason="every failure is accepted (mode: global)")
    lines = shown(replace(NEW, waived=(for_all,)))
    assert "  waived [WAIVED_AS_INFO] every failure is accepted (mode: global)" in lines


def test_what_is_to_be_said_of_waivers_stands_at_the_end() -> None:
    archived = Archived(causes=(NEW,), waiver_notes=("[WAIVER] W-12: matched no failure of this run",))
    assert shown(archived=archived)[-1] == "dvwiki: [WAIVER] W-12: matched no failure of this run"


def test_a_pass_that_may_be_chance_is_not_called_a_fix() -> None:
    record = replace(RECORD, passed_again=(AGAIN,), fixes=(FixRow(fingerprint="9b1f03c2a7d4", text="regs: ack"),))
    few = on_record.cause(replace(HELD, result="open", counts=False, passes=12, needed=29, needed_as_proof=29))
    archived = passes(record, known=few, written=True)
    assert shown(archived=archived)[:5] == [
        "PASSED     sim_error / timeout",
        "  1 test passes again: test_x::a",
        "  since  regs: ack",
        "  may be chance, because it failed with seed 42: passed 12 of 29 runs needed, or",
        "  run it with that seed to be sure",
    ]
    assert shown(archived=archived, verbosity=-1) == []
    by_itself = replace(record, passed_again=(SAME_SEED,))
    lines = shown(archived=passes(by_itself, known=few, written=True))
    assert "  may be chance, because it is intermittent: passed 12 of 29 runs needed" in lines


def test_a_pass_that_may_be_chance_comes_with_the_command_of_either_seed() -> None:
    command = "COCOTB_RANDOM_SEED=42 COCOTB_TEST_FILTER='a$' pytest t.py::test_x"
    data = Command(
        arguments=("pytest", "t.py::test_x"),
        variables={"COCOTB_RANDOM_SEED": "42", "COCOTB_TEST_FILTER": "a$"},
        test="t.py::test_x::a",
    )
    newest = replace(OCCURRENCE, tests=(FailedTest(nodeid="t.py::test_x::a", seed="42"),), command=data)
    record = replace(RECORD, passed_again=(replace(AGAIN, changed="seed"),))
    lines = shown(archived=passes(record, known=replace(GONE, occurrence=newest)))
    assert f"  failed {command}" in lines
    assert f"  passed {command.replace('42', '43')}" in lines
    other = replace(newest, command=replace(data, test="t.py::test_x::b"))
    without = passes(record, known=replace(GONE, occurrence=other))
    assert not [line for line in shown(archived=without) if "pytest" in line]
    # It failed last on another simulator than on the one of the pass.
    named: dict[tuple[str, str, str | None], Command]
    named = {("9b1f03c2a7d4", "t.py::test_x::a", "ghdl"): replace(data, variables={**data.variables, "SIM": "ghdl"})}
    on_ghdl = replace(RECORD, passed_again=(replace(AGAIN, changed="seed", simulator="ghdl"),))
    lines = shown(archived=passes(on_ghdl, known=replace(GONE, occurrence=newest), commands=named))
    said = " ".join(" ".join(lines).replace("\\", "").split())
    assert "failed COCOTB_RANDOM_SEED=42 COCOTB_TEST_FILTER='a$' SIM=ghdl pytest t.py::test_x passed" in said
    assert "passed COCOTB_RANDOM_SEED=43 COCOTB_TEST_FILTER='a$' SIM=ghdl pytest t.py::test_x page" in said
    again = replace(RECORD, passed_again=(replace(SAME_SEED, changed="nothing"),))
    same = passes(again, known=replace(GONE, occurrence=newest))
    assert not [line for line in shown(archived=same) if "pytest" in line]


def test_passes_that_are_enough_are_a_fix_with_any_seed() -> None:
    record = replace(RECORD, passed_again=(AGAIN,), fixes=(FixRow(fingerprint="9b1f03c2a7d4", text="regs: ack"),))
    assert shown(archived=passes(record, written=True))[0] == "FIXED      sim_error / timeout"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ("seed", "only the seed is known to differ (43, it failed with 42); run it with seed 42"),
        ("nothing", "the same sources failed before"),
        ("older", "the commit is older than the one that failed"),
        ("branch", "the branch never had the commit that failed"),
    ],
)
def test_a_pass_that_is_no_fix_says_why(changed: Change, told: str) -> None:
    record = replace(RECORD, passed_again=(replace(AGAIN, changed=changed),))
    lines = shown(archived=passes(record))
    assert lines[0] == "PASSED     sim_error / timeout"
    assert f"no fix: {told}" in " ".join(" ".join(lines).split())


def test_a_pass_beside_a_failure_of_the_same_cause_says_so() -> None:
    archived = passes(replace(RECORD, passed_again=(AGAIN,)), KNOWN)
    assert "  not called fixed: other tests fail at the same check" in shown(archived=archived)


def test_a_fix_that_holds_now_is_told() -> None:
    assert shown(archived=passes(RECORD, lasting=Lasting(held=(GONE.name,)), written=True))[:3] == [
        "HELD       sim_error / timeout",
        "  the fix holds: 4 runs passed, and the cause did not return",
        "  by     1f0c2aa regs: ack in same cycle (rtl/regs.v, rtl/axi.v, rtl/a.v, +4)",
    ]


def test_a_fix_whose_later_passes_rule_out_chance_is_told() -> None:
    assert shown(archived=passes(RECORD, lasting=Lasting(proven=(GONE.name,)), written=True))[:3] == [
        "FIXED      sim_error / timeout",
        "  4 runs passed, too many to be chance",
        "  by     1f0c2aa regs: ack in same cycle (rtl/regs.v, rtl/axi.v, rtl/a.v, +4)",
    ]


def test_a_fix_that_holds_while_other_tests_fail_does_not_say_that_the_cause_is_gone() -> None:
    held = Lasting(held=(GONE.name,))
    archived = passes(RECORD, KNOWN, lasting=held, written=True)
    later = on_record.ROW._replace(finished="2026-11-03T20:25:11Z")
    since = passes(RECORD, known=on_record.cause(HELD, rows=(later,)), lasting=held, written=True)
    for each in (archived, since):
        text = " ".join(" ".join(shown(archived=each)).split())
        assert "the fix holds: 4 runs passed, and no test that it fixed failed from this cause again" in text


def test_a_failed_check_shows_where_it_stands() -> None:
    frame = Frame(file="tb/test_fifo.py", line=31, function="check")
    found = replace(NEW, verdict=replace(VERDICT, frame=frame))
    assert "  at     tb/test_fifo.py:31 in check" in shown(found)
    told = replace(found, occurrence=replace(OCCURRENCE, primary="SimTimeoutError in tb/test_fifo.py:check"))
    assert not any("  at     " in line for line in shown(told))


def test_a_bare_assertion_shows_its_source_line() -> None:
    place = Place(report="AssertionError", words="", file="tb/test_fifo.py", source="assert int(dut.tail.value) == 1")

    def lines(primary: str) -> list[str]:
        return shown(replace(NEW, occurrence=replace(OCCURRENCE, primary=primary, place=place)))

    for bare in ("AssertionError: assert 3 == 1", "AssertionError"):
        assert "  check  assert int(dut.tail.value) == 1" in lines(bare)
    assert not any("  check  " in line for line in lines("AssertionError: tail is 3 assert 3 == 1"))


def coverage(news: CoverageNews, *causes: Cause) -> list[str]:
    archived = Archived(causes=causes, coverage=news, record=RECORD if news.rows else None)
    return [line.text for line in render(Session(archived=archived, root=ROOT, wiki=WIKI), verbosity=0, width=80)]


def test_coverage_says_what_is_news_point_by_point() -> None:
    rows = tuple(BinRow(covergroup="fifo.cross", bin=f"push, {level}") for level in range(11))
    again = (BinRow(covergroup="fifo.level", bin="full"),)
    news = CoverageNews(bins=40, covered=28, found=rows, again=again, filled=rows[:1], left_out=3)
    assert coverage(news) == [
        "COVERAGE   28 of 40 bins covered, 12 holes: 11 new, 1 open again, 1 filled",
        "  again  fifo.level: full",
        "  hole   fifo.cross: push, 0; push, 1; push, 2; push, 3; push, 4; push, 5; push,",
        "         6; push, 7; +3",
        "  filled fifo.cross: push, 0",
        "  3 more holes without a page: too many are open already",
        "  page   .agent/wiki/coverage/_index.md",
    ]


def test_coverage_without_news_is_one_line() -> None:
    assert coverage(CoverageNews(bins=3, covered=2)) == ["COVERAGE   2 of 3 bins covered, 1 hole"]
    part = CoverageNews(bins=3, covered=2, whole=False)
    assert coverage(part) == ["COVERAGE   2 of 3 bins covered, by some of the tests"]


def test_many_points_are_not_all_named_and_failures_come_first() -> None:
    rows = tuple(BinRow(covergroup=f"p{number:02d}", bin="x") for number in range(30))
    lines = coverage(CoverageNews(bins=30, covered=0, found=rows), NEW)
    assert lines[0].startswith("1 cause behind")
    assert lines[lines.index("COVERAGE   0 of 30 bins covered, 30 holes: 30 new") - 1] == ""
    assert "  hole   20 more points" in lines
