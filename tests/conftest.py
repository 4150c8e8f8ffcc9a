"""How the tests make up their input, and which of them run beside each other."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

# The same code is given the same examples, however long they take: a change lands or not by what it does, not by chance
# or by the load of a machine. `make fuzz` looks for other examples.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _PATIENT, derandomize=True)
settings.register_profile("other", _PATIENT, derandomize=False)
settings.load_profile("same")

# A run in which a test starts another would annotate the job that runs the tests.
os.environ.pop("GITHUB_ACTIONS", None)

_ONE_RUN = re.compile(
    r"tests/sim/(?:test_sample\.py::\w+\[(icarus|verilator)|test_outcomes\.py::\w+\[(\w+-\w+)|test_(agents)\.py)"
)


class _OneWorkerARun(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives the tests that look at one run of a simulator to one worker, all others one by one."""

    def _split_scope(self, nodeid: str) -> str:
        found = _ONE_RUN.match(nodeid)
        return next(filter(None, found.groups())) if found else nodeid


@pytest.hookimpl(optionalhook=True)  # also with -p no:xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """In place of xdist's own groups, whose marks it no longer sees from pytest 9.2 on."""
    return _OneWorkerARun(config, log)
