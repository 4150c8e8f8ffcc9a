"""After a kill or an error at any system call of a write, the wiki is intact and nothing is lost.

A few calls of each way; `make survive` takes a thousand and all ways.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from unit.samples import layout

from pytest_dvwiki.wiki.writing.build import build

from .faults import KILLED_AT, REFUSED_AT, is_available, kill, refuse, start

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_available(), reason="needs strace, and the right to watch a process"),
]


@pytest.mark.parametrize("way", ["first-run", "known-cause", "agent", "build", "compact"])
def test_a_fault_at_any_call_leaves_a_sound_wiki(way: str) -> None:
    begun = start(way)
    places = begun.places(KILLED_AT)
    refused = begun.places(REFUSED_AT)
    assert len(places) > len(refused) > 5
    found = {f"killed at call {number}": kill(begun, number) for number in _some(places, 2)}
    found["disk full"] = refuse(begun, _some(refused, 1)[0], "ENOSPC", for_ever=True)
    assert {fault: wrong for fault, wrong in found.items() if wrong} == {}


def test_a_full_disk_changes_no_exit_status_and_the_next_run_archives_what_failed(tmp_path: Path) -> None:
    """If no file can be renamed, the run has a record but no pages, and pytest has no cache."""
    (tmp_path / ".agent").mkdir()
    (tmp_path / "test_fifo.py").write_text("def test_full():\n    assert 1 == 2\n\n\ndef test_empty():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "--dvwiki", "--basetemp", str(tmp_path / "base"), str(tmp_path)]
    full = ["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=rename", "-e", "inject=rename:error=ENOSPC"]
    ended = [
        subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        for words in ([*full, *command], command)
    ]
    assert [each.returncode for each in ended] == [1, 1], ended[0].stdout
    assert "the disk is full" in ended[0].stdout
    assert "archived what a killed run left behind" in ended[1].stdout
    place = layout(tmp_path)
    assert len(list(place.tasks.glob("2*/*/*.yaml"))) == 2
    assert list(place.journal.glob("*/")) == []
    assert build(place, check=True).changed == []


def _some(places: list[int], count: int) -> list[int]:
    """Return `count` of the places, evenly distributed."""
    return [places[(2 * at + 1) * len(places) // (2 * count)] for at in range(count)]
