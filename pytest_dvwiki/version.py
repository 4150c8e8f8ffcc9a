"""The versions of the package and of its fingerprints, and the name that records give this program."""

from __future__ import annotations

__version__ = "0.1.0"
TOOL = f"pytest-dvwiki {__version__}"
FINGERPRINT_VERSION = 2
"""Increased when the same failure would get another fingerprint; an occurrence then also keeps the former one."""
