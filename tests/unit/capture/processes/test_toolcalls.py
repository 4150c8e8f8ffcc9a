"""Reads the design from command lines of cocotb's runner, cocotb-test and cocotb's Makefiles."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.processes.toolcalls import ToolCall, read_call

from ...effort import takes_seconds_at_most

if TYPE_CHECKING:
    from pathlib import Path

HERE = "/b"
FULL = {"top dut", "parameter W=8", "define A=1"}


def call(*words: str, runs: bool = False, **variables: str) -> ToolCall:
    found = read_call(words, HERE, variables, runs=runs)
    assert found is not None
    return found


BUILDS = {
    "icarus, runner": (
        "iverilog", "-o", "/p/sb/sim.vvp", "-s", "dut", "-g2012", "-DA=1", "-I/p/inc", "-Pdut.W=8", "/p/d.sv",
    ),
    "icarus, runner with waves": (
        "iverilog", "-o", "/q/sb/sim.vvp", "-s", "dut", "-g2012", "-DA=1", "-Pdut.W=8", "-s", "cocotb_iverilog_dump",
        "/q/d.sv", "/q/sb/cocotb_iverilog_dump.v",
    ),
    "icarus, cocotb-test": (
        "iverilog", "-o", "/p/sb/dut.vvp", "-D", "COCOTB_SIM=1", "-g2012", "-s", "dut", "-DA=1", "-Pdut.W=8", "/p/d.sv",
    ),
    "verilator, runner": (
        "/x/bin/verilator", "-cc", "--exe", "-Mdir", "/p/sb", "--top-module", "dut", "--vpi", "--prefix", "Vtop", "-o",
        "dut", "-LDFLAGS", "-Wl,-rpath,/l -L/l -lx", "--timescale", "1ns/1ps", "-DA=1", "-I/p/inc", "-GW=8",
        "/l/verilator.cpp", "/p/d.sv",
    ),
    "verilator, cocotb-test": (
        "perl", "/x/bin/verilator", "-cc", "--exe", "-Mdir", "/p/sb", "-DCOCOTB_SIM=1", "--top-module", "dut", "-o",
        "dut", "-DA=1", "-GW=8", "/l/verilator.cpp", "/p/d.sv",
    ),
    "questa-qisqrun, runner": (
        "qrun", "-optimize", "-outdir", "/p/sb/qrun_out", "-quiet", "-top", "top.dut", "-voptargs=-access=rw+/.",
        "-designfile", "/p/sb/design.bin", "-sv", "-makelib", "top", "/p/d.sv", "+define+A=1", "+incdir+/p/inc", "-end",
        "-gW=8",
    ),
    "xcelium, runner": (
        "xrun", "-logfile", "xrun_build.log", "-elaborate", "-xmlibdirname", "/p/sb/xrun_snapshot", "-licqueue",
        "-quiet", "-access +rwc", "-work top", "-incdir /p/i", '-define A="1"', '-gpg "W => 8"', "-top dut", "/p/d.sv",
    ),
    "xcelium, cocotb-test": (
        "xrun", "-64", "-elaborate", "-define", "COCOTB_SIM=1", "-loadvpi", "/l/x.so", "-access", "+rwc", "-top", "dut",
        "-define", "A=1", "-incdir", "/p/inc", "-defparam", '"dut.W=8"', "/p/d.sv",
    ),
    "vcs, runner": (
        "vcs", "-full64", "-debug_access+all", "+acc+3", "-sverilog", "-LDFLAGS -Wl,--no-as-needed", "-q", "-load",
        "/l/x.so:y", "+incdir+/p/inc", "+define+A=1", "-pvalue+dut.W=8", "-top", "dut", "/p/d.sv", "-o", "/p/sb/simv",
    ),
    "vcs, cocotb-test": (
        "vcs", "-full64", "-sverilog", "-debug_access", "-P", "pli.tab", "+define+COCOTB_SIM=1", "-load", "/l/x.so",
        "-top", "dut", "+define+A=1", "-pvalue+dut/W=8", "/p/d.sv", "-o", "/p/sb/bench", "-timescale=1ns/1ps",
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", BUILDS.values(), ids=BUILDS)
def test_a_build_says_top_parameters_and_defines(words: tuple[str, ...]) -> None:
    found = call(*words)
    assert (found.builds, found.runs) == (True, False)
    assert found.items == FULL
    assert [source.rpartition("/")[2] for source in found.sources] == ["d.sv"]


@pytest.mark.parametrize(
    ("words", "items", "place"),
    [
        (("vvp", "-m", "/l/x.vpl", "/p/sb/sim.vvp", "+mode=2", "-none"), {"plusarg mode=2"}, "/p/sb/sim.vvp"),
        (("/p/sb/simv", "-suppress=ASLR_DETECTED_INFO", "+mode=2"), {"plusarg mode=2"}, "/p/sb/simv"),
        (("/p/sb/dut", "--trace", "+mode=2", "+verilator+seed+5"), {"plusarg mode=2"}, "/p/sb/dut"),
        (
            ("ghdl", "-r", "--work=top", "dut", "--vpi=/l/x.so", "+mode=2", "-gW=8", "--wave=dut.ghw"),
            {"top dut", "parameter W=8", "plusarg mode=2"},
            HERE,
        ),
        (("ghdl", "-r", "--workdir=sb", "-Psb", "--work=w", "dut", "rtl", "--vpi=/l/x.so"), {"top dut-rtl"}, "/b/sb"),
        (
            ("nvc", "--work=top:/p/sb/top", "-L", "/p/sb", "-e", "dut", "--no-save", "--jit", "-gW=8", "-r",
             "--load=/l/x.so", "+mode=2"),
            {"top dut", "parameter W=8", "plusarg mode=2"},
            "/p/sb",
        ),
        (
            ("vsim", "-quiet", "-c", "-onfinish", "exit", "-pli", "/l/x.so", "-gW=8", "top.dut", "+mode=2", "-do",
             "run -all; quit"),
            {"top dut", "parameter W=8", "plusarg mode=2"},
            HERE,
        ),
        (
            ("xrun", "-logfile", "xrun_t.log", "-xmlibdirname", "/p/sb/xrun_snapshot", "-loadvpisim", "/l/x.so",
             "-cds_implicit_tmpdir", "t", "-licqueue", "-quiet", "-R", "+mode=2", "", "-input", "@run; exit;"),
            {"plusarg mode=2"},
            "/p/sb/xrun_snapshot",
        ),
        (
            ("qrun", "-simulate", "-outdir", "/p/sb/qrun_out", "-c", "-onfinish", "exit", "-top", "top.dut", "+mode=2",
             "-do", "run -all; quit"),
            {"top dut", "plusarg mode=2"},
            "/p/sb/qrun_out",
        ),
        (("gdb", "--args", "vvp", "-m", "/l/x.vpl", "/p/sb/sim.vvp"), set(), "/p/sb/sim.vvp"),
    ],
)  # fmt: skip
def test_a_run_says_plusargs_and_where_it_finds_the_build(words: tuple[str, ...], items: set[str], place: str) -> None:
    found = call(*words, runs=True)
    assert (found.builds, found.runs) == (False, True)
    assert found.items == items
    assert place in found.places


@pytest.mark.parametrize(
    ("words", "items", "sources"),
    [
        (("ghdl", "-i", "--work=top", "--std=08", "/p/a.vhdl", "b.vhd"), set(), ("/p/a.vhdl", "/b/b.vhd")),
        (("ghdl", "-m", "--work=top", "dut"), {"top dut"}, ()),
        (("nvc", "--work=top", "-L", "/p/sb", "-a", "/p/a.vhd", "--preserve-case"), set(), ("/p/a.vhd",)),
        (("nvc", "--work=top", "-L", "/p/sb", "-e", "-g", "W=8", "dut"), {"top dut", "parameter W=8"}, ()),
        (("vcom", "-quiet", "-work", "top", "/p/a.vhd"), set(), ("/p/a.vhd",)),
        (
            ("vlog", "-incr", "-work", "top", "-sv", "+define+A=1+B", "+incdir+/p/inc", "/p/d.sv"),
            {"define A=1", "define B"},
            ("/p/d.sv",),
        ),
    ],
)
def test_builds_in_several_steps(words: tuple[str, ...], items: set[str], sources: tuple[str, ...]) -> None:
    found = call(*words)
    assert (found.builds, found.runs) == (True, False)
    assert found.items == items
    assert found.sources == sources


@pytest.mark.parametrize(
    "words",
    [
        ("iverilog", "-V"), ("ghdl", "--version"), ("nvc", "--version"), ("verilator", "--version"), ("vlib", "top"),
        ("vvp", "-V"), ("vsim", "-version"), ("make", "-C", "sb"), ("python", "-m", "x"), (),
    ],
)  # fmt: skip
def test_what_neither_builds_nor_runs_says_nothing(words: tuple[str, ...]) -> None:
    assert read_call(words, HERE) is None


@pytest.mark.parametrize(
    ("word", "item"),
    [
        ("+SEED=7", None),
        ("+ntb_random_seed=7", None),
        ("+UVM_TESTNAME=smoke", None),
        ("+UVM_VERBOSITY=UVM_HIGH", None),
        ("+dumpfile_path=/q/a/x.fst", None),
        ("+firmware=/home/one/fw/boot.hex", "plusarg firmware=boot.hex"),
        ("+firmware=../fw/boot.hex", "plusarg firmware=boot.hex"),
        ("+workdir=/home/one/build", "plusarg workdir=build"),
        ("+ratio=1/2", "plusarg ratio=1/2"),
    ],
)
def test_seeds_names_of_tests_and_folders_are_left_out(word: str, item: str | None) -> None:
    assert call("vvp", "sim.vvp", word).items == ({item} if item else set())


def test_the_order_of_options_says_nothing() -> None:
    one = call("iverilog", "-o", "x", "-s", "dut", "-DA=1", "-DB", "-Pdut.W=8", "d.sv")
    other = call("iverilog", "-DB", "-Pdut.W=8", "-o", "/other/y", "d.sv", "-D", "A=1", "-s", "dut")
    assert one.items == other.items == FULL | {"define B"}


def test_a_mere_check_is_no_build_that_could_run() -> None:
    found = call("verilator", "--lint-only", "--top-module", "dut", "-DA=1", "d.sv")
    assert found.items == {"top dut", "define A=1"}
    assert found.places == ()


def test_file_lists_are_read_where_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTL", "rtl")
    (tmp_path / "lists").mkdir()
    (tmp_path / "all.f").write_text("// sources\n+define+A=1 +incdir+inc\n$RTL/a.sv  # not b.sv\n-F lists/more.f\n")
    (tmp_path / "lists" / "more.f").write_text("/* c.sv\n*/ ../rtl/d.sv ${RTL}/e.sv\n")
    found = read_call(("verilator", "--top", "dut", "-f", "all.f"), str(tmp_path))
    assert found is not None
    assert found.items == {"top dut", "define A=1"}
    named = [path.removeprefix(f"{tmp_path}/") for path in found.sources]
    assert named == ["all.f", "rtl/a.sv", "lists/more.f", "rtl/d.sv", "lists/rtl/e.sv"]
    assert found.includes == (f"{tmp_path}/inc",)


def test_a_list_that_names_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "all.f").write_text("a.sv -f all.f\n")
    found = read_call(("iverilog", "-f", "all.f"), str(tmp_path))
    assert found is not None
    assert found.sources == (f"{tmp_path}/all.f", f"{tmp_path}/a.sv")


def test_a_script_from_a_pipe_is_left_to_the_simulator(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "runsim.do")
    assert read_call(("vsim", "-c", "-do", "runsim.do", "work.dut"), str(tmp_path)) is not None


def test_a_script_of_a_simulator_is_read(tmp_path: Path) -> None:
    (tmp_path / "runsim.do").write_text(
        "onerror {\n quit -f -code 1\n}\nvlib sb/work\nvlog -work work -sv +define+A=1 /p/d.sv\n"
        "vsim -onfinish exit -pli /l/x.so -gW=8 work.dut +mode=2\nrun -all\nquit\n"
    )
    found = read_call(("vsim", "-c", "-64", "-do", "runsim.do"), str(tmp_path))
    assert found is not None
    assert (found.builds, found.runs) == (True, True)
    assert found.items == FULL | {"plusarg mode=2"}
    assert found.sources == ("/p/d.sv",)


def test_a_file_list_is_read_in_linear_time_and_from_a_regular_file_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.f")
    assert call("iverilog", "-f", str(tmp_path / "fifo.f"), "/p/d.sv").sources == (f"{tmp_path}/fifo.f", "/p/d.sv")
    (tmp_path / "long.f").write_text("/* one */ /p/a.sv // two\n" + "/p/*x" * 40_000 + "\n/p/b.sv # three\n")
    found: list[ToolCall] = []
    assert takes_seconds_at_most(5, lambda: found.append(call("iverilog", "-f", str(tmp_path / "long.f"))))
    assert found[0].sources == (f"{tmp_path}/long.f", "/p/a.sv", "/p/b.sv")
