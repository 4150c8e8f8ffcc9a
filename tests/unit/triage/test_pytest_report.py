"""pytest's report of a failure: the lines that are messages, and the place of the check."""

from __future__ import annotations

import pytest

from pytest_dvwiki.triage.pytest_report import only_messages, user_frame

DIRECT = "The above exception was the direct cause of the following exception:"
DURING = "During handling of the above exception, another exception occurred:"
LONG = """    def __getattr__(self, name):
        \"\"\"Finds a child.

        :raises: AttributeError if there is none
        \"\"\"
>       raise AttributeError(f"{self._path} contains no child object named {name}")
E       AttributeError: dut contains no child object named q2

/v/lib/python3.11/site-packages/cocotb/handle.py:461: AttributeError"""


def messages(text: str) -> list[str]:
    return [line for line in only_messages(text.split("\n")) if line]


def test_only_marked_lines_are_messages() -> None:
    assert messages(LONG) == ["E       AttributeError: dut contains no child object named q2"]
    assert len(only_messages(LONG.split("\n"))) == LONG.count("\n") + 1


@pytest.mark.parametrize(
    "place", ["tests/test_a.py:3: RuntimeError", "tests/test_a.py:3: in build", "tests/test_a.py:3: "]
)
def test_a_place_is_no_message(place: str) -> None:
    assert messages(f"[XPASS(strict)] waits\n{place}") == ["[XPASS(strict)] waits"]


@pytest.mark.parametrize(
    ("links", "counts"),
    [
        ([DIRECT], "KeyError"),
        ([DURING], "ValueError"),
        ([DURING, DIRECT], "ValueError"),
        ([DIRECT, DIRECT], "KeyError"),
        ([DIRECT, DURING], "OSError"),
    ],
)
def test_of_a_chain_the_exception_stays_that_counts(links: list[str], counts: str) -> None:
    parts = ["E   KeyError: 'k'"]
    for link, name in zip(links, ["ValueError", "OSError"], strict=False):
        parts += ["", link, "", f"E   {name}: v"]
    (message,) = messages("\n".join(parts))
    assert message.startswith(f"E   {counts}")


def test_a_program_that_ends_itself_hides_no_exception() -> None:
    report = f"E   OSError: no vectors\n\n{DURING}\n\nE   SystemExit: 1"
    assert messages(report) == ["E   OSError: no vectors", "E   SystemExit: 1"]


def test_the_source_stands_above_its_place() -> None:
    report = "    def test_a():\n>       assert f(2) == 5\nE       assert 4 == 5\n\ntests/test_a.py:3: AssertionError"
    frame = user_frame(report.split("\n"))
    assert frame is not None
    assert (frame.file, frame.line, frame.function, frame.source) == (
        "tests/test_a.py",
        3,
        "test_a",
        "assert f(2) == 5",
    )


@pytest.mark.parametrize("source", ["    assert f(2) == 5", ">   assert f(2) == 5"])
def test_or_below_it(source: str) -> None:
    report = f"tests/test_a.py:3: in test_a\n{source}\nE   assert 4 == 5"
    frame = user_frame(report.split("\n"))
    assert frame is not None
    assert (frame.line, frame.function, frame.source) == (3, "test_a", "assert f(2) == 5")


def test_the_innermost_frame_of_the_users_counts() -> None:
    report = f"tests/test_a.py:3: in test_a\n    dut.q2\n{LONG}"
    frame = user_frame(report.split("\n"))
    assert frame is not None
    assert (frame.file, frame.source) == ("tests/test_a.py", "dut.q2")
