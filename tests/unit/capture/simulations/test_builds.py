"""A simulation has the configuration of its build, even if the build was skipped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.capture.processes.toolcalls import read_call
from pytest_dvwiki.capture.simulations.builds import Build, Builds, Setup, Watch, _config, _hashed, setup_of_log
from pytest_dvwiki.capture.simulations.reads import _is_tracked, files_read

from ...effort import takes_seconds_at_most
from ...samples import git

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def config_of(build: Iterable[str], run: Iterable[str] = ()) -> str:
    """Return the configuration hash of a build and a run."""
    return _config(_hashed(build), _hashed(run))


class Project:
    """A folder with Icarus's output, and the watcher of its commands."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.binary = root / "sim.vvp"
        self.made = 0
        self.process()

    def process(self) -> None:
        """Begin another process."""
        self.watch = Watch(Builds(self.root / "builds"))

    def build(self, width: int, *, fails: bool = False) -> Setup:
        setup = self.call("iverilog", "-o", "sim.vvp", "-s", "dut", f"-Pdut.W={width}", "dut.sv")
        if not fails:
            self.made += 1
            self.binary.write_text(f"{width}")
            os.utime(self.binary, (self.made, self.made))
        return setup

    def run(self, *plusargs: str) -> Setup:
        return self.call("vvp", "-m", "x.vpl", "sim.vvp", *plusargs)

    def call(self, *words: str) -> Setup:
        found = read_call(words, str(self.root), {}, runs=words[0] == "vvp")
        assert found is not None
        return self.watch.observe(found)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_configuration_is_that_of_build_and_run(project: Project) -> None:
    project.build(8)
    plain, again, other = project.run(), project.run(), project.run("+mode=2")
    assert plain.config == again.config == config_of({"top dut", "parameter W=8"})
    assert plain.simulator == "icarus"
    assert plain.sources == (f"{project.root}/dut.sv",)
    assert other.config == config_of({"top dut", "parameter W=8"}, {"plusarg mode=2"}) != plain.config


def test_the_first_eight_digits_are_those_of_the_build_alone(project: Project) -> None:
    failed = project.build(8, fails=True)
    project.build(8)
    ran = project.run("+mode=2")
    assert failed.config is not None
    assert ran.config is not None
    assert failed.config[:8] == ran.config[:8]
    assert (failed.config[8:], ran.config[8:] != "0000") == ("0000", True)


def test_a_skipped_build_is_the_last_one_of_its_place(project: Project) -> None:
    project.build(8)
    eight = project.run().config
    project.process()
    assert project.run().config == eight
    project.watch.next_item()
    project.build(16)
    sixteen = project.run().config
    project.process()
    assert project.run().config == sixteen != eight


def test_a_build_that_nobody_saw_is_not_the_last_one(project: Project) -> None:
    project.build(8)
    assert project.run().config
    project.binary.write_text("built by hand")
    assert project.run() == Setup(simulator="icarus")
    project.process()
    assert project.run() == Setup(simulator="icarus")


def test_a_run_without_any_build_is_of_an_unknown_one(project: Project) -> None:
    assert project.run() == Setup(simulator="icarus")


def test_a_build_that_failed_is_not_what_the_next_item_runs(project: Project) -> None:
    project.build(8)
    eight = project.run().config
    project.watch.next_item()
    project.build(16, fails=True)
    project.watch.next_item()
    assert project.run().config == eight


def test_what_a_fixture_builds_is_run_by_later_items(project: Project) -> None:
    sixteen = project.build(16).config
    project.watch.next_item()
    assert project.run().config == sixteen
    project.watch.next_item()
    assert project.run().config == sixteen


def test_two_builds_of_one_place_are_not_one(project: Project) -> None:
    project.build(8)
    project.build(16)
    assert project.run().config == config_of({"top dut", "parameter W=16"})


def test_a_build_in_several_steps_is_one(project: Project) -> None:
    for words in (("ghdl", "-i", "--work=top", "a.vhdl"), ("ghdl", "-m", "--work=top", "dut")):
        project.call(*words)
    narrow = project.call("ghdl", "-r", "--work=top", "dut", "--vpi=x.so", "-gW=8")
    wide = project.call("ghdl", "-r", "--work=top", "dut", "--vpi=x.so", "-gW=16")
    assert narrow.sources == (f"{project.root}/a.vhdl",)
    assert narrow.config == config_of({"top dut"}, {"parameter W=8"}) != wide.config


