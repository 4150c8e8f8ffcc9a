"""The analysis of a failure: its name, its first cause and its likely origin."""
