"""Finds the Makefile that ran a simulation, from the log of a real make that does not mention cocotb."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.make.which_makefile import Makefiles, MakeRun

if TYPE_CHECKING:
    from pathlib import Path


def log_of_make(folder: Path, makefile: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "Makefile").write_text(makefile)
    done = subprocess.run(
        ["make"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode
    return done.stdout


@pytest.mark.parametrize(
    "makefile",
    ["sim: dut.v\n\t@false\ndut.v:\n", "sim:\n\t@false\n", "sim:\n  false\n"],
    ids=["stopped target", "only target", "missing separator"],
)
def test_a_makefile_in_which_make_stopped_ran_what_is_beside_it(tmp_path: Path, makefile: str) -> None:
    log = log_of_make(tmp_path / "sim", makefile)
    assert Makefiles(tmp_path).of(MakeRun(tmp_path / "sim", log=log)) == tmp_path / "sim" / "Makefile"


def test_a_makefile_without_the_target_that_stopped_did_not_run(tmp_path: Path) -> None:
    log = log_of_make(tmp_path / "other", "sim:\n\t@false\n")
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "Makefile").write_text("lint:\n\t@true\n")
    assert Makefiles(tmp_path).of(MakeRun(tmp_path / "sim", log=log)) is None


@pytest.mark.parametrize(("module", "is_found"), [("bench", True), ("other", False)])
def test_a_makefile_whose_recipes_run_another_module_did_not_run(tmp_path: Path, module: str, is_found: bool) -> None:
    makefile = tmp_path / "sim" / "Makefile"
    makefile.parent.mkdir()
    makefile.write_text("sim:\n\t@MODULE=bench vvp -m $(shell cocotb-config --libs) sim.vvp\n")
    found = Makefiles(tmp_path).of(MakeRun(makefile.parent, modules=frozenset({module})))
    assert found == (makefile if is_found else None)
