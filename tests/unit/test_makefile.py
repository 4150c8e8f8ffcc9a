"""Another target runs each test that `make test` omits."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
MAKEFILE = (TESTS.parent / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")


def test_a_target_runs_each_test_that_only_a_further_mode_has() -> None:
    marked = "mark.further_mode"
    files = {path for path in TESTS.rglob("*.py") if marked in path.read_text(encoding="utf-8")} - {Path(__file__)}
    left_out = re.findall(r"^\t.*pytest.*not further_mode.*", MAKEFILE, re.MULTILINE)
    assert left_out
    run = {name for line in re.findall(r"^\t.*pytest .*", MAKEFILE, re.MULTILINE) for name in line.split()}
    assert {path.relative_to(TESTS.parent).as_posix() for path in files} <= run
