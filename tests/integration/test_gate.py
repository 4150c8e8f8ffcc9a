"""Tests `--dvwiki-gate` in real runs: what it accepts, what it never changes, and what it prints."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from .conftest import git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import Project

WAIVERS = """\
waivers:
  - id: W-1
    match: {test: "*::test_accepted"}
    reason: waits for the specification
    owner: fifo team
"""
ACCEPTED = 'def test_accepted(): raise ValueError("wrong word")\n'
OPEN = 'def test_open(): raise KeyError("config")\n'
NOISY = 'def test_accepted(): print("UVM_ERROR @ 12: env.sb [SCBD] lost packet 7")\n'
_ARCHIVES: dict[str, Path] = {}


def write(project: Project, text: str, waivers: str = "") -> None:
    (project.path / "test_it.py").write_text(text, encoding="utf-8")
    (project.path / ".agent").mkdir(exist_ok=True)
    if waivers:
        (project.path / ".agent" / "waivers.yaml").write_text(waivers, encoding="utf-8")


def last_line(result: pytest.RunResult) -> str:
    return next(line for line in reversed(result.outlines) if line.strip())


def reasons(project: Project) -> dict[str, tuple[str, bool]]:
    gate = project.records()[-1]["gate"]
    return {
        test.rpartition("::")[2]: (row["reason"], row["passes"]) for row in gate["failures"] for test in row["tests"]
    }


@pytest.fixture
def known(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with a failure that is on record and still occurs."""
    write(project, OPEN)
    if "known" not in _ARCHIVES:
        assert project.run(in_process=True).ret == 1
        _ARCHIVES["known"] = shutil.copytree(project.path / ".agent", tmp_path_factory.mktemp("known") / ".agent")
    shutil.copytree(_ARCHIVES["known"], project.path / ".agent", dirs_exist_ok=True)
    return project


@pytest.mark.parametrize("arguments", [(), pytest.param(("-n", "1"), marks=pytest.mark.further_mode)])
def test_failures_that_are_waived_or_known_pass(known: Project, arguments: tuple[str, ...]) -> None:
    write(known, ACCEPTED + OPEN, WAIVERS)
    result = known.run("--dvwiki-gate=new", *arguments, in_process=True)
    assert result.ret == 0
    told = (
        "dvwiki gate new: let 2 failed tests through, exit status 0 instead of 1: 1 waived (W-1), 1 known (test_open)"
    )
    assert last_line(result) == told
    assert reasons(known) == {"test_accepted": ("waived", True), "test_open": ("known", True)}


def test_a_failure_that_is_only_known_does_not_pass_the_gate_unwaived(known: Project) -> None:
    write(known, ACCEPTED + OPEN, WAIVERS)
    result = known.run("--dvwiki-gate=unwaived", in_process=True)
    assert result.ret == 1
    assert last_line(result) == "dvwiki gate unwaived: stopped 1 failed test, exit status 1: 1 known (test_open)"
    assert reasons(known) == {"test_accepted": ("waived", True), "test_open": ("known", False)}


def test_without_a_wiki_the_gate_changes_nothing(project: Project) -> None:
    (project.path / "test_it.py").write_text(OPEN, encoding="utf-8")
    result = project.run("--dvwiki-gate=new", in_process=True)
    assert result.ret == 1
    assert "exit status stays 1, because there is no earlier record" in last_line(result)
    assert "no earlier record" in project.records()[-1]["gate"]["refused"]


COVERED = ("--cov=test_it", "--cov-fail-under=100")
LATER = f"{OPEN}def test_later(): pass\n"
CRASH = f"import os\n{OPEN}def test_crash(): os._exit(3)\n"
XDIST = ("-n", "1")


@pytest.mark.parametrize(
    ("text", "arguments", "why"),
    [
        (f"{OPEN}def unused():\n    return 1\n", COVERED, "pytest counts 2 failures, but dvwiki got 1 failed report"),
        (LATER, ("-x",), "not all tests ran: stopping after 1 failures"),
        pytest.param(OPEN, (*COVERED, "--no-cov-on-fail"), "coverage was not checked", marks=pytest.mark.further_mode),
        (LATER, ("-x", *XDIST), "was interrupted"),
        (CRASH, ("--max-worker-restart=0", *XDIST), "a worker crashed"),
        pytest.param(
            f"{OPEN}def test_leave(): __import__('pytest').exit('enough', returncode=1)\n",
            (),
            "was interrupted",
            marks=pytest.mark.further_mode,
        ),
        (OPEN, ("--dvwiki-archive=no",), "the run has no record"),
    ],
    ids=["cov", "x", "cov unchecked", "x with xdist", "crash", "exit", "no record"],
)
def test_a_session_with_more_than_known_failures_keeps_its_exit_status(
    known: Project, text: str, arguments: tuple[str, ...], why: str
) -> None:
    write(known, text)
    result = known.run("--dvwiki-gate=new", *arguments, in_process=True)
    assert result.ret in {1, 2}
    # After an interrupt, pytest itself prints one more line.
    (line,) = (line for line in result.outlines if line.startswith("dvwiki gate new: "))
    assert f"exit status stays {result.ret}, because " in line
    assert why in line


