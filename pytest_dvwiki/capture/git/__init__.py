"""The repository that a run works on: its state, its owners, the commits with which a cause came."""
