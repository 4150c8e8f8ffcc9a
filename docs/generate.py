"""Write the generated parts of the documentation: settings, packages, outcomes, built-in patterns, included files.

python docs/generate.py
"""

from __future__ import annotations

import argparse
import ast
import importlib
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_dvwiki import cli, simulators
from pytest_dvwiki.llm import configuration as llm
from pytest_dvwiki.patterns.registry import (
    BUILTIN_FOLDER,
    REPLACEMENT,
    builtin_files,
    load_registry,
    load_subtypes,
    precedence,
)
from pytest_dvwiki.patterns.schema import CLASSES, UNKNOWN, Pattern
from pytest_dvwiki.settings import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

ROOT = Path(__file__).parents[1]
SETTINGS = ROOT / "docs" / "reference" / "settings.md"
COMMANDS = ROOT / "docs" / "reference" / "commands.md"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
PACKAGE = ROOT / "pytest_dvwiki"
AGENTS = ROOT / "docs" / "agents.md"
CI = ROOT / "docs" / "ci.md"
STORE = ROOT / "docs" / "store.md"
OUTCOMES = ROOT / "docs" / "outcomes.md"
TABLE = ROOT / "tests" / "sim" / "outcomes.yaml"

_PART = re.compile(r"(<!-- (\w+): made by `make docs` -->\n).*?(<!-- \2 end -->)", re.DOTALL)
_INCLUDE = re.compile(r"(<!-- include: (\S+) -->\n).*?(<!-- include end -->)", re.DOTALL)
_PLACES = {
    "R": "runner",
    "N": "native",
    "C": "cocotb-test",
    "M": "make",
    "P": "plain",
    **{tool.name: tool.title for tool in simulators.tools() if tool.name in {"ghdl", "verilator"}},
}
"""Columns of the table: the flows, all on Icarus, and the other simulators."""
_OUTCOMES = """\
# What each kind of failure is called

Made by `make docs` from `tests/sim/outcomes.yaml`, which `make outcomes` runs; `make test` runs each
session in one capture mode, the main ones in several.

A cell is one kind of failure in one flow, on one simulator, in one capture mode. **{run} cells are run**, each checked
for its label, its first cause, the tests that it names, and that nothing is counted twice. In **{not_shown}
places a kind cannot be produced or seen**, each with its reason below.

| flow | |
| --- | --- |
| runner | `cocotb_tools.runner` in a pytest function, on Icarus |
| native | cocotb's own pytest plugin, on Icarus |
| cocotb-test | `cocotb_test.simulator.run` in a pytest function, on Icarus |
| make | a Makefile regression outside pytest, read by `dvwiki ingest`, on Icarus |
| plain | pytest tests without a simulator |
| Verilator, GHDL | the runner flow on that simulator; the messages of these two are the same in every flow |

Capture modes: {modes}.

## Kinds

Each number says in how many combinations of capture mode and pytest call the kind is run in that flow. A dash means
that the kind cannot be produced or seen there.

{kinds}

## What cannot be produced or seen

{reasons}

Capture modes that a flow does not have:

{no_modes}
"""
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


@dataclass(frozen=True, slots=True)
class _Row:
    """A kind of failure: how many of its cells run where, and why not elsewhere."""

    kind: str
    label: str
    run: Counter[str]
    reasons: dict[str, str]


def main() -> None:
    """Write every file that has a generated part."""
    for path, text in generated().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def generated() -> dict[Path, str]:
    """Return the files with generated parts, with their new content."""
    return {
        SETTINGS: _filled(SETTINGS, {"settings": _settings, "librarian": _librarian}),
        COMMANDS: _filled(COMMANDS, {"commands": _commands}),
        ARCHITECTURE: _filled(ARCHITECTURE, {"packages": _packages, "layers": _layers}),
        **{path: _INCLUDE.sub(_included, path.read_text(encoding="utf-8")) for path in (AGENTS, CI, STORE)},
        **{ROOT / "docs" / path: text for path, text in pattern_pages().items()},
        OUTCOMES: _outcomes(yaml.safe_load(TABLE.read_text(encoding="utf-8"))),
    }


def _filled(path: Path, parts: Mapping[str, Callable[[], str]]) -> str:
    """Return a file with the text between its markers regenerated."""
    return _PART.sub(lambda found: found[1] + parts[found[2]]() + found[3], path.read_text(encoding="utf-8"))


