"""The analysis of a failure: its label, its first cause and its likely origin."""
