"""The page of the built-in patterns holds each of them, is well-formed Markdown, and is the one in the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_dvwiki.patterns.reference import reference
from pytest_dvwiki.patterns.registry import builtin_files, load_registry

PAGE = Path(__file__).parents[3] / "docs" / "patterns.md"
TEXT = reference()


@pytest.mark.skipif(not PAGE.parent.is_dir(), reason="the documentation is not part of this copy")
def test_the_page_in_the_repository_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == TEXT, "run `make docs`"


def test_every_pattern_stands_there_once_with_what_it_means_and_what_to_do() -> None:
    for pattern in load_registry():
        assert TEXT.count(f"\n#### {pattern.id}\n") == 1
        part = TEXT.partition(f"\n#### {pattern.id}\n")[2].partition("\n#")[0]
        assert part.count("- matches: ") == len(pattern.match)
        assert ("- fix: " in part) == bool(pattern.fix)
        assert "- example: " in part


def test_a_message_stands_with_its_pattern_under_its_tool_and_what_its_subtype_means() -> None:
    before, message, _ = TEXT.partition("\n- example: `dut.sv:7: error: Unknown module type: missing_sub`\n")
    assert message
    headings = re.findall(r"^(##+) (.*)$", before, re.MULTILINE)
    newest = {level: words for level, words in headings if level in {"##", "###", "####"}}
    assert newest["####"] == "icarus.unknown_module"
    assert newest["###"] == "Module, entity or interface not found: `missing_module`"
    assert newest["##"].startswith("Icarus")


def test_its_table_of_contents_leads_to_its_headings() -> None:
    markdown = pytest.importorskip("markdown_it").MarkdownIt()
    tokens = markdown.parse(TEXT)
    titles = [
        tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"
    ]
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) == anchors
    assert not [token for token in tokens if token.type == "html_block" and "made by" not in token.content]


def test_no_heading_is_the_name_of_a_file() -> None:
    titles = re.findall(r"^## (.*)", TEXT, re.MULTILINE)
    assert len(titles) == len(set(titles)) == len(builtin_files())
    assert not [title for title in titles if "_" in title or title in {*builtin_files()} - {"pytest", "pyuvm", "slang"}]


def test_nothing_of_a_pattern_becomes_html() -> None:
    markdown = pytest.importorskip("markdown_it").MarkdownIt()
    inline = [child for token in markdown.parse(TEXT) if token.children for child in token.children]
    assert [child.content for child in inline if child.type == "html_inline"] == []
