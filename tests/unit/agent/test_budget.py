"""A prompt never exceeds its budget, and always has the header of the best hit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_dvwiki.agent.budget import PromptBlock, fit, fit_table
from pytest_dvwiki.tokens import by_rule as cost

from ..blocks import BLOCKS


@given(BLOCKS, st.integers(0, 600), st.integers(0, 3))
def test_no_budget_is_exceeded(blocks: list[PromptBlock], budget: int, more: int) -> None:
    assert cost(fit(blocks, budget, more)) <= budget


@given(BLOCKS, st.integers(0, 600))
def test_the_best_header_is_there_as_far_as_it_fits(blocks: list[PromptBlock], budget: int) -> None:
    text = fit(blocks, budget)
    header = blocks[0].header
    if cost(header) <= budget:
        assert text.startswith(header)
    elif cost("**page**") <= budget:
        assert text.startswith("**page**")


@given(BLOCKS, st.integers(0, 600))
def test_what_was_left_out_is_said_in_the_last_line(blocks: list[PromptBlock], budget: int) -> None:
    text = fit(blocks, budget)
    whole = fit(blocks, 10**6)
    assert all(block.lengths()[0][0] in whole for block in blocks)
    if text != whole and "\n\n" in text:
        assert text.splitlines()[-1].startswith(f"(budget of {budget} tokens: ")


def test_the_note_counts() -> None:
    blocks = [
        PromptBlock("**a** x", ("word " * 30,)),
        PromptBlock("**b** x", ("word " * 30,)),
        PromptBlock("**c** " + "x" * 400),
    ]
    assert fit(blocks, 75, more=2).splitlines()[-1] == "(budget of 75 tokens: 3 pages left out, 1 shortened)"


def test_nothing_gives_nothing() -> None:
    assert fit([], 2000) == ""
    assert fit([PromptBlock("**a** x")], 0) == ""


def test_a_share_says_of_what_it_is_one() -> None:
    blocks = [PromptBlock("**a** x", ("word " * 30,)), PromptBlock("**b** x", ("word " * 30,))]
    told = "(budget of 60 tokens, the share of bugs in 240: "
    assert fit(blocks, 60, share="the share of bugs in 240").splitlines()[-1].startswith(told)
    rows = ["| row |"] * 50
    assert fit_table("| a |\n| --- |", rows, 60, share="the share of bugs in 240").splitlines()[-1].startswith(told)


def test_prose_goes_line_by_line_from_its_end() -> None:
    block = PromptBlock("**a** x", ("first " * 10, "second " * 10, "third " * 10))
    whole, *shorter = (text for text, _ in block.lengths())
    assert whole.count("\n") == 3
    assert [text.count("\n") for text in shorter] == [2, 1, 0]
    text = fit([block], 70)
    assert "first" in text
    assert "third" not in text
