"""Reads the pages of the flows and the tutorial as projects: files, commands, and the output that they show.

python -m tests.sim.pages    writes what the commands print now, where a page shows something else
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from .harness import Project, environment, missing

FLOWS = Path(__file__).parents[2] / "docs" / "flows"
TUTORIAL = FLOWS.parent / "tutorial.md"
ANYTHING = "..."
"""A line of a page that replaces any lines."""
VOLATILE = (
    (re.compile(r"\b(?:RTL|TB|UNK)_\d{8}_"), "<page>_"),
    (re.compile(r"\b(\w+)_\d{8}T\d{6}Z_[0-9a-f]{6}\b"), r"\1_<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "<date>"),
    (re.compile(r"(RANDOM_SEED=|seeds? )\d+"), r"\1<seed>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?s\b"), "<seconds>"),
    (re.compile(r"\S*/(?=\w+\.py\(\d+\))"), ""),  # cocotb truncates the paths of pyuvm's lines
    (re.compile(r"={3,}|-{3,}"), "==="),
    (re.compile(r"\bby {5}[0-9a-f]{7,12} "), "by     <commit> "),
)
"""Texts that differ from run to run, with their replacements for the comparison."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a page, with the output that the page shows."""

    line: str
    shown: str


@dataclass(frozen=True, slots=True)
class Page:
    """The files and commands of a page, in the order of the page."""

    files: dict[str, str]
    commands: tuple[Command, ...]

    @classmethod
    def read(cls, path: Path) -> Page:
        """Read a page: a fence's second word names a file; `console` fences have commands after `$`, with output."""
        fences = [token for token in MarkdownIt().parse(path.read_text(encoding="utf-8")) if token.type == "fence"]
        files = {token.info.split()[1]: token.content for token in fences if len(token.info.split()) > 1}
        consoles = "".join(token.content for token in fences if token.info == "console")
        found = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", consoles, re.MULTILINE)
        return cls(files, tuple(Command(line, shown) for line, shown in found))

    @property
    def missing(self) -> str | None:
        """Return why the page cannot be run here; None if it can."""
        words = "\n".join([*self.files.values(), *(command.line for command in self.commands)])
        return missing("icarus") if "icarus" in words else None

    def write(self, folder: Path) -> None:
        """Write the files of the page into a folder."""
        for path, text in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")


def run(folder: Path, line: str) -> str:
    """Return the output of a command in a terminal of 80 columns."""
    env = environment("icarus", {"COLUMNS": "80"})
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    return Project(folder).call(["sh", "-c", line], env).output


def masked(text: str) -> str:
    """Return a text with its volatile parts replaced."""
    lines = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    for volatile, instead in VOLATILE:
        lines = volatile.sub(instead, lines)
    return lines


def is_shown(printed: str, shown: str) -> bool:
    """Return whether a page shows this output, except for volatile and omitted parts."""
    parts = re.split(rf"^{re.escape(ANYTHING)}$", masked(shown), flags=re.MULTILINE)
    return re.fullmatch(r"[\s\S]*".join(map(re.escape, parts)), masked(printed)) is not None


def shorten(printed: str, shown: str) -> str:
    """Return the part of an output to show; if the page omits the first lines, it starts at the same line again."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    before = shown.splitlines()
    if before[:1] == [ANYTHING]:
        place = next((n for n, line in enumerate(lines) if masked(line) == masked(before[1])), 0)
        lines = [ANYTHING, *lines[place:]]
    return "".join(f"{line}\n" for line in lines)


def refresh(path: Path, folder: Path) -> None:
    """Run a page in a folder, and update the page where its output has changed."""
    page = Page.read(path)
    if page.missing:
        sys.stderr.write(f"{path.name}: left as it is, {page.missing}\n")
        return
    page.write(folder)
    done, text = "", path.read_text(encoding="utf-8")
    for command in page.commands:
        printed = run(folder, command.line)
        shown = command.shown if is_shown(printed, command.shown) else shorten(printed, command.shown)
        head, _, text = text.partition(f"$ {command.line}\n{command.shown}")
        done += f"{head}$ {command.line}\n{shown}"
    path.write_text(done + text, encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="dvwiki-pages-") as scratch:
        for each in (*sorted(FLOWS.glob("*.md")), TUTORIAL):
            refresh(each, Path(scratch) / each.stem / "project")
