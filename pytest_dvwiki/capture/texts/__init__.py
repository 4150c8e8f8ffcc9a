"""Texts of any size: read as lines, reduced to bounded excerpts, searched for the user's frames."""