def test_a_program_that_a_tool_made_has_the_tools_configuration(project: Project) -> None:
    words = ("-Mdir", "obj", "--top-module", "dut", "-o", "dut", "-GW=8", "dut.sv")
    project.call("verilator", "-cc", "--exe", *words)
    found = read_call(("obj/dut", "+mode=2"), str(project.root), {"COCOTB_TOPLEVEL": "dut"}, runs=True)
    assert found is not None
    setup = project.watch.observe(found)
    assert (setup.simulator, setup.config) == (
        "verilator", config_of({"top dut", "parameter W=8"}, {"plusarg mode=2"})
    )  # fmt: skip


def test_no_more_builds_are_kept_than_are_of_use(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_dvwiki.capture.simulations.builds._FILES", 3)
    for number in range(6):
        folder = project.root / str(number)
        folder.mkdir()
        for words in (("iverilog", "-o", "x", "-s", "dut", "d.sv"), ("vvp", "x")):
            call = read_call(words, str(folder))
            assert call is not None
            project.watch.observe(call)
    kept = project.root / "builds"
    assert len(list(kept.glob("*.json"))) == 3
    assert (kept / ".gitignore").read_text() == "*\n"
    assert not list(kept.glob("*.tmp"))


def test_what_is_kept_shows_no_value(project: Project) -> None:
    project.call("iverilog", "-o", "sim.vvp", "-s", "dut", "-DLICENCE=swordfish-42", "dut.sv")
    project.run("+key=correct-horse")
    kept = "".join(path.read_text() for path in (project.root / "builds").glob("*.json"))
    assert "dut.sv" in kept
    assert "swordfish" not in kept
    assert "horse" not in kept


def test_a_broken_file_of_a_build_is_an_unknown_build(project: Project) -> None:
    project.build(8)
    project.run()
    for path in (project.root / "builds").glob("*.json"):
        path.write_text("{")
    project.process()
    assert project.run().config is None


def test_the_commands_that_make_shows_are_read(tmp_path: Path) -> None:
    shown = [
        ("", "/usr/bin/iverilog -o sb/sim.vvp -s dut -g2012 -Pdut.W=8 rtl/dut.sv"),
        ("", "COCOTB_TOPLEVEL=dut TOPLEVEL_LANG=verilog \\\n\t/usr/bin/vvp -m /l/x.vpl  sb/sim.vvp +mode=2"),
    ]
    builds = Builds(None)
    setup = setup_of_log(shown, str(tmp_path), builds)
    assert setup.config == config_of({"top dut", "parameter W=8"}, {"plusarg mode=2"})
    assert setup.sources == (f"{tmp_path}/rtl/dut.sv",)
    # The second make builds nothing.
    assert setup_of_log(shown[1:], str(tmp_path), builds) == setup
    assert setup_of_log(shown[1:], f"{tmp_path}/other", builds).config is None


GHDL = ("ghdl -i --workdir=build a.vhd {top}.vhd", "ghdl -m --workdir=build -gW=8 {top}")


@pytest.mark.parametrize("stops", [True, False])
def test_a_build_of_another_top_that_failed_is_not_part_of_the_next_one(tmp_path: Path, *, stops: bool) -> None:
    failed = [("", each.format(top="low")) for each in GHDL]
    shown = [("", each.format(top="dut").replace("-gW=8 ", "")) for each in GHDL]
    shown.append(("", "COCOTB_TOPLEVEL=dut ghdl -r --workdir=build dut --vpi=x.so"))
    alone = setup_of_log(shown, str(tmp_path), Builds(None))
    beside = setup_of_log(shown if stops else failed + shown, str(tmp_path), Builds(None), failed if stops else ())
    assert beside.config == alone.config == config_of({"top dut"})
    # The library keeps the files of the failed build.
    assert set(beside.sources) == {f"{tmp_path}/{name}.vhd" for name in ("a", "low", "dut")}


@pytest.mark.parametrize(
    ("failed", "shown", "config"),
    [
        (
            "vlog +define+OLD=1 dut.sv",
            ("vlog +define+NEW=1 dut.sv", "vsim -c work.top"),
            config_of({"define NEW=1"}, {"top top"}),
        ),
        ("vlog +define+OLD=1 dut.sv", ("vsim -c work.top",), config_of({"define OLD=1"}, {"top top"})),
        ("iverilog -o x -s low low.sv", ("iverilog -o x -s dut dut.sv", "vvp x"), config_of({"top dut"})),
        ("iverilog -o x -s low low.sv", ("vvp y",), None),
    ],
    ids=["defines", "another_step_failed", "artefact", "another_artefact"],
)
def test_what_is_built_after_make_stopped_has_a_configuration_of_its_own(
    tmp_path: Path, failed: str, shown: tuple[str, ...], config: str | None
) -> None:
    setup = setup_of_log([("", each) for each in shown], str(tmp_path), Builds(None), [("", failed)])
    assert setup.config == config
    assert f"{tmp_path}/low.sv" not in setup.sources


def test_the_files_read_are_those_included_and_imported(tmp_path: Path) -> None:
    for name, text in {
        "rtl/dut.sv": '`include "defs.svh"\nmodule dut; endmodule\n',
        "rtl/inc/defs.svh": '  `include "more.svh"\n// `include "not.svh"\n',
        "rtl/inc/more.svh": "",
        "rtl/inc/not.svh": "",
        "rtl/unused.sv": "",
        "tb/bench.py": "import os, helper\nfrom vip import driver as d\nfrom vip.seq import (\n    Item,\n)\n",
        "tb/helper.py": "import bench\n",
        "tb/vip/__init__.py": "from .monitor import Monitor\n",
        "tb/vip/driver.py": "from . import seq\n",
        "tb/vip/seq.py": "",
        "tb/vip/monitor.py": "",
        "tb/unused.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    setup = Setup(sources=(f"{tmp_path}/rtl/dut.sv", "/elsewhere/x.sv"), includes=(f"{tmp_path}/rtl/inc",))
    found = files_read(setup, files=(), modules=("bench",), folder=f"{tmp_path}/tb", root=tmp_path)
    assert set(found) == {
        "rtl/dut.sv", "rtl/inc/defs.svh", "rtl/inc/more.svh",
        "tb/bench.py", "tb/helper.py", "tb/vip/__init__.py", "tb/vip/driver.py", "tb/vip/seq.py", "tb/vip/monitor.py",
    }  # fmt: skip
    assert files_read(Setup(), files=(), modules=("absent",), folder=str(tmp_path), root=tmp_path) == ()


def test_the_file_of_a_memory_is_read_if_git_has_it(tmp_path: Path) -> None:
    text = 'initial $readmemh("../rtl/rom.hex", m);\n// $readmemh("../rtl/not.hex", m);\n$readmemb ( "new.hex", m);\n'
    below = '`ifdef NONE\n$readmemh("../rtl/below.hex", m);\n`endif\n$readmemh("gone.hex", m); s = "$readmemh(";\n'
    files = {
        "rtl/dut.sv": text + below,
        "rtl/new.hex": "",
        **{f"rtl/{each}.hex": "" for each in ("rom", "not", "below")},
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "--all")
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "new.hex").write_text("")
    setup = Setup(simulator="icarus", sources=(f"{tmp_path}/rtl/dut.sv",), defined=())
    found = files_read(setup, files=(), modules=(), folder=f"{tmp_path}/sim", root=tmp_path)
    assert set(found) == {"rtl/dut.sv", "rtl/rom.hex"}
    git(tmp_path, "add", "--all")
    _is_tracked.cache_clear()
    found = files_read(setup, files=(), modules=(), folder=f"{tmp_path}/sim", root=tmp_path)
    assert set(found) == {"rtl/dut.sv", "rtl/rom.hex", "sim/new.hex"}


VHDL = ("lib/pkg.vhd", "rtl/a.vhd", "rtl/b.vhdl", "rtl/notes.txt", "ext/c.vhd", "cores/d.vhd", "unused/e.vhd", "x.f")


@pytest.fixture
def vhdl(tmp_path: Path) -> Path:
    """Return a project with sources in several folders."""
    for name in VHDL:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "sim").mkdir()
    (tmp_path / "x.f").write_text("../rtl/a.vhd\n")
    return tmp_path


