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
from pytest_dvwiki.patterns import reference as patterns
from pytest_dvwiki.settings import reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
        SETTINGS: _filled(SETTINGS, {"settings": reference, "librarian": llm.reference}),
        COMMANDS: _filled(COMMANDS, {"commands": _commands}),
        ARCHITECTURE: _filled(ARCHITECTURE, {"packages": _packages, "layers": _layers}),
        **{path: _INCLUDE.sub(_included, path.read_text(encoding="utf-8")) for path in (AGENTS, CI, STORE)},
        **{ROOT / "docs" / path: text for path, text in patterns.reference().items()},
        OUTCOMES: _outcomes(yaml.safe_load(TABLE.read_text(encoding="utf-8"))),
    }


def _filled(path: Path, parts: Mapping[str, Callable[[], str]]) -> str:
    """Return a file with the text between its markers regenerated."""
    return _PART.sub(lambda found: found[1] + parts[found[2]]() + found[3], path.read_text(encoding="utf-8"))


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


if __name__ == "__main__":
    main()
