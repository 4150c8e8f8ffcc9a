"""Failures of licences, limits, hosts and file systems count against no test."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki import pipeline
from pytest_dvwiki.causes.statements import Came, FixedBy, Infrastructure
from pytest_dvwiki.causes.words import text
from pytest_dvwiki.model import Excerpt, Failure, Result, Run, RunId, Vcs
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.records import overview
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.flaky import flaky_tests
from pytest_dvwiki.report.terminal import Session, render
from pytest_dvwiki.roles.archivist import _machine
from pytest_dvwiki.settings import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.pipeline import Archived

LICENCE = "** Fatal: Unable to checkout a license. Make sure your license file environment variables are set correctly"
NO_SPACE = "OSError: [Errno 28] No space left on device"
SCOREBOARD = "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] Mismatch: expected 12 got 13"


def failure(nodeid: str, line: str, **fields: object) -> Failure:
    excerpt = Excerpt(source="log", lines=((1, line),))
    return Failure(nodeid=nodeid, excerpts=(excerpt,), in_simulator=True, simulator="questa", **fields)  # type: ignore[arg-type]


def run(
    root: Path, number: int, *failures: Failure, results: tuple[Result, ...] = (), job: str = "", host: str = ""
) -> Archived:
    moment = f"2026-11-2{number}T02:00:00Z"
    failed = {each.nodeid: each for each in failures}
    results += tuple(Result(nodeid=name, outcome="failed", simulator="questa") for name in failed)
    made = Run(
        task_id=f"nightly_{number}",
        started=moment,
        finished=moment,
        failures=failures,
        results=results,
        keep_suite=True,
        always_record=True,
        vcs=Vcs(commit=f"{number}" * 40),
        run_id=RunId(job=job or None, host=host or None),
    )
    with Services(resolve(root), note=pytest.fail) as services:
        archived = pipeline.process(made, services)
    assert archived.problem is None
    return archived


def passed(nodeid: str, *earlier: Failure) -> Result:
    return Result(nodeid=nodeid, outcome="flaky" if earlier else "passed", simulator="questa", earlier=earlier)


def test_they_count_against_no_rate(tmp_path: Path) -> None:
    retried = tuple(failure("test_retried", line, attempts=1) for line in (LICENCE,))
    flaky = failure("test_flaky", SCOREBOARD, attempts=1)
    archived = run(
        tmp_path,
        1,
        failure("test_a", LICENCE),
        failure("test_b", SCOREBOARD),
        failure("test_both", SCOREBOARD),
        failure("test_both", LICENCE, phase="teardown"),
        results=(passed("test_c"), passed("test_retried", *retried), passed("test_flaky", flaky)),
    )
    assert archived.record is not None
    totals = archived.record.totals
    assert (totals.passed, totals.flaky, totals.failed, totals.infrastructure) == (2, 1, 3, 1)
    attempts = {each.nodeid: each.attempts[0].infrastructure for each in archived.record.other}
    assert attempts == {"test_retried": True, "test_flaky": False}
    with Archive(tmp_path / ".agent" / "tasks", None) as archive:
        archive.refresh()
        (row,) = overview.runs(archive)
        assert (row.passed, row.ended) == (3, 5)
        names = [each.nodeid for each in overview.failing_tests(archive, "", "~")]
        assert names == ["test_b", "test_both"]
        assert [each.nodeid for each in overview.tests_by_runs(archive, [row], 9)] == names
        assert [(each.nodeid, each.flaky, each.runs) for each in flaky_tests(archive)] == [("test_flaky", 1, 1)]
        counted = {each.nodeid: each.runs for each in flaky_tests(archive, ["test_a", "test_b", "test_both"])}
        assert counted == {"test_a": 0, "test_b": 1, "test_both": 1}


def test_no_commit_brought_or_fixed_a_missing_licence(tmp_path: Path) -> None:
    run(tmp_path, 1, results=(passed("test_a"),))
    (cause,) = run(tmp_path, 2, failure("test_a", LICENCE)).causes
    assert cause.is_infrastructure
    assert cause.first_bad is None
    archived = run(tmp_path, 3, results=(passed("test_a"),))
    assert archived.passed == ()
    assert archived.record is None or archived.record.passed_again == ()
    (cause,) = run(tmp_path, 4, failure("test_a", LICENCE)).causes
    assert not any(isinstance(each, FixedBy | Came) for each in archived.statements(cause))


def test_jobs_and_hosts_are_counted(tmp_path: Path) -> None:
    said = []
    for number, (job, host) in enumerate([("lsf 7", "node1"), ("lsf 7", "node1"), ("lsf 8", "node2"), ("", "")], 1):
        archived = run(tmp_path, number, failure("test_a", LICENCE), job=job, host=host)
        (cause,) = archived.causes
        said += [text(each) for each in archived.statements(cause) if isinstance(each, Infrastructure)]
    assert said == [
        "not held against any test; it affected 1 job, on node1",
        "not held against any test; it affected 1 job, on node1",
        "not held against any test; it affected 2 jobs since 2026-11-21, on node1, node2",
        "not held against any test; it affected 3 jobs since 2026-11-21, on node1, node2",
    ]


def test_host_and_job_are_put_on_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSB_JOBID", "812")
    monkeypatch.setenv("LSB_JOBINDEX", "3")
    assert _machine() == RunId(job="lsf 812[3]", host=platform.node())


def test_the_terminal_shows_them_apart(tmp_path: Path) -> None:
    archived = run(tmp_path, 1, failure("test_a", LICENCE), failure("test_b", SCOREBOARD), failure("test_c", NO_SPACE))
    session = Session(archived=archived, root=tmp_path, wiki=tmp_path / ".agent" / "wiki")
    lines = [line.text for line in render(session, verbosity=0, width=100)]
    at = lines.index("infrastructure (does not count against the tests): 2 causes behind 2 failed tests: 2 new")
    assert lines[0] == "1 cause behind 1 failed test: 1 new"
    assert any(line.startswith("NEW        uvm_error") for line in lines[:at])
    assert sum(line.startswith("NEW        tool_error") for line in lines[at:]) == 2
    quiet = [line.text for line in render(session, verbosity=-1, width=100)]
    assert quiet == ["dvwiki: 1 cause, 1 new, infrastructure: 2 causes; .agent/wiki/index.md"]
    alone = replace(archived, causes=tuple(each for each in archived.causes if each.is_infrastructure))
    lines = [line.text for line in render(replace(session, archived=alone), verbosity=0, width=100)]
    assert lines[0].startswith("infrastructure (does not count against the tests): ")


def test_a_run_that_was_killed_is_neither_brought_nor_fixed_by_commits(tmp_path: Path) -> None:
    """A run that hung and a good one that a person ended look the same."""
    ended = Excerpt(source="run", lines=((1, "run was killed while running test_a"),))
    run(tmp_path, 1, results=(passed("test_a"),))
    killed = run(tmp_path, 2, replace(failure("test_a", ""), excerpts=(ended,)))
    assert killed.causes[0].occurrence.pattern == "dvwiki.run_killed"
    assert killed.causes[0].first_bad is None
    again = run(tmp_path, 3, results=(passed("test_a"),))
    assert again.passed == ()
    assert again.record is not None
    assert (again.record.passed_again, again.record.fixes) == ((), ())
