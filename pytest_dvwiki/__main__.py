"""Runs the command `dvwiki` as `python -m pytest_dvwiki`."""

from __future__ import annotations

import sys

from pytest_dvwiki.cli import main

if __name__ == "__main__":
    sys.exit(main())
