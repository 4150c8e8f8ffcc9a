"""Names from outside never lead out of the wiki, and neither do links in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.records import WikiError
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
from pytest_dvwiki.wiki.kinds.spec import Clarification
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import add_line, archive, build

from ..samples import archived, failed, files, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [
    *("../../evil", "/etc/evil", "..", ".", "", "a\x00b", "a\nb", "a/b", "a\\b", "C:evil", "con", "NUL.md", "com1"),
    *("x" * 300, "é" * 300, "bin[0:3]", "_index", ".lock", "~evil", "$(evil)", "-evil", "evil\u202e", "e\x1b[2Jvil"),
]
SAFE = re.compile(r"(?!(?i:con|nul|aux|prn|com\d|lpt\d)\b)[A-Za-z0-9_-][A-Za-z0-9_.-]{0,120}\.md")


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_makes_files_in_the_wiki_alone(tmp_path: Path, name: str) -> None:
    place = layout(tmp_path / "outer" / "project")
    place.root.mkdir(parents=True)
    (tmp_path / "evil.md").write_text("mine")
    hole = {"covergroup": name, "bin": name, "action_class": name, "filled": False, "scenario": name}
    cause = occurrence(
        failure_subtype=name, error_class=name, ip_type=name, primary=f"{name} failed", tests=(failed(name, name),)
    )
    told = Clarification(feature=name, kind=name, text="It wraps.", date="2026-11-21", task_id="x")
    done = archived(place, record(1, cause, coverage=(hole,)), [name], clarification=told)
    assert done.refused == []
    assert len(done.pages_created) == 4
    assert all(SAFE.fullmatch(page.rpartition("/")[2]) for page in done.pages_created), done.pages_created
    assert all(path.count("/") == 1 for path in done.pages_created)
    outside = {path for path in tmp_path.rglob("*") if path.is_file() and not path.is_relative_to(place.agent)}
    assert outside == {tmp_path / "evil.md"}
    assert (tmp_path / "evil.md").read_text() == "mine"
    assert build(place, check=True).changed == []


def test_names_that_look_alike_as_files_have_pages_of_their_own(tmp_path: Path) -> None:
    place = layout(tmp_path)
    names = ["bin[0:3]", "bin_0_3_", "bin(0:3)", "bin[0.3]"]
    holes = tuple({"covergroup": "fifo", "bin": name, "action_class": "actionable", "filled": False} for name in names)
    archive(place, record(1, coverage=holes))
    assert len(list(place.wiki.glob("coverage/fifo_*.md"))) == len(names)


@pytest.mark.parametrize("name", ["index.md", "bugs/_index.md", "patterns/scoreboard_fail.md", "bugs"])
def test_what_leads_out_of_the_wiki_is_not_written_and_is_named(tmp_path: Path, name: str) -> None:
    place = layout(tmp_path / "project")
    outside = tmp_path / "outside"
    archive(place, record(1, occurrence()))
    (place.wiki / name).rename(outside)
    (place.wiki / name).symlink_to(outside)
    before = files(outside) if outside.is_dir() else outside.read_bytes()
    refused = dict(archive(place, record(2, occurrence(), occurrence("b" * 12))).refused)
    assert any(path.startswith(name) and "leads out of the wiki" in reason for path, reason in refused.items())
    assert (files(outside) if outside.is_dir() else outside.read_bytes()) == before


def test_a_log_that_leads_out_of_the_wiki_stops_a_write_before_it_begins(tmp_path: Path) -> None:
    place = layout(tmp_path / "project")
    archive(place, record(1, occurrence()))
    (place.wiki / "log.md").unlink()
    (place.wiki / "log.md").symlink_to(tmp_path / "outside.txt")
    (tmp_path / "outside.txt").write_text("mine\n")
    before = files(place.agent)
    for write in (
        lambda: archive(place, record(2, occurrence())),
        lambda: build(place),
        lambda: add_line(place, "log.md", "Log", lambda _: "status | - | words"),
    ):
        with pytest.raises(WikiError, match="it is a link that leads out of the wiki; replace it with a file"):
            write()
    assert files(place.agent) == before
    assert (tmp_path / "outside.txt").read_text() == "mine\n"


def test_a_link_within_the_wiki_stays_one_and_its_page_is_written(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    page = place.wiki / "patterns" / "scoreboard_fail.md"
    page.rename(place.wiki / "kept.md")
    page.symlink_to("../kept.md")
    assert archive(place, record(2, occurrence())).refused == []
    assert page.is_symlink()
    assert "hit_count: 2" in (place.wiki / "kept.md").read_text("utf-8")
    assert lint(place) == []


@pytest.mark.parametrize("backend", ["bm25", "keyword"])
def test_what_stands_behind_a_link_out_of_the_wiki_is_told_to_nobody(tmp_path: Path, backend: str) -> None:
    place = layout(tmp_path / "project")
    archive(place, record(1, occurrence()))
    secret = tmp_path / "secret.md"
    secret.write_text("---\ntype: pattern\nfailure_subtype: xyzzy\n---\n\n# Xyzzy\n\n## Fix Template\n\nplugh\n")
    for category in ("bugs", "patterns", "specs"):
        (place.wiki / category / "link.md").symlink_to(secret)
    assert WikiSearchIndex.create(backend, place.wiki).search("xyzzy plugh") == []
    told = gather(place, query="xyzzy plugh link", backend=backend)
    assert "plugh" not in told.text
    assert "Xyzzy" not in told.text
    with WikiHistory(place) as history:
        assert history.fix_template("link") == ""
    found = {finding.page for finding in lint(place, "full") if "leads out of the wiki" in finding.text}
    assert found == {"bugs/link.md", "patterns/link.md", "specs/link.md"}


def test_a_link_to_itself_or_to_nothing_and_a_folder_stop_no_command(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    (place.wiki / "bugs" / "loop.md").symlink_to("loop.md")
    (place.wiki / "bugs" / "gone.md").symlink_to("nothing.md")
    (place.wiki / "bugs" / "folder.md").mkdir()
    kept = place.wiki / "patterns" / "scoreboard_fail.md"
    kept.unlink()
    kept.symlink_to(kept.name)
    assert build(place, restore=True).refused == []
    assert "hit_count: 1" in kept.read_text("utf-8")
    assert lint(place, "full") == []
    assert WikiSearchIndex.create("keyword", place.wiki).search("gone") == []
