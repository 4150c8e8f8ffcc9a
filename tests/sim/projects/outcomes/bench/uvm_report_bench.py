"""Kinds of pyuvm's own reporting, which a bench must enable before its first component."""

from __future__ import annotations

import cocotb
from cocotb.triggers import Timer
from pyuvm import uvm_root, uvm_scoreboard, uvm_test
from pyuvm.uvm_reporting import set_sv_uvm_style_reporting_enabled

set_sv_uvm_style_reporting_enabled(True)


class Scoreboard(uvm_scoreboard):
    async def run_phase(self):
        self.raise_objection()
        await Timer(30, unit="ns")
        self.report()
        await Timer(30, unit="ns")
        self.drop_objection()


class ErrorScoreboard(Scoreboard):
    def report(self):
        self.uvm_report.error("scoreboard", "FAILED: expected 0x12 got 0x13")
        self.uvm_report.error("scoreboard", "FAILED: expected 0x14 got 0x15")


class FatalScoreboard(Scoreboard):
    def report(self):
        self.uvm_report.fatal("scoreboard", "FAILED: expected 0x22 got 0x23")


class ErrorTest(uvm_test):
    def build_phase(self):
        self.scoreboard = ErrorScoreboard("scoreboard", self)

    def report_phase(self):
        failure = self.report_server.failure_message("ErrorTest")
        assert failure is None, failure


class FatalTest(uvm_test):
    def build_phase(self):
        self.scoreboard = FatalScoreboard("scoreboard", self)


@cocotb.test()
async def report_error(dut):
    await uvm_root().run_test(ErrorTest)


@cocotb.test()
async def report_fatal(dut):
    await uvm_root().run_test(FatalTest)


@cocotb.test()
async def closes(dut):
    await Timer(10, unit="ns")
