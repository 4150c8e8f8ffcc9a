"""Flow P: pytest tests without a simulator."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest


def test_passes() -> None: ...


def test_assert() -> None:
    words = ["idle", "busy"]
    assert "done" in words, "the model's words lack the last state"


@pytest.mark.xfail(strict=True, reason="the model rounds down")
def test_strict_xpass() -> None: ...


@pytest.mark.xfail(reason="the model rounds down")
def test_xfail() -> None:
    raise ValueError("rounded down")


@pytest.mark.skip(reason="needs the lab")
def test_skipped() -> None: ...


@pytest.fixture
def vectors() -> list[int]:
    raise OSError("vectors.hex cannot be read")


def test_fixture_setup(vectors: list[int]) -> None: ...


def test_fixture_setup_again(vectors: list[int]) -> None: ...


@pytest.fixture
def ledger() -> Iterator[None]:
    yield
    raise RuntimeError("ledger not empty at the end")


def test_fixture_teardown(ledger: None) -> None: ...


@pytest.mark.timeout(1)
def test_hang() -> None:
    time.sleep(60)
