"""Measures how much an agent must read until it names the faulty line, with and without the wiki.

    python -m tests.bench_agents [--command COMMAND] [--faults NAME …] [--keep DIR]

Commits twelve faults to a copy of the sample testbench, one after the other, each among five harmless commits. Repairs
each, moves the lines, and commits it again. An agent gets tools, among them the log of the failing test, and answers
with file and line until the answer is right. Counts the calls of tools, the tokens of calls and results (with
`--command`, of prompts and answers), and the different files that the agent read.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_dvwiki.llm.client import connect
from pytest_dvwiki.llm.configuration import Backend, LibrarianSettings
from pytest_dvwiki.llm.model import Model, ModelError
from pytest_dvwiki.mcp.server import WikiServer
from pytest_dvwiki.mcp.tools import Project
from pytest_dvwiki.settings import resolve
from pytest_dvwiki.tokens import by_rule

from . import policy
from .faults import FAULTS, Brought, Fault, bring, copy_of_the_sample

MOST_CALLS = 60
LOG = "failing.log"
_AROUND = 20
_HARMLESS = ("rtl/axil_regs.v", "tb/axil.py", "rtl/sync_fifo.v", "tb/counter_tb.py", "rtl/stream_buffer.v")
_TOOLS = {
    "log": "the output of the failing test; no arguments",
    "read": "40 lines of a source around a line; `file`, `line`",
    "grep": "the lines of the sources that hold a text; `text`",
    "commits": "the newest 20 commits; no arguments",
    "show": "the patch of a commit; `commit`",
    "answer": "name the faulty line; `file`, `line`; the result says whether it is right",
}
_WIKI_TOOLS = {
    "dvwiki_match_failure": "what the wiki knows of the failures of the newest run; no arguments",
    "dvwiki_get": "a page of the wiki; `page`",
    "dvwiki_search": "pages of the wiki by words; `query`",
}


@dataclass
class Effort:
    """The effort of an agent."""

    calls: int = 0
    tokens: int = 0
    files: set[str] = field(default_factory=set)
    is_right: bool = False

    def __str__(self) -> str:
        return f"{self.calls} | {self.tokens} | {len(self.files)}" if self.is_right else "not found | | "


class Bench:
    """The repository with the copy of the sample testbench."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "PYTEST_", "COCOTB_", "DVWIKI_", "SAMPLE_"))
        }
        # All nights have the same seed, as in most regressions; a pass then proves more.
        self.environment["COCOTB_RANDOM_SEED"] = "7"
        copy_of_the_sample(root)
        self.git("init", "--quiet")
        self.git("config", "user.name", "Bench")
        self.git("config", "user.email", "bench@example.org")
        (root / ".git/info/exclude").write_text(f".agent\nsim_build\n__pycache__\nresults.xml\n{LOG}\n")
        self.commit("sample testbench")
        self._serial = 0

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=self.root, env=self.environment, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, subject: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)

    def harmless(self, names: Sequence[str]) -> None:
        """Commit a change of a comment in each file."""
        for name in names:
            self._serial += 1
            mark = "//" if name.endswith(".v") else "#"
            with (self.root / name).open("a", encoding="utf-8") as file:
                file.write(f"{mark} Looked through, {self._serial}.\n")
            self.commit(f"{Path(name).stem}: looked through")

    def move_lines(self) -> None:
        """Commit a longer header in every source."""
        for name in {fault.file for fault in FAULTS}:
            file = self.root / name
            mark = "//" if name.endswith(".v") else "#"
            file.write_text(f"{mark} One\n{mark} more\n{mark} header.\n{file.read_text(encoding='utf-8')}")
        self.commit("longer headers")

    def test(self, *tests: str) -> bool:
        """Run tests with the plugin, write their output to the log, and return whether they pass."""
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--dvwiki", "--dvwiki-task", "nightly", "-p", "no:cacheprovider", *tests],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        # The plugin's summary comes from the wiki, so an agent without the wiki must not see it.
        output = re.sub(r"(?ms)^=+ dvwiki\b.*?(?=^=+ )", "", done.stdout)
        (self.root / LOG).write_text(output, encoding="utf-8")
        return done.returncode == 0


