"""Comparisons of checks: whether one compares, an X among its values, the first difference of long sequences."""

from __future__ import annotations

import pytest

from pytest_dvwiki.triage.compared import compares, shortened, shows_unknown, values_below


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("assert got == 0x12, f'a == b'", True),
        ("assert dut.ready.value == 1 and dut.busy.value", True),
        ("assert all(a == b for a, b in zip(x, y))", True),
        ("assert q in (1, 2)", True),
        ("assert len(received) == 4", True),
        ("assert ready, 'a == b'", False),
        ("assert not errors", False),
        ("assert 1 > 2, 'constants'", False),
        ("assert item is not None", False),
        ("assert dut.q.value != None", False),
        ("assert any(x for x in seen)", False),
        ("assert isinstance(item, int)", False),
    ],
)
def test_a_statement_compares_by_its_operator_and_not_by_its_names(statement: str, wanted: bool) -> None:
    assert compares(statement, shown=False) == wanted


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ("assert 1 == 3", True),
        ("assert LogicArray('00000001', Range(7, 'downto', 0)) == 3", True),
        ("assert <Resp.OKAY: 0> is <Resp.ERROR: 2>", True),
        ("assert <Resp.ERROR: 2>", False),
        ("assert False", False),
        ("assert None is not None", False),
    ],
)
def test_the_values_of_an_assertion_show_whether_it_compared(values: str, wanted: bool) -> None:
    assert compares(values, shown=True) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "q is 0X01, expected 0001",
        "expected 0x12 got 0xX2",
        "mismatch: expected 8'h12, actual 8'hxx",
        "exp=8'h12 act=8'hzz",
        "got=X exp=1",
        "q mismatch expected 3 got x Time: 30 Scope: tb",
        "expected 1 got 'U'",
        "expected 0011 actual 00x1",
        "expected 1X got 12",
        "FAILED expected LogicArray('0001') got LogicArray('XXXX')",
        "expected 00000001 got UUUUUUUU",
        "[FAIL] col 0: Expected 1200, Got x",
        "MISMATCH at output 1: expected=-168 got=x",
        "expected 12 but got X at 30",
    ],
)
def test_an_x_in_a_compared_value_is_seen(text: str) -> None:
    assert shows_unknown(text)


@pytest.mark.parametrize(
    "text",
    [
        "expected 0x00 got 0x01",
        "expected x to be 3 but got 4",
        "mismatch at x = 3, y = 4: expected 1 got 2",
        "X Mismatch InX=-24277 InY=14745 | DUT_X=28406 Ref_X=18700.98",
        "got 10x more",
        "Expected x2=58, got x2=50",
        "model x86 got 3",
        "got 4x4 expected 2x2",
        "got x = 3 expected 4",
        "expected 12, got y",
        "expected 12, got U",
        "FAILED: 0x0f ADD 0xf0 = 0x0000",
        "addr=0x000000fc: wanted 0, obtained 0xFFFFFFFF assert 4294967295 == 0",
    ],
)
def test_an_x_that_is_a_name_or_a_prefix_is_none(text: str) -> None:
    assert not shows_unknown(text)


def test_a_long_list_is_shortened_to_its_first_difference() -> None:
    got = list(range(100))
    want = [*got[:60], 7, *got[61:]]
    told = shortened(f"AssertionError: frame 3: expected {want} got {got} on port A")
    assert "first difference at index 60: 7 and 60" in told
    assert told.startswith("AssertionError: frame 3: expected [0, 1, 2, … 100 items] got [0, 1, 2,")
    assert told.endswith("on port A")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"payload {bytes(range(100))!r} != {bytes([*range(60), 9, *range(61, 100)])!r}", "index 60: < and \\t"),
        (f"got 0x{'ab' * 60} expected 0x{'ab' * 30}{'cd' * 30}", "index 60: a and c"),
        (f"expected {list(range(90))} got {list(range(50))}", "the first 50 are equal"),
    ],
)
def test_other_long_sequences_tell_their_first_difference_too(text: str, wanted: str) -> None:
    assert wanted in shortened(text)


def test_only_sequences_that_are_compared_have_a_first_difference() -> None:
    """The data and the key of an operation differ, too."""
    data, key, found, wanted = (f"0x{digit * 32}" for digit in "1234")
    called = f"FAILED: [uvm_test_top.env.scoreboard] encryption of {data} with key {key}"
    told = shortened(f"{called} = {found}, expected {wanted} " + "y" * 50)
    assert "3… (32 digits), expected 0x44444444… (32 digits), first difference at index 0: 3 and 4" in told
    assert "index 0: 1 and 2" not in told
    assert "key 0x22222222… (32 digits) =" in told
    only = f"{called} failed " + "y" * 100
    assert shortened(only) == only
    assert "index 0: 1 and 2" in shortened(f"mismatch of {data} and {key} " + "y" * 150)


def test_what_is_short_or_was_cut_before_the_difference_stays() -> None:
    short = "expected [1, 2] got [1, 3]"
    cut = f"expected [{'1, ' * 90}...] got [{'1, ' * 90}...]"
    assert shortened(short) == short
    assert shortened(cut) == cut


def test_of_bytes_that_pytest_cut_in_their_middle_no_index_and_no_length_is_known() -> None:
    cut = f"assert {bytes(28)!r}...{bytes(9)!r} == {bytes(26)!r}...{bytes(9)!r}".replace("'...b'", "...")
    assert shortened(cut) == cut


def test_the_values_stand_below_the_exception() -> None:
    lines = (
        (1, "AssertionError: bad q"),
        (2, "assert [1, 2] == [1, 3]"),
        (4, "At index 1 diff: 2 != 3"),
        (9, "assert 5"),
    )
    assert values_below(lines, 1) == ("assert [1, 2] == [1, 3]", "first difference at index 1: 2 != 3")
    assert values_below(lines[:1], 1) == ("", "")
    code = ((1, "AssertionError: bad q"), (2, "Traceback (most recent call last):"), (3, '  File "t.py", line 9, in t'))
    assert values_below((*code, (4, "    assert q == want")), 1) == ("", "")
    assert values_below(((1, "AssertionError: bad q"), (2, "assert False")), 1) == ("", "")
