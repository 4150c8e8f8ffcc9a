"""YAML is written in one style, and reading it gives the same value."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_dvwiki import yamlio
from pytest_dvwiki.yamlio import YamlError, dump, flow, load

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_a_value_comes_back_as_it_was(value: dict[str, Any]) -> None:
    assert load(dump(value), "text") == value
    assert yaml.safe_load(dump(value)) == value


WORDS = (
    *("", "word", "yes", "two words", 'a "b" \\c', "…", "😀", "\t", "\x85", "\ufeffa", "k" * 101, "\ud800"),
    *("one\ntwo", " lead\nb", "end \nb", "a\n", "a\n\n", "\na", "a\n\n  b", "…\nb", "😀\nb", "a\tb\nc", "key: x\n- y"),
)
TEXTS = st.sampled_from(WORDS)
KEYS = TEXTS.filter(str.isprintable)
DOCUMENTS = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(KEYS, DOCUMENTS, max_size=3))
def test_the_bytes_are_those_of_libyaml(value: dict[str, Any]) -> None:
    nodes = yamlio._node(value, top=True)
    assert dump(value) == yaml.serialize(nodes, Dumper=yaml.CSafeDumper, width=2**31 - 1, allow_unicode=True)


@given(SCALARS | st.lists(SCALARS, max_size=4))
def test_a_value_on_one_line_comes_back_but_for_its_line_feeds(value: Any) -> None:
    line = flow(value)
    assert "\n" not in line
    items = value if isinstance(value, list) else [value]
    wanted = [item.replace("\n", " ") if isinstance(item, str) else item for item in items]
    found = load(f"key: {line}\n", "text")["key"]
    assert found == (wanted if isinstance(value, list) else wanted[0])


@pytest.mark.parametrize(
    "text", ["00123456", "3.10", "1e5", "10:30:00", "2026-11-21", "a b", "no", "Null", "y", "", "~"]
)
def test_what_is_not_a_plain_word_is_quoted(text: str) -> None:
    assert dump({"key": text}) == f'key: "{text}"\n'
    assert flow(text) == f'"{text}"'


def test_plain_words_stay_plain() -> None:
    assert dump({"error_class": "uvm_error", "type": "RTL_BUG"}) == "error_class: uvm_error\ntype: RTL_BUG\n"


def test_keys_keep_the_order_given_and_scalars_below_the_top_stand_on_one_line() -> None:
    value = {
        "z": 1,
        "a": {"commit": "1f0c", "dirty": False},
        "tests": [{"nodeid": "t.py::t", "seed": None}],
        "none": [],
    }
    assert dump(value) == (
        'z: 1\na: {commit: "1f0c", dirty: false}\ntests:\n- {nodeid: "t.py::t", seed: null}\nnone: []\n'
    )


def test_a_text_of_several_lines_is_a_literal_block() -> None:
    assert dump({"excerpt": "a\n  b\n"}) == "excerpt: |\n  a\n    b\n"


def test_no_line_is_folded() -> None:
    assert dump({"key": "word " * 400}).count("\n") == 1


AWKWARD = [
    "a: &x [1, 2]\nb: *x\nc: *x\n",
    "a: &x {k: 1}\nb: {<<: *x, l: 2}\n",
    "&x a: 1\n*x : 2\n",
    "1: a\n2.5: b\nnull: c\ntrue: d\n",
    "? [1, 2]\n: a\n",
    "? !!str {a: 1}\n: a\n",
    "a: !!map b\n",
    "a: !!seq b\n",
    "a: !!binary aGk=\n",
    "a: !!set {b, c}\n",
    "a: !!omap [b: 1]\n",
    "a: !!str 12\nb: !!int '12'\nc: !!float 1\n",
    "a: !python/name:os.system x\n",
    "a: 1\na: 2\n",
    "a: {b: 1, b: 2}\n",
    "a: 0x_\n",
    "a: 190:20:30\nb: 0o17\nc: 017\nd: .inf\ne: ~\n",
    "---\n",
    "- - - a\n",
    "",
    "a: 1\n---\nb: 2\n",
    "a: =\nb: <<\n",
    "null: 1\n",
    "a:\n- b\n-\n",
    *(f"{'[' * depth}a{']' * depth}" for depth in (49, 50, 51)),
]


@pytest.mark.parametrize("text", AWKWARD)
def test_what_is_read_is_what_the_library_reads(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> str:
        try:
            return repr(load(text, "text"))
        except YamlError:
            return "error"

    def refuse(_: str) -> None:
        raise yamlio._NotPlainError

    ours = read()
    monkeypatch.setattr(yamlio, "_from_events", refuse)
    monkeypatch.setattr(yamlio._Loader, "construct_document", yaml.CSafeLoader.construct_document)
    assert ours == read()


DOUBLING = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 20))])
MERGING = "\n".join(["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 20))])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DOUBLING, "f.yaml:13: more than 10000 values with aliases expanded; write out what is needed, or split it"),
        (MERGING, "f.yaml:12: more than 10000 values with aliases expanded; write out what is needed, or split it"),
        ("a: &x [*x]\n", "f.yaml:1: an alias refers to itself; write the value out"),
        # Both would crash the library, which recurses in C.
        (
            "a:\n  " + "[" * 100_000,
            "f.yaml:2: lists or mappings are nested more than 50 deep; flatten them",
        ),
        ("- " * 100_000, "f.yaml:1: lists or mappings are nested more than 50 deep; flatten them"),
        ("a: " + "1:" * 100_000 + "1", "f.yaml:1: a number of more than 64 characters; quote it to make it a string"),
        ("a: !!bool x", "f.yaml:1: a tag (!!…) does not fit its value; remove the tag"),
        ("a: !!timestamp x", "f.yaml:1: a tag (!!…) does not fit its value; remove the tag"),
        ("a: [1", "f.yaml:2: did not find expected ',' or ']'; correct this line"),
        ("a: \x00", "f.yaml: character 4 is not allowed (control characters are not allowed); remove it or"),
    ],
)
def test_what_is_too_much_or_no_yaml_is_told_with_its_place_and_what_to_do(text: str, reason: str) -> None:
    with pytest.raises(YamlError) as caught:
        load(text, "f.yaml")
    assert str(caught.value).startswith(reason)


def test_a_document_has_so_many_values_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yamlio, "MOST_VALUES", 20)
    assert len(load("- [1, 2, 3]\n" * 4, "f.yaml")) == 4
    with pytest.raises(YamlError, match="more than 20 values in one document; split it"):
        load("- 1\n" * 30, "f.yaml")


def test_a_text_is_parsed_to_so_many_events_and_so_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(yamlio.events("a: [1, {b: 2}]\n")) == 14
    with pytest.raises(yaml.MarkedYAMLError) as caught:
        yamlio.events("a: " + "[" * 100_000)
    assert yamlio.describe(caught.value, "f.yaml").endswith("more than 50 deep; flatten them")
    monkeypatch.setattr(yamlio, "MOST_VALUES", 20)
    with pytest.raises(yaml.MarkedYAMLError, match="more than 20 values in one document; split it"):
        yamlio.events("- 1\n" * 100_000)


@pytest.mark.parametrize("text", ["\n", "a\n\n", "a\r\nb", "a\x85b\nc", "a\u2028\nb", "\u2029\n"])
def test_no_text_ends_the_document_or_breaks_out_of_its_block(text: str) -> None:
    rows = {"rows": [{"words": text, "number": 1}]}
    assert load(dump(rows) + "end: x\n", "f.yaml") == rows | {"end": "x"}


def test_half_a_character_is_written_as_a_mark_for_one() -> None:
    assert dump({"file": "rtl/\udcff.v"}).encode() == 'file: "rtl/\ufffd.v"\n'.encode()


def test_a_time_that_nobody_quoted_stays_text() -> None:
    assert load("key: 2026-11-21\n", "text") == {"key": "2026-11-21"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: [\n", "page.md:3: "),
        ("a: 1\na: 2\n", "page.md:2: the key 'a' appears twice"),
        ("a:\n  b: 1\n  b: 2\n", "page.md:3: the key 'b' appears twice"),
        ("a: !!python/object:os.system {}\n", "page.md:1: "),
        ("--- 1\n--- 2\n", "page.md:2: "),
        ("a: \x00\n", "page.md: "),
    ],
)
def test_an_error_names_file_and_line(text: str, message: str) -> None:
    with pytest.raises(YamlError) as caught:
        load(text, "page.md")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        dump({"a": {1, 2}})
