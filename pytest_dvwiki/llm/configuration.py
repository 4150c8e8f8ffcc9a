"""The block `librarian:` of project.yaml: model backends, limits, and settings of the librarian."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from pytest_dvwiki import yamlio
from pytest_dvwiki.settings import PROJECT_FILE, ProjectFileError, SettingsError, option, options_of, read_project_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

BackendKind = Literal["command", "openai", "anthropic", "none"]
KINDS: tuple[BackendKind, ...] = get_args(BackendKind)
BLOCK = "librarian"
_DEFAULT = "default"


class Backend(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of `backends:`, such as `- openai: {model: small, url: …}`."""

    kind: BackendKind = "none"
    run: str | tuple[str, ...] = ""
    """The command of kind `command`, as a line or as a list of words.

    `{root}` and `{model}` are replaced by the project's folder and the model.
    """
    url: str = ""
    """The URL of the server; empty for the library's default."""
    key: str = ""
    """The environment variable with the API key; empty for the library's default."""
    model: str | dict[str, str] = ""
    """The model, or a mapping from steps to models with `default` for the other steps."""
    timeout: float = 120.0
    """Timeout of a call, in seconds."""
    price: tuple[float, float] | None = None
    """Price of a million tokens of prompts, and of a million tokens of answers; None if unknown."""

    def words(self) -> list[str]:
        """Return the words of the command.

        Raises:
            ValueError: A quote in the command is not closed.
        """
        return shlex.split(self.run) if isinstance(self.run, str) else list(self.run)

    def model_for(self, step: str) -> str:
        """Return the model for a step; empty if none is listed.

        In a mapping, the key is the step, else the part of the step before the first dot, else `default`.
        """
        if isinstance(self.model, str):
            return self.model
        return next(filter(None, map(self.model.get, (step, step.partition(".")[0], _DEFAULT))), "")

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Return the cost of a number of tokens; None if the backend has no price."""
        return (tokens_in * self.price[0] + tokens_out * self.price[1]) / 1e6 if self.price else None


@dataclass(frozen=True, slots=True)
class LibrarianSettings:
    """The checked settings of the librarian and of its model."""

    layout: Layout
    backends: tuple[Backend, ...] = ()
    """The backends in the order to try, up to the first `none`."""
    rules: bool = True
    """Whether rules take over if no backend answers: true if the list contains `none` or is empty."""
    threshold: int = option("int", default=5, help="Minimum number of lessons that a topic needs to be compiled.")
    interval: int = option(
        "int",
        default=1,
        help="Minimum number of days between two compiles of a topic, unless the topic is given on the command line.",
    )
    transcript_limit: int = option(
        "int", default=40_000, help="Maximum number of characters read from the end of a transcript."
    )
    minimum_age: int = option(
        "int", default=30, help="Minimum age in days of the pages that `dvwiki drift --semantic` looks at."
    )
    drift_pages: int = option(
        "int", default=10, help="Maximum number of pages that one call of `dvwiki drift --semantic` looks at."
    )
    calls_per_run: int = option("int", default=40, help="Maximum number of model calls in one run.")
    calls_per_minute: int = option(
        "int", default=60, help="Maximum number of model calls per minute, evenly spaced; 0 for no limit."
    )
    tokens_per_run: int = option(
        "int", default=200_000, help="Maximum number of tokens, of prompts and answers together, in one run."
    )

    @property
    def log(self) -> Path:
        """Return the log file of the librarian's activity, which git ignores."""
        return self.layout.wiki / ".cache" / "librarian.log"

    @classmethod
    def of(cls, layout: Layout) -> LibrarianSettings:
        """Read the block `librarian:` of a project's `.agent/project.yaml`.

        Raises:
            SettingsError: A key is unknown, or a value cannot be used.
        """
        path = layout.root / PROJECT_FILE
        block = read_project_file(path, BLOCK, ["backends", *(row.name for row in OPTIONS)])
        where = f"{path}: {BLOCK}"
        values: dict[str, Any] = {}
        try:
            for row in OPTIONS:
                if row.name in block:
                    values[row.name] = row.parse(block[row.name], f"{where}.{row.name}")
        except SettingsError as error:
            raise ProjectFileError(str(error)) from None
        backends = tuple(_backends(block.get("backends"), f"{where}.backends"))
        first_none = next((at for at, each in enumerate(backends) if each.kind == "none"), len(backends))
        rules = first_none < len(backends) or not backends
        return cls(layout, backends[:first_none], rules=rules, **values)


OPTIONS = options_of(LibrarianSettings)


def _backends(given: object, where: str) -> Iterator[Backend]:
    """Yield the backends of a list; each entry is a word or a mapping with one key.

    Raises:
        SettingsError: An entry cannot be used.
    """
    for number, entry in enumerate(given if isinstance(given, list) else [] if given is None else [given]):
        here = f"{where}[{number}]"
        kind, fields = next(iter(entry.items())) if isinstance(entry, dict) and len(entry) == 1 else (entry, {})
        if kind not in KINDS:
            raise ProjectFileError(f"{here}: expected one of {', '.join(KINDS)}, got {kind!r:.60}")
        if isinstance(fields, str) and kind == "command":
            fields = {"run": fields}
        if not isinstance(fields, dict) or "kind" in fields:
            raise ProjectFileError(f"{here}.{kind}: expected keys such as model, got {fields!r:.60}")
        try:
            made = msgspec.convert({**fields, "kind": kind}, Backend)
        except msgspec.ValidationError as error:
            place, problem = yamlio.misfit(error)
            raise ProjectFileError(f"{here}.{kind}{f'.{place}' if place else ''}: {problem}") from None
        _check(made, f"{here}.{kind}")
        yield made


def _check(backend: Backend, here: str) -> None:
    """Refuse a backend that can never answer.

    Raises:
        SettingsError: The backend lacks a key that its kind needs, or a value cannot be used.
    """
    needed = {"command": "run", "openai": "model", "anthropic": "model"}.get(backend.kind)
    if needed and not getattr(backend, needed):
        raise ProjectFileError(f"{here}: it lacks the key `{needed}`; add it")
    if isinstance(backend.model, dict) and _DEFAULT not in backend.model:
        raise ProjectFileError(f"{here}.model: it lacks the key `{_DEFAULT}`; add it for the other steps")
    if backend.timeout <= 0:
        raise ProjectFileError(f"{here}.timeout: expected a number of seconds above 0, got {backend.timeout}")
    try:
        backend.words()
    except ValueError as error:
        raise ProjectFileError(f"{here}.run: {error}") from None
