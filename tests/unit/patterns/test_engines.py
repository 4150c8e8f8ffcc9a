"""All engines find the same lines with literals, in any block; their databases are cached and checked."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.patterns import engines
from pytest_dvwiki.patterns.engines import NAMES, EngineError, Engines, load

if TYPE_CHECKING:
    from pathlib import Path

INSTALLED = [name for name in NAMES if name == "python" or importlib.util.find_spec(name)]
LITERALS = ("error", "*e,", "(vlog-13)", "timed out", "错误: no")
LINES = [
    b"all fine",
    b"ERROR at the start",
    b"twice: error, Error",
    b"",
    b"xmvlog: *E,EXPSMC (a.v,3|4)",
    b"(VLOG-13) and (vlog-14)",
    b"(vlog-23)",
    b"\x00binary\xff error \xe9",
    b"timed  out",
    b"it timed out",
    b"err",
    b"or",
    "错误: NO such file".encode(),
    "错误: yes".encode(),
    # The same bytes except for one bit, which makes a letter of Latin-1 a capital.
    b"\xc9" + "错误: no".encode()[1:],
]
HOLDING = {1, 2, 4, 5, 7, 9, 12}


def lines_of(block: bytes, name: str) -> set[int]:
    return {block.count(b"\n", 0, offset) for offset in load(LITERALS, name=name).offsets(block)}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVWIKI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("DVWIKI_ENGINE", raising=False)


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_lines_that_hold_a_literal_are_found(name: str, end: bytes) -> None:
    assert lines_of(b"\n".join(LINES) + end, name) == HOLDING


@pytest.mark.parametrize("name", INSTALLED)
def test_offsets_ascend(name: str) -> None:
    offsets = list(load(LITERALS, name=name).offsets(b"\n".join(LINES * 3)))
    assert offsets == sorted(offsets)


@pytest.mark.parametrize("name", INSTALLED)
def test_an_empty_block_holds_nothing(name: str) -> None:
    assert list(load(LITERALS, name=name).offsets(b"")) == []


def test_a_database_is_kept_and_loaded_again(tmp_path: Path) -> None:
    pytest.importorskip("hyperscan")
    first = lines_of(b"an error", "hyperscan")
    (kept,) = (tmp_path / "cache").glob("literals-*.hs")
    before = kept.stat().st_mtime_ns
    assert lines_of(b"an error", "hyperscan") == first == {0}
    assert kept.stat().st_mtime_ns == before


def test_a_damaged_database_is_made_again(tmp_path: Path) -> None:
    pytest.importorskip("hyperscan")
    load(LITERALS, name="hyperscan")
    (kept,) = (tmp_path / "cache").glob("literals-*.hs")
    good = kept.read_bytes()
    for damage in (b"", b"x", good[:-1], good[:-9] + b"x" * 9):
        kept.write_bytes(damage)
        assert lines_of(b"an error", "hyperscan") == {0}
        assert kept.read_bytes() == good


def test_without_a_cache_the_database_lives_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hyperscan")
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DVWIKI_CACHE_DIR", str(tmp_path / "file"))
    assert lines_of(b"an error", "hyperscan") == {0}


def test_a_library_that_does_not_load_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("hyperscan", "re2"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, f"{engines.__name__}.{name}", raising=False)
    assert load(LITERALS).name == "python"


def test_an_engine_asked_for_by_name_is_taken_or_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVWIKI_ENGINE", "python")
    assert load(LITERALS).name == "python"
    with pytest.raises(EngineError, match="unknown engine 'perl': choose one of hyperscan, re2, python"):
        load(LITERALS, name="perl")
    monkeypatch.setitem(sys.modules, "re2", None)
    monkeypatch.delitem(sys.modules, f"{engines.__name__}.re2", raising=False)
    with pytest.raises(EngineError, match="pip install google-re2"):
        load(LITERALS, name="re2")


def test_a_wrong_variable_does_not_stop_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVWIKI_ENGINE", "perl")
    assert [b"x\nan error".count(b"\n", 0, at) for at in Engines(LITERALS).offsets(b"x\nan error")] == [1]


def test_no_library_is_loaded_for_a_small_text() -> None:
    chosen = Engines(LITERALS)
    list(chosen.offsets(b"an error"))
    assert chosen._engine is None
    list(chosen.offsets(b"x" * engines.WORTH_LOADING))
    assert chosen._engine is not None
