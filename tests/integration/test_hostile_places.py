"""In unusual containers and file systems, and with hostile pull requests, a run ends as without the plugin."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import LEAN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TESTS = """
def test_ok():
    pass

def test_bad():
    assert 1 == 2
"""
PYTEST = (sys.executable, "-m", "pytest", *LEAN, "-q", "-p", "no:cacheprovider")
UNKNOWN = ("unshare", "--user", "--map-user=54321", "--map-group=54321")
READ_ONLY = (
    "unshare",
    "--mount",
    "sh",
    "-c",
    'mount --bind . . && mount -o remount,bind,ro . && cd . && exec "$@"',
    "sh",
)
ALL_READ_ONLY = (
    "unshare",
    "--mount",
    "sh",
    "-c",
    'mount --bind . . && mount -o remount,bind,ro . && mount -o remount,bind,ro / && cd . && exec "$@"',
    "sh",
)
OTHER_USER = (
    *("setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"),
    # Python may be installed where only its owner can read.
    *("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"),
    *("env", "-i", f"PATH={os.defpath}", "PYTHONDONTWRITEBYTECODE=1"),
)
ALIASES = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 20))])


@cache
def _works(*prefix: str) -> bool:
    try:
        return subprocess.run([*prefix, "true"], capture_output=True, check=False, timeout=30).returncode == 0
    except OSError:
        return False


def _run(
    folder: Path, *words: str, prefix: Sequence[str] = (), environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONWARNINGS": "", **(environ or {})}
    return subprocess.run(
        [*prefix, *PYTEST, *words],
        cwd=folder,
        env={name: value for name, value in environment.items() if value or not environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def _told(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the plugin's lines."""
    return [line for line in result.stdout.splitlines() if line.startswith("dvwiki")]


