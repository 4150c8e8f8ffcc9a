"""A scoreboard and a configuration of pyuvm that fail."""

from __future__ import annotations

import cocotb
from cocotb.triggers import Timer
from pyuvm import uvm_component, uvm_root, uvm_scoreboard, uvm_test


class Driver(uvm_component):
    def build_phase(self):
        self.sequencer = self.cdb_get("SEQR")


class NoKeyTest(uvm_test):
    def build_phase(self):
        self.driver = Driver("driver", self)


class Scoreboard(uvm_scoreboard):
    def build_phase(self):
        self.mismatches = 0

    async def run_phase(self):
        self.raise_objection()
        await Timer(40, unit="ns")
        for expected, actual in ((0x10, 0x10), (0x11, 0x91)):
            if expected != actual:
                self.mismatches += 1
                self.logger.error(f"mismatch: expected {expected:#04x} got {actual:#04x}")
        self.drop_objection()

    def check_phase(self):
        assert self.mismatches == 0


class ScoreboardTest(uvm_test):
    def build_phase(self):
        self.scoreboard = Scoreboard("scoreboard", self)


@cocotb.test()
async def config_miss(dut):
    await uvm_root().run_test(NoKeyTest)


@cocotb.test()
async def check_phase(dut):
    await uvm_root().run_test(ScoreboardTest)
