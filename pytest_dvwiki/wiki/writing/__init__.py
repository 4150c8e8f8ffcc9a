"""Writing of the wiki: archiving of runs, and rebuilding of all derived content."""
