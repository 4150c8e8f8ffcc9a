"""The options --root and --wiki-dir, and the project that they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.settings import DEFAULT_WIKI_DIR, resolve

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.settings import Layout, Settings


def add_place(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add the options that locate the wiki.

    For an action whose command already has these options, pass `argparse.SUPPRESS` as the default.
    """
    parser.add_argument(
        "--root",
        type=Path,
        default=default,
        metavar="DIR",
        help="folder of the project (default: the nearest parent with .agent, else the top of the git repository, "
        "else the current folder)",
    )
    parser.add_argument(
        "--wiki-dir",
        type=Path,
        default=default,
        metavar="DIR",
        help=f"folder of the wiki, relative to the root (default: wiki_dir of project.yaml, else {DEFAULT_WIKI_DIR})",
    )


def layout_of(args: argparse.Namespace) -> Layout:
    """Return the project's folders, as the options and the settings give them."""
    return settings_of(args).layout


def settings_of(args: argparse.Namespace) -> Settings:
    """Return the project's settings, from options, environment and project.yaml."""
    from pytest_dvwiki.wiki.root import find_root  # noqa: PLC0415

    root = args.root.resolve() if args.root else find_root(Path.cwd())
    if not root.is_dir():
        raise UsageError(f"--root {args.root}: no such folder; check the name")
    return resolve(root, command_line={"wiki_dir": args.wiki_dir})


def require_wiki(layout: Layout) -> Layout:
    """Return the given folders; raise a `UsageError` if they contain no wiki."""
    if not layout.wiki.is_dir():
        raise UsageError(without_wiki(layout))
    return layout


def require_content(layout: Layout) -> Layout:
    """Return the given folders; raise a `UsageError` if they contain neither a wiki nor records to build one from."""
    return layout if layout.tasks.is_dir() else require_wiki(layout)


def without_wiki(layout: Layout) -> str:
    """Return the message for a missing wiki, which says how to choose or create one."""
    return (
        f"no wiki in {layout.wiki}; give the project with --root, or create a wiki with `dvwiki init` (`pytest"
        f" --dvwiki` creates it at the first failure)"
    )


def shown(path: Path) -> str:
    """Return a path as a user would type it: relative to the current folder if possible."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)
