"""Runs that never came to their end."""
