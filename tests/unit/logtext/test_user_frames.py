"""A traceback gives the exception, its message and the user's frame, whatever printed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_dvwiki.logtext.user_frames import Trace, last_trace, shown_path, user_frame
from pytest_dvwiki.model import Frame

ROOT = Path("/repo")
CHAINED = """\
Traceback (most recent call last):
  File "/repo/tb/test_a.py", line 5, in first
    helper()
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/repo/tb/test_a.py", line 20, in outer
    await check(dut, 3)
  File "/repo/tb/model.py", line 7, in check
    assert int(dut.q.value) == expected
           ^^^^^^^^^^^^^^^^
  File "/venv/lib/python3.11/site-packages/cocotb/types/_logic_array.py", line 924, in __int__
    return self.to_unsigned()
  File "/usr/lib/python3.11/asyncio/base.py", line 3, in run
ValueError: Can't convert LogicArray to int
"""


def test_the_innermost_frame_that_is_the_user_s() -> None:
    assert user_frame(CHAINED, ROOT) == Frame(
        file="tb/model.py",
        line=7,
        function="check",
        source="assert int(dut.q.value) == expected",
        callers=("test_a.py:20", "test_a.py:5"),
        call="await check(dut, 3)",
    )


def test_the_last_exception_of_a_chain() -> None:
    trace = last_trace(CHAINED, ROOT)
    assert trace is not None
    assert (trace.exception, trace.message) == ("ValueError", "Can't convert LogicArray to int")


def test_a_traceback_in_libraries_alone_has_no_frame() -> None:
    assert user_frame('  File "/v/lib/python3.11/site-packages/x.py", line 1, in f\n    g()\n', ROOT) is None
    assert user_frame('  File "<frozen importlib._bootstrap>", line 1, in f\n', ROOT) is None


def test_pytest_s_own_report_has_a_frame_too() -> None:
    text = "    async def test_bad(dut):\n        await Timer(1)\n>       assert dut == 3\nE       AssertionError\n\n"
    assert user_frame(text + "/repo/test_nat.py:15: AssertionError", ROOT) == Frame(
        file="test_nat.py", line=15, function="test_bad", source="assert dut == 3"
    )


def test_an_indented_traceback_of_a_log_keeps_all_lines_of_its_message() -> None:
    pad = " " * 56
    text = "".join(
        pad + line + "\n"
        for line in (
            "Traceback (most recent call last):",
            '  File "/repo/t.py", line 10, in second',
            "    assert q == 3",
        )
    )
    text += f"{pad}AssertionError: assert 0 == 3\n{pad} +  where 0 = x\n    20.00ns INFO  other\n"
    assert last_trace(text, ROOT) == Trace(
        "AssertionError",
        "assert 0 == 3\n +  where 0 = x",
        Frame(file="t.py", line=10, function="second", source="assert q == 3"),
    )


def test_a_traceback_whose_heading_stands_behind_the_prefix_of_a_log_is_one() -> None:
    pad = " " * 56
    text = (
        "     0.00ns INFO     cocotb.regression                  Traceback (most recent call last):\n"
        f'{pad}  File "/repo/t.py", line 3, in <module>\n{pad}    import model\n'
        f"{pad}ModuleNotFoundError: No module named 'model'\n     0.00ns ERROR    cocotb   No module named 'model'\n"
    )
    trace = last_trace(text, ROOT)
    assert trace is not None
    assert (trace.exception, trace.message) == ("ModuleNotFoundError", "No module named 'model'")


def test_a_syntax_error_shows_its_own_file() -> None:
    text = 'Traceback (most recent call last):\n  File "/repo/t.py", line 3\n    def (\n        ^\nSyntaxError: bad\n'
    trace = last_trace(text, ROOT)
    assert trace is not None
    assert (trace.exception, trace.frame) == (
        "SyntaxError",
        Frame(file="t.py", line=3, function="<module>", source="def ("),
    )


@pytest.mark.parametrize(
    ("text", "exception", "message"),
    [
        ("cocotb.triggers.SimTimeoutError\n", "SimTimeoutError", ""),
        ("      cocotb.regression.SimFailure: cocotb expected it\n", "SimFailure", "cocotb expected it"),
    ],
)
def test_an_exception_without_traceback(text: str, exception: str, message: str) -> None:
    assert last_trace(text, ROOT) == Trace(exception, message, None)


@pytest.mark.parametrize("text", ["", "nothing here", "all is well\nValueError: x\n"])
def test_a_text_without_exception_has_none(text: str) -> None:
    assert last_trace(text, ROOT) is None


def test_an_exception_group_is_read_behind_its_bars() -> None:
    text = (
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "/repo/t.py", line 3, in run\n'
        "  |     await group\n"
        "  | ExceptionGroup: two (2 sub-exceptions)\n"
    )
    trace = last_trace(text, ROOT)
    assert trace is not None
    assert (trace.exception, trace.frame) == (
        "ExceptionGroup",
        Frame(file="t.py", line=3, function="run", source="await group"),
    )


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/repo/tb/t.py", "tb/t.py"),
        ("/elsewhere/a/b/t.py", "b/t.py"),
        ("tb/t.py", "tb/t.py"),
        ("/repository/t.py", "repository/t.py"),
        ("C:\\work\\tb\\t.py", "tb/t.py"),
        ("/t.py", "t.py"),
    ],
)
def test_a_path_is_relative_to_the_root_or_its_last_two_parts(path: str, shown: str) -> None:
    assert shown_path(path, ROOT) == shown


def test_secrets_in_a_source_line_are_masked() -> None:
    text = '  File "/repo/t.py", line 3, in run\n    login(password="hunter2222")\n'
    frame = user_frame(text, ROOT)
    assert frame is not None
    assert "hunter2222" not in frame.source
