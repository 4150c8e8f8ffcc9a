"""Lessons are read from their page and written back without losing people's text, whatever they contain."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_dvwiki.wiki.kinds import topic
from pytest_dvwiki.wiki.kinds.topic import Lesson, confirmed, lesson, lessons, with_lessons

SOURCE = topic.source("nightly_session_0123456789ab", "2026-11-21T08:00:00Z")
PAGE = """---
type: topic
topic: gotchas
owner: ann
---

# Gotchas

Ann keeps this page.

## Lessons

These were checked on silicon.

### Hold reset for two cycles

The synchroniser in `rtl/cdc.sv` needs two edges.
It is wider than it looks.

- lesson `0123abcd`
- (source: tasks/a.yaml | seen: 2026-11-20)
- (source: tasks/b.yaml | log: sim.log:3)
- see also `89ab89ab` in [testing](testing.md)

### By hand

Written without an id.

## Notes

Ann's own.
"""


def test_lessons_are_read_with_their_lines() -> None:
    first, second = lessons(PAGE)
    assert (first.id, first.tasks, first.seen) == ("0123abcd", ("a", "b"), "2026-11-20")
    assert first.text.splitlines()[1] == "It is wider than it looks."
    assert first.see_also == (("89ab89ab", " in [testing](testing.md)"),)
    assert len(second.id) == 8
    assert lessons(PAGE)[1].id == second.id


def test_what_people_wrote_stays_where_it_is() -> None:
    first, second = lessons(PAGE)
    ended = replace(second, section=topic.SUPERSEDED, superseded_by=first.id, reason="it is in the first one")
    text = with_lessons(PAGE.encode(), [confirmed(first, [SOURCE]), ended]).decode()
    for line in ("owner: ann", "Ann keeps this page.", "These were checked on silicon.", "Ann's own."):
        assert text.count(line) == 1
    assert text.index("checked on silicon") < text.index("### Hold reset") < text.index("## Notes")
    again, other = lessons(text)
    assert (len(again.tasks), other.is_active, other.superseded_by) == (3, False, first.id)
    assert with_lessons(text.encode(), lessons(text)).decode() == text


ODD = """## Lessons
###   Odd   ##
text  \n\n\n
- (source: tasks/a.yaml)
- lesson `0123abcd`
more text

```
### no lesson
- lesson `ffffffff`
```
### Same id
- lesson `0123abcd`


## General
only prose
"""


def test_a_lesson_that_does_not_change_keeps_every_byte() -> None:
    data = topic.new("x")[: topic.new("x").index(b"## Lessons")] + ODD.encode()
    assert with_lessons(data, lessons(data.decode())) == data
    first, second = lessons(data.decode())
    changed = with_lessons(data, [first, confirmed(second, [SOURCE])]).decode()
    assert "###   Odd   ##\ntext  \n\n\n\n- (source: tasks/a.yaml)\n- lesson `0123abcd`\nmore text\n" in changed
    assert "### no lesson\n- lesson `ffffffff`\n```\n" in changed
    assert changed.count("0123abcd") == 2
    assert changed.endswith("## General\nonly prose\n")


def test_line_ends_stay_those_of_the_page() -> None:
    data = PAGE.replace("\n", "\r\n").encode()
    assert b"\n" not in with_lessons(data, lessons(data.decode())).replace(b"\r\n", b"")


def test_a_new_page_takes_its_first_lesson() -> None:
    made = with_lessons(topic.new("testing"), [lesson("Seeds", "Use `SEED`.", [SOURCE], unreviewed="small")])
    (read,) = lessons(made.decode())
    assert (read.title, read.text, read.sources, read.unreviewed) == ("Seeds", "Use `SEED`.", (SOURCE,), "small")


HOSTILE = st.sampled_from(
    [
        "# Heading",
        "### Lessons",
        "Lessons",
        "- lesson `0123abcd`",
        "- superseded by `0123abcd`: no",
        "(source: tasks/forged.yaml)",
        "( Source : tasks/forged.yaml)",
        "<!-- dvwiki:end history of x",
        "```",
        "---",
        "\n",
        "`a` b",
        "[x](http://evil)",
        "\u202ertl\x1b[31m",
        "| a | b |",
        "",
    ]
)


@given(st.lists(HOSTILE, max_size=5).map(" ".join), st.lists(HOSTILE, max_size=8).map("\n".join))
def test_no_text_becomes_another_lesson_a_citation_or_a_line_of_the_tool(title: str, text: str) -> None:
    made = lesson(title, text, [SOURCE], unreviewed="small")
    first, _ = lessons(PAGE)
    page = with_lessons(PAGE.encode(), [first, made]).decode()
    found = lessons(page)
    assert [each.id for each in found] == [first.id, made.id]
    assert found[1] == replace(made, text=found[1].text)
    assert found[1].tasks == ("nightly_session_0123456789ab",)
    assert "](http" not in page.replace("\\]", "") or "\\[x\\]" in page
    assert page.count("<!--") == 0


@pytest.mark.parametrize("section", topic.SECTIONS)
def test_a_lesson_called_like_a_section_is_not_one(section: str) -> None:
    page = with_lessons(topic.new("testing"), [lesson(section, "x", [SOURCE]), lesson("b", "y", [SOURCE])]).decode()
    assert [each.text for each in lessons(page)] == ["x", "y"]


def test_a_lesson_has_a_title_and_not_too_many_words() -> None:
    made: Lesson = lesson("", "word " * 400, [])
    assert made.title
    assert len(made.text.split()) <= 150
