"""The FIFO in its pyuvm environment; each pyuvm test is a simulation of its own."""

from __future__ import annotations

from collections.abc import Callable

import faults
import pytest
from cocotb_tools.runner import Runner


@pytest.fixture(scope="module")
def fifo(build: Callable[..., Runner]) -> Runner:
    return build("sync_fifo")


def simulate(fifo: Runner, test: str, seed: int | None = None) -> None:
    fifo.test("fifo_tb", "sync_fifo", testcase=test, seed=seed, plusargs=faults.plusargs())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random(fifo: Runner, seed: int) -> None:
    simulate(fifo, "RandomTraffic", seed)


def test_fill(fifo: Runner) -> None:
    simulate(fifo, "FillAndDrain")


def test_streaming(fifo: Runner) -> None:
    simulate(fifo, "Streaming")
