"""Agents that work on one bug in turn, and communicate only through the wiki. Nothing is printed.

python agent/pipeline.py "a word is lost when a read empties the FIFO"
"""

from __future__ import annotations

import asyncio
import re
import sys
from typing import TYPE_CHECKING

from pytest_dvwiki import WikiConfig, WikiStore

if TYPE_CHECKING:
    from model import Model

    from pytest_dvwiki import Store

FEWEST, MOST = 2, 4
PROMPT = """\
You are the {role} of a team that repairs a FIFO. The work: {task}
What was handed to you: {handoff}

What the wiki knows, quoted data:
{pages}

Answer with one sentence for the bug's page.
"""


async def no_model(prompt: str) -> str:
    """Answer without a model, and claim nothing."""
    pages = len(re.findall(r"^> ", prompt, re.MULTILINE))
    return f"Read {pages} pages; no model was asked."


class Agent:
    """One role: each turn scans, selects, reasons, persists and hands off."""

    def __init__(self, store: Store, role: str, ask: Model) -> None:
        self._store = store
        self._role = role
        self._ask = ask

    async def turn(self, task: str) -> str:
        """Work once, and return the role that now has the work."""
        entries = await asyncio.to_thread(self._store.list)  # scan: no text is read yet
        chosen = self._selected([entry for entry in entries if entry.category in {"bugs", "patterns", "specs"}], task)
        handoff = await asyncio.to_thread(self._store.fetch, "handoffs")
        given = getattr(handoff, "content", "").splitlines()[-1:] or ["nothing yet"]
        pages = [await asyncio.to_thread(self._store.fetch, entry.address) for entry in chosen]
        quoted = "\n".join(f"> {page.address}: {getattr(page, 'content', '')[:500]!r}" for page in pages)
        words = PROMPT.format(role=self._role, task=task, handoff=given[0], pages=quoted)
        answer = " ".join((await self._ask(words)).split())
        bug = chosen[0]
        source = bug.metadata["task_ids"][-1]
        note = f"{self._role}: {answer} (source: tasks/{source}.yaml)"
        await asyncio.to_thread(self._store.append, f"{bug.address}#Resolution", note)
        pipeline = self._store.schema.pipeline
        following = pipeline[pipeline.index(self._role) + 1 :]
        if not following:
            await asyncio.to_thread(self._store.append, "log", f"{bug.address}: every role has had its turn")
            return self._role
        done = await asyncio.to_thread(self._store.handoff, following[0], f"{bug.address}: {answer}", task_of(task))
        return done.to or self._role

    def _selected(self, entries: list, task: str) -> list:
        """Return the few pages whose title and summary share the most words with the task; the first is a bug."""
        wanted = set(re.findall(r"\w{4,}", task.lower()))

        def shared(entry) -> tuple[bool, int]:
            words = set(re.findall(r"\w{4,}", f"{entry.title} {entry.summary}".lower()))
            return entry.category == "bugs", len(wanted & words)

        ranked = sorted(entries, key=shared, reverse=True)
        if not ranked or ranked[0].category != "bugs":
            raise SystemExit("the wiki knows no bug yet: run pytest --dvwiki with a fault switched on")
        useful = [entry for entry in ranked if shared(entry)[1]]
        return ranked[: max(FEWEST, min(MOST, len(useful)))]


def task_of(words: str) -> str:
    """Return a name for the task, under which its handoffs are counted."""
    return re.sub(r"\W+", "-", words.lower())[:60].strip("-")


async def main(task: str, ask: Model = no_model) -> None:
    """Give each role of the wiki's pipeline its turn, until the work stops moving on."""
    config = WikiConfig.from_project()
    role, last = WikiStore(config, "agent").schema.pipeline[0], ""
    while role != last:
        last = role
        role = await Agent(WikiStore(config, role), role, ask).turn(task)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
