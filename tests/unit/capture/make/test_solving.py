"""A printed call of make runs the design and the tests of the log, or it says what the log does not show."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.make.makefiles import make_call
from pytest_dvwiki.capture.make.which_makefile import Makefiles, MakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.capture.simulations.reproduce import Call

ONE = """\
DUT ?= low
ifeq ($(DUT),bus)
  TOPLEVEL := bus_slave
else
  TOPLEVEL := $(DUT)
endif
MODULE := tb_$(DUT)
COCOTB_RESULTS_FILE := results/$(MODULE).xml
SIM ?= ghdl
include $(shell cocotb-config --makefiles)/Makefile.sim
"""
TWO = """\
ifeq (${CORE}, wide)
  TOPLEVEL = fifo
  MODULE = tb_wide
else
  TOPLEVEL = fifo
  MODULE = tb_narrow
endif
"""
OF_SIM = f"{ONE}ifeq ($(SIM),ghdl)\nVHDL_SOURCES = a.vhd\nendif\n"
CALLED = "\"make\" -f {name} results/{goal}.xml\nmake[1]: Entering directory '{{root}}/sim'\n"
FOUND = "0.00ns INFO cocotb.regression Found test {0}.test_{1}\n"
RAN = FOUND + "MODULE={0} TOPLEVEL={1} TOPLEVEL_LANG=vhdl \\\n {2} -r {1} --vpi=x.so\n"


def call(root: Path, makefile: str, log: str, name: str = "Makefile", module: str = "") -> Call:
    """Return the call of make for a log of a folder; a Makefile with a name of its own has another beside it."""
    folder = root / "sim"
    folder.mkdir()
    (folder / "Makefile").write_text("TOPLEVEL = other\ninclude $(MAKEFILES)/Makefile.sim\n")
    (folder / name).write_text(makefile)
    log = log.replace("{root}", str(root))
    found = Makefiles(root).of(MakeRun(folder / "out", entered=frozenset({str(folder)}), log=log))
    assert found == folder / name
    made = make_call(found, log, root, {}, modules={module} - {""})
    assert made is not None
    return made


def run(root: Path, made: Call) -> list[str]:
    """Return the module and top that make finds for a call."""
    asking = root / "sim" / "ask.mk"
    named = [word for word in made.arguments if word.endswith(".mk")] or ["Makefile"]
    text = (root / "sim" / named[0]).read_text().partition("include")[0]
    asking.write_text(f"{text}$(info $(MODULE) $(TOPLEVEL) $(SIM))\n.PHONY: all\nall: ;\n")
    words = [word for word in made.arguments[1:] if "=" in word]
    environment = {"PATH": "/usr/bin:/bin", **made.variables}
    done = subprocess.run(
        ["make", "-s", "-f", "ask.mk", *words],
        cwd=root / "sim",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize("name", ["Makefile", "alone.mk"])
@pytest.mark.parametrize("ran", ["tb_bus bus_slave ghdl", "tb_low low nvc", "tb_high high ghdl", "tb_high high nvc"])
@pytest.mark.parametrize("is_built", [True, False])
def test_the_values_give_what_the_log_shows(tmp_path: Path, name: str, ran: str, is_built: bool) -> None:
    module, top, simulator = ran.split()
    failed = f"/usr/bin/{simulator} -a x.vhd\nmake[1]: *** [Makefile.{simulator}:42: analyse] Error 1\n"
    log = CALLED.format(name=name, goal=module) + (RAN.format(module, top, simulator) if is_built else failed)
    made = call(tmp_path, ONE, log, name)
    assert made.unknown == ""
    assert made.arguments == (("make", "-f", "alone.mk") if name == "alone.mk" else ("make",))
    assert run(tmp_path, made) == ran.split()
    assert {"MODULE", "TOPLEVEL", "COCOTB_TOPLEVEL"}.isdisjoint(made.variables)


def test_a_value_that_only_a_condition_names_is_found(tmp_path: Path) -> None:
    made = call(tmp_path, TWO, RAN.format("tb_wide", "fifo", "ghdl"))
    assert (made.unknown, made.variables["CORE"]) == ("", "wide")
    assert run(tmp_path, made) == ["tb_wide", "fifo", "ghdl"]


def test_the_module_of_the_results_is_known_without_a_log(tmp_path: Path) -> None:
    assert call(tmp_path, ONE, "nothing\n", module="tb_bus").variables == {"DUT": "bus"}


@pytest.mark.parametrize(
    ("makefile", "log", "unknown"),
    [
        (ONE, "/usr/bin/ghdl -a x.vhd\nmake: *** [x] Error 1\n", "the value of DUT, which decides"),
        (ONE, "iverilog -o sim.vvp -s bus_slave x.v\nx.v:1: syntax error\n", "the value of DUT, which decides"),
        (ONE, RAN.format("tb_bus", "low", "ghdl"), "the value of DUT, which decides"),
        (OF_SIM, CALLED.format(name="Makefile", goal="tb_bus"), "the value of SIM, which decides"),
        (OF_SIM, "make: *** No rule to make target 'a.vhd'.\n", "the values of DUT and SIM, which decide "),
        ("DUT ?= low\nTOPLEVEL = dut\nMODULE ?= tb\n", "/usr/bin/ghdl -a x.vhd\n", ""),
        (ONE.replace("$(DUT)\nend", "$(shell echo $(DUT))\nend"), RAN.format("tb_bus", "bus_slave", "ghdl"), ""),
    ],
)
def test_a_value_that_decides_what_runs_and_that_the_log_does_not_show_is_named(
    tmp_path: Path, makefile: str, log: str, unknown: str
) -> None:
    made = call(tmp_path, makefile, log)
    assert unknown in made.unknown
    assert bool(unknown) == bool(made.unknown)


def test_a_simulator_that_overrides_the_makefile_is_on_the_command_line(tmp_path: Path) -> None:
    made = call(tmp_path, "SIM = ghdl\nTOPLEVEL = low\nMODULE = tb_low\n", RAN.format("tb_low", "low", "nvc"))
    assert made.arguments == ("make", "SIM=nvc")
    assert run(tmp_path, made) == ["tb_low", "low", "nvc"]


def test_of_several_named_makefiles_that_of_the_module_ran(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("include $(MAKEFILES)/Makefile.sim\n")
    log = ""
    for name in ("a", "b"):
        (tmp_path / f"{name}.mk").write_text(f"MODULE = tb_{name}\n")
        log += f"\"make\" -f {name}.mk results.xml\nmake[1]: Entering directory '{tmp_path}'\n"
    run = MakeRun(tmp_path, modules=frozenset({"tb_b"}), entered=frozenset({str(tmp_path)}), log=log)
    assert Makefiles(tmp_path).of(run) == tmp_path / "b.mk"
