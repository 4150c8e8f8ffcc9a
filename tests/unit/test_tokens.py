"""Tokens are counted by a rule that rounds up, or exactly by a tokeniser if its file is available."""

from __future__ import annotations

import importlib.util
import logging
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_dvwiki.agent.budget import PromptBlock, fit, fit_table
from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.agent.query import WikiQueryService
from pytest_dvwiki.settings import PROJECT_FILE, resolve
from pytest_dvwiki.tokens import by_rule, counting
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.writing.build import archive

from .blocks import BLOCKS
from .samples import layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.tokens import Count

needs_tokenizers = pytest.mark.skipif(importlib.util.find_spec("tokenizers") is None, reason="tokenizers is missing")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small tokeniser in the format of a model's."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers  # noqa: PLC0415 (may be missing)

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(
        ["the budget of tokens: pages left out, shortened, page fifo scoreboard"] * 4, trainer
    )
    path = tmp_path_factory.mktemp("model") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("aaaa", 1), (" aaaaa", 2), ("AXI", 2), ("a_b", 3), ("é中", 3)])
def test_the_rule_cuts_words_into_pieces(text: str, tokens: int) -> None:
    assert counting(None)(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The RTL does not handle burst transactions that cross a 256-byte boundary.", 15),
        ("UVM_ERROR tb/axi_sb.sv(210) @ 1250ns: uvm_test_top.env.sb [SCBD] expected 0x12 got 0x13", 39),
        ("**RTL_20260902_635006** (open, 0.80) — credit counter differs: expected … got … [stable for 2 months]", 34),
        ("Seen in 6 runs. (source: tasks/nightly_20260907T100000Z_92b11a.yaml | log: sim_build/fifo.log:1880)", 39),
        ("| `scoreboard_fail` | `sim_error` | 9 | 9 | 100% | 2026-11-21 | stable for 3 months (+8) |", 39),
        ("tb.dut.u_axi_reader3.credit_2[7:0] = 32'hdead_beef", 23),
        ("3f a0 07 11 9c e4 00 18\n5b 22 c9 7d 01 fe 40 a3", 34),
        ("错误信号不匹配", 7),
        ("Prüfsumme größer als erwartet", 11),
    ],
)
def test_the_rule_takes_no_less_than_common_vocabularies(text: str, tokens: int) -> None:
    # The greater number of cl100k and o200k.
    assert tokens <= by_rule(text) <= 2 * tokens


@needs_tokenizers
def test_a_tokeniser_counts_exactly(file: Path) -> None:
    count = counting(file)
    assert [count(text) for text in ("", " budget", "zq", "the budget of tokens")] == [0, 1, 2, 4]


@needs_tokenizers
@given(BLOCKS, st.integers(0, 300), st.integers(0, 3))
def test_no_budget_is_exceeded_by_what_the_tokeniser_counts(
    file: Path, blocks: list[PromptBlock], budget: int, more: int
) -> None:
    count = counting(file)
    text = fit(blocks, budget, more, count)
    assert count(text) <= budget
    if count(blocks[0].header) <= budget:
        assert text.startswith(blocks[0].header)
    elif count("**page**") <= budget:
        assert text.startswith("**page**")
    rows = [" ".join(block.header.split()) for block in blocks]
    assert count(fit_table("| a |\n| --- |", rows, budget, count)) <= budget


@given(BLOCKS, st.integers(0, 300), st.integers(2, 7))
def test_parts_that_cost_more_together_than_one_by_one_get_less_room(
    blocks: list[PromptBlock], budget: int, price: int
) -> None:
    def count(text: str) -> int:
        # Each pair of line feeds adds tokens that no part of the text shows.
        return len(text) // 3 + price * text.count("\n\n")

    assert count(fit(blocks, budget, 0, count)) <= budget


@needs_tokenizers
def test_a_project_names_its_tokeniser(tmp_path: Path, file: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, *(occurrence(f"{number:012x}") for number in range(8))))
    (tmp_path / "tokenizer.json").write_bytes(file.read_bytes())
    (place.root / PROJECT_FILE).write_text("wiki:\n  context_tokenizer: tokenizer.json\n")
    settings = replace(resolve(tmp_path, environ={}), enabled=True)
    count = counting(tmp_path / "tokenizer.json")
    for budget in (40, 150, 400):
        text = gather(place, budget=budget, tokenizer=settings.tokenizer).text
        assert 0 < count(text) <= budget
        assert text != gather(place, budget=budget).text
    bugs = WikiQueryService(WikiConfig.of(settings)).get_known_rtl_bugs()
    assert 0 < count(bugs) <= 500
    assert bugs != WikiQueryService(WikiConfig(enabled=True, wiki_dir=place.wiki)).get_known_rtl_bugs()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "No such file or directory", marks=needs_tokenizers),
        pytest.param(b"{", "not a valid tokenizer.json", marks=needs_tokenizers),
        (b"", "the package tokenizers is not installed: pip install 'pytest-dvwiki[tokens]'"),
    ],
)
def test_a_tokeniser_that_cannot_be_used_is_said_once_and_the_rule_counts(
    tmp_path: Path,
    content: bytes | None,
    said: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "tokenizer.json"
    if content is not None:
        file.write_bytes(content)
    if "not installed" in said:
        monkeypatch.setitem(sys.modules, "tokenizers", None)
    with caplog.at_level(logging.WARNING):
        counts: list[Count] = [counting(file), counting(file)]
    assert counts == [by_rule, by_rule]
    (message,) = caplog.messages
    assert message.startswith(f"context_tokenizer {file}: ")
    assert said in message
