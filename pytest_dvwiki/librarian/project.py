"""Finds names in text, and checks which of them occur in the project's source files or as wiki pages."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_dvwiki.settings import Layout

NAME = re.compile(r"[A-Za-z_][\w$]*(?:(?:::|[./:-])[\w$]+)+|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][A-Z0-9]{3,}")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_SOURCES = frozenset({".py", ".sv", ".svh", ".v", ".vh", ".vhd", ".vhdl"})
_MOST_FILES = 5000
_MOST_BYTES = 1 << 20


def names_in(text: str) -> set[str]:
    """Return what looks like names in a project: code spans, paths, and words such as `fifo_depth` or `AXI4`."""
    spans = set(_SPAN.findall(text))
    return spans | set(NAME.findall(_SPAN.sub(" ", text)))


def known(layout: Layout, names: Iterable[str]) -> set[str]:
    """Return the given names that occur in the project.

    A name is known if it is the path of a source file, a word in a source file, or the name of a bug or pattern page.
    """
    left = {name for name in names if len(name) > 1}
    pages = {path.stem for folder in ("bugs", "patterns") for path in (layout.wiki / folder).glob("*.md")}
    found = {name for name in left if name in pages}
    for path in _sources(layout.root):
        left -= found
        if not left:
            break
        place = path.relative_to(layout.root).as_posix()
        found |= {name for name in left if f"/{place}".endswith(f"/{name.partition(':')[0]}")}
        words = {name: re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])") for name in left - found}
        text = reading.text_or_empty(path, _MOST_BYTES) if words else ""
        found |= {name for name, word in words.items() if name in text and word.search(text)}
    return found


def _sources(root: Path) -> Iterator[Path]:
    """Yield up to `_MOST_FILES` source files of a project; hidden folders and virtual environments are skipped."""
    count = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not (Path(folder, name) / "pyvenv.cfg").exists()
        )
        for name in sorted(files):
            if os.path.splitext(name)[1].lower() in _SOURCES:  # noqa: PTH122  # thousands of files
                count += 1
                if count > _MOST_FILES:
                    return
                yield Path(folder, name)
