"""After faults of the machine no failure is lost, and the exit status is that of the tests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from .conftest import LEAN

TESTS = """
def test_ok():
    pass

def test_bad():
    assert 1 == 2, "password=hunter2hunter2 <script>alert(1)</script> [a](javascript:b)"
"""
SECRET = b"hunter2hunter2"
MARKUP = re.compile("<script|href=.?javascript")
PYTEST = (sys.executable, "-m", "pytest", *LEAN, "-p", "no:cacheprovider", "--dvwiki", "--no-header", "--tb=no")
TERMINATED_WHILE_ARCHIVING = """
import os, signal, time

def pytest_dvwiki_classify(failure):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(30)
"""
PRINTS = """
import sys
import pytest

@pytest.mark.parametrize("n", range({tests}))
def test_prints(n):
    for number in range(500):
        sys.stdout.write(f"UVM_INFO tb/env.sv(44) @ {{number}}: uvm_test_top.env [ENV] burst length {{n}}\\n" * 1500)
    assert n < 0
"""
CLOCK_SET_BACK = """
import time

_time, _start = time.time, time.time()
time.time = lambda: _time() - (86400 if _time() > _start + {after} else 0)

def pytest_runtest_logfinish(nodeid):
    time.sleep({after})
"""


def run(folder: Path, *words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PYTEST, *words],
        cwd=folder,
        env=environment or {**os.environ, "PYTHONWARNINGS": ""},
        capture_output=True,
        check=False,
        timeout=120,
    )


def failed(folder: Path) -> list[str]:
    """Return the failed tests of all records, sorted; check that no file has the secret and no page has markup."""
    assert not [path for path in folder.glob(".agent/**/*") if path.is_file() and SECRET in path.read_bytes()]
    pages = {path: MarkdownIt().render(path.read_text(encoding="utf-8")) for path in folder.glob(".agent/wiki/*/*.md")}
    assert not [path for path, shown in pages.items() if MARKUP.search(shown)]
    records: list[dict[str, Any]] = [
        yaml.safe_load(path.read_text(encoding="utf-8")) for path in folder.glob(".agent/tasks/2*/*/*.yaml")
    ]
    return sorted(test["nodeid"] for record in records for cause in record["occurrences"] for test in cause["tests"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_a.py").write_text(TESTS)
    return tmp_path


def _can_mount() -> bool:
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _can_mount(), reason="needs to mount")
def test_a_full_disk_keeps_the_failures_for_the_next_run(project: Path) -> None:
    (project / "small").mkdir()
    script = f"""
    mount -t tmpfs -o size=64k none small && cp test_a.py small && cd small && head -c 40000 /dev/zero > filler
    {" ".join(PYTEST)}; echo "status $?"
    rm filler; mount -o remount,size=4m .
    {" ".join(PYTEST)}; echo "status $?"; cp -r .agent ..
    """
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "the disk is full; free some space; the failures are saved in" in " ".join(done.stdout.split())
    assert done.stdout.count("status 1\n") == 2
    assert failed(project) == ["test_a.py::test_bad"] * 2


def test_a_wiki_that_is_removed_during_the_run_is_made_again(project: Path) -> None:
    removal = "\ndef test_removal():\n    import shutil\n    shutil.rmtree('.agent')\n    assert 3 == 4\n"
    (project / "test_a.py").write_text(TESTS + removal)
    (project / ".agent" / "wiki").mkdir(parents=True)
    assert run(project).returncode == 1
    assert failed(project) == ["test_a.py::test_bad", "test_a.py::test_removal"]
    assert len(list((project / ".agent" / "wiki" / "bugs").glob("[A-Z]*.md"))) == 2


def test_a_clock_that_is_set_back_during_a_run_and_between_two(project: Path) -> None:
    assert run(project).returncode == 1
    (project / "conftest.py").write_text(CLOCK_SET_BACK.format(after=0.2))
    assert run(project).returncode == 1
    (project / "conftest.py").unlink()
    done = run(project)
    assert done.returncode == 1
    assert b"seen in 2 runs since" in done.stdout
    assert failed(project) == ["test_a.py::test_bad"] * 3


def test_neither_home_nor_a_locale_is_needed(project: Path) -> None:
    (project / "test_a.py").write_text(TESTS.replace("1 == 2", "'µs' == 'ns'"), encoding="utf-8")
    done = run(
        project, environment={"PATH": os.environ["PATH"], "LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert failed(project) == ["test_a.py::test_bad"]


def test_a_path_that_is_not_utf8_has_a_record_and_no_command(project: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(project) + b"/bench\xff"))
    folder.mkdir()
    (folder / "test_b.py").write_text(TESTS)
    done = run(project, "bench\udcff")
    assert done.returncode == 1
    assert b"no command is known: the path or name of the test contains bytes" in done.stdout
    assert failed(project) == ["bench/test_b.py::test_bad"]
    # With the folder as the root, its name is not in a command.
    assert b"run    python -m pytest test_b.py::test_bad" in run(folder, "--rootdir=.").stdout


def test_a_page_whose_name_is_not_utf8_is_no_page(project: Path) -> None:
    bugs = project / ".agent" / "wiki" / "bugs"
    bugs.mkdir(parents=True)
    Path(os.fsdecode(os.fsencode(bugs) + b"/note\xff.md")).write_text("mine\n")
    done = run(project)
    assert (done.returncode, done.stderr) == (1, b"")
    assert failed(project) == ["test_a.py::test_bad"]
    assert len(list(bugs.glob("TB_*.md"))) == 1


def test_names_of_255_bytes(project: Path) -> None:
    long = f"test_{'m' * 250}"
    (project / "test_a.py").write_text(
        f"import pytest\n\n@pytest.mark.parametrize('x', [1], ids=['{'n' * 255}'])\ndef {long}(x):\n    assert x == 2\n"
    )
    assert run(project).returncode == 1
    assert failed(project) == [f"test_a.py::{long}[{'n' * 255}]"]


def test_a_run_that_is_terminated_while_it_archives_is_archived_by_the_next(project: Path) -> None:
    (project / "conftest.py").write_text(TERMINATED_WHILE_ARCHIVING)
    assert run(project).returncode == -signal.SIGTERM
    assert failed(project) == []
    (project / "conftest.py").unlink()
    assert run(project).returncode == 1
    assert failed(project) == ["test_a.py::test_bad"] * 2


def test_two_runs_at_once_in_one_checkout_both_count(project: Path) -> None:
    running = [
        subprocess.Popen([*PYTEST, f"--dvwiki-task={name}"], cwd=project, stdout=subprocess.DEVNULL)
        for name in ("one", "two")
    ]
    assert [process.wait(120) for process in running] == [1, 1]
    assert failed(project) == ["test_a.py::test_bad"] * 2
    (page,) = (project / ".agent" / "wiki" / "bugs").glob("[A-Z]*.md")
    assert "occurrence_count: 2\n" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "tests",
    [
        4,
        # pytest itself keeps their output of 10 GB in memory.
        pytest.param(200, marks=[pytest.mark.further_mode, pytest.mark.timeout(600)]),
    ],
)
def test_failing_tests_that_each_print_50_megabytes_need_little_more_memory(project: Path, tests: int) -> None:
    (project / "test_a.py").write_text(PRINTS.format(tests=tests))
    peaks = []
    for switch in ("-pno:dvwiki", "--dvwiki"):
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=no", "--show-capture=no", switch]
        with subprocess.Popen(words, cwd=project, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 1
        peaks.append(usage.ru_maxrss)
    assert peaks[1] - peaks[0] < 100_000
    assert len(failed(project)) == tests
