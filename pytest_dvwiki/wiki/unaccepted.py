"""Pages and sections last edited by an agent and not accepted by a person: their text stays out of prompts.

The log records who last wrote a page or a part of a page. In parts that can only be appended to, each note has its own
mark instead.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.page_files import State, state_of
from pytest_dvwiki.wiki.schema import DIRECTLY, NAME, Address, SchemaError, load_schema

if TYPE_CHECKING:
    from pathlib import Path

ACCEPT = "accept"
"""The name of the log's operation when a person accepts what an agent wrote."""
_WRITTEN = re.compile(
    rf"^## \[[^\]]*\] (?P<what>commit|{ACCEPT}) \| - \| (?P<address>[^\n]+) by (?P<who>\S[^\n]*)$", re.MULTILINE
)


def unaccepted(wiki: Path) -> dict[str, str]:
    """Return the addresses of pages and sections that an agent edited last and no person accepted.

    Each address is mapped to the agent's role.
    """
    return _unaccepted(wiki, *(state_of(wiki / name) for name in ("log.md", NAME)))


@functools.lru_cache(maxsize=8)
def _unaccepted(wiki: Path, *_: State) -> dict[str, str]:
    """Return what `unaccepted` returns; cached, because every query asks for it and the log can be long."""
    try:
        log = outside.read(wiki, "log.md").decode("utf-8", "replace")
        lines = list(_WRITTEN.finditer(log))
        # In most wikis no agent has written anything, so the schema need not be read.
        schema = load_schema(wiki) if any(line["who"] not in DIRECTLY for line in lines) else None
    except (OSError, SchemaError):
        return {}
    found: dict[str, str] = {}
    for line in lines if schema is not None else ():
        address, who = line["address"], line["who"]
        if line["what"] == ACCEPT or who in DIRECTLY:
            # Whoever writes or accepts a whole page has seen its parts.
            found = {each: role for each, role in found.items() if address not in {each, each.partition("#")[0]}}
        elif schema is not None and who in schema.roles and (place := Address.of(address)) is not None:
            section = schema.section_of(place)
            if section is None or section.mode == "snapshot":
                found[address] = who
    return found


def is_unaccepted(address: str, addresses: dict[str, str], heading: str = "") -> bool:
    """Return whether a page, or the part under `heading` if given, has text by an agent that nobody accepted.

    Args:
        address: The address of the page.
        addresses: What `unaccepted` returns.
        heading: The heading of a part of the page.
    """
    if address in addresses:
        return True
    if heading:
        return f"{address}#{heading}" in addresses
    return any(each.startswith(f"{address}#") for each in addresses)
