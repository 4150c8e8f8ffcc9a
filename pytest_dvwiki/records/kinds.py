"""Kinds of failures: those that occur with every seed, come from infrastructure, or precede the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.records.sides import BEFORE_SIMULATOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.model import FailedTest, Failure, Occurrence, Verdict

UNKNOWN_SEED = "?"
"""Stands for a seed that exists but is not on record."""
DETERMINISTIC_CLASSES = frozenset({"compile_error", "elaboration_error"})
DETERMINISTIC_SUBTYPES = frozenset(
    {
        "config_db_missing",
        "factory_error",
        "handle_not_found",
        "import_error",
        "missing_file",
        "missing_library",
        "missing_module",
        "missing_timescale",
        "no_test",
        "python_syntax_error",
    }
)
"""Subtypes of failures that occur with every seed, in any error class except `tool_error`."""
SIMULATION_CLASSES = frozenset({"sim_error", "uvm_error", "uvm_fatal"})
"""Error classes that only a simulation can report."""
_RUNNER_CHECKS = "python.hdl_file"
"""The id of the pattern for a missing file that cocotb's runner reports before it calls the simulator."""
_OF_OTHER_TOOLS = "environment."
"""Prefix of pattern ids for make, C compilers and linkers."""

_RUN_KILLED = "dvwiki.run_killed"

INFRASTRUCTURE_SUBTYPES = frozenset({"tool_license", "out_of_memory", "disk_full"})
INFRASTRUCTURE_PATTERNS = frozenset(
    {"environment.job_limit", "environment.job_refused", "environment.network", "environment.lock"}
)


def is_infrastructure(cause: Occurrence | Verdict) -> bool:
    """Return whether a failure comes from a licence, a memory or run-time limit, a host or a file system.

    A crash, or a signal from an unknown sender, is not infrastructure.
    """
    return cause.error_class == "tool_error" and (
        cause.failure_subtype in INFRASTRUCTURE_SUBTYPES or cause.pattern in INFRASTRUCTURE_PATTERNS
    )


def is_beyond_sources(cause: Occurrence) -> bool:
    """Return whether a change to the sources is unlikely to repair a failure.

    Running out of memory may be a fault of the sources. A killed run is not taken to be such a fault, because nothing
    shows whether the run had hung.
    """
    if cause.pattern == _RUN_KILLED:
        return True
    return is_infrastructure(cause) and cause.failure_subtype != "out_of_memory"


def is_deterministic(occurrence: Occurrence) -> bool:
    """Return whether an occurrence is of a kind that occurs with every seed."""
    return is_deterministic_kind(occurrence, occurrence.tests)


def is_deterministic_kind(cause: Occurrence | Verdict, tests: Sequence[FailedTest | Failure]) -> bool:
    """Return whether tests with this cause or verdict fail with every seed."""
    if cause.error_class == "tool_error":
        return False
    return (
        cause.error_class in DETERMINISTIC_CLASSES
        or cause.failure_subtype in DETERMINISTIC_SUBTYPES
        or (bool(tests) and all(test.phase == "collect" for test in tests))
    )


def seed_is_unknown(cause: Occurrence | Verdict, failure: Failure) -> bool:
    """Return whether a test had a seed that is not on record.

    Any other failure without a seed does not depend on a seed. A results file of another tool has neither seed nor
    simulator; the error class then shows whether a simulator ran.
    """
    simulated = failure.in_simulator or failure.ran_simulator or cause.error_class in SIMULATION_CLASSES
    return (failure.seed is None or bool(failure.unseeded)) and failure.seeded and not failure.directed and simulated


def precedes_simulator(cause: Occurrence | Verdict, test: FailedTest | Failure) -> bool:
    """Return whether a test failed before any simulator was chosen, so that a pass on any simulator is relevant.

    A Python failure without simulator, simulation time and seed is taken to be in the test environment.
    """
    if test.phase == "collect":
        return True
    is_outside = cause.error_class == "python_error" and test.sim_time is None and test.seed is None
    is_build = cause.error_class in DETERMINISTIC_CLASSES and (cause.pattern or "").startswith(_OF_OTHER_TOOLS)
    is_early = cause.failure_subtype in BEFORE_SIMULATOR or cause.pattern == _RUNNER_CHECKS
    return test.simulator is None and (is_outside or is_build or is_early)
