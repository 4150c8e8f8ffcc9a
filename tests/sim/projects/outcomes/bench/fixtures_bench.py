"""A cocotb test of the native flow that uses its own fixture."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import Timer


@pytest.fixture
def licence() -> str:
    raise LookupError("no licence file in the bench's folder")


@cocotb.test()
async def needs_licence(dut, licence):
    await Timer(10, unit="ns")


@cocotb.test()
async def needs_nothing(dut):
    await Timer(10, unit="ns")
