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

The failures found by the regressions of this project: how often each failure occurred, where its fault most likely
lies, and what fixed it. pytest-dvwiki maintains this wiki; people and agents read and improve it.

## Structure

- `index.md`: all pages, with their status. Start here.
- `flaky.md`: tests that failed and then passed in the same run; the file exists once there is such a test.
- `bugs/`: one page per cause of failure, identified by its fingerprint, independent of seed and test.
- `patterns/`: one page per kind of failure, with its fix template and how often fixes held.
- `coverage/`: coverage holes and what filled them.
- `specs/`: clarifications of the specification.
- `topics/`: lessons that are not about a single kind of failure, by topic.
- `log.md`: one line per event; `handoffs.md`: work passed from role to role. dvwiki only appends to these files.
- `review/`: proposals that wait for a person (`dvwiki review`), and decided proposals.
- `schema.yaml`: who may write what.
- `../tasks/`: one record per archived run. Every number on a page is counted from these records.

## What dvwiki writes, and what people write

dvwiki writes below its comment in a page's frontmatter, and between the comments `dvwiki:begin` and `dvwiki:end`.
Its next run overwrites the text there. All other text belongs to people, and dvwiki does not change a byte of it:
titles, Symptom, Resolution, Notes, Description, Fix Template, and any other sections and keys.

- People set `status` (open, confirmed, closed, wont_fix) and `type` (RTL_BUG, TB_BUG, UNKNOWN) of a bug page. A closed
  bug that comes back is reported as REGRESSED and listed as `regressed`; a bug with `wont_fix` stays KNOWN, is
  reported in brief, and is left out of prompts.
- If two bug pages turn out to have the same cause, run `dvwiki merge KEPT OTHER --reason "…"`. The first page then
  counts the runs of both, the second page refers to the first, and people's text stays on each page. To undo the merge,
  run `dvwiki merge --undo KEPT OTHER`.
- A page that was deleted is recreated when its cause occurs again.
- After a git merge run `dvwiki build`: it recounts, rebuilds the indexes, and resolves conflicts in dvwiki's lines.

## Update protocol

Agents read the pages of a failure before they classify it, and cite them. They write through dvwiki, or into the
parts that belong to people. People review a bug page before an RTL change is filed for it.

## Citations

A claim on a page ends with its source: the record of a run and, if there is one, the line of a log:

    (source: tasks/{task_id}.yaml | log: {file}:{line})

If all claims of a section have the same source, the source is given once, in a separate paragraph.
"""

SCHEMA_YAML = """\
# Who may write what. A section is a category, a page in a category (`category/*`), a part of a page (`page#Heading`),
# or a separate file. mode: snapshot (a write replaces the content) or log (a write appends to it).
# writable_by: ingest, agent, reviewer, human, and the roles that you add under `roles: [...]`.
# read_cap: maximum reads of a section per turn; a write ends the turn. title, description: shown in lists.
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
# Each role hands its work to a later role. A task has at most max_steps handoffs (default: two for each role here).
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
    """Create the `.gitignore` files for caches, locks and journals; return the created files, as `scaffold` does."""
    return _created(layout, {layout.wiki / ".gitignore": _GITIGNORE, layout.journals / ".gitignore": "*\n"})


def _created(layout: Layout, files: Mapping[Path, str]) -> list[str]:
    made = []
    for path, text in files.items():
        if not path.exists() and create(path, text.encode()):
            made.append(path.relative_to(layout.agent).as_posix())
    return made
