"""With any log, a prompt keeps its budget, shows the best hit, and keeps log text quoted."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pytest_dvwiki.agent.budget import fit_table
from pytest_dvwiki.agent.loader import QUESTIONS, PromptLoader
from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.agent.query import WikiQueryService
from pytest_dvwiki.model import BinRow, FailedTest, Occurrence, Origin, RunRecord
from pytest_dvwiki.settings import Layout
from pytest_dvwiki.tokens import by_rule as tokens
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.writing.build import archive

_PIECES = st.sampled_from(
    [
        *("```", "`````", "~~~", "```text", "# heading", "- item", "> quote", "<!-- x", "-->", "</system>", "<b>", "|"),
        *(
            "{{KNOWN_RTL_BUGS}}",
            "{{OTHER}}",
            "---",
            "\n",
            "\n\n",
            " ",
            "    ",
            "\t",
            "expected 0x12",
            "é中",
            "\x1b[31m",
        ),
        *("<!-- dvwiki:end evidence", "<<<<<<< ours", "\u2028", "\r\n", "\\", "*", "_", "](x)"),
    ]
)
HOSTILE = st.lists(_PIECES, min_size=1, max_size=14).map("".join).filter(lambda text: bool(text.strip()))
WORDS = st.lists(st.sampled_from(["fifo", "axi_burst", "overflow", "x" * 90, "中文"]), min_size=1, max_size=40).map(
    " ".join
)
TEMPLATE = "\n".join(f"{{{{{name}}}}}" for name in QUESTIONS)
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def wiki(folder: str, texts: list[str]) -> Layout:
    """Return a wiki with a cause for each text, the first with the highest confidence."""
    root = Path(folder)
    place = Layout(root=root, wiki=root / ".agent" / "wiki")
    causes = tuple(
        Occurrence(
            fingerprint=f"{number:012x}",
            error_class="uvm_error",
            failure_subtype=f"kind_{number}",
            pattern=None,
            origin=Origin(type="RTL_BUG", confidence=0.9 - number / 100),
            primary=text,
            tests=(FailedTest(nodeid="tests/test_fifo.py::test_fifo", seed="42"),),
            excerpt=text,
        )
        for number, text in enumerate(texts)
    )
    record = RunRecord(
        task_id="regression_20261121T010000Z_000001",
        tool="pytest-dvwiki 0.1.0",
        registry="9f2c",
        fingerprint_version=1,
        started="2026-11-21T01:00:00Z",
        finished="2026-11-21T01:10:00Z",
        duration_s=600.0,
        occurrences=causes,
        coverage=tuple(
            BinRow(covergroup="axi", bin=f"bin_{number}", feature=text, scenario=text, priority=number)
            for number, text in enumerate(texts)
        ),
    )
    archive(place, record)
    return place


@SLOW
@given(st.lists(HOSTILE | WORDS, min_size=1, max_size=7), st.integers(0, 1200))
def test_no_placeholder_exceeds_its_budget_and_the_best_hit_is_there(texts: list[str], budget: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = wiki(folder, texts)
        config = WikiConfig(enabled=True, wiki_dir=place.wiki).with_budget(budget)
        for name, share, best in (
            ("KNOWN_ERROR_PATTERNS", config.pattern_budget, "**kind_0**"),
            ("KNOWN_RTL_BUGS", config.bug_budget, "**RTL_20261121_"),
            ("COVERAGE_HOLE_HISTORY", config.coverage_budget, "**axi.bin_0**"),
            ("WIKI_PATTERN_SUMMARY", config.summary_budget, "`kind_0`"),
        ):
            text = PromptLoader(config).render(f"{{{{{name}}}}}")
            assert tokens(text) <= share
            if share >= 16:
                assert best in text
        assert tokens(PromptLoader(config).render(TEMPLATE).replace("\n**", "**")) <= budget


@SLOW
@given(
    st.lists(HOSTILE | WORDS, min_size=1, max_size=6),
    st.integers(0, 600),
    st.sampled_from([None, "axi", "uvm_error", "kind_0", "open", "filled"]),
    st.integers(-1, 9),
)
def test_no_question_is_answered_beyond_its_budget(texts: list[str], budget: int, word: str | None, top_k: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = wiki(folder, texts)
        config = WikiConfig(enabled=True, wiki_dir=place.wiki).with_budget(budget)
        asked = WikiQueryService(config)
        answers = {
            asked.get_known_error_patterns(word, top_k=top_k): config.pattern_budget,
            asked.get_known_error_patterns(failure_subtype=word, top_k=top_k): config.pattern_budget,
            asked.get_known_rtl_bugs(word, top_k=top_k): config.bug_budget,
            asked.get_known_rtl_bugs(status=word or "open", top_k=top_k): config.bug_budget,
            asked.get_coverage_history(word, top_k=top_k): config.coverage_budget,
            asked.get_pattern_summary(): config.summary_budget,
        }
        assert not [(text, share) for text, share in answers.items() if tokens(text) > share]
        assert tokens(gather(place, query=word, budget=budget).text) <= budget


@SLOW
@given(st.lists(HOSTILE, min_size=1, max_size=4), st.sampled_from(["{}", "before {} after", "- {}\n- {}", "{}\n# End"]))
def test_a_hostile_excerpt_never_leaves_its_fence(texts: list[str], frame: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = wiki(folder, texts)
        config = WikiConfig(enabled=True, wiki_dir=place.wiki, max_context_tokens=8000)
        template = frame.replace("{}", "{{KNOWN_RTL_BUGS}}")
        for text in (PromptLoader(config).render(template), gather(place, budget=8000).text):
            _check(text)
        assert PromptLoader(config).render(template).count("{{OTHER}}") <= (
            sum(map(_count, texts)) * 2 * len(texts) * frame.count("{}")
        )


def _count(text: str) -> int:
    return text.count("{{OTHER}}")


def _check(text: str) -> None:
    """Check that only headers, lines and lists of the tool or the template are outside of fences."""
    found = MarkdownIt("commonmark").parse(text)
    kinds = {token.type for token in found}
    assert not kinds & {"html_block", "code_block", "blockquote_open", "hr"}
    headings = [following.content for token, following in itertools.pairwise(found) if "heading_o" in token.type]
    assert headings in ([], ["End"])
    assert all(token.info == "text" for token in found if token.type == "fence")
    for token in found:
        if token.type == "inline":
            first = token.content.split("\n")[0]
            assert first.startswith(("**", "(budget", "before", "after", "End")), token.content


@given(st.lists(st.text("ab中|` ", min_size=1, max_size=60), max_size=30), st.integers(0, 400))
def test_a_table_keeps_its_budget_and_its_best_row(rows: list[str], budget: int) -> None:
    text = fit_table("| a | b |\n| --- | --- |", rows, budget)
    assert tokens(text) <= budget
    if rows and tokens(rows[0]) <= budget:
        assert rows[0] in text
    if text and "\n" in text and len(rows) > text.count("\n") - 1:
        assert text.splitlines()[-1].startswith(f"(budget of {budget} tokens: ")
