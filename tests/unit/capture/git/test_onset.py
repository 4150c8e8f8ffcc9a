"""The commits that introduced a cause: bracketed by the runs on record, narrowed down by later ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki import pipeline
from pytest_dvwiki.causes.words import of_passes, text
from pytest_dvwiki.model import Command, Excerpt, Failure, Result, Run, Vcs
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.records.sides import MAYBE_LATER, NO_HDL
from pytest_dvwiki.settings import resolve
from pytest_dvwiki.wiki.writing.build import build

from ...samples import TEST, git

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import FirstBad
    from pytest_dvwiki.pipeline import Archived

OTHER = "tests/test_regs.py::test_regs"
OTHER_NAME = "test_regs"
REPORT = "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] Mismatch: expected 12 got 13"


@dataclass
class Project:
    """A repository of numbered commits, with runs."""

    root: Path
    runs: int = 0

    def commit(self, subject: str, name: str = "rtl/fifo.sv") -> str:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as stream:
            stream.write(f"{subject}\n")
        git(self.root, "add", name)
        git(self.root, "commit", "--quiet", "--message", subject)
        return self.head

    @property
    def head(self) -> str:
        return git(self.root, "rev-parse", "HEAD").stdout.strip()

    def checkout(self, name: str) -> None:
        git(self.root, "checkout", "--quiet", name)

    def run(
        self,
        *,
        fails: bool = False,
        named: bool = False,
        seed: str | None = None,
        seeded: bool = False,
        test: str = TEST,
        vcs: Vcs | None = None,
        simulator: str | None = "icarus",
        report: str = REPORT,
        reads: tuple[str, ...] = (),
        beside: Sequence[str] = (),
        also: Sequence[str] = (),
        unbuilt: Sequence[str] = (),
        config: str | None = None,
        commands: Mapping[str, float] | None = None,
        sim_time: str | None = None,
    ) -> Archived:
        """Archive a run at the current commit; the tests `also` fail too, and `unbuilt` fail without a simulator."""
        self.runs += 1
        moment = f"2026-11-21T{self.runs:02d}:00:00Z"
        excerpt = Excerpt(source="log", lines=((1, report),))
        failure = Failure(
            nodeid=test,
            in_simulator=simulator is not None,
            simulator=simulator,
            seed=seed,
            seeded=seeded,
            excerpts=(excerpt,),
            reads=reads,
            config=config,
            sim_time=sim_time,
        )
        run = Run(
            task_id=f"nightly_{self.runs}",
            started=moment,
            finished=moment,
            failures=(
                failure,
                *(replace(failure, nodeid=each) for each in also),
                *(replace(failure, nodeid=each, simulator=None) for each in unbuilt),
            )
            if fails
            else (),
            results=(
                Result(nodeid=test, outcome="failed" if fails else "passed", seed=seed, simulator=simulator),
                *(Result(nodeid=each, outcome="failed", seed=seed, simulator=simulator) for each in also),
                *(Result(nodeid="other", outcome="passed", seed=each, simulator=simulator) for each in beside),
            ),
            keep_suite=True,
            always_record=named or self.runs == 1,
            vcs=vcs,
        )
        if commands:
            run = replace(
                run,
                failures=tuple(
                    replace(each, command=Command(arguments=("pytest", each.nodeid)), duration_s=commands[each.nodeid])
                    for each in run.failures
                ),
            )
        settings = resolve(self.root)
        with Services(settings, note=pytest.fail) as services:
            archived = pipeline.process(run, services)
        assert archived.problem is None
        assert build(settings.layout, check=True).changed == []
        return archived

    def first_bad(self, **changes: object) -> FirstBad | None:
        """Archive a failing run, and return the commits that may have introduced its cause."""
        (cause,) = self.run(fails=True, **changes).causes  # type: ignore[arg-type]
        return cause.first_bad

    def page(self) -> str:
        (page,) = (self.root / ".agent" / "wiki" / "bugs").glob("[!_]*.md")
        return page.read_text(encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    project = Project(tmp_path)
    project.commit("all")
    return project


def test_the_python_file_of_a_check_is_no_more_suspect_than_the_design(project: Project) -> None:
    project.commit("sb", "tb/sb.py")
    project.run()
    project.commit("sb: rework", "tb/sb.py")
    project.commit("fifo: rework")
    report = "UVM_ERROR tb/sb.py(210) @ 1250: uvm_test_top.env.sb [SCBD] Mismatch: expected 12 got 13"
    found = project.first_bad(report=report, reads=("rtl/fifo.sv", "tb/sb.py"))
    assert found is not None
    assert [line.partition(" ")[2] for line in found.log] == ["fifo: rework", "sb: rework"]


def test_the_range_is_from_the_last_pass_to_the_first_failure(project: Project) -> None:
    project.run()
    good = project.head
    project.commit("tb: a `tick` | more", "tb/sb.sv")
    project.commit("owners", "CODEOWNERS")
    project.commit("lists", "rtl.f")
    bad = project.commit("fifo: rework")
    archived = project.run(fails=True)
    assert archived.record is not None
    (found,) = archived.record.first_bad
    assert (found.good, found.bad, found.log_count, found.dirty) == (good, bad, 3, False), "text breaks no test"
    assert [line.partition(" ")[2] for line in found.log] == ["fifo: rework", "lists", "tb: a `tick` | more"]
    assert found.files == ("tb/sb.sv", "rtl.f", "rtl/fifo.sv"), "first those that the evidence names"
    assert archived.causes[0].first_bad == found
    told = f"- Came with one of 3 commits after `{good[:7]}` up to `{bad[:7]}`: `{bad[:7]}` fifo: rework; "
    assert told in project.page()
    assert "(source: tasks/nightly_2.yaml)" in project.page()


def test_what_failed_before_any_simulator_was_chosen_has_no_seed_that_could_matter(project: Project) -> None:
    project.run(seed="1", seeded=True)
    good = project.head
    bad = project.commit("runner: other folder", "tb/run.py")
    report = "RuntimeError: too many top level files"
    found = project.first_bad(simulator=None, report=report)
    assert found is not None
    assert (found.passed_with, found.good, found.bad, found.log_count) == ("same", good, bad, 1)
    assert f"- Came with `{bad[:7]}` runner: other folder (`tb/run.py`)." in project.page()


@pytest.mark.parametrize(("also", "shown"), [("", ["fifo: back"]), ("tb/sb.sv", ["fifo: more", "sb", "fifo: back"])])
def test_a_fix_lies_before_the_commit_at_which_all_that_was_read_is_as_at_the_pass(
    project: Project, also: str, shown: list[str]
) -> None:
    """No run was at that commit: the first passing run also has later changes."""
    file, reads = project.root / "rtl/fifo.sv", ("rtl/fifo.sv", "tb/sb.sv")
    project.commit("all of it", "tb/sb.sv")
    project.commit("regs", "rtl/regs.sv")
    good = file.read_text()
    project.run(seed="1")
    project.commit("fifo: rework")
    project.run(fails=True, seed="1", reads=reads)
    if also:
        project.commit("sb", also)
    file.write_text(good)
    git(project.root, "commit", "--quiet", "--all", "--message", "fifo: back")
    project.commit("regs: more", "rtl/regs.sv")
    project.commit("fifo: more")
    archived = project.run(seed="1")
    assert archived.record is not None
    (row,) = archived.record.fixes
    told = [line.partition(" ")[2] for line in row.log or ()][: (row.log_count or 0) - (row.unread_count or 0)]
    assert sorted(told) == sorted(shown)


@pytest.mark.parametrize(("others", "shown"), [("", 1), ("23", 3)], ids=["one seed", "some of several seeds"])
def test_a_restored_state_ends_a_fix_only_if_the_pass_there_speaks_for_all_seeds(
    project: Project, others: str, shown: int
) -> None:
    """Another seed may show a fault that is older than that pass."""
    file, reads = project.root / "rtl/fifo.sv", ("rtl/fifo.sv",)
    good = file.read_text()
    project.run(seed="1", named=True)
    project.commit("fifo: rework")
    project.run(fails=True, seed="1", reads=reads)
    for seed in others:
        project.run(fails=seed == "3", seed=seed, named=True, reads=reads)
    file.write_text(good)
    git(project.root, "commit", "--quiet", "--all", "--message", "fifo: back")
    project.commit("fifo: more")
    project.commit("fifo: and more")
    archived = project.run(seed="1")
    assert archived.record is not None
    (row,) = archived.record.fixes
    assert row.log_count == shown


@pytest.mark.parametrize(
    ("regs", "restored"),
    [
        ("regs\nreset <= 1;\n", None),
        ("regs\nreset <= 0;\nack <= 1;\n", ("rtl/fifo.sv",)),
        ("regs\n", ("rtl/fifo.sv", "rtl/regs.sv")),
    ],
    ids=["changed_back", "kept", "restored"],
)
def test_restored_files_say_nothing_if_another_commit_changes_back_other_code(
    project: Project, regs: str, restored: tuple[str, ...] | None
) -> None:
    """The other commit may be the fix, and the restored file had a fault of another cause."""
    reads = ("rtl/fifo.sv", "rtl/regs.sv")
    project.commit("regs", "rtl/regs.sv")
    good = (project.root / "rtl/fifo.sv").read_text()
    project.run(seed="1", named=True)
    for name in reads:
        project.commit("reset <= 0;", name)
    project.run(fails=True, seed="1", reads=reads)
    for name, code in (("rtl/fifo.sv", good), ("rtl/regs.sv", regs)):
        (project.root / name).write_text(code)
        git(project.root, "commit", "--quiet", "--all", "--message", f"{name}: back")
    record = project.run(seed="1", named=True).record
    assert record is not None
    (row,) = record.fixes
    assert row.restored == restored


def test_later_failures_say_nothing_new_but_show_what_is_known(project: Project) -> None:
    project.run()
    bad = project.commit("fifo: rework")
    project.run(fails=True)
    project.commit("fifo: more")
    archived = project.run(fails=True)
    assert archived.record is not None
    assert archived.record.first_bad == ()
    shown = archived.causes[0].first_bad
    assert shown is not None
    assert shown.bad == bad


def test_a_commit_whose_changes_are_undone_in_a_failing_run_comes_last(project: Project) -> None:
    """Without its changes, the tests still fail, so another commit introduced the cause."""
    reads = ("rtl/fifo.sv", "rtl/regs.sv")
    project.commit("regs", "rtl/regs.sv")
    project.run(seed="1", named=True)
    project.commit("fifo: rework")
    project.commit("fifo: more")
    project.commit("regs: rework", "rtl/regs.sv")

    def order() -> list[str]:
        found = project.first_bad(seed="1", reads=reads)
        assert found is not None
        assert found.log_count == 3
        return [line.partition(" ")[2] for line in found.log]

    assert order() == ["regs: rework", "fifo: more", "fifo: rework"]
    git(project.root, "revert", "--no-edit", "HEAD")
    assert order() == ["fifo: more", "fifo: rework", "regs: rework"]
    project.commit("regs: again", "rtl/regs.sv")
    archived = project.run(fails=True, seed="1", reads=reads)
    assert archived.causes[0].first_bad is not None
    assert archived.causes[0].first_bad.log[-1].endswith("regs: rework"), "an earlier failing run lacked it"
    assert archived.record is not None
    assert archived.record.first_bad == ()


def test_runs_between_narrow_it_down_whether_they_pass_or_fail(project: Project) -> None:
    project.run()
    commits = [project.commit(f"fifo: step {number}") for number in range(5)]
    project.run(fails=True)
    project.checkout(commits[3])
    found = project.first_bad()
    assert found is not None
    assert (found.bad, found.log_count) == (commits[3], 4)
    project.checkout(commits[1])
    archived = project.run()
    assert archived.record is not None
    assert [(each.good, each.bad, each.log_count) for each in archived.record.first_bad] == [
        (commits[1], commits[3], 2)
    ]
    assert f"Came with one of 2 commits after `{commits[1][:7]}` up to `{commits[3][:7]}`" in project.page()
    project.checkout(commits[2])
    project.run()
    assert f"Came with `{commits[3][:7]}` fifo: step 3 (`rtl/fifo.sv`)." in project.page()
    project.checkout(commits[0])
    assert project.run().record is None, "a wider range is no news"


def test_a_pass_with_another_seed_narrows_nothing(project: Project) -> None:
    project.run(seed="1")
    commits = [project.commit(f"fifo: step {number}") for number in range(3)]
    project.run(fails=True, seed="1")
    project.checkout(commits[0])
    archived = project.run(seed="2")
    assert archived.record is not None
    assert archived.record.first_bad == ()
    archived = project.run(seed="1")
    assert archived.record is not None
    assert [each.good for each in archived.record.first_bad] == [commits[0]]


def test_after_a_pass_with_another_seed_the_edited_files_are_named(project: Project) -> None:
    project.run(seed="1")
    with (project.root / "rtl/fifo.sv").open("a") as stream:
        stream.write("// edited\n")
    found = project.first_bad(seed="2")
    assert found is not None
    assert (found.passed_with, found.dirty, found.log, found.files) == ("other", True, (), ("rtl/fifo.sv",))
    assert "with uncommitted changes in `rtl/fifo.sv`, passed before that with another seed at " in project.page()


def test_a_cause_first_seen_with_edits_is_not_first_seen_at_the_commit_after_them(project: Project) -> None:
    project.run(seed="1")
    with (project.root / "rtl/fifo.sv").open("a") as stream:
        stream.write("// edited\n")
    found = project.first_bad(seed="1")
    assert found is not None
    assert (found.passed_with, found.dirty, found.bad) == ("same", True, project.head)
    bad = project.commit("fifo: the edits")
    assert project.first_bad(seed="2") == found
    assert "First seen at" not in project.page()
    commits = [row.split(" | ")[4] for row in project.page().splitlines() if row.endswith("` |") and "nightly_" in row]
    assert commits == [f"`{bad[:12]}`", f"`{found.bad[:12]}`, with uncommitted changes"]
    certain = project.first_bad(seed="1")
    assert certain is not None
    assert (certain.passed_with, certain.bad, certain.log_count) == ("same", bad, 1)


def test_a_cause_that_occurs_without_the_edits_did_not_come_with_them(project: Project) -> None:
    project.run(seed="1")
    good = project.head
    project.commit("fifo: rework")
    with (project.root / "rtl/fifo.sv").open("a") as stream:
        stream.write("// edited\n")
    project.first_bad(seed="2")
    assert "with uncommitted changes in `rtl/fifo.sv`" in project.page()
    git(project.root, "checkout", "--quiet", "rtl")
    found = project.first_bad(seed="3")
    assert found is not None
    assert (found.passed_with, found.dirty, found.good, found.bad) == ("other", False, good, project.head)
    assert "with uncommitted changes in" not in project.page()


def test_of_an_old_fault_that_few_seeds_show_no_commit_is_named(project: Project) -> None:
    for night in range(1, 6):
        project.run(seed=str(night), named=True)
        good = project.head
        project.commit(f"docs: night {night}", "docs.md")
    found = project.first_bad(seed="6")
    assert found is not None
    assert (found.passed_with, found.log, found.files) == ("other", (), ())
    assert (
        f"- First seen at `{project.head[:7]}`, passed before that with another seed at `{good[:7]}`." in project.page()
    )
    project.commit("docs: night 6", "docs.md")
    again = project.run(fails=True, seed="7")
    assert again.record is not None
    assert again.record.first_bad == (), "two failures are too few for a rate of which five passes say anything"
    assert again.causes[0].first_bad == found


def test_enough_passes_with_other_seeds_begin_a_range(project: Project) -> None:
    for night in range(1, 7):
        project.run(seed=str(night), named=True)
        project.commit(f"fifo: night {night}")
    bad = project.head
    assert "First seen at" in (project.first_bad(seed="7"), project.page())[1]
    project.commit("docs", "docs.md")
    found = project.first_bad(seed="8")
    assert found is not None
    assert found.log == ()
    found = project.first_bad(seed="9")
    assert found is not None
    # At 2 failures in 4 runs five passes leave 3 % to chance: from the second night on.
    assert (found.passed_with, found.bad, found.log_count) == ("same", bad, 5)
    assert "Came with one of 5 commits after" in project.page()
    counts = [later.log_count for seed in range(10, 18) if (later := project.first_bad(seed=str(seed)))]
    assert (sorted(counts, reverse=True), counts[-1]) == (counts, 2), "the higher the rate, the fewer passes it takes"
    assert "Came with one of 2 commits after" in project.page()


@pytest.mark.parametrize(
    ("beside", "passed_with"), [((), "other"), (("2",), "unknown")], ids=["alone", "in a list with several seeds"]
)
def test_passes_that_repeat_a_seed_at_one_commit_are_one(
    project: Project, beside: Sequence[str], passed_with: str
) -> None:
    for _ in range(6):
        project.run(seed="1", named=True, beside=beside)
    for seed in ("7", "8", "9"):
        project.commit(f"fifo: {seed}")
        found = project.first_bad(seed=seed)
        assert found is not None
        assert (found.passed_with, found.log) == (passed_with, ())


def test_a_pass_with_the_seed_that_fails_begins_a_range_though_others_passed_later(project: Project) -> None:
    project.run(seed="1")
    good = project.head
    project.commit("fifo: rework")
    project.run(seed="2", named=True)
    project.commit("fifo: more")
    found = project.first_bad(seed="1")
    assert found is not None
    assert (found.passed_with, found.good, found.log_count) == ("same", good, 2)


def test_a_pass_whose_seed_is_not_on_record_begins_none(project: Project) -> None:
    project.run()
    project.commit("fifo: rework")
    found = project.first_bad(seed="1")
    assert found is not None
    assert (found.passed_with, found.log) == ("unknown", ())
    assert "passed before that maybe by chance at" in project.page()


def test_a_failure_whose_seed_is_not_on_record_begins_no_range(project: Project) -> None:
    project.run()
    good = project.commit("fifo: rework")
    project.run(named=True)
    project.commit("docs", "docs.md")
    found = project.first_bad(seeded=True)
    assert found is not None
    assert (found.passed_with, found.log) == ("unknown", ())
    project.checkout(good)
    archived = project.run()
    assert archived.record is not None
    assert archived.record.first_bad == (), "a pass at an older commit narrows nothing either"


def test_what_no_seed_can_change_came_after_any_pass(project: Project) -> None:
    project.run(seed="1")
    project.commit("fifo: rework")
    found = project.first_bad(seed="2", report="rtl/fifo.sv:3: syntax error")
    assert found is not None
    assert (found.passed_with, found.log_count) == ("same", 1)


def test_a_pass_on_another_simulator_begins_none(project: Project) -> None:
    project.run()
    good = project.head
    project.commit("fifo: rework")
    project.run(simulator="verilator", named=True)
    project.commit("fifo: more")
    found = project.first_bad()
    assert found is not None
    assert (found.good, found.log_count) == (good, 2)


def test_the_range_of_a_fix_that_did_not_hold_is_not_that_of_another_simulator(project: Project) -> None:
    project.run(fails=True, seed="1", simulator="verilator")
    project.run(fails=True, seed="1")
    project.commit("no fix")
    project.run(seed="2")
    project.run(fails=True, seed="1")
    project.commit("fifo: fix")
    record = project.run(seed="1", simulator="verilator", named=True).record
    assert record is not None
    (fix,) = record.fixes
    assert [line.partition(" ")[2] for line in fix.log or ()] == ["fifo: fix", "no fix"]


@pytest.mark.parametrize("again", [True, False])
def test_a_fix_that_was_undone_repaired_no_other_simulator(project: Project, *, again: bool) -> None:
    project.run(fails=True, seed="1", simulator="verilator")
    project.run(fails=True, seed="1")
    project.commit("fifo: fix")
    project.run(seed="1")
    git(project.root, "revert", "--no-edit", "HEAD")
    project.run(fails=True, seed="1")
    project.commit("fifo: fix" + ", again" * again)
    if again:
        project.run(seed="1")
    record = project.run(seed="1", simulator="verilator", named=True).record
    assert record is not None
    (fix,) = record.fixes
    named = [line.partition(" ")[2] for line in fix.log or ()]
    assert named == (["fifo: fix, again"] if again else ["fifo: fix", "fifo: fix", 'Revert "fifo: fix"'])


@pytest.mark.parametrize(
    ("simulator", "config", "report", "commits"),
    [
        ("icarus", "a" * 12, REPORT, 1),
        ("verilator", "a" * 12, REPORT, 2),
        ("icarus", "b" * 12, REPORT, 2),
        ("icarus", None, REPORT, 2),
        ("icarus", "a" * 12, "rtl/fifo.sv:9: syntax error", 2),
    ],
    ids=["built", "on_another_simulator", "with_other_parameters", "with_unknown_ones", "not_built"],
)
def test_a_build_that_passed_begins_the_range_of_one_that_fails(
    project: Project, simulator: str, config: str | None, report: str, commits: int
) -> None:
    project.run()
    project.commit("fifo: rework")
    project.run(fails=True, simulator=simulator, config=config, report=report)
    project.commit("fifo: more")
    (runner, _, _) = TEST.rpartition("::")
    found = project.first_bad(
        test=runner, config=f"{'a' * 8}0000", report="rtl/fifo.sv:3: error: Unknown module type: ram"
    )
    assert found is not None
    assert (found.passed_with, found.log_count) == ("same", commits)


def test_a_commit_of_what_was_edited_takes_the_place_of_the_edit(project: Project) -> None:
    project.run()
    (project.root / "rtl" / "fifo.sv").write_text("module broken;")
    found = project.first_bad()
    assert found is not None
    assert (found.dirty, found.log) == (True, ())
    bad = project.commit("fifo: rework")
    found = project.first_bad()
    assert found is not None
    assert (found.dirty, found.bad, found.log_count) == (False, bad, 1)


def test_uncommitted_changes_after_commits_name_no_commit(project: Project) -> None:
    project.run()
    good = project.head
    bad = project.commit("tb: more", "tb/sb.sv")
    (project.root / "rtl" / "fifo.sv").write_text("module broken;")
    found = project.first_bad()
    assert found is not None
    assert (found.good, found.bad, found.dirty, found.log, found.files) == (good, bad, True, (), ("rtl/fifo.sv",))
    assert "tb: more" not in project.page()


@pytest.mark.parametrize(("beside", "is_absent"), [("rtl/other.sv", True), ("rtl/fifo.sv", False), ("rom.hex", False)])
def test_uncommitted_changes_after_commits_of_what_was_not_read_brought_the_cause(
    project: Project, beside: str, is_absent: bool
) -> None:
    project.commit("all", beside)
    project.run()
    good = project.head
    bad = project.commit("beside", beside)
    (project.root / "rtl" / "fifo.sv").write_text("module broken;")
    found = project.first_bad(reads=("rtl/fifo.sv",))
    assert found is not None
    assert (found.good, found.bad, found.dirty, found.log) == (bad if is_absent else good, bad, True, ())
    assert ("where it was absent without them" in project.page()) is is_absent


def test_a_run_without_a_commit_hides_neither_the_range_nor_the_fix(project: Project) -> None:
    project.run()
    project.commit("fifo: rework")
    project.run(fails=True, vcs=Vcs())
    found = project.first_bad()
    assert found is not None
    assert found.log_count == 1
    project.run(fails=True, vcs=Vcs())
    fix = project.commit("fifo: repair")
    record = project.run().record
    assert record is not None
    assert [line.partition(" ")[0] for line in record.fixes[0].log or ()] == [fix[:12]]


def test_a_range_whose_changes_are_undone_ends_with_the_run_that_fails_without_them(project: Project) -> None:
    project.run()
    good = project.head
    bad = project.commit("fifo: rework")
    found = project.first_bad()
    assert found is not None
    assert (found.good, found.bad) == (good, bad)
    git(project.root, "revert", "--no-edit", bad)
    bad = project.commit("regs: rework", "rtl/regs.sv")
    for _ in range(2):
        found = project.first_bad()
        assert found is not None
        assert (found.good, found.bad, found.only_commit.partition(" ")[2]) == (good, bad, "regs: rework")


def test_commits_of_files_that_were_read_come_first(project: Project) -> None:
    project.run()
    project.commit("fifo: rework")
    for number in range(4):
        project.commit(f"docs {number}", "docs.txt")
    found = project.first_bad(reads=("rtl/fifo.sv",))
    assert found is not None
    assert [line.partition(" ")[2] for line in found.log][:2] == ["fifo: rework", "docs 3"]
    assert found.unread_count == 0, "a text may be data"
    assert "fifo: rework" in project.page()


@pytest.mark.parametrize("seed", ["1", "2"], ids=["same seed", "other seed"])
def test_a_range_begins_at_the_last_pass_of_any_test_that_fails(project: Project, seed: str) -> None:
    project.run(seed="1")
    project.commit("fifo: rework")
    good = project.head
    project.run(test=OTHER, seed="1", named=True)
    bad = project.commit("fifo: another rework")
    found = project.first_bad(seed=seed, also=(OTHER,))
    assert found is not None
    assert (found.good, found.bad, found.nodeid) == (good, bad, OTHER)


def test_of_a_module_that_cannot_be_imported_the_evidence_names_no_hdl(project: Project) -> None:
    """The log of make shows the command that compiled the design."""
    project.commit("bench", "tb/bench.py")
    project.run()
    project.commit("fifo: rework")
    project.commit("bench: rework", "tb/bench.py")
    report = "ModuleNotFoundError: No module named 'bfm'\niverilog -o sim.vvp rtl/fifo.sv"
    found = project.first_bad(report=report, reads=(NO_HDL, "tb/bench.py"))
    assert found is not None
    assert [line.partition(" ")[2] for line in found.likely] == ["bench: rework"]


def test_a_file_of_the_same_name_in_another_folder_was_not_read(project: Project) -> None:
    project.run()
    project.commit("fifo: rework")
    project.commit("another fifo", "old/rtl/fifo.sv")
    found = project.first_bad(reads=("rtl/fifo.sv",))
    assert found is not None
    assert [line.partition(" ")[2] for line in found.log] == ["fifo: rework", "another fifo"]
    assert found.unread_count == 1
    assert "the only one of 2 commits after" in project.page()


def test_a_pass_at_an_older_commit_is_the_first_that_is_known(project: Project) -> None:
    good = project.head
    bad = project.commit("fifo: rework")
    assert project.first_bad() is None, "nobody knows when it passed"
    project.checkout(good)
    archived = project.run()
    assert archived.record is not None
    assert [(each.good, each.bad) for each in archived.record.first_bad] == [(good, bad)]


def test_uncommitted_changes_are_told(project: Project) -> None:
    project.run()
    good = project.head
    (project.root / "rtl" / "fifo.sv").write_text("module broken;")
    found = project.first_bad()
    assert found is not None
    assert (found.good, found.bad, found.dirty, found.files) == (good, good, True, ("rtl/fifo.sv",))
    assert "- Came with uncommitted changes in `rtl/fifo.sv` at" in project.page()


@pytest.mark.parametrize(("edited", "is_told"), [("rtl/other.sv", False), ("README.md", False), ("rom.hex", True)])
def test_uncommitted_changes_to_files_that_were_not_read_did_not_bring_a_cause(
    project: Project, edited: str, is_told: bool
) -> None:
    project.commit("beside", edited)
    good = project.head
    project.run()
    bad = project.commit("fifo: rework")
    with (project.root / edited).open("a") as stream:
        stream.write("more\n")
    found = project.first_bad(reads=("rtl/fifo.sv",))
    assert found is not None
    assert (found.good, found.bad, found.dirty) == (good, bad, is_told)
    assert bool(found.log) is not is_told


def test_a_pass_with_uncommitted_changes_narrows_nothing(project: Project) -> None:
    project.run()
    commits = [project.commit(f"fifo: step {number}") for number in range(3)]
    project.run(fails=True)
    project.checkout(commits[0])
    (project.root / "rtl" / "fifo.sv").write_text("module tried;")
    record = project.run().record
    assert record is not None
    assert record.first_bad == ()


@pytest.mark.parametrize(
    ("edited", "begins"), [("rtl/other.sv", True), ("README.md", True), ("rtl/fifo.sv", False), ("rom.hex", False)]
)
def test_a_pass_with_uncommitted_changes_of_what_is_not_read_begins_a_range(
    project: Project, edited: str, begins: bool
) -> None:
    project.commit("beside", edited)
    older = project.head
    project.run()
    good = project.commit("fifo: step 1")
    with (project.root / edited).open("a") as stream:
        stream.write("more\n")
    project.run(named=True)
    git(project.root, "checkout", "--quiet", edited)
    bad = project.commit("fifo: step 2")
    found = project.first_bad(reads=("rtl/fifo.sv",))
    assert found is not None
    assert (found.good, found.bad, found.log_count) == ((good, bad, 1) if begins else (older, bad, 2))


@pytest.mark.parametrize(("edited", "is_told"), [("rtl/other.sv", True), ("rtl/fifo.sv", False)])
def test_a_known_cause_that_fails_beside_uncommitted_changes_came_after_its_pass(
    project: Project, edited: str, is_told: bool
) -> None:
    project.commit("beside", "rtl/other.sv")
    reads = ("rtl/fifo.sv",)
    project.run(fails=True, seed="1", reads=reads)
    good = project.commit("fifo: maybe a repair")
    project.run(seed="7", named=True)
    bad = project.commit("fifo: another fault")
    with (project.root / edited).open("a") as stream:
        stream.write("more\n")
    found = project.first_bad(seed="7", reads=reads)
    assert (found is not None and (found.good, found.bad, found.is_certain) == (good, bad, True)) is is_told


def test_histories_without_a_common_commit_bracket_nothing(project: Project) -> None:
    project.run()
    git(project.root, "checkout", "--quiet", "--orphan", "other")
    project.commit("anew")
    assert project.first_bad() is None
    assert "Came with" not in project.page()


def test_a_pass_on_a_branch_beside_brackets_nothing(project: Project) -> None:
    git(project.root, "checkout", "--quiet", "-b", "topic")
    project.commit("topic", "tb/topic.sv")
    project.run()
    project.checkout("main")
    project.commit("fifo: rework")
    assert project.first_bad() is None


def test_the_commits_of_a_merged_branch_are_named(project: Project) -> None:
    project.run()
    git(project.root, "checkout", "--quiet", "-b", "topic")
    project.commit("fifo: rework")
    project.checkout("main")
    project.commit("tb: more", "tb/sb.sv")
    git(project.root, "merge", "--quiet", "--no-edit", "topic")
    found = project.first_bad()
    assert found is not None
    assert sorted(line.partition(" ")[2] for line in found.log) == ["fifo: rework", "tb: more"]
    assert found.bad == project.head


def test_the_same_sources_bracket_nothing(project: Project) -> None:
    project.run()
    assert project.first_bad() is None
    project.commit("wiki", ".agent/wiki/WIKI.md")
    assert project.first_bad() is None


def test_a_run_without_a_commit_says_nothing(project: Project) -> None:
    project.run()
    project.commit("fifo: rework")
    assert project.first_bad(vcs=Vcs()) is None


def test_a_cause_that_returns_after_its_fix_has_a_range_of_its_own(project: Project) -> None:
    project.run()
    project.commit("fifo: rework")
    project.run(fails=True)
    good = project.commit("fifo: repair")
    project.run()
    bad = project.commit("fifo: rework once more")
    found = project.first_bad()
    assert found is not None
    assert (found.good, found.bad) == (good, bad)


@pytest.mark.parametrize(("edited", "proves"), [("rtl/fifo.sv", True), ("tb/sb.py", False)])
def test_an_edit_that_is_taken_back_is_named(project: Project, edited: str, proves: bool) -> None:
    project.commit("more", "tb/sb.py")
    file = project.root / edited
    before = file.read_bytes()
    file.write_bytes(b"broken")
    project.run(fails=True, seed="1", seeded=True)
    file.write_bytes(before)
    archived = project.run(seed="1")
    assert archived.record is not None
    (row,) = archived.record.fixes
    assert (row.text, row.log) == (f"dropping the uncommitted changes in {edited}", ())
    (again,) = archived.record.passed_again
    assert again.new_stimulus != proves
    known = archived.passed[0].cause
    assert known is not None
    assert known.newest_fix is not None
    assert known.newest_fix.counts == proves


def test_of_several_edits_only_those_that_were_taken_back_are_dropped(project: Project) -> None:
    project.commit("more", "rtl/other.sv")
    before = (project.root / "rtl" / "fifo.sv").read_bytes()
    for name in ("rtl/fifo.sv", "rtl/other.sv"):
        (project.root / name).write_text("edited")
    project.run(fails=True, seed="1")
    (project.root / "rtl" / "fifo.sv").write_bytes(before)
    archived = project.run(seed="1")
    assert archived.record is not None
    (row,) = archived.record.fixes
    told = "uncommitted changes in rtl/other.sv; dropping the uncommitted changes in rtl/fifo.sv"
    assert (row.text, row.files) == (told, ("rtl/other.sv",))


def test_where_no_other_source_changed_since_the_first_pass_no_later_commit_may_be_the_fix(project: Project) -> None:
    project.run(fails=True, seed="1", reads=("rtl/fifo.sv",))
    project.commit("mend")
    project.run(seed="2")
    project.commit("docs", "docs.md")
    archived = project.run(seed="1")
    assert archived.record is not None
    (row,) = archived.record.fixes
    assert ([line.partition(" ")[2] for line in row.log or ()], row.note) == (["mend"], "")


def test_what_brings_a_cause_back_came_after_as_many_passes_as_made_its_fix_hold(project: Project) -> None:
    project.run(fails=True, seed="1")
    project.run(fails=True, seed="2")
    mended = project.commit("fifo: right")
    nights = []
    for seed in range(3, 8):
        project.run(seed=str(seed), named=True)
        nights.append(project.head)
        project.commit(f"docs: night {seed}", "docs.md")
    git(project.root, "revert", "--no-edit", mended)
    bad = project.head
    archived = project.run(fails=True, seed="8")
    assert archived.causes[0].news == "REGRESSED"
    found = archived.causes[0].first_bad
    assert found is not None
    # The fix holds after four passes, and five are on record: it has held since the second at the latest.
    assert (found.passed_with, found.good, found.bad, found.log_count) == ("same", nights[1], bad, 1)


@pytest.mark.parametrize(("mended", "told"), [("rtl/fifo.sv", ["mend"]), ("rtl/other.sv", ["next", "mend"])])
def test_a_fix_ends_at_the_first_green_run_where_that_may_have_fixed_it(
    project: Project, mended: str, told: list[str]
) -> None:
    project.run(fails=True, seed="1", reads=("rtl/fifo.sv",))
    project.commit("mend", mended)
    project.run(seed="2")
    project.commit("next")
    archived = project.run(seed="1")
    assert archived.record is not None
    (row,) = archived.record.fixes
    assert [line.partition(" ")[2] for line in row.log or ()] == told
    assert (row.note == MAYBE_LATER) == (told == ["mend"])
    known = archived.passed[0].cause
    assert known is not None
    assert known.newest_fix is not None
    assert (known.newest_fix.counts, known.newest_fix.log) == (True, row.log)


def test_a_fix_that_another_seed_proves_begins_no_range(project: Project) -> None:
    """Its commit may have introduced another fault, which the same check reports with some seeds."""
    for seed in "12":
        project.run(named=True, seed=seed)
    good = project.head
    project.commit("fifo: rework")
    for seed in "12":
        project.run(fails=True, seed=seed)
    project.commit("fifo: repair")
    project.run(named=True, seed="1")
    bad = project.commit("fifo: rework once more")
    found = project.first_bad(seed="2")
    assert found is not None
    assert (found.good, found.bad) == (good, bad)


def test_what_brought_a_cause_back_came_after_it_was_fixed(project: Project) -> None:
    project.run()
    first = project.commit("fifo: rework")
    project.run(fails=True)
    (project.root / "rtl" / "fifo.sv").write_text("module tried;")
    project.run()
    project.commit("fifo: repair")
    project.commit("fifo: rework once more")
    found = project.first_bad()
    assert found is not None
    assert (found.good, [line.partition(" ")[2] for line in found.log]) == (
        first,
        ["fifo: rework once more", "fifo: repair"],
    )
    project.checkout(f"{first}^")
    project.run()
    assert f"Came with one of 2 commits after `{first[:7]}` up to" in project.page(), "an older pass widens no range"


def test_with_what_a_cause_came_before_its_fix_is_not_told_of_its_return(project: Project) -> None:
    project.run()
    project.commit("fifo: rework")
    project.run(fails=True)
    project.commit("fifo: repair")
    project.run()
    assert "Came with" in project.page()
    archived = project.run(fails=True, vcs=Vcs())
    assert archived.causes[0].first_bad is None
    assert "Came with" not in project.page()


def test_a_failure_at_a_commit_without_the_fix_is_no_return(project: Project) -> None:
    old = project.commit("fifo: rework")
    project.run(fails=True)
    git(project.root, "branch", "release")
    fix = project.commit("fifo: repair")
    for _ in range(4):
        project.run(named=True)
    project.checkout("release")
    project.commit("release notes", "NOTES.md")
    archived = project.run(fails=True)
    assert archived.record is not None
    assert [cause.news for cause in archived.causes] == ["KNOWN"]
    assert archived.record.without_fix == (archived.causes[0].occurrence.fingerprint,)
    assert ", without the fix |" in project.page()
    assert "returned" not in project.page()
    project.checkout(old)
    assert [cause.news for cause in project.run(fails=True).causes] == ["KNOWN"]
    project.checkout("main")
    assert project.run().record is None, "the fix is known"
    project.checkout("release")
    git(project.root, "cherry-pick", fix)
    archived = project.run(fails=True)
    assert [cause.news for cause in archived.causes] == ["REGRESSED"]
    assert archived.record is not None
    assert archived.record.without_fix == ()


def test_the_owners_of_the_files_are_named(project: Project) -> None:
    (project.root / "CODEOWNERS").write_text("rtl/ @fifo-team\n")
    git(project.root, "add", "CODEOWNERS")
    project.commit("owners", "README.md")
    project.run()
    project.commit("fifo: rework")
    project.run(fails=True)
    assert "; owners `@fifo-team`." in project.page()
    project.commit("fifo: repair")
    archived = project.run()
    assert archived.record is not None
    (row,) = archived.record.fixes
    assert (row.owners, row.authors) == (("@fifo-team",), ("someone",))
    assert "| `@fifo-team`; lines by someone |" in project.page()


def test_of_tests_of_a_failed_fixture_the_one_with_a_simulator_shows_when_the_cause_came(project: Project) -> None:
    project.run(seed="1")
    bad = project.commit("fifo: rework")
    others = [f"tests/test_fifo.py::test_a{number}" for number in range(9)]
    assert min(others) < TEST, "the others come first"
    found = project.first_bad(seed="1", unbuilt=others)
    assert found is not None
    assert found.only_commit.startswith(bad[:7])


def fail_before_another_passes(project: Project) -> None:
    project.run(seed="1")
    project.run(seed="1", test=OTHER)
    project.commit("fifo: rework")
    project.run(fails=True, seed="1")
    project.commit("docs")
    project.run(seed="1", test=OTHER, named=True)


def test_a_range_of_other_tests_is_none_of_a_test_that_passed_since(project: Project) -> None:
    """A check in a library reports faults of several designs, of which the first may still be there."""
    fail_before_another_passes(project)
    late = project.commit("regs: rework", "rtl/regs.sv")
    found = project.first_bad(seed="1", test=OTHER)
    assert found is not None
    assert (found.bad, [line.partition(" ")[2] for line in found.log]) == (late, ["regs: rework"])
    again = project.first_bad(seed="1", test=OTHER)
    assert again is not None
    assert again.log == found.log


def test_a_range_names_the_tests_that_fail_too_but_passed_since(project: Project) -> None:
    fail_before_another_passes(project)
    project.commit("regs: rework", "rtl/regs.sv")
    archived = project.run(fails=True, seed="1", also=(OTHER,))
    told = " ".join(text(each) for cause in archived.causes for each in archived.statements(cause))
    assert re.search(rf"came with \w+ fifo: rework .*; but {OTHER_NAME} passed after that: a newer fault", told)
    assert f"but `{OTHER_NAME}` passed after that" in project.page()
    found = project.first_bad(seed="1")
    assert found is not None
    assert found.passed_after == (OTHER,), "it stays known"


def test_a_test_that_passed_with_another_seed_before_it_failed_too_may_have_another_fault(project: Project) -> None:
    fail_before_another_passes(project)
    project.commit("regs: rework", "rtl/regs.sv")
    archived = project.run(fails=True, seed="2", also=(OTHER,))
    told = " ".join(text(each) for cause in archived.causes for each in archived.statements(cause))
    maybe = f"but {OTHER_NAME} passed after that: chance, or a newer fault"
    assert re.search(rf"came with \w+ fifo: rework .*; {maybe}", told)
    project.run(fails=True, seed="3", also=(OTHER,))
    assert f"`{OTHER_NAME}` passed after that: chance, or" in project.page(), "it stays known"


def test_a_range_that_a_second_failure_makes_certain_names_the_tests_that_passed_since(project: Project) -> None:
    project.run(seed="1", test=OTHER, named=True)
    for seed in range(1, 9):
        project.run(seed=str(seed), named=True)
    project.commit("fifo: rework")
    first = project.first_bad(seed="20")
    assert first is not None
    assert not first.is_certain
    project.commit("docs")
    project.run(seed="30", test=OTHER, named=True)
    project.commit("regs: rework", "rtl/regs.sv")
    found = project.first_bad(seed="21", also=(OTHER,))
    assert found is not None
    assert (found.is_certain, found.maybe_newer) == (True, (OTHER,))
    project.commit("fifo: tidy")
    for later in ("22", "23"):
        again = project.first_bad(seed=later, also=(OTHER,))
        assert again is not None
        assert again.maybe_newer == (OTHER,), "it stays known"


def test_a_test_that_joins_without_a_change_since_its_pass_is_not_said_to_have_another_fault(project: Project) -> None:
    fail_before_another_passes(project)
    archived = project.run(fails=True, seed="2", also=(OTHER,))
    told = " ".join(text(each) for cause in archived.causes for each in archived.statements(cause))
    assert "fifo: rework" in told
    assert "chance, or" not in told


def test_a_test_that_passed_at_the_first_bad_commit_is_named_too(project: Project) -> None:
    """Its pass there makes the range no narrower."""
    early, late = (f"tests/test_fifo.py::test_fifo[{width}]" for width in (16, 32))
    project.run(seed="1", test=late)
    project.commit("fifo: tidy")
    project.commit("fifo: rework")
    project.run(fails=True, seed="1", test=late)
    project.run(seed="1", test=early, named=True)
    project.commit("regs: rework", "rtl/regs.sv")
    found = project.first_bad(seed="1", test=early, also=(late,))
    assert found is not None
    assert (found.log_count, found.passed_after) == (2, (early,))


def test_a_cause_is_first_seen_in_a_run_with_edits_that_it_did_not_read(project: Project) -> None:
    project.commit("other", "rtl/other.sv")
    first, reads = project.head, ("rtl/fifo.sv", "tb/sb.py")
    project.run(seed="1", named=True)
    (project.root / "rtl/other.sv").write_text("edited\n")
    project.run(fails=True, seed="2", reads=reads)
    git(project.root, "checkout", "--quiet", "rtl/other.sv")
    project.commit("fifo: rework")
    found = project.first_bad(seed="3", reads=reads)
    assert found is not None
    assert (found.passed_with, found.bad) == ("other", first)


def test_passes_before_and_after_a_commit_that_was_undone_do_not_clear_it(project: Project) -> None:
    """A rare fault was mended and came back: the passes before the repair were chance."""
    reads = ("rtl/fifo.sv", "rtl/regs.sv")
    project.commit("regs", "rtl/regs.sv")
    for seed in "123456":
        project.run(seed=seed, named=True)
    project.commit("fifo: mend")
    for seed in "abcd":
        project.run(seed=seed, named=True)
    project.commit("regs: rework", "rtl/regs.sv")
    git(project.root, "revert", "--no-edit", "HEAD~1")
    project.run(fails=True, seed="8", reads=reads)
    found = project.first_bad(seed="9", reads=reads)
    assert found is not None
    assert found.is_certain
    assert {line.partition(" ")[2] for line in found.log} == {'Revert "fifo: mend"', "regs: rework", "fifo: mend"}


@pytest.mark.parametrize("is_edited", [False, True])
def test_a_repair_that_no_run_showed_and_that_is_undone_brings_the_cause_back(
    project: Project, *, is_edited: bool
) -> None:
    """The test failed with two faults, so it passed only after the second repair.

    It does not matter whether another commit changed other lines of the file.
    """
    reads = ("rtl/fifo.sv", "rtl/regs.sv")
    project.commit("regs", "rtl/regs.sv")
    project.run(seed="1", named=True)
    project.commit("fifo: break")
    project.run(fails=True, seed="2", reads=reads)
    project.commit("regs: break", "rtl/regs.sv")
    project.run(fails=True, seed="3", reads=reads)
    git(project.root, "revert", "--no-edit", "HEAD~1")
    project.run(fails=True, seed="4", reads=reads)
    git(project.root, "revert", "--no-edit", "HEAD~1")
    for seed in "4567":
        project.run(seed=seed, named=True)
    if is_edited:
        file = project.root / reads[0]
        file.write_text(f"assign full = 1'b0;\n\n\n{file.read_text()}")
        git(project.root, "commit", "--quiet", "--all", "--message", "fifo: a flag")
    git(project.root, "revert", "--no-edit", f"HEAD~{1 + is_edited}")
    (cause,) = project.run(fails=True, seed="8", reads=reads).causes
    assert cause.news == "REGRESSED"


def test_one_pass_begins_the_range_of_failures_that_are_alike(project: Project) -> None:
    """They fail at the same time with the same values, so no seed matters."""
    project.run(seed="1", named=True)
    project.commit("fifo: break")
    for seed in "23":
        assert getattr(project.first_bad(seed=seed, sim_time="1250 ns"), "passed_with", "") == "other"
    project.run(fails=True, seed="4", sim_time="1250 ns")
    found = project.first_bad(seed="5", sim_time="1250 ns")
    assert found is not None
    assert (found.passed_with, len(found.log)) == ("same", 1)


def test_the_last_pass_of_any_test_begins_the_range_of_a_build_that_fails(project: Project) -> None:
    report = "rtl/fifo.sv:3: syntax error"
    project.run(named=True)
    project.commit("fifo: depth")
    project.run(named=True, test=OTHER)
    project.commit("fifo: break")
    found = project.first_bad(report=report, also=[OTHER])
    assert found is not None
    assert [line.partition(" ")[2] for line in found.log] == ["fifo: break"]


def test_edits_that_were_committed_were_not_dropped(project: Project) -> None:
    file = project.root / "rtl/fifo.sv"
    file.write_text("assign full = count == 7;\n")
    project.run(fails=True, seed="1", reads=("rtl/fifo.sv",))
    git(project.root, "commit", "--quiet", "--all", "--message", "fifo: full")
    file.write_text("assign full = count == 7;\nassign empty = count == 0;\n")
    git(project.root, "commit", "--quiet", "--all", "--message", "fifo: empty")
    (passed,) = project.run(seed="1").passed
    assert passed.fix is not None
    assert "dropping" not in passed.fix.note
    assert "fifo: empty" in passed.fix.log[0]


def test_a_test_that_passed_since_is_named_beside_uncommitted_changes_too(project: Project) -> None:
    fail_before_another_passes(project)
    (project.root / "rtl/fifo.sv").write_text("edited\n")
    found = project.first_bad(seed="1", also=(OTHER,))
    assert found is not None
    assert found.passed_after == (OTHER,)
    assert "but `test_regs` passed after that" in project.page()


def test_a_commit_to_the_file_with_which_the_cause_came_is_the_first_of_a_fix(project: Project) -> None:
    reads = ("rtl/fifo.sv", "tb/gen.sv", TEST.partition("::")[0])
    project.run(seed="1", named=True)
    project.commit("fifo: rework")
    project.run(fails=True, seed="1", reads=reads)
    project.commit("fifo: mend it")
    for number in range(4):
        project.commit(f"gen: {number}", "tb/gen.sv")
    archived = project.run(seed="1", named=True)
    assert archived.record is not None
    (row,) = archived.record.fixes
    assert row.log is not None
    assert [line.partition(" ")[2] for line in row.log[:2]] == ["fifo: mend it", "gen: 3"]


def test_a_fix_is_none_of_a_test_that_had_passed_since_the_cause_came(project: Project) -> None:
    fail_before_another_passes(project)
    project.commit("regs: rework", "rtl/regs.sv")
    project.run(fails=True, seed="1", also=(OTHER,))
    project.commit("fifo: repair")
    archived = project.run(seed="1")
    assert archived.record is not None
    assert [each.nodeid for each in archived.record.passed_again] == [TEST]
    assert len(archived.record.fixes) == 1
    archived = project.run(seed="1", test=OTHER, named=True)
    assert archived.record is not None
    assert (archived.record.passed_again, archived.passed) == ((), ())
    assert "other test of the cause" not in project.page()


def test_a_fix_is_not_the_end_of_edits_where_the_test_failed_without_them_too(project: Project) -> None:
    project.run(seed="1")
    project.commit("fifo: break it")
    project.run(fails=True, seed="1")
    (project.root / "rtl/regs.sv").write_text("edited\n")
    project.run(fails=True, seed="2")
    (project.root / "rtl/regs.sv").unlink()
    project.commit("fifo: mend it")
    archived = project.run(seed="1")
    assert archived.record is not None
    (row,) = archived.record.fixes
    assert (row.note, [line.partition(" ")[2] for line in row.log or ()]) == ("", ["fifo: mend it"])


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_command_is_one_of_a_test_that_has_the_fault_of_the_range(project: Project, seed: str) -> None:
    fail_before_another_passes(project)
    project.commit("regs: rework", "rtl/regs.sv")
    failing = {TEST: 4.0, OTHER: 1.0}
    archived = project.run(fails=True, seed=seed, also=(OTHER,), commands=failing)
    (cause,) = archived.causes
    assert cause.occurrence.command is not None
    known = OTHER if seed == "2" else TEST
    assert (cause.occurrence.quickest or cause.occurrence.command).test == known


@pytest.mark.parametrize(("name", "failed"), [("rtl/fifo.sv", 0), ("rtl/regs.sv", 1)])
def test_a_fix_that_may_be_chance_has_failed_only_where_nothing_that_matters_was_changed_since(
    project: Project, name: str, failed: int
) -> None:
    reads = ("rtl/fifo.sv", "tests/fifo_bench.py")
    project.run(named=True, seed="1")
    project.commit("fifo: break it")
    project.run(fails=True, seed="2", reads=reads)
    project.commit("fifo: mend it")
    project.run(seed="3")
    project.commit("another change", name)
    for seed in ("4", "5"):
        archived = project.run(fails=True, seed=seed, reads=reads)
        told = " ".join(text(each) for cause in archived.causes for each in archived.statements(cause))
        assert told.count("not fixed by") == failed
        assert project.page().lower().count("not fixed by") == failed


@pytest.mark.parametrize("bench", ["bench.py", "bench.sv"])
@pytest.mark.parametrize("repaired", ["tests/test_fifo/dut.sv", "tests/sources.f"])
def test_a_design_in_a_folder_of_tests_draws_no_stimulus_for_a_bench_in_python(
    project: Project, bench: str, repaired: str
) -> None:
    project.commit("fifo", "tests/test_fifo/dut.sv")
    project.run(fails=True, seed="1", reads=("tests/test_fifo/dut.sv", f"tests/test_fifo/{bench}"))
    project.commit("fifo: repair", repaired)
    record = project.run(seed="1").record
    assert record is not None
    assert [each.new_stimulus for each in record.passed_again] == [not bench.endswith(".py")]


@pytest.mark.parametrize(("changed", "anew"), [("tests/regs_bench.py", True), ("tests/sram_bench.py", False)])
def test_a_bench_that_the_simulation_did_not_read_draws_none_of_its_stimulus(
    project: Project, changed: str, *, anew: bool
) -> None:
    project.run(fails=True, seed="1", reads=("rtl/fifo.sv", "tests/regs_bench.py"))
    project.commit("fifo: repair")
    project.commit("bench: more", changed)
    record = project.run(seed="1").record
    assert record is not None
    assert [each.new_stimulus for each in record.passed_again] == [anew]


def test_after_a_pass_with_the_seed_that_failed_no_older_range_is_told(project: Project) -> None:
    project.run(seed="1")
    project.commit("fifo: rework")
    first = project.first_bad(seed="1")
    assert first is not None
    assert first.is_certain
    fix = project.commit("tb: other stimulus", "tb/sb.py")
    project.run(seed="1", named=True)  # no proof: the generator of the stimulus was changed
    project.run(seed="2", named=True)
    bad = project.commit("fifo: another fault")
    archived = project.run(fails=True, seed="7")
    (cause,) = archived.causes
    told = " ".join(map(text, archived.statements(cause)))
    assert cause.first_bad is not None
    assert (cause.first_bad.passed_with, cause.first_bad.good, cause.first_bad.bad) == ("other", fix, bad)
    assert f"failed again after the fix by {fix[:7]} tb: other stimulus" in told
    assert "not fixed by" not in told
    assert "fifo: rework" not in project.page().partition("Evidence")[2].partition("## ")[0]
    (cause,) = project.run(fails=True, seed="8").causes
    assert cause.fix_counts == (0, 0), "nobody knows that it failed"
    assert "fifo: rework" not in " ".join(map(text, archived.statements(cause)))


def failing_rework(project: Project) -> tuple[str, ...]:
    """Let a test of two sources pass, and fail after a change of one; return the sources."""
    reads = ("rtl/fifo.sv", "rtl/regs.sv")
    project.commit("regs", "rtl/regs.sv")
    project.run(seed="1")
    project.commit("fifo: rework")
    project.run(fails=True, seed="1", reads=reads)
    return reads


def test_what_fails_after_changes_of_other_files_that_it_read_names_no_older_commits(project: Project) -> None:
    reads = failing_rework(project)
    assert "fifo: rework" in project.page()
    project.commit("fifo: repair")
    project.run(seed="2", named=True)  # may be chance
    project.commit("regs: another fault", "rtl/regs.sv")
    for seed in "34":
        archived = project.run(fails=True, seed=seed, reads=reads)
        (cause,) = archived.causes
        told = " ".join(map(text, archived.statements(cause)))
        assert "not fixed by" not in told
        assert "fifo: rework" not in told
    assert cause.fix_counts == (0, 0)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ("rtl/regs.sv", "no fix: only the seed is known to differ (2, it failed with 1); run it with seed 1"),
        ("rtl/fifo.sv", "may be chance, because it failed with seed 1"),
        ("data/stimulus.hex", "may be chance, because the stimulus generator may have changed too"),
    ],
)
def test_a_pass_with_another_seed_after_changes_of_what_was_not_read_names_no_commit(
    project: Project, changed: str, told: str
) -> None:
    project.commit("all", changed)
    project.run(fails=True, seed="1", reads=("rtl/fifo.sv",))
    project.commit("another change", changed)
    project.commit("note", "README.md")
    archived = project.run(seed="2", named=True)
    (passed,) = archived.passed
    assert of_passes(passed).startswith(told)
    assert ("another change" in project.page()) == told.startswith("may be")


def test_a_cause_whose_fix_was_undone_did_not_return_with_what_failed_other_tests_before(project: Project) -> None:
    def both_pass(*seeds: str) -> None:
        for seed in seeds:
            project.run(seed=seed, named=True)
            project.run(seed=seed, test=OTHER, named=True)

    reads = ("rtl/fifo.sv", "rtl/regs.sv")
    project.commit("regs", "rtl/regs.sv")
    both_pass("1")
    project.commit("fifo: break it")
    for seed in ("2", "3"):
        project.run(fails=True, seed=seed, reads=reads)
    git(project.root, "revert", "--no-edit", "HEAD")
    mended = project.head
    both_pass("4", "5", "6", "7")
    project.commit("regs: break it", "rtl/regs.sv")
    others = [project.run(fails=True, seed=seed, test=OTHER, reads=reads) for seed in ("8", "9")]
    assert len({cause.name for each in others for cause in each.causes}) == 1, "no fix of another test parts them"
    git(project.root, "revert", "--no-edit", "HEAD")
    both_pass("10")
    project.commit("regs: more", "rtl/regs.sv")
    git(project.root, "revert", "--no-edit", mended)
    found = project.first_bad(seed="11", reads=reads)
    assert found is not None
    assert (found.good, found.bad) == (mended, project.head)


def test_with_an_undone_fix_back_in_place_the_commits_that_undid_it_are_not_told(project: Project) -> None:
    reads = failing_rework(project)
    project.commit("fifo: repair")
    project.run(seed="1", named=True)
    git(project.root, "revert", "--no-edit", "HEAD")
    returned = project.first_bad(seed="1", reads=reads)
    assert returned is not None
    assert "Revert" in returned.log[0]
    git(project.root, "revert", "--no-edit", "HEAD")
    project.commit("regs: another fault", "rtl/regs.sv")
    for seed in "123":
        archived = project.run(fails=True, seed=seed, reads=reads)
        (cause,) = archived.causes
        assert cause.first_bad is not None
        assert [line.partition(" ")[2] for line in cause.first_bad.log] == ["regs: another fault"]
        is_new = seed == "1"
        assert ("treated as a different fault" in " ".join(map(text, archived.statements(cause)))) == is_new


@pytest.mark.parametrize("also", [True, False])
def test_undone_changes_tell_another_fault_only_where_something_else_changed(project: Project, *, also: bool) -> None:
    reads = ("rtl/fifo.sv", "rtl/regs.sv")
    project.commit("regs", "rtl/regs.sv")
    project.run(seed="1", named=True)
    project.commit("fifo: break it")
    project.run(fails=True, seed="1", reads=reads)
    git(project.root, "revert", "--no-edit", "HEAD")
    if also:
        project.commit("regs: break them", "rtl/regs.sv")
    archived = project.run(fails=True, seed="2", reads=reads)
    (cause,) = archived.causes
    assert cause.news == ("NEW" if also else "KNOWN")


@pytest.mark.parametrize(
    ("test", "came_in", "reads", "news"),
    [
        (OTHER, "rtl/fifo.sv", ("rtl/regs.sv",), "NEW"),
        (OTHER, "rtl/fifo.sv", ("rtl/regs.sv", "rtl/fifo.sv"), "KNOWN"),
        (OTHER, "rtl/fifo.sv", (), "KNOWN"),
        (OTHER, "rtl/fifo.hex", ("rtl/regs.sv",), "KNOWN"),
        (TEST, "rtl/fifo.sv", ("rtl/regs.sv",), "KNOWN"),
    ],
    ids=["unread", "read", "unknown reads", "maybe data", "its own test"],
)
def test_what_came_with_files_that_the_simulation_does_not_read_is_another_fault_although_nothing_passed_since(
    project: Project, test: str, came_in: str, reads: tuple[str, ...], news: str
) -> None:
    project.run(seed="1", named=True)
    project.run(seed="1", test=OTHER, named=True)
    project.commit("fifo: break it", came_in)
    project.run(fails=True, seed="1", reads=(came_in,))
    project.commit("regs: break them", "rtl/regs.sv")
    archived = project.run(fails=True, seed="1", test=test, reads=reads)
    (cause,) = archived.causes
    told = " ".join(text(each) for each in archived.statements(cause))
    assert cause.news == news
    assert ("this simulation read none of the changes that introduced that one" in told) == (news == "NEW")


def test_a_file_that_is_gone_may_be_why_another_test_fails_with_the_same_cause(project: Project) -> None:
    project.commit("fifo: helper", "rtl/helper.sv")
    project.run(seed="1", named=True)
    git(project.root, "rm", "--quiet", "rtl/helper.sv")
    project.commit("regs: without the helper", "docs.txt")
    project.run(fails=True, seed="1", reads=("rtl/fifo.sv",))
    project.commit("regs: rework", "rtl/regs.sv")
    (cause,) = project.run(fails=True, seed="1", test=OTHER, reads=("rtl/regs.sv",)).causes
    assert cause.news == "KNOWN"


def test_a_range_whose_changes_are_undone_beside_another_fault_ends_at_the_failing_run(project: Project) -> None:
    file = project.root / "rtl/fifo.sv"

    def write(subject: str, *lines: str) -> str:
        file.write_text("\n".join(lines) + "\n")
        git(project.root, "commit", "--quiet", "--all", "--message", subject)
        return project.head

    good = write("fifo: all", "a", "b", "c", "d", "e", "f", "g", "h")
    project.run(seed="1")
    write("fifo: one fault", "a", "B", "c", "d", "e", "f", "g", "h")
    project.run(fails=True, seed="1", reads=("rtl/fifo.sv",))
    write("fifo: repair", "a", "b", "c", "d", "e", "f", "g", "h")
    bad = write("fifo: another fault", "a", "b", "c", "d", "e", "f", "G", "h")
    found = project.first_bad(seed="1", reads=("rtl/fifo.sv",))
    assert found is not None
    assert (found.good, found.bad) == (good, bad)
    project.commit("fifo: more")
    found = project.first_bad(seed="1", reads=("rtl/fifo.sv",))
    assert found is not None
    assert (found.good, found.bad) == (good, bad), "the changes are still there"


def test_a_runner_is_not_more_suspect_than_what_it_builds(project: Project) -> None:
    runner = TEST.partition("::")[0]
    project.run(seed="1", named=True)
    project.commit("runner: more", runner)
    project.commit("fifo: rework", "rtl/fifo.sv")
    found = project.first_bad(seed="1", reads=("rtl/fifo.sv", runner))
    assert found is not None
    assert [line.partition(" ")[2] for line in found.log] == ["fifo: rework", "runner: more"]


FIFO = ("rtl/fifo.sv", "fifo/test_dut.py")
REGS = ("rtl/regs.sv", "regs/test_dut.py")


def test_a_test_of_another_design_is_judged_by_what_its_own_simulation_read(project: Project) -> None:
    for test, reads in ((OTHER, REGS), (TEST, FIFO)):
        project.run(fails=True, seed="1", test=test, reads=reads)
    project.commit("regs: repair", "rtl/regs.sv")
    project.commit("fifo: repair", "rtl/fifo.sv")
    (again,) = project.run(seed="1", test=OTHER, named=True).passed
    assert again.fix is not None
    assert (again.word, [line.partition(" ")[2] for line in again.fix.likely]) == ("FIXED", ["regs: repair"])


def test_a_range_of_another_design_is_listed_by_what_the_failing_one_read(project: Project) -> None:
    for test in (TEST, OTHER):
        project.run(seed="1", test=test, named=True)
    project.commit("regs: rework", "rtl/regs.sv")
    bad = project.commit("fifo: rework", "rtl/fifo.sv")
    for _ in range(2):
        for test, reads in ((TEST, FIFO), (OTHER, REGS)):
            found = project.first_bad(seed="1", test=test, reads=reads)
            assert found is not None
            assert [line.partition(" ")[2][:4] for line in found.likely] == [reads[0][4:8]], test
    project.run(fails=True, seed="1", test=TEST, reads=FIFO)
    git(project.root, "revert", "--no-edit", "HEAD")
    found = project.first_bad(seed="1", test=OTHER, reads=REGS)
    assert found is not None
    assert found.bad == bad, "only the other design was mended since"
