"""Log checks: what the files of a flow must contain, written as `*.check.yaml`, and the result of such a check."""

SUFFIX = ".check.yaml"
"""The end of the name of a check."""
DRAFT = f"{SUFFIX}.draft"
"""The end of the name of a draft, which nothing collects before somebody accepts it."""
