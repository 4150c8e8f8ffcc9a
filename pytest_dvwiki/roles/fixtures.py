"""Fixtures that ended with SystemExit, for example because a cocotb-test build failed or a tool was not found.

pytest caches other exceptions for all tests that need the fixture, but not SystemExit: in the next test it fails with
an assertion of its own. So the evidence of the first failure is reused for the later tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.model import Failure


class BrokenFixtures:
    """Remembers the setup failures caused by each failed fixture."""

    def __init__(self) -> None:
        self._failures: WeakKeyDictionary[pytest.FixtureDef[Any], tuple[Failure, ...]] = WeakKeyDictionary()

    def failures_of(
        self, item: pytest.Item, error: pytest.ExceptionInfo[BaseException] | None, found: tuple[Failure, ...]
    ) -> tuple[Failure, ...]:
        """Return the failures of a setup: its own, or those of a fixture that failed in an earlier test.

        Args:
            item: The test.
            error: Exception that ended the setup.
            found: Failures of simulations run by the setup itself.
        """
        if error is None:
            return found
        definitions = list(_definitions(error))
        if found:
            self._failures.update(dict.fromkeys(definitions, found))
            return found
        if not (definitions and isinstance(error.value, AssertionError) and _is_raised_by_pytest(error)):
            return found
        known = self._failures.get(definitions[-1], ())
        return tuple(replace(failure, nodeid=item.nodeid) for failure in known)

    def keep(self, error: pytest.ExceptionInfo[BaseException] | None, failures: tuple[Failure, ...]) -> None:
        """Keep the failures of a setup that ended with SystemExit before any simulation."""
        if error is not None and isinstance(error.value, SystemExit):
            self._failures.update(dict.fromkeys(_definitions(error), failures))


def _definitions(error: pytest.ExceptionInfo[BaseException]) -> Iterator[pytest.FixtureDef[Any]]:
    """Yield the fixtures being set up, innermost last."""
    for entry in error.traceback:
        owner = entry.frame.f_locals.get("self")
        if isinstance(owner, pytest.FixtureDef):
            yield owner


def _is_raised_by_pytest(error: pytest.ExceptionInfo[BaseException]) -> bool:
    return isinstance(error.traceback[-1].frame.f_locals.get("self"), pytest.FixtureDef)
