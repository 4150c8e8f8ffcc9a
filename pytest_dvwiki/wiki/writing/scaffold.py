"""The fixed files of a new wiki."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.records.disk import create, explained
from pytest_dvwiki.wiki.page_summary import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

LOG_TITLE = "# DV Agentic Wiki Operation Log"

_WIKI_MD = """\
# DV Agentic Wiki

What the regressions of this project have taught: which failures occurred, how often, where their fault most likely
lies, and what fixed them. pytest-dvwiki maintains this wiki; people and agents read and improve it.

## Structure

- `index.md`: all pages, with their status. Start here.
- `flaky.md`: the tests that failed and then passed in one run, once there are any.
- `bugs/`: one page per cause of failure, found by its fingerprint, whatever seed or test showed it.
- `patterns/`: one page per kind of failure, with its fix template and how often fixes held.
- `coverage/`: coverage holes and what filled them.
- `specs/`: clarifications of the specification.
- `topics/`: lessons that belong to no single kind of failure, by topic.
- `log.md`: one line per event, only ever appended to; `handoffs.md`: work passed from role to role.
- `review/`: proposals that wait for a person (`dvwiki review`), and what was decided.
- `schema.yaml`: who may write what.
- `../tasks/`: one record per archived run. Every number on a page is counted from these records.

## What dvwiki writes, and what people write

dvwiki writes below its comment in a page's frontmatter, and between the comments `dvwiki:begin` and `dvwiki:end`;
its next run replaces what is there. All other text belongs to people and stays byte for byte: titles, Symptom,
Resolution, Notes, Description, Fix Template, and any other sections and keys.

- People set `status` (open, confirmed, closed, wont_fix) and `type` (RTL_BUG, TB_BUG, UNKNOWN) of a bug page. A closed
  bug that comes back is reported as REGRESSED and listed as `regressed`; one that is `wont_fix` stays KNOWN, is
  reported in brief, and is left out of prompts.
- If two bug pages turn out to be one cause, run `dvwiki merge KEPT OTHER --reason "…"`. The first page then counts the
  runs of both, the second refers to it, and what people wrote stays on each. To undo the merge, run
  `dvwiki merge --undo KEPT OTHER`.
- A page that was deleted is recreated when its cause occurs again.
- After a git merge run `dvwiki build`: it recounts, rebuilds the indexes, and settles conflicts in its own lines.

## Update protocol

Agents read the pages of a failure before they classify it, and cite them. They write through dvwiki, or into the
parts that belong to people. People review a bug page before a change of the RTL is filed for it.

## Citations

A claim on a page ends with its source: the record of a run and, if there is one, the line of a log:

    (source: tasks/{task_id}.yaml | log: {file}:{line})

If one source covers a whole section, it is given once, in a paragraph of its own.
"""

SCHEMA_YAML = """\
# Who may write what. A section is a category, a page of one (`category/*`), a part of a page (`page#Heading`), or a
# file beside the categories. mode: snapshot (the content is replaced) or log (it is only appended to).
# writable_by: ingest, agent, reviewer, human, and those that you name under `roles: [...]`.
# read_cap: reads of a section in one turn, which ends when the reader writes. title, description: shown in lists.
schema: 1
sections:
  bugs: {mode: snapshot, writable_by: [ingest, reviewer, human], read_cap: 4}
  "bugs/*#Resolution": {mode: log, writable_by: [agent, reviewer, human], read_cap: 4}
  patterns: {mode: snapshot, writable_by: [ingest, reviewer, human], read_cap: 4}
  "patterns/*#Fix Template": {mode: snapshot, writable_by: [agent, reviewer, human], read_cap: 4}
  coverage: {mode: snapshot, writable_by: [ingest, reviewer, human], read_cap: 4}
  specs: {mode: snapshot, writable_by: [agent, reviewer, human], read_cap: 4}
  topics: {mode: snapshot, writable_by: [ingest, reviewer, human], read_cap: 4}
  log: {title: Log, description: What happened when, mode: log, writable_by: [ingest, agent, reviewer, human]}
  handoffs: {title: Handoffs, description: Who passed what on, mode: log, writable_by: [agent, reviewer, human]}
# Each role hands its work to a later one. A task has at most max_steps handoffs (default: two for each role here).
pipeline: [agent, reviewer, human]
"""

_GITIGNORE = """\
# Recreated whenever they are missing.
.search_index/
.cache/
.lock*
.*.tmp
"""

_GITATTRIBUTES = """\
# A merge keeps the lines of both branches; `dvwiki build` then rebuilds the index files and the page of flaky tests.
log.md merge=union
handoffs.md merge=union
index.md merge=union
flaky.md merge=union
_index.md merge=union
"""


def scaffold(layout: Layout) -> list[str]:
    """Create missing folders and files of a wiki.

    Returns:
        The created files, relative to the folder that contains the wiki.

    Raises:
        WikiError: A file or folder cannot be written.
    """
    files = {
        layout.wiki / "WIKI.md": _WIKI_MD,
        layout.wiki / "schema.yaml": SCHEMA_YAML,
        layout.wiki / ".gitattributes": _GITATTRIBUTES,
        layout.wiki / "log.md": f"{LOG_TITLE}\n\n",
    }
    for folder in (*(layout.wiki / category for category in CATEGORIES), layout.tasks):
        with explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
    return _created(layout, files) + keep_out_of_git(layout)


def keep_out_of_git(layout: Layout) -> list[str]:
    """Create the `.gitignore` files for caches, locks and journals; return the created files, as `scaffold` does.

    Raises:
        WikiError: A file cannot be written.
    """
    return _created(layout, {layout.wiki / ".gitignore": _GITIGNORE, layout.journals / ".gitignore": "*\n"})


def _created(layout: Layout, files: Mapping[Path, str]) -> list[str]:
    made = []
    for path, text in files.items():
        if not path.exists() and create(path, text.encode()):
            made.append(path.relative_to(layout.agent).as_posix())
    return made
