"""The nouns: each is there by its name, and those of the archive are made only for who needs them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_dvwiki import model


def test_every_name_is_there() -> None:
    assert all(getattr(model, name) is not None for name in model.__all__)


def test_a_name_that_is_none_is_told() -> None:
    with pytest.raises(AttributeError, match=r"pytest_dvwiki\.model' has no attribute 'Cuase'"):
        _ = model.Cuase


def test_to_name_a_failure_makes_none_of_the_archive() -> None:
    code = "import sys, pytest_dvwiki.cli.classify, pytest_dvwiki.triage.classify; print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "pytest_dvwiki.model.failure" in done.stdout.split()
    assert "pytest_dvwiki.model.archive" not in done.stdout.split()
