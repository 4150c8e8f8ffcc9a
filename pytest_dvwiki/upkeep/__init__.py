"""Upkeep of a wiki: checks of pages, history and derived content, and the actions that people decide on."""
