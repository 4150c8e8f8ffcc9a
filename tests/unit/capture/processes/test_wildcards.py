"""Words with wildcards are replaced by the same files as in a shell."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.processes import wildcards
from pytest_dvwiki.capture.processes.wildcards import expanded, is_pattern

from ...effort import takes_seconds_at_most

if TYPE_CHECKING:
    from pathlib import Path

FILES = ("rtl/a.vhd", "rtl/b.vhd", "rtl/c.v", "rtl/.hidden.vhd", "rtl/deep/d.vhd", "rtl/[x].vhd", "tb/a.vhd")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    "word",
    [
        "rtl/*.vhd",
        "rtl/*",
        "r?l/[ab].vhd",
        "*/a.vhd",
        "rtl/[!a].vhd",
        "rtl/{a,b}.vhd",
        "{rtl,tb}/a*",
        "rtl/.h*",
        "*/*/*",
    ],
)
def test_wildcards_are_expanded_as_by_the_shell(folder: Path, word: str) -> None:
    done = subprocess.run(["bash", "-c", f"echo {word}"], cwd=folder, capture_output=True, text=True, check=True)
    by_shell = [str(folder / name) for name in shlex.split(done.stdout)]
    assert is_pattern(word)
    assert sorted(expanded(f"{folder}/{word}")) == sorted(by_shell)


@pytest.mark.parametrize("word", ["none/*.vhd", "rtl/*.sv", "rtl/{a,none}*.vhd", "$file", "`cat files`"])
def test_a_word_that_fits_nothing_has_no_files(folder: Path, word: str) -> None:
    assert is_pattern(word)
    assert expanded(f"{folder}/{word}") == []


def test_a_file_with_the_name_of_a_pattern_is_that_file(folder: Path) -> None:
    assert expanded(f"{folder}/rtl/[x].vhd") == [f"{folder}/rtl/[x].vhd"]


def test_only_so_many_entries_are_compared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = len(list((folder / "rtl").iterdir()))
    monkeypatch.setattr(wildcards, "_MOST_ENTRIES", names)
    assert expanded(f"{folder}/rtl/*.v") == [f"{folder}/rtl/c.v"]
    monkeypatch.setattr(wildcards, "_MOST_ENTRIES", names - 1)
    assert expanded(f"{folder}/rtl/*.v") == []


@pytest.mark.parametrize(
    "word", ["{a,b}" * 40, "{a,b" * 10_000, f"{{{',' * 60_000}", "[a" * 30_000, "*a" * 2_000], ids=len
)
def test_a_hostile_word_takes_no_more_than_linear_time(folder: Path, word: str) -> None:
    assert takes_seconds_at_most(5, lambda: (is_pattern(word), expanded(f"{folder}/rtl/{word}")))
