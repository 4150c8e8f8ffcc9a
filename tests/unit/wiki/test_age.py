"""The age of a fact is computed on the day of the question, and is in no file of the wiki."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki import WikiConfig, WikiStore
from pytest_dvwiki.agent.knowledge import Knowledge
from pytest_dvwiki.cli import main
from pytest_dvwiki.wiki.age import age, tag
from pytest_dvwiki.wiki.page_summary import PageSummary
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import files, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

WORDS = ("recently added", "stable for", "age unknown")


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    place = layout(tmp_path)
    for number in (1, 2, 3):
        archive(place, record(number, occurrence()))
    return place


@pytest.mark.parametrize(
    ("day", "told"),
    [
        ("2026-11-20", "recently added"),
        ("2026-11-21", "recently added"),
        ("2026-12-20", "recently added"),
        ("2026-12-21", "stable for 1 month"),
        ("2027-01-20", "stable for 2 months"),
        ("2027-11-20", "stable for 12 months"),
        ("2027-11-21", "stable for 1 year"),
        ("2028-11-20", "stable for 2 years"),
    ],
)
def test_an_age_in_words(day: str, told: str) -> None:
    assert age("2026-11-21", date.fromisoformat(day)) == told
    assert age("2026-11-21T09:00:00Z", date.fromisoformat(day)) == told


@pytest.mark.parametrize("since", ["", "yesterday", "2026-13-01"])
def test_without_a_date_the_age_is_unknown(since: str) -> None:
    assert age(since, date(2027, 1, 1)) == "age unknown"


@pytest.mark.parametrize(
    ("category", "key", "value", "told"),
    [
        ("bugs", "corroborations", 3, " (+3)"),
        ("bugs", "corroborations", 0, ""),
        ("bugs", "corroborations", None, ""),
        ("patterns", "hit_count", 3, " (+2)"),
        ("patterns", "hit_count", 1, ""),
        ("specs", "hit_count", 7, ""),
    ],
)
def test_what_was_seen_again_is_counted(category: str, key: str, value: int | None, told: str) -> None:
    page = PageSummary(f"{category}/a.md", category, "", {"first_seen": "2026-11-21", key: value}, "")
    assert tag(page, date(2027, 3, 1)) == f"stable for 3 months{told}"


def test_a_prompt_tells_it_on_the_day_of_the_question(place: Layout) -> None:
    for day, told in ((date(2026, 12, 1), "recently added"), (date(2029, 1, 1), "stable for 2 years")):
        with Knowledge(place, today=day) as knowledge:
            headers = [block.header for block in knowledge.blocks(knowledge.pages(("patterns", "bugs"), 9)[0])]
        assert [header.rpartition(" [")[2] for header in headers] == [f"{told} (+2)]"] * 2


@pytest.mark.parametrize(
    ("line", "told"), [("- 2026-11-21 (ambiguous): beats minus one", "stable for 1 month"), ("Beats.", "age unknown")]
)
def test_a_clarification_is_as_old_as_its_first_line(place: Layout, line: str, told: str) -> None:
    page = place.wiki / "specs" / "burst_clarification.md"
    page.write_text(f"---\ntype: spec\nfeature: burst\n---\n\n# Burst\n\n## Clarifications\n\n{line}\n", "utf-8")
    with Knowledge(place, today=date(2027, 1, 1)) as knowledge:
        (block,) = knowledge.blocks(knowledge.pages(("specs",), 9)[0])
    assert block.header == f"**burst_clarification** — Burst [{told}]"


def test_lists_and_searches_tell_it(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    entries = WikiStore(WikiConfig(wiki_dir=place.wiki), "agent").list()
    assert [entry.age.endswith(" (+2)") for entry in entries] == [True, True]
    main(["search", "scoreboard", "--category", "patterns", "--root", str(place.root)])
    assert capsys.readouterr().out.splitlines()[1].endswith(" (+2)")


def test_no_file_of_the_wiki_holds_it(place: Layout) -> None:
    build(place)
    written = b"\n".join(data for name, data in files(place.wiki).items() if name.endswith("md"))
    assert [words for words in WORDS if words.encode() in written] == []
