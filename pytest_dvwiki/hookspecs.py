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
    """Return YAML files, or folders of them, with more patterns.

    Called once, before the first failure is classified. A pattern with the id of a built-in pattern replaces
    it; the project's own `.agent/patterns/*.yaml` win over both. An invalid pattern is left out and reported.
    The command line (`dvwiki patterns`) calls this hook only in packages of the entry-point group `dvwiki`, and in no
    conftest.py.

    Example::

        def pytest_dvwiki_patterns(settings):
            return [Path(__file__).parent / "vip_patterns.yaml"]
    """


@pytest.hookspec
def pytest_dvwiki_evidence(report: pytest.TestReport, settings: Settings) -> Sequence[Excerpt] | None:
    """Return more excerpts for a failed report.

    Called in the process that ran the test, when its report is made. The excerpts are shortened and redacted
    before they are stored.
    """


@pytest.hookspec(firstresult=True)
def pytest_dvwiki_classify(failure: Failure) -> Verdict | None:
    """Classify a failure; the first verdict wins over the pattern registry, and names the hook that gave it.

    Called once for each failure, in the main process at the end of the run. With `--junitxml` and `--html` it is called
    for each failed report as well, because these files show the label. With `--alluredir` it is also called in the
    process that ran the test.
    """


@pytest.hookspec
def pytest_dvwiki_redact(text: str) -> str | None:
    """Mask the secrets of this project in a text.

    Called with each text of a failure: its message, the source line of the failing check, and each line of its
    excerpts. The built-in masks are already applied, and nothing is written to the journal, a record or a page yet.
    Several hooks are called in turn, each with the result of the one before; the same text can come more than once.
    Node ids and file names are not passed. If a hook raises, the text is dropped, and this is reported at the end of
    the run. `dvwiki ingest` calls this hook only in packages of the entry-point group `dvwiki`, and in no conftest.py.

    Returns:
        The masked text, or None if there was nothing to mask.

    Example::

        def pytest_dvwiki_redact(text):
            return re.sub(r"key_[0-9a-f]{32}", "[key]", text)
    """


@pytest.hookspec
def pytest_dvwiki_archived(record: RunRecord, run: Archived) -> None:
    """Receive the result of a run that has a record.

    Called once in the main process, before the summary is printed. `run.written` tells whether the record and the pages
    are on disk; with `--dvwiki-archive=no` they are not. `run.statements(cause)` returns the statements about a cause
    in reading order, and `pytest_dvwiki.causes.words.text` renders one as text. To add an output of your own,
    implement this hook (docs/outputs.md).

    Args:
        record: The record of the run, as stored.
        run: The causes of the run, each with its history and whether it is new, and what passing tests show about
            others.
    """
