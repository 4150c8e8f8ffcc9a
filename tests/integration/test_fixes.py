"""Tests output and records when a failed test passes again, in real git repositories."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.cli import main

from .conftest import Project, git

if TYPE_CHECKING:
    from pathlib import Path

TESTS = """
import pathlib

def value():
    return int(pathlib.Path(__file__).with_name("design.txt").read_text())

def test_value():
    assert value() == 1, "wrong value"

def test_other():
    assert value() in (1, 2, 3), "no value"
"""
NAMED = ("--dvwiki-task", "weekly")
"""The name of a regression, whose passes are archived too; it sorts after other runs of the same second."""
OWN = ("test_it.py", "design.txt", ".gitignore", ".agent")


@pytest.fixture
def design(project: Project) -> Project:
    """Return a repository with a faulty design, and the first failing run on record."""
    (project.path / "test_it.py").write_text(TESTS)
    (project.path / ".gitignore").write_text(".agent/journal/\n__pycache__/\n.agent/wiki/.cache/\n")
    git(project.path, "init", "-q", "--initial-branch=main")
    commit(project, "design: all", 2)
    run(project)
    return project


def commit(project: Project, subject: str, value: int) -> str:
    (project.path / "design.txt").write_text(str(value))
    # pytester writes its files next to those of the project.
    git(project.path, "add", "--", *(name for name in OWN if (project.path / name).exists()))
    git(project.path, "commit", "-q", "--allow-empty", "-m", subject)
    return head(project)


def head(project: Project) -> str:
    return git(project.path, "rev-parse", "HEAD").stdout.strip()


def run(project: Project, *arguments: str) -> str:
    """Return the plugin's section of a run."""
    text = project.run(*arguments, in_process=True).stdout.str()
    return text.partition("= dvwiki =")[2] and text


def rows(project: Project) -> list[dict[str, Any]]:
    return [row for record in project.records() for row in record["fixes"]]


def passes(project: Project) -> list[str]:
    return [row["changed"] for record in project.records() for row in record["passed_again"]]


