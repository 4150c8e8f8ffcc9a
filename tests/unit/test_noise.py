"""Error lines that a test also prints when it passes are not its first cause when it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki import pipeline
from pytest_dvwiki.capture.simulations.noise import errors_in
from pytest_dvwiki.model import Excerpt, Failure, NoiseRow, Result, Run
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.settings import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.pipeline.archiving import Archived

TEST, OTHER = "tests/test_fifo.py::test_fifo::fills", "tests/test_fifo.py::test_fifo::drains"
READY = "UVM_ERROR rtl/fifo.sv(5) @ 0: fifo [READY] no value before the first clock"
MASKED = "UVM_ERROR fifo.sv(V) @ V: fifo [READY] no value before the first clock"
FOUND = "UVM_ERROR tb/sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] Mismatch: expected 12 got 13"


def archived(
    root: Path, number: int, *results: Result, failing: tuple[tuple[str, tuple[str, ...]], ...] = ()
) -> Archived:
    """Archive a run with these results; `failing` are tests with the lines of their logs."""
    moment = f"2026-11-21T{number:02d}:00:00Z"
    failures = tuple(
        Failure(
            nodeid=nodeid,
            simulator="icarus",
            in_simulator=True,
            excerpts=(Excerpt(source="log", lines=tuple(enumerate(lines, 1))),),
        )
        for nodeid, lines in failing
    )
    failed = (Result(nodeid=nodeid, outcome="failed", simulator="icarus") for nodeid, _ in failing)
    with Services(resolve(root), note=pytest.fail) as services:
        return pipeline.process(
            Run(
                task_id=f"nightly_{number}",
                started=moment,
                finished=moment,
                failures=failures,
                results=(*results, *failed),
                keep_suite=True,
                always_record=True,
            ),
            services,
        )


def passing(*nodeids: str) -> tuple[Result, ...]:
    return tuple(Result(nodeid=nodeid, outcome="passed", simulator="icarus", noise=(MASKED,)) for nodeid in nodeids)


def primary(found: Archived) -> str:
    (cause,) = found.causes
    return cause.occurrence.primary


def test_a_message_that_the_test_also_prints_when_it_passes_is_not_its_first_cause(tmp_path: Path) -> None:
    archived(tmp_path, 1, *passing(TEST))
    assert primary(archived(tmp_path, 2, failing=((TEST, (READY, FOUND)),))) == FOUND
    assert primary(archived(tmp_path, 3, failing=((f"{TEST}[8]", (READY, FOUND)),))) == FOUND


def test_passes_of_the_same_run_count(tmp_path: Path) -> None:
    found = archived(tmp_path, 1, *passing(f"{TEST}[4]"), failing=((f"{TEST}[8]", (READY, FOUND)),))
    assert primary(found) == FOUND


def test_a_message_of_another_test_may_be_the_first_cause_unless_many_print_it(tmp_path: Path) -> None:
    """A test may provoke an error on purpose."""
    archived(tmp_path, 1, *passing(OTHER))
    assert primary(archived(tmp_path, 2, failing=((TEST, (READY, FOUND)),))) == READY
    archived(tmp_path, 3, *passing(*(f"{OTHER}_{number}" for number in range(10))))
    assert primary(archived(tmp_path, 4, failing=((TEST, (READY, FOUND)),))) == FOUND


@pytest.mark.parametrize(
    "line",
    [
        "UVM_INFO done",
        "UVM_ERROR :    3",
        "AssertionError: 3 errors were logged",
        "AssertionError: assert 3 == 0",
        "AssertionError",
    ],
)
def test_such_a_message_stays_the_first_cause_if_there_is_no_other(tmp_path: Path, line: str) -> None:
    archived(tmp_path, 1, *passing(TEST))
    assert primary(archived(tmp_path, 2, failing=((TEST, (READY, line)),))).startswith(READY)


def test_a_line_that_only_stops_the_simulation_is_no_other_cause(tmp_path: Path) -> None:
    ((text, _),) = errors_in([(1, FOUND)])
    archived(tmp_path, 1, Result(nodeid=TEST, outcome="passed", simulator="icarus", noise=(text,)))
    stops = "UVM_FATAL @ 2000: reporter [MAXERR] Maximum number of errors reached"
    assert primary(archived(tmp_path, 2, failing=((TEST, (FOUND, stops)),))) == FOUND


def test_a_message_of_many_failures_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    noisy_tests = Archive.noisy_tests

    def counted(archive: Archive, text: str) -> set[str]:
        asked.append(text)
        return noisy_tests(archive, text)

    archived(tmp_path, 1, *passing(TEST))
    monkeypatch.setattr(Archive, "noisy_tests", counted)
    archived(tmp_path, 2, failing=tuple((f"{TEST}[{number}]", (READY, FOUND)) for number in range(3)))
    assert sorted(asked) == sorted(set(asked))


def test_a_record_has_each_message_once(tmp_path: Path) -> None:
    for number in (1, 2):
        archived(tmp_path, number, *passing(TEST))
    archived(tmp_path, 3, *passing(TEST, OTHER))
    with Archive(resolve(tmp_path).layout.tasks, None) as archive:
        archive.refresh()
        rows = {each.task_id: each.noise for each in archive.records()}
    assert rows == {
        "nightly_1": (NoiseRow(text=MASKED, test="fills"),),
        "nightly_2": (),
        "nightly_3": (NoiseRow(text=MASKED, test="drains"),),
    }
