"""An agent that writes the report of a session, and archives the session in the background.

python agent/reporter.py nightly_17 "error_class: sim_error" "failure_subtype: timeout" "primary: no answer on bvalid"
"""

from __future__ import annotations

import asyncio
import sys

from model import Model, show

from pytest_dvwiki import WikiConfig, WikiIngestResult, WikiIngestService


class Reporter:
    """Writes reports. If archiving fails, the service logs it, and the report is not affected."""

    def __init__(self, ask: Model, wiki: WikiConfig) -> None:
        self._ask = ask
        self._wiki = wiki
        self._service = WikiIngestService(wiki)
        self._archiving: set[asyncio.Task[WikiIngestResult]] = set()

    async def run(self, task_id: str, failure_summary: str, classification: str | None = None) -> str:
        """Return the report as soon as it is written; call `archived` to wait for the archiving."""
        report = await self._ask(f"Write the report of session {task_id}.\n\n{failure_summary}\n{classification or ''}")
        if self._wiki.enabled and self._wiki.auto_ingest:
            work = self._service.ingest_session(report, failure_summary, classification, None, task_id)
            # The event loop keeps no reference to a task, so keep one here.
            self._archiving.add(asyncio.create_task(work))
        return report

    async def archived(self) -> list[WikiIngestResult]:
        """Wait until everything is archived. Call this once, before the process ends."""
        return list(await asyncio.gather(*self._archiving))


async def main(task_id: str, failure_summary: str) -> None:
    """Archive the failure that the command line describes."""
    reporter = Reporter(show, WikiConfig.from_project())
    await reporter.run(task_id, failure_summary)
    for result in await reporter.archived():
        print(result.log_entry)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], "\n".join(sys.argv[2:])))
