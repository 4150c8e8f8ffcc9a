"""What terminal, page, prompt and index say about fixes, commits, counts, causes, origins and commands are true."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .truth import PLACES, Scenario, scenarios

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.sim, pytest.mark.timeout(300)]
ROWS = [
    pytest.param(each, id=each.name, marks=[pytest.mark.further_mode] if each.further else []) for each in scenarios()
]


@pytest.mark.parametrize("scenario", ROWS)
def test_what_is_said_is_true(scenario: Scenario, tmp_path: Path) -> None:
    absent = scenario.absent()
    if absent:
        pytest.skip("; ".join(absent))
    complaints = scenario.complaints(tmp_path / "truth")
    assert not complaints, "\n\n".join(complaints)


def test_names_are_given_once() -> None:
    names = [each.name for each in scenarios()]
    assert len(names) == len(set(names))


def test_each_scenario_looks_at_something() -> None:
    looked = {f"{place}{end}" for place in PLACES for end in ("", "_not")} | {"exit", "pages", "paste"}
    assert not [each.name for each in scenarios() if not any(looked & set(step) for step in each.steps)]
