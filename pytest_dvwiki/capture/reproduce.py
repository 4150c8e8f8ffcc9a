"""Writes the command that runs one failing test again, with its seed."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def native_command(nodeid: str | None, *, runner: str, seed: object, options: Sequence[str]) -> str:
    """The command for a test of cocotb's own pytest plugin.

    Args:
        nodeid: The test; all of the runner's where None.
        runner: Node id of the item that runs its simulator.
        seed: The runner's seed; None where unknown.
        options: Words of the command line without which the plugin would not be there.
    """
    # A node id would select the runner and none of its tests: in the simulator the same words name other items.
    keywords = " and ".join(name.rpartition("::")[2] for name in (runner, nodeid) if name is not None)
    command = shlex.join(["pytest", *options, runner.partition("::")[0], "-k", keywords])
    return command if seed is None else f"COCOTB_RANDOM_SEED={shlex.quote(str(seed))} {command}"


def _filter(test: str, module: str | None) -> str:
    """The expression that cocotb searches for in `module.test`."""
    name = re.escape(test)
    return f"^{re.escape(module)}\\.{name}$" if module else f"\\.{name}$"


def _quoted(text: str) -> str:
    """Quoted even where a shell would not ask for it: brackets in the next node id would."""
    return "'" + text.replace("'", "'\"'\"'") + "'"
