"""A project in which the tests call the commands."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_CI = re.compile(r"CI$|CI_|GITHUB_|BUILD_|JOB_NAME$|LSB_|SLURM_|CIRCLE_|BUILDKITE_|TRAVIS_|BITBUCKET_")
"""Environment variables of the test machine from which a run would get its name."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project without a wiki, as the current folder of a terminal of 80 columns."""
    root = tmp_path / "project"
    (root / ".agent").mkdir(parents=True)
    monkeypatch.chdir(root)
    for name in [name for name in os.environ if _CI.match(name)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "80")
    return root
