"""Finds the variables that a Makefile takes from outside, with their values; tests/sim runs make."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.make.calls import makefiles_read
from pytest_dvwiki.capture.make.makefiles import assignments, from_outside, make_call, python_path, text_of

from ...effort import takes_seconds_at_most

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_dvwiki.capture.simulations.reproduce import Call

MAKEFILE = """\
# $(COMMENTED) is none
include common.mk
TOP ?= dut
COCOTB_TOPLEVEL = $(TOP)
VERILOG_SOURCES = $(ROOT)/rtl/$(or $(SOURCE),dut).sv \\
    $(LIB)/cells.v
COMPILE_ARGS += -Pdut.WIDTH=$(WIDTH)
ifdef COVER
endif
FIXED := 1
X := $(FIXED)$(CURDIR)
"""
LOG = """\
/usr/bin/iverilog -o sim_build/sim.vvp -s fifo -g2012 -Pdut.WIDTH=16 -f sim_build/cmds.f \\
	{root}/rtl/other.sv /opt/lib/cells.v
COCOTB_TEST_MODULES=bench COCOTB_TESTCASE=  COCOTB_TOPLEVEL=fifo TOPLEVEL_LANG=verilog       \\
\t /usr/bin/vvp -m x.so sim_build/sim.vvp
"""


def call(root: Path, makefile: str = MAKEFILE, log: str = LOG, environment: Mapping[str, str] | None = None) -> Call:
    folder = root / "sim"
    folder.mkdir()
    (folder / "Makefile").write_text(makefile)
    (folder / "common.mk").write_text("MORE ?= 1\n")
    (folder / "make.log").write_text(log.format(root=root))
    found = make_call(folder / "Makefile", (folder / "make.log").read_text(), root, environment or {})
    assert found is not None
    return found


def test_what_a_makefile_takes_from_outside(tmp_path: Path) -> None:
    call(tmp_path)
    names = from_outside(text_of(tmp_path / "sim" / "Makefile"))
    assert names == {"TOP", "ROOT", "SOURCE", "LIB", "COMPILE_ARGS", "WIDTH", "COVER", "MORE"}


@pytest.mark.parametrize("name", ["Makefile", "common.mk"])
def test_a_pipe_in_the_place_of_a_makefile_is_none(tmp_path: Path, name: str) -> None:
    call(tmp_path)
    (tmp_path / "sim" / name).unlink()
    os.mkfifo(tmp_path / "sim" / name)
    assert "MORE" not in from_outside(text_of(tmp_path / "sim" / "Makefile"))


def test_the_log_tells_with_which_values_it_ran(tmp_path: Path) -> None:
    found = call(tmp_path, environment={"WIDTH": "8", "COVER": "1", "OTHER": "x"})
    assert found.arguments == ("make",)
    assert found.folder == "sim"
    assert found.variables == {
        "SIM": "icarus",
        "COCOTB_TEST_MODULES": "bench",
        "TOPLEVEL_LANG": "verilog",
        "TOP": "fifo",
        "ROOT": "$PWD/..",
        "SOURCE": "other",
        "LIB": "/opt/lib",
        "WIDTH": "16",  # that of the log, not of its reader
        "COVER": "1",
    }


def test_what_a_makefile_sets_itself_is_said_on_the_command_line_where_it_was_another(tmp_path: Path) -> None:
    same = "SIM = icarus\nCOCOTB_TOPLEVEL = fifo\nCOCOTB_TEST_MODULES := other\nTOPLEVEL_LANG = verilog\n"
    found = call(tmp_path, makefile=same)
    assert found.arguments == ("make", "COCOTB_TEST_MODULES=bench")
    assert found.variables == {"SIM": "icarus"}


ASSIGNING = """\
ifdef WAVES
\tFIRST = tabbed
endif
export override SECOND := two
STAMP != date
define RUN
\tTHIRD=no vvp
define inner
endef
\tFOURTH=no vvp
endef
all: build

ifdef FAST
\tFIFTH=no vvp
endif
\t@SIXTH=no SEVENTH=no vvp
  EIGHTH = eight # indented by spaces
