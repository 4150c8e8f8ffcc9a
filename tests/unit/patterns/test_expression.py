"""The contract of an expression, and the literals that a scan looks for."""

from __future__ import annotations

import re

import pytest

from pytest_dvwiki.expressions import ExpressionError
from pytest_dvwiki.patterns.expression import check


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("abc(?=def)", "(?= (a look-around) at 3 is not supported by RE2; match the text"),
        ("abc(?!def)", "look-around"),
        ("(?<=a)bcd", "look-around"),
        (r"(abc)\1", "back reference"),
        ("abc(?#note)", "leave it out"),
        ("abc(?i:def)", "not allowed"),
        ("abc(?i)def", "not allowed"),
        (r"\Aabc", "not allowed"),
        (r"abc\Z", "write $"),
        ("abc*+", "leave the last + out"),
        ("abc{1,2000}", "or * or +"),
        ("(?:abc)?", "empty string"),
        ("a*", "empty string"),
        ("a.b.c", "literal of at least 3"),
        (r"\d+\s\w", "literal of at least 3"),
        ("abc|.", "literal of at least 3"),
        ("abc(", "missing )"),
        ("abc)", "unexpected )"),
        ("abc[", "missing ]"),
        ("*abc", "no argument for repetition"),
        ("abc\\", "trailing"),
        ("abc{3,1}", "invalid repetition size: {3,1}"),
    ],
)
def test_what_the_engines_do_not_share_is_refused_with_its_reason(source: str, reason: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(reason)):
        check(source)


@pytest.mark.parametrize(
    ("source", "literals"),
    [
        ("error: Unknown", ("error: unknown",)),
        ("[Ee]rror", ("error",)),
        ("(?i)ERROR: .*", ("error: ",)),
        ("foo(?:bar|baz)", ("foobar", "foobaz")),
        ("foobar?x", ("foobarx", "foobax")),
        (r"\*[EF],\w+", ("*e,", "*f,")),
        ("%Error-(?P<code>ABC|DEF): ", ("%error-abc: ", "%error-def: ")),
        (r"abc\.def", ("abc.def",)),
        ("abcd.*xy", ("abcd",)),
        ("abc+defg", ("defg",)),
        ("a{0,5}bcd", ("bcd",)),
    ],
)
def test_the_best_set_of_literals_stands_first(source: str, literals: tuple[str, ...]) -> None:
    assert set(check(source)[0]) == set(literals)


def test_every_set_is_needed_by_every_match() -> None:
    assert check("error .* (?:one|two) .* end") == (("error ",), (" one ", " two "), (" end",))


def test_an_exception_needs_no_literal() -> None:
    assert check(r"\d+", needs_literal=False) == ()


def test_only_characters_that_have_one_form_in_bytes_are_literal() -> None:
    assert check("\u9519\u8bef\uff1a") == (("\u9519\u8bef\uff1a",),)
    assert check("Fehler schl\u00e4gt fehl") == (("fehler schl",), ("gt fehl",))
    with pytest.raises(ExpressionError, match="needs a literal"):
        check("\u00e9\u00e9\u00e9\u00e9")
