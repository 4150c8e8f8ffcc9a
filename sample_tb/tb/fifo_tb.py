"""The pyuvm tests of the FIFO."""

from __future__ import annotations

import cocotb
import pyuvm
from cocotb_coverage.coverage import coverage_db
from fifo_env import (
    Environment,
    FifoBfm,
    FifoSequence,
    FillSequence,
    LevelSequence,
    RandomSequence,
    VirtualSequence,
)
from pyuvm import ConfigDB


class FifoTest(pyuvm.uvm_test):
    """Builds the environment and plays one sequence on the agent's sequencer."""

    sequence: type[FifoSequence]

    def build_phase(self) -> None:
        ConfigDB().set(None, "*", "BFM", FifoBfm(cocotb.top))
        self.env = Environment("env", self)

    async def run_phase(self) -> None:
        self.raise_objection()
        await self.play()
        self.drop_objection()

    async def play(self) -> None:
        """Start the test's sequence and wait for its end."""
        await self.sequence("sequence").start(self.env.agent.sequencer)


@pyuvm.test()
class RandomTraffic(FifoTest):
    """Random pushes and pops; the seed is the run's."""

    sequence = RandomSequence


@pyuvm.test()
class FillAndDrain(FifoTest):
    """Fills the FIFO to the last word and empties it again."""

    sequence = FillSequence

    def check_phase(self) -> None:
        levels = coverage_db["fifo.level"]
        assert levels.coverage == levels.size, f"levels seen: {levels.detailed_coverage}"


@pyuvm.test()
class EveryLevel(FifoTest):
    """Holds the FIFO at every level while one word goes in and one comes out."""

    sequence = LevelSequence


@pyuvm.test()
class Streaming(FifoTest):
    """Fills and drains, then streams, from a virtual sequence."""

    async def play(self) -> None:
        await VirtualSequence("virtual").start()
