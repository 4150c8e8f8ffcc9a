"""Capture of failures, with bounded evidence, from the output and files of a run."""
