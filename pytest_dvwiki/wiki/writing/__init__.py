"""Writes the wiki: archives runs, and rebuilds all derived content."""
