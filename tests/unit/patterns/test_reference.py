"""The pages of the built-in patterns list all of them, are well-formed Markdown, and are up to date."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from pytest_dvwiki.patterns.registry import builtin_files, load_registry

DOCS = Path(__file__).parents[3] / "docs"
if not DOCS.is_dir():
    pytest.skip("the documentation is not part of this copy", allow_module_level=True)
PAGES = runpy.run_path(str(DOCS / "generate.py"))["pattern_pages"]()
LIST = PAGES["patterns.md"]
OF_TOOLS = {path: text for path, text in PAGES.items() if path != "patterns.md"}


def test_the_pages_in_the_repository_are_current() -> None:
    there = [DOCS / "patterns.md", *(DOCS / "patterns").iterdir()]
    assert {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in there} == PAGES, (
        "run `make docs`"
    )


def test_every_pattern_stands_there_once_with_what_it_means_and_what_to_do() -> None:
    text = "".join(OF_TOOLS.values())
    for pattern in load_registry():
        found = re.split(rf"^###? {re.escape(pattern.id)}$", text, flags=re.MULTILINE)
        assert len(found) == 2
        part = found[1].partition("\n#")[0]
        assert part.count("- matches: ") == len(pattern.match)
        assert ("- fix: " in part) == bool(pattern.fix)
        assert "- example: " in part


def test_a_message_stands_with_its_pattern_on_the_page_of_its_tool_under_its_subtype() -> None:
    page = PAGES["patterns/icarus.md"]
    before, message, _ = page.partition("\n- example: `dut.sv:7: error: Unknown module type: missing_sub`\n")
    assert message
    headings = re.findall(r"^(#+) (.*)$", before, re.MULTILINE)
    assert dict(headings) == {
        "#": "Patterns: Icarus Verilog",
        "##": "Module, entity or interface not found: `missing_module`",
        "###": "icarus.unknown_module",
    }


def test_the_list_leads_to_each_page_by_a_title_for_people() -> None:
    titles = dict(re.findall(r"^\| \[(.*)\]\((patterns/.*)\) \|", LIST, re.MULTILINE))
    assert set(titles.values()) == set(OF_TOOLS)
    assert len(titles) == len(builtin_files())
    assert not [title for title in titles if "_" in title]
    assert all(OF_TOOLS[path].startswith(f"# Patterns: {title}\n") for title, path in titles.items())


@pytest.mark.parametrize("path", PAGES)
def test_nothing_of_a_pattern_becomes_html(path: str) -> None:
    markdown = pytest.importorskip("markdown_it").MarkdownIt()
    tokens = markdown.parse(PAGES[path])
    inline = [child for token in tokens if token.children for child in token.children]
    assert [child.content for child in inline if child.type == "html_inline"] == []
    assert not [token for token in tokens if token.type == "html_block" and "made by" not in token.content]
