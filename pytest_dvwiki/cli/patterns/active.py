"""The active patterns of a project: all that a pytest run uses, except patterns added by hooks in a conftest.py."""

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
    """Add the options that select pattern files and the project."""
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
    """Return the active patterns: from options, from the project, from installed packages, and the built-in ones.

    Args:
        args: Parsed options, including those of `add_sources`.
        first: Files or folders that take precedence over all others.
        problem: Called with a message for each invalid pattern, which is skipped. By default, messages go to
            standard error.
    """
    from pytest_dvwiki.extensions import further_patterns  # noqa: PLC0415
    from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415

    note = problem or (lambda text: print(f"dvwiki {args.command}: left out: {text}", file=sys.stderr))
    settings = settings_of(args)
    own = settings.layout.patterns
    extra = [*(first or ()), *map(Path, args.patterns), *([own] if own.is_dir() else ())]

    def tell(error: PatternError) -> None:
        text = shown(str(error), settings.layout.root)
        if problem is None and any(str(error).startswith(str(Path(path))) for path in args.patterns):
            raise UsageError(text) from error
        note(text)

    return load_registry([*extra, *further_patterns(settings, note)], problem=tell)


def shown(text: str, root: Path) -> str:
    """Return the text with absolute paths inside the project made relative to its root."""
    return text.replace(f"{root}/", "")
