"""All actions that write a wiki, each for a process: `python -m …work act WAY ROOT`.

What a way did it says the moment that it was done, a line each. From then on it must survive whatever happens.
"""

from __future__ import annotations

import os
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from unit.samples import archived, layout, occurrence, passing, record

from pytest_dvwiki import WikiConfig, WikiSearchIndex, WikiStore
from pytest_dvwiki.records import WikiError
from pytest_dvwiki.records.store import write_record
from pytest_dvwiki.upkeep.compact import compact
from pytest_dvwiki.wiki.kinds.spec import Clarification
from pytest_dvwiki.wiki.store_protocol import Fetched
from pytest_dvwiki.wiki.writing.build import archive, build, init
from pytest_dvwiki.wiki.writing.reclassify import reclassify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.settings import Layout

WORDS = "What a person knows."
REFUSED = 3
"""Exit status of an action that reported why it could not write."""
SPEC = "---\ntype: spec\nfeature: burst\nstatus: open\n---\n\n# Bursts\n\n## Answer\n\nYes.\n"
_HOLE = {"covergroup": "fifo.level", "bin": "full[0:3]", "action_class": "actionable", "filled": False}


def done(kind: str, what: str) -> None:
    """Report that something is done, with a system call into which no fault is injected."""
    os.writev(sys.stdout.fileno(), [f"{kind} {what}\n".encode()])


def _archive(place: Layout, run: RunRecord, names: Sequence[str] | None = None, **more: object) -> None:
    archived(place, run, names, **more)
    done("record", run.task_id)


def a_grown_wiki(place: Layout) -> None:
    """Make a wiki with two causes in three runs, and a person's text on each page."""
    for run in (record(1, occurrence(), occurrence("b" * 12)), record(2, occurrence()), record(3, occurrence())):
        _archive(place, run, ["a", "b"])
    for page in (*place.wiki.glob("bugs/RTL_*.md"), *place.wiki.glob("patterns/[a-z]*.md")):
        page.write_text(page.read_text("utf-8") + f"\n{WORDS}\n", "utf-8")
        done("text", f"{page.relative_to(place.wiki)} {WORDS}")
    build(place)


def _nothing(place: Layout) -> None:
    place.root.mkdir(exist_ok=True)


def _a_damaged_wiki(place: Layout) -> None:
    """Make a wiki with records without pages, a page with wrong numbers, no index, and files of a killed process."""
    a_grown_wiki(place)
    write_record(place.tasks, record(4, occurrence("c" * 12), occurrence()))
    done("record", record(4).task_id)
    for page in place.wiki.glob("bugs/RTL_*.md"):
        page.write_text(page.read_text("utf-8").replace("hit_count: 3", "hit_count: 77"), "utf-8")
    (place.wiki / "index.md").unlink()
    for folder in (place.wiki / "bugs", place.tasks / "2026" / "11", place.tasks / "suites"):
        (folder / ".left.md.0123abcd.tmp").write_text("half")


def _first_run(place: Layout) -> None:
    _archive(place, record(1, occurrence(), occurrence("b" * 12)), ["a"])


def _known_cause(place: Layout) -> None:
    _archive(place, record(5, occurrence(), occurrence("d" * 12)), ["a", "c"])


def _fix_and_hole(place: Layout) -> None:
    _archive(place, passing(6, coverage=(_HOLE,)))


def _clarification(place: Layout) -> None:
    told = Clarification(feature="burst", kind="ambiguous", text="Bursts wrap.", date="2026-11-21", task_id="x")
    run = record(7, evidence=("Bursts wrap.",))
    archive(place, run, clarification=told)
    done("record", run.task_id)
    done("text", f"{told.path} Bursts wrap.")


def _by_an_agent(place: Layout) -> None:
    config = WikiConfig(wiki_dir=place.wiki)
    bug = f"bugs/{min(path.stem for path in place.wiki.glob('bugs/RTL_*.md'))}"
    store = WikiStore(config, "agent")
    if store.append(f"{bug}#Resolution", "Ready was late.").status == "done":
        done("text", f"{bug}.md Ready was late.")
    if WikiStore(config, "human").create("specs", "burst", SPEC).status == "done":
        done("text", "specs/burst.md # Bursts")
    answer = store.fetch("specs/burst#Answer")
    if isinstance(answer, Fetched):
        store.commit("specs/burst#Answer", "Never.", answer.version)
        done("text", "specs/burst.md Never.")


def _compact(place: Layout) -> None:
    compact(place, today=date(2027, 6, 1))


def _reclassify(place: Layout) -> None:
    reclassify(place, lambda _, __: None, tool="test", registry="new", fingerprint_version=1)
    build(place)


def _search(place: Layout) -> None:
    WikiSearchIndex.create("bm25", place.wiki).refresh()


class Way(NamedTuple):
    prepare: Callable[[Layout], None]
    act: Callable[[Layout], object]


WAYS: dict[str, Way] = {
    "init": Way(_nothing, init),
    "first-run": Way(_nothing, _first_run),
    "known-cause": Way(a_grown_wiki, _known_cause),
    "fix-and-hole": Way(a_grown_wiki, _fix_and_hole),
    "clarification": Way(a_grown_wiki, _clarification),
    "agent": Way(a_grown_wiki, _by_an_agent),
    "build": Way(_a_damaged_wiki, build),
    "compact": Way(a_grown_wiki, _compact),
    "reclassify": Way(a_grown_wiki, _reclassify),
    "search": Way(a_grown_wiki, _search),
}


def main(part: str, way: str, root: str) -> int:
    """Prepare a wiki for an action, or run the action; a system call marks its start."""
    place = layout(Path(root))
    if part == "prepare":
        WAYS[way].prepare(place)
        return 0
    os.getppid()
    try:
        WAYS[way].act(place)
    except WikiError as error:
        os.writev(sys.stderr.fileno(), [f"{error}\n".encode()])
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
