"""A cause lists the values of a matrix's axes on which it occurred, and those on which the same test passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pytest_dvwiki import pipeline
from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.causes.statements import SeenOn, statements
from pytest_dvwiki.causes.words import text
from pytest_dvwiki.model import Axes, Excerpt, Failure, Result, Run, Simulator, Vcs
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.records import aggregate
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.report.terminal import Session, render
from pytest_dvwiki.settings import resolve
from pytest_dvwiki.wiki.writing.build import build

from ..samples import CAUSE, TEST, archived, failed, layout, occurrence, record, suites

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.settings import Layout

COMMIT = "c" * 40


def run(number: int, simulator: str, *, fails: bool = False, commit: str = COMMIT, **changes: Any) -> RunRecord:
    """Return a shard of a matrix, on one simulator with one Python."""
    name, _, version = simulator.partition(" ")
    tests = (replace(failed(), simulator=name),)
    fields: dict[str, Any] = {
        "vcs": Vcs(commit=commit),
        "simulators": (Simulator(name=name, version=version),),
        "axes": Axes(python="3.13.1", cocotb="2.1", os="linux"),
        "suites": suites(TEST, simulators=(name,)),
    }
    return record(number, *([occurrence(tests=tests)] if fails else []), **(fields | changes))


def said(place: Layout) -> list[str]:
    with Archive(place.tasks, None) as archive:
        archive.refresh()
        found = aggregate.cause(archive, (CAUSE,))
        assert found is not None
        return [text(each) for each in statements(Cause.on_record(CAUSE, found)) if isinstance(each, SeenOn)]


def archive_all(place: Layout, *runs: RunRecord) -> None:
    for each in runs:
        archived(place, each, lists=[[TEST]])


def test_a_cause_is_of_one_simulator_where_the_test_passed_on_the_others(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive_all(place, run(1, "verilator 5.036", fails=True), run(2, "icarus 12.0"), run(3, "ghdl 5.1"))
    (words,) = said(place)
    assert words.startswith("seen on verilator 5.036 alone; the same test passed on ghdl 5.1 and icarus 12.0 at ccc")
    assert words.endswith(", maybe with other seeds")
    (page,) = place.wiki.glob("bugs/RTL*.md")
    assert "Seen on `verilator 5.036` alone" in page.read_text("utf-8"), "the shards that passed came later"
    assert build(place, check=True).changed == []


@pytest.mark.parametrize(
    "other",
    [
        run(2, "icarus 12.0", fails=True),
        run(2, "icarus 12.0", commit="d" * 40),
        run(2, "icarus 12.0", vcs=Vcs(commit=COMMIT, dirty=True)),
        run(2, "icarus 12.0", axes=Axes(python="3.11.2", cocotb="2.1", os="linux")),
        run(2, "icarus 12.0", suites=()),
        run(2, "verilator 5.036"),
    ],
    ids=["fails too", "other commit", "edited", "two axes differ", "no list of tests", "passes there too"],
)
def test_nothing_is_said_where_the_runs_do_not_show_it(tmp_path: Path, other: RunRecord) -> None:
    place = layout(tmp_path)
    archive_all(place, run(1, "verilator 5.036", fails=True), other)
    assert said(place) == []


def test_versions_and_python_are_axes(tmp_path: Path) -> None:
    place = layout(tmp_path)
    older = Axes(python="3.11.2", cocotb="2.1", os="linux")
    seed = suites(TEST, simulators=("verilator",))
    archive_all(
        place,
        run(1, "verilator 5.036", fails=True),
        run(2, "verilator 5.040", suites=tuple(replace(each, seed="42") for each in seed)),
        run(3, "verilator 5.036", axes=older),
    )
    assert said(place) == [
        "seen on verilator 5.036 alone; the same test passed on verilator 5.040 at ccccccc",
        "seen on Python 3.13.1 alone; the same test passed on Python 3.11.2 at ccccccc, maybe with other seeds",
    ]


def test_a_seed_that_is_not_on_record_may_be_any(tmp_path: Path) -> None:
    place = layout(tmp_path)
    unknown = (replace(failed(), simulator="verilator", seed=None, seed_unknown=True),)
    seeded = tuple(replace(each, seed="42") for each in suites(TEST, simulators=("icarus",)))
    archive_all(place, run(1, "verilator 5.036", occurrences=(occurrence(tests=unknown),)))
    archive_all(place, run(2, "icarus 12.0", suites=seeded))
    assert [words.rpartition(", ")[2] for words in said(place)] == ["maybe with other seeds"]


def test_a_seed_is_not_mentioned_where_none_can_change_the_failure(tmp_path: Path) -> None:
    place = layout(tmp_path)
    tests = (replace(failed(), simulator="verilator"),)
    missing = replace(occurrence(tests=tests), error_class="compile_error", failure_subtype="missing_module")
    archive_all(place, run(1, "verilator 5.036", occurrences=(missing,)), run(2, "icarus 12.0"))
    assert said(place) == ["seen on verilator 5.036 alone; the same test passed on icarus 12.0 at ccccccc"]


def on_terminal(root: Path, hour: int, simulator: str, *, fails: bool = True, vcs: Vcs | None = None) -> str:
    """Archive a run on a simulator, and return its terminal output."""
    name, _, version = simulator.partition(" ")
    line = (1, "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] Mismatch: expected 12 got 13")
    failure = Failure(nodeid=TEST, simulator=name, excerpts=(Excerpt(source="log", lines=(line,)),))
    moment = f"2026-11-21T{hour:02d}:00:00Z"
    run = Run(
        task_id=f"nightly_{hour}",
        started=moment,
        finished=moment,
        failures=(failure,) if fails else (),
        results=(Result(nodeid=TEST, outcome="failed" if fails else "passed", simulator=name),),
        simulators=(Simulator(name=name, version=version),),
        keep_suite=True,
        always_record=True,
        vcs=vcs or Vcs(commit=COMMIT),
    )
    settings = resolve(root)
    with Services(settings, note=pytest.fail) as services:
        found = pipeline.process(run, services)
    session = Session(archived=found, root=root, wiki=settings.layout.wiki)
    return "\n".join(line.text for line in render(session, verbosity=0, width=200))


def test_the_terminal_says_it_with_the_present_run(tmp_path: Path) -> None:
    words = "  seen on verilator 5.036 alone; the same test passed on ghdl 5.1 at ccccccc"
    on_terminal(tmp_path, 1, "ghdl 5.1", fails=False)
    new = on_terminal(tmp_path, 2, "verilator 5.036")
    assert "NEW " in new
    assert words in new.splitlines()
    assert words in on_terminal(tmp_path, 3, "verilator 5.036")
    assert "alone" not in on_terminal(tmp_path, 4, "verilator 5.036", vcs=Vcs(commit=COMMIT, dirty=True))
    assert "alone" not in on_terminal(tmp_path, 5, "ghdl 5.1"), "the present run disproves it"
