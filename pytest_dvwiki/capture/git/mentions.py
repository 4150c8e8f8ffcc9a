"""Finds the files whose names other files mention, such as the module that HDL instantiates."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.git.command import Git, texts
from pytest_dvwiki.records.sides import HDL, MAKEFILE

if TYPE_CHECKING:
    from collections.abc import Collection

_MOST = 1000
"""Maximum number of names in a search."""
_SUFFIX = r"\.(?:s?vh?|vhdl?)\b"
_IN_PYTHON = rf"(?<!\w)(NAMES)(?={_SUFFIX}|[\"'/]|(?<=\.py)\b)"
"""Matches a name in a Python string: perhaps a module or file passed to a simulator. The names replace `NAMES`."""
_IN_HDL = rf"""
    (?: (?<=\w\.) | (?<=["'/=])  # work.fifo
      | (?<![\w$.]) (?= (?:NAMES) (?: \s*(?:\#|$) | \s+[\w\\] | :: | {_SUFFIX} | (?<=\.py)\b ) )  # fifo #(8) u_fifo (
    ) (NAMES)\b"""
"""Matches a name where HDL or a Makefile refers to a module or file, but not a signal of that name."""
_IN_MAKEFILE = rf"(?:{_IN_HDL})(?!{_SUFFIX})"
"""Matches like `_IN_HDL`, except for paths of sources: a Makefile may list sources that this build did not read."""
_CHOSEN = re.compile(r"TOPLEVEL\s*[:?]?=\s*\S+|^\s*(?:(?:export\s+)?\w+\s*[:?+]{0,3}=)?[\w\s]*\\?\s*(?:\#.*)?$")
"""Matches a line of a Makefile that sets the top, or that only lists names, such as a design's sources.

These lines are ignored, because the simulated top and its sources are known to be read.
"""
_FLAGS = re.IGNORECASE | re.VERBOSE | re.MULTILINE
_VHDL = re.compile(r"\.vhdl?$", re.IGNORECASE)
_LINE_COMMENT = re.compile(r"(?://|--\s).*")
"""Matches a comment in a file that is neither HDL nor Python: a list of files has the paths `rtl/*.v`."""
_IN_VERILOG = re.compile(r'(//[^\n]*|/\*.*?\*/)|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_IN_VHDL = re.compile(r"""(--[^\n]*|/\*.*?\*/)|"[^"\n]*"|'"'""", re.DOTALL)
"""Match a comment as their group, or a string, which may contain what looks like the start of a comment."""


def mentioned(git: Git, names: Collection[str], reads: Collection[str], failed: str) -> set[str]:
    """Return the files that are mentioned in the files that were read, such as a script in a Makefile.

    A Python file that mentions HDL that was read may be a runner of several designs. Other HDL that it mentions then
    belongs to other builds, and is not returned.

    Args:
        git: Answers queries about the repository.
        names: The files.
        reads: All files that were read.
        failed: The commit to search.
    """
    known = {_called(name).lower() for name in reads}
    # A file with the same name as a file that was read is left out: a mention means the file that was read.
    wanted = {name: _called(name) for name in names if _called(name).lower() not in known}
    words = {*wanted.values()}
    if len(words) > _MOST:
        return {*names}
    if not words:
        return set()
    chosen = {_called(name).lower() for name in reads if HDL.search(name)}
    said, in_verilog = set[str](), set[str]()
    for file, these in _by_file(git, {*words, *chosen}, reads, failed).items():
        found = {*map(str.lower, these)}
        if HDL.search(file) and not _VHDL.search(file):
            in_verilog |= these
        elif file.endswith(".py") and not found.isdisjoint(chosen):
            said |= {word for word in found if word.endswith(".py")}
        else:
            said |= found
    found = {name for name, word in wanted.items() if word.lower() in said}
    return found | _named_in_verilog(git, {name: wanted[name] for name in wanted.keys() - found}, in_verilog, failed)


def _by_file(git: Git, words: Collection[str], reads: Collection[str], failed: str) -> dict[str, set[str]]:
    """Map each file that was read to those of the words that it mentions, spelled as there."""
    paths = (f":(top,literal){name}" for name in reads)
    wanted = (part for word in words for part in ("-e", word))
    lines = git.ask("grep", "-izwF", "--full-name", "--no-color", *wanted, failed, "--", *paths) or ""
    joined = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    forms = (re.compile(form.replace("NAMES", joined), _FLAGS) for form in (_IN_PYTHON, _IN_HDL, _IN_MAKEFILE))
    in_python, in_hdl, in_makefile = forms
    found: dict[str, set[str]] = {}
    for place, _, line in (each.partition("\0") for each in lines.split("\n")):
        file = place.partition(":")[2]
        if file.endswith(".py"):
            these = in_python.findall(line)
        elif MAKEFILE.search(file):
            these = in_makefile.findall(_CHOSEN.sub("", line))
        else:
            these = in_hdl.findall(line if HDL.search(file) else _LINE_COMMENT.sub("", line))
        if these:
            found.setdefault(file, set()).update(these)
    hdl = sorted(filter(HDL.search, found))
    code = _without_comments(texts(git, failed, hdl)) if hdl else {}
    return found | {file: {*in_hdl.findall(text)} for file, text in code.items()}


def _named_in_verilog(git: Git, wanted: dict[str, str], said: Collection[str], failed: str) -> set[str]:
    """Return the files that Verilog mentions by names in this spelling.

    Names in VHDL have no case, and the name of a file may differ in case from that of its module: `module FIFO` in
    `fifo.v`. A file of Verilog that exists is not meant by a spelling that its code does not contain.

    Args:
        git: Answers queries about the repository.
        wanted: Maps the files to their names in other files.
        said: The names that Verilog mentions.
        failed: The commit to search.
    """
    spelled: dict[str, set[str]] = {}
    for word in said:
        spelled.setdefault(word.lower(), set()).add(word)
    found = {name: spelled[word.lower()] for name, word in wanted.items() if word.lower() in spelled}
    has_case = [
        name for name in found if HDL.search(name) and not _VHDL.search(name) and wanted[name] not in found[name]
    ]
    code = _without_comments(texts(git, failed, has_case)) if has_case else {}
    return found.keys() - {
        name for name, text in code.items() if found[name].isdisjoint(re.findall(r"[\w$]+", text, re.ASCII))
    }


def _without_comments(code: dict[str, str]) -> dict[str, str]:
    """Return texts of HDL without their comments. A block comment that is not closed stays."""
    return {
        name: (_IN_VHDL if _VHDL.search(name) else _IN_VERILOG).sub(lambda part: " " if part[1] else part[0], text)
        for name, text in code.items()
    }


def _called(name: str) -> str:
    """Return the name by which other files refer to a file: with the suffix for a Python file, otherwise without."""
    path = PurePosixPath(name)
    return path.name if name.endswith(".py") else path.stem
