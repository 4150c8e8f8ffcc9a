"""The text above the tables of the index: open bugs that appeared with one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.model import FirstBad
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import CAUSE, TEST, failed, layout, occurrence, passing, record

if TYPE_CHECKING:
    from pathlib import Path

OTHER, THIRD = "b" * 12, "c" * 12
COMMITS = ("9b1f03c2a7d4 fifo: `rework` | more", "1f0c2aabb0f1 regs: ack")


def came(cause: str, *log: str, passed_with: str = "same") -> FirstBad:
    return FirstBad(
        fingerprint=cause,
        nodeid=TEST,
        good="a" * 40,
        bad="b" * 40,
        passed_with="other" if passed_with == "other" else "same",
        log=log,
        log_count=len(log),
    )


def groups(root: Path) -> list[str]:
    """Check that pages and index follow from the records alone, and return the lines above the tables."""
    assert build(layout(root), check=True).changed == []
    text = (layout(root).wiki / "index.md").read_text(encoding="utf-8")
    return [line for line in text.partition("\n## ")[0].splitlines()[4:] if line]


def test_open_bugs_that_came_with_one_commit_stand_together(tmp_path: Path) -> None:
    causes = [occurrence(CAUSE), *(occurrence(each, tests=(failed(each),)) for each in (OTHER, THIRD))]
    rows = (came(CAUSE, COMMITS[0]), came(OTHER, COMMITS[0]), came(THIRD, *COMMITS))
    archive(layout(tmp_path), record(1, *causes, first_bad=rows))
    (line,) = groups(tmp_path)
    with WikiHistory(layout(tmp_path)) as history:
        names = sorted(history.bug_pages(each)[0].name for each in (CAUSE, OTHER))
    links = ", ".join(f"[{name}](bugs/{name}.md)" for name in names)
    assert line == f"Came with one commit: ``9b1f03c fifo: `rework` | more``: {links}"
    archive(layout(tmp_path), record(2, causes[2], first_bad=(came(THIRD, COMMITS[0]),)))
    assert groups(tmp_path)[0].count("](bugs/") == 3, "a range that was narrowed down joins"
    archive(layout(tmp_path), passing(3))
    assert groups(tmp_path)[0].count("](bugs/") == 2, "what passes is none of them any more"
    archive(layout(tmp_path), passing(4, fingerprint=OTHER, nodeid=OTHER))
    assert groups(tmp_path) == []


def test_open_bugs_that_came_with_one_of_the_same_commits_stand_together(tmp_path: Path) -> None:
    rows = (came(CAUSE, *COMMITS), came(OTHER, *COMMITS), came(THIRD, COMMITS[0]))
    causes = [occurrence(CAUSE), *(occurrence(each, tests=(failed(each),)) for each in (OTHER, THIRD))]
    archive(layout(tmp_path), record(1, *causes, first_bad=rows))
    (line,) = groups(tmp_path)
    assert line.startswith("Came with one of the commits after `aaaaaaa` up to `bbbbbbb`: [")
    assert line.count("](bugs/") == 2, "the one with a commit of its own stands alone"


def test_what_may_have_come_with_another_commit_stands_alone(tmp_path: Path) -> None:
    rows = (came(CAUSE, COMMITS[0], passed_with="other"), came(OTHER, COMMITS[0]))
    archive(layout(tmp_path), record(1, occurrence(CAUSE), occurrence(OTHER), first_bad=rows))
    assert groups(tmp_path) == []
