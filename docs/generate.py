"""Writes what is generated into the documentation: the settings reference of the README.

python docs/generate.py
"""

from __future__ import annotations

from pathlib import Path

from pytest_dvwiki.settings import reference

README = Path(__file__).parents[1] / "README.md"
BEGIN = "<!-- settings: made by `make docs` -->\n"
END = "<!-- settings end -->"


def main() -> None:
    """Rewrites the generated part of the README."""
    head, begin, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, end, tail = rest.partition(END)
    README.write_text(f"{head}{begin}{reference()}{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