class Tools:
    """The tools of one agent for one failure; they count its effort."""

    def __init__(self, bench: Bench, brought: Brought, *, has_wiki: bool) -> None:
        self._bench = bench
        self._brought = brought
        self.known = {**(_WIKI_TOOLS if has_wiki else {}), **_TOOLS}
        self._server = (
            WikiServer({"bench": Project(resolve(bench.root))}, "read-only", has_one_caller=True) if has_wiki else None
        )
        self.effort = Effort()

    def call(self, action: policy.Action) -> str:
        """Carry out an action."""
        given = {name: value for name, value in action.items() if name != "tool"}
        name = str(action.get("tool"))
        self.effort.calls += 1
        if name not in self.known:
            return f"there is no tool {name!r}"
        try:
            result = self._wiki(name, given) if name in _WIKI_TOOLS else getattr(self, f"_{name}")(**given)
        except (TypeError, ValueError, OSError, subprocess.CalledProcessError) as error:
            result = f"{type(error).__name__}: {error}"
        self.effort.tokens += by_rule(json.dumps(action)) + by_rule(result)
        return str(result)

    def _wiki(self, name: str, given: dict[str, Any]) -> str:
        assert self._server is not None
        data, text = self._server.answer(name, given, "one")
        self.effort.files |= {str(data["page"])} if name == "dvwiki_get" and data.get("page") else set()
        # The scripted agent reads the data; counted is the text, which a model would read.
        self.effort.tokens += by_rule(text) - by_rule(json.dumps(data))
        return json.dumps(data)

    def _log(self) -> str:
        return "\n".join((self._bench.root / LOG).read_text(encoding="utf-8").splitlines()[-150:])

    def _read(self, file: str, line: int) -> str:
        self.effort.files.add(file)
        lines = (self._bench.root / file).read_text(encoding="utf-8").splitlines()
        first = max(0, int(line) - 1 - _AROUND)
        return "\n".join(f"{first + at + 1} {text}" for at, text in enumerate(lines[first : first + 2 * _AROUND]))

    def _grep(self, text: str) -> str:
        done = subprocess.run(
            ["git", "grep", "-n", "-F", "-e", text, "--", "rtl", "tb", "tests"],
            cwd=self._bench.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.effort.files |= {hit.partition(":")[0] for hit in done.stdout.splitlines()}
        return done.stdout

    def _commits(self) -> str:
        return self._bench.git("log", "--oneline", "-20")

    def _show(self, commit: str) -> str:
        patch = self._bench.git("show", "--format=%h %s", "--unified=2", commit)
        self.effort.files |= set(re.findall(r"^\+\+\+ b/(.*)", patch, re.MULTILINE))
        return patch

    def _answer(self, file: str, line: int) -> str:
        self.effort.is_right = self._brought.is_at(str(file), int(line))
        return "right" if self.effort.is_right else "wrong"


Agent = Callable[[Tools, str], Effort]


def scripted(tools: Tools, name: str) -> Effort:
    """Run the scripted agent."""
    steps = policy.POLICIES[name]()
    result = None
    while not tools.effort.is_right and tools.effort.calls < MOST_CALLS:
        try:
            action = next(steps) if result is None else steps.send(result)
        except StopIteration:
            break
        result = tools.call(action)
    return tools.effort


def asking(model: Model) -> Agent:
    """Return an agent that gets each action from a model."""

    def act(tools: Tools, _: str) -> Effort:
        listed = "\n".join(f"- {name}: {does}" for name, does in tools.known.items())
        task = (
            "A test of a hardware design fails. Find the line of the sources that is at fault, with as few calls as you"
            f" can, and name it by the tool `answer`.\n\nTools:\n{listed}\n\nReply with one action and nothing else, as"
            ' JSON: {"tool": "read", "file": "rtl/a.v", "line": 12}\n\n'
        )
        steps: list[dict[str, Any]] = []
        tokens = 0
        while not tools.effort.is_right and tools.effort.calls < MOST_CALLS:
            answer = model.complete(task + policy.TRANSCRIPT + json.dumps(steps), step="bench")
            tokens += answer.tokens_in + answer.tokens_out
            found = re.search(r"\{.*\}", answer.text, re.DOTALL)
            try:
                action = json.loads(found[0]) if found else {}
            except ValueError:
                action = {}
            steps.append({"action": action, "result": tools.call(action)})
        tools.effort.tokens = tokens
        return tools.effort

    return act


@contextmanager
def brought(bench: Bench, fault: Fault) -> Iterator[Brought]:
    """Commit a fault among harmless commits and run its test; repair the fault at the end."""
    if not bench.test(fault.test):
        raise SystemExit(f"{fault.name}: its test fails before; see {bench.root / LOG}")
    before = FAULTS.index(fault) % (len(_HARMLESS) + 1)
    bench.harmless(_HARMLESS[:before])
    state = bring(fault, bench.root)
    bench.commit(fault.introduced)
    bench.harmless(_HARMLESS[before:])
    if bench.test(fault.test):
        raise SystemExit(f"{fault.name}: its test passes; bring the benchmark up to date")
    yield state
    state.repair()
    bench.commit(fault.repaired)
    if not bench.test(fault.test):
        raise SystemExit(f"{fault.name}: its test fails after the repair; see {bench.root / LOG}")


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--command", metavar="COMMAND", help="an agent's command, which is asked for each action")
    parser.add_argument("--faults", nargs="+", choices=[fault.name for fault in FAULTS], help="only these")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in this new folder, and leave it")
    args = parser.parse_args()
    faults = [fault for fault in FAULTS if not args.faults or fault.name in args.faults]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(args.keep or folder))
        agents: dict[str, Agent] = {"the rule": scripted}
        if args.command:
            backends = (Backend(kind="command", run=args.command),)
            layout = resolve(bench.root).layout
            settings = LibrarianSettings(
                layout, backends, calls_per_run=10**6, calls_per_minute=0, tokens_per_run=10**9
            )
            model = connect(settings)
            assert model is not None
            agents["the command"] = asking(model)
        if not bench.test():
            raise SystemExit(f"the sample fails without a fault; see {bench.root / LOG}")
        for title in ("the first time", "again"):
            found = [measured(bench, fault, agents) for fault in faults]
            for name in agents:
                print(f"\n{title}, {name}\n\n{table(faults, [each[name] for each in found])}", flush=True)
            bench.move_lines()


