"""Checks of a wiki: of its pages, its history and its derived content."""
