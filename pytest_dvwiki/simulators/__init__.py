"""All that the project knows about HDL tools: one module for each, found by its place in this folder.

To add a tool:

1. Write `NAME.py` here with a `TOOL = Tool(...)`. `programs` and `banners` are enough to know it by its processes and
   in cocotb's logs; `head`, `error` and `multiline` are for messages in a form of their own; `report` takes a message
   apart, so that fingerprints leave out its line; `run_error` counts errors of tests that pass.
2. Write `patterns/builtin/NAME.yaml` with what its messages mean, and `NAME_codes.yaml` where they have codes: codes go
   before all words.
3. Call `python docs/generate.py` and `dvwiki patterns test`, and keep real messages with the commands that made them
   beside the tests, as `tests/unit/simulators/messages` does.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pytest_dvwiki.simulators.tool import Program, Tool


@functools.cache
def tools() -> tuple[Tool, ...]:
    """Return all tools: by name, those last whose messages bear no mark of the tool."""
    files = Path(__file__).parent.glob("[a-z]*.py")
    modules = (importlib.import_module(f"{__name__}.{file.stem}") for file in files)
    found: Iterable[Tool | None] = (getattr(module, "TOOL", None) for module in modules)
    return tuple(sorted(filter(None, found), key=lambda tool: (tool.begins_with_file, tool.name)))


@functools.cache
def owners() -> Mapping[str, str]:
    """Return for each program, also those that tools make, the short name of its tool."""
    return {program: tool.name for tool in tools() for program in (*tool.programs, *tool.binaries)}


@functools.cache
def binaries() -> tuple[str, ...]:
    """Return the names of the programs that tools make."""
    return tuple(binary for tool in tools() for binary in tool.binaries)


@functools.cache
def programs() -> Mapping[str, Program]:
    """Return the programs whose command lines are read."""
    return {name: program for tool in tools() for name, program in tool.programs.items() if program is not None}


def name_in_banner(text: str) -> str | None:
    """Return the short name of the tool that a product name belongs to."""
    lowered = text.lower()
    return next((tool.name for tool in tools() if any(banner in lowered for banner in tool.banners)), None)


def either(of: Callable[[Tool], str], *more: str) -> str:
    """Return one expression that fits what the expression of any tool, or one of `more`, fits.

    Args:
        of: Gives the expression of a tool, empty where it has none.
        more: Expressions of no tool.
    """
    return f"(?:{'|'.join(filter(None, (*more, *map(of, tools())))) or '(?!)'})"
