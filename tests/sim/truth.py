"""Reads the table of scenarios: steps in a repository, and the statements that must and must not follow."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from . import pasted
from .harness import HERE, Project, environment, missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PLACES = ("terminal", "page", "prompt", "index")
_NAME = re.compile(r"<([^<>?!=]+)>")
"""A commit in an expression, by its message; `?`, `!` and `=` belong to the expression."""
_PAGE = re.compile(r"\[page of ([^\]]+)\]")
"""A page, by words of its title."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A history of one repository, with the expected statements."""

    name: str
    section: int
    further: bool
    steps: tuple[Mapping[str, Any], ...]

    @property
    def simulators(self) -> set[str]:
        """Return the simulators that the scenario runs."""
        return {on for step in self.steps if "run" in step or "make" in step for on in _simulators(step)}

    def absent(self) -> list[str]:
        """Return why simulators of the scenario cannot run here."""
        return [reason for name in sorted(self.simulators) if (reason := missing(name))]

    def complaints(self, folder: Path) -> list[str]:
        """Play the scenario in a new copy of the project.

        Args:
            folder: Where to make the copy.

        Returns:
            Missing and wrong statements; empty if there are none.
        """
        play = _Play(Project.copy("truth", folder))
        play.git("init", "-q", "-b", "main")
        play.do({"commit": "base"})
        return [
            f"step {number} {complaint}" for number, step in enumerate(self.steps, 1) for complaint in play.do(step)
        ]


def _simulators(step: Mapping[str, Any]) -> list[str]:
    given = step.get("run", step.get("make")) or {}
    return [given.get("sim", "icarus")] if given.get("sim") != "none" else []


@cache
def scenarios() -> tuple[Scenario, ...]:
    """Return the table."""
    rows = yaml.safe_load((HERE / "truth.yaml").read_text(encoding="utf-8"))["scenarios"]
    return tuple(Scenario(row["id"], row["section"], row.get("further", False), tuple(row["steps"])) for row in rows)


