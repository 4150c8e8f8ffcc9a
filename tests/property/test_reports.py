"""Any text can be read as a report; that gives fields and failures, or none."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_dvwiki.intake import fields, findings, prose

PIECES = st.sampled_from(
    [
        *(
            "#",
            "## Failure 2",
            "**",
            "`",
            "```",
            "```json",
            "|",
            "| a | test |",
            "---",
            "- ",
            "1. ",
            "test: ",
            "seed 7",
        ),
        *("error_class: x", "bin: b", "covergroup: c", "UVM_ERROR a.sv(1) @ 1: r [X] y", "uvm_error / timeout"),
        *("passed", "{", "[", "\n"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=20), max_size=40).map("".join) | st.lists(PIECES, max_size=40).map("\n".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["test", "primary", "bin", "covergroup", "x"]), inner, max_size=3)
    ),
    max_leaves=20,
)


@given(TEXTS | VALUES.map(json.dumps))
def test_any_text_gives_fields_and_failures_or_none(text: str) -> None:
    for group in fields.groups(text):
        assert set(group) <= set(fields.NAMES.values())
        assert set(map(type, group.values())) <= {str}
        findings.origin(group)
        findings.is_about_failure(group)
    findings.holes(text)
    for failure in prose.failures_in_prose(text, lambda _: None):
        assert failure["failure_subtype"].startswith("timeout")  # the text after the label may continue its word


@given(VALUES, TEXTS)
def test_a_classification_of_any_kind_is_read(value: object, text: str) -> None:
    judged = fields.of_result({"classification": value, "rationale": text})
    assert findings.origin(judged).type in {"RTL_BUG", "TB_BUG", "TOOL", "UNKNOWN"}
