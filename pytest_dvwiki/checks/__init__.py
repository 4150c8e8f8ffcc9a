"""Log checks: a `*.check.yaml` file says what the files of a flow must contain, and a check reports what they lack."""

SUFFIX = ".check.yaml"
"""Suffix of the file name of a check."""
DRAFT = f"{SUFFIX}.draft"
"""Suffix of the file name of a draft; pytest does not collect a draft until a person accepts it as a check."""
