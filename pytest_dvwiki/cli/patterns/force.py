"""The patterns in force in a project, as a run of pytest would have them without the hooks of a conftest.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, settings_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.patterns.schema import PatternError


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say whose patterns."""
    parser.add_argument(
        "--patterns",
        metavar="PATH",
        action="append",
        default=[],
        help="more patterns, with precedence over all others: a YAML file or a folder of such files; may be repeated",
    )
    add_place(parser)


def registry_of(
    args: argparse.Namespace, *, first: list[Path] | None = None, problem: Callable[[str], None] | None = None
) -> Registry:
    """The patterns of the options, of the project, of installed packages, and the built-in ones.

    Args:
        args: With the options of `add_sources`.
        first: Files or folders that go before all others.
        problem: Told of each pattern that is wrong and left out; without it standard error is.

    Raises:
        UsageError: A pattern of the options is wrong, or their file cannot be read.
    """
    from pytest_dvwiki.extensions import further_patterns  # noqa: PLC0415
    from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415

    told = problem or (lambda text: print(f"dvwiki {args.command}: left out: {text}", file=sys.stderr))
    settings = settings_of(args)
    own = settings.layout.patterns
    extra = [*(first or ()), *map(Path, args.patterns), *([own] if own.is_dir() else ())]

    def tell(error: PatternError) -> None:
        text = shown(str(error), settings.layout.root)
        if problem is None and any(str(error).startswith(str(Path(path))) for path in args.patterns):
            raise UsageError(text) from error
        told(text)

    return load_registry([*extra, *further_patterns(settings, told)], problem=tell)


def shown(text: str, root: Path) -> str:
    """A text with paths of files in the project relative to its root."""
    return text.replace(f"{root}/", "")
