"""The next run of the same project archives a killed run's results; runs of other projects do not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from .conftest import LEAN

if TYPE_CHECKING:
    from pathlib import Path

KILLED = """
import os, signal

def test_before():
    assert 1 == 2, "before the kill"

def test_kill():
    os.kill(os.getpid(), signal.SIGKILL)
"""
NEXT = "def test_next(): assert 3 == 4, 'the next run'\n"
FAILING = """
import os, pytest, signal

@pytest.fixture
def broken():
    yield
    raise RuntimeError("in the teardown")

def test_twice(broken):
    raise ValueError("in the call")

def test_parts(subtests):
    for part in ("one", "two"):
        with subtests.test(part):
            raise ValueError(f"in part {part}")

def test_kill():
    os.kill(os.getpid(), signal.SIGKILL)
"""
LOGGED = """
import os, signal, subprocess, sys
LINES = [
    "     0.00ns INFO     cocotb.regression                  running t.fill (1/2)",
    "    10.00ns ERROR    cocotb.sb                          level is 9",
]
def test_runner():
    with open("sim.log", "w") as log:
        subprocess.run([sys.executable, "-c", f"print({chr(10).join(LINES)!r})"], stdout=log, check=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the temporary folder of all runs."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.delenv("CI", raising=False)
    return folder


def _project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_killed.py").write_text(KILLED)
    (folder / "test_next.py").write_text(NEXT)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return _project(tmp_path / "project")


def _run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "pytest", *LEAN, "--dvwiki", "-p", "no:cacheprovider")
    return subprocess.run([*command, *words], cwd=project, capture_output=True, text=True, check=False, timeout=60)


def _kill(project: Path, *words: str) -> None:
    assert _run(project, "test_killed.py", *words).returncode == -signal.SIGKILL


def _kill_without_agent(project: Path) -> None:
    """Kill a run whose journal cannot be in the project."""
    agent = project / ".agent"
    agent.write_text("")
    _kill(project)
    agent.unlink()


def _records(project: Path) -> list[dict[str, Any]]:
    texts = (path.read_text() for path in sorted(project.glob(".agent/tasks/2*/*/*.yaml")))
    return [yaml.safe_load(text) for text in texts]


def _causes(project: Path) -> list[str]:
    return sorted(each["primary"] for record in _records(project) for each in record["occurrences"])


def _commit(project: Path) -> str:
    who = ("-c", "user.name=one", "-c", "user.email=one@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "--allow-empty", "-m", "next")):
        subprocess.run(["git", *who, *words], cwd=project, check=True)
    return subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=project, text=True).strip()


def _journal(project: Path) -> Path:
    (path,) = project.glob(".agent/journal/*/main.jsonl")
    return path


def test_what_one_project_left_behind_is_archived_by_that_project_alone(project: Path, tmp_path: Path) -> None:
    other = _project(tmp_path / "other")
    _kill_without_agent(project)
    _run(other, "test_next.py")
    assert _causes(other) == ["AssertionError: the next run assert 3 == 4"]
    assert "killed run" in _run(project, "test_next.py").stdout
    assert len(_records(project)) == 2
    assert any("before the kill" in cause for cause in _causes(project))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give files away")
def test_nothing_is_read_from_a_folder_of_another_user(project: Path, temporary: Path) -> None:
    _kill_without_agent(project)
    (folder,) = temporary.glob("dvwiki-*")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 54321, 54321)
    result = _run(project, "test_next.py", "-q")
    assert result.returncode == 1
    (told,) = [line for line in result.stdout.splitlines() if str(folder) in line]
    reason = "belongs to another user, so no journal in it is read or written"
    assert told == f"dvwiki: {folder}: {reason}; remove it, or have it removed"
    assert len(_records(project)) == 1


def test_every_failure_of_a_test_survives_a_kill(project: Path) -> None:
    (project / "test_killed.py").write_text(FAILING)
    _kill(project)
    _run(project, "test_next.py")
    first = next(record for record in _records(project) if record["totals"]["failed"] > 1 or record["totals"]["errors"])
    said = [each["primary"] for each in first["occurrences"]]
    for text in ("in the call", "in the teardown", "in part one", "in part two", "killed while running"):
        assert sum(text in each for each in said) == (text != "killed while running"), said
    assert not [text for text in said if "failed subtest" in text]


def test_the_log_of_a_runner_names_the_test_that_was_running_and_what_it_logged(project: Path) -> None:
    (project / "test_killed.py").write_text(LOGGED)
    commits = [_commit(project)]
    _kill(project)
    commits.append(_commit(project))
    _run(project, "test_next.py")
    assert [record["vcs"]["commit"] for record in _records(project)] == commits
    (test,) = {
        test["nodeid"] for record in _records(project) for each in record["occurrences"] for test in each["tests"]
    } - {"test_next.py::test_next"}
    assert test == "test_killed.py::test_runner::fill"
    assert any("level is 9" in str(record) for record in _records(project))


def test_files_that_a_planted_journal_names_reach_no_page(project: Path, tmp_path: Path) -> None:
    (project / "test_killed.py").write_text(LOGGED)
    _kill(project)
    private = tmp_path / "private"
    private.write_text((project / "sim.log").read_text().replace("level is 9", "words of a private file"))
    journal = _journal(project)
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    for event in events:
        if event["event"] == "begin":
            event |= {
                "spool": [str(private), "../../../../private"],
                "opened": [str(private), "link.log", "in/private"],
            }
    (project / "link.log").symlink_to(private)
    (project / "in").symlink_to(tmp_path)
    journal.write_text("".join(json.dumps(event) + "\n" for event in events))
    _run(project, "test_next.py")
    assert len(_records(project)) == 2
    texts = [path.read_text() for path in (project / ".agent").rglob("*") if path.suffix in {".md", ".yaml"}]
    assert not [text for text in texts if "private file" in text]
