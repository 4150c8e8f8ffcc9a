"""If a test's name has a secret, its command omits the parameters, or a reason explains why there is none."""

from __future__ import annotations

import pytest

from pytest_dvwiki.model import Command, Failure
from pytest_dvwiki.nodeids import UNREPRODUCIBLE, shown, stored_failure
from pytest_dvwiki.redact import redact

from .secret_samples import filled

SECRET = filled("glpat-<mixed:20>")
BARE = "tests/test_x.py::test_login"


def _stored(nodeid: str, *arguments: str, **variables: str) -> Failure:
    return stored_failure(Failure(nodeid=nodeid, command=Command(arguments=arguments, variables=variables)))


def test_the_command_names_the_test_without_its_parameters() -> None:
    for given in (f"{BARE}[{SECRET}-1]", redact(f"{BARE}[{SECRET}-1]"), f"{BARE}[…-1]"):
        stored = _stored(f"{BARE}[{SECRET}-1]", "pytest", given, SIM="icarus")
        assert stored.command == Command(arguments=("pytest", BARE), variables={"SIM": "icarus"})
        assert not stored.unreproducible
    assert SECRET not in stored.nodeid
    assert stored_failure(stored) == stored


def test_names_in_an_expression_lose_their_parameters() -> None:
    stored = _stored(f"{BARE}[{SECRET}]::test_write", "pytest", "tests", "-k", f"test_login[{SECRET}] and test_write")
    assert stored.command == Command(arguments=("pytest", "tests", "-k", "test_login and test_write"))


def test_a_test_inside_a_simulator_is_chosen_without_its_parameters() -> None:
    nodeid = f"{BARE}::test_write/key={SECRET}"
    stored = _stored(nodeid, "pytest", BARE, COCOTB_TEST_FILTER=rf"\.test_write/key={SECRET}$")
    assert stored.command == Command(
        arguments=("pytest", BARE), variables={"COCOTB_TEST_FILTER": r"\.test_write(?:/|$)"}
    )


@pytest.mark.parametrize(
    ("nodeid", "variables"),
    [
        (f"tests/{SECRET}/test_x.py::test_login", {}),
        (f"tests/test_x.py::test_{SECRET}", {}),
        (f"tests/test_x.py::test_{SECRET}[1]", {}),
        (f"{BARE}::{SECRET}", {"COCOTB_TEST_FILTER": SECRET}),
        (f"{BARE}::test_write-{SECRET}", {"TESTCASE": f"test_write-{SECRET}"}),
    ],
)
def test_where_the_name_itself_holds_the_secret_the_reason_is_told(nodeid: str, variables: dict[str, str]) -> None:
    item = "::".join(nodeid.split("::")[:2])
    stored = _stored(nodeid, "pytest", item, **variables)
    assert stored.command is None
    assert stored.unreproducible == UNREPRODUCIBLE
    assert SECRET not in repr(stored)


def test_a_failure_without_a_secret_stays_as_it_is() -> None:
    failure = Failure(nodeid=f"{BARE}[redacted]", command=Command(arguments=("pytest", f"{BARE}[redacted]")))
    assert stored_failure(failure) is failure


def test_the_top_folder_has_a_name_for_people() -> None:
    assert [shown(name) for name in (".", "sim/fifo", BARE)] == ["the top folder", "sim/fifo", BARE]
