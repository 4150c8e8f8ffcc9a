"""Whoever is killed or refused at a system call of a write leaves a wiki that opens clean and has lost nothing.

A few calls of each way; `make survive` takes a thousand and all ways.
"""

from __future__ import annotations

import pytest

from .faults import KILLED_AT, REFUSED_AT, is_available, kill, refuse, start

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


def _some(places: list[int], count: int) -> list[int]:
    """So many of them, evenly spread."""
    return [places[(2 * at + 1) * len(places) // (2 * count)] for at in range(count)]
