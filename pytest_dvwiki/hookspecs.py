"""What a conftest.py or another plugin may extend."""

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
    """Names YAML files, or folders of them, with further patterns.

    Called once, before the first failure is named. A pattern with the id of a built-in one replaces it; the project's
    own `.agent/patterns/*.yaml` win over both. A pattern that is wrong is named at the end of the run and left out.
    The command line (`dvwiki patterns`) asks packages of the entry-point group `dvwiki` only, no conftest.py.

    Example:
        def pytest_dvwiki_patterns(settings):
            return [Path(__file__).parent / "vip_patterns.yaml"]
    """


@pytest.hookspec
def pytest_dvwiki_evidence(report: pytest.TestReport, settings: Settings) -> Sequence[Excerpt] | None:
    """Gives further excerpts for a failed report.

    Called in the process that ran the test, when its report is made; what comes back is bounded and redacted
    before it is kept.
    """


@pytest.hookspec(firstresult=True)
def pytest_dvwiki_classify(failure: Failure) -> Verdict | None:
    """Names a failure; the first verdict wins over the registry, and says which hook gave it.

    Called once for each failure, in the main process at the end of the run.
    """


@pytest.hookspec
def pytest_dvwiki_redact(text: str) -> str | None:
    """Masks what is secret in this project.

    Called with each text of a failure, after the built-in masks and before anything is written to the journal, a
    record or a page: its message, the source line of the failing check, and each line of its excerpts. Several hooks
    are called one after the other, each with what the one before it left; a text may come by again. Node ids and file
    names are not asked for. A hook that raises loses the text, not the run: the end of the run names it.
    `dvwiki ingest` asks packages of the entry-point group `dvwiki` only, no conftest.py.

    Returns:
        The masked text, or None where there was nothing to mask.

    Example:
        def pytest_dvwiki_redact(text):
            return re.sub(r"key_[0-9a-f]{32}", "[key]", text)
    """


@pytest.hookspec
def pytest_dvwiki_archived(record: RunRecord, run: Archived) -> None:
    """Takes what came out of a run, when its record and pages stand on disk.

    Called once in the main process, before the summary is printed. What is said of each cause is decided already:
    `run.statements(cause)` gives it in reading order, and `pytest_dvwiki.causes.words.text` writes it. An output of
    your own is one such function (docs/outputs.md).

    Args:
        record: The run, as it is kept.
        run: Its causes, each with what is known and what is new about it, and what its passes say of other causes.
    """
