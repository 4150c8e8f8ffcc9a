"""A process that answers many queries from a wiki that others change."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.agent.followed import FollowedWiki
from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.agent.query import WikiQueryService
from pytest_dvwiki.records import WikiError
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.page_cache import PageCache
from pytest_dvwiki.wiki.page_files import list_pages
from pytest_dvwiki.wiki.page_summary import CATEGORIES
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import TEST, layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.page_files import PageListing

SOON = 0.01


def _comes(holds: Callable[[], object]) -> bool:
    for _ in range(2000):
        if holds():
            return True
        time.sleep(SOON)
    return False


@pytest.fixture(params=["on disk", "in memory"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Layout:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    if request.param == "in memory":
        for name in (".cache", ".search_index"):
            shutil.rmtree(place.wiki / name, ignore_errors=True)
            (place.wiki / name).write_text("no folder\n")
    return place


@pytest.mark.parametrize("question", [{}, {"query": "scoreboard"}, {"test": TEST}], ids=str)
def test_the_answers_are_those_of_a_wiki_that_is_opened_for_each(place: Layout, question: dict[str, Any]) -> None:
    with FollowedWiki(place, every=SOON) as wiki:
        assert gather(place, followed=wiki, **question).text == gather(place, **question).text != ""


def test_what_others_archive_and_edit_is_found_without_a_restart(place: Layout) -> None:
    (page,) = (place.wiki / "bugs").glob("RTL_*.md")
    with FollowedWiki(place, every=SOON) as wiki:
        service = WikiQueryService(WikiConfig(enabled=True, wiki_dir=place.wiki), wiki)
        assert not service.search("heliotrope")
        page.write_text(page.read_text().replace("## Notes", "## Notes\n\nheliotrope\n", 1) + "\nheliotrope\n")
        assert _comes(lambda: service.search("heliotrope"))
        assert "heliotrope" not in gather(place, followed=wiki).text
        page.write_text(page.read_text().replace("status: open", "status: closed"))
        assert _comes(lambda: "(closed," in gather(place, query="heliotrope", followed=wiki).text)
        archive(place, record(2, occurrence("c" * 12)))
        assert _comes(lambda: len(service.search("mismatch", "bugs", 9)) == 2)


def test_a_wiki_may_be_made_after_the_process_was_started(tmp_path: Path) -> None:
    place = layout(tmp_path)
    with FollowedWiki(place, every=SOON) as wiki:
        assert gather(place, query="mismatch", followed=wiki).text == ""
        archive(place, record(1, occurrence()))
        assert _comes(lambda: gather(place, query="mismatch", followed=wiki).text)


def test_queries_of_several_threads_wait_for_each_other(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    with FollowedWiki(place, every=SOON) as wiki, ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: gather(place, followed=wiki).text, itertools.repeat(0, 40)))
    assert set(texts) == {gather(place).text}


def test_nothing_is_said_before_a_look_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    broken = True

    def look(*arguments: Any) -> PageListing:
        if broken:
            raise PermissionError("the disk is away")
        return list_pages(*arguments)

    monkeypatch.setattr("pytest_dvwiki.agent.followed.list_pages", look)
    with FollowedWiki(place, every=SOON) as wiki:
        with pytest.raises(WikiError, match="the wiki cannot be read"), wiki.history():
            pass
        broken = False
        assert _comes(lambda: gather(place, followed=wiki).text)


def test_caches_that_another_process_holds_are_used_when_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_dvwiki.records.cache._WAIT_S", 0.05)
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    holder = sqlite3.connect(place.wiki / ".cache" / "pages.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    def is_on_disk() -> bool:
        with wiki.history() as history:
            return history.is_on_disk

    with FollowedWiki(place, every=SOON) as wiki:
        assert gather(place, followed=wiki).text
        assert not is_on_disk()
        holder.close()
        assert _comes(is_on_disk)
        assert gather(place, followed=wiki).text == gather(place).text


def test_a_cache_that_somebody_removed_is_filled_again(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    wiki = FollowedWiki(place)
    for _ in range(2):
        wiki.look()
        with PageCache(place.wiki, place.wiki / ".cache" / "pages.sqlite") as cache:
            assert cache.count("bugs") == 1
        shutil.rmtree(place.wiki / ".cache")
    wiki.close()


def test_a_look_compares_only_the_pages_that_changed_since_the_last_one(tmp_path: Path) -> None:
    def steps(pages: int) -> int:
        folder = tmp_path / str(pages)
        (folder / "bugs").mkdir(parents=True)
        for number in range(pages):
            (folder / "bugs" / f"{number}.md").write_text("# A\n")
        with PageCache(folder, None) as cache:
            before = list_pages(folder, CATEGORIES)
            cache.refresh(listing=before)
            (folder / "bugs" / "0.md").write_text("# Changed\n")
            (folder / "bugs" / "1.md").unlink()
            taken: list[None] = []
            cache.db.set_progress_handler(lambda: taken.append(None), 1)
            cache.refresh(listing=list_pages(folder, CATEGORIES), before=before)
            cache.db.set_progress_handler(None, 1)
            assert [page.title for page in cache.all("bugs")] == ["Changed", *["A"] * (pages - 2)]
            return len(taken)

    assert steps(60) < 2 * steps(6)
