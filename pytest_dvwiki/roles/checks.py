"""Log checks as pytest items: each `*.check.yaml` is a test."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.checks import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class CheckFailed(Exception):  # noqa: N818  # it is not an error of the program
    """Raised if a check fails or cannot be run; the message is the test's report."""


class Checks:
    """Collects the checks of a session."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self.note = note

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.File | None:
        """Collect a check file."""
        if not file_path.name.endswith(SUFFIX):
            return None
        file: _CheckFile = _CheckFile.from_parent(parent, path=file_path)
        file.note = self.note
        return file


class _CheckFile(pytest.File):
    """A check file. It is read when its test runs, so that an error in it does not stop other tests."""

    note: Callable[[str], None]

    def collect(self) -> Iterator[pytest.Item]:
        item: _CheckItem = _CheckItem.from_parent(self, name=self.path.name.removesuffix(SUFFIX))
        item.note = self.note
        yield item


class _CheckItem(pytest.Item):
    """The test of one check."""

    note: Callable[[str], None]

    def runtest(self) -> None:
        from pytest_dvwiki.checks import text  # noqa: PLC0415  # a session without checks needs none
        from pytest_dvwiki.checks.evaluate import check  # noqa: PLC0415
        from pytest_dvwiki.checks.schema import CheckError  # noqa: PLC0415

        try:
            result = check(self.path, root=self.config.rootpath, environment=os.environ)
        except CheckError as error:
            raise CheckFailed(f"check cannot be run: {error}") from error
        if not result.is_right:
            raise CheckFailed("\n".join(text.lines(result)))
        for note in text.notes(result):
            self.note(note)
        if result.is_empty:
            pytest.skip("the check has no conditions")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]  # as pytest's own examples do
        """Return the report of the check, without a traceback."""
        if isinstance(excinfo.value, CheckFailed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name}::{self.name}"