class _Play:
    """A project in which the steps run, one after another.

    Args:
        project: A copy of the project.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._commits: dict[str, str] = {}
        self._terminal = ""
        self._status = 0
        self._here = project.folder
        """The user's current folder."""
        (project.folder / ".agent").mkdir(exist_ok=True)

    def do(self, step: Mapping[str, Any]) -> list[str]:
        """Do one step, and return the errors in the statements after it."""
        folder = self._project.folder
        for path, text in step.get("write", {}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        for path, changes in step.get("edit", {}).items():
            text = (folder / path).read_text(encoding="utf-8")
            for old, new in changes.items():
                assert old in text, f"{path} has no {old!r}"
                text = text.replace(old, new)
            (folder / path).write_text(text, encoding="utf-8")
        for words in step.get("git", ()):
            self.git(*self._with_commits(words).split())
        if "sh" in step:
            done = self._project.call(["sh", "-ec", self._with_commits(step["sh"])], environment("icarus"))
            assert done.status == 0, done.output
        if "commit" in step:
            self._commit(step["commit"])
        if "run" in step:
            # After two edits within a second that keep a file's size, Python would run the bytecode of the first.
            for cache in folder.rglob("__pycache__"):
                shutil.rmtree(cache)
            self._run(step["run"] or {})
        if "make" in step:
            self._make(step["make"] or {})
        if "ingest" in step:
            self._terminal = self._dvwiki("ingest", *map(self._with_names, step["ingest"]), env=step.get("env", {}))
        for words in step.get("dvwiki", ()):
            self._terminal = self._dvwiki(*map(self._with_names, words))
        return self._wrong(step)

    def git(self, *words: str) -> str:
        """Call git, and return its output."""
        who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *who, *words], cwd=self._project.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def _commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        self._commits[message] = self.git("rev-parse", "HEAD")[:7]

    def _run(self, given: Mapping[str, Any]) -> None:
        simulator = given.get("sim", "icarus")
        seed = {"COCOTB_RANDOM_SEED": str(given.get("seed", 1))}
        self._here = self._project.folder / given.get("from", ".")
        call = Project(self._here).run(
            "-p",
            "no:cacheprovider",
            *given.get("args", ["test_dut.py"]),
            simulator="icarus" if simulator == "none" else simulator,
            env=seed | {key: str(value) for key, value in given.get("env", {}).items()},
        )
        self._terminal, self._status = call.output.partition("= dvwiki")[2], call.status

    def _make(self, given: Mapping[str, Any]) -> None:
        variables = {"COCOTB_RANDOM_SEED": str(given.get("seed", 1))} | given.get("env", {})
        script = "rm -rf sim_build results.xml; make > make.log 2>&1"
        self._project.call(["sh", "-c", script], environment(given.get("sim", "icarus"), variables))

    def _dvwiki(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        call = self._project.call([sys.executable, "-m", "pytest_dvwiki", *words], environment("icarus", env))
        self._status = call.status
        return call.output

    def _with_commits(self, text: str) -> str:
        return _NAME.sub(lambda found: self._commits[found[1]], text)

    def _with_names(self, text: str) -> str:
        return _PAGE.sub(lambda found: self._page_of(found[1]), self._with_commits(text))

    def _page_of(self, words: str) -> str:
        paths = self._project.archive.pages.values()
        pages = {path.stem for path in paths if re.search(f"^# .*{words}", path.read_text("utf-8"), re.MULTILINE)}
        assert len(pages) == 1, f"{words!r} is the title of {len(pages)} pages"
        return pages.pop()

    def _bugs(self) -> dict[str, Path]:
        """Return the pages of causes that count runs; the other pages link to one of them."""
        archive = self._project.archive
        return {
            name: path
            for name, path in archive.pages.items()
            if name.startswith("bugs/") and archive.page(name)["hit_count"]
        }

    def _pasted(self, place: str) -> str:
        """Run the command that a place shows, and return the error in its result."""
        archive = self._project.archive
        cause = archive.records[-1].causes[0]
        (simulator,) = {test.simulator for test in cause.tests}
        if place == "terminal":
            line, folder = pasted.on_terminal(self._terminal)[0], self._here
        else:
            (path,) = (
                path for name, path in self._bugs().items() if archive.page(name)["fingerprint"] == cause.fingerprint
            )
            line, folder = pasted.on_page(path.read_text(encoding="utf-8")), self._project.folder / "rtl"
        call = pasted.paste(line, folder, pasted.bare(simulator))
        if re.search(r"\bmake\b", line):
            (self._project.folder / "make.log").write_text(call.output, encoding="utf-8")
            self._dvwiki("ingest", ".", "--run-id", f"pasted from {place}")
        again = self._project.archive.records
        assert len(again) > len(archive.records), f"{line}\n{call.output}"
        return pasted.complaint(line, cause, again[-1].causes)

    def _said(self, place: str) -> str:
        """Return the text of one of the places, each paragraph on one line."""
        if place == "terminal":
            return _plain(self._terminal)
        if place == "prompt":
            return _plain(self._dvwiki("context"))
        if place == "index":
            return _plain((self._project.archive.root / "wiki" / "index.md").read_text(encoding="utf-8"))
        return "\n".join(_plain(path.read_text(encoding="utf-8")) for path in self._project.archive.pages.values())

    def _wrong(self, step: Mapping[str, Any]) -> list[str]:
        complaints = []
        if "exit" in step and step["exit"] != self._status:
            complaints.append(f"exit: {self._status}; said:\n{self._terminal}")
        if "pages" in step and step["pages"] != len(self._bugs()):
            complaints.append(f"pages: {len(self._bugs())}; said:\n{self._terminal}")
        for place in PLACES:
            wanted, forbidden = step.get(place, ()), step.get(f"{place}_not", ())
            if not (wanted or forbidden):
                continue
            said = self._said(place)
            lacking = [text for text in wanted if not self._found(text, said)]
            wrong = [text for text in forbidden if self._found(text, said)]
            if lacking or wrong:
                complaints.append(f"{place}: lacks {lacking}, has {wrong}; said:\n{said}")
        return complaints + [said for place in step.get("paste", ()) if (said := self._pasted(place))]

    def _found(self, expression: str, said: str) -> bool:
        return re.search(self._with_commits(expression), said) is not None


def _plain(text: str) -> str:
    """Return a text without colours and without line breaks inside paragraphs."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    paragraphs: Sequence[str] = re.split(r"\n\s*\n", text)
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
