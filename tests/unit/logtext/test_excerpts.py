"""An excerpt keeps head, candidates with context, and tail, within its limits, for any cut of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.logtext.excerpts import ExcerptBuilder, Limits, excerpt
from pytest_dvwiki.logtext.logs import LogStream, LogText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.model import Tier

LIMITS = Limits(head=2, tail=2, candidates=2, before=1, after=1)


class Words:
    """Selects the lines with the name of a tier."""

    def find(self, text: str) -> Iterator[tuple[int, Tier]]:
        start = 0
        for line in text.splitlines(keepends=True):
            tier: Tier
            for tier in ("cause", "symptom", "rollup"):
                if tier in line:
                    yield start, tier
            start += len(line)

    def is_accepted(self, message: str) -> bool:
        return False

    def is_benign(self, message: str) -> bool:
        return False


def kept(text: list[str], limits: Limits = LIMITS, step: int = 1000) -> list[int]:
    builder = ExcerptBuilder(Words(), limits)
    for index in range(0, len(text), step):
        builder.feed(index + 1, "".join(line + "\n" for line in text[index : index + step]))
    return [number for number, _ in builder.lines()]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_head_candidates_with_context_and_tail_are_kept_however_the_text_was_cut(step: int) -> None:
    text = [f"line {i}" for i in range(1, 101)]
    text[49] = "the cause"
    text[69] = "a symptom"
    assert kept(text, step=step) == [1, 2, 49, 50, 51, 69, 70, 71, 99, 100]


def test_only_the_first_candidates_of_each_tier_are_kept() -> None:
    text = ["cause"] * 50 + ["quiet"] * 50
    assert kept(text) == [1, 2, 3, 99, 100]


def test_without_an_interest_head_and_tail_are_kept() -> None:
    builder = ExcerptBuilder(None, LIMITS)
    builder.feed(1, "a\nb\nc\nd\ne\n")
    assert [line for _, line in builder.lines()] == ["a", "b", "d", "e"]


class Unasked(Words):
    """Fails if it has to select lines of a text."""

    def find(self, text: str) -> Iterator[tuple[int, Tier]]:
        raise AssertionError(text)


@pytest.mark.parametrize("end", ["", "\n"])
def test_of_a_short_text_all_lines_are_kept_and_nobody_is_asked_which_matter(end: str) -> None:
    stream = LogStream(LogText(source="report", text=f"the cause\nand more{end}"))
    assert excerpt(stream, Unasked(), source="report").lines == ((1, "the cause"), (2, "and more"))


@pytest.mark.parametrize("text", ["", "\n", "one", "one\n\ntwo\n", "long " * 2000, "token=abc123def456 \n" * 50])
def test_a_short_text_is_kept_as_any_other(text: str) -> None:
    builder = ExcerptBuilder(None, Limits())
    for chunk in LogStream(LogText(source="log", text=text)):
        builder.feed(chunk.first, chunk.text)
    assert excerpt(LogStream(LogText(source="log", text=text)), None).lines == builder.lines()


def test_where_not_all_fits_the_cause_stays_and_the_head_goes() -> None:
    text = [f"{i:02} " + "x" * 40 for i in range(1, 31)]
    text[14] = "15 the cause " + "x" * 31
    assert kept(text, Limits(chars=150, head=2, tail=2, before=1, after=1)) == [15, 29, 30]


def test_the_limit_of_characters_holds() -> None:
    builder = ExcerptBuilder(Words(), Limits(chars=2000))
    builder.feed(1, ("cause " + "y" * 10_000 + "\n") * 100)
    assert sum(len(line) + 1 for _, line in builder.lines()) <= 2000


def test_a_long_line_keeps_its_two_ends() -> None:
    builder = ExcerptBuilder(None, Limits())
    builder.feed(1, "begin" + "x" * 10_000 + "end\n")
    ((_, line),) = builder.lines()
    assert len(line) < 4200
    assert (line[:5], line[-3:]) == ("begin", "end")


def test_a_marked_line_stays_with_the_traceback_under_it() -> None:
    builder = ExcerptBuilder(None, Limits(head=1, tail=1, before=0, after_mark=3))
    builder.feed(1, "a\n" * 10)
    builder.feed(11, "X failed\n", mark=True)
    builder.feed(12, "Traceback\n  File\nError\n")
    builder.feed(15, "b\n" * 10)
    assert [line for _, line in builder.lines()] == ["a", "X failed", "Traceback", "  File", "Error", "b"]


def test_secrets_and_escape_codes_are_gone() -> None:
    builder = ExcerptBuilder(None, Limits())
    builder.feed(1, "clone https://joe:hunter22@host/x\nLM_LICENSE_FILE=27000@lic.example.com\n\x1b[1mbold\n")
    text = "\n".join(line for _, line in builder.lines())
    assert "hunter22" not in text
    assert "lic.example.com" not in text
    assert text.endswith("\nbold")


def test_the_first_cause_s_line_is_known() -> None:
    builder = ExcerptBuilder(Words(), Limits())
    builder.feed(1, "symptom\nquiet\n")
    builder.feed(3, "cause\ncause\n")
    assert builder.first_cause == 3
