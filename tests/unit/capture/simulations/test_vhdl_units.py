"""Which VHDL sources a top needs, from the texts of the sources."""

from __future__ import annotations

import pytest

from pytest_dvwiki.capture.simulations.vhdl_units import needed

UNIT = "entity {0} is end; architecture rtl of {0} is begin {1} end;\n"
UNUSED = UNIT.format("unused", "")
PACKAGE = "package types is constant width : natural := 8; end;"


def needs(top: str, texts: dict[str, str], *, library: str = "work", always: tuple[str, ...] = ()) -> set[str] | None:
    """Return the needed ones of the given texts and a text that no other one refers to."""
    return needed({"unused": UNUSED, **texts}, always, (top,), library)


@pytest.mark.parametrize(
    ("body", "other"),
    [
        ("u : entity work.fifo;", UNIT.format("fifo", "")),
        ("u : ENTITY WORK . Fifo(rtl);", UNIT.format("fifo", "")),
        ("u : entity own.fifo;", UNIT.format("FIFO", "")),
        (
            "component fifo is port (clk : in bit); end component; begin u : fifo port map (clk);",
            UNIT.format("fifo", ""),
        ),
        ("u : component fifo;", UNIT.format("fifo", "")),
        ("u : configuration work.fifo;", "configuration fifo of top is for rtl end for; end;"),
        ("use work.fifo.all;", "package fifo is end;"),
        ("use work.other, work.fifo;", "package fifo is end; package other is end;"),
        ("x <= work.fifo.depth;", "package fifo is constant depth : natural := 8; end;"),
        ("package p is new work.fifo generic map (8);", "package fifo is generic (n : natural); end;"),
        ("context work.fifo;", "context fifo is library ieee; end;"),
        ("for all : cell use entity work.fifo(rtl);", UNIT.format("fifo", "")),
        ("use work.all; alias a is fifo;", "package fifo is end;"),
        ('x <= "--"; u : entity work.fifo;', UNIT.format("fifo", "")),
        ("x <= c'('\"'); u : entity work.fifo; -- \"", UNIT.format("fifo", "")),
    ],
)
def test_what_the_top_refers_to_is_needed(body: str, other: str) -> None:
    assert needs("Top", {"top": UNIT.format("top", body), "fifo": other}, library="own") == {"top", "fifo"}


@pytest.mark.parametrize(
    "body",
    [
        "-- u : entity work.unused;",
        "/* u : entity\nwork.unused; */",
        'report "entity work.unused";',
        "unused <= unused + 1 when (unused = 8) else 0;",
        "signal unused, data : bit;",
    ],
)
def test_comments_strings_and_signals_refer_to_no_unit(body: str) -> None:
    assert needs("top", {"top": UNIT.format("top", body)}) == {"top"}


def test_all_files_of_a_unit_are_needed() -> None:
    texts = {
        "top": "use work.types.all;\nentity top is end;",
        "slow": "architecture slow of top is begin end;",
        "fast": "architecture fast of top is begin u : entity work.ram; end;",
        "ram": UNIT.format("ram", ""),
        "other ram": UNIT.format("ram", "u : entity work.cell;"),
        "cell": UNIT.format("cell", ""),
        "types": PACKAGE,
        "body": "package body types is end;",
    }
    assert needs("top", texts) == texts.keys()


def test_a_configuration_is_needed_only_if_something_names_it() -> None:
    texts = {"top": UNIT.format("top", ""), "fast": "configuration fast of top is for rtl end for; end;"}
    assert needs("top", texts) == {"top"}
    assert needs("fast", texts) == texts.keys()


def test_files_that_the_tool_analysed_in_any_case_are_needed_with_what_they_need() -> None:
    texts = {"top": UNIT.format("top", ""), "tb": UNIT.format("tb", "use work.types.all;"), "types": PACKAGE}
    assert needs("top", texts, always=("tb",)) == texts.keys()


def test_a_file_without_any_unit_may_matter() -> None:
    assert needs("top", {"top": UNIT.format("top", ""), "notes": "-- nothing"}) == {"top", "notes"}


@pytest.mark.parametrize(
    "texts",
    [
        {"top": UNIT.format("others", "")},
        {"top": UNIT.format("top", "u : entity work.absent;")},
        {"top": UNIT.format("top", "use work.absent.all;")},
        {"top": UNIT.format("top", "u : entity own.absent;")},
        {"top": UNIT.format("top", "component absent port (clk : in bit); end component; begin")},
        {"top": UNIT.format("top", ""), "fifo": "vunit checks (top) { }"},
        {"top": UNIT.format("top", "u : entity work.\\a b\\;"), "fifo": "entity \\a b\\ is end;"},
        {"top": UNIT.format("top", ""), "fifo": "`protect begin_protected"},
        {"top": UNIT.format("top", ""), "fifo": ""},
    ],
    ids=["top", "entity", "package", "library", "component", "PSL", "extended name", "encrypted", "unreadable"],
)
def test_what_is_needed_is_unclear_if_a_unit_cannot_be_found_or_may_be_hidden(texts: dict[str, str]) -> None:
    assert needs("top", texts, library="own") is None
