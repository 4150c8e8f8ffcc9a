"""A set and a search for each literal select the same expressions."""

from __future__ import annotations

import pytest

from pytest_dvwiki.patterns.literals import WORTH_BUILDING, Literals
from pytest_dvwiki.patterns.registry import load_registry

REGISTRY = load_registry()
MESSAGES = [
    *(example for pattern in REGISTRY for example in pattern.examples),
    "nothing that any pattern knows",
    "",
    "Überlauf: Fehler \u0130 beim Öffnen, file not found",
    "error: a lone surrogate \udcff stands here, No such file or directory",
]


@pytest.fixture(scope="module")
def built() -> Literals:
    literals = Literals(REGISTRY.entries, REGISTRY.triggers.rules)
    for _ in range(WORTH_BUILDING + 1):
        literals.fitting("error: no such file")
    assert literals._set is not None
    return literals


def test_a_set_finds_what_a_look_for_each_literal_finds(built: Literals) -> None:
    for message in MESSAGES:
        lowered = message.lower()
        plain = Literals(REGISTRY.entries, {"": range(len(REGISTRY))}).fitting(lowered)
        assert built.fitting(lowered) == plain, message


def test_the_triggers_lead_to_all_that_are_no_benign_ones(built: Literals) -> None:
    for message in MESSAGES:
        first = Literals(REGISTRY.entries, REGISTRY.triggers.rules)
        assert first.fitting(message.lower()) == built.fitting(message.lower()), message


def test_a_message_beyond_the_sets_memory_is_looked_through(built: Literals, monkeypatch: pytest.MonkeyPatch) -> None:
    message = "error: no such file or directory"
    wanted = built.fitting(message)

    class Exhausted:
        def Match(self, _: str) -> list[int]:  # noqa: N802  # the library's name
            return []

    monkeypatch.setattr(built._set, "_matcher", Exhausted())
    assert built.fitting(message) == wanted != {}
