"""A store of pages in memory: `Store` without files, for tests of agents and as an example for other stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from pytest_dvwiki.runs import today
from pytest_dvwiki.wiki.page_cache import summary_of
from pytest_dvwiki.wiki.review import Kind  # noqa: TC001  # msgspec evaluates the annotations for the signature
from pytest_dvwiki.wiki.schema import Schema, parsed
from pytest_dvwiki.wiki.store_rules import CheckedStore
from pytest_dvwiki.wiki.writing.scaffold import SCHEMA_YAML

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.wiki.page_summary import PageSummary


class MemoryWiki(Struct, kw_only=True):
    """Pages in memory; several `MemoryStore` objects can share them."""

    files: dict[str, bytes] = field(default_factory=dict)
    """Maps the path of each file, such as `specs/burst.md`, to its content."""
    schema: str = SCHEMA_YAML
    proposals: list[tuple[Kind, str, str]] = field(default_factory=list)
    """Kind, target and text of each undecided proposal; a proposal's id is its index in this list."""


class MemoryStore(CheckedStore):
    """Reads and writes pages in memory, in one role.

    Args:
        wiki: The pages.
        role: A role of the wiki's schema.

    Raises:
        ValueError: The role does not exist.
        SchemaError: The schema is invalid.
    """

    def __init__(self, wiki: MemoryWiki, role: str) -> None:
        self._wiki = wiki
        super().__init__(role)

    @property
    def schema(self) -> Schema:
        """Return the sections and roles."""
        return parsed(self._wiki.schema)

    def _schema_text(self) -> str:
        return self._wiki.schema

    def _summaries(self, categories: Sequence[str]) -> list[PageSummary]:
        found = (
            path for category in categories for path in sorted(self._wiki.files) if path.startswith(f"{category}/")
        )
        return [summary_of(path, self._wiki.files[path]) for path in found]

    def _read(self, path: str) -> bytes:
        if path not in self._wiki.files:
            raise FileNotFoundError(path)
        return self._wiki.files[path]

    def _replace(self, path: str, decide: Callable[[bytes | None], bytes | None], log_text: str) -> str | None:
        present = self._wiki.files.get(path)
        data = decide(present)
        if data is not None and data != present:
            self._wiki.files[path] = data
            self._add_line("log.md", "Log", lambda _: f"commit | - | {log_text}")
        return None

    def _add_line(self, path: str, title: str, make: Callable[[str], str | None]) -> None:
        text = self._wiki.files.get(path, b"").decode()
        line = make(text)
        if line is not None:
            head = text or f"# {title}\n\n"
            self._wiki.files[path] = f"{head}## [{today()}] {line}\n".encode()

    def _propose(self, kind: Kind, target: str, text: str, reason: str) -> str:  # noqa: ARG002 (reasons are not kept)
        if (kind, target, text) not in self._wiki.proposals:
            self._wiki.proposals.append((kind, target, text))
        return str(self._wiki.proposals.index((kind, target, text)))
