"""Masks secrets in test names, and adapts the commands that rerun these tests.

Names are masked before they leave the process: in the journal, and at the start of the pipeline to records, pages,
terminal and prompts. Until then, pytest's names are used, because they identify reports. A name with its secrets masked
is called a name in stored form.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.redact import redact, redact_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.model import Command, Failure, Result, Run

UNREPRODUCIBLE = "the test cannot be selected without a secret in its name"
UNPRINTABLE = "the path or name of the test contains bytes that cannot be printed in a command"
_TOP_FOLDER = "."
"""Node id of a build that fails in the project's top folder; in any other folder, the node id is the folder's path."""
_MASKED = re.compile(r"\[redacted(?:-[0-9a-f]{8})?\]|…")
"""Matches the mask of a secret in a name or a command."""
_STORED = re.compile(r"\[redacted-[0-9a-f]{8}\]")
_CHOOSING = ("COCOTB_TEST_FILTER", "COCOTB_TESTCASE", "TESTCASE")
"""Variables that select a test inside a simulator."""


def shown(nodeid: str) -> str:
    """Return the name to show for a node id: the node id itself, or "the top folder" for a build that failed there."""
    return "the top folder" if nodeid == _TOP_FOLDER else nodeid


def stored_run(run: Run) -> Run:
    """Return a run with its test and file names in stored form."""
    return replace(
        run,
        failures=tuple(map(stored_failure, run.failures)),
        results=stored_results(run.results),
        sources=tuple(replace(source, path=redact(source.path)) for source in run.sources),
    )


def stored_results(results: Sequence[Result]) -> tuple[Result, ...]:
    """Return results with their test names in stored form."""
    return tuple(
        result if (nodeid := redact_id(result.nodeid)) == result.nodeid else replace(result, nodeid=nodeid)
        for result in results
    )


def stored_failure(failure: Failure) -> Failure:
    """Return a failure with its test name in stored form, and with a command without secrets.

    If no such command can select the test, or if the name contains bytes that are not UTF-8, the failure has no
    command, and `unreproducible` has the reason.
    """
    nodeid = redact_id(failure.nodeid)
    place = failure.nodeid + (failure.command.folder if failure.command is not None else "")
    if not place.isascii() and any("\udc80" <= character <= "\udcff" for character in place):
        return replace(failure, nodeid=nodeid, command=None, unreproducible=UNPRINTABLE)
    if nodeid == failure.nodeid and not _STORED.search(nodeid):
        return failure
    command = stored_command(failure.command, nodeid)
    is_lost = failure.command is not None and command is None
    return replace(
        failure, nodeid=nodeid, command=command, unreproducible=UNREPRODUCIBLE if is_lost else failure.unreproducible
    )


def stored_command(command: Command | None, nodeid: str) -> Command | None:
    """Return a command without secrets, or None if it could no longer select the test."""
    nodeid = redact_id(nodeid)
    return command if command is None or not _STORED.search(nodeid) else _without_secrets(command, nodeid)


def _without_secrets(command: Command, nodeid: str) -> Command | None:
    """Return the command without the test's parameters, or None if it would still contain a secret."""
    arguments: list[str] = []
    before = ""
    for word in command.arguments:
        chosen: str | None = word
        if "::" in word or before == "-k":
            chosen = _bare(word) if before != "-k" else _bare_names(word)
        elif word.startswith("--cocotb-pytest-args=") and redact(word) != word:
            chosen = None
        if chosen is None:
            return None
        arguments.append(redact(chosen))
        before = word
    variables = dict(command.variables)
    if _has_secret(nodeid.rpartition("::")[2]):
        for name in _CHOOSING:
            if name in variables:
                choice = _filter(nodeid.rpartition("::")[2]) if name == _CHOOSING[0] else None
                if choice is None:
                    return None
                variables[name] = choice
    return replace(command, arguments=tuple(arguments), variables=variables)


def _bare(nodeid: str) -> str | None:
    """Return a node id, without parameters if they contain a secret, or None if another part contains one."""
    if not _has_secret(nodeid):
        return nodeid
    masked = redact_id(nodeid)
    at, found = masked.find("["), _MASKED.search(masked)
    # The mask itself has brackets: if the first bracket is a mask's, the secret is in front of the parameters.
    return None if found is None or found.start() <= at or at < 0 else masked[:at]


def _bare_names(expression: str) -> str | None:
    """Return a `-k` expression without parameters that contain secrets, or None if another part contains one."""
    names = [_bare(name) for name in expression.split(" and ")]
    return None if None in names else " and ".join(name for name in names if name)


def _filter(test: str) -> str | None:
    """Return a cocotb filter for all variants of a test, or None if the test's own name contains a secret."""
    name = test.partition("/")[0]
    return None if _has_secret(name) else rf"\.{re.escape(name.rpartition('.')[2])}(?:/|$)"


def _has_secret(text: str) -> bool:
    return _MASKED.search(text) is not None or redact(text) != text
