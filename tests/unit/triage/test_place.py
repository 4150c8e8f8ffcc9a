"""The place of an exception: when it distinguishes causes, and when it is shown."""

from __future__ import annotations

import pytest

from pytest_dvwiki.logtext.report_parts import parse_report
from pytest_dvwiki.model import Frame
from pytest_dvwiki.triage.place import is_part_of_identity, with_place

FRAME = Frame(file="tb/regs_tb.py", line=48, function="write", source='await with_timeout(write, 2, "us")')
CHECK = Frame(file="tb/x.py", line=9, function="check", source="assert ok")


@pytest.mark.parametrize(
    ("message", "part"),
    [
        ("AssertionError: assert 1 == 2", True),
        ("AssertionError: ready never rose", True),
        ("cocotb.triggers.SimTimeoutError", True),
        ("IndexError: list index out of range", True),
        ("ValueError: Can't convert LogicArray to int: it contains non-0/1 values", True),
        ("ValueError: Unable to accurately represent 10(ns) with the simulator precision of 1e0", False),
        ("AttributeError: dut contains no child object named q2", False),
        ('pyuvm.UVMConfigItemNotFound: "uvm_test_top" is not in ConfigDB().', False),
        ('pyuvm.UVMConfigItemNotFound: "Component  has no key: SEQR"', False),
        ("pyuvm.UVMFactoryError: Requested type T not in uvm_factory()  or overrides", False),
        ("ModuleNotFoundError: No module named 'fifo_model'", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'rtl/cdc_sync.sv'", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'sim_build/results.xml'", True),
    ],
)
def test_a_place_tells_causes_apart_unless_the_text_names_what_is_missing(message: str, part: bool) -> None:
    assert is_part_of_identity(parse_report(message)) is part


@pytest.mark.parametrize(
    ("message", "frame", "shown"),
    [
        (
            "cocotb.triggers.SimTimeoutError",
            FRAME,
            'cocotb.triggers.SimTimeoutError in tb/regs_tb.py:write: await with_timeout(write, 2, "us")',
        ),
        ("SimTimeoutError", Frame(file="tb/a.py", line=7, function=""), "SimTimeoutError in tb/a.py:7"),
        ("SimTimeoutError", None, "SimTimeoutError"),
        ("AssertionError", CHECK, "AssertionError: assert ok in tb/x.py:check"),
        ("AssertionError: assert 0", CHECK, "AssertionError: assert ok in tb/x.py:check"),
        ("AssertionError: assert not 1", CHECK, "AssertionError: assert ok in tb/x.py:check"),
        ("AssertionError: assert 1 == 2", CHECK, "AssertionError: assert 1 == 2"),
        ("AssertionError: ready never rose", CHECK, "AssertionError: ready never rose"),
    ],
)
def test_a_text_that_says_too_little_is_shown_with_its_place(message: str, frame: Frame | None, shown: str) -> None:
    assert with_place(message, parse_report(message), frame) == shown
