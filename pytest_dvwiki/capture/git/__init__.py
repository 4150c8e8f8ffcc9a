"""The repository that a run works on: its state, its owners, the commits that introduced a cause."""