def _settings() -> str:
    """Return the table of options."""
    rows = []
    for row in OPTIONS:
        value = f"[={row.metavar}]" if row.bare else f" {row.metavar}" if row.metavar else ""
        flag = f"`{row.flag}{value}`" if row.flag else ""
        default = {None: "", True: "true", False: "false", "": "empty"}.get(row.default, row.default)  # type: ignore[call-overload]
        rows.append([flag, f"`{row.name}`", str(default), row.help])
    return _table(["command line", "project.yaml, `wiki:`", "default", "what it does"], rows) + "\n"


def _librarian() -> str:
    """Return the table of the settings of the block `librarian:`."""
    rows = [[f"`{each.name}`", str(each.default), each.help] for each in llm.OPTIONS]
    return _table([f"project.yaml, `{llm.BLOCK}:`", "default", "what it does"], rows) + "\n"


def _packages() -> str:
    """Return a table of the packages and top-level modules, each with the first line of its docstring."""
    folders = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)
    modules = sorted(path for path in PACKAGE.glob("*.py") if path.name != "__init__.py")
    rows = [[f"`{each.relative_to(PACKAGE)}/`", _summary(each / "__init__.py")] for each in folders]
    rows += [[f"`{each.name}`", _summary(each)] for each in modules]
    return _table(["package", "what it holds"], rows) + "\n"


def _summary(path: Path) -> str:
    """Return the first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def _layers() -> str:
    """Return the layers that import-linter enforces, from the highest to the lowest."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(each for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    layers = [layer.replace(f"{PACKAGE.name}.", "").replace(" : ", ", ") for layer in contract["layers"]]
    return "\n".join(["```text", *layers, "```", ""])


def _commands() -> str:
    """Return the commands with their arguments, from their parsers."""
    lines: list[str] = []
    for name, summary in cli.COMMANDS.items():
        parser = argparse.ArgumentParser(prog=f"dvwiki {name}")
        importlib.import_module(cli.module_of(name)).add_arguments(parser)
        lines += _command(parser, f"{summary[0].upper()}{summary[1:]}.")
    return "\n".join(lines) + "\n"


def _command(parser: argparse.ArgumentParser, summary: str) -> Iterator[str]:
    yield from ("", f"## {parser.prog}", "", summary)
    rows = []
    for action in parser._actions:  # argparse has no public way to read them
        if isinstance(action, argparse._SubParsersAction):
            for pseudo in action._choices_actions:
                below = action.choices[pseudo.dest]
                yield from (line.replace("## ", "### ", 1) for line in _command(below, f"{below.description}"))
        elif action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
            rows.append([_argument(action), action.help % vars(action) if action.help else ""])
    if rows:
        yield from ("", _table(["argument", "what it does"], rows))


def _argument(action: argparse.Action) -> str:
    """Return an argument as a user types it."""
    choices = "|".join(map(str, action.choices)) if action.choices else ""
    value = "" if action.nargs == 0 else str(action.metavar or choices or action.dest)
    if action.option_strings:
        return ", ".join(f"`{f'{flag} {value}'.strip()}`" for flag in action.option_strings)
    return f"`{value}{' …' if action.nargs in {'*', '+'} else ''}`"


def _included(found: re.Match[str]) -> str:
    code = (ROOT / found[2]).read_text(encoding="utf-8")
    language = {".py": "python", ".sh": "sh", ".yml": "yaml"}.get(Path(found[2]).suffix, "groovy")
    return f"{found[1]}```{language}\n{code}```\n{found[3]}"


def _outcomes(table: dict[str, Any]) -> str:
    rows = [_row(values, table["sessions"]) for values in table["rows"]]
    return _OUTCOMES.format(
        run=sum(row.run.total() for row in rows),
        not_shown=sum(len(row.reasons) for row in rows),
        modes=", ".join(f"`{' '.join(_words(mode))}`" if mode else "pytest's own" for mode in table["modes"].values()),
        kinds=_table(
            ["kind", "label", *_PLACES.values()],
            [[row.kind, row.label, *(_cell(row, place) for place in _PLACES)] for row in rows],
        ),
        reasons=_table(
            ["kind", "where", "why"],
            [[row.kind, where, why] for row in rows for why, where in _by_reason(row).items()],
        ),
        no_modes=_table(
            ["flow", "mode", "why"],
            [
                [_PLACES[flow], f"`{' '.join(_words(table['modes'][mode]))}`", why]
                for flow, modes in table["no_modes"].items()
                for mode, why in modes.items()
            ],
        ),
    )


