"""An agent that classifies a bug, with what the wiki knows about it in the prompt.

python agent/classifier.py "word lost when a read empties the FIFO"
"""

from __future__ import annotations

import asyncio
import sys

from model import Model, show

from pytest_dvwiki import PromptLoader, WikiConfig, WikiQueryService

PROMPT = """\
You say whether a failure is an RTL_BUG or a TB_BUG.

Patterns seen in this project:
{{KNOWN_ERROR_PATTERNS}}

Bugs of the design that are open:
{{KNOWN_RTL_BUGS}}

Answer with the fields bug_type, confidence and rationale.
"""


class BugClassifier:
    """Asks a model about a failure. If the wiki is off, empty or broken, only the prompt is shorter."""

    def __init__(self, ask: Model, wiki: WikiConfig) -> None:
        self._ask = ask
        self._wiki = wiki

    async def run(self, failure_summary: str) -> str:
        """Return the model's answer."""
        # Pages are read in a thread, so that other agents of this event loop can go on.
        system = await asyncio.to_thread(PromptLoader(self._wiki).render, PROMPT)
        similar = await asyncio.to_thread(self._similar, failure_summary)
        return await self._ask(f"{system}\n## The failure\n{failure_summary}\n{similar}")

    def _similar(self, failure_summary: str) -> str:
        found = WikiQueryService(self._wiki).search(failure_summary[:200], category="bugs", top_k=3)
        # Text from logs is quoted, because a model must not follow instructions in it.
        lines = [
            f"- {hit.frontmatter['id']} ({hit.frontmatter['status']}), quoted from its page:\n  > {hit.excerpt}\n"
            for hit in found
        ]
        return "".join(["\n## Similar bugs on record\n", *lines]) if lines else ""


if __name__ == "__main__":
    asyncio.run(BugClassifier(show, WikiConfig.from_project()).run(" ".join(sys.argv[1:])))
