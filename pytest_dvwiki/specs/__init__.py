"""Specifications of checks, written by a model in five rounds from a short description, and the draft checks."""
