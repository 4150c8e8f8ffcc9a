"""RE2 matches the expressions of users in linear time, and on ASCII like `re`."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given as examples_of
from hypothesis import strategies as st

import pytest_dvwiki
from pytest_dvwiki.expressions import LONGEST, ExpressionError, compile_re2, glob
from pytest_dvwiki.patterns.registry import load_registry

from .effort import takes_seconds_at_most

_ATOMS = st.sampled_from(
    [" ", *r"a b A 0 _ . x1 \. \d \D \w \W \s \S [ab] [^ab] [0-9a] [a.-] [\d_] ^ $ \b \B".split()]  # noqa: SIM905
)
_REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "??"])
SOURCES = st.recursive(
    st.lists(
        st.builds(lambda atom, repeat: atom if atom in {"^", "$", r"\b", r"\B"} else atom + repeat, _ATOMS, _REPEATS),
        min_size=1,
        max_size=5,
    ).map("".join),
    lambda inner: (
        st.builds("(?:{}){}".format, inner, st.sampled_from(["", "?", "{1,2}"]))
        | st.builds("(?P<g>{})".format, inner.filter(lambda text: "?P<g>" not in text))
        | st.builds("{}|{}".format, inner, inner).filter(lambda text: text.count("?P<g>") < 2)
        | st.builds("{}{}".format, inner, inner).filter(lambda text: text.count("?P<g>") < 2)
    ),
    max_leaves=4,
)
LINES = st.text(st.sampled_from("abAB01_ .-x:\t(["), min_size=1, max_size=12) | st.text(
    # Without line feed and vertical tab, which `\s` of `re` matches.
    st.characters(min_codepoint=0, max_codepoint=0x7E, exclude_characters="\n\x0b"),
    min_size=1,
    max_size=12,
)


@examples_of(SOURCES, st.booleans(), LINES)
def test_on_lines_of_ascii_re2_finds_what_re_finds(source: str, ignore_case: bool, line: str) -> None:
    source = f"(?i){source}" if ignore_case else source
    theirs = re.search(source, line, re.ASCII)
    ours = compile_re2(source).search(line)
    assert (ours and ours.start) == (theirs and theirs.start())
    if ours and theirs and "*" not in source and "(?:" not in source:
        # Engines may differ in the final value of a repeated group that can be empty.
        assert ours.groups == {name: text for name, text in theirs.groupdict().items() if text is not None}


def test_the_built_in_expressions_find_the_same_by_either() -> None:
    """They follow the same rules as those of users, and represent real ones."""
    rng = random.Random(5)
    patterns = [each for each in load_registry() if each.examples]
    lines = [line for each in patterns for line in each.examples if line.isascii() and "\n" not in line]
    for pattern in patterns:
        for source in (*pattern.match, *pattern.unless):
            ours, theirs = compile_re2(source), re.compile(source, re.ASCII)
            for line in (*pattern.examples, *pattern.counterexamples, *rng.sample(lines, 3)):
                if line.isascii() and "\n" not in line:
                    found, wanted = ours.search(line), theirs.search(line)
                    assert (found and found.start) == (wanted and wanted.start()), (source, line)


def test_where_they_differ_is_as_the_documentation_says() -> None:
    for source, text, of_re2 in (
        ("a$", "a\n", False),
        (r"a\sb", "a\x0bb", False),
        (r"^\w$", "é", False),
        (r"^\d$", "٣", False),
        (r"\bé", "é", False),
    ):
        assert (compile_re2(source).search(text) is not None) is of_re2
        assert (re.search(source, text) is not None) is not of_re2


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("a(?=b)", "(?= (a look-around) at 1 is not supported by RE2; match the text around it"),
        ("(?<!a)b", "(?<! (a look-around) at 0"),
        (r"(a)\1", r"\1 (a back reference) at 3"),
        ("(?P<x>a)(?P=x)", "(?P=x) (a back reference) at 8"),
        ("(?>a)b", "(?> (an atomic group) at 0 is not supported by RE2; write (?:"),
        ("a++b", "++ (a possessive repeat) at 1 is not supported by RE2; leave the last + out"),
        ("(a)?(?(1)b|c)", "(?( (a condition) at 4 is not supported by RE2; write two expressions"),
        (r"a\Z", r"\Z at 1 is not supported by RE2; write $"),
        ("a{2000}", "invalid repetition size: {2000}; use m <= n <= 1000"),
        (r"\u0041", r"\u (an escape by number or name) at 0"),
        ("a(", "missing ): a(; correct it, or put a \\ before each special character that is meant literally"),
        (r"\pL{1000}\pL{1000}", "it expands too far; use fewer or smaller repeats {m,n}"),
        ("\ud800", "it contains an unpaired surrogate; type it again"),
    ],
)
def test_what_re2_refuses_is_told_with_the_construct_and_a_rewrite(source: str, reason: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_re2(source)
    assert str(caught.value).startswith(reason)


@pytest.mark.parametrize(
    "source", ["(a+)+$", "(a|aa)+$", r"(\w+\s*)+:$", "(?:a*)*b", "a.*a.*a.*a.*b", "(.*)(.*)(.*)x$"]
)
def test_no_expression_takes_more_than_linear_time(source: str) -> None:
    """With `re`, the first of them would never finish."""
    long = "a" * (LONGEST - 1) + "!"
    assert takes_seconds_at_most(2, lambda: compile_re2(source).search(long))
    assert takes_seconds_at_most(2, lambda: glob("*a" * 30 + "b").search(long))


def test_of_a_long_line_both_ends_are_looked_at() -> None:
    assert compile_re2("^begin").search("begin" + "x" * 9000 + "end")
    assert compile_re2("end$").search("begin" + "x" * 9000 + "end")
    assert not compile_re2("begin.*middle.*end").search(f"begin{'x' * 9000}middle{'x' * 9000}end")


def test_places_and_groups_count_characters() -> None:
    found = compile_re2(r"ü(?P<name>\S+)").search("größe ünder")
    assert found is not None
    assert (found.start, found.groups) == (6, {"name": "nder"})
    assert compile_re2("a.b").search("a\ud800b")


@pytest.mark.parametrize(
    ("wanted", "text", "holds"),
    [
        ("a*", "abc\nd", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("t[x]*", "t[x]1", True),
        ("*.c", "abc", False),
        ("a**b", "ab", True),
    ],
)
def test_a_glob_has_two_special_characters(wanted: str, text: str, holds: bool) -> None:
    assert (glob(wanted).search(text) is not None) is holds


def test_no_built_in_expression_repeats_a_group_possessively() -> None:
    """Before Python 3.11.5, such a group fails to match if its text can be split in two ways."""
    package = Path(pytest_dvwiki.__file__).parent
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+|(?<!\\)\(\?>")
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    found = {path: possessive.findall(text) for path, text in texts.items() if possessive.search(text)}
    sources = [source for pattern in load_registry() for source in pattern.match if possessive.search(source)]
    assert (found, sources) == ({}, [])
