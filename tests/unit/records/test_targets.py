"""The simulator and configuration on which a pass counts for a failure."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pytest_dvwiki.records.targets import ANY, Target, of_failure, share_a_test

from ..samples import failed, occurrence


@pytest.mark.parametrize(
    ("pattern", "simulator", "place"),
    [
        ("python.hdl_file", None, (ANY, ANY)),
        ("environment.make_no_rule", None, (ANY, ANY)),
        ("environment.cpp_compiler", None, (ANY, ANY)),
        ("environment.cpp_compiler", "verilator", ("verilator", "")),
        ("python.hdl_file", "icarus", ("icarus", "")),
        ("icarus.missing_file", None, ("", "")),
    ],
)
def test_a_build_that_failed_before_a_simulator_was_called(
    pattern: str, simulator: str | None, place: tuple[str, str]
) -> None:
    cause = occurrence(error_class="compile_error", failure_subtype="missing_file", pattern=pattern)
    test = replace(failed("test_a", None), phase="setup", simulator=simulator)
    assert of_failure(cause, test) == Target("test_a", *place)


def test_tests_of_one_fixture_failed_as_the_first_of_them() -> None:
    first = replace(failed("test_a", None), phase="setup", config="92108304")
    second = replace(first, nodeid="test_b", simulator=None, config=None)
    cause = occurrence(error_class="compile_error", failure_subtype="syntax_error", tests=(first, second))
    assert of_failure(cause, second) == Target("test_b", "icarus", "92108304")
    other = replace(first, nodeid="test_c", simulator="verilator")
    assert of_failure(replace(cause, tests=(first, second, other)), second) == Target("test_b")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("t.py::test[8]", "t.py::test[16]", True),
        ("t.py::test[8]", "t.py::test[16]::fills", True),
        ("t.py::test[8]::fills[a::b]", "t.py::test", True),
        ("t.py::test::fills/width=8/mode=fast", "t.py::test[1]::fills/width=16/mode=a/b=c", True),
        ("tb/fifo::fills/width=8", "tb/fifo::fills", True),
        ("fills/width=8", "fills/width=16", True),
        ("fills/width=8", "drains/width=8", False),
        ("tb/width=8/test_t.py::test", "tb/width=16/test_t.py::test", False),
        ("t.py::test::fills", "t.py::test::drains", False),
        ("t.py::test", "t.py::test_other::fills", False),
    ],
)
def test_parameters_and_what_runs_inside_make_no_other_test(one: str, other: str, same: bool) -> None:
    assert share_a_test([one], ["u.py::test", other]) == same
    assert share_a_test([other], ["u.py::test", one]) == same
