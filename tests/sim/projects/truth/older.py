"""Rewrites the newest record in schema 1, with one list of tests, one fingerprint and no end mark."""

from __future__ import annotations

from pathlib import Path

import yaml

LATER = {"run_id", "suites", "axes", "end"}
LATER_OF_A_CAUSE = {"fingerprint_v1", "command", "unreproducible", "reads", "place"}
LATER_OF_A_PASS = {"simulator", "config", "new_stimulus"}

newest = max(Path(".agent/tasks").glob("2*/*/*.yaml"), key=lambda path: path.stat().st_mtime_ns)
record = yaml.safe_load(newest.read_text())
record["suite"] = next((row["suite"] for row in record["suites"]), None)
for cause in record["occurrences"]:
    cause["fingerprint"] = cause["fingerprint_v1"]
    for test in cause["tests"]:
        test.pop("config", None)
for rows, later in (
    ([record], LATER),
    (record["occurrences"], LATER_OF_A_CAUSE),
    (record["passed_again"], LATER_OF_A_PASS),
    (record["other"], LATER_OF_A_PASS),
):
    for row in rows:
        for key in later:
            row.pop(key, None)
newest.write_text(yaml.safe_dump(record | {"schema": 1, "fingerprint_version": 1}, sort_keys=False))
