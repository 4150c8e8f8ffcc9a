"""A folder with checks and the files that they read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.checks.evaluate import check

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.checks.evaluate import CheckResult


@dataclass(frozen=True)
class Folder:
    path: Path

    def write(self, name: str, text: str | bytes) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def check(self, text: str | bytes, **environment: str) -> CheckResult:
        return check(self.write("a.check.yaml", text), root=self.path, environment=environment)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)