\tNINTH ?= nine
wide tall: export WIDTH = 16
wide: build
\tTENTH=no vvp
%_fast: SPEED := 2
once: ; ELEVENTH=no vvp
"""
SET = [
    ("FIRST", "=", "tabbed"),
    ("SECOND", ":=", "two"),
    ("STAMP", "!=", "date"),
    ("RUN", "=", ""),
    ("EIGHTH", "=", "eight"),
    ("NINTH", "?=", "nine"),
]


@pytest.mark.parametrize(
    ("targets", "more"),
    [
        ((), []),
        (("all", "once"), []),
        (("tall",), [("WIDTH", "=", "16")]),
        (("wide", "run_fast"), [("WIDTH", "=", "16"), ("SPEED", ":=", "2")]),
    ],
)
def test_what_a_recipe_gives_to_its_command_is_no_assignment(
    tmp_path: Path, targets: tuple[str, ...], more: list[tuple[str, str, str]]
) -> None:
    makefile = tmp_path / "Makefile"
    makefile.write_text(ASSIGNING)
    found = assignments(text_of(makefile), targets)
    assert found == SET + more
    by_make = (known_to_make(makefile, target) for target in targets or ["all"])
    assert {name for name, _, _ in found} == set().union(*by_make)


def known_to_make(makefile: Path, target: str) -> set[str]:
    """Return the variables that GNU make takes from a Makefile while it makes a target."""
    names = set(re.findall(r"[A-Z]{3,}", ASSIGNING)) - {"WAVES", "FAST"}
    show = f"$(foreach each,{' '.join(names)},$(if $(filter file override,$(origin $(each))),$(each)))"
    rules = f"build:\nrun_fast tall wide all once: show\nshow: ; @echo {show}\n"
    (makefile.parent / "asking.mk").write_text(f"{makefile.read_text()}{rules}")
    call = ["make", "-f", "asking.mk", "WAVES=1", "-k", target]
    # The tests may themselves run below make.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(call, cwd=makefile.parent, env=alone, capture_output=True, text=True, check=False)
    return set(done.stdout.split("\n")[0].split())


@pytest.mark.parametrize(
    ("makefile", "arguments", "module"),
    [
        ("wide:\n\tMODULE=other $(MAKE) narrow\n", ("make", "wide"), "bench"),
        ("wide: MODULE=other\n", ("make", "wide", "MODULE=bench"), None),
        ("tall: MODULE=other\n", ("make", "wide"), "bench"),
        ("MODULE = other\n", ("make", "wide", "MODULE=bench"), None),
    ],
)
def test_a_value_is_given_by_the_environment_unless_the_makefile_sets_it_for_the_target(
    tmp_path: Path, makefile: str, arguments: tuple[str, ...], module: str | None
) -> None:
    log = "make wide\nmake[1]: Entering directory '{root}/sim'\nMODULE=bench vvp -m x sim.vvp\n"
    found = call(tmp_path, makefile=f"{makefile}include $(SHARED)/Makefile.sim\n", log=log)
    assert (found.arguments, found.variables.get("MODULE")) == (arguments, module)


@pytest.mark.parametrize(
    ("makefile", "arguments"),
    [
        ("wide: MODULE=other\nwide: run\n", ("make", "MODULE=bench")),
        ("include $(SHARED)/rules.mk\nwide: MODULE=other\nwide: run\n", ("make",)),
        ("narrow: run\nwide: MODULE=other\nwide: run\n", ("make",)),
    ],
)
def test_without_a_target_the_first_one_is_made(tmp_path: Path, makefile: str, arguments: tuple[str, ...]) -> None:
    found = call(tmp_path, makefile=makefile, log="MODULE=bench vvp -m x sim.vvp\n")
    assert found.arguments == arguments


OWN_RULES = """\
export TOPLEVEL_LANG = verilog
all: test_add test_mux
test_add:
\tiverilog -o add.vvp -s add rtl/add.v
\tCOCOTB_TEST_MODULES=tb.test_add vvp -M lib -m vpi add.vvp

