"""Fixtures that ended by SystemExit: cocotb-test ends every failed build so, cocotb's runner where a tool is missing.

pytest keeps an exception for all tests that need the fixture, but not this one: from the second test on it fails with
an assertion of its own. What the first failure left behind is then the evidence of the others too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.model import Failure


class BrokenFixtures:
    """What fixtures that failed left behind."""

    def __init__(self) -> None:
        self._failures: WeakKeyDictionary[pytest.FixtureDef[Any], tuple[Failure, ...]] = WeakKeyDictionary()

    def failures_of(
        self, item: pytest.Item, error: pytest.ExceptionInfo[BaseException] | None, found: tuple[Failure, ...]
    ) -> tuple[Failure, ...]:
        """The failures of a setup: its own, or those of the fixture that failed for an earlier test.

        Args:
            item: The test.
            error: How its setup ended.
            found: The failures that its own simulations left behind.
        """
        if error is None:
            return found
        definitions = list(_definitions(error))
        if found:
            self._failures.update(dict.fromkeys(definitions, found))
            return found
        if not (definitions and isinstance(error.value, AssertionError) and _is_pytest_s_own(error)):
            return found
        known = self._failures.get(definitions[-1], ())
        return tuple(replace(failure, nodeid=item.nodeid) for failure in known)

    def keep(self, error: pytest.ExceptionInfo[BaseException] | None, failures: tuple[Failure, ...]) -> None:
        """Keeps the failures of a setup that ended by SystemExit before anything was simulated."""
        if error is not None and isinstance(error.value, SystemExit):
            self._failures.update(dict.fromkeys(_definitions(error), failures))


def _definitions(error: pytest.ExceptionInfo[BaseException]) -> Iterator[pytest.FixtureDef[Any]]:
    """The fixtures that were being set up, the innermost last."""
    for entry in error.traceback:
        owner = entry.frame.f_locals.get("self")
        if isinstance(owner, pytest.FixtureDef):
            yield owner


def _is_pytest_s_own(error: pytest.ExceptionInfo[BaseException]) -> bool:
    return isinstance(error.traceback[-1].frame.f_locals.get("self"), pytest.FixtureDef)
