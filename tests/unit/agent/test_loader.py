"""A template is filled from the wiki, or else from the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.agent.loader import PromptLoader
from pytest_dvwiki.model import Origin
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def config(tmp_path: Path) -> WikiConfig:
    place = layout(tmp_path)
    hole = {"covergroup": "axi_cov", "bin": "wrap", "action_class": "actionable", "feature": "AXI burst"}
    archive(
        place,
        record(1, occurrence(), replace(occurrence("b" * 12), failure_subtype="timeout"), coverage=(hole,)),
    )
    archive(place, record(2, occurrence()))
    return WikiConfig(enabled=True, wiki_dir=place.wiki)


def test_the_four_placeholders_are_filled(config: WikiConfig) -> None:
    loader = PromptLoader(config)
    assert loader.render("{{KNOWN_ERROR_PATTERNS}}").startswith("**scoreboard_fail** (hit_count: 2, fix_rate: n/a) — ")
    assert loader.render("{{KNOWN_RTL_BUGS}}").startswith("**RTL_20261121_")
    header, told = loader.render("{{COVERAGE_HOLE_HISTORY}}").split("\n")
    assert header == "**axi_cov.wrap** (actionable) — AXI burst"
    assert told.startswith("Open since 2026-11-21. (source: tasks/")
    table = loader.render("{{WIKI_PATTERN_SUMMARY}}").splitlines()
    assert table[0] == "| Pattern | error_class | hit_count | failing tests | fix_rate | last_seen | known |"
    assert table[2].startswith("| `scoreboard_fail` | `uvm_error` | 2 | 2 | n/a | 2026-11-21 | ")
    assert table[2].endswith(" (+1) |")


def test_open_bugs_of_unknown_origin_come_after_those_of_the_design(config: WikiConfig) -> None:
    unknown = Origin(type="UNKNOWN", confidence=0.0)
    archive(config.layout, record(3, replace(occurrence("c" * 12), origin=unknown)))
    archive(config.layout, record(4, replace(occurrence("d" * 12), origin=replace(unknown, type="TB_BUG"))))
    text = PromptLoader(replace(config, max_context_tokens=8000)).render("{{KNOWN_RTL_BUGS}}")
    headers = [line for line in text.splitlines() if line.startswith("**")]
    assert [line.startswith("**UNK_") for line in headers] == [False, False, True]
    assert "Failure of unknown origin" in headers[-1]


def test_the_wiki_wins_over_the_profile_where_it_knows_something(config: WikiConfig, tmp_path: Path) -> None:
    profile = {"KNOWN_RTL_BUGS": "none that we know of", "PROJECT": "fifo"}
    assert "none that" not in PromptLoader(config, profile).render("{{KNOWN_RTL_BUGS}}")
    empty = WikiConfig(enabled=True, wiki_dir=tmp_path / "other" / ".agent" / "wiki")
    assert PromptLoader(empty, profile).render("{{PROJECT}}: {{KNOWN_RTL_BUGS}}") == "fifo: none that we know of"


def test_a_wiki_that_is_off_is_not_asked(config: WikiConfig) -> None:
    off = replace(config, enabled=False)
    assert PromptLoader(off, {"KNOWN_RTL_BUGS": "ours"}).render("{{KNOWN_RTL_BUGS}}") == "ours"


def test_an_unknown_placeholder_stays(config: WikiConfig) -> None:
    assert PromptLoader(config).render("a {{TASK_INPUT}} b\n{{ nothing }}\n") == "a {{TASK_INPUT}} b\n{{ nothing }}\n"


def test_a_line_that_held_only_an_empty_placeholder_goes(tmp_path: Path) -> None:
    loader = PromptLoader(WikiConfig(enabled=True, wiki_dir=tmp_path / "wiki"))
    text = "# Known\n  {{KNOWN_RTL_BUGS}}  \n\nBugs: {{KNOWN_RTL_BUGS}}\r\nend"
    assert loader.render(text) == "# Known\n\nBugs: \r\nend"


def test_a_text_of_several_lines_gets_lines_of_its_own(config: WikiConfig) -> None:
    lines = PromptLoader(config).render("Bugs: {{KNOWN_RTL_BUGS}} and so on\n").splitlines()
    assert lines[0] == "Bugs: "
    assert lines[2].startswith("**RTL_")
    assert lines[-1] == " and so on"


def test_what_is_put_in_is_not_filled_again(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence(primary="{{WIKI_PATTERN_SUMMARY}} got {{PROJECT}}")))
    config = WikiConfig(enabled=True, wiki_dir=place.wiki)
    assert "{ {WIKI_PATTERN_SUMMARY}} got { {PROJECT}}" in PromptLoader(config, {"PROJECT": "fifo"}).render(
        "{{KNOWN_RTL_BUGS}}"
    )


def test_testbench_and_closed_bugs_are_no_known_rtl_bugs(tmp_path: Path) -> None:
    place = layout(tmp_path)
    origin = Origin(type="TB_BUG", confidence=0.99, reasons=("x",))
    archive(place, record(1, occurrence(), occurrence("b" * 12, origin=origin), occurrence("c" * 12)))
    config = WikiConfig(enabled=True, wiki_dir=place.wiki)
    assert PromptLoader(config).render("{{KNOWN_RTL_BUGS}}").count("**RTL_") == 2
    pages = sorted((place.wiki / "bugs").glob("RTL*"))
    pages[0].write_text(pages[0].read_text().replace("status: open", "status: closed"))
    pages[1].write_text(pages[1].read_text().replace("status: open", "status: confirmed"))
    text = PromptLoader(config).render("{{KNOWN_RTL_BUGS}}")
    assert text.startswith(f"**{pages[1].stem}** (confirmed, 0.82) — ")
    assert text.count("**RTL_") == 1
