"""Where the commands are called in the tests."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_CI = re.compile(r"CI$|CI_|GITHUB_|BUILD_|JOB_NAME$|LSB_|SLURM_|CIRCLE_|BUILDKITE_|TRAVIS_|BITBUCKET_")
"""Variables of the machine that runs the tests, by which a run would be known."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without a wiki yet, as the present folder of a terminal of 80 columns."""
    root = tmp_path / "project"
    (root / ".agent").mkdir(parents=True)
    monkeypatch.chdir(root)
    for name in [name for name in os.environ if _CI.match(name)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "80")
    return root
