"""An agent that runs the others, and checks the wiki when a session begins.

python agent/orchestrator.py nightly_18 "error_class: sim_error" "failure_subtype: timeout" "primary: no bvalid"
"""

from __future__ import annotations

import asyncio
import logging
import sys

from classifier import BugClassifier
from model import Model, show
from reporter import Reporter

from pytest_dvwiki import WikiConfig, WikiLintService

log = logging.getLogger("orchestrator")


class Orchestrator:
    """Runs a session: classify, report, archive. The wiki is checked at the same time, which only gives warnings."""

    def __init__(self, ask: Model, wiki: WikiConfig) -> None:
        self._wiki = wiki
        self._classifier = BugClassifier(ask, wiki)
        self._reporter = Reporter(ask, wiki)

    async def run(self, task_id: str, failure_summary: str) -> str:
        """Return the report of the session."""
        check = asyncio.create_task(self._check())
        classification = await self._classifier.run(failure_summary)
        await check  # before this session writes to the wiki
        report = await self._reporter.run(task_id, failure_summary, classification)
        await self._reporter.archived()
        return report

    async def _check(self) -> None:
        """Check the index of the wiki and the frontmatter of its pages; `depth="full"` also checks their text."""
        if not self._wiki.enabled:
            return
        report = await WikiLintService(self._wiki).run(depth="quick")
        for finding in report.findings:
            log.warning("finding in the wiki: %s: %s", finding.page, finding.text)


if __name__ == "__main__":
    asyncio.run(Orchestrator(show, WikiConfig.from_project()).run(sys.argv[1], "\n".join(sys.argv[2:])))
