"""Output for people."""

OUTPUT_FILES = ("codequality",)
"""Modules here with `render(briefs, folder)` for a file; the setting of the same name names the file."""
