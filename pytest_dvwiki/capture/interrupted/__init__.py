"""Runs that were killed: their journals, and what can still be archived of them."""
