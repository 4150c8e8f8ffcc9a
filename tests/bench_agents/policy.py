"""The rules of the scripted agent. It is no model, so its effort depends on its tools alone.

As a program it reads a prompt of the benchmark and prints the next action, as `command` backends call it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator, Iterator
from typing import Any

Action = dict[str, Any]
Steps = Generator[Action, str, None]
TRANSCRIPT = "Transcript, as JSON:\n"
"""Precedes the actions and results so far in a prompt."""
_PLACE = re.compile(r"(?<![\w/.-])(?:\S*?/)?((?:rtl|tb|tests)/[\w.]+\.(?:v|py))(?::|\"?, line )(\d+)")
_SOURCES = ("rtl/", "tb/")
_COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b")
_NEARBY = 3


def without_wiki() -> Steps:
    """Read the places that the log names, the last one first, then the newest commits."""
    log = yield {"tool": "log"}
    places = [(name, int(line)) for name, line in _PLACE.findall(log)]
    for name, line in dict.fromkeys(reversed(places)):
        if name.startswith(_SOURCES):
            yield {"tool": "read", "file": name, "line": line}
            yield {"tool": "answer", "file": name, "line": line}
    commits = yield {"tool": "commits"}
    for commit in _COMMIT.findall(commits):
        patch = yield {"tool": "show", "commit": commit}
        for name, line in changed(patch):
            yield {"tool": "answer", "file": name, "line": line}


def with_wiki() -> Steps:
    """Ask the wiki first; if the commits that it names do not help, continue as without it.

    Commits that repaired the cause before come first, then those that introduced it.
    """
    found = json.loads((yield {"tool": "dvwiki_match_failure"}))
    cause: dict[str, Any] = next(iter(found.get("causes", ())), {})
    came = [text for text in cause.get("statements", ()) if text.startswith("Came with")]
    repairs = [commit for fix in cause.get("fixes", ()) for commit in fix["commits"]]
    for commit in dict.fromkeys([*repairs, *_COMMIT.findall(" ".join(came).partition(": ")[2])]):
        patch = yield {"tool": "show", "commit": commit}
        for name, line in changed(patch):
            if commit not in repairs:
                yield {"tool": "answer", "file": name, "line": line}
                continue
            # An old repair removed the line that is wrong now. If it only added a line, read the line next to it.
            for text in taken_away(patch, name) or beside(patch, name):
                hits = yield {"tool": "grep", "text": text}
                for hit in re.findall(rf"^{re.escape(name)}:(\d+):", hits, re.MULTILINE)[:_NEARBY]:
                    yield {"tool": "answer", "file": name, "line": int(hit)}
    yield from without_wiki()


def changed(patch: str) -> Iterator[tuple[str, int]]:
    """Yield the places in the sources that a commit changed, except in comments."""
    name, line = "", 0
    for text in patch.splitlines():
        if text.startswith("+++ "):
            name = text[4:].removeprefix("b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)", text):
            line = int(hunk[1])
        elif text.startswith(("+", "-")) and not text.startswith("---"):
            if name.startswith(_SOURCES) and not re.match(r"[+-]\s*(?://|#|$)", text):
                yield name, line
            line += text.startswith("+")
        elif text.startswith(" "):
            line += 1


def taken_away(patch: str, name: str) -> list[str]:
    """Return the lines that a commit removed from a file."""
    part = patch.partition(f"+++ b/{name}")[2].partition("\ndiff ")[0]
    return [text[1:].strip() for text in part.splitlines() if text.startswith("-") and text[1:].strip()]


def beside(patch: str, name: str) -> list[str]:
    """Return the line after the first one that a commit added to a file."""
    lines = patch.partition(f"+++ b/{name}")[2].splitlines()
    at = next((number for number, text in enumerate(lines) if text.startswith("+")), len(lines))
    return [text.strip() for text in lines[at + 1 : at + 2] if text.strip()]


POLICIES = {"without": without_wiki, "with": with_wiki}


def main() -> None:
    """Print the next action for the prompt on standard input."""
    prompt = sys.stdin.read()
    steps = json.loads(prompt.rpartition(TRANSCRIPT)[2])
    policy = POLICIES["with" if "dvwiki_match_failure" in prompt.partition(TRANSCRIPT)[0] else "without"]()
    action = next(policy)
    for step in steps:
        action = policy.send(step["result"])
    print(json.dumps(action))


if __name__ == "__main__":
    main()
