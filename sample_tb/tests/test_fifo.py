"""The FIFO in its pyuvm environment; each pyuvm test is a simulation of its own, with a coverage report of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import faults
import pytest
from cocotb_tools.runner import Runner

REPORTS = Path(__file__).parents[1] / "sim_build" / "coverage"


@pytest.fixture(scope="module")
def fifo(build: Callable[..., Runner]) -> Runner:
    return build("sync_fifo")


def simulate(fifo: Runner, test: str, seed: int | None = None) -> None:
    report = REPORTS / f"{test}{'' if seed is None else f'-{seed}'}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    fifo.test(
        "fifo_tb",
        "sync_fifo",
        testcase=test,
        seed=seed,
        plusargs=faults.plusargs(),
        extra_env={"FIFO_COVERAGE": str(report)},
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random(fifo: Runner, seed: int) -> None:
    simulate(fifo, "RandomTraffic", seed)


def test_fill(fifo: Runner) -> None:
    simulate(fifo, "FillAndDrain")


def test_streaming(fifo: Runner) -> None:
    simulate(fifo, "Streaming")


@pytest.mark.skipif("SAMPLE_EVERY_LEVEL" not in os.environ, reason="fills a coverage hole: set SAMPLE_EVERY_LEVEL=1")
def test_every_level(fifo: Runner) -> None:
    simulate(fifo, "EveryLevel")
