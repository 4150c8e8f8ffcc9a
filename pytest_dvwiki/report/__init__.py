"""Output for people."""

OUTPUT_FILES = ("codequality",)
"""The modules of this package that render a file with `render(briefs, folder)`; a setting of that name has its path."""
