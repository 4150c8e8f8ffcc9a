"""`dvwiki init`: creates the wiki's folders and files, and installs the skill for agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki import agent, reading
from pytest_dvwiki.cli.place import add_place, layout_of, shown

if TYPE_CHECKING:
    import argparse

_NAME = "dvwiki-triage"
_SKILLS = ".agents/skills"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--agent",
        nargs="?",
        type=Path,
        const=Path(_SKILLS),
        metavar="DIR",
        help=f"also install the skill for agents, {_NAME}, in this folder of the project (default: {_SKILLS})",
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Create missing files and folders; existing ones are not changed."""
    from pytest_dvwiki.wiki.writing.build import init  # noqa: PLC0415 (YAML and the caches load with it)

    layout = layout_of(args)
    made = init(layout)
    for path in made:
        print(f"made {shown(layout.agent / path)}")
    if not made:
        print(f"{layout.wiki} is complete; nothing to do")
    if args.agent is not None:
        _install_skill(layout.root / args.agent / _NAME / "SKILL.md")
    return 0


def _install_skill(file: Path) -> None:
    """Write the skill, unless the file exists already; if its content differs, tell the user."""
    from pytest_dvwiki.records import disk  # noqa: PLC0415

    skill = reading.read_bytes(Path(agent.__file__).with_name("SKILL.md"))
    if not file.exists():
        with disk.explained(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        disk.create(file, skill)
        print(f"made {shown(file)}")
    elif reading.read_bytes(file) != skill:
        print(f"{shown(file)} differs from the current skill and was left alone; remove it to get the current one")