def hdl_read(root: Path, *shown: str) -> set[str]:
    """Return the HDL that a simulation read, from the commands of its log."""
    setup = setup_of_log([("", each) for each in shown], f"{root}/sim", Builds(None))
    return set(files_read(setup, files=(), modules=(), folder=f"{root}/sim", root=root))


LIBRARY = "ghdl -i --workdir=build --work=lib ../lib/pkg.vhd && \\\n"


@pytest.mark.parametrize(
    ("built", "files"),
    [
        (
            f"{LIBRARY}ghdl -i --workdir=build ../rtl/* ../ext/c.vhd",
            {"lib/pkg.vhd", "rtl/a.vhd", "rtl/b.vhdl", "ext/c.vhd"},
        ),
        ("ghdl -i --workdir=build ../rtl/[ab].vhd ../{ext,cores}/?.vhd", {"rtl/a.vhd", "ext/c.vhd", "cores/d.vhd"}),
        (f"{LIBRARY}ghdl -i --workdir=build ../rtl/* ../absent/*.vhd", set()),
        ("for f in ../rtl/*; do ghdl -a --workdir=build $f; done", set()),
        ("ghdl -a --workdir=build ../rtl/a.vhd `cat more.txt`", set()),
        ("ghdl -a --workdir=build ../rtl/a.vhd $(cat more.txt)", set()),
    ],
)
def test_the_sources_are_all_those_that_the_shell_gave_or_unknown(vhdl: Path, built: str, files: set[str]) -> None:
    run = "MODULE=bench ghdl -r --workdir=build top --vpi=x.so"
    assert hdl_read(vhdl, built, run) == files
    assert hdl_read(vhdl, built) == files  # a build that failed


