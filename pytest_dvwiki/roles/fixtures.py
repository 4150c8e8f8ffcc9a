"""Fixtures that failed, for example because a build failed or a tool was not found.

pytest raises the exception of a fixture again for all tests that need the fixture, without running it. After
SystemExit, as from a build of cocotb-test, pytest fails with an assertion of its own instead. So the evidence of the
first failure is reused for the later tests.
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
        self._errors: WeakKeyDictionary[pytest.FixtureDef[Any], BaseException] = WeakKeyDictionary()

    def failures_of(
        self, item: pytest.Item, error: pytest.ExceptionInfo[BaseException] | None, own: tuple[Failure, ...]
    ) -> tuple[Failure, ...]:
        """Return the failures of a setup: its own, or those of a fixture that failed in an earlier test.

        Args:
            item: The test.
            error: Exception that ended the setup.
            own: Failures of simulations run by the setup itself.
        """
        if error is None:
            return own
        definitions = list(_definitions(error))
        if own:
            self._failures.update(dict.fromkeys(definitions, own))
            self._errors.update(dict.fromkeys(definitions, error.value))
            return own
        if not (definitions and isinstance(error.value, AssertionError) and _is_raised_by_pytest(error)):
            return own
        known = self._failures.get(definitions[-1], ())
        return tuple(replace(failure, nodeid=item.nodeid) for failure in known)

    def keep(self, error: pytest.ExceptionInfo[BaseException] | None, failures: tuple[Failure, ...]) -> None:
        """Keep the failures of a setup that ended with SystemExit before any simulation."""
        if error is not None and isinstance(error.value, SystemExit):
            self._failures.update(dict.fromkeys(_definitions(error), failures))

    def completed(
        self, error: pytest.ExceptionInfo[BaseException] | None, failures: tuple[Failure, ...]
    ) -> tuple[Failure, ...]:
        """Return the failures of a setup; if its exception is an earlier test's, with the simulator of that test."""
        of_error = (each for each in _definitions(error) if self._errors.get(each) is error.value) if error else ()
        definition = next(iter(of_error), None)
        if definition is None:
            return failures
        first = self._failures[definition][0]
        return tuple(
            replace(each, simulator=first.simulator, config=first.config, reads=first.reads) for each in failures
        )


def _definitions(error: pytest.ExceptionInfo[BaseException]) -> Iterator[pytest.FixtureDef[Any]]:
    """Yield the fixtures being set up, innermost last."""
    for entry in error.traceback:
        owner = entry.frame.f_locals.get("self")
        if isinstance(owner, pytest.FixtureDef):
            yield owner


def _is_raised_by_pytest(error: pytest.ExceptionInfo[BaseException]) -> bool:
    return isinstance(error.traceback[-1].frame.f_locals.get("self"), pytest.FixtureDef)
