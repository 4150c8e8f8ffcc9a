"""Settings of hypothesis, and the order in which xdist's workers run the tests."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

# The same code always gets the same examples, without a time limit, so that neither chance nor the load of the machine
# decides whether a test passes. `make fuzz` looks for other and more examples.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _PATIENT, derandomize=True, max_examples=40)
settings.register_profile("other", _PATIENT, derandomize=False)
settings.load_profile("same")

# Otherwise a run that a test starts would annotate the job that runs the tests.
os.environ.pop("GITHUB_ACTIONS", None)

_ONE_RUN = re.compile(
    r"tests/sim/(?:test_sample\.py::\w+\[(icarus|verilator)|test_outcomes\.py::\w+\[(\w+-\w+)|test_(agents)\.py)"
)


class _OneWorkerARun(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives tests of one simulator run to one worker, and distributes the others one by one."""

    def _split_scope(self, nodeid: str) -> str:
        found = _ONE_RUN.match(nodeid)
        return next(filter(None, found.groups())) if found else nodeid


@pytest.hookimpl(optionalhook=True)  # also with -p no:xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Return our own scheduler: from pytest 9.2 on, xdist no longer sees the marks of its groups."""
    return _OneWorkerARun(config, log)
