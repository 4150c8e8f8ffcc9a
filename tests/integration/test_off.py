"""Without `--dvwiki`, pytest loads four small modules, and nothing changes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Project

PLUGIN = {f"pytest_dvwiki{name}" for name in ("", ".plugin", ".settings", ".reading", ".hookspecs", ".fixtures")}


def imported(folder: Path, *arguments: str) -> set[str]:
    """Return the names of the modules that a pytest run imports."""
    (folder / "test_it.py").write_text("def test_it():\n    pass\n")
    code = "import sys, pytest; pytest.main(sys.argv[1:]); print('MODULES', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.rpartition("MODULES ")[2].split())


def test_only_the_door_is_imported(tmp_path: Path) -> None:
    without = imported(tmp_path, "-p", "no:dvwiki")
    absent = imported(tmp_path)
    assert {name for name in absent if name.startswith("pytest_dvwiki")} == PLUGIN
    # pytest itself loads all that the four modules need.
    assert absent - without <= PLUGIN


def test_nothing_heavy_is_imported_where_nothing_fails(tmp_path: Path) -> None:
    on = imported(tmp_path, "--dvwiki")
    # msgspec is allowed: with dataclasses in its place, a run without failures would be slower.
    assert not on & {"yaml", "bm25s", "numpy", "filelock", "sqlite3", "rich"}


def test_python_imports_the_modules_and_pytest_rewrites_none(tmp_path: Path) -> None:
    """If pytest cannot store rewritten modules, it would compile all of them in each run."""
    code = (
        "import sys, pytest; pytest.main(sys.argv[1:]); print('MODULES', *(name for name, module in sys.modules.items()"
        " if type(getattr(module, '__loader__', None)).__name__ == 'AssertionRewritingHook'))"
    )
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert False\n")
    done = subprocess.run(
        [sys.executable, "-c", code, "--dvwiki", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    names = set(done.stdout.rpartition("MODULES ")[2].split())
    assert "test_it" in names
    assert {name for name in names if name.startswith("pytest_dvwiki")} <= {"pytest_dvwiki", "pytest_dvwiki.plugin"}


def test_evidence_is_read_without_a_hook_that_slows_the_session(project: Project) -> None:
    """The hook is for processes that tests start; the plugin calls git for the modules of a test without it."""
    project.pytester.makeconftest(
        """
        import sys

        added = []
        sys.addaudithook = added.append

        def pytest_unconfigure():
            print("hooks:", len(added))
        """
    )
    project.pytester.makepyfile("import json\n\ndef test_fails():\n    assert json.loads('1') == 2\n")
    project.run().stdout.fnmatch_lines(["hooks: 0"])
    project.pytester.makepyfile("import subprocess\n\ndef test_starts():\n    subprocess.run(['true'])\n")
    project.run().stdout.fnmatch_lines(["hooks: 1"])


def test_nothing_is_written_where_nothing_fails(tmp_path: Path) -> None:
    imported(tmp_path, "--dvwiki")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["test_it.py"]


@pytest.mark.parametrize("arguments", [("--collect-only",), ("--setup-plan",), ("--help",), ("--version",)])
def test_nothing_happens_where_nothing_runs(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert False\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--dvwiki", "-p", "no:cacheprovider", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "dvwiki ==" not in done.stdout
    assert not (tmp_path / ".agent").exists()


def test_the_plugin_can_be_taken_out(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert False\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:dvwiki", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "dvwiki ==" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--dvwiki-task", "nightly", "--dvwiki-ip-type=axi"), "--dvwiki-task, --dvwiki-ip-type"),
        (("-qq", "--dvwiki-strict-logs"), "--dvwiki-strict-logs"),
        (("--dvwiki", "--dvwiki-task", "nightly"), None),
        ((), None),
    ],
)
def test_an_option_that_does_nothing_says_so_in_one_line(
    project: Project, arguments: tuple[str, ...], said: str | None
) -> None:
    project.pytester.makeini("[pytest]\naddopts = --dvwiki-dir=elsewhere/wiki\nfilterwarnings = error")
    project.pytester.makepyfile("def test_it():\n    pass\n")
    result = project.pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)
    assert result.ret == pytest.ExitCode.OK
    line = f"dvwiki is off, so nothing was captured or archived; add --dvwiki to use {said}"
    assert [each for each in result.outlines if "dvwiki is off" in each] == ([line] if said else [])


def test_a_mistake_in_the_project_file_is_told_where_that_alone_could_switch_it_on(project: Project) -> None:
    (project.path / ".agent").mkdir()
    (project.path / ".agent" / "project.yaml").write_text("wiki:\n  enabeld: true\n")
    project.pytester.makeini("[pytest]\nfilterwarnings = error")
    project.pytester.makepyfile("def test_it():\n    assert False\n")
    result = project.pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(
        ["dvwiki is off: *project.yaml:2: wiki.enabeld: no such setting; the nearest is 'enabled'"]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not (project.path / ".agent" / "wiki").exists()