@pytest.mark.parametrize(
    ("listed", "files"),
    [("-f ../x.f", {"x.f", "rtl/a.vhd"}), ("-f ../absent.f ../rtl/a.vhd", set()), ("-f ../*.f", {"x.f", "rtl/a.vhd"})],
)
def test_the_sources_of_a_list_that_is_gone_are_unknown(vhdl: Path, listed: str, files: set[str]) -> None:
    assert hdl_read(vhdl, f"vcom {listed}", "vsim -c top") == files


@pytest.mark.parametrize(
    "shown",
    [
        (
            "ghdl -a --workdir=libs --work=lib ../lib/pkg.vhd",
            "ghdl -a --workdir=more --work=other ../ext/c.vhd",
            "ghdl -a --workdir=build -Plibs -Pmore ../rtl/a.vhd",
            "ghdl -m --workdir=build -Plibs -Pmore top",
            "ghdl -r --workdir=build -Plibs -Pmore top --vpi=x.so",
        ),
        (
            "nvc --std=08 --work=lib:build/lib -a ../lib/pkg.vhd",
            "nvc --std=08 --work=other:build/other -L build -a ../ext/c.vhd",
            "nvc --std=08 --work=work:build/work -L build -a ../rtl/a.vhd",
            "nvc --std=08 --work=work:build/work -L build -e top --no-save -r --load x.so",
        ),
        (
            "vcom -work lib ../lib/pkg.vhd",
            "vcom -work other ../ext/c.vhd",
            "vcom ../rtl/a.vhd",
            "vsim -c -L lib work.top",
        ),
    ],
    ids=["ghdl", "nvc", "questa"],
)
def test_the_sources_of_a_design_are_also_those_of_its_libraries(vhdl: Path, shown: tuple[str, ...]) -> None:
    beside = shown[0].replace("lib/pkg", "unused/e").replace("libs", "elsewhere").replace("build/lib", "elsewhere/lib")
    others = () if shown[0].startswith("vcom") else (beside,)
    assert hdl_read(vhdl, *others, *shown) == {"lib/pkg.vhd", "ext/c.vhd", "rtl/a.vhd"}