def _others(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Return all other lines, without times."""
    lines = [line for line in result.stdout.splitlines() if not line.startswith("dvwiki")]
    return [line.partition(" in ")[0] if line.startswith("1 failed") else line for line in lines]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_a.py").write_text(TESTS)
    return tmp_path


@pytest.fixture
def public() -> Iterator[Path]:
    """Return a folder that other users can enter, unlike pytest's folders."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.mark.skipif(not _works(*UNKNOWN), reason="needs user namespaces")
def test_a_user_without_home_and_name_and_of_another_owner_s_checkout_has_a_run_as_any_other(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    nobody = {"HOME": "", "USER": "", "LOGNAME": "", "DVWIKI_CACHE_DIR": "", "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    without = _run(project, "-p", "no:dvwiki", prefix=UNKNOWN, environ=nobody)
    result = _run(project, "--dvwiki", prefix=UNKNOWN, environ=nobody)
    assert (result.returncode, result.stderr) == (without.returncode, without.stderr) == (1, "")
    assert _others(result) == _others(without)
    assert _told(result) == ["dvwiki: 1 cause, 1 new; .agent/wiki/index.md"]


@pytest.mark.skipif(not _works(*READ_ONLY), reason="needs to mount")
def test_a_file_system_that_cannot_be_written_costs_one_line(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    only_read = {"TMPDIR": str(tmp_path_factory.mktemp("tmp")), "DVWIKI_CACHE_DIR": str(project / "cache")}
    without = _run(project, "-p", "no:dvwiki", prefix=READ_ONLY, environ=only_read)
    result = _run(project, "--dvwiki", prefix=READ_ONLY, environ=only_read)
    assert (result.returncode, result.stderr) == (without.returncode, without.stderr) == (1, "")
    assert _others(result) == _others(without)
    headline, told = _told(result)
    assert headline == "dvwiki: 1 cause, 1 new"
    assert told.startswith(f"dvwiki: the wiki was not written: cannot write {project}/.agent/wiki")
    assert "put wiki_dir elsewhere; the failures are saved in " in told


@pytest.mark.skipif(not _works(*OTHER_USER, sys.executable, "-c", "pass"), reason="needs to become another user")
def test_a_user_without_home_and_name_in_the_checkout_of_another_one_has_a_run_as_any_other(public: Path) -> None:
    project, temporary = public / "project", public / "tmp"
    project.mkdir()
    (project / "test_a.py").write_text(TESTS)
    temporary.mkdir()
    temporary.chmod(0o1777)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    prefix = (*OTHER_USER, f"TMPDIR={temporary}")
    refused = subprocess.run([*prefix, "git", "status"], cwd=project, capture_output=True, text=True, check=False)
    assert "dubious ownership" in refused.stderr
    without = _run(project, "-p", "no:dvwiki", prefix=prefix)
    result = _run(project, "--dvwiki", prefix=prefix)
    assert (result.returncode, result.stderr) == (without.returncode, without.stderr) == (1, "")
    assert _others(result) == _others(without)
    headline, told = _told(result)
    assert headline == "dvwiki: 1 cause, 1 new"
    assert told.startswith(f"dvwiki: the wiki was not written: cannot write {project}/.agent/wiki")
    assert f"the failures are saved in {temporary}/dvwiki-12345-" in told


@pytest.mark.skipif(not _works(*ALL_READ_ONLY), reason="needs to mount")
def test_where_nothing_at_all_can_be_written_that_costs_one_line(project: Path) -> None:
    (project / "test_child.py").write_text(
        "import subprocess, sys\n"
        "def test_child():\n    subprocess.run([sys.executable, '-c', 'print(1)'], check=True)\n    assert 0\n"
    )
    nothing = {"TMPDIR": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    without = _run(project, "-s", "-p", "no:dvwiki", prefix=ALL_READ_ONLY, environ=nothing)
    result = _run(project, "-s", "--dvwiki", prefix=ALL_READ_ONLY, environ=nothing)
    assert (result.returncode, result.stderr) == (without.returncode, without.stderr) == (1, "")
    assert [line.partition(" in ")[0] for line in _others(result)] == [
        line.partition(" in ")[0] for line in _others(without)
    ]
    headline, told = _told(result)
    assert headline == "dvwiki: 2 causes, 2 new"
    assert told.startswith(f"dvwiki: the wiki was not written: cannot write {project}/.agent/wiki")
    assert told.endswith("put wiki_dir elsewhere")


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _dangling(path: Path) -> None:
    path.symlink_to("/nonexistent/file")


def _deep(path: Path) -> None:
    text = f"a:\n  {'[' * 100_000}\n"
    path.write_text(f"---\n{text}---\n# Deep\n" if path.suffix == ".md" else text)


def _growing(path: Path) -> None:
    path.write_text(f"---\n{ALIASES}\n---\n# Growing\n" if path.suffix == ".md" else ALIASES)


MAKERS = (_fifo, _endless, _dangling, _deep, _growing)
BROUGHT = (
    "wiki/bugs/odd{}.md", "wiki/patterns/odd{}.md", "patterns/own{}.yaml",
    "tasks/2026/11/regression_20261121T10101{}Z_abcdef.yaml", "tasks/2026/0{}.yaml",
    "tasks/verdicts/20261121T10101{}Z_abcdef.yaml",
)  # fmt: skip


def test_no_file_that_a_pull_request_can_bring_hangs_a_run_or_changes_its_end(project: Path) -> None:
    assert _run(project, "--dvwiki").returncode == 1
    files = [(name.format(n), make) for name in BROUGHT for n, make in enumerate(MAKERS, 1)]
    for name, make in (*files, ("wiki/schema.yaml", _endless), ("waivers.yaml", _fifo)):
        path = project / ".agent" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        make(path)
    result = _run(project, "--dvwiki")
    assert (result.returncode, result.stderr) == (1, "")
    assert _others(result)[-2:] == ["FAILED test_a.py::test_bad - assert 1 == 2", "1 failed, 1 passed"]
    headline, *told = _told(result)
    assert headline == "dvwiki: 1 cause, 1 known; .agent/wiki/index.md"
    assert sum(f"left out: {project}/.agent/patterns/own" in line for line in told) == len(MAKERS)
    assert f"dvwiki: [WAIVER] {project}/.agent/waivers.yaml: is a FIFO; replace it with a regular file" in str(told)
    assert not [line for line in told if "Error" in line or "Errno" in line]
    assert not [line for line in told if "; " not in line and "`dvwiki lint`" not in line]


@pytest.mark.parametrize("make", [_fifo, _endless, _growing])
def test_a_project_file_that_cannot_be_read_switches_the_plugin_off_with_one_line(
    project: Path, make: Callable[[Path], None]
) -> None:
    (project / ".agent").mkdir()
    make(project / ".agent" / "project.yaml")
    result = _run(project, "--dvwiki")
    assert (result.returncode, result.stderr) == (1, "")
    (told,) = _told(result)
    assert told.startswith(f"dvwiki is off: {project}/.agent/project.yaml:")
    assert "; " in told


PATTERN = """
- id: own.odd
  error_class: sim_error
  failure_subtype: hang
  tier: cause
  match: ["abc (?P<n>a+)+$", "abc a.*!"]
  unless: ["abc (a+)+ never$"]
  description: D.
  fix: F {n}.
"""
WAIVER = """
mode: selective
waivers:
- {id: W-1, match: {message: "regex:(a+)+b$", test: "*"}, reason: r, owner: o, expires: "2999-12-31"}
"""


def test_an_expression_that_a_pull_request_brings_keeps_no_run_busy(project: Path) -> None:
    (project / ".agent" / "patterns").mkdir(parents=True)
    (project / ".agent" / "patterns" / "own.yaml").write_text(PATTERN)
    (project / ".agent" / "waivers.yaml").write_text(WAIVER)
    (project / "test_a.py").write_text("def test_a():\n    raise RuntimeError('abc ' + 'a' * 3000 + '!')\n")
    result = _run(project, "--dvwiki")
    assert (result.returncode, result.stderr) == (1, "")
    (page,) = project.glob(".agent/wiki/bugs/[A-Z]*.md")
    assert "own.odd" in page.read_text()


COUNTED = """
from pathlib import Path
from pytest_dvwiki import secret_rules

seen, ask = [], secret_rules.rules_for

def rules_for(text):
    seen.append(len(text))
    return ask(text)

secret_rules.rules_for = rules_for

def pytest_unconfigure():
    Path("seen.txt").write_text(f"{max(seen)} {sum(seen)}")
"""


def test_of_a_message_of_30_mb_so_much_is_looked_at_and_kept(project: Path) -> None:
    (project / "conftest.py").write_text(COUNTED)
    (project / "test_a.py").write_text("def test_a():\n    raise RuntimeError('mismatch at 7 ' * (30_000_000 // 14))\n")
    result = _run(project, "--dvwiki", "--tb=no", "-rN")
    assert (result.returncode, result.stderr) == (1, "")
    longest, whole = map(int, (project / "seen.txt").read_text().split())
    assert longest < 1 << 19
    assert whole < 1 << 22
    kept = [path for path in (project / ".agent").rglob("*") if path.suffix in {".md", ".yaml"}]
    assert all(path.stat().st_size < 1 << 16 for path in kept)


@pytest.mark.parametrize(
    ("words", "is_told"), [((), True), (("--rootdir=.",), False), (("--rootdir=..",), False)], ids=str
)
def test_a_run_in_a_folder_below_the_memory_says_that_it_was_not_used(
    tmp_path: Path, words: tuple[str, ...], *, is_told: bool
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".agent").mkdir()
    folder = tmp_path / "tb"
    folder.mkdir()
    (folder / "test_it.py").write_text("def test_ok():\n    pass\n", encoding="utf-8")
    told = "dvwiki: ../.agent was ignored, because pytest's root is a folder below ..; run pytest with"
    assert _told(_run(folder, "--dvwiki", *words)) == ([f"{told} --rootdir=.."] if is_told else [])
