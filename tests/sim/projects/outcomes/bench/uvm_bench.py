"""Kinds that pyuvm reports, through exceptions of its library and through plain Python logging."""

from __future__ import annotations

import cocotb
from cocotb.triggers import Timer
from pyuvm import (
    ConfigDB,
    uvm_component,
    uvm_factory,
    uvm_root,
    uvm_scoreboard,
    uvm_test,
)


class Driver(uvm_component):
    def build_phase(self):
        self.sequencer = self.cdb_get("SEQR")


class NoEntryTest(uvm_test):
    """Nobody put anything for this component into the ConfigDB."""

    def build_phase(self):
        self.env = ConfigDB().get(self, "", "ENV")


class NoKeyTest(uvm_test):
    """The component is known there, the key is not."""

    def build_phase(self):
        ConfigDB().set(self, "driver", "CLOCK", 10)
        self.driver = Driver("driver", self)


class NoTypeTest(uvm_test):
    def build_phase(self):
        self.env = uvm_factory().create_component_by_name(
            "NoSuchType", parent_inst_path="", name="env", parent=self
        )


class Scoreboard(uvm_scoreboard):
    def build_phase(self):
        self.mismatches = 0

    async def run_phase(self):
        self.raise_objection()
        await Timer(40, unit="ns")
        for expected, actual in ((0x10, 0x10), (0x11, 0x91), (0x12, 0x92)):
            if expected != actual:
                self.mismatches += 1
                self.logger.error(f"mismatch: expected {expected:#04x} got {actual:#04x}")
        self.drop_objection()

    def check_phase(self):
        assert self.mismatches == 0


class ScoreboardTest(uvm_test):
    def build_phase(self):
        self.scoreboard = Scoreboard("scoreboard", self)


class RaisingTest(uvm_test):
    """Its report says what is wrong, and another exception ends it."""

    async def run_phase(self):
        self.raise_objection()
        await Timer(10, unit="ns")
        self.logger.error("wrong answer: expected 0x21 got 0x22")
        raise RuntimeError("the scoreboard is unhappy")


class NoisyTest(uvm_test):
    async def run_phase(self):
        self.raise_objection()
        await Timer(10, unit="ns")
        self.logger.error("expected 1 got 2, and nobody checks it")
        self.drop_objection()


@cocotb.test()
async def config_no_entry(dut):
    await uvm_root().run_test(NoEntryTest)


@cocotb.test()
async def config_no_entry_again(dut):
    await uvm_root().run_test(NoEntryTest)


@cocotb.test()
async def config_no_key(dut):
    await uvm_root().run_test(NoKeyTest)


@cocotb.test()
async def factory_miss(dut):
    await uvm_root().run_test(NoTypeTest)


@cocotb.test()
async def check_phase(dut):
    await uvm_root().run_test(ScoreboardTest)


@cocotb.test()
async def report_then_error(dut):
    await uvm_root().run_test(RaisingTest)


@cocotb.test()
async def uvm_noise(dut):
    await uvm_root().run_test(NoisyTest)
    await Timer(10, unit="ns")
