"""Log checks: what the files of a flow must contain, written as `*.check.yaml`, and the result of such a check."""

SUFFIX = ".check.yaml"
"""Suffix of the file name of a check."""
DRAFT = f"{SUFFIX}.draft"
"""Suffix of the file name of a draft; nothing collects a draft before somebody accepts it."""
