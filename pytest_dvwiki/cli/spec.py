"""`dvwiki spec`: somebody says how a feature of the specification is to be read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pytest_dvwiki import __version__
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, layout_of, writing

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("feature", help="of the design, as the verification plan calls it; it names the page")
    parser.add_argument(
        "--type", required=True, metavar="TYPE", help="what was open: ambiguous, missing, contradiction, erratum, …"
    )
    parser.add_argument("--text", required=True, help="how it is to be read")
    parser.add_argument("--section", default="", metavar="SECTION", help="where the specification speaks of it")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Archives a record with the clarification, and puts it on the page of the feature.

    Returns:
        1 where the page is there and cannot be added to.
    """
    from pytest_dvwiki.capture.repository import Repository  # noqa: PLC0415
    from pytest_dvwiki.fingerprint import FINGERPRINT_VERSION  # noqa: PLC0415
    from pytest_dvwiki.model import RunRecord  # noqa: PLC0415
    from pytest_dvwiki.runs import new_task_id, utc  # noqa: PLC0415
    from pytest_dvwiki.wiki.build import archive  # noqa: PLC0415
    from pytest_dvwiki.wiki.spec import Clarification  # noqa: PLC0415

    layout = layout_of(args)
    now = time.time()
    clarification = Clarification(
        feature=_said(args.feature, "FEATURE"),
        kind=_said(args.type, "--type"),
        text=_said(args.text, "--text"),
        section=" ".join(args.section.split()),
        date=utc(now)[:10],
        task_id=new_task_id("spec", now),
    )
    record = RunRecord(
        task_id=clarification.task_id,
        tool=f"pytest-dvwiki {__version__}",
        registry="",
        fingerprint_version=FINGERPRINT_VERSION,
        started=utc(now),
        finished=utc(now),
        duration_s=0.0,
        vcs=Repository(layout).state(),
        evidence=(clarification.text,),
    )
    with writing():
        done = archive(layout, record, clarification=clarification)
    for page, reason in done.refused:
        print(f"{layout.wiki / page} was left alone: {reason}")
    if clarification.path in dict(done.refused):
        return 1
    print(f"clarification of {clarification.feature} is on record, see {layout.wiki / clarification.path}")
    return 0


def _said(text: str, where: str) -> str:
    """A word or sentence of the user's on one line.

    Raises:
        UsageError: There is none.
    """
    from pytest_dvwiki.redact import redact  # noqa: PLC0415

    words = " ".join(redact(text).split())
    if not words:
        raise UsageError(f"{where} is empty; say what the clarification is about")
    return words
