"""Texts of any size: read as lines, cut to bounded excerpts, searched for the user's frames."""
