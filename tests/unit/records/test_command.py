"""The command of a failure with another seed."""

from __future__ import annotations

import pytest

from pytest_dvwiki.records.command import with_seed


@pytest.mark.parametrize(
    ("command", "seed", "other"),
    [
        ("COCOTB_RANDOM_SEED=42 pytest 't.py::a'", "7", "COCOTB_RANDOM_SEED=7 pytest 't.py::a'"),
        ("RANDOM_SEED=42 TESTCASE=b pytest 't.py::a'", "7", "RANDOM_SEED=7 TESTCASE=b pytest 't.py::a'"),
        ("make -C sim RANDOM_SEED='4 2' MODULE=m", "a b", "make -C sim RANDOM_SEED='a b' MODULE=m"),
        ("pytest 't.py::a'", "7", None),
        ("COCOTB_RANDOM_SEED=42 pytest 't.py::a'", None, None),
    ],
)
def test_only_the_seed_is_another(command: str, seed: str | None, other: str | None) -> None:
    assert with_seed(command, seed) == other
