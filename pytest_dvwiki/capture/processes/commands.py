"""Splits a command line into the commands that it runs, also through a shell, `env`, `timeout` and the like.

Tests often start `sh -c "cd fifo && make > sim.log"` or `timeout 600 make`. What matters is the folder, the variables
and the log of the inner make.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
_WRAPPERS = {
    "env": ("uC", 0),
    "ionice": ("cn", 0),
    "nice": ("n", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "stdbuf": ("ioe", 0),
    "time": ("fo", 0),
    "timeout": ("ks", 1),
}
"""Maps a wrapper program to its options that take a value, and to the number of its own arguments."""
_KEYWORDS = frozenset({"!", "{", "}", "command", "do", "done", "else", "exec", "fi", "if", "then", "until", "while"})
_UTILITIES = frozenset(
    {
        ".", ":", "[", "cat", "chmod", "cp", "date", "echo", "exit", "false", "find", "grep", "ln", "ls", "mkdir",
        "mv", "printf", "pwd", "rm", "sed", "set", "sleep", "source", "tail", "tee", "test", "touch", "trap", "true",
        "ulimit", "unset", "wait",
    }
)  # fmt: skip
"""Auxiliary programs in scripts, which are ignored."""
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_PUNCTUATION = frozenset("();<>|&")
_LIMIT = 32
"""Maximum number of commands taken from one script."""


class SimpleCommand(Struct, frozen=True, kw_only=True):
    """One command that a command line runs."""

    words: tuple[str, ...]
    folder: str
    variables: dict[str, str] = field(default_factory=dict)
    """Variables that the command line assigns for this command."""
    outputs: tuple[str, ...] = ()
    """Files that receive the command's output."""


def commands(words: Sequence[str], folder: str) -> list[SimpleCommand]:
    """Return the commands that a command line runs, in order; the line itself if it runs no other command.

    `folder` is the working directory of the command line, as an absolute path.
    """
    given = SimpleCommand(words=tuple(words), folder=folder)
    return list(_unwrapped(given))[:_LIMIT] or [given]


def _unwrapped(command: SimpleCommand) -> Iterator[SimpleCommand]:
    program = os.path.basename(command.words[0]) if command.words else ""  # noqa: PTH119  # may be no path at all
    if program in _WRAPPERS:
        inner = _wrapped(command, *_WRAPPERS[program])
        if inner is not None:
            yield from _unwrapped(inner)
            return
    script = _script(command.words) if program in _SHELLS else None
    if script is None:
        yield command
        return
    for part in _Script(script, command).parts():
        yield from _unwrapped(part)


def _wrapped(command: SimpleCommand, with_word: str, own_words: int) -> SimpleCommand | None:
    """Return the command that a wrapper program runs; None if it runs none.

    `with_word` has the letters of the wrapper's options that take a value, and `own_words` is the number of its own
    arguments.
    """
    variables, folder = dict(command.variables), command.folder
    words = list(command.words[1:])
    while words:
        word = words[0]
        if found := _ASSIGNMENT.fullmatch(word):
            variables[found[1]] = found[2]
        elif word.startswith("-"):
            takes_next = len(word) == len("-n") and word[1] in with_word
            if takes_next and len(words) > 1:
                folder = os.path.join(folder, words[1]) if word == "-C" else folder  # noqa: PTH118  # joined as text
                words.pop(0)
        elif own_words:
            own_words -= 1
        else:
            return SimpleCommand(words=tuple(words), folder=folder, variables=variables, outputs=command.outputs)
        words.pop(0)
    return None


def _script(words: Sequence[str]) -> str | None:
    """Return SCRIPT of a command line `sh -c SCRIPT`; None for any other command line."""
    for number, word in enumerate(words[1:-1], start=1):
        if not word.startswith("-"):
            return None
        if not word.startswith("--") and "c" in word:
            return words[number + 1]
    return None


class _Script:
    """Finds the commands, folders, assignments and redirections of a shell script; nothing is expanded."""

    def __init__(self, script: str, outer: SimpleCommand) -> None:
        self._script = script
        self._folders = [outer.folder]
        self._exported = dict(outer.variables)
        self._given = outer.outputs
        self._words: list[str] = []
        self._outputs: list[str] = []

    def parts(self) -> Iterator[SimpleCommand]:
        """Yield the commands, without utilities such as `mkdir`; none if the script cannot be parsed."""
        tokens = self._tokens()
        for token in tokens:
            if not _PUNCTUATION.issuperset(token):
                self._words.append(token)
            elif "<" in token or ">" in token:
                self._redirect(token, next(tokens, ""))
            else:
                yield from self._end()
                self._nest(token)
        yield from self._end()

    def _tokens(self) -> Iterator[str]:
        # A line end also ends a command.
        text = self._script.replace("\\\n", " ").replace("\n", " ; ")
        lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        lexer.commenters = ""
        try:
            return iter(list(lexer))
        except ValueError:
            return iter(())

    def _redirect(self, token: str, target: str) -> None:
        if self._words and self._words[-1].isdigit():
            self._words.pop()  # the descriptor before the operator
        to_descriptor = token.endswith(">&") and (target.isdigit() or target == "-")
        if ">" in token and not to_descriptor:
            self._outputs.append(os.path.join(self._folders[-1], target))  # noqa: PTH118  # joined as text

    def _nest(self, token: str) -> None:
        for char in token:
            if char == "(":
                self._folders.append(self._folders[-1])
            elif char == ")" and len(self._folders) > 1:
                self._folders.pop()

    def _end(self) -> Iterator[SimpleCommand]:
        """Finish a command: note what `cd`, `export` or an assignment changes, and yield any other command."""
        words, outputs = self._words, (*self._outputs, *self._given)
        self._words, self._outputs = [], []
        while words and words[0] in _KEYWORDS:
            words.pop(0)
        variables = dict(self._exported)
        while words and (found := _ASSIGNMENT.fullmatch(words[0])):
            variables[found[1]] = found[2]
            words.pop(0)
        if not words:
            self._exported = variables
        elif words[0] == "cd":
            self._folders[-1] = os.path.join(self._folders[-1], *words[1:2])  # noqa: PTH118  # joined as text
        elif words[0] == "export":
            self._exported |= {found[1]: found[2] for word in words[1:] if (found := _ASSIGNMENT.fullmatch(word))}
        elif os.path.basename(words[0]) not in _UTILITIES:  # noqa: PTH119  # may be no path at all
            yield SimpleCommand(words=tuple(words), folder=self._folders[-1], variables=variables, outputs=outputs)
