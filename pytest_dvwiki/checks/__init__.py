"""Log checks: a `*.check.yaml` file lists what output files of a flow must contain; a check reports what is missing."""

SUFFIX = ".check.yaml"
"""File name suffix of checks."""
DRAFT = f"{SUFFIX}.draft"
"""File name suffix of drafts. pytest collects a draft only after a person has accepted it as a check."""
