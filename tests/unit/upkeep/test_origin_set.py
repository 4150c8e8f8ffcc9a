"""The confidence of origins fits a set of faults with known origin, and the weights are fitted on this set."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_dvwiki.triage.origin import WEIGHTS

BENCH = Path(__file__).parents[2] / "bench" / "origin.py"


@pytest.fixture(scope="module")
def bench() -> Any:
    spec = importlib.util.spec_from_file_location("bench_origin", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_set_is_large_and_mostly_not_ours(bench: Any) -> None:
    cases = bench.load()
    assert len(cases) >= 200
    assert sum(case.public for case in cases) * 3 >= len(cases)
    assert {case.truth for case in cases} == {"RTL_BUG", "TB_BUG"}


def test_what_is_printed_fits_leaving_one_project_out(bench: Any) -> None:
    found = bench.score(bench.load())
    assert found.deciles
    assert not [decile.low for decile in found.deciles if decile.is_off]
    assert min(decile.low for decile in found.deciles) >= 60
    assert found.brier < found.brier_of_base


def test_the_weights_are_those_of_the_set(bench: Any) -> None:
    assert bench.fit(bench.load()) == dict(WEIGHTS)
