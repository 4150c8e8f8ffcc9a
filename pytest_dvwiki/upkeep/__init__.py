"""Upkeep of a wiki: checks of pages, history and derived content, and what people decide: merges, reviews, waivers."""
