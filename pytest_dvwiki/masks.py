"""Masking functions of a project or package, applied to the strings of a failure after the built-in masks.

They mask the failure's message, the source line of its frame, each line of its excerpts, and the environment variables
of its command, before any of these is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.redact import MASKED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.model import Command, Excerpt, Failure, Frame

HOOK = "pytest_dvwiki_redact"
Function = Callable[[str], object]
"""A function that returns a string masked, or None if there is nothing to mask."""


class Masks:
    """The masking functions of projects and packages, applied one after the other.

    If a function fails, the whole string is dropped, because it may contain secrets.

    Args:
        functions: Pairs: the name of the conftest.py or package, and its function.
        note: Called with a message for each function that fails; the message does not contain the string.
    """

    def __init__(self, functions: Iterable[tuple[str, Function]], note: Callable[[str], None]) -> None:
        self._functions = tuple(functions)
        self._note = note

    def __bool__(self) -> bool:
        return bool(self._functions)

    def text(self, text: str) -> str:
        """Return a string masked by all functions."""
        for owner, function in self._functions:
            if not text:
                break
            try:
                masked = function(text)
            except Exception as error:  # noqa: BLE001  # somebody else's function
                # The error's message may contain the secret.
                return self._nothing(owner, f"raised {type(error).__name__}")
            if masked is None:
                continue
            if not isinstance(masked, str):
                return self._nothing(owner, f"returned {type(masked).__name__} instead of str")
            text = masked
        return text

    def excerpt(self, excerpt: Excerpt) -> Excerpt:
        """Return an excerpt, masked line by line."""
        lines = ((number, self.text(line).replace("\n", " ")) for number, line in excerpt.lines)
        return replace(excerpt, lines=tuple(lines))

    def frame(self, frame: Frame | None) -> Frame | None:
        """Return a frame with its source line masked."""
        return None if frame is None else replace(frame, source=self.text(frame.source))

    def failure(self, failure: Failure) -> Failure:
        """Return a failure with all its strings masked, except the names of tests and files."""
        if not self:
            return failure
        return replace(
            failure,
            message=self.text(failure.message),
            frame=self.frame(failure.frame),
            excerpts=tuple(map(self.excerpt, failure.excerpts)),
            command=self.command(failure.command),
        )

    def command(self, command: Command | None) -> Command | None:
        """Return a command; each variable whose value the functions change gets the value `MASKED`."""
        if command is None:
            return None
        variables = {name: value if self.text(value) == value else MASKED for name, value in command.variables.items()}
        return replace(command, variables=variables)

    def _nothing(self, owner: str, why: str) -> str:
        self._note(f"{HOOK} of {owner} {why}: the affected strings were dropped")
        return f"[left out: {HOOK} {why}]"


NO_MASKS = Masks((), lambda _: None)
"""The masks of a project without masking functions."""
