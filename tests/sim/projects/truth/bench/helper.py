"""What the tests without a simulator ask."""


def value() -> int:
    return 1
