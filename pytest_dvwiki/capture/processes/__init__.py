"""Processes that a test starts: their commands, their output, and how they end."""
