"""The patterns match all messages of slang and Verible, which `messages/make.py` produced."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.reading import TextClassifier

HERE = Path(__file__).parent / "messages"
REGISTRY = load_registry()
MATCHER = Matcher(REGISTRY)


def messages(tool: str) -> dict[str, str]:
    """Return class and subtype of each known message, by its text."""
    hits = MATCHER.hits((HERE / f"{tool}.txt").read_text(encoding="utf-8"))
    assert [hit.text for hit in hits if hit.pattern.tools != (tool,)] == []
    return {hit.text: f"{hit.pattern.error_class}/{hit.pattern.failure_subtype}" for hit in hits}


def test_every_error_of_slang_is_named_by_its_own_patterns() -> None:
    known = messages("slang")
    lines = (HERE / "slang.txt").read_text(encoding="utf-8").splitlines()
    errors = {line for line in lines if "error: " in line}
    assert len(errors) > 30
    assert errors - known.keys() == set()
    assert {label for text, label in known.items() if text in errors and label.endswith("unknown")} == set()


def test_every_finding_of_verible_is_named_by_its_own_patterns() -> None:
    known = messages("verible")
    lines = (HERE / "verible.txt").read_text(encoding="utf-8").splitlines()
    findings = {line for line in lines if line and not line.startswith("$ ")}
    assert len(findings) > 10
    assert findings - known.keys() == set()


@pytest.mark.parametrize(
    ("tool", "text", "label"),
    [
        ("slang", "module.sv:1:13: error: unknown module 'fifo'", "compile_error/missing_module"),
        ("slang", "pkg.sv:2:29: error: unknown package 'p2'", "compile_error/missing_library"),
        ("slang", "port.sv:2:38: error: port 'b' does not exist in 'sub'", "elaboration_error/port_mismatch"),
        ("slang", "error: 'nope' is not a valid top-level module", "elaboration_error/unresolved_reference"),
        ("verible", "style.sv:2:1: Use spaces, not tabs. [Style: tabs] [no-tabs]", "compile_error/illegal_construct"),
        ("verible", 'syntax.sv:3:1-9: syntax error at token "endmodule"', "compile_error/syntax_error"),
    ],
)
def test_messages_have_the_labels_that_other_tools_give(tool: str, text: str, label: str) -> None:
    assert messages(tool)[text] == label


@pytest.mark.parametrize(
    ("slang", "other"),
    [
        ("module.sv:1:13: error: unknown module 'fifo'", "module.sv:1: error: Unknown module type: fifo"),
        (
            "undeclared.sv:2:33: error: use of undeclared identifier 'missing'",
            "%Error: undeclared.sv:2:33: Can't find definition of variable: 'missing'",
        ),
    ],
)
def test_what_is_missing_is_one_cause_whether_slang_or_a_simulator_says_so(slang: str, other: str) -> None:
    assert slang in messages("slang")
    verdicts = [TextClassifier(REGISTRY).classify_text(text) for text in (slang, other)]
    assert len({verdict.fingerprint for verdict in verdicts if verdict is not None}) == 1
    assert None not in verdicts
