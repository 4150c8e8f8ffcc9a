"""A file of tests that fails while it is imported."""

WIDTHS = {"small": 8, "large": 32}
WIDTH = int("eight")


def test_never_seen() -> None: ...
