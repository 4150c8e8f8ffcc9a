"""The command runs one test with its seed when pasted into a shell; real cocotb takes its filter (test_simulation)."""

from __future__ import annotations

import re
import shlex

import pytest

from pytest_dvwiki.capture.simulations.reproduce import native_command, reproduce_command

NODEID = "tests/test_fifo.py::test_fifo"


def chosen(command: str, *tests: str) -> list[str]:
    """The tests, in cocotb's full names, that the filter of a command lets through."""
    (word,) = [word for word in shlex.split(command) if word.startswith("COCOTB_TEST_FILTER=")]
    return [test for test in tests if re.search(word.partition("=")[2], test)]


def test_it_names_seed_test_and_item() -> None:
    assert reproduce_command(NODEID, test="overflow", seed="42") == (
        "COCOTB_RANDOM_SEED=42 COCOTB_TEST_FILTER='\\.overflow$' pytest 'tests/test_fifo.py::test_fifo'"
    )


def test_a_test_whose_name_ends_in_the_name_is_not_chosen() -> None:
    command = reproduce_command(NODEID, test="overflow")
    assert chosen(command, "t.overflow", "t.no_overflow", "t.overflow_again") == ["t.overflow"]


def test_a_module_is_told_apart_where_it_is_given() -> None:
    command = reproduce_command(NODEID, test="overflow", module="pkg.t")
    assert chosen(command, "pkg.t.overflow", "other.overflow", "pkg_t.overflow") == ["pkg.t.overflow"]


@pytest.mark.parametrize("test", ["par/x=1.5/y=a+b", "größe", "it's", "a b", "$(touch x)", "a|b", "x[0]*"])
def test_any_name_survives_shell_and_expression(test: str) -> None:
    command = reproduce_command(NODEID, test=test)
    assert chosen(command, f"t.{test}", "t.a", "t.x0") == [f"t.{test}"]


def test_a_node_id_with_brackets_and_quotes_is_one_word() -> None:
    nodeid = "t.py::test_k[it's a * $HOME]"
    assert shlex.split(reproduce_command(nodeid)) == ["pytest", nodeid]


def test_a_seed_is_no_way_into_the_shell() -> None:
    assert shlex.split(reproduce_command(NODEID, seed="1; rm -r x"))[0] == "COCOTB_RANDOM_SEED=1; rm -r x"


def test_cocotb_1_9_has_variables_of_its_own() -> None:
    assert reproduce_command(NODEID, test="bad", seed="7", cocotb="1.9.2") == (
        "RANDOM_SEED=7 TESTCASE='bad' pytest 'tests/test_fifo.py::test_fifo'"
    )


def native(nodeid: str | None, *others: str) -> list[str]:
    command = native_command(nodeid, runner="tb/test_fifo.py::test_run", seed=7, options=["-p", "tool"], others=others)
    return shlex.split(command)


WRAP = "tb/test_fifo.py::test_run::bench::wrap"


def test_a_native_test_is_chosen_by_the_names_of_runner_and_test() -> None:
    expected = ["COCOTB_RANDOM_SEED=7", "pytest", "-p", "tool", "tb/test_fifo.py", "-k", "test_run and wrap"]
    assert native(WRAP, "overflow", "wrap", "test_run") == expected


def test_a_native_test_is_told_apart_from_those_that_its_name_is_a_part_of() -> None:
    *outer, inner = native(WRAP, "wrap", "wrap_around", "no_Wrap", "test_run")
    assert outer == ["COCOTB_RANDOM_SEED=7", "pytest", "-p", "tool", "tb/test_fifo.py::test_run"]
    assert inner == "--cocotb-pytest-args=-p tool -k 'wrap and not no_Wrap and not wrap_around'"


def test_a_native_runner_is_told_apart_from_those_that_its_name_is_a_part_of() -> None:
    assert native(None, "test_run", "test_run_wide")[-1] == "tb/test_fifo.py::test_run"
    assert native(WRAP, "wrap", "test_run", "test_run_wide")[-1] == "--cocotb-pytest-args=-p tool -k wrap"
