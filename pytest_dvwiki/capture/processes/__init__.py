"""Processes that a test starts: what they run, what they print, how they end."""
