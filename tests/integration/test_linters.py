"""The messages of a linter in a test name the failure, and the linter does not count as a simulation."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Project

DRIVER = Path(__file__).parents[1] / "unit" / "simulators" / "messages" / "make.py"
"""Runs slang if it gets arguments."""


# Not imported here: at exit the bindings report each object that was not collected.
@pytest.mark.skipif(find_spec("pyslang") is None, reason="needs pyslang")
def test_what_slang_says_names_the_failure(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    program = project.path / "bin" / "slang"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{DRIVER}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    (project.path / "dut.sv").write_text("module dut; fifo u(); endmodule\n", encoding="utf-8")
    project.pytester.makepyfile(
        """
        import subprocess

        def test_lint():
            subprocess.run(["slang", "dut.sv"], check=True)
        """
    )
    project.run("-s")
    assert project.causes() == {"test_lint": "compile_error/missing_module"}
    (cause,) = project.records()[0]["occurrences"]
    assert (cause["pattern"], cause["primary"]) == ("slang.module", "dut.sv:1:13: error: unknown module 'fifo'")
    assert project.records()[0]["simulators"] == [{"name": "slang", "version": None}]
