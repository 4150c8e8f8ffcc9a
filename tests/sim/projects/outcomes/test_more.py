"""Flow R: further tests for the invariants."""

from __future__ import annotations

from pathlib import Path

from test_runner import Bench, bench, dut  # noqa: F401


def test_seeds(bench: Bench, dut: Path) -> None:  # noqa: F811
    bench.test("seeds_bench", dut)


def test_flood(bench: Bench, dut: Path) -> None:  # noqa: F811
    bench.test("flood_bench", dut)


def test_secrets(bench: Bench, dut: Path) -> None:  # noqa: F811
    bench.test("secrets_bench", dut)
