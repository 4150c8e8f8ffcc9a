"""`dvwiki rerun`: the shortest failing test of each cause, as a command for a job scheduler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.cli import main
from pytest_dvwiki.model import Command, FailedTest, Failure, Verdict
from pytest_dvwiki.pipeline.causes import grouped, occurrence_of
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, TEST, layout, occurrence, record

if TYPE_CHECKING:
    from pytest_dvwiki.settings import Layout

TOP = 'cd "$(git rev-parse --show-toplevel)" && '
QUICK = Command(arguments=("pytest", "tests/test_fifo.py::test_quick"), test="tests/test_fifo.py::test_quick")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.chdir(tmp_path)
    place = layout(tmp_path)
    seeds = tuple(
        FailedTest(nodeid=TEST, seed=seed, simulator="icarus", duration_s=duration)
        for seed, duration in (("42", 9.0), ("7", 2.5), ("8", 0.0))
    )
    archive(place, record(1, occurrence(tests=seeds)))
    quick = FailedTest(nodeid=QUICK.test, simulator="icarus", duration_s=1.5)
    archive(place, record(2, occurrence(tests=(*seeds, quick), quickest=QUICK), occurrence("a" * 12, command=None)))
    return place


def test_the_shortest_failing_test_and_its_seed_come_first(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rerun", CAUSE]) == 0
    assert capsys.readouterr().out == f"{TOP}pytest tests/test_fifo.py::test_quick\n"
    assert main(["rerun", CAUSE, "--per-cause", "3"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{TOP}pytest tests/test_fifo.py::test_quick",
        f"{TOP}COCOTB_RANDOM_SEED=7 pytest tests/test_fifo.py::test_fifo",
        f"{TOP}COCOTB_RANDOM_SEED=42 pytest tests/test_fifo.py::test_fifo",
    ]


def test_news_are_chosen_and_what_has_no_command_is_named(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rerun", "--new", "--since", "2026-01-01", "--format", "json"]) == 1
    printed = capsys.readouterr()
    (row,) = json.loads(printed.out)
    assert (row["cause"], row["test"], row["seed"], row["duration_s"]) == (CAUSE, QUICK.test, None, 1.5)
    assert row["arguments"] == list(QUICK.arguments)
    assert "no command: none is on record" in printed.err
    assert main(["rerun", "--regressed", "--since", "2026-01-01"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["rerun", "0" * 12]) == 2
    assert main(["rerun", CAUSE, "--since", "2026-01-01"]) == 2


def test_the_command_of_a_cause_is_that_of_the_failure_that_is_shown() -> None:
    names = ("test_a_long_name", "test_b")
    failures = [Failure(nodeid=name, command=Command(arguments=(name,))) for name in names]
    verdicts = [
        Verdict(error_class="sim_error", failure_subtype="timeout", fingerprint=CAUSE, primary=name) for name in names
    ]
    (members,) = grouped(failures, verdicts)
    found = occurrence_of(members, Path("/"))
    assert (found.primary, found.command) == ("test_b", Command(arguments=("test_b",), test="test_b"))


def test_an_occurrence_keeps_the_command_of_its_quickest_test() -> None:
    verdict = Verdict(error_class="uvm_error", failure_subtype="timeout", fingerprint=CAUSE, primary="x")
    members = [
        (Failure(nodeid=f"test_{name}", duration_s=duration, command=Command(arguments=(name,))), verdict)
        for name, duration in (("a", 9.0), ("long_name", 1.0), ("unknown", 0.0))
    ]
    found = occurrence_of(members, Path("/"))
    assert (found.command, found.quickest) == (
        Command(arguments=("a",), test="test_a"),
        Command(arguments=("long_name",), test="test_long_name"),
    )
    follower = [members[0], (members[1][0], replace(verdict, follower=True))]
    assert occurrence_of(follower, Path("/")).quickest is None
