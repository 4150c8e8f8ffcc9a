"""Writes the command that runs one failing test again, with its seed."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_MOST_EXCLUDED = 20

STRICT = "--dvwiki --dvwiki-strict-logs"
"""Without these a test that failed only by the error lines of its log passes."""


def reproduce_command(
    nodeid: str,
    *,
    test: str | None = None,
    module: str | None = None,
    seed: str | None = None,
    cocotb: str | None = None,
) -> str:
    """The command, to be pasted into a shell in pytest's root folder.

    Args:
        nodeid: The pytest item to run.
        test: Name of the cocotb test inside it; all of them where None.
        module: Module of the test, where another module of the item may have a test of that name.
        seed: The random seed.
        cocotb: Version of cocotb; 1.x knows other variables.
    """
    old = cocotb is not None and cocotb.startswith("1.")
    words: list[str] = []
    if seed:
        words.append(f"{'RANDOM_SEED' if old else 'COCOTB_RANDOM_SEED'}={shlex.quote(seed)}")
    if test:
        value = test if old else _filter(test, module)
        words.append(f"{'TESTCASE' if old else 'COCOTB_TEST_FILTER'}={_quoted(value)}")
    return " ".join([*words, "pytest", _quoted(nodeid)])


def native_command(
    nodeid: str | None, *, runner: str, seed: object, options: Sequence[str], others: Collection[str] = ()
) -> str:
    """The command for a test of cocotb's own pytest plugin.

    Args:
        nodeid: The test; all of the runner's where None.
        runner: Node id of the item that runs its simulator.
        seed: The runner's seed; None where unknown.
        options: Words of the command line without which the plugin would not be there.
        others: Names of the session's other runners and tests, from which this one is to be told apart.
    """
    # A node id would select the runner and none of its tests: in the simulator the same words name other items.
    names = [name.rpartition("::")[2] for name in (runner, nodeid) if name is not None]
    if any(_contains(other, name) for name in names for other in others):
        command = _exact_command(nodeid, runner, options, others)
    else:
        command = shlex.join(["pytest", *options, runner.partition("::")[0], "-k", " and ".join(names)])
    return command if seed is None else f"COCOTB_RANDOM_SEED={shlex.quote(str(seed))} {command}"


def _exact_command(nodeid: str | None, runner: str, options: Sequence[str], others: Collection[str]) -> str:
    """A command for names that are parts of others: `-k` takes any part, so the others are named as well.

    The runner goes by its node id; the pytest in the simulator has arguments of its own, since excluding a test there
    would exclude its runner here.
    """
    words = ["pytest", *options, runner]
    if nodeid is not None:
        name = nodeid.rpartition("::")[2]
        # A runner's name is a keyword of all its tests.
        excluded = sorted(other for other in others if _contains(other, name) and not _contains(f"{runner} ", other))
        chosen = " and ".join([name, *(f"not {other}" for other in excluded[:_MOST_EXCLUDED])])
        words.append(f"--cocotb-pytest-args={shlex.join([*options, '-k', chosen])}")
    return shlex.join(words)


def _contains(text: str, part: str) -> bool:
    """Whether a part chooses a text for pytest's `-k`, and is not all of it."""
    return part.lower() in text.lower() and part != text


def _filter(test: str, module: str | None) -> str:
    """The expression that cocotb searches for in `module.test`."""
    name = re.escape(test)
    return f"^{re.escape(module)}\\.{name}$" if module else f"\\.{name}$"


def _quoted(text: str) -> str:
    """Quoted even where a shell would not ask for it: brackets in the next node id would."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def options_of_cocotb(arguments: Sequence[str]) -> tuple[str, ...]:
    """Of a command line the words without which cocotb's own plugin would not be there, or not the same."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        plugin = next(words, "") if word == "-p" else word.removeprefix("-p") if word.startswith("-p") else None
        if plugin is not None:
            kept += [] if plugin.startswith("no:") else ["-p", plugin]
        elif word.startswith("--cocotb-") and not word.startswith("--cocotb-seed"):
            kept.append(word)
    return tuple(kept)
