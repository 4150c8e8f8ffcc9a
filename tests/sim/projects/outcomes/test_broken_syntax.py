"""A file of tests with a missing bracket."""


def test_never_seen():
    print("half a line"
