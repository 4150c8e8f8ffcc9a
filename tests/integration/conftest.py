"""Runs pytest with the plugin, and reads the archived records."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

# pytester drops the modules that a run in this process imported first. If they are loaded here, there is one copy of
# each class, and installed plugins are found. (The charts load `importlib_metadata`, which replaces Python's search for
# packages by its own, which pytester would drop.)
import pytest_dvwiki.pipeline
import pytest_dvwiki.report.site.charts
import pytest_dvwiki.report.terminal  # noqa: F401

if TYPE_CHECKING:
    from pathlib import Path


LEAN = ("-p", "no:hypothesispytest", "-p", "no:anyio")
"""Switches off plugins that import much in each process."""


@dataclass(frozen=True)
class Project:
    """A folder with tests that can be run."""

    pytester: pytest.Pytester

    @property
    def path(self) -> Path:
        return self.pytester.path

    @property
    def wiki(self) -> Path:
        return self.path / ".agent" / "wiki"

    def run(self, *arguments: str, plugin: bool = True, in_process: bool = False) -> pytest.RunResult:
        on = ("--dvwiki",) if plugin else ("-p", "no:dvwiki")
        if in_process:
            return self.pytester.runpytest_inprocess(*on, "-p", "no:cacheprovider", *arguments)
        return self.pytester.runpytest_subprocess(*LEAN, *on, "-p", "no:cacheprovider", *arguments)

    def records(self) -> list[dict[str, Any]]:
        """Return all records, the oldest first."""
        paths = sorted((self.path / ".agent" / "tasks").glob("2*/*/*.yaml"), key=lambda path: path.stat().st_mtime_ns)
        return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths]

    def causes(self) -> dict[str, str]:
        """Return the labels of the newest record, by test."""
        return {
            test["nodeid"].rpartition("::")[2]: f"{cause['error_class']}/{cause['failure_subtype']}"
            for cause in self.records()[-1]["occurrences"]
            for test in cause["tests"]
        }

    def pages(self) -> set[str]:
        """Return the names of the bug pages."""
        return {path.name for path in (self.wiki / "bugs").glob("[!_]*.md")}


def git(root: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    identity = ("-c", "user.name=someone", "-c", "user.email=someone@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *identity, "-C", str(root), *arguments], capture_output=True, text=True, check=check, timeout=60
    )


def install(packages: Path, entry_points: str, **modules: str) -> None:
    """Install a package in a folder of packages.

    Args:
        packages: The folder.
        entry_points: Entry points of the group, one on each line.
        modules: The text of each of its modules.
    """
    metadata = packages / "vip-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: vip\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[dvwiki]\n{entry_points}\n", encoding="utf-8")
    for name, text in modules.items():
        (packages / f"{name}.py").write_text(text, encoding="utf-8")


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)
