"""Find the first cause of a failure behind error lines that the same test also prints when it passes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.capture.simulations.noise import errors_in
from pytest_dvwiki.model import NoiseRow
from pytest_dvwiki.records.targets import without_parameters
from pytest_dvwiki.triage.primary import refers_to_others

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Failure, Result, Run
    from pytest_dvwiki.triage.classify import Classifier

_MOST_ROWS = 100
"""Maximum number of error messages of passing tests in a record."""
_MANY_TESTS = 10
"""A message that at least this many passing tests print is treated as noise in every test."""
_ANY_TEST = ""
"""Name that stands for every test."""


def new_noise(results: Sequence[Result], history: History) -> tuple[NoiseRow, ...]:
    """Return the error messages of passing tests that are not on record yet."""
    noisy_tests = functools.cache(history.noisy_tests)
    rows = [row for row in _rows(results) if row.test not in noisy_tests(row.text)]
    return tuple(rows[:_MOST_ROWS])


def _rows(results: Sequence[Result]) -> list[NoiseRow]:
    tests: dict[str, set[str]] = {}
    for result in results:
        for text in result.noise if result.outcome == "passed" else ():
            tests.setdefault(text, set()).add(_name(result.nodeid))
    return [
        NoiseRow(text=text, test=name)
        for text, names in sorted(tests.items())
        for name in (sorted(names) if len(names) < _MANY_TESTS else (_ANY_TEST,))
    ]


def without_noise(run: Run, classifier: Classifier, history: History) -> Run:
    """Return the run, without the lines of noise in failures whose first cause would otherwise be noise.

    A failure keeps these lines if no other cause can be named.
    """
    printed: dict[str, set[str]] = {}
    for row in _rows(run.results):
        printed.setdefault(row.text, set()).add(row.test)
    if not printed and not history.has_noise():
        return run

    @functools.cache
    def printing(text: str) -> set[str]:
        return printed.get(text, set()) | history.noisy_tests(text)

    failures = tuple(_quiet(failure, classifier, printing) for failure in run.failures)
    return run if failures == run.failures else replace(run, failures=failures)


def _quiet(failure: Failure, classifier: Classifier, printing: Callable[[str], set[str]]) -> Failure:
    if failure.by_strict_logs:
        return failure
    names = {_ANY_TEST, _name(failure.nodeid)}
    lines: list[set[int]] = []
    for excerpt in failure.excerpts:
        found: set[int] = set()
        for text, numbers in errors_in(excerpt.lines) if excerpt.source != "results" else ():
            if names & printing(text):
                found.update(numbers)
        lines.append(found)
    if not any(lines):
        return failure
    verdict = classifier.classify(failure)
    is_noise = any(
        verdict.line in numbers and excerpt.source == verdict.source and verdict.path in {None, excerpt.path}
        for excerpt, numbers in zip(failure.excerpts, lines, strict=True)
    )
    if verdict.decided_by or not is_noise:
        return failure
    kept = (
        replace(excerpt, lines=tuple(line for line in excerpt.lines if line[0] not in numbers))
        for excerpt, numbers in zip(failure.excerpts, lines, strict=True)
    )
    quiet = replace(failure, excerpts=tuple(kept))
    other = classifier.classify(quiet)
    # A testbench may count errors without failing, until somebody adds a check of their number.
    return failure if other.error_class == "unknown" or refers_to_others(other.primary) else quiet


def _name(nodeid: str) -> str:
    """Return the name of a test without its file, its runner and its parameters."""
    return without_parameters(nodeid).rpartition("::")[2]
