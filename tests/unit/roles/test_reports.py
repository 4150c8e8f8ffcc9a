"""A report's exception is read once for each place, and never for another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.roles.reports import frame_of

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import Frame

CHECKS = """
def check(value):
    if value > 1:
        check(value - 2)
    assert value == {expected}


def other(value):
    assert value == {expected}
"""


def raised(file: Path, root: Path, function: str, value: int) -> Frame:
    names: dict[str, object] = {}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), names)  # noqa: S102
    with pytest.raises(AssertionError) as error:
        names[function](value)  # type: ignore[operator]
    frame = frame_of(error, root)
    assert frame is not None
    return frame


def test_each_failure_has_the_frame_of_its_own_place(tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(CHECKS.format(expected=-1), "utf-8")
    two.write_text(CHECKS.format(expected=-2), "utf-8")
    for _ in range(2):
        first, second = raised(one, tmp_path, "check", 1), raised(two, tmp_path, "check", 1)
        assert (first.file, first.source) == ("one.py", "assert value == -1")
        assert (second.file, second.source) == ("two.py", "assert value == -2")
        assert raised(one, tmp_path, "other", 1).function == "other"
        assert raised(one, tmp_path / "elsewhere", "check", 1).file == f"{tmp_path.name}/one.py"
        assert len(raised(one, tmp_path, "check", 3).callers) == len(first.callers) + 1
