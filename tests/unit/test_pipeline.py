"""From failures to a record: the origin knows what changed since the test last passed, and what people decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki import pipeline
from pytest_dvwiki.capture.git import repository
from pytest_dvwiki.model import Excerpt, Failure, Result, Run
from pytest_dvwiki.pipeline.tools import Tools
from pytest_dvwiki.settings import resolve

from .samples import git

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import Origin

TEST = "tests/test_fifo.py::test_fifo::overflow"
REPORT = "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] Mismatch: expected 12 got 13"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    change(tmp_path, "rtl/fifo.sv", "tb/sb.sv", "README.md")
    return tmp_path


def change(root: Path, *files: str) -> None:
    """Commits a change of each file."""
    for name in files:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as stream:
            stream.write("// more\n")
    git(root, "add", *files)
    git(root, "commit", "--quiet", "--message", "change")


def run(root: Path, number: int, *failing: str, report: str = REPORT) -> dict[str, Origin]:
    """Archives a run in which these tests fail and the test passes otherwise; gives the origins by test."""
    moment = f"2026-11-21T{number:02d}:00:00Z"
    failures = tuple(
        Failure(
            nodeid=nodeid,
            in_simulator=True,
            simulator="icarus",
            excerpts=(Excerpt(source="log", lines=((1, report),)),),
        )
        for nodeid in failing
    )
    results = tuple(
        Result(nodeid=name, outcome="failed" if name in failing else "passed", simulator="icarus")
        for name in {TEST, *failing}
    )
    with Tools(resolve(root), note=pytest.fail) as tools:
        archived = pipeline.process(
            Run(
                task_id=f"nightly_{number}",
                started=moment,
                finished=moment,
                failures=failures,
                results=results,
                keep_suite=True,
                always_record=True,
            ),
            tools,
        )
    assert archived.problem is None
    return {test.nodeid: cause.occurrence.origin for cause in archived.causes for test in cause.occurrence.tests}


def test_advice_names_the_files_of_a_project_as_the_project_does(root: Path) -> None:
    lines = ((1, f"FileNotFoundError: [Errno 2] No such file or directory: '{root}/rtl/fifo.sv'"),)
    failed = Failure(nodeid=TEST, phase="setup", excerpts=(Excerpt(source="results", lines=lines),))
    moment = "2026-11-21T01:00:00Z"
    with Tools(resolve(root), note=pytest.fail) as tools:
        run = Run(task_id="nightly_1", started=moment, finished=moment, failures=(failed,))
        (cause,) = pipeline.process(run, tools).causes
    assert cause.fix is not None
    assert cause.fix.startswith("Correct the path of rtl/fifo.sv ")


@pytest.mark.parametrize(
    ("files", "side"),
    [(("rtl/fifo.sv", "README.md"), "design"), (("tb/sb.sv",), "testbench"), (("rtl/fifo.sv", "tb/sb.sv"), None)],
)
def test_a_failure_after_a_pass_knows_which_side_changed(root: Path, files: tuple[str, ...], side: str | None) -> None:
    run(root, 1)
    change(root, *files)
    reasons = " ".join(run(root, 2, TEST)[TEST].reasons)
    assert ("since it passed at" in reasons) is (side is not None)
    assert side is None or f"only {side} files changed: {files[0]}" in reasons


def test_uncommitted_changes_count_and_runs_with_them_are_no_last_pass(root: Path) -> None:
    run(root, 1)
    change(root, "rtl/fifo.sv", "tb/sb.sv")
    (root / "rtl" / "fifo.sv").write_text("dirty")
    run(root, 2)
    git(root, "checkout", "--quiet", "rtl/fifo.sv")
    assert not any("since it passed" in reason for reason in run(root, 3, TEST)[TEST].reasons)
    run(root, 4)
    (root / "rtl" / "fifo.sv").write_text("dirty")
    assert any("only design files changed: rtl/fifo.sv" in reason for reason in run(root, 5, TEST)[TEST].reasons)


def test_git_is_not_asked_where_nothing_failed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(root, 1)
    asked: list[tuple[str, ...]] = []
    real = repository.git

    def listening(root: Path, *arguments: str, timeout: float = 20.0) -> str | None:
        asked.append(arguments)
        return real(root, *arguments, timeout=timeout)

    monkeypatch.setattr(repository, "git", listening)
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
    assert (again.type, again.reasons[0]) == ("TB_BUG", "a person gave its page another type: TB_BUG")
    other = run(root, 3, TEST, report=REPORT.replace("sb.sv", "other_sb.sv"))[TEST]
    assert any("people decided 1 of 1 other cause of " in reason for reason in other.reasons)


def test_a_thousand_seeds_of_one_bug_are_one_cause_with_one_page(root: Path) -> None:
    tests = [f"tests/test_fifo.py::test_fifo[{seed}]" for seed in range(1000)]
    origins = run(root, 1, *tests)
    assert len(set(origins.values())) == 1
    assert len(list((root / ".agent" / "wiki" / "bugs").glob("[RTU]*.md"))) == 1