UNITS = {
    "rtl/top.vhd": "entity top is end; architecture rtl of top is begin u : entity work.fifo; end;",
    "rtl/fifo.vhd": "entity fifo is end; architecture rtl of fifo is begin end;",
    "rtl/other.vhd": "entity other is end; architecture rtl of other is begin end;",
}
IMPORT = "ghdl -i --workdir=build --work=w ../rtl/*.vhd"
MAKE = "ghdl -m --workdir=build -Pbuild --work=w top"
RUN = "ghdl -r --workdir=build -Pbuild --work=w top --vpi=x.so"


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Return a project with VHDL of two tops."""
    for name, text in UNITS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "sim").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("shown", "unread"),
    [
        ((f"{IMPORT} && \\\n  {MAKE}", RUN), {"rtl/other.vhd"}),
        (("ghdl import ../rtl/*.vhd", "ghdl make top", "ghdl run top"), {"rtl/other.vhd"}),
        ((IMPORT, MAKE), set()),
        ((IMPORT, "ghdl -a --workdir=build --work=w ../rtl/other.vhd", MAKE, RUN), set()),
        ((IMPORT, MAKE.replace("top", "other"), MAKE, RUN), set()),
        ((IMPORT.replace("-i", "-a"), MAKE, RUN), set()),
        ((IMPORT, MAKE.replace("=w", "=v"), RUN.replace("=w", "=v")), set()),
        ((IMPORT, MAKE, RUN.replace("=w", "=v")), set()),
        ((IMPORT, RUN), set()),
    ],
    ids=["make", "words", "failed", "analysed", "tops", "all analysed", "libraries", "library of the run", "not made"],
)
def test_imported_vhdl_that_the_top_does_not_need_is_not_read(
    units: Path, shown: tuple[str, ...], unread: set[str]
) -> None:
    assert hdl_read(units, *shown) == UNITS.keys() - unread


def test_a_skipped_build_of_imported_vhdl_is_the_last_one(units: Path, tmp_path: Path) -> None:
    builds = Builds(tmp_path / "kept")
    for shown in ((IMPORT, MAKE, RUN), (RUN,)):
        setup = setup_of_log([("", each) for each in shown], f"{units}/sim", builds)
        found = files_read(setup, files=(), modules=(), folder=f"{units}/sim", root=units)
        assert set(found) == UNITS.keys() - {"rtl/other.vhd"}
        builds = Builds(tmp_path / "kept")


@pytest.mark.parametrize("option", ["-y cells", "-y ce*s"])
def test_a_file_in_a_library_folder_is_read_where_a_source_names_its_module(project: Project, option: str) -> None:
    (project.root / "cells").mkdir()
    for name, text in {
        "dut.sv": 'module dut; inv u0 (); endmodule\n`include "part.svh"\n',
        "part.svh": "`define PART nand2 u1 ();\n",
        "cells/inv.v": "module inv; buf4 u0 (); endmodule\n",
        "cells/buf4.sv": "",
        "cells/nand2.v": "",
        "cells/xor2.v": "",
        "cells/dut.txt": "",
    }.items():
        (project.root / name).write_text(text)
    setup = project.call("iverilog", "-o", "sim.vvp", *option.split(), "dut.sv")
    found = files_read(setup, files=(), modules=(), folder=str(project.root), root=project.root)
    assert set(found) == {"dut.sv", "part.svh", "cells/inv.v", "cells/buf4.sv", "cells/nand2.v"}


ASSERTED = """`ifdef ASSERTED
`include "bound.sv"
`else
`include "plain.sv"
`endif
"""


@pytest.mark.parametrize(
    ("words", "top", "is_read"),
    [
        ((), ASSERTED, False),
        (("-DWIDTH=4",), ASSERTED, False),
        (("-DASSERTED",), ASSERTED, True),
        (("-D", "ASSERTED=1"), ASSERTED, True),
        ((), f"`define ASSERTED\n{ASSERTED}", True),
        ((), f"// `define ASSERTED, or\n/* `define ASSERTED */\n{ASSERTED}", False),
        ((), f"`ifndef TOP_SV\n`define TOP_SV\n{ASSERTED}`endif // TOP_SV\n", False),
        ((), ASSERTED.replace("ASSERTED", "__ICARUS__"), True),
        ((), ASSERTED.replace("`ifdef ASSERTED", "`ifdef TOP_SV\n`elsif ASSERTED"), False),
        ((), f"`ifdef LEFT_OPEN\n{ASSERTED}", True),
        ((), f'string s = "`endif"; `ifdef FAST x `endif\n{ASSERTED}', False),
    ],
)
def test_a_file_below_a_macro_that_nothing_defines_is_not_read(
    project: Project, words: tuple[str, ...], top: str, is_read: bool
) -> None:
    for name, text in {"dut.sv": top, "bound.sv": "", "plain.sv": ""}.items():
        (project.root / name).write_text(text)
    setup = project.call("iverilog", "-o", "sim.vvp", "-s", "dut", *words, "dut.sv")
    for each in (setup, project.run()):
        found = files_read(each, files=(), modules=(), folder=str(project.root), root=project.root)
        assert set(found) == {"dut.sv", "plain.sv", *["bound.sv"] * is_read}
    # The macros of a build recorded by an older version are unknown.
    found = files_read(replace(setup, defined=None), files=(), modules=(), folder=str(project.root), root=project.root)
    assert set(found) == {"dut.sv", "plain.sv", "bound.sv"}


