"""The event counter."""

from __future__ import annotations

from collections.abc import Callable

from cocotb_tools.runner import Runner


def test_counter(build: Callable[..., Runner]) -> None:
    build("event_counter").test("counter_tb", "event_counter")
