"""Runs each fuzz target of the readers on a few files; `python -m tests.fuzz` runs each for ten minutes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from .mutations import mutated
from .readers import READERS, seeds

DEAR = {"page": 4, "log": 10, "pattern": 15}
"""Number of examples for targets that are slower than the others."""


@pytest.mark.parametrize("target", READERS)
def test_any_file_is_read_or_told_with_place_and_remedy(target: str) -> None:
    @settings(max_examples=DEAR.get(target, 40), deadline=None, suppress_health_check=list(HealthCheck))
    @given(mutated(seeds(target)))
    def check(data: bytes) -> None:
        READERS[target](data)

    check()
