"""Strict logs: a passing test fails if its log has error lines.

The report is changed before any other part of pytest sees it, so that totals, exit status, `--maxfail`, JUnit and xdist
treat the test as failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.model import Excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_dvwiki.capture.simulations.noise import ErrorLines
    from pytest_dvwiki.model import Failure
    from pytest_dvwiki.roles.reports import Evidence

_SECTION = "dvwiki strict logs"
_ADVICE = """\
--dvwiki-strict-logs fails a test that passes with an error line in its log. Fix what the line complains about. If the
line is expected, add a pattern of tier benign to .agent/patterns (`dvwiki patterns list --tier benign` shows examples).
To accept it for a while, add a waiver to .agent/waivers.yaml that matches by message or pattern alone."""


def applies_to(report: pytest.TestReport) -> bool:
    """Return whether a report is for a test that ran and was not expected to fail."""
    return report.when == "call" and not report.skipped and not hasattr(report, "wasxfail")


def refuse(report: pytest.TestReport, failures: Sequence[Failure]) -> None:
    """Change a passed report to failed, and name in it the tests that passed with error lines."""
    explanations = [_explanation(failure, report.nodeid) for failure in failures]
    _fail(report, "\n".join([*explanations, "", _ADVICE]))


def refuse_lines(report: pytest.TestReport, errors: ErrorLines, evidence: Evidence) -> Evidence:
    """Change a passed report to failed because of error lines in the test's output.

    Returns:
        The evidence, including these lines.
    """
    number, _ = errors.lines[0]
    more = f", and {errors.count - 1} more" if errors.count > 1 else ""
    sentence = f"The test passed, but its log has an error at line {number} of its output{more}: {errors.text}"
    _fail(report, f"{sentence}\n\n{_ADVICE}")
    excerpt = Excerpt(source="log", lines=errors.lines)
    return replace(evidence, refused=errors.text, excerpts=(*evidence.excerpts, excerpt))


def _explanation(failure: Failure, nodeid: str) -> str:
    name = failure.nodeid.removeprefix(nodeid).removeprefix("::") or "The test"
    line = failure.excerpts[0].lines[0][0] if failure.excerpts else "?"
    path = failure.excerpts[0].path if failure.excerpts else None
    where = f"in {path}:{line}" if path is not None else f"at line {line} of its output"
    return f"{name} passed, but its log has an error {where}: {failure.message}"


def _fail(report: pytest.TestReport, text: str) -> None:
    if report.passed:
        report.outcome = "failed"
        report.longrepr = text
    else:
        report.sections.append((_SECTION, text))
