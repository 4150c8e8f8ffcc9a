"""Processes that a test starts: their commands, output and ends."""
