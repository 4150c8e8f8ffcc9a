"""Checks the configuration files that people write: `schema.yaml`, `waivers.yaml` and pattern files."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.waivers import load_waivers
from pytest_dvwiki.upkeep.findings import Finding
from pytest_dvwiki.wiki.schema import NAME, SchemaError, load_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.patterns.schema import PatternError
    from pytest_dvwiki.settings import Layout

_PLACE = re.compile(r"(?::(?P<line>\d+))?: (?P<text>.*)", re.DOTALL)


def check_configuration(layout: Layout) -> Iterator[Finding]:
    """Yield unknown keys and invalid values.

    `project.yaml` is not checked here, because it is checked whenever it is read.
    """
    try:
        load_schema(layout.wiki)
    except SchemaError as error:
        yield _finding(layout, layout.wiki / NAME, str(error))
    for problem in load_waivers(layout.waivers).problems:
        yield _finding(layout, layout.waivers, problem)
    own = sorted(layout.patterns.glob("*.yaml"))
    mistakes: list[PatternError] = []
    if own:
        load_registry(own, problem=mistakes.append)
    for mistake in mistakes:
        file = next((path for path in own if str(mistake).startswith(str(path))), layout.patterns)
        yield _finding(layout, file, str(mistake))


def _finding(layout: Layout, file: Path, message: str) -> Finding:
    """Return a finding made from an error message, which is `PATH:LINE: TEXT` or `PATH: TEXT`."""
    place = _PLACE.fullmatch(message.removeprefix(str(file)))
    line, text = (int(place["line"] or 0), place["text"]) if place else (0, message)
    return Finding(os.path.relpath(file, layout.wiki), line, "configuration", text)
