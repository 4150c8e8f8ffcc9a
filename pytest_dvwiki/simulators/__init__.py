"""All knowledge about HDL tools: one module per tool; every module in this folder is loaded.

The fields `programs` and `banners` are enough to recognise a tool by its processes and in cocotb's logs. `head`,
`error` and `multiline` are for tools with a message format of their own. `report` splits a message into its parts, so
that fingerprints do not depend on the line number. `run_error` finds errors in tests that pass. CONTRIBUTING.md has the
steps to add a tool.
"""

from __future__ import annotations

import functools
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pytest_dvwiki.simulators.tool import Program, Tool


@functools.cache
def tools() -> tuple[Tool, ...]:
    """Return all tools, sorted by name; tools whose messages have the common form `file:line: text` come last."""
    files = Path(__file__).parent.glob("[a-z]*.py")
    modules = (importlib.import_module(f"{__name__}.{file.stem}") for file in files)
    found: Iterable[Tool | None] = (getattr(module, "TOOL", None) for module in modules)
    return tuple(sorted(filter(None, found), key=lambda tool: (tool.begins_with_file, tool.name)))


@functools.cache
def owners() -> Mapping[str, str]:
    """Map each program, including generated executables, to the short name of its tool."""
    return {program: tool.name for tool in tools() for program in (*tool.programs, *tool.binaries)}


@functools.cache
def binaries() -> tuple[str, ...]:
    """Return the names of the executables that tools generate."""
    return tuple(binary for tool in tools() for binary in tool.binaries)


@functools.cache
def programs() -> Mapping[str, Program]:
    """Map the name of each program with a known command line to the syntax of that command line."""
    return {name: program for tool in tools() for name, program in tool.programs.items() if program is not None}


def name_in_banner(text: str) -> str | None:
    """Return the short name of the tool whose product name is in a string; None if it contains no product name."""
    lowered = text.lower()
    return next((tool.name for tool in tools() if any(banner in lowered for banner in tool.banners)), None)


def either(expression_of: Callable[[Tool], str], *more: str) -> str:
    """Return one expression with the expressions of all tools and `more` as alternatives."""
    return f"(?:{'|'.join(filter(None, (*more, *map(expression_of, tools())))) or '(?!)'})"


def expression(
    expression_of: Callable[[Tool], str], *more: str, form: str = "{}", flags: int = 0
) -> Callable[[], re.Pattern[str]]:
    """Return a function that returns the expression of `either`, put into `form` and compiled at the first call."""
    return functools.cache(lambda: re.compile(form.format(either(expression_of, *more)), flags))
