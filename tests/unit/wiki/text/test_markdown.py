"""Text from outside never breaks out of its code span, cell or fence."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_dvwiki.wiki.text import markdown as md

NASTY = st.text(alphabet=st.sampled_from("`|<>-!#*_[]()=\\ \n\rab~\x1b\u202e"), max_size=60)


@given(NASTY)
@example("before\n```\nafter")
@example("`" * 9)
def test_no_line_of_a_fence_closes_it(text: str) -> None:
    first, *inside, last = md.fence(text).split("\n")
    ticks = first.removesuffix("text")
    assert set(ticks) == {"`"}
    assert len(ticks) >= 3
    assert last == ticks
    assert not any(ticks in line for line in inside)


@pytest.mark.parametrize(
    "line", ["<!-- dvwiki:end evidence", "<<<<<<< ours", "=======", ">>>>>>> theirs", "||||||| base"]
)
def test_a_fence_holds_no_mark_of_a_region_or_conflict(line: str) -> None:
    assert f"\n {line}\n" in md.fence(f"before\n{line}\nafter")


@given(NASTY)
def test_a_code_span_ends_where_its_text_ends(text: str) -> None:
    span = md.code(text)
    assert "\n" not in span
    if span:
        ticks = re.match(r"`+", span)
        assert ticks is not None
        runs = re.findall(r"`+", span)
        assert runs.count(ticks[0]) == 2
        assert span.endswith(ticks[0])


@given(st.lists(NASTY, min_size=3, max_size=3))
def test_a_row_has_as_many_cells_as_were_given(texts: list[str]) -> None:
    row = md.table_row([md.code(text) for text in texts])
    assert "\n" not in row
    assert len(re.findall(r"(?<!\\)\|", row)) == 4


@given(NASTY)
def test_escaped_text_holds_no_markup(text: str) -> None:
    escaped = md.escape(md.one_line(text))
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*<>|\[\]#]", escaped)


@given(NASTY)
def test_readers_get_escaped_words_as_they_were(text: str) -> None:
    line = md.one_line(text)
    assert md.plain(md.escape(line)) == line


def test_code_has_no_escapes() -> None:
    assert md.plain("run ``a ` \\. b`` \\[x\\]\n```sh\nFILTER='\\.x$'\n```\n\\*") == (
        "run ``a ` \\. b`` [x]\n```sh\nFILTER='\\.x$'\n```\n*"
    )


def test_names_stay_readable() -> None:
    assert md.escape("scoreboard_fail in fifo_32x8") == "scoreboard_fail in fifo_32x8"


@pytest.mark.parametrize(
    ("primary", "words"),
    [
        (
            "UVM_ERROR sb.sv(210) @ 1250ns: reporter [SCBD] expected 0x12 got 0x13",
            "UVM_ERROR sb.sv: reporter [SCBD] expected … got …",
        ),
        ("AssertionError: assert 3 == 4", "AssertionError: assert … == …"),
        ("ValueError: cannot convert LogicArray('XX01') to int", "ValueError: cannot convert X/Z to int"),
        ("dut.sv:7: error: Unknown module type: missing_sub", "dut.sv:…: error: Unknown module type: missing_sub"),
    ],
)
def test_a_title_says_the_failure_without_the_values_of_one_run(primary: str, words: str) -> None:
    assert md.in_words(primary) == words


def test_a_long_line_is_cut_at_a_word() -> None:
    assert md.one_line("a long line of words", 12) == "a long line…"


def test_a_citation_names_the_run_and_the_line() -> None:
    assert md.cite("run_1") == "(source: tasks/run_1.yaml)"
    assert md.cite("run_1", "sim build/a)|b.log", 7) == "(source: tasks/run_1.yaml | log: sim_build/a_b.log:7)"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Look for `$finish` in the *design*.", "Look for `$finish` in the \\*design\\*."),
        ("Give `a | b`, or <name>.", "Give `a | b`, or \\<name\\>."),
        ("An open ` says nothing.", "An open \\` says nothing."),
        ("``two`` are no span", "\\`\\`two\\`\\` are no span"),
    ],
)
def test_people_s_code_spans_stay_and_nothing_else_is_markdown(text: str, written: str) -> None:
    assert md.prose(text) == written
