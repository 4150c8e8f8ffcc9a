"""The registry of failure patterns and the matcher."""
