"""A child process shows where its results will be, also if cocotb's Makefile decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_dvwiki.capture.processes.children import Child
from pytest_dvwiki.capture.processes.tools import is_make, results_file

HERE = Path("/tb")


def child(*words: str, **environment: str) -> Child:
    return Child(arguments=words, folder=HERE, environment=environment)


@pytest.mark.parametrize(
    ("words", "environment", "place"),
    [
        (("vvp", "sim.vvp"), {}, None),
        (("vvp", "sim.vvp"), {"COCOTB_RESULTS_FILE": "/out/r.xml"}, "/out/r.xml"),
        (("make",), {}, "/tb/results.xml"),
        (("/usr/bin/make", "-j4", "sim"), {}, "/tb/results.xml"),
        (("make", "-C", "fifo"), {}, "/tb/fifo/results.xml"),
        (("make", "-Cfifo"), {}, "/tb/fifo/results.xml"),
        (("make", "--directory=/else/where"), {}, "/else/where/results.xml"),
        (("make", "COCOTB_RESULTS_FILE=mine.xml"), {"COCOTB_RESULTS_FILE": "env.xml"}, "/tb/mine.xml"),
        (("make", "-C", "fifo"), {"COCOTB_RESULTS_FILE": "env.xml"}, "/tb/fifo/env.xml"),
    ],
)
def test_the_results_file_of_a_child(words: tuple[str, ...], environment: dict[str, str], place: str | None) -> None:
    assert results_file(child(*words, **environment)) == (Path(place) if place else None)


def test_only_make_is_make() -> None:
    assert [is_make(child(word)) for word in ("make", "gmake", "cmake", "makedepend")] == [True, True, False, False]
