"""Attributes of pytest's reports that carry more than an outcome."""

from __future__ import annotations

EVIDENCE = "dvwiki"
"""The attribute of a report that carries evidence."""
MORE_THAN_PASSED = frozenset({EVIDENCE, "runner_nodeid", "wasxfail"})
"""Attributes of a passed report that has to be examined: evidence, and those set by cocotb's plugin and by pytest."""
