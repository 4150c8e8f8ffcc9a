"""Outputs that are written for people: the terminal, CI services, report files and the site."""

OUTPUT_FILES = ("codequality",)
"""Modules with a function `render` that returns a file's text; the setting of the same name has the file's path."""
