"""The folders in which make stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.make.folders import builds_in, stopped_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("target", "makefile", "stopped"),
    [
        ("sim_build/Vtop", None, "fifo"),
        ("sim_build/Vtop", "fifo/sim_build/Makefile", "fifo/sim_build"),
        ("Vtop", None, "fifo/sim_build"),
    ],
)
def test_a_make_for_a_target_of_its_caller_stops_in_the_folder_of_the_caller(
    tmp_path: Path, target: str, makefile: str | None, stopped: str
) -> None:
    block = tmp_path / "fifo"
    inner = block / "sim_build"
    inner.mkdir(parents=True)
    if makefile:
        (tmp_path / makefile).touch()
    log = tmp_path / "make.log"
    log.write_text(
        f"make: Entering directory '{block}'\n"
        f"make[1]: Entering directory '{inner}'\n"
        "model.cpp:3:1: error: unknown type name 'Vtop'\n"
        "make[1]: *** [Vtop.mk:61: model.o] Error 1\n"
        f"make[1]: Leaving directory '{inner}'\n"
        f"make: *** [/opt/cocotb/makefiles/Makefile.verilator:69: {target}] Error 2\n"
        f"make: Leaving directory '{block}'\n"
    )
    assert [folder for folder, _ in stopped_in(log)] == [str(tmp_path / stopped)]


def test_a_make_that_stops_because_a_make_that_it_called_stopped_is_no_second_build() -> None:
    inner = [
        "ghdl -m regs",
        "regs.vhd:7:3: no declaration",
        "make[1]: *** [Makefile.ghdl:98: analyse] Error 1",
        "make[1]: Leaving directory '/tb'",
        "make[1]: Target 'all' not remade because of errors.",
    ]
    outer = "make: *** [Makefile.inc:40: sim] Error 2"
    once = ["\n".join(inner[:3])]
    assert list(builds_in([*inner, outer])) == once
    assert list(builds_in([*inner, outer.replace("Error 2", "Terminated")])) == once
    assert len(list(builds_in([*inner, "ghdl -m fifo", outer]))) == len(("inner", "outer"))
    assert len(list(builds_in([*inner, *inner, outer]))) == len(("one", "other"))
    lacking = ["make: *** No rule to make target 'a.vhd', needed by 'x'.", "make: *** No rule to make target 'b.vhd'."]
    assert list(builds_in(lacking)) == lacking
