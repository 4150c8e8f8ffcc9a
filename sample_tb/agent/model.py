"""A substitute for a model: it prints the prompt that a model would get."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

Model = Callable[[str], Awaitable[str]]
"""A coroutine function from a prompt to an answer. Replace `show` by the client of your model."""

ANSWER = """\
bug_type: UNKNOWN
confidence: 0.0
rationale: no model was asked
"""


async def show(prompt: str) -> str:
    """Print a prompt, and return an answer that is safe to archive."""
    print(prompt)
    return ANSWER
