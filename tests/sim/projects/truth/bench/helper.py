"""Functions for the tests without a simulator."""


def value() -> int:
    return 1
