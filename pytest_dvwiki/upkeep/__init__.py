"""Upkeep of a wiki: checks pages, history and derived content, and carries out people's decisions."""
