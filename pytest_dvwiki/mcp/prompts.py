"""The prompts that a client offers to its user, filled with wiki knowledge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

ToolCaller = Callable[[str, dict[str, Any]], str]
"""Calls a tool, given its name and arguments, and returns the answer as text."""


class Prompt(NamedTuple):
    """A prompt with one argument."""

    description: str
    argument: str
    meaning: str
    """What the argument means, for the user."""
    required: bool
    text: Callable[[str, ToolCaller], str]
    """Returns the prompt, given the argument and a function that calls a tool."""


def _triage(path: str, call_tool: ToolCaller) -> str:
    found = call_tool("dvwiki_match_failure", {"path": path} if path else {})
    return f"""\
Find out why this failed, and what to do. What is known:

{found}

1. Read the page of each cause listed above (dvwiki_get), and the fixes on it. Only a fix that held is proven.
2. Run the command given to run it again, unchanged, before you change anything.
3. Compare the first cause with the code at the location it gives. Say RTL_BUG or TB_BUG only with a reason to cite.
4. If you find what the page lacks, add it with dvwiki_append under `Resolution`, with its source and the commit."""


def _pattern(path: str, call_tool: ToolCaller) -> str:
    found = call_tool("dvwiki_match_failure", {"path": path})
    return f"""\
Write a pattern for a message that no pattern identifies, or that gets too vague a label. Its current classification:

{found}

A pattern is an entry of `.agent/patterns/*.yaml`: id, error_class, failure_subtype, tools, tier, match (a regular
expression without look-around, with a literal of three characters or more), description, fix, origin, examples (the
real message). Check it with `dvwiki patterns test`, and see what it does with `dvwiki patterns why LOG`."""


def _review(page: str, call_tool: ToolCaller) -> str:
    found = call_tool("dvwiki_get", {"page": page})
    return f"""\
Review this bug page before an RTL change is filed for it.

{found}

1. Does every claim end in a source that exists? (dvwiki_lint lists those that do not.)
2. Does the evidence show the origin that the page gives, or could the testbench be wrong?
3. Did the fix hold, or did a test pass once by chance?
Answer with what is proven, what is not, and what would decide it. A person sets `status` and `type`."""


PROMPTS = {
    "triage_failure": Prompt(
        "Find out why a test failed, with what is known about it.",
        "path",
        "a log in the project; without it the newest run",
        required=False,
        text=_triage,
    ),
    "write_pattern": Prompt(
        "Write a pattern for a message.", "path", "a log in the project", required=True, text=_pattern
    ),
    "review_bug": Prompt("Review a bug page.", "page", "the page, such as bugs/NAME", required=True, text=_review),
}
