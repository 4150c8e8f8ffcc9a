"""Upkeep of a wiki: checks of pages, history and derived content, and decisions that people make."""