def measured(bench: Bench, fault: Fault, agents: dict[str, Agent]) -> dict[str, tuple[Effort, ...]]:
    """Return the effort of each agent on a fault, without the wiki and with it."""
    found = {}
    with brought(bench, fault) as state:
        for name, agent in agents.items():
            tools = [(Tools(bench, state, has_wiki=each == "with"), each) for each in policy.POLICIES]
            try:
                found[name] = tuple(agent(*each) for each in tools)
            except ModelError as error:
                raise SystemExit(str(error)) from error
    print(f"{fault.name} is done", file=sys.stderr, flush=True)
    return found


def table(faults: list[Fault], rows: list[tuple[Effort, ...]]) -> str:
    """Return a table with a row for each fault, and the medians of those that were found."""
    lines = ["| fault | without: calls | tokens | files | with: calls | tokens | files |", f"| --- |{' --: |' * 6}"]
    for fault, row in zip(faults, rows, strict=True):
        lines.append(f"| `{fault.name}` | {' | '.join(map(str, row))} |")
    medians, numbers = [], []
    for column in zip(*rows, strict=True):
        right = [each for each in column if each.is_right] or [Effort()]
        numbers.append(sum(each.is_right for each in column))
        values = ([e.calls for e in right], [e.tokens for e in right], [len(e.files) for e in right])
        medians += [f"{statistics.median(each):g}" for each in values]
    lines.append(f"| median | {' | '.join(medians)} |")
    return "\n".join([*lines, "", f"Found without: {numbers[0]} of {len(rows)}; with: {numbers[1]} of {len(rows)}."])


if __name__ == "__main__":
    main()
