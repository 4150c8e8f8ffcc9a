"""One frame of a traceback: its place, its source, and where it ends, in Python's form and in pytest's."""

from __future__ import annotations

import pytest

from pytest_dvwiki.logtext.frames import is_library, is_of_library, python_frame, report_frames
from pytest_dvwiki.model import Frame

SHOWN = Frame(file="/w/tb/sb.py", line=7, function="check", source="assert q == 3")


@pytest.mark.parametrize("before", ["", " " * 40, "  | "])
@pytest.mark.parametrize("marks", [["           ^^^^^^"], ["           ~~^^~~", "    and more"], []])
def test_a_frame_ends_below_its_source(before: str, marks: list[str]) -> None:
    block = ['  File "/w/tb/sb.py", line 7, in check', "    assert q == 3", *marks]
    lines = ["before", *(before + line for line in block), f"{before}AssertionError"]
    assert python_frame(lines, 1) == (SHOWN, len(lines) - 1)
    assert python_frame(lines, 0) is None


def test_a_frame_may_lack_function_and_source() -> None:
    lines = ['  File "/w/t.py", line 3', '  File "/w/t.py", line 4, in f']
    assert python_frame(lines, 0) == (Frame(file="/w/t.py", line=3, function="", source=""), 1)
    assert python_frame(lines, 1) == (Frame(file="/w/t.py", line=4, function="f", source=""), 2)


def test_a_report_shows_the_source_before_the_place_or_behind_it() -> None:
    long = ["    async def check(dut):", "        q = 0", ">       assert q == 3", "E       assert 0 == 3", ""]
    assert report_frames([*long, "/w/tb/sb.py:7: AssertionError"]) == {5: SHOWN}
    assert report_frames(["/w/tb/sb.py:7: in check", "    assert q == 3"]) == {0: SHOWN}


def test_a_place_knows_nothing_of_the_frame_before_it() -> None:
    lines = ["    def first():", ">       second()", "a.py:1: ", "b.py:2: ValueError"]
    assert report_frames(lines) == {
        2: Frame(file="a.py", line=1, function="first", source="second()"),
        3: Frame(file="b.py", line=2, function="", source=""),
    }


@pytest.mark.parametrize(
    ("file", "library"),
    [
        ("/v/lib/python3.13t/site-packages/cocotb/handle.py", True),
        ("/usr/lib/python3/dist-packages/yaml/__init__.py", True),
        ("/usr/lib64/python3.11/asyncio/tasks.py", True),
        ("/home/me/.pyenv/versions/pypy3.10/lib/pypy3.10/ast.py", True),
        ("C:\\py\\Lib\\site-packages\\x.py", True),
        ("C:\\Python311\\Lib\\asyncio\\tasks.py", True),
        ("<frozen importlib._bootstrap>", True),
        ("/w/cocotb/src/cocotb/handle.py", True),
        ("/w/cocotb/src/cocotb/types/_logic.py", True),
        ("/w/pyuvm/pyuvm/s05_base_classes.py", True),
        ("C:\\w\\_pytest\\fixtures.py", True),
        ("/opt/oss-cad-suite/libexec/sby", True),
        ("/usr/share/yosys/python3/sby_core.py", True),
        ("/w/cocotb/test_fifo.py", False),
        ("/w/cocotb/utils/model.py", False),
        ("/w/pyuvm/env.py", False),
        ("/w/tests/cocotb_tests/test_a.py", False),
        ("C:\\w\\tb\\env.py", False),
        ("/w/lib/model.py", False),
        ("/w/Lib/model.py", False),
        ("tb/test_fifo.py", False),
    ],
)
def test_a_library_is_told_by_its_place_and_a_users_folder_of_its_name_is_none(file: str, library: bool) -> None:
    assert is_library(file) is library


@pytest.mark.parametrize(
    ("file", "source", "library"),
    [
        ("/home/me/.local/bin/fusesoc", "sys.exit(main())", True),
        ("/w/tb/run_all.py", "sys.exit(main())", False),
        ("/w/bin/run_all", "simulate(top)", False),
    ],
)
def test_the_script_of_an_installed_command_is_no_code_of_the_user(file: str, source: str, library: bool) -> None:
    assert is_of_library(Frame(file=file, line=8, function="<module>", source=source)) is library
