"""The page of flaky tests: the flakiest tests, and the causes of their failed attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records.flaky import RUNS
from pytest_dvwiki.wiki.index import percent
from pytest_dvwiki.wiki.text.markdown import code, escape, in_words, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.model import Attempt
    from pytest_dvwiki.records.flaky import FlakyTest

_MOST = 50
"""Maximum number of rows of a table."""
_INTRODUCTION = f"""# Flaky Tests

A test is flaky in a run if it failed there and passed when it was run again. The rate is the number of runs in which it
was flaky, divided by the number of runs in which it is known to have run, among the newest {RUNS} runs on record. Runs
that left no record, such as passing runs without a task name, are not counted. Tests with the most flaky runs come
first."""


def page(tests: Sequence[FlakyTest], page_of: Callable[[str], str | None]) -> str:
    """Return the content of the page of flaky tests.

    Args:
        tests: The flaky tests, in the order to show them.
        page_of: Returns the path of a cause's bug page; None if there is none.
    """
    causes: dict[str, list[tuple[FlakyTest, int, Attempt]]] = {}
    for test in tests:
        for run, attempt in test.failures:
            causes.setdefault(attempt.fingerprint or "", []).append((test, run, attempt))
    by_runs = sorted(causes.items(), key=lambda item: (-len({run for _, run, _ in item[1]}), item[0]))
    rows_of_tests = (
        (code(test.nodeid), str(test.flaky), str(test.runs), percent(test.rate), test.last[:10])
        for test in tests[:_MOST]
    )
    rows_of_causes = (
        (
            _name(cause, rows[-1][2], page_of(cause)),
            str(len({run for _, run, _ in rows})),
            str(len({test.nodeid for test, *_ in rows})),
            code(in_words(rows[-1][2].primary)) if rows[-1][2].primary else "not on record",
        )
        for cause, rows in by_runs[:_MOST]
    )
    parts = [
        _INTRODUCTION,
        table(("Test", "Flaky runs", "Runs", "Rate", "Last"), rows_of_tests),
        "## Causes of the failed attempts",
        table(("Cause", "Runs", "Tests", "First cause"), rows_of_causes),
    ]
    more = len(tests) - _MOST
    return "\n\n".join([*parts, *([f"The table leaves out {count(more, 'test')}."] if more > 0 else ())]) + "\n"


def _name(cause: str, attempt: Attempt, path: str | None) -> str:
    label = f"{attempt.error_class} / {attempt.failure_subtype}" if attempt.error_class else cause or "not on record"
    return f"[{escape(label)}]({path})" if path else escape(label)
