"""The check of patterns finds each kind of mistake, and says whose it is."""

from __future__ import annotations

from pytest_dvwiki.patterns.check import Checker
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.patterns.schema import Pattern


def own(**changes: object) -> Pattern:
    fields: dict[str, object] = {
        "id": "own.link",
        "error_class": "sim_error",
        "failure_subtype": "protocol_violation",
        "tier": "cause",
        "match": (r"LINK: lane \d+ lost its lock",),
        "description": "The link went down.",
        "fix": "Ask the link team.",
        "examples": ("LINK: lane 3 lost its lock",),
    }
    return Pattern(**(fields | changes))  # type: ignore[arg-type]  # values of the fields above


def complaints(*patterns: Pattern) -> list[str]:
    return [str(problem) for problem in Checker(load_registry(patterns)).problems()]


def test_what_holds_is_not_complained_of() -> None:
    assert (
        complaints(
            own(),
            own(
                id="own.soft",
                tier="benign",
                error_class="unknown",
                failure_subtype="unknown",
                match=("soft error seen",),
                examples=("soft error seen, as planned",),
            ),
        )
        == []
    )


def test_an_example_that_its_pattern_does_not_find() -> None:
    (complaint,) = complaints(own(examples=("LINK: lane three lost its lock",)))
    assert complaint == (
        "given patterns: pattern own.link: field examples: "
        "the pattern does not match 'LINK: lane three lost its lock'; correct the example or `match`"
    )


def test_a_pattern_without_an_example() -> None:
    assert "pattern own.link: field examples: is empty" in complaints(own(examples=()))[0]


def test_a_counterexample_that_is_matched() -> None:
    (complaint,) = complaints(own(counterexamples=("LINK: lane 4 lost its lock",)))
    assert "own.link: field counterexamples: the pattern matches 'LINK: lane 4 lost its lock'" in complaint


def test_a_pattern_that_takes_what_belongs_to_others_is_the_one_to_mend() -> None:
    found = complaints(own(match=("error: ",), examples=("error: link",)))
    assert found
    assert all(line.startswith("given patterns: pattern own.link: field match: matches the example ") for line in found)
    assert any(
        "of icarus.unknown_module (builtin/icarus.yaml, compile_error / missing_module)" in line for line in found
    )
    assert all(line.endswith("or give it the id of that pattern to replace it") for line in found)


def test_a_benign_pattern_that_takes_failures_is_the_one_to_mend() -> None:
    soft = own(
        id="own.soft",
        tier="benign",
        error_class="unknown",
        failure_subtype="unknown",
        match=("Unknown module type",),
        examples=("Unknown module type",),
    )
    found = complaints(soft)
    assert any("pattern own.soft: field match: matches the example" in line for line in found)


def test_an_example_that_a_built_in_benign_pattern_takes_is_the_project_s_to_mend() -> None:
    (complaint,) = complaints(own(match=("lanes lost",), examples=("lanes lost, 0 errors",)))
    assert "own.link: field examples: benign.zero_count (builtin/benign.yaml, benign) matches" in complaint
