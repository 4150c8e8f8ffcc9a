"""Output for people."""

OUTPUT_FILES = ("codequality",)
"""The modules here whose `render(briefs, folder)` returns a file; the setting of the same name has the file's path."""