def test_a_module_that_cannot_be_collected_stops_the_gate(known: Project) -> None:
    (known.path / "test_other.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    result = known.run("--dvwiki-gate=new", "--continue-on-collection-errors", in_process=True)
    assert result.ret == 1
    assert "exit status stays 1, because test_other.py could not be collected" in last_line(result)
    assert "could not be collected" in known.records()[-1]["gate"]["refused"]


INTERNAL = """
@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish():
    raise RuntimeError("a plugin's own fault")
"""
PLUGINS = {
    1: "@pytest.hookimpl(trylast=True)\ndef pytest_sessionfinish(session): session.testsfailed += 1\n",
    9: """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    yield
    session.exitstatus = 9
""",
}


@pytest.mark.parametrize("status", PLUGINS)
def test_a_plugin_that_fails_the_session_is_heard(known: Project, status: int) -> None:
    (known.path / "conftest.py").write_text(f"import pytest\n{PLUGINS[status]}", encoding="utf-8")
    result = known.run("--dvwiki-gate=new", in_process=True)
    assert result.ret == status
    assert f"exit status stays {status}, because " in last_line(result)


def test_an_internal_error_keeps_its_exit_status(known: Project) -> None:
    (known.path / "conftest.py").write_text(f"import pytest\n{INTERNAL}", encoding="utf-8")
    result = known.run("--dvwiki-gate=new", in_process=True)
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    (line,) = (line for line in result.outlines if line.startswith("dvwiki gate new: "))
    assert "exit status stays 3, because " in line


PHASES = """\
import pytest
@pytest.fixture
def after():
    yield
    raise KeyError("config")
def test_open(after): raise KeyError("config")
SEEN = []
def test_flaky():
    SEEN.append(1)
    assert len(SEEN) > 1
"""
SUBTESTS = """
def test_parts(subtests):
    for at in range(2):
        with subtests.test(at=at):
            raise KeyError("config")
"""


@pytest.mark.parametrize("workers", [(), pytest.param(XDIST, marks=pytest.mark.further_mode)], ids=["here", "xdist"])
def test_phases_and_subtests_are_counted_and_attempts_are_not(known: Project, workers: tuple[str, ...]) -> None:
    # pytest-rerunfailures reports attempts with subtests as failed, and then the gate changes nothing.
    write(known, PHASES)
    waivers = known.path / ".agent" / "waivers.yaml"
    waivers.write_text(WAIVERS.replace('test: "*::test_accepted"', 'message: "*config*"'), encoding="utf-8")
    result = known.run("--dvwiki-gate=new", "--reruns", "1", *workers, in_process=True)
    assert result.ret == 0, last_line(result)
    if hasattr(pytest, "Subtests"):
        write(known, PHASES.partition("SEEN")[0] + SUBTESTS)
        result = known.run("--dvwiki-gate=unwaived", *workers, in_process=True)
        assert result.ret == 0, last_line(result)


def test_a_new_failure_of_strict_logs_stops_the_gate(project: Project) -> None:
    write(project, NOISY, WAIVERS)
    result = project.run("--dvwiki-strict-logs", "--dvwiki-gate=unwaived", in_process=True)
    assert result.ret == 1
    assert "exit status stays 1, because --dvwiki-strict-logs found a new failure" in last_line(result)


@pytest.fixture
def small_disk(known: Project) -> Iterator[Project]:
    """Return a project whose `.agent` is on a small disk."""
    agent = known.path / ".agent"
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(agent)]
    if os.geteuid() or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    # A replaced cache would free space.
    shutil.copytree(
        _ARCHIVES["known"], agent, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".cache", ".search_index")
    )
    yield known
    subprocess.run(["umount", "-l", str(agent)], check=True)


def test_a_full_disk_keeps_the_exit_status(small_disk: Project) -> None:
    filler = small_disk.path / ".agent" / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=4k"], check=False, capture_output=True)
    result = small_disk.run("--dvwiki-gate=new", in_process=True)
    assert result.ret == 1
    assert "exit status stays 1, because the record of the run was not written" in last_line(result)


# The base revision


def commit(folder: Path, message: str) -> str:
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD").stdout.strip()


@pytest.fixture
def change(known: Project) -> Project:
    """Return a branch of a repository whose main branch has one known failure; the project is a folder of it."""
    below = known.path / "ip"
    below.mkdir()
    for name in ("test_it.py", ".agent"):
        (known.path / name).rename(below / name)
    (below / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    git(known.path, "init", "--quiet", "--initial-branch=main")
    (known.path / ".gitattributes").write_text(".agent export-ignore\n", encoding="utf-8")
    commit(known.path, "base")
    git(known.path, "switch", "--quiet", "--create", "change")
    os.chdir(below)
    known.pytester._path = below
    return known


def test_a_change_cannot_waive_itself(change: Project) -> None:
    write(change, ACCEPTED + OPEN, WAIVERS)
    commit(change.path, "change")
    result = change.run("--dvwiki-gate=new", "--dvwiki-gate-base=main", in_process=True)
    assert result.ret == 1
    base = git(change.path, "rev-parse", "main").stdout.strip()
    told = f"dvwiki gate new of {base[:7]}: stopped 1 failed test, exit status 1: 1 NEW (test_accepted)"
    assert last_line(result) == told
    assert change.records()[-1]["gate"]["base"] == base
    assert reasons(change) == {"test_accepted": ("new", False), "test_open": ("known", True)}
    assert change.records()[-1]["waived"], "what the change itself says is still on record"


def test_a_change_cannot_accept_its_own_error_lines(change: Project) -> None:
    write(change, NOISY, WAIVERS.replace('test: "*::test_accepted"', 'message: "*lost packet*"'))
    assert change.run("--dvwiki-strict-logs", in_process=True).ret == 0
    result = change.run("--dvwiki-strict-logs", "--dvwiki-gate=new", "--dvwiki-gate-base=main", *XDIST, in_process=True)
    result.assert_outcomes(failed=1)
    assert result.ret == 1
