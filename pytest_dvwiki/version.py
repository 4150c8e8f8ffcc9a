"""The version of the package, and the name of the tool in records."""

from __future__ import annotations

__version__ = "0.1.0"
TOOL = f"pytest-dvwiki {__version__}"
