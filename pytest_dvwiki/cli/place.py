"""Where a command works: the options `--root` and `--wiki-dir`, and errors of writing as one line."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.settings import DEFAULT_WIKI_DIR, SettingsError, resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_dvwiki.settings import Layout, Settings


def add_place(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say where the wiki stands."""
    parser.add_argument(
        "--root",
        type=Path,
        metavar="DIR",
        help="folder of the project (default: the nearest parent with .agent, else the top of the git repository, "
        "else the current folder)",
    )
    parser.add_argument(
        "--wiki-dir",
        type=Path,
        metavar="DIR",
        help=f"folder of the wiki, relative to the root (default: wiki_dir of project.yaml, else {DEFAULT_WIKI_DIR})",
    )


def layout_of(args: argparse.Namespace) -> Layout:
    """The places that the options and the project's settings name.

    Raises:
        UsageError: The root is no folder, or a setting cannot be used.
    """
    return settings_of(args).layout


def settings_of(args: argparse.Namespace) -> Settings:
    """The project's settings, from options, environment and project.yaml.

    Raises:
        UsageError: The root is no folder, or a setting cannot be used.
    """
    from pytest_dvwiki.wiki.root import find_root  # noqa: PLC0415

    root = args.root.resolve() if args.root else find_root(Path.cwd())
    if not root.is_dir():
        raise UsageError(f"--root {args.root}: no such folder")
    try:
        return resolve(root, command_line={"wiki_dir": args.wiki_dir})
    except SettingsError as error:
        raise UsageError(str(error)) from error


def see_that_it_stands(layout: Layout) -> None:
    """Sees that there is a wiki, for a command that has nothing to say without one.

    Raises:
        UsageError: There is none.
    """
    if not layout.wiki.is_dir():
        raise UsageError(without_wiki(layout))


def see_that_there_is_something(layout: Layout) -> None:
    """Sees that there is a wiki, or records to make one of.

    Raises:
        UsageError: There is neither.
    """
    if not layout.tasks.is_dir():
        see_that_it_stands(layout)


def without_wiki(layout: Layout) -> str:
    """That there is no wiki, where it was looked for, and what to do."""
    return (
        f"no wiki in {layout.wiki}; name the project with --root, or create a wiki with `dvwiki init`"
        " (`pytest --dvwiki` creates it at the first failure)"
    )


def shown(path: Path) -> str:
    """A path as its reader types it: relative to the current folder where it lies below."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Tells a failure of writing as a mistake that the caller can put right.

    Raises:
        UsageError: The wiki could not be written.
    """
    from pytest_dvwiki.records import WikiError  # noqa: PLC0415

    try:
        yield
    except WikiError as error:
        raise UsageError(str(error)) from error