def page(project: Project) -> str:
    (name,) = project.pages()
    return (project.wiki / "bugs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_a_pass_at_another_commit_is_a_fix_with_its_commit(design: Project, arguments: tuple[str, ...]) -> None:
    failed_at = head(design)
    commit(design, "design: *right* value", 1)
    text = run(design, *arguments)
    (row,) = rows(design)
    assert row["commits"] == [failed_at, head(design)]
    assert (row["text"], row["files"], row["by"], row["result"]) == (
        "design: *right* value",
        ["design.txt"],
        "git",
        "open",
    )
    assert passes(design) == ["commit"]
    assert "FIXED      python_error / assertion_error" in text
    assert f"  by     {head(design)[:7]} design: *right* value (design.txt)" in text
    assert f"| `{failed_at[:8]}`..`{head(design)[:8]}` | design: \\*right\\* value | `design.txt` | git |" in page(
        design
    )
    before = page(design)
    run(design, *arguments)
    assert page(design) == before, "a further pass says nothing new"
    assert len(design.records()) == 2


def test_commits_of_the_wiki_alone_are_no_fix(design: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (design.path / "test_it.py").write_text("import os\ndef test_value(): assert 'LICENCE' in os.environ\n")
    commit(design, "test: needs a licence", 2)
    run(design)
    commit(design, "wiki: nightly", 2)
    monkeypatch.setenv("LICENCE", "1")
    assert "no fix: the same sources failed before" in " ".join(run(design).split())
    assert "nothing" in passes(design)
    told = "`test_it.py::test_value`: the same sources failed before, so it is intermittent. (source: tasks/"
    assert any(told in path.read_text(encoding="utf-8") for path in (design.wiki / "bugs").glob("[A-Z]*"))
    assert run(design) == "", "the same once more is no news"


def test_commits_of_the_wiki_widen_no_range(design: Project) -> None:
    failed_at = head(design)
    git(design.path, "add", "--", ".agent")
    git(design.path, "commit", "-q", "-m", "wiki: the failure")
    run(design)
    commit(design, "design: half way", 3)
    repaired = commit(design, "design: right", 1)
    (design.path / ".agent" / "note.md").write_text("of the wiki alone")
    git(design.path, "add", "--", ".agent")
    git(design.path, "commit", "-q", "-m", "wiki: a note")
    text = run(design)
    (row,) = rows(design)
    assert row["commits"] == [failed_at, repaired]
    assert f"by     {failed_at[:7]}..{repaired[:7]} design: right" in text


def test_a_fix_in_the_working_tree_learns_its_commit_later(design: Project) -> None:
    failed_at = head(design)
    (design.path / "design.txt").write_text("1")
    assert "  by     uncommitted changes in design.txt" in run(design)
    assert run(design) == "", "a second pass with the same changes is no news"
    git(design.path, "commit", "-qam", "design: right value")
    brought = head(design)
    commit(design, "tests: a note", 1)
    git(design.path, "commit", "-q", "--allow-empty", "-m", "nothing")
    (design.path / "more.txt").write_text("x")
    git(design.path, "add", "more.txt")
    git(design.path, "commit", "-qm", "more")
    text = run(design)
    assert "archived as" in text
    assert "FIXED" not in text, "it was reported when the test passed first"
    assert [row["commits"] for row in rows(design)] == [[failed_at, failed_at], [failed_at, brought]]
    assert passes(design) == ["uncommitted", "commit"]
    assert page(design).count("| git | open, fixed: passed 2 of 4 runs needed for it to hold |") == 1
    assert f"Fixed by `{brought[:7]}` design: right value" in page(design)
    assert run(design) == ""


def test_the_files_of_a_fix_are_told_apart_from_those_with_uncommitted_changes(design: Project) -> None:
    commit(design, "design: right value", 1)
    (design.path / "test_it.py").write_text(TESTS.replace("no value", "none"))
    told = f"by uncommitted changes in test_it.py, or {head(design)[:7]} design: right value (design.txt)"
    assert told in " ".join(run(design).split())
    assert "| design: right value; or uncommitted changes in test_it.py | `design.txt` |" in page(design)
    git(design.path, "checkout", "-q", "test_it.py")
    told = " ".join(run(design).split())
    assert f"by {head(design)[:7]} design: right value (design.txt)" in told
    assert "| design: right value | `design.txt` |" in page(design), "the edits are gone, and the test still passes"


def test_a_fix_beside_edits_for_people_to_read_is_reported_once(design: Project) -> None:
    (design.path / "README.md").write_text("one")
    git(design.path, "add", "README.md")
    commit(design, "design: right value", 1)
    (design.path / "README.md").write_text("two")
    assert (
        f"FIXED      python_error / assertion_error\n  1 test passes again: test_value\n  by     {head(design)[:7]}"
        in run(design)
    )
    git(design.path, "checkout", "-q", "README.md")
    text = run(design)
    assert "archived as" in text
    assert "FIXED" not in text


def test_a_cause_that_returns_at_another_commit_leaves_its_fix_open(design: Project) -> None:
    commit(design, "design: right value", 1)
    run(design)
    fix = head(design)
    commit(design, "design: back", 2)
    text = run(design)
    assert "KNOWN      python_error / assertion_error" in text
    assert f"came back after the fix by {fix[:7]} design: right value (design.txt)" in " ".join(text.split())
    assert "| git | open, fixed: passed 1 of 4 runs needed for it to hold, returned 20" in page(design)


def test_a_fix_that_held_makes_a_return_a_regression(design: Project) -> None:
    commit(design, "design: right value", 1)
    fix = head(design)
    for number in range(4):
        text = run(design, *NAMED)
        assert ("HELD       python_error" in text) == (number == 3)
    assert "| git | held since `weekly_" in page(design)
    commit(design, "design: back", 2)
    text = run(design, *NAMED)
    assert "REGRESSED  python_error / assertion_error" in text
    assert f"fixed by {fix[:7]} design: right value (design.txt)" in " ".join(text.split())
    prompt = design.pytester.run("dvwiki", "context", "--test", "test_it.py::test_value").stdout.str()
    assert f"Fix: {fix[:7]} `design: right value` (held, but it returned 20" in prompt
    checked = design.pytester.run("dvwiki", "build", "--check")
    assert checked.ret == 0, checked.stdout.str()


def test_a_pass_of_one_of_two_tests_of_a_cause_is_no_fix_yet(project: Project) -> None:
    (project.path / "test_it.py").write_text(
        "import pathlib\n"
        "def check(name): assert name in pathlib.Path('design.txt').read_text(), 'wrong value'\n"
        "def test_a(): check('a')\n"
        "def test_b(): check('b')\n"
    )
    git(project.path, "init", "-q")
    commit(project, "all", 0)
    run(project)
    shared = {cause["fingerprint"] for cause in project.records()[-1]["occurrences"]}
    (project.path / "design.txt").write_text("a")
    git(project.path, "commit", "-qam", "half of it")
    text = run(project)
    assert passes(project) == ["commit"]
    if len(shared) == 1:
        assert rows(project) == []
        assert "not called fixed: other tests fail at the same check" in text


@pytest.mark.parametrize(
    ("first", "came"),
    [
        ("", "with {commit} model: doubles, the only one of 2 commits"),
        ("import subprocess", "with one of 2 commits after"),
    ],
    ids=["plain", "may run programs"],
)
def test_a_test_without_a_simulation_is_broken_by_no_hdl(project: Project, first: str, came: str) -> None:
    files = {
        "test_it.py": f"from model import double\n{first}\ndef test_double(): assert double(500) == 1000\n",
        "model.py": "def double(value): return value + value\n",
        "dut.v": "module dut; endmodule\n",
    }
    for name, text in files.items():
        (project.path / name).write_text(text)
    git(project.path, "init", "-q")
    git(project.path, "add", "--", *files)
    git(project.path, "commit", "-qm", "all")
    run(project, *NAMED)
    (project.path / "model.py").write_text("def double(value): return 3 * value\n")
    git(project.path, "commit", "-qam", "model: doubles")
    commit = head(project)[:7]
    (project.path / "dut.v").write_text("module dut(input a); endmodule\n")
    git(project.path, "commit", "-qam", "dut: a port")
    said = run(project)
    assert "NEW        python_error / assertion_error                    testbench bug" in said
    assert f"came {came.format(commit=commit)}" in " ".join(said.split())


def test_a_module_without_a_test_is_mended_when_it_can_be_collected(project: Project) -> None:
    """If a bench that a simulator imports is named like a test module, pytest collects it too."""
    (project.path / "test_bench.py").write_text("import absent\n")
    (project.path / "test_it.py").write_text("def test_passes(): pass\n")
    git(project.path, "init", "-q")
    git(project.path, "add", "--", "test_bench.py", "test_it.py")
    git(project.path, "commit", "-qm", "all")
    run(project)
    (project.path / "test_bench.py").write_text("")
    git(project.path, "commit", "-qam", "bench: without it")
    text = run(project)
    assert "FIXED" in text
    assert "1 test passes again: test_bench.py" in text
    assert "bench: without it (test_bench.py)" in text
    assert "FIXED" not in run(project)


def test_without_git_a_pass_is_a_fix_without_commits(project: Project) -> None:
    (project.path / "test_it.py").write_text(TESTS)
    (project.path / "design.txt").write_text("2")
    run(project)
    (project.path / "design.txt").write_text("1")
    text = run(project)
    (row,) = rows(project)
    assert row["commits"] == []
    assert "FIXED" in text
    assert "by a change that is not on record, because the run that failed recorded no commit" in " ".join(text.split())
    assert "a change that is not on record, because the run that failed recorded no commit" in page(project)


def test_a_shallow_clone_says_that_it_cannot_look_back(design: Project, tmp_path: Path) -> None:
    commit(design, "wiki and design", 2)
    commit(design, "design: right value", 1)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{design.path}", str(clone))
    design.pytester.run("cp", "-r", f"{clone}/.", str(design.path / "shallow"))
    shallow = design.path / "shallow"
    (shallow / "conftest.py").write_text("")
    text = design.run("--rootdir", str(shallow), str(shallow), in_process=True).stdout.str()
    assert 'up to "design: right value"; the history in between' in " ".join(text.split())
    assert "is not in this clone" in " ".join(text.split())


def test_a_rebase_that_dropped_the_failing_commit(design: Project) -> None:
    failed_at = head(design)
    (design.path / "design.txt").write_text("1")
    git(design.path, "commit", "-qa", "--amend", "-m", "design: right from the start")
    git(design.path, "reflog", "expire", "--expire=now", "--all")
    git(design.path, "gc", "-q", "--prune=now")
    assert git(design.path, "cat-file", "-e", failed_at, check=False).returncode != 0
    text = run(design)
    assert 'up to "design: right from the start"; the history in between' in " ".join(text.split())
    assert rows(design)[0]["commits"] == [failed_at, head(design)]


def test_the_pages_follow_from_the_records_alone(design: Project, tmp_path: Path) -> None:
    commit(design, "design: right value", 1)
    run(design)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(design.path / ".agent" / "tasks", elsewhere / ".agent" / "tasks")
    done = design.pytester.run("dvwiki", "build", "--restore", "--root", str(elsewhere))
    assert done.ret == 0
    for path in (design.wiki / "bugs").glob("*.md"):
        assert (elsewhere / ".agent" / "wiki" / "bugs" / path.name).read_bytes() == path.read_bytes()


# cocotb tests: seeds

RESULTS = """<testsuites name="results"><testsuite name="all"><property name="random_seed" value="{seed}"/>
<testcase name="overflow" classname="test_fifo" file="test_fifo.py" time="1" sim_time_ns="10">{inner}</testcase>
</testsuite></testsuites>
"""
FAILURE = '<failure error_type="AssertionError" error_msg="wrong word"/>'


WITHOUT_SEED = RESULTS.replace('<property name="random_seed" value="{seed}"/>', "")
JUNIT = """<testsuites><testsuite name="all"><testcase name="overflow" classname="regs">{inner}</testcase></testsuite>
</testsuites>
"""
UVM = '<failure message="UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] Mismatch: expected 12 got 13"/>'


def ingest(
    project: Project, seed: int, *arguments: str, fails: bool = False, results: str = RESULTS, failure: str = FAILURE
) -> str:
    """Return the output of `dvwiki ingest` for a run with a seed; each run overwrites the results of the one before."""
    path = project.path / "sim" / "results.xml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(results.format(seed=seed, inner=failure if fails else ""))
    # Records have the times of the files, in whole seconds.
    moment = 1_800_000_000 + 60 * len(project.records())
    os.utime(path, (moment, moment))
    with contextlib.redirect_stdout(io.StringIO()) as told:
        main(["ingest", str(path), *arguments])
    return " ".join(told.getvalue().split())


@pytest.fixture
def outside(project: Project) -> Project:
    """Return a repository whose tests run outside pytest."""
    (project.path / ".agent").mkdir()
    git(project.path, "init", "-q")
    commit(project, "design: all", 2)
    return project


def test_ingested_results_have_no_commit(outside: Project) -> None:
    ingest(outside, 1, fails=True)
    assert outside.records()[-1]["vcs"]["commit"] is None
    assert "no fix: only the seed is known to differ (2, it failed with 1)" in ingest(outside, 2)
    told = ingest(outside, 1)
    assert "FIXED" in told
    assert "by a change that is not on record, because the run that failed recorded no commit" in told


def test_ingested_results_have_the_commit_that_is_named(outside: Project) -> None:
    failed_at = head(outside)
    ingest(outside, 1, "--commit", "HEAD", fails=True)
    commit(outside, "design: right value", 1)
    assert f"by {head(outside)[:7]} design: right value (design.txt)" in ingest(outside, 1, "--commit", "HEAD")
    assert rows(outside)[-1]["commits"] == [failed_at, head(outside)]
    refused = outside.pytester.run("dvwiki", "ingest", "sim", "--commit", "nowhere")
    assert refused.ret == 2
    assert "--commit nowhere: no such commit" in refused.stderr.str()


def test_a_pass_with_another_seed_may_be_chance_until_the_one_that_failed_passes(outside: Project) -> None:
    ingest(outside, 1, "--commit", "HEAD", fails=True)
    assert "no fix: only the seed is known to differ" in ingest(outside, 2, "--commit", "HEAD")
    commit(outside, "design: something", 3)
    told = ingest(outside, 3, "--commit", "HEAD")
    assert "FIXED" not in told
    assert "may be chance, because it failed with seed 1: passed 1 of 5 runs needed, or run it with that seed" in told
    assert "| git | open, passed 1 of 5 runs needed |" in page(outside)
    assert "its tests failed in 1 of 2 runs on record." in page(outside)
    assert "in 3.1 % of cases: (1 - 1/2)^5. A single pass with seed `1` proves the fix, unless" in page(outside)
    commit(outside, "design: right value", 1)
    assert "passes again" not in ingest(outside, 4, "--commit", "HEAD"), "one more pass by chance is no news"
    assert "FIXED" in ingest(outside, 1, "--commit", "HEAD")
    assert passes(outside) == ["seed", "commit", "commit"]


@pytest.mark.parametrize(
    ("results", "failure"),
    [pytest.param(WITHOUT_SEED, FAILURE, id="cocotb"), pytest.param(JUNIT, UVM, id="junit")],
)
def test_a_pass_proves_nothing_where_the_seed_that_failed_is_not_on_record(
    outside: Project, results: str, failure: str
) -> None:
    ingest(outside, 1, "--commit", "HEAD", fails=True, results=results, failure=failure)
    told = ingest(outside, 1, "--commit", "HEAD", "--run-id", "2", results=results)
    assert "no fix: the same sources failed before, and no seed on record determines its stimulus" in told
    assert "the same sources failed before, and no seed on record determines its stimulus." in page(outside)
    (outside.path / "README.md").write_text("of no matter")
    commit(outside, "another word", 3)
    told = ingest(outside, 1, "--commit", "HEAD", "--run-id", "3", results=results)
    assert "FIXED" not in told
    assert "may be chance, because no seed on record determines its stimulus: passed 1 of 5 runs needed" in told
    assert "No seed on record determines their stimulus, so no single pass proves the fix." in page(outside)
    again = ingest(outside, 1, "--commit", "HEAD", "--run-id", "4", results=results)
    assert "passes again" not in again, "one more pass is no news"


def test_a_pass_proves_nothing_where_its_own_seed_is_not_on_record(outside: Project) -> None:
    ingest(outside, 1, "--commit", "HEAD", fails=True)
    told = ingest(outside, 1, "--commit", "HEAD", results=WITHOUT_SEED)
    assert "no fix: the same sources failed before, and no seed on record determines its stimulus" in told
    commit(outside, "design: something", 3)
    told = ingest(outside, 1, "--commit", "HEAD", "--run-id", "2", results=WITHOUT_SEED)
    assert "may be chance, because it failed with seed 1: passed 1 of 5 runs needed" in told


def test_a_test_of_plain_python_has_no_seed_that_could_be_missing(outside: Project) -> None:
    plain = '<failure message="AssertionError: wrong word"/>'  # cocotb writes `error_type`
    ingest(outside, 1, "--commit", "HEAD", fails=True, results=JUNIT, failure=plain)
    commit(outside, "design: right value", 1)
    assert f"FIXED python_error / assertion_error 1 test passes again: overflow by {head(outside)[:7]}" in ingest(
        outside, 1, "--commit", "HEAD", results=JUNIT
    )