test_mux:
\tiverilog -o mux.vvp -s mux rtl/mux.v
\tMODULE=tb.test_mux vvp -M lib -m vpi mux.vvp
"""


@pytest.mark.parametrize(
    ("makefile", "target", "variables"),
    [
        (OWN_RULES, "test_mux", {}),
        (OWN_RULES.replace("-s mux", "-s $(TOPLEVEL)"), "test_mux", {"COCOTB_TOPLEVEL": "mux"}),
    ],
    ids=["one rule", "a top from outside"],
)
def test_a_rule_that_calls_the_simulator_itself_is_the_target(
    tmp_path: Path, makefile: str, target: str, variables: Mapping[str, str]
) -> None:
    log = "iverilog -o mux.vvp -s mux rtl/mux.v\nMODULE=tb.test_mux vvp -M lib -m vpi mux.vvp\n"
    found = call(tmp_path, makefile=makefile, log=log)
    assert found.arguments == ("make", *filter(None, [target]))
    assert {name: value for name, value in found.variables.items() if name != "SIM"} == variables


RECURSIVE = """\
COCOTB_TOPLEVEL = dut
COCOTB_TEST_MODULES = bench
VERILOG_SOURCES = rtl/dut.sv
ram:
\t@$(MAKE) sim TOPLEVEL=ram MODULE=test_ram VERILOG_SOURCES=rtl/ram.sv
rom: ; $(MAKE) sim TOPLEVEL=rom
"""
ENTERED = "make[1]: Entering directory '{folder}'\n"
OF_RAM = "/usr/bin/iverilog -o x -s ram ram.sv\nCOCOTB_TEST_MODULES=test_ram COCOTB_TOPLEVEL=ram vvp -m x\n"
RAM = ("make", "sim", "TOPLEVEL=ram", "MODULE=test_ram")


@pytest.mark.parametrize(
    ("folder", "printed", "wanted"),
    [
        (
            "{root}/sim",
            "make sim TOPLEVEL=ram \\\n\tMODULE=test_ram \\\n\tVERILOG_SOURCES=a.sv",
            (*RAM, "VERILOG_SOURCES=a.sv"),
        ),
        ("/ci/job/sim", "rm -rf x && /usr/bin/make -C ../sim -s sim TOPLEVEL=ram MODULE=test_ram", RAM),
        ("{root}/sim", "make sim TOPLEVEL=ram MODULE=test_ram A='{root}/rtl/b c.sv'", (*RAM, "A=../rtl/b c.sv")),
        ("{root}/sim", "echo not printed", (*RAM, "VERILOG_SOURCES=rtl/ram.sv")),
        ("{root}/rtl", "make other", ("make", "COCOTB_TEST_MODULES=test_ram", "COCOTB_TOPLEVEL=ram")),
    ],
)
def test_a_makefile_that_calls_itself_is_called_as_it_did(
    tmp_path: Path, folder: str, printed: str, wanted: tuple[str, ...]
) -> None:
    log = f"{printed}\n{ENTERED.format(folder=folder)}{OF_RAM}"
    found = call(tmp_path, makefile=RECURSIVE, log=log)
    assert found.arguments == wanted
    assert found.variables == {"SIM": "icarus"}


def test_a_makefile_that_is_called_by_name_for_each_design(tmp_path: Path) -> None:
    """Each design has its own Makefile in one folder, and each is called first to clean up."""
    designs = [f"d{number}" for number in range(9)]
    entered = ENTERED.format(folder=tmp_path / "sim")
    left = entered.replace("Entering", "Leaving")
    ran = "COCOTB_TEST_MODULES=test_{0} COCOTB_TOPLEVEL={0} vvp -m x\n** TESTS=1 PASS=0 FAIL=1 SKIP=0 **\n"
    log = "".join(
        f"make -f {name}.mk clean\n{entered}{left}timeout 40 make -f {name}.mk\n{entered}{ran.format(name)}{left}"
        for name in designs
    )
    (tmp_path / "sim").mkdir()
    for name in designs:
        text = f"COCOTB_TOPLEVEL = {name}\nCOCOTB_TEST_MODULES = test_{name}\ninclude $(MAKEFILES)/Makefile.sim\n"
        (tmp_path / "sim" / f"{name}.mk").write_text(text)
    makefile = tmp_path / "sim" / "Makefile"
    makefile.write_text("%.xml:\n\tmake -f $*.mk clean\n\t-timeout 40 make -f $*.mk\n")
    found = make_call(makefile, log, tmp_path, {}, modules=["test_d2"])
    assert found is not None
    # The folder of builds holds the last design.
    variables = {"SIM": "icarus", "SIM_BUILD": "sim_build/d2"}
    assert (found.arguments, found.variables) == (("make", "-f", "d2.mk"), variables)


@pytest.mark.parametrize("shown", [True, False])
def test_the_log_of_a_regression_shows_the_values_of_each_folder(tmp_path: Path, shown: bool) -> None:
    def made(folder: Path, top: str, simulator: str) -> str:
        sub = ENTERED.format(folder=folder).replace("[1]", "[2]")
        end = f"make[2]: Leaving directory '{folder}'\nmake[1]: Leaving directory '{folder}'\n"
        return f"{ENTERED.format(folder=folder)}{sub}MODULE=t_{top} TOPLEVEL={top} {simulator} -r {top}\n{end}"

    runs = (("a", "first", "vvp"), ("sim", "dut", "ghdl"), ("b", "last", "vvp"))
    log = "".join(made(tmp_path / folder, top, simulator) for folder, top, simulator in runs)
    log = log if shown else log.replace("MODULE=t_dut TOPLEVEL=dut ghdl -r dut", "make[2]: *** No rule for dut.vhd")
    found = call(tmp_path, makefile="TOPLEVEL = dut\nMODULE = t_dut\n", log=log)
    assert (found.arguments, found.variables) == (("make",), {"SIM": "ghdl"} if shown else {})


@pytest.mark.parametrize(
    ("line", "simulator"),
    [
        ("/usr/bin/ghdl -a --std=08 dff.vhdl", "ghdl"),
        ("perl /x/verilator -cc --exe --top-module fifo", "verilator"),
        ("     0.00ns INFO     cocotb.initialize  Running on Verilator version 5.048", "verilator"),
        ("nothing", None),
    ],
)
def test_the_simulator_is_that_of_the_log(tmp_path: Path, line: str, simulator: str | None) -> None:
    assert call(tmp_path, makefile="", log=f"{line}\n").variables.get("SIM") == simulator


def test_of_two_tops_of_a_build_the_first_is_that_of_the_tests(tmp_path: Path) -> None:
    log = "/usr/bin/iverilog -o sim.vvp -s dut -g2012 -s dump dut.v dump.v\ndut.v:3: syntax error\n"
    assert call(tmp_path, makefile="TOPLEVEL = dut\n", log=log).variables["COCOTB_TOPLEVEL"] == "dut"


@pytest.mark.parametrize(("name", "value"), [("SIM", "icarus"), ("CASE", "wide")])
def test_a_build_that_is_up_to_date_shows_only_files_in_its_folder(tmp_path: Path, name: str, value: str) -> None:
    log = LOG.replace("sim_build/", f"sim_build/{value}/").partition("\n")[2].partition("\n")[2]
    found = call(tmp_path, makefile=f"SIM_BUILD = sim_build/$({name})\n", log=log)
    assert found.variables[name] == value


def test_two_variables_side_by_side_are_not_told_apart(tmp_path: Path) -> None:
    found = call(tmp_path, makefile="COMPILE_ARGS += -Pdut.W=$(HIGH)$(LOW)\n", log="iverilog -Pdut.W=16 x.v\n")
    assert not {"HIGH", "LOW"} & found.variables.keys()


def test_a_variable_has_one_value_in_a_word(tmp_path: Path) -> None:
    makefile = "COMPILE_ARGS += -I$(IP)/rtl/$(IP)_pkg\n"
    assert call(tmp_path, makefile=makefile, log="iverilog -Ififo/rtl/axi_pkg -Ififo/rtl/fifo_pkg\n").variables == {
        "SIM": "icarus",
        "IP": "fifo",
    }


@pytest.mark.parametrize(
    ("makefile", "folders"),
    [
        ("", ["sim"]),
        ("export PYTHONPATH := $(PWD)/../bench:$(shell pwd)/vip:$(PYTHONPATH)\n", ["sim", "bench", "sim/vip"]),
        ("LIB = ../lib\nexport PYTHONPATH := $(LIB):.\n", ["sim", "lib"]),
        ("export PYTHONPATH := $(shell find . -name bench)\n", ["sim"]),
    ],
)
def test_python_looks_first_where_make_works(tmp_path: Path, makefile: str, folders: list[str]) -> None:
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "Makefile").write_text(makefile)
    assert python_path(tmp_path / "sim" / "Makefile") == tuple(f"{tmp_path}/{each}" for each in folders)


HOSTILE = {
    "a word without a reference": ("x" * 60_000 + "\n", "\n"),
    "blanks behind a value": (f"A = x{' ' * 60_000}y\n", "\n"),
    "blanks behind an include": (f"include {' ' * 60_000}$\n", "\n"),
    "many variables": ("X = -P$(A)x$(B)x$(C)x$(D)y\n", f"-P{'x' * 60_000}\n"),
    "many compilers": ("", "iverilog " * 8_000 + "\n"),
    "many calls of make": ("\t$(MAKE) A=x\n" * 4_000, "; make\n" + "make[1]: Entering directory '/a/sim'\n" * 4_000),
    "a long command": ("", f"{'; ' * 30_000}\n{'/x' * 30_000}\nmake[1]: Entering directory '/a/sim'\n"),
    "a name of other letters": ("X = -P$(A\u00b2)foo $(Ä)foo\n", "-Pabcfoo\n"),
}


@pytest.mark.parametrize("which", HOSTILE)
def test_the_time_grows_no_more_than_the_texts(tmp_path: Path, which: str) -> None:
    """Each of them once kept a run busy for minutes, or ended it."""
    makefile, log = HOSTILE[which]
    assert takes_seconds_at_most(40, lambda: call(tmp_path, makefile=makefile, log=log))


def test_an_include_that_is_a_fifo_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "more.mk")
    (tmp_path / "Makefile").write_text("include more.mk\nA ?= 1\n")
    assert from_outside(text_of(tmp_path / "Makefile")) == {"A"}


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("iverilog -s dut {root}/sim/rtl/dut.sv\n", ("sim", ("make",))),
        ("iverilog -s dut {root}/rtl/dut.sv\n", (".", ("make", "-C", "sim"))),
        ("make: Entering directory '/ci/sim'\niverilog -s dut /ci/rtl/dut.sv\n", (".", ("make", "-C", "sim"))),
        ("make: *** No rule to make target '{root}/rtl/dut.sv', needed by 'x'.\n", (".", ("make", "-C", "sim"))),
        ("vvp sim.vvp\n", (".", ("make", "-C", "sim"))),  # the files exist
        ("iverilog -s dut /elsewhere/rtl/dut.sv\n", None),
    ],
)
def test_a_makefile_that_reads_the_folder_of_the_shell_is_called_from_there(
    tmp_path: Path, log: str, expected: tuple[str, tuple[str, ...]] | None
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "dut.sv").touch()
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "Makefile").write_text("VERILOG_SOURCES = $(PWD)/rtl/dut.sv\n")
    found = make_call(tmp_path / "sim" / "Makefile", log.format(root=tmp_path), tmp_path, {})
    assert (found and (found.folder, found.arguments)) == expected


def test_make_is_called_from_the_folder_that_has_most_of_the_files(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "dut.sv").touch()
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "Makefile").write_text("VERILOG_SOURCES = $(PWD)/rtl/dut.sv\nTOP = $(PWD)/bench/top.sv\n")
    found = make_call(tmp_path / "sim" / "Makefile", "make: *** Error 1\n", tmp_path, {})
    assert found is not None
    assert (found.folder, found.arguments) == (".", ("make", "-C", "sim"))


def test_a_simulation_reads_the_includes_of_its_makefile(tmp_path: Path) -> None:
    (tmp_path / "sim").mkdir()
    makefile, common = tmp_path / "sim" / "Makefile", tmp_path / "common.mk"
    makefile.write_text("include ../common.mk missing.mk\n-include $(shell cocotb-config --makefiles)/Makefile.sim\n")
    common.touch()
    assert makefiles_read(makefile, None) == (str(makefile), str(common))
