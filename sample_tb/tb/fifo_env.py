"""The pyuvm environment of the FIFO: one agent, a scoreboard and functional coverage."""

from __future__ import annotations

import os
import random
from collections import deque
from typing import Any

import faults
import pyuvm
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from cocotb_coverage.coverage import CoverCross, CoverPoint, coverage_db
from pyuvm import ConfigDB

DEPTH = 8


class FifoItem(pyuvm.uvm_sequence_item):
    """What is asked of the FIFO in one clock cycle."""

    def __init__(self, name: str, *, push: bool, pop: bool, data: int = 0) -> None:
        super().__init__(name)
        self.push = push
        self.pop = pop
        self.data = data


class Observed:
    """What one clock edge does: the word written, the word read, and the level before it."""

    def __init__(self, pushed: int | None, popped: int | None, level: int) -> None:
        self.pushed = pushed
        self.popped = popped
        self.level = level


class FifoBfm:
    """The pins: drives one cycle, watches one cycle."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut

    async def reset(self) -> None:
        """Start the clock and reset the FIFO."""
        dut = self.dut
        dut.rst.value = 1
        dut.wr_en.value = 0
        dut.wr_data.value = 0
        dut.rd_en.value = 0
        Clock(dut.clk, 10, unit="ns").start()
        for _ in range(3):
            await RisingEdge(dut.clk)
        dut.rst.value = 0
        await RisingEdge(dut.clk)

    async def cycle(self, item: FifoItem) -> None:
        """Ask for what `item` says at the next clock edge."""
        self.dut.wr_en.value = int(item.push)
        self.dut.wr_data.value = item.data
        self.dut.rd_en.value = int(item.pop)
        await RisingEdge(self.dut.clk)
        self.dut.wr_en.value = 0
        self.dut.rd_en.value = 0

    async def watch(self) -> Observed:
        """Return what the next clock edge will do, seen half a cycle before it."""
        dut = self.dut
        await FallingEdge(dut.clk)
        writes = int(dut.wr_en.value) and not int(dut.full.value)
        reads = int(dut.rd_en.value) and not int(dut.empty.value)
        return Observed(
            int(dut.wr_data.value) if writes else None,
            int(dut.rd_data.value) if reads else None,
            int(dut.level.value),
        )


class Driver(pyuvm.uvm_driver):
    """Plays the sequencer's items, one a cycle."""

    def build_phase(self) -> None:
        self.bfm = ConfigDB().get(self, "", "BFM")

    async def run_phase(self) -> None:
        await self.bfm.reset()
        while True:
            item = await self.seq_item_port.get_next_item()
            await self.bfm.cycle(item)
            self.seq_item_port.item_done()


class Monitor(pyuvm.uvm_component):
    """Publishes every cycle in which a word goes in or out."""

    def build_phase(self) -> None:
        self.bfm = ConfigDB().get(self, "", "BFM")
        self.ap = pyuvm.uvm_analysis_port("ap", self)

    async def run_phase(self) -> None:
        await FallingEdge(self.bfm.dut.rst)
        while True:
            seen = await self.bfm.watch()
            if seen.pushed is not None or seen.popped is not None:
                self.ap.write(seen)


class Agent(pyuvm.uvm_agent):
    """Sequencer, driver and monitor."""

    def build_phase(self) -> None:
        self.sequencer = pyuvm.uvm_sequencer("sequencer", self)
        self.driver = Driver("driver", self)
        self.monitor = Monitor("monitor", self)
        if "fifo_no_config" not in faults.active():
            ConfigDB().set(None, "*", "SEQR", self.sequencer)

    def connect_phase(self) -> None:
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)


