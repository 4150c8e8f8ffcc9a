"""The archive of a git revision, whatever is in the working tree and the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.git.revision import Revision, RevisionError
from pytest_dvwiki.settings import Layout

from ...samples import git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("below", "wiki"), [(".", ".agent/wiki"), ("ip/fifo", ".agent/wiki"), ("ip", "knowledge")])
def test_it_is_read_without_a_change_of_the_index(tmp_path: Path, below: str, wiki: str) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    layout = Layout(root=(tmp_path / below).resolve(), wiki=(tmp_path / below / wiki).resolve())
    texts = {
        layout.wiki / "bugs" / "a.md": "page",
        layout.tasks / "2026" / "11" / "a.yaml": "record",
        layout.patterns / "own.yaml": "patterns",
        layout.waivers: "waivers:",
        layout.root / "rtl" / "top.v": "module",
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / ".gitattributes").write_text("* export-ignore\n", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "base")
    layout.waivers.write_text("waivers: [mine]", encoding="utf-8")
    git(tmp_path, "add", ".")
    before = git(tmp_path, "status", "--porcelain").stdout
    base = Revision(layout, "main")
    folder = base.layout.agent
    files = {path.relative_to(folder): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}
    assert files == {path.relative_to(layout.agent): text for path, text in texts.items() if path.parent.name != "rtl"}
    assert git(tmp_path, "status", "--porcelain").stdout == before
    del base
    assert not folder.exists()


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    layout = Layout(root=tmp_path, wiki=tmp_path / ".agent" / "wiki")
    with pytest.raises(RevisionError, match="unknown revision 'main'; fetch it first"):
        Revision(layout, "main")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "base")
    with pytest.raises(RevisionError, match=r"main \(\w{7}\) has nothing in .agent"):
        Revision(layout, "main")
    with pytest.raises(RevisionError, match="is not in the repository"):
        Revision(Layout(root=tmp_path, wiki=tmp_path.parent / "wiki"), "main")
    with pytest.raises(RevisionError, match="unknown revision '--output=x'"):
        Revision(layout, "--output=x")
