"""Runs that were killed."""