class Scoreboard(pyuvm.uvm_subscriber):
    """Compares every word that comes out with a model of the FIFO."""

    def build_phase(self) -> None:
        self.model: deque[int] = deque()
        self.reads = 0
        self.mismatches = 0

    def write(self, seen: Observed) -> None:
        """Check the word that is read, then note the one that is written."""
        if seen.popped is not None:
            self.reads += 1
            expected = self.model.popleft()
            if seen.popped != expected:
                self.mismatches += 1
                # Once a word is lost all that follow differ; the first one tells.
                if self.mismatches == 1:
                    self.logger.error("read %d: expected 0x%02x got 0x%02x", self.reads, expected, seen.popped)
        if seen.pushed is not None:
            self.model.append(seen.pushed)

    def check_phase(self) -> None:
        assert self.reads > 0, "no word was read"
        assert self.mismatches == 0, f"{self.mismatches} of {self.reads} words differ"


@CoverPoint("fifo.operation", vname="operation", bins=["push", "pop", "pushpop"])
@CoverPoint("fifo.level", vname="level", bins=list(range(DEPTH + 1)))
@CoverCross(
    "fifo.operation_at_level",
    items=["fifo.operation", "fifo.level"],
    # Nothing leaves an empty FIFO and nothing enters a full one.
    ign_bins=[("pop", 0), ("pushpop", 0), ("push", DEPTH), ("pushpop", DEPTH)],
)
def sample(operation: str, level: int) -> None:
    """Count one operation at one level; the decorators do it."""


class Coverage(pyuvm.uvm_subscriber):
    """Which operations the FIFO saw at which level; what was seen goes into the file that `FIFO_COVERAGE` names."""

    def write(self, seen: Observed) -> None:
        """Count what one clock edge did."""
        push = "push" if seen.pushed is not None else ""
        pop = "pop" if seen.popped is not None else ""
        sample(push + pop, seen.level)

    def extract_phase(self) -> None:
        # Before the checks: a test that fails has covered something as well.
        if file := os.environ.get("FIFO_COVERAGE"):
            coverage_db.export_to_xml(file)

    def report_phase(self) -> None:
        cross = coverage_db["fifo.operation_at_level"]
        self.logger.info("coverage: %d of %d crossed bins", cross.coverage, cross.size)


class Environment(pyuvm.uvm_env):
    """All components of the FIFO's testbench."""

    def build_phase(self) -> None:
        self.agent = Agent("agent", self)
        self.scoreboard = Scoreboard("scoreboard", self)
        self.coverage = Coverage("coverage", self)

    def connect_phase(self) -> None:
        self.agent.monitor.ap.connect(self.scoreboard.analysis_export)
        self.agent.monitor.ap.connect(self.coverage.analysis_export)


class FifoSequence(pyuvm.uvm_sequence):
    """A sequence that asks for single cycles."""

    async def ask(self, *, push: bool = False, pop: bool = False) -> None:
        """Play one cycle, with random data where a word is pushed."""
        item = FifoItem("item", push=push, pop=pop, data=random.randrange(256))
        await self.start_item(item)
        await self.finish_item(item)


class RandomSequence(FifoSequence):
    """Pushes and pops at random, more pops than pushes, so the FIFO stays rather empty."""

    async def body(self) -> None:
        for _ in range(200):
            await self.ask(push=random.random() < 0.4, pop=random.random() < 0.6)


class FillSequence(FifoSequence):
    """Pushes until the FIFO takes no more, then pops until it is empty."""

    async def body(self) -> None:
        for _ in range(DEPTH + 2):
            await self.ask(push=True)
        for _ in range(DEPTH + 2):
            await self.ask(pop=True)


class StreamSequence(FifoSequence):
    """Holds the FIFO at four words while one goes in and one comes out in every cycle."""

    async def body(self) -> None:
        for _ in range(4):
            await self.ask(push=True)
        for _ in range(50):
            await self.ask(push=True, pop=True)


class LevelSequence(FifoSequence):
    """Lets one word in and one out at every level from one word to one less than full."""

    async def body(self) -> None:
        for _ in range(DEPTH - 1):
            await self.ask(push=True)
            await self.ask(push=True, pop=True)


class VirtualSequence(pyuvm.uvm_sequence):
    """Finds the sequencer in the ConfigDB, as a sequence above several agents would."""

    async def body(self) -> None:
        sequencer = ConfigDB().get(None, "", "SEQR")
        await FillSequence("fill").start(sequencer)
        await StreamSequence("stream").start(sequencer)
