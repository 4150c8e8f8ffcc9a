"""Configuration of the wiki services, for callers without a pytest session."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import backends
from pytest_dvwiki.settings import DEFAULT_WIKI_DIR, Layout, Settings, SettingsError, resolve
from pytest_dvwiki.wiki.root import find_root

_SHARES = ("pattern_context_tokens", "bug_context_tokens", "coverage_context_tokens", "summary_context_tokens")


class WikiConfig(Struct, frozen=True):
    """Settings of the wiki services, from the block `wiki:` of project.yaml.

    `WikiQueryService` and `PromptLoader` answer only if `enabled` is true. The other services ignore it: callers of
    `WikiIngestService` have to check `enabled` and `auto_ingest` themselves.

    Raises:
        SettingsError: A number of tokens is negative, the shares add up to more than `max_context_tokens`, or the
            search backend is unknown.
    """

    enabled: bool = False
    wiki_dir: Path = Path(DEFAULT_WIKI_DIR)
    """The wiki folder; a relative path is relative to the root of the project that contains the current folder."""
    max_context_tokens: int = 2000
    auto_ingest: bool = True
    search_backend: str = "bm25"
    """The search backend, one of `backends.names()`; `none` finds nothing."""
    lint_on_startup: bool = True
    lint_interval_sessions: int = 10
    pattern_context_tokens: int | None = None
    """Tokens for known patterns; None means a quarter of `max_context_tokens`, or less if the other shares are large.

    The shares of bugs, coverage and the summary work in the same way.
    """
    bug_context_tokens: int | None = None
    coverage_context_tokens: int | None = None
    summary_context_tokens: int | None = None
    tokenizer: Path | None = None
    """A `tokenizer.json` for counting tokens; if None, their number is estimated."""
    ip_types: tuple[str, ...] = ()
    """The project's design types (axi, ddr, …), for failures that do not give their own."""

    def __post_init__(self) -> None:
        try:
            backends.check(self.search_backend)
        except backends.BackendError as error:
            raise SettingsError(f"search_backend: {error}") from error
        if min(self.max_context_tokens, *self._given().values(), 0) < 0:
            raise SettingsError("max_context_tokens and its shares cannot be negative; set them to 0 or more")
        if sum(self._given().values()) > self.max_context_tokens:
            raise SettingsError(
                f"max_context_tokens is {self.max_context_tokens}, less than the sum of its shares ({self._given()});"
                " raise it, or lower a share"
            )

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the part of a project's settings that the services need."""
        values = {name: getattr(settings, name) for name in cls.__struct_fields__}
        return cls(**values | {"wiki_dir": settings.layout.wiki})

    @classmethod
    def from_project(cls, folder: Path | None = None) -> Self:
        """Read a project's configuration from environment variables and the block `wiki:` of `.agent/project.yaml`.

        Args:
            folder: A folder of the project; defaults to the current folder.

        Raises:
            SettingsError: A key is unknown, or a value is invalid.
        """
        return cls.of(resolve(find_root(folder or Path.cwd())))

    def with_budget(self, tokens: int) -> Self:
        """Return a copy with this total number of tokens, divided evenly among the four shares."""
        share = tokens // len(_SHARES)
        return replace(self, max_context_tokens=tokens, **dict.fromkeys(_SHARES, share))

    @property
    def layout(self) -> Layout:
        """Return the folders of the project that the wiki belongs to."""
        if not self.wiki_dir.is_absolute():
            root = find_root(Path.cwd())
            return Layout(root=root, wiki=root / self.wiki_dir)
        return Layout(root=find_root(self.wiki_dir.parent), wiki=self.wiki_dir)

    @property
    def pattern_budget(self) -> int:
        """Return the number of tokens for known patterns."""
        return self._share("pattern_context_tokens")

    @property
    def bug_budget(self) -> int:
        """Return the number of tokens for known bugs."""
        return self._share("bug_context_tokens")

    @property
    def coverage_budget(self) -> int:
        """Return the number of tokens for coverage holes."""
        return self._share("coverage_context_tokens")

    @property
    def summary_budget(self) -> int:
        """Return the number of tokens for the table of statistics."""
        return self._share("summary_context_tokens")

    def _given(self) -> dict[str, int]:
        values: dict[str, int | None] = {name: getattr(self, name) for name in _SHARES}
        return {name: value for name, value in values.items() if value is not None}

    def _share(self, name: str) -> int:
        given = self._given()
        if name in given:
            return given[name]
        left = self.max_context_tokens - sum(given.values())
        return min(self.max_context_tokens // len(_SHARES), left // (len(_SHARES) - len(given)))
