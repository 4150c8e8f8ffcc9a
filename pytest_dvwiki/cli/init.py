"""`dvwiki init`: makes the wiki's folders and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli.place import add_place, settings_of, shown, writing

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Make missing files and folders, and leave the existing ones alone."""
    from pytest_dvwiki.wiki.writing.build import init  # noqa: PLC0415 (YAML and the caches load with it)

    settings = settings_of(args)
    layout = settings.layout
    with writing():
        made = init(layout, lock_timeout=settings.lock_timeout)
    for path in made:
        print(f"made {shown(layout.agent / path)}")
    if not made:
        print(f"{layout.wiki} is complete; nothing to do")
    return 0
