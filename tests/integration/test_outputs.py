"""An output of another package is one function: tests the example of the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from .conftest import Project

DOCS = Path(__file__).parents[2] / "docs" / "outputs.md"
BROKEN = "def test_adds():\n    assert 1 + 1 == 3\n"


def test_the_example_writes_what_is_said_of_each_cause(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    (project.path / "conftest.py").write_text(code)
    summary = project.path / "summary.txt"
    monkeypatch.setenv("DVWIKI_SUMMARY", str(summary))

    def run(test: str) -> str:
        (project.path / "test_sum.py").write_text(test)
        project.run()
        return summary.read_text("utf-8")

    assert "NEW python_error / assertion_error: test_sum.py::test_adds\nAssertionError: assert (1 + 1) == 3\n" in run(
        BROKEN
    )
    known = run(BROKEN)
    assert "KNOWN python_error / assertion_error" in known
    assert "\nSeen once before, on 20" in known
    assert "python -m pytest test_sum.py::test_adds" in known
    assert "\nFIXED python_error" in run(BROKEN.replace("3", "2"))


def test_a_run_makes_the_report(project: Project) -> None:
    (project.path / "test_sum.py").write_text(BROKEN)
    site = project.path / "build" / "report"
    result = project.run("--dvwiki-html=build/report", in_process=True)
    assert result.ret == 1
    assert "python_error / assertion_error" in (site / "index.html").read_text("utf-8")
    (site / ".dvwiki-report.json").unlink()
    result = project.run("--dvwiki-html=build/report", in_process=True)
    assert result.ret == 1
    assert re.search(r"making the report failed: .*contains other files; give a new or empty", str(result.stdout))
