"""Real pytest runs with the plugin, and what they archived."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

# pytester drops the modules that a run inside this process was the first to import. Loaded here, they stay: there is
# one copy of each class, and installed plugins are found. (The charts load `importlib_metadata`, which switches off
# Python's own search for packages and brings another one, which would be dropped.)
import pytest_dvwiki.pipeline
import pytest_dvwiki.report.site.charts
import pytest_dvwiki.report.terminal  # noqa: F401

if TYPE_CHECKING:
    from pathlib import Path


LEAN = ("-p", "no:hypothesispytest", "-p", "no:anyio")
"""Without plugins that import much in each process, whatever its tests are."""


@dataclass(frozen=True)
class Project:
    """A folder with tests, and a way to run them."""

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
        """All records, the oldest first."""
        paths = sorted((self.path / ".agent" / "tasks").glob("2*/*/*.yaml"), key=lambda path: path.stat().st_mtime_ns)
        return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths]

    def causes(self) -> dict[str, str]:
        """Labels of the newest record by test."""
        return {
            test["nodeid"].rpartition("::")[2]: f"{cause['error_class']}/{cause['failure_subtype']}"
            for cause in self.records()[-1]["occurrences"]
            for test in cause["tests"]
        }

    def pages(self) -> set[str]:
        """Names of the bug pages."""
        return {path.name for path in (self.wiki / "bugs").glob("[!_]*.md")}


def git(root: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    identity = ("-c", "user.name=someone", "-c", "user.email=someone@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *identity, "-C", str(root), *arguments], capture_output=True, text=True, check=check, timeout=60
    )


def install(packages: Path, entry_points: str, **modules: str) -> None:
    """A package in a folder of packages.

    Args:
        packages: The folder.
        entry_points: Those of the group, a line each.
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
