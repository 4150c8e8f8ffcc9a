"""All lists of pages show that a bug has returned, and its `status` stays as people set it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.agent.query import WikiQueryService
from pytest_dvwiki.cli import main
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import CAUSE, again, files, layout, occurrence, passing, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """Return a wiki with a cause that occurred once and was closed by a person."""
    monkeypatch.chdir(tmp_path)
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    page = bug(place)
    page.write_text(page.read_text("utf-8").replace("status: open", "status: closed"), "utf-8")
    build(place)
    return place


def bug(place: Layout) -> Path:
    return next((place.wiki / "bugs").glob("RTL_*"))


def keys(place: Layout) -> dict[str, Any]:
    return pages.read(bug(place).read_bytes()).metadata


def shown(place: Layout) -> str:
    """Return the status in the index."""
    (line,) = (line for line in (place.wiki / "index.md").read_text("utf-8").splitlines() if "| RTL_BUG |" in line)
    return line.split(" | ")[2]


def test_a_closed_bug_that_came_back_is_listed_as_regressed(place: Layout) -> None:
    assert shown(place) == "closed"
    archive(place, record(30, occurrence(), regressed=(CAUSE,)))
    assert shown(place) == "regressed"
    assert (keys(place)["status"], keys(place)["regressed"]) == ("closed", "2026-11-22")
    assert "- Came back on 2026-11-22 after its page had been closed.\n" in bug(place).read_text("utf-8")


def test_a_run_that_did_not_see_it_as_a_return_says_nothing(place: Layout) -> None:
    archive(place, record(30, occurrence()))
    assert shown(place) == "closed"
    assert keys(place)["regressed"] is None


def test_it_is_found_and_told_as_an_open_bug(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    service = WikiQueryService(WikiConfig(enabled=True, wiki_dir=place.wiki))
    assert service.get_known_rtl_bugs() == ""
    archive(place, record(30, occurrence(), regressed=(CAUSE,)))
    assert f"**{bug(place).stem}** (regressed, 0.82)" in service.get_known_rtl_bugs()
    assert f"**{bug(place).stem}** (regressed, 0.82)" in gather(place, category="bugs").text
    assert main(["search", "expected", "--status", "regressed"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[1].startswith(f"  bugs/{bug(place).name}  score ")
    assert "RTL_BUG, regressed, " in out[1]
    assert main(["search", "expected", "--status", "closed"]) == 1
    assert capsys.readouterr().out == ""


def test_the_return_after_a_fix_that_held_needs_no_closing(place: Layout) -> None:
    page = bug(place)
    page.write_text(page.read_text("utf-8").replace("status: closed", "status: open"), "utf-8")
    for number in (2, 3, 4, 5):
        archive(place, passing(number))
    assert (shown(place), keys(place)["passes_since"]) == ("open, passes since 2026-11-21", "2026-11-21")
    assert ", 2026-11-21, held." in gather(place, category="bugs").text
    archive(place, record(30, occurrence()))
    assert keys(place)["passes_since"] is None
    told = bug(place).read_text("utf-8")
    assert shown(place) == "open"
    assert keys(place)["regressed"] == "2026-11-22"
    assert "| held, returned 2026-11-22 |" in (place.wiki / "patterns" / "scoreboard_fail.md").read_text("utf-8")
    assert "- Came back on 2026-11-22 after its fix had held.\n" in told
    fixed = "- Fixed by `0000000` fifo: reset the read pointer, 2026-11-21, held 1 day, back since 2026-11-22. (source"
    assert fixed in told


def test_a_fix_ends_it(place: Layout) -> None:
    archive(place, record(30, occurrence(), regressed=(CAUSE,)))
    archive(place, passing(31))
    assert (shown(place), keys(place)["regressed"]) == ("closed", None)
    assert "Came back on" not in bug(place).read_text("utf-8")


def test_it_follows_from_the_records_alone(place: Layout) -> None:
    archive(place, record(30, occurrence(), regressed=(CAUSE,)))
    before = files(place.wiki)
    assert build(place).changed == []
    assert files(place.wiki) == before


def test_only_the_first_run_that_sees_it_again_has_news(place: Layout) -> None:
    def has_news() -> bool:
        with WikiHistory(place) as history:
            return history.regressed(occurrence())

    assert has_news()
    archive(place, record(30, occurrence(), regressed=(CAUSE,)))
    assert not has_news()
    # A pass with another seed may be chance, and starts no new fix.
    archive(place, passing(31, passed_again=(again(seed="7"),)))
    archive(place, record(32, occurrence()))
    assert not has_news()
    archive(place, passing(33))
    assert has_news()
