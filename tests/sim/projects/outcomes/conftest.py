"""The project's own fixtures: one build of the design for a session, a folder for each run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SIM = os.getenv("SIM", "icarus")
sys.path.insert(0, str(HERE / "bench"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Tell the test that kills the run that this test's failure is reported."""
    if report.when == "teardown" and report.nodeid.endswith("::test_reported"):
        (HERE / "reported").touch()


@pytest.fixture(scope="session")
def area(worker: str) -> Path:
    """Return the folder for builds and runs of this process; xdist's workers do not share one."""
    return HERE / "sim_build" / worker


@pytest.fixture(scope="session")
def worker() -> str:
    return os.getenv("PYTEST_XDIST_WORKER", "main")
