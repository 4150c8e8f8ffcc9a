"""Attributes by which pytest's reports carry more than an outcome."""

from __future__ import annotations

EVIDENCE = "dvwiki"
"""The attribute of a report that carries evidence."""
MORE_THAN_PASSED = frozenset({EVIDENCE, "runner_nodeid", "wasxfail"})
"""Attributes of reports that make a pass no plain one: evidence, and those of cocotb's own plugin and of pytest."""
