"""Artefacts of earlier runs, read into the same failures and results as live capture would produce."""
