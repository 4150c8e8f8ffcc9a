"""Names that a message quotes or calls missing, without keywords of HDL and values, which name nothing in a project."""

from __future__ import annotations

import functools
import re

_IN_QUOTES = re.compile(r"(?<=[\"'`])[A-Za-z_]\w*(?=[\"'`])|(?<=\bcomponent )\w+")
"""Matches a name in a message: in quotes, or after `component`."""
_MISSING = re.compile(
    r"(?:\bobject named |\bUnable to find name |\bUnknown module type: |\bentity or configuration )([A-Za-z_]\w*)"
)
"""Matches a name that cocotb, Icarus or GHDL does not find, and prints without quotes."""
_MISSING_IN_NVC = re.compile(r"\bno visible declaration for ([A-Z_]\w*)|\bdesign unit ([A-Z_]\w*) not found")
"""Matches a name that NVC does not find: without quotes, and in upper case, however it is spelled in the sources."""
_WHERE = re.compile(r"(?:^|(?<=\s))\+ {2,}(?:where|and {2}) .*", re.MULTILINE)
"""Matches a line in which pytest shows the values behind an assertion; quotes in it are part of Python's notation."""
_VALUE = re.compile(r"[UXZWLH_]+", re.IGNORECASE)
"""Matches a value of bits without a number, such as `XXXX`, which may stand in quotes like a name."""
_VHDL = """
    abs access after alias all and architecture array assert assume assume_guarantee attribute begin block body buffer
    bus case component configuration constant context cover default disconnect downto else elsif end entity exit
    fairness file for force function generate generic group guarded if impure in inertial inout is label library
    linkage literal loop map mod nand new next nor not null of on open or others out package parameter port postponed
    private procedure process property protected pure range record register reject release rem report restrict
    restrict_guarantee return rol ror select sequence severity shared signal sla sll sra srl strong subtype then to
    transport type unaffected units until use variable view vmode vprop vunit wait when while with xnor xor
"""
_VERILOG = """
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
    binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
    constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge
    else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule
    endpackage endprimitive endprogram endproperty endspecify endsequence endtable endtask enum event eventually expect
    export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global
    highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input
    inside instance int integer interconnect interface intersect join join_any join_none large let liblist library
    local localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
    noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program
    property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
    randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0
    rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
    signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
    sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri
    tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
    vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
"""
_KEYWORDS = frozenset(f"{_VHDL} {_VERILOG}".split())


@functools.lru_cache(maxsize=8)
def quoted(text: str) -> frozenset[str]:
    """Return all names that a text quotes or calls missing. Any of them may be the name of a unit of the design."""
    in_nvc = [name for names in _MISSING_IN_NVC.findall(text) for name in names if name]
    return frozenset([*_IN_QUOTES.findall(text), *_MISSING.findall(text), *in_nvc, *map(str.lower, in_nvc)])


@functools.lru_cache(maxsize=8)
def quoted_names(text: str) -> frozenset[str]:
    """Return the names that a text quotes or calls missing, without keywords and values, which any code may contain.

    What pytest adds about the values of an assertion quotes arguments of Python objects, such as
    `Range(7, 'downto', 0)`. These are left out, too.
    """
    names = quoted(_WHERE.sub("", text))
    return frozenset(name for name in names if name.lower() not in _KEYWORDS and not _VALUE.fullmatch(name))
