"""An unfinished test of cocotb's own plugin is reported with the end of its simulation."""

from __future__ import annotations

import pytest

from pytest_dvwiki.capture.simulations.unfinished import UnfinishedTest, cut_off
from pytest_dvwiki.model import Excerpt, Failure

UNFINISHED = UnfinishedTest(
    nodeid="test_fifo.py::test_fifo::overflow",
    runner="test_fifo.py::test_fifo",
    seed="7",
    sim_time="55 ns",
    first_line=3,
)


def failure(said: str = "", *, message: str = "", log: tuple[tuple[int, str], ...] = ()) -> Failure:
    texts: tuple[tuple[str, tuple[tuple[int, str], ...]], ...] = (
        ("run", ((1, said),) if said else ()),
        ("stdout", log),
        ("report", ((1, f"E   {message}"),) if message else ()),
    )
    excerpts = tuple(Excerpt(source=source, lines=lines) for source, lines in texts if lines)  # type: ignore[arg-type]  # a literal each
    return Failure(nodeid=UNFINISHED.runner, message=message, excerpts=excerpts)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "the simulator was killed by signal 9 (SIGKILL), last logged time 90 ns",
            "the simulator was killed by signal 9 (SIGKILL) while running overflow, last logged time 90 ns",
        ),
        ("run was killed", "run was killed while running overflow, which began at 55 ns"),
        ("no results file was written", "simulation ended before overflow was done, which began at 55 ns"),
    ],
)
def test_what_ended_the_simulation_names_the_test_and_the_time(said: str, shown: str) -> None:
    (excerpt,) = cut_off(failure(said), UNFINISHED).excerpts
    assert excerpt.text == shown


def test_a_hang_that_pytest_timeout_ended_is_the_test_s_own() -> None:
    hung = cut_off(failure(message="Failed: Timeout (>6.0s) from pytest-timeout."), UNFINISHED)
    assert [excerpt.text for excerpt in hung.excerpts] == [
        "Timeout (>6.0s) from pytest-timeout while running overflow, which began at 55 ns"
    ]
    assert (hung.nodeid, hung.seed) == (UNFINISHED.nodeid, "7")


def test_of_the_output_only_what_came_since_the_test_began_is_kept() -> None:
    cut = cut_off(failure("run was killed", log=((2, "of the test before"), (4, "of this one"))), UNFINISHED)
    assert [excerpt.lines for excerpt in cut.excerpts[1:]] == [((4, "of this one"),)]
