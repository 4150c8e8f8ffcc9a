"""Git never treats one page as another's new name: bug pages of different causes are less than 50 % similar."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.model import Command, LogReference, Origin
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import failed, git, layout, occurrence, record

if TYPE_CHECKING:
    from pytest_dvwiki.model import Occurrence
    from pytest_dvwiki.settings import Layout

GROWN = str(Path(__file__).parents[2] / "bench" / "grown.py")
MOST = 45
"""In per cent; from 50 on, git treats pages as renamed."""
MESSAGES = {
    "write": "UVM_ERROR sb.sv(210) @ 1250ns: reporter [SCBD] expected 0x12 got 0x13",
    "burst": "UVM_ERROR sb.sv(210) @ 1250ns: reporter [SCBD] length of packet differs",
    "grant": "UVM_ERROR arb.sv(7) @ 90ns: reporter [ARB] no grant for port 3",
    "reset": "ERROR: the reset tree has lost a leaf",
    "respond": "AssertionError: AXI write response never came back",
}


def alike(place: Layout) -> int:
    """Return the highest similarity of two pages of a wiki, in per cent, as git computes it."""
    paths = sorted(place.wiki.glob("*/[!_]*.md"))
    # As many pairs, spread over all pages, as git compares in a second.
    names = [path.relative_to(place.wiki).as_posix() for path in paths[:: -(-len(paths) // 14)]]
    assert len(names) > 4
    git(place.root, "init", "--quiet")
    trees = {}
    for name in names:
        blob = git(place.root, "hash-object", "-w", f"{place.wiki}/{name}").stdout.strip()
        git(place.root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
        trees[name] = git(place.root, "write-tree").stdout.strip()
        git(place.root, "rm", "--quiet", "--cached", name)
    shown = (
        git(place.root, "diff", "-M01%", "--name-status", trees[one], trees[two]).stdout
        for one, two in combinations(names, 2)
    )
    return max(int(found[1]) if (found := re.match(r"R(\d+)\t", text)) else 0 for text in shown)


def test_pages_of_a_grown_wiki_are_not_alike(tmp_path: Path) -> None:
    subprocess.run([sys.executable, GROWN, str(tmp_path), "--pages", "40", "--records", "60"], check=True)
    assert alike(layout(tmp_path)) < MOST


def test_pages_that_differ_only_by_their_cause_are_not_alike(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, *causes()))
    assert alike(place) < MOST


def causes() -> list[Occurrence]:
    """Return causes of one run that differ only in message and test."""
    origin = Origin(type="UNKNOWN", confidence=0.0, reasons=("nothing shows where the fault lies",))
    return [
        occurrence(
            f"{number:012x}",
            primary=message,
            excerpt=message,
            origin=origin,
            tests=(failed(nodeid=f"tests/test_{name}.py::{name}"),),
            log=LogReference(path=f"sim_build/{name}.log", line=1880),
            command=Command(arguments=("pytest", f"tests/test_{name}.py::{name}"), in_repository=True),
        )
        for number, (name, message) in enumerate(MESSAGES.items(), 1)
    ]


def test_what_people_decide_on_a_page_does_not_move_to_another_one(tmp_path: Path) -> None:
    """One branch replaces a page by another cause's, while a person silences the first one on the other branch."""
    place = layout(tmp_path)
    archive(place, record(1, causes()[0]))
    (old,) = (place.wiki / "bugs").glob("UNK_*.md")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(place, "base")
    git(tmp_path, "checkout", "--quiet", "-b", "person")
    old.write_text(old.read_text().replace("status: open", "status: wont_fix").replace("has a workaround", "is absurd"))
    commit(place, "silenced")
    git(tmp_path, "checkout", "--quiet", "main")
    old.unlink()
    archive(place, record(2, causes()[1]))
    (new,) = (place.wiki / "bugs").glob("UNK_*.md")
    commit(place, "another cause")
    before = new.read_bytes()
    git(tmp_path, "merge", "--quiet", "person", check=False)
    assert new.read_bytes() == before
    # If git is configured to accept less similar files, it asks.
    git(tmp_path, "merge", "--abort")
    git(tmp_path, "merge", "--quiet", "-Xfind-renames=1%", "person", check=False)
    assert b"<<<<<<<" in new.read_bytes()
    theirs = re.sub(r"(?s)<<<<<<< .*?=======\n(.*?)>>>>>>> .*?\n", r"\1", new.read_text())
    new.write_text(theirs)
    assert pages.read(new.read_bytes()).metadata["status"] == "wont_fix"
    ((path, reason),) = build(place).refused
    assert (path, reason.split("; ")[0]) == (f"bugs/{new.name}", f"its `dvwiki` comments name another page, {old.stem}")
    assert (f"bugs/{new.name}", "left_alone") in {(each.page, each.kind) for each in lint(place, "full")}


def commit(place: Layout, message: str) -> None:
    git(place.root, "add", "--all")
    git(place.root, "commit", "--quiet", "--message", message)
