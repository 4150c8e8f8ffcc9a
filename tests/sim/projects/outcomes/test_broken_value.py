"""A file of tests whose import fails."""

WIDTHS = {"small": 8, "large": 32}
WIDTH = int("eight")


def test_never_seen() -> None: ...
