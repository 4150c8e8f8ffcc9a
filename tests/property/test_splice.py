"""A write to a part of any page changes no byte of the rest, and redacts the new text."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_dvwiki.redact import redact
from pytest_dvwiki.wiki.text import parts, splice

LINE = st.one_of(
    st.sampled_from(
        [
            *(
                "",
                "text",
                "text  ",
                "\ttab",
                "a\u2028b",
                "a\x0cb",
                "\x1b[31mred",
                "---",
                "> quoted",
                "- [ ] done",
                "\ufeff",
            ),
            *("# Title", "### Part", "```", "~~~", "password: geheim99", "<!-- dvwiki:end fixes", "-->", "é\u0085"),
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=8),
)
BLANKS = st.integers(0, 3).map(lambda count: [""] * count)


@st.composite
def pages_with_a_part(draw: st.DrawFn) -> str:
    """Return pages with a heading `Answer`, and LF, CRLF or mixed line ends."""
    lines = [draw(st.sampled_from(["---", "\ufeff---"])), "type: spec", "---", *draw(st.lists(LINE, max_size=4))]
    lines += ["```" if lines.count("```") % 2 else "", "~~~" if lines.count("~~~") % 2 else "", "## Answer"]
    lines += draw(BLANKS) + draw(st.lists(LINE, max_size=4)) + draw(BLANKS)
    lines += draw(st.sampled_from([[], ["## Next", "more"]]))
    ends = draw(st.sampled_from([["\n"], ["\r\n"], ["\n", "\r\n"]]))
    text = "".join(line + draw(st.sampled_from(ends)) for line in lines)
    return text[: len(text) - draw(st.sampled_from([0, 1]))].removesuffix("\r")


@given(pages_with_a_part(), st.lists(LINE, min_size=1, max_size=3).map("\n".join))
def test_what_is_appended_moves_no_other_byte(text: str, addition: str) -> None:
    place = parts.part(text, "Answer")
    if place is None:
        return
    clean = splice.cleaned(addition, text)
    after = splice.appended(text, place, clean)
    kept = text[slice(*place)].strip("\r\n")
    if kept:
        at = text.index(kept, place[0]) + len(kept)
        assert after.startswith(text[:at])
        assert after.endswith(text[at:])
    else:
        assert after.startswith(text[: place[0]])
        assert after.endswith(text[place[1] :])
    assert clean.strip() in after


@given(pages_with_a_part(), st.lists(LINE, max_size=3).map("\n".join))
def test_a_part_that_is_replaced_moves_no_byte_outside_of_it(text: str, content: str) -> None:
    place = parts.part(text, "Answer")
    if place is None:
        return
    after = splice.replaced(text, place, splice.cleaned(content, text))
    assert after.startswith(text[: place[0]])
    assert after.endswith(text[place[1] :])


@given(pages_with_a_part())
def test_what_was_read_and_is_written_back_is_the_same_bytes(text: str) -> None:
    assert splice.whole(text, splice.cleaned(text, text)) == text
    place = parts.part(text, "Answer")
    if place is not None:
        read = text[slice(*place)].strip("\r\n")
        assert splice.replaced(text, place, splice.cleaned(read, text)) == text


@given(pages_with_a_part(), st.sampled_from(["new line", "password: geheim00", "\x1b[31mnew\u2028"]))
def test_who_reads_a_page_with_line_feeds_alone_changes_one_line(text: str, line: str) -> None:
    """Many editors and agents return a page without CRLF and byte order mark."""
    newline = splice.newline_of(text)
    assume(text.count("\r\n") in {0, text.count("\n")} and text.endswith("\n") and line not in text)
    as_read = text.removeprefix("\ufeff").replace("\r\n", "\n")
    after = splice.whole(text, splice.cleaned(f"{as_read}{line}\n", text))
    assert after == f"{text}{redact(line)}{newline}"
