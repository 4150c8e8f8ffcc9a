"""The model of these examples, which is none: it shows what it would have been sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

Model = Callable[[str], Awaitable[str]]
"""What the agents ask: a coroutine from a prompt to an answer. Put the client of your model in its place."""

ANSWER = """\
bug_type: UNKNOWN
confidence: 0.0
rationale: no model was asked
"""


async def show(prompt: str) -> str:
    """Print a prompt, and return an answer that is safe to archive."""
    print(prompt)
    return ANSWER
