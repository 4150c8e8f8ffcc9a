"""Each page of a flow is a project that works: its files are written, its commands run, and they print what it says."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from .harness import Project, environment, missing

FLOWS = Path(__file__).parents[2] / "docs" / "flows"
PAGES = sorted(path.stem for path in FLOWS.glob("*.md"))
ANYTHING = "..."
"""A line of a page that stands for any lines."""
VOLATILE = (
    (re.compile(r"\b(?:RTL|TB|UNK)_\d{8}_"), "<page>_"),
    (re.compile(r"\b(\w+)_\d{8}T\d{6}Z_[0-9a-f]{6}\b"), r"\1_<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "<date>"),
    (re.compile(r"(RANDOM_SEED=|seeds? )\d+"), r"\1<seed>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?s\b"), "<seconds>"),
    (re.compile(r"\S*/(?=\w+\.py\(\d+\))"), ""),  # cocotb cuts the paths of pyuvm's lines
    (re.compile(r"={3,}|-{3,}"), "==="),
)
"""What differs from run to run, and what it is compared as."""

pytestmark = [pytest.mark.sim, pytest.mark.timeout(300)]


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a page and what the page shows of its output."""

    line: str
    shown: str


@dataclass(frozen=True, slots=True)
class Page:
    """The files and commands of a page, in its order."""

    files: dict[str, str]
    commands: tuple[Command, ...]

    @classmethod
    def read(cls, path: Path) -> Page:
        """A fence's second word names a file; fences of `console` hold commands behind `$`, each with its output."""
        fences = [token for token in MarkdownIt().parse(path.read_text(encoding="utf-8")) if token.type == "fence"]
        files = {token.info.split()[1]: token.content for token in fences if len(token.info.split()) > 1}
        consoles = "".join(token.content for token in fences if token.info == "console")
        found = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", consoles, re.MULTILINE)
        return cls(files, tuple(Command(line, shown) for line, shown in found))


def masked(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    for volatile, instead in VOLATILE:
        lines = volatile.sub(instead, lines)
    return lines


def is_shown(printed: str, shown: str) -> bool:
    """Whether a page shows what was printed, but for what is volatile or left out."""
    parts = re.split(rf"^{re.escape(ANYTHING)}$", masked(shown), flags=re.MULTILINE)
    return re.fullmatch(r"[\s\S]*".join(map(re.escape, parts)), masked(printed)) is not None


def run(folder: Path, line: str) -> str:
    """What a command prints in a terminal of 80 columns."""
    env = environment("icarus", {"COLUMNS": "80"})
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    return Project(folder).call(["sh", "-c", line], env).output


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_a_flow_works_as_it_stands(tmp_path: Path, name: str) -> None:
    page = Page.read(FLOWS / f"{name}.md")
    assert page.files
    assert page.commands
    if reason := missing("icarus"):
        pytest.skip(reason)
    if name == "cocotb-test":
        pytest.importorskip("cocotb_test")
    folder = tmp_path / "project"
    for path, text in page.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    for command in page.commands:
        printed = run(folder, command.line)
        assert is_shown(printed, command.shown), f"$ {command.line}\n{printed}"


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("seed 17: a\nin 3.2s", "seed 4: a\nin 12.75s", True),
        ("a\nb\nc\nd", "a\n...\nd", True),
        ("a\nb", "a\nc", False),
        ("expected 3 got 4", "expected 3 got 5", False),
        ("a\nb\nc", "b\n...", False),
    ],
)
def test_only_what_is_volatile_may_differ(printed: str, shown: str, same: bool) -> None:
    assert is_shown(printed, shown) is same
