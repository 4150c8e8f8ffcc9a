"""Failures that no seed can change, and failures before any simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pytest_dvwiki.model import Failure
from pytest_dvwiki.records.kinds import is_deterministic, precedes_simulator, seed_is_unknown

from ..samples import failed, occurrence

if TYPE_CHECKING:
    from pytest_dvwiki.model import Phase


@pytest.mark.parametrize(
    ("error_class", "subtype", "phase", "expected"),
    [
        ("compile_error", "undeclared_identifier", "call", True),
        ("elaboration_error", "port_mismatch", "call", True),
        ("sim_error", "handle_not_found", "call", True),
        ("uvm_fatal", "config_db_missing", "call", True),
        ("python_error", "value_error", "collect", True),
        ("python_error", "value_error", "call", False),
        ("sim_error", "scoreboard_fail", "call", False),
        ("tool_error", "missing_file", "call", False),
        ("tool_error", "tool_not_found", "collect", False),
    ],
)
def test_no_seed_changes_what_is_built_imported_or_looked_up(
    error_class: str, subtype: str, phase: Phase, expected: bool
) -> None:
    test = replace(failed(), phase=phase)
    assert is_deterministic(occurrence(error_class=error_class, failure_subtype=subtype, tests=(test,))) == expected


OUTSIDE: dict[str, Any] = {"simulator": None, "sim_time": None, "seed": None}


@pytest.mark.parametrize(
    ("error_class", "subtype", "changes", "expected"),
    [
        ("python_error", "name_error", OUTSIDE, True),
        ("python_error", "import_error", OUTSIDE, True),
        ("python_error", "import_error", OUTSIDE | {"seed": "1"}, True),
        ("python_error", "name_error", OUTSIDE | {"simulator": "icarus"}, False),
        # A results file without a log names no simulator, but has the time or the seed.
        ("python_error", "name_error", OUTSIDE | {"sim_time": "10 ns"}, False),
        ("python_error", "name_error", OUTSIDE | {"seed": "1"}, False),
        ("tool_error", "tool_not_found", OUTSIDE, False),
        ("tool_error", "tool_not_found", OUTSIDE | {"phase": "collect"}, True),
    ],
)
def test_an_exception_outside_any_simulation_came_before_it(
    error_class: str, subtype: str, changes: dict[str, Any], expected: bool
) -> None:
    cause = occurrence(error_class=error_class, failure_subtype=subtype)
    assert precedes_simulator(cause, replace(failed(), **changes)) == expected


@pytest.mark.parametrize(
    ("ran_simulator", "seed", "directed", "expected"),
    [(True, None, False, True), (True, "1", False, False), (True, None, True, False), (False, None, False, False)],
)
def test_a_test_that_checks_its_simulation_depends_on_its_seed(
    ran_simulator: bool, seed: str | None, directed: bool, expected: bool
) -> None:
    cause = occurrence(error_class="python_error", failure_subtype="assertion_error")
    failure = Failure(nodeid="t.py::t", ran_simulator=ran_simulator, seeded=ran_simulator, seed=seed, directed=directed)
    assert seed_is_unknown(cause, failure) == expected