def test_a_module_that_only_the_makefile_can_find_is_any_file_with_its_name(tmp_path: Path) -> None:
    """make's caller does not know `PYTHONPATH=sim/soc:sim/common` in a recipe."""
    for name, text in {
        "sim/soc/test_dma.py": "import random\nfrom test_utils import Colors\n",
        "sim/common/test_utils.py": "import cocotb\n",
        "sim/core/common/test_alu.py": "",
        "tools/ignored/test_utils.py": "",
        ".gitignore": "ignored/\n",
        "makefile": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "--quiet")
    folder, makefile = str(tmp_path), f"{tmp_path}/makefile"
    found = files_read(Setup(), files=(makefile,), modules=("test_dma",), folder=folder, root=tmp_path)
    assert set(found) == {"makefile", "sim/soc/test_dma.py", "sim/common/test_utils.py"}


@pytest.mark.parametrize(
    ("first", "read"), [("b", {"b/tb.py", "b/model.py"}), ("", {"a/tb.py", "b/tb.py", "b/model.py"})]
)
def test_of_two_modules_with_one_name_python_imports_the_first(tmp_path: Path, first: str, read: set[str]) -> None:
    for name, text in {"a/tb.py": "", "b/tb.py": "import model\n", "b/model.py": "", "log/run.log": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "--quiet")
    folders = [f"{tmp_path}/{first}"] if first else []
    found = files_read(Setup(), files=(), modules=("tb",), folder=f"{tmp_path}/log", root=tmp_path, modules_in=folders)
    assert set(found) == read


def test_files_beside_the_root_are_named_as_git_names_them(tmp_path: Path) -> None:
    """The root of a run is the folder of its tests if no folder above has a configuration of pytest."""
    for name in (".git", "rtl", "sim"):
        (tmp_path / name).mkdir()
    for name in ("rtl/dut.vhd", "sim/bench.py"):
        (tmp_path / name).touch()
    setup = Setup(sources=(f"{tmp_path}/sim/../rtl/dut.vhd", "/elsewhere/x.vhd"))
    root = tmp_path / "sim"
    found = files_read(setup, files=(), modules=("bench",), folder=str(root), root=root)
    assert found == ("rtl/dut.vhd", "sim/bench.py")


def test_what_verilator_says_it_read_counts(tmp_path: Path) -> None:
    made = tmp_path / "obj"
    for name in ("obj/x", "inc/defs.svh", "inc/far.svh", "dut.sv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (made / "Vtop__ver.d").write_text(
        f"{made}/Vtop.cpp {made}/Vtop.mk  : /l/verilator_bin {tmp_path}/inc/defs.svh \\\n"
        f" {tmp_path}/dut.sv inc/far.svh /l/v.cpp\n"
    )
    setup = Setup(simulator="verilator", sources=(f"{tmp_path}/dut.sv",), artefact=f"{made}/dut")
    found = files_read(setup, files=(), modules=(), folder=str(tmp_path), root=tmp_path)
    assert found == ("dut.sv", "inc/defs.svh", "inc/far.svh")


def test_reading_what_a_file_names_neither_hangs_nor_takes_more_than_linear_time(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.sv")
    (tmp_path / "dut.sv").write_text("\n" * 60_000 + '`include "fifo.sv"\n')
    (tmp_path / "bench.py").write_text(f"from {'.' * 60_000}\nimport helper\n")
    (tmp_path / "helper.py").touch()
    setup = Setup(sources=(f"{tmp_path}/dut.sv", f"{tmp_path}/fifo.sv"))
    found: list[str] = []

    def work() -> None:
        found.extend(files_read(setup, files=(), modules=("bench",), folder=str(tmp_path), root=tmp_path))

    assert takes_seconds_at_most(5, work)
    assert {"dut.sv", "bench.py", "helper.py"} <= set(found)


@pytest.mark.parametrize("linked", ["builds", ".gitignore"])
def test_a_link_in_place_of_the_kept_builds_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: str
) -> None:
    monkeypatch.setattr("pytest_dvwiki.capture.simulations.builds._FILES", 2)
    folder, elsewhere = tmp_path / "journal" / "builds", tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("0123456789abcdef.json", "0123456789abcde0.json", "mine.json", "notes"):
        (elsewhere / name).write_text("{}")
    (folder if linked == ".gitignore" else folder.parent).mkdir(parents=True)
    if linked == "builds":
        folder.symlink_to(elsewhere)
    else:
        (folder / linked).symlink_to(elsewhere / "notes")
    Builds(folder).keep(Build(simulator="icarus", items=(), places=("/p",)))
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == dict.fromkeys(
        ("0123456789abcdef.json", "0123456789abcde0.json", "mine.json", "notes"), "{}"
    )
