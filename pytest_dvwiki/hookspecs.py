"""Hooks that a conftest.py or another plugin can implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_dvwiki.model import Excerpt, Failure, RunRecord, Verdict
    from pytest_dvwiki.pipeline import Archived
    from pytest_dvwiki.settings import Settings


@pytest.hookspec
def pytest_dvwiki_patterns(settings: Settings) -> Sequence[Path] | None:
    """Return additional pattern files: YAML files, or folders of them.

    Called once, before the first failure is classified. A pattern with the id of a built-in pattern replaces
    it; the project's `.agent/patterns/*.yaml` take precedence over both. Invalid patterns are skipped and reported.
    The command line (`dvwiki patterns`) calls this hook only in packages with an entry point in the group `dvwiki`, not
    in a conftest.py.

    Example::

        def pytest_dvwiki_patterns(settings):
            return [Path(__file__).parent / "vip_patterns.yaml"]
    """


@pytest.hookspec
def pytest_dvwiki_evidence(report: pytest.TestReport, settings: Settings) -> Sequence[Excerpt] | None:
    """Return additional excerpts for the report of a failed test.

    Called in the process that ran the test, when the report is made. The excerpts are shortened and redacted before
    they are stored.
    """


@pytest.hookspec(firstresult=True)
def pytest_dvwiki_classify(failure: Failure) -> Verdict | None:
    """Classify a failure. The first verdict that a hook returns is used; without one, the pattern registry decides.

    The record shows that a hook decided. Called once for each failure, in the main process at the end of the run. With
    `--junitxml` and `--html` it is also called for each failed report, because these files show the label. With
    `--alluredir` it is also called in the process that ran the test.
    """


@pytest.hookspec
def pytest_dvwiki_redact(text: str) -> str | None:
    """Mask the project's secrets in a string.

    Called with each of these strings of a failure: the message, the source line of the failing check, each line of the
    excerpts, and the value of each environment variable in the command that reruns the test. The built-in masks have
    already been applied, and nothing has been written to a journal, record or page. Hooks are called in turn with the
    result of the previous hook, and may get the same string more than once. Node ids and file names are not passed. If
    a hook raises an exception, the string is dropped, and a note at the end of the run says so. `dvwiki ingest` calls
    this hook only in packages with an entry point in the group `dvwiki`, not in a conftest.py.

    Returns:
        The masked string, or None if there is nothing to mask.

    Example::

        def pytest_dvwiki_redact(text):
            return re.sub(r"key_[0-9a-f]{32}", "[key]", text)
    """


@pytest.hookspec
def pytest_dvwiki_archived(record: RunRecord, run: Archived) -> None:
    """Process the result of a run that has a record.

    Called once in the main process, before the summary is printed. `run.written` is False if the record and the pages
    are not on disk, as with `--dvwiki-archive=no`. `run.statements(cause)` returns the statements about a cause in
    reading order, and `pytest_dvwiki.causes.words.text` formats a statement. Implement this hook to add an output
    (docs/outputs.md).

    Args:
        record: The record of the run, as stored.
        run: The causes of the run, each with its history and state, and what passing tests show about other causes.
    """
