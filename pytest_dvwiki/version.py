"""Which version of the package this is, and how records name what wrote them."""

from __future__ import annotations

__version__ = "0.1.0"
TOOL = f"pytest-dvwiki {__version__}"
