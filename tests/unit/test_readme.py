"""The README tells what the table of options says."""

from __future__ import annotations

from pathlib import Path

from pytest_dvwiki.settings import reference

README = Path(__file__).parents[2] / "README.md"


def test_the_settings_reference_is_that_of_the_table() -> None:
    text = README.read_text(encoding="utf-8")
    shown = text.partition("<!-- settings: made by `make docs` -->\n")[2].partition("<!-- settings end -->")[0]
    assert shown == reference()
