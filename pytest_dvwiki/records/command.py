"""Format the command that reruns a failing test, for the user's folder or for any folder of the repository."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.redact import MASKED

if TYPE_CHECKING:
    from pytest_dvwiki.model import Command

_SEEDS = ("COCOTB_RANDOM_SEED", "RANDOM_SEED")
_CHOOSE = ("COCOTB_TEST_FILTER", "COCOTB_TESTCASE", "TESTCASE")
"""Variables that select a test within a simulation."""
_PLACE = "$PWD"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[\w@%+=:,./-]+")
_NEEDS_NO_ESCAPE = re.compile(r'[^"$`\\!\n]+')
"""Strings that need no escape between double quotes."""
_TOP = '"$(git rev-parse --show-toplevel)"'


def workspace(root: Path) -> tuple[Path, bool]:
    """Return the folder to which recorded commands are relative.

    Args:
        root: The workspace root.

    Returns:
        The top of the git repository and True; without a repository, the workspace root and False.
    """
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
    return (root, False) if top is None else (top, True)


def seed_of(command: Command) -> str | None:
    """Return the seed that a command sets; None if it sets none."""
    return next((command.variables[name] for name in _SEEDS if name in command.variables), None)


def chooses_by(command: Command) -> str | None:
    """Return the variable with which a command selects one test of a simulation; None if it runs all tests."""
    return next((name for name in _CHOOSE if name in command.variables), None)


def with_seed(command: Command | None, seed: str | None) -> Command | None:
    """Return a command with another seed; None if the command sets no seed."""
    if command is None or seed is None or seed_of(command) is None:
        return None
    variables = {name: seed if name in _SEEDS else value for name, value in command.variables.items()}
    return replace(command, variables=variables)


def words(command: Command) -> list[str]:
    """Return the arguments of a command, quoted for a shell in the command's folder."""
    # A record from elsewhere may have an invalid variable name. Quoted, the assignment is a word that runs nothing.
    variables = (
        f"{name}={_quoted(value)}" if _NAME.fullmatch(name) else shlex.quote(f"{name}={value}")
        for name, value in command.variables.items()
    )
    return [*variables, *map(_quoted, command.arguments)]


def from_here(command: Command, *, root: Path, here: Path) -> list[str]:
    """Return the arguments of a command, quoted for a shell in the user's folder.

    Args:
        command: The command to run.
        root: The workspace root.
        here: The user's current folder.
    """
    root = Path(os.path.realpath(root))
    top = workspace(root)[0] if command.in_repository else root
    folder = Path(os.path.relpath(top / command.folder, os.path.realpath(here))).as_posix()
    found = words(command)
    return found if folder == "." else ["(cd", _quoted(folder), "&&", *found[:-1], f"{found[-1]})"]


def from_anywhere(command: Command, separator: str = " && ") -> str:
    """Return a command line that works from any folder of the repository.

    Without a repository the command must be run in the workspace root; `start` returns a note for the user.

    Args:
        command: The command.
        separator: String between `cd` and the command.
    """
    inside = "" if command.folder == "." else command.folder
    line = " ".join(words(command))
    if command.in_repository:
        return f"cd {_TOP}{f'/{_quoted(inside)}' if inside else ''}{separator}{line}"
    return f"cd {_quoted(inside)}{separator}{line}" if inside else line


def start(command: Command) -> str:
    """Return a note on where to run a command; empty if the command itself changes to its folder."""
    return "" if command.in_repository else "from the workspace root (the folder that contains `.agent`)"


def masked_note(command: Command) -> str:
    """Return a note on masked values that the user must fill in first; empty if there are none."""
    names = [name for name, value in command.variables.items() if MASKED in value]
    if any(MASKED in word for word in command.arguments):
        names.append("the options")
    return f"masked values are shown as {MASKED}: fill in {', '.join(names)} before you run it" if names else ""


def _quoted(text: str) -> str:
    """Quote an argument for a shell, but let the shell expand `$PWD` in it."""
    if _PLAIN.fullmatch(text) or text == MASKED:
        return text
    if "[" not in text and _PLACE in text:
        rest = text.replace(_PLACE, "")
        if not rest or _PLAIN.fullmatch(rest):
            return f'"{text}"'
    if "'" in text and _NEEDS_NO_ESCAPE.fullmatch(text):
        return f'"{text}"'
    return "".join(f'"{_PLACE}"' if part == _PLACE else shlex.quote(part) for part in _parts(text)) or "''"


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"(\$PWD)", text) if part]
