"""The quality gate: each condition refuses a bad specification, and a good one passes."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_dvwiki.checks.schema import Outline
from pytest_dvwiki.specs import document, drafts
from pytest_dvwiki.specs.quality import issues

from . import samples
from .samples import SECTION1, SECTION2, SECTION3, SECTION4, assembled


def test_a_good_specification_has_no_issues() -> None:
    assert issues(assembled()) == []


@pytest.mark.parametrize(
    ("changed", "issue"),
    [
        ({"section2": SECTION2 + "\n{TODO: edge cases}"}, "1 TODO is left open"),
        ({"section2": SECTION2 + "\n# TODO: a\n{TODO b}"}, "2 TODOs are left open"),
        ({"section3": SECTION3.replace("## 3. Waiver Logic", "## Waivers")}, "the heading '## 3. Waiver Logic' is"),
        ({"section4": SECTION4 + "\n## 2. Check Logic\n"}, "the heading '## 2. Check Logic' appears twice"),
        ({"section1": SECTION1.removesuffix("```")}, "the code block at line 21 is not closed"),
        ({"section1": SECTION1.replace("```python", "```")}, "the code block at line 21 names no language"),
        ({"section4": SECTION4.replace("\\d{2}`", "(`")}, "the expression '\\\\d{4}-(' cannot be used: missing )"),
        ({"section4": SECTION4.replace("\\S+)'", "\\S+'")}, "the expression 'Reading netlist (?P<value>\\\\S+' can"),
        ({"section4": SECTION4 + "\n- like `regex:(?=x)`"}, "the expression '(?=x)' cannot be used: "),
        ({"section2": SECTION2.replace("netlist.tool", "netlist.vendor")}, "the field netlist.vendor of section 2"),
        ({"section2": SECTION2.replace("spef.version", "spef.tool")}, "the field spef.tool of section 2"),
        ({"section2": SECTION2.replace("### 2.", "### ")}, "section 2 has no items"),
        ({"section3": SECTION3.replace("Items 2.3 and 2.4", "none")}, "the waiver '3.1 No parasitics yet' mentions no"),
        ({"section3": SECTION3.replace("and 2.4", "and 2.9")}, "the waiver '3.1 No parasitics yet' mentions 2.9, not"),
        ({"section4": SECTION4.replace("2.3, 2.4", "all")}, "the scenario 'Scenario 1: synthesis' mentions no"),
        ({"section4": SECTION4.replace("2.1-2.2", "2.4-2.6")}, "the scenario 'Scenario 2: several netlists' mentions"),
        ({"section4": SECTION4.replace("name: SPEF version", "name: SPEF")}, "the extraction 'SPEF' in section 4"),
    ],
)  # fmt: skip
def test_each_condition_refuses(changed: dict[str, str], issue: str) -> None:
    assert any(each.startswith(issue) for each in issues(assembled(**changed))), issues(assembled(**changed))


def test_a_short_specification_is_refused() -> None:
    short = "\n\n".join(f"## {heading}\n" for heading in document.HEADINGS)
    assert any("characters, fewer than 1000" in each for each in issues(short))


SEED_STYLE = """
1. **Netlist File Loading**
   - Completeness definition: parsed_fields['netlist']['loaded'] == True
2. **SPEF File Version**
   - Completeness definition: parsed_fields.spef.get("x") is there
**Pattern Matching** (when patterns are set up): none
"""


def test_items_may_be_a_numbered_list() -> None:
    assert [(each.number, each.title) for each in document.items_of(SEED_STYLE)] == [
        ("2.1", "Netlist File Loading"),
        ("2.2", "SPEF File Version"),
    ]
    assert document.references_of(SEED_STYLE) == ["netlist.loaded", "spef"]


def test_what_no_label_calls_an_expression_is_none() -> None:
    text = "- File pattern: *.log, sta*(\n- Pattern: look for a word (or its plural\n- Keyword pattern: `(`\n"
    assert document.expressions_of(text) == []
    assert document.expressions_of("Parsing pattern: \\*(\\w+)\n```regex\na+\n```\n") == ["\\*(\\w+)", "a+"]


def test_scenarios_are_headings_or_lines_in_bold_type() -> None:
    text = "### 4.2 Special\n#### Scenario 1: a\nItem 2.1\n**Scenario 2: b**\nItem 2.2\n### 4.3 Data\n- Scenario 3: c\n"
    assert [(each.title, each.text.split("\n")[1]) for each in document.scenarios_of(text)] == [
        ("Scenario 1: a", "Item 2.1"),
        ("Scenario 2: b", "Item 2.2"),
    ]


def test_keywords_stand_in_quotes_or_between_commas() -> None:
    first, second = document.waivers_of(samples.SECTION3)
    assert document.keywords_of(first) == ["spef", "synthesis"]
    assert document.keywords_of(second) == ["netlist", "ECO"]
    bare = document.Entry("", "", "- Matching keywords: SPEF, wire load.\n- Reason: x")
    assert document.keywords_of(bare) == ["SPEF", "wire load"]


PIECES = st.sampled_from(
    [
        "\n",
        "## 2. Check Logic\n",
        "### 2.1 a\n",
        "### 3.1 b\n",
        "#### Scenario 1: c\n",
        "Items 2.1-2.999999999",
        "parsed_fields['a'].b",
        "```",
        "```yaml\n",
        "items: [{name: a, match: '('}]\n",
        "items: [3, {}]\n",
        "items: &a [*a]\n",
        "{",
        "}",
        "{'a': {'b': 1}}",
        "Pattern: `(`",
        "- **Fields**: `a.b`\n",
        "1. **x**\n",
        "TODO:",
        'Keywords: ""',
        "<!-- -->",
        "~~~~",
        "�",
        "\x00",
    ]
)


OUTLINE = Outline(
    path=Path("/p/x.yaml"), description="d", input_files=(("a.log", 1),), patterns=None, waivers=None, is_global=False
)


@settings(max_examples=40)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_judged(text: str) -> None:
    assert issues(text)
    with contextlib.suppress(drafts.DraftError):
        drafts.scenarios(drafts.draft(text, OUTLINE, Path("/p")), OUTLINE, text)
