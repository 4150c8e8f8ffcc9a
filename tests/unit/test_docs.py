"""The documentation says what its sources say, and its links lead somewhere."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})


def links(page: Path) -> list[str]:
    """Where the links of a page lead to, without anchors."""
    inline = (token for token in MARKDOWN.parse(page.read_text(encoding="utf-8")) if token.type == "inline")
    targets = [child.attrs["href"] for token in inline for child in token.children or () if child.type == "link_open"]
    return [path for target in targets if (path := str(target).partition("#")[0])]


@pytest.fixture(scope="module")
def generated() -> dict[Path, str]:
    made: Callable[[], dict[Path, str]] = runpy.run_path(str(DOCS / "generate.py"))["generated"]
    return made()


@pytest.mark.parametrize("name", ["README.md", "docs/agents.md", "docs/outcomes.md"])
def test_what_is_generated_is_what_make_docs_writes(generated: dict[Path, str], name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == generated[ROOT / name]


def test_nothing_else_is_generated(generated: dict[Path, str]) -> None:
    assert {path.relative_to(ROOT).as_posix() for path in generated} == {
        "README.md",
        "docs/agents.md",
        "docs/outcomes.md",
        "docs/patterns.md",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    targets = [target for target in links(page) if "://" not in target]
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_every_page_is_reached_from_the_index() -> None:
    linked = {(DOCS / target).resolve() for target in links(DOCS / "index.md")}
    assert set(DOCS.rglob("*.md")) - {DOCS / "index.md"} <= linked
