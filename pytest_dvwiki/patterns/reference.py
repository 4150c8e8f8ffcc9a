"""The built-in patterns as Markdown pages, printed in full so that people can search for a message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.patterns.registry import (
    BUILTIN_FOLDER,
    REPLACEMENT,
    builtin_files,
    load_registry,
    load_subtypes,
    precedence,
)
from pytest_dvwiki.patterns.schema import CLASSES, UNKNOWN, Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TITLES = {
    "dvwiki": "Messages of the capture itself",
    "benign": "Messages that are not failures",
    "reports": "Testbench reports in commercial simulators",
    "environment": "Environment: licences, memory, disk, signals, job schedulers",
    "localised": "Messages in languages other than English: shell, make, gcc, operating system, checks",
    "other_tools": "CIRCT, Clash, EBMC, Renode, dvsim, placement and routing",
    "uvm": "SystemVerilog UVM",
    "pyuvm": "pyuvm",
    "cocotb": "cocotb and its extensions",
    "fusesoc": "FuseSoC and Edalize",
    "vhdl_libraries": "VHDL verification libraries: UVVM, OSVVM, VUnit",
    "scala": "Chisel and SpinalHDL, DiffTest and RISC-V emulators",
    "pytest": "pytest",
    "python": "Python",
    "hdl": "Any HDL tool",
    "fallback": "Errors in a tool's own words",
    "generic": "Any tool",
}
_INTRODUCTION = """\
The {count} built-in patterns that classify failures: a page for each tool, sorted by failure subtype. To search for a
message, run `dvwiki patterns list WORD`, which includes the project's own patterns. `dvwiki patterns why LOG` shows
which patterns match the lines of a log, and why one of them was chosen.

A project's own patterns are in `.agent/patterns/*.yaml`, in the same format as the built-in ones
(`dvwiki patterns list --format json WORD` shows all fields). `dvwiki patterns test` checks them against all other
patterns and against the project's sample logs: a log in `.agent/patterns/samples/PATTERN/` must be classified by that
pattern, and a log in `.agent/patterns/samples/passes/` must not contain a failure. `dvwiki patterns propose` prints
patterns for recorded failures that no pattern matches.

A project's pattern may introduce its own `failure_subtype`, in one of the known classes ({classes}). The page of the
subtype starts with the description and the fix of its first pattern. A subtype that is very similar to a built-in one
is reported as a mistake.
"""
_MADE = "<!-- made by `make docs`; edit pytest_dvwiki/patterns/builtin/{name}.yaml instead -->"
_TIERS = {
    "cause": "a cause",
    "symptom": "a symptom: used only if no message gives a cause",
    "rollup": "a summary of other messages: never the first cause if there is another",
    "benign": "no failure",
}


def reference() -> dict[str, str]:
    """Return the pages by path: an overview, and for each tool a page of its patterns by subtype."""
    registry = load_registry()
    groups = {
        name: _by_subtype(p for p in registry if registry.source(p.id) == _file(name)) for name in builtin_files()
    }
    pages = {f"patterns/{name}.md": _page(name, subtypes) for name, subtypes in groups.items()}
    pages["patterns.md"] = _list(len(registry), groups)
    return {path: _text(lines) for path, lines in pages.items()}


def _file(name: str) -> str:
    return f"{BUILTIN_FOLDER}{name}.yaml"


def _title(name: str) -> str:
    tool = builtin_files()[name]
    if tool is None:
        return _TITLES[name]
    return tool.title if tool.name == name else f"{tool.title} by message code"


def _by_subtype(patterns: Iterator[Pattern]) -> dict[str, list[Pattern]]:
    groups: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        groups.setdefault(pattern.failure_subtype, []).append(pattern)
    return dict(sorted(groups.items(), key=lambda group: (group[0] == UNKNOWN, group[0])))


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _list(count: int, groups: dict[str, dict[str, list[Pattern]]]) -> Iterator[str]:
    yield "# Built-in patterns"
    yield ""
    yield _MADE.format(name="*")
    yield ""
    yield _INTRODUCTION.format(count=count, classes=", ".join(map(_code, CLASSES)))
    yield "If several patterns match a message, the first one in this order is used:"
    yield ""
    yield from (f"{number}. {_escaped(rule)}" for number, rule in enumerate(precedence(), start=1))
    yield ""
    yield f"{REPLACEMENT}"
    yield ""
    yield "| patterns for | number | file |"
    yield "| --- | --- | --- |"
    for name, subtypes in groups.items():
        yield f"| [{_title(name)}](patterns/{name}.md) | {sum(map(len, subtypes.values()))} | {_code(f'{name}.yaml')} |"


def _page(name: str, subtypes: dict[str, list[Pattern]]) -> Iterator[str]:
    lessons = load_subtypes()
    yield f"# Patterns: {_title(name)}"
    yield ""
    yield _MADE.format(name=name)
    yield ""
    yield "[All patterns](../patterns.md)"
    for subtype, patterns in subtypes.items():
        if name != "benign":
            title = lessons[subtype].title if subtype in lessons else "Failures of no particular subtype"
            yield f"\n## {title}" + (f": `{subtype}`" if subtype in lessons else "")
        for pattern in patterns:
            yield from _pattern(pattern, level=2 if name == "benign" else 3)


def _pattern(pattern: Pattern, level: int) -> Iterator[str]:
    label = "" if pattern.tier == "benign" else f"`{pattern.error_class}` / `{pattern.failure_subtype}`, "
    noise = "; such a line alone fails no test" if pattern.noise else ""
    cancelled = f"; a {pattern.cancelled_by} that ends well cancels it" if pattern.cancelled_by else ""
    yield f"\n{'#' * level} {pattern.id}\n"
    yield f"{_escaped(pattern.description)}\n"
    yield f"- {label}{_TIERS[pattern.tier]}{noise}{cancelled}"
    if pattern.fix:
        yield f"- fix: {_escaped(pattern.fix)}"
    for field, title in (("match", "matches"), ("unless", "unless"), ("together_with", "together with")):
        for source in getattr(pattern, field):
            yield f"- {title}: {_code(source)}"
    for example in pattern.examples[:1]:
        yield f"- example: {_code(' '.join(example.split()))}"


def _code(text: str) -> str:
    """Return a code span, even for text with back-ticks."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {text} {ticks}" if longest or text != text.strip() else f"{ticks}{text}{ticks}"


def _escaped(text: str) -> str:
    """Escape prose for Markdown, except inside code spans."""
    parts = re.split(r"(`+.+?`+)", text)
    return "".join(part if at % 2 else re.sub(r"([<*_\[])", r"\\\1", part) for at, part in enumerate(parts))
