"""The names that a source declares: the parser and the expressions agree on all names that people cite."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.upkeep.declarations import declared_names

if TYPE_CHECKING:
    from pathlib import Path

FIFO = """
`define DEPTH_OF_ALL 8
`define MAKE(x) logic x;
// a commented word, and "a quoted one"
package pkg; localparam int WIDTH = 4; typedef enum logic [1:0] {IDLE, RUN} state_t; endpackage
interface bus_if(input logic bus_clk); logic valid; modport master(output valid); endinterface
module sync_fifo import pkg::*; #(parameter DEPTH = 8) (input wire clk, output logic [7:0] q, level);
  logic [7:0] mem [DEPTH]; genvar gi; wire w1 = 1, w2;
  for (gi = 0; gi < 2; gi++) begin : g_loop logic inner; end
  other_cell #(.OTHER_P(1)) u_sub (.other_port(clk), .other_d(gone_net + w1));
  covergroup cg_level @(posedge clk); cp_level: coverpoint level { bins low = {0}; } endgroup
  property p_full; @(posedge clk) q |-> 1; endproperty
  a_full: assert property (p_full);
  function automatic int add_up(int a, b); return a + b; endfunction
  assign q = mem[0] & gone_mask;
`ifdef NEVER
  logic hidden;
`endif
endmodule
class fifo_driver extends gone_base;
  rand int len; constraint c_len { len < 4; }
  extern function void go_on();
endclass
function void fifo_driver::go_on(); $display("quoted_name"); endfunction
"""
VHDL = """
entity vhdl_fifo is port (clk : in std_logic; level : out integer); end entity;
architecture rtl of vhdl_fifo is signal count : integer := 0; -- a commented word
begin
  u_ram : entity work.gone_ram port map (clk => clk);
end architecture;
"""
PARSERS = ("pyslang", "declarations")


@pytest.fixture(params=PARSERS)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with the parser, if it is installed, and without it."""
    name: str = request.param
    if name == "pyslang":
        pytest.importorskip("pyslang.syntax")
    else:
        monkeypatch.setitem(sys.modules, "pyslang.syntax", None)
    return name


def names(folder: Path, file: str, text: str) -> frozenset[str]:
    path = folder / file
    path.write_text(text, "utf-8")
    found = declared_names(path, path.stat().st_mtime_ns)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name",
    [
        *("depth_of_all", "make", "pkg", "width", "state_t", "idle", "run", "bus_if", "valid", "master", "sync_fifo"),
        *("depth", "clk", "q", "level", "mem", "gi", "w1", "w2", "g_loop", "inner", "u_sub", "cg_level", "cp_level"),
        *("low", "p_full", "a_full", "add_up", "hidden", "fifo_driver", "len", "c_len", "go_on"),
    ],
)
def test_what_is_declared_is_found(tmp_path: Path, parser: str, name: str) -> None:
    assert name in names(tmp_path, "fifo.sv", FIFO)


@pytest.mark.parametrize(
    "name",
    ["commented", "quoted", "quoted_name", "other_p", "other_port", "other_d", "gone_net", "gone_mask", "gone_base"],
)
def test_what_is_only_used_or_told_is_not(tmp_path: Path, parser: str, name: str) -> None:
    assert name not in names(tmp_path, "fifo.sv", FIFO)


@pytest.mark.parametrize(
    "text",
    [
        '`include "uvm_macros.svh"\nclass item; `uvm_object_utils(item) int payload; endclass',
        "module half; logic [ payload; endmodule",
    ],
)
def test_of_what_no_parser_can_read_the_declarations_tell(tmp_path: Path, parser: str, text: str) -> None:
    assert "payload" in names(tmp_path, "item.sv", text)


def test_vhdl_is_read_by_its_declarations(tmp_path: Path) -> None:
    found = names(tmp_path, "fifo.vhd", VHDL)
    assert {"vhdl_fifo", "clk", "level", "rtl", "count", "u_ram"} <= found
    assert not found & {"commented", "gone_ram"}


def test_python_is_parsed_and_what_cannot_be_says_nothing(tmp_path: Path) -> None:
    source = "import a.b as c\nclass Board:\n    def check(self, word):\n        self.seen = gone(word)\n"
    assert names(tmp_path, "tb.py", source) == {"c", "board", "check", "self", "word", "seen"}
    (tmp_path / "half.py").write_text("def half(:\n", "utf-8")
    assert declared_names(tmp_path / "half.py", 0) is None
    assert declared_names(tmp_path / "nothing.py", 0) is None
