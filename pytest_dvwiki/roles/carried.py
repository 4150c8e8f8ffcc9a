"""Attributes of pytest's reports that carry more than an outcome."""

from __future__ import annotations

EVIDENCE = "dvwiki"
"""The attribute of a report that carries evidence."""
OUTCOMES = frozenset({"passed", "failed", "skipped"})
"""Outcomes of pytest itself; with any other one, such as `rerun` or `retried`, a plugin runs the test again."""
MORE_THAN_PASSED = frozenset({EVIDENCE, "runner_nodeid", "wasxfail"})
"""Attributes of a passed report that has to be examined: evidence, and those set by cocotb's plugin and by pytest."""