def _row(values: dict[str, Any], sessions: dict[str, Any]) -> _Row:
    run: Counter[str] = Counter()
    for name in values["shown"]:
        session = sessions[name]
        simulator = session.get("simulator")
        run[simulator if simulator in _PLACES else session["flow"]] += len(session["modes"])
    labels = values.get("label", "none")
    label = " or ".join(f"`{label}`" for label in labels) if isinstance(labels, list) else f"`{labels}`"
    return _Row(values["kind"], label if values.get("label") else "no failure", run, values.get("cannot", {}))


def _cell(row: _Row, place: str) -> str:
    return str(row.run[place]) if row.run[place] else "-" if place in row.reasons else ""


def _by_reason(row: _Row) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for place, why in row.reasons.items():
        found.setdefault(why, []).append(_PLACES[place])
    return {why: ", ".join(where) for why, where in found.items()}


def _words(mode: dict[str, Any]) -> list[str]:
    """Return what a mode adds to the call: arguments, or for log files the behaviour of the tests."""
    return mode.get("args", ["log_file="] if mode else [])


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def pattern_pages() -> dict[str, str]:
    """Return the pages by path: an overview, and for each tool a page of its patterns by subtype."""
    registry = load_registry()
    groups = {
        name: _by_subtype(each for each in registry if registry.source(each.id) == f"{BUILTIN_FOLDER}{name}.yaml")
        for name in builtin_files()
    }
    pages = {f"patterns/{name}.md": _pattern_page(name, subtypes) for name, subtypes in groups.items()}
    pages["patterns.md"] = _pattern_list(len(registry), groups)
    return {path: _joined(lines) for path, lines in pages.items()}


def _pattern_title(name: str) -> str:
    tool = builtin_files()[name]
    if tool is None:
        return _TITLES[name]
    return tool.title if tool.name == name else f"{tool.title} by message code"


def _by_subtype(patterns: Iterator[Pattern]) -> dict[str, list[Pattern]]:
    groups: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        groups.setdefault(pattern.failure_subtype, []).append(pattern)
    return dict(sorted(groups.items(), key=lambda group: (group[0] == UNKNOWN, group[0])))


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _pattern_list(count: int, groups: dict[str, dict[str, list[Pattern]]]) -> Iterator[str]:
    yield "# Built-in patterns"
    yield ""
    yield _MADE.format(name="*")
    yield ""
    yield _INTRODUCTION.format(count=count, classes=", ".join(map(_code_span, CLASSES)))
    yield "If several patterns match a message, the first one in this order is used:"
    yield ""
    yield from (f"{number}. {_escaped(rule)}" for number, rule in enumerate(precedence(), start=1))
    yield ""
    yield f"{REPLACEMENT}"
    yield ""
    yield "| patterns for | number | file |"
    yield "| --- | --- | --- |"
    for name, subtypes in groups.items():
        number = sum(map(len, subtypes.values()))
        yield f"| [{_pattern_title(name)}](patterns/{name}.md) | {number} | {_code_span(f'{name}.yaml')} |"


def _pattern_page(name: str, subtypes: dict[str, list[Pattern]]) -> Iterator[str]:
    lessons = load_subtypes()
    yield f"# Patterns: {_pattern_title(name)}"
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
            yield f"- {title}: {_code_span(source)}"
    for example in pattern.examples[:1]:
        yield f"- example: {_code_span(' '.join(example.split()))}"


def _code_span(text: str) -> str:
    """Return a code span, even for text with back-ticks."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {text} {ticks}" if longest or text != text.strip() else f"{ticks}{text}{ticks}"


def _escaped(text: str) -> str:
    """Escape prose for Markdown, except inside code spans."""
    parts = re.split(r"(`+.+?`+)", text)
    return "".join(part if at % 2 else re.sub(r"([<*_\[])", r"\\\1", part) for at, part in enumerate(parts))


if __name__ == "__main__":
    main()
