"""Each mistake in the file of a check gives its own message, with file, line and remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.checks.schema import CheckError, load_check, load_outline

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Folder

D = "description: d\n"
ITEM = "items: [{name: a, match: '(?P<value>x)(?P<tool>y)'%s}]\n"


def message(folder: Folder, text: str | bytes) -> str:
    file = folder.write("a.check.yaml", text)
    with pytest.raises(CheckError) as raised:
        load_check(file)
    told = str(raised.value)
    assert told.startswith(f"{file}:")
    assert ";" in told
    return told.removeprefix(f"{file}:")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "1: the file is empty; write at least `description:`"),
        ("# only a comment\n", "1: the file is empty"),
        ('description: "Missing quote\n  key: value\n', r"3: found unexpected end of stream; .*YAML"),
        ("- description: d\n", "1: the file has a list instead of keys with values; "),
        ("just words\n", "1: the file has a single value instead"),
        (b"description: \xe4\n", r" is not UTF-8 \(byte 13\); save it as UTF-8"),
        ("description: d\ndescription: e\n", "2: the key 'description' appears twice"),
        ("input_files: [a]\n", "1: the key description is needed; write what"),
        ("description: '  '\n", "1: the key description is needed"),
        (D + "requirement: {}\n", "2: there is no key 'requirement'; the nearest is 'requirements'"),
        (D + "waivers: {value: 0, items: []}\n", "2: there is no key 'items'; the nearest is 'waive_items'"),
        (D + "input_files: a.log\n", "2: input_files must be a list; "),
        (D + "input_files:\n- a\n- 7\n", "4: expected a string, got 7; write it in quotes"),
        (D + "requirements: 3\n", "2: requirements needs the keys value and pattern_items; "),
        (D + "requirements: {value: 0}\n", "2: value 0 is invalid; write N/A or a whole number, at least 1"),
        (D + "requirements: {value: yes}\n", "2: value True is invalid; "),
        (D + "waivers: {value: -1}\n", "2: value -1 is invalid; write N/A or a whole number, at least 0"),
        (D + "waivers: {value: '1', waive_items: [a]}\n", "2: value '1' is invalid; "),
        (
            D + "requirements: {value: 2, pattern_items: [a]}\n",
            "2: value is 2, but pattern_items has 1; make them equal",
        ),
        (D + "waivers:\n  value: 1\n  waive_items: []\n", "3: value is 1, but waive_items has 0; make them equal"),
        (
            D + "waivers: {value: N/A, waive_items: [a]}\n",
            "2: waive_items is not used, because value is N/A; write value: 1",
        ),
        (D + "requirements: {value: 1, pattern_items: [a]}\n", "2: there are 1 patterns for 0 items that need one; "),
        (D + "requirements: {value: 1, pattern_items: ['a|']}\n", "2: 'a|' cannot be used: an empty alternative"),
        (D + "requirements: {value: 1, pattern_items: ['regex:(?=a)']}\n", r"2: 'regex:\(\?=a\)' cannot be used: .*; "),
        (D + "waivers: {value: 1, waive_items: ['regex:(']}\n", r"2: 'regex:\(' cannot be used: "),
        (D + "items: {}\n", "2: items must be a list; "),
        (D + "items: [a]\n", "2: an item needs keys: name, match, "),
        (D + "items: [{match: x}]\n", "2: the key name is needed; "),
        (D + "items: [{name: a}]\n", "2: the key match is needed; write an expression with named groups"),
        (D + "items: [{name: a, match: '('}]\n", r"2: '\(' cannot be used: "),
        (D + ITEM % ", requires: [tool]", "2: there is no key 'requires'; the nearest is 'required'"),
        (D + ITEM % ", required: [tol]", "2: the expression has no group 'tol'; the nearest is 'tool'"),
        (D + ITEM % ", from: b", "2: 'b' is not an item above this one; this is the first item"),
        (D + ITEM % ", pattern: 21", "2: pattern must be true or false; "),
        (D + "items: [{name: a, match: x}, {name: a, match: x}]\n", "2: two items are called 'a'; rename one"),
        (
            D + "items:\n- {name: a, match: x}\n- {name: c, match: x, from: b}\n",
            "4: 'b' is not an item above this one; ",
        ),
        (D + "expected: PASS\n", "2: expected must be a list; begin each result with `- when:`"),
        (D + "expected: [PASS]\n", "2: a result needs keys: when, status, found, "),
        (D + "expected: [{status: pass}]\n", "2: status is missing or invalid; write PASS or FAIL"),
        (D + "expected: [{status: PASS, waved: []}]\n", "2: there is no key 'waved'; the nearest is 'waived'"),
    ],
)
def test_each_mistake_is_told_with_its_line(folder: Folder, text: str | bytes, told: str) -> None:
    assert re.match(told, message(folder, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match=r"no\.check\.yaml: there is no such file; check the name"):
        load_check(tmp_path / "no.check.yaml")


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match="is a folder; replace it with a regular file"):
        load_check(tmp_path)


@pytest.mark.parametrize(
    ("requirements", "waivers", "kind"),
    [
        ("{value: N/A, pattern_items: []}", "{value: N/A, waive_items: []}", 1),
        ("{value: 1, pattern_items: [x]}", "{value: N/A}", 2),
        ("{value: 1, pattern_items: [x]}", "{value: 0}", 3),
        ("{value: 1, pattern_items: [x]}", "{value: 1, waive_items: [x]}", 3),
        ("{}", "{value: 0, waive_items: [any, number]}", 4),
        ("null", "{value: 2, waive_items: [x, y]}", 4),
    ],
)
def test_the_two_values_choose_the_type(folder: Folder, requirements: str, waivers: str, kind: int) -> None:
    text = f"{D}input_files: [a]\nrequirements: {requirements}\nwaivers: {waivers}\n"
    assert load_check(folder.write("a.check.yaml", text)).type == kind


def test_only_the_description_is_required(folder: Folder) -> None:
    checked = load_check(folder.write("a.check.yaml", "description: Confirm  the\n  version.\n"))
    assert (checked.description, checked.type, checked.items) == ("Confirm the version.", 1, ())


def test_an_empty_list_of_items_is_none(folder: Folder) -> None:
    checked = load_check(folder.write("a.check.yaml", f"{D}input_files: [a, b]\nitems: []\n"))
    assert [item.name for item in checked.items] == ["a", "b"]


def test_an_outline_is_a_check_without_items(folder: Folder) -> None:
    file = folder.write("a.yaml", f"{D}input_files: [a, b]\nrequirements: {{value: 1, pattern_items: [x]}}\n")
    outline = load_outline(file)
    assert (outline.type, [entry for entry, _ in outline.input_files], outline.waivers) == (2, ["a", "b"], None)
    with pytest.raises(CheckError, match="there is no key 'items'"):
        load_outline(folder.write("a.yaml", D + ITEM % ""))
