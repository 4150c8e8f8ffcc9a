"""The versions of the package and of its fingerprints, and this program's name in records."""

from __future__ import annotations

__version__ = "0.1.0"
TOOL = f"pytest-dvwiki {__version__}"
FINGERPRINT_VERSION = 2
"""Incremented when the same failures get other fingerprints. An occurrence then also keeps the earlier fingerprint."""
