"""GitLab output: a code quality report with one entry for each cause."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_dvwiki.report.brief import tests_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.report.brief import Brief

_SEVERITIES = {"NEW": "major", "REGRESSED": "critical", "KNOWN": "minor", "WAIVED": "info"}


def render(briefs: Iterable[Brief], folder: str) -> str:
    """Return the report as JSON.

    Without causes it is an empty list, so that GitLab marks earlier entries as resolved.

    Args:
        briefs: The causes.
        folder: Path of the project in the repository, ending with `/`; empty if the project is the repository.
    """
    entries = [
        {
            "description": " ".join(
                (
                    f"{brief.word} {brief.label}: {brief.primary};",
                    *([f"{tests_of(brief)}."] if brief.tests else []),
                    *brief.statements,
                )
            ),
            "check_name": brief.label.replace(" ", ""),
            "fingerprint": brief.fingerprint,
            "severity": _SEVERITIES[brief.word],
            # GitLab requires a path and a line.
            "location": {"path": f"{folder}{brief.file}" if brief.file else ".", "lines": {"begin": brief.line or 1}},
        }
        for brief in briefs
    ]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"
