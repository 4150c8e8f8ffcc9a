"""The templates of the report, rendered by Jinja2 with every value cleaned and escaped."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.reading import UserError
from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


class MissingError(UserError):
    """A package of the extra `report` is not installed; the message has the command to install it."""

    def __init__(self, package: str | None) -> None:
        super().__init__(f"{package} is not installed: `pip install 'pytest-dvwiki[report]'` installs it")


@functools.cache
def environment() -> Environment:
    """Return the Jinja2 environment with the report's templates.

    Raises:
        MissingError: Jinja2 is not installed.
    """
    try:
        # Only reports need Jinja2.
        from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingError(error.name) from None
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_cleaned,
    )


def _cleaned(value: object) -> object:
    """Remove escape sequences and invisible characters from a value that a template shows."""
    # A cleaned `Markup` is still a `Markup`, so that it is not escaped a second time.
    return type(value)(clean(value)) if isinstance(value, str) else value
