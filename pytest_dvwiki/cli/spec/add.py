"""`dvwiki spec add`: records a clarification of the specification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli.manual_record import record_of_now, required_text
from pytest_dvwiki.cli.place import add_place, settings_of, shown

if TYPE_CHECKING:
    import argparse

_ADVICE = "say what the clarification is about"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "feature", help="name of the feature, as in the verification plan; it becomes the name of the page"
    )
    parser.add_argument(
        "--type", required=True, metavar="TYPE", help="kind of problem: ambiguous, missing, contradiction, erratum, …"
    )
    parser.add_argument("--text", required=True, help="the clarification")
    parser.add_argument("--section", default="", metavar="SECTION", help="section of the specification")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Archive a record with the clarification, and add it to the page of the feature.

    Returns:
        1 if the page exists and cannot be edited.
    """
    from pytest_dvwiki.capture.git.repository import Repository  # noqa: PLC0415
    from pytest_dvwiki.wiki.kinds.spec import Clarification  # noqa: PLC0415
    from pytest_dvwiki.wiki.writing.build import archive  # noqa: PLC0415

    settings = settings_of(args)
    layout = settings.layout
    feature, kind, text = (
        required_text(given, where, _ADVICE)
        for given, where in ((args.feature, "FEATURE"), (args.type, "--type"), (args.text, "--text"))
    )
    record = record_of_now("spec", Repository.of(settings), evidence=(text,))
    clarification = Clarification(
        feature=feature,
        kind=kind,
        text=text,
        section=" ".join(args.section.split()),
        date=record.finished[:10],
        task_id=record.task_id,
    )
    done = archive(layout, record, clarification=clarification)
    for page, reason in done.refused:
        print(f"{shown(layout.wiki / page)} was left alone: {reason}")
    if clarification.path in dict(done.refused):
        return 1
    print(f"clarification of {clarification.feature} is on record, see {shown(layout.wiki / clarification.path)}")
    return 0
