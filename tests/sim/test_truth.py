"""What terminal, page and prompt say of fixes, commits and counts is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .truth import Scenario, scenarios

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


@pytest.mark.parametrize("section", [1, 2])
def test_each_scenario_looks_at_something(section: int) -> None:
    looked = {"terminal", "page", "prompt", "terminal_not", "page_not", "prompt_not"}
    blind = [s.name for s in scenarios() if s.section == section and not any(looked & set(step) for step in s.steps)]
    assert not blind
