"""Specifications of checks, which a model writes in five rounds from a short description, and drafts of the checks."""
