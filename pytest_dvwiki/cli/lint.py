"""`dvwiki lint`: checks the wiki."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins

from pytest_dvwiki.cli.place import add_place, layout_of, require_wiki
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.upkeep.calibration import Decile
    from pytest_dvwiki.upkeep.findings import Finding

_DEPTHS = ("quick", "full")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_place(parser)
    parser.add_argument(
        "--depth",
        choices=_DEPTHS,
        default="full",
        help="quick: the index and the frontmatter of pages; full: also text, links, sources, cited code,"
        " git's history, derived content, and how often verdicts of each confidence were right"
        " (default: full)",
    )
    parser.add_argument(
        "--format",
        choices=tuple(_FORMATS),
        default="text",
        help="text, json, or github (workflow annotations); default: text",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="first repair what needs no decision: do what `dvwiki build` does, and mark bug pages that cite missing "
        "code",
    )


def run(args: argparse.Namespace) -> int:
    """Run the checks, and print the findings.

    Returns:
        0 without findings or with warnings only, 1 with other findings, 2 if there is no wiki or the check itself
        failed.
    """
    from pytest_dvwiki.upkeep.drift import mark  # noqa: PLC0415
    from pytest_dvwiki.upkeep.lint import check  # noqa: PLC0415 (YAML and the caches load with it)
    from pytest_dvwiki.wiki.writing.build import build  # noqa: PLC0415

    layout = require_wiki(layout_of(args))
    if args.fix:
        build(layout)
        mark(layout)
    checked = check(layout, args.depth)
    for line in _FORMATS[args.format](checked.findings, checked.deciles, layout):
        print(line)
    return 0 if all(finding.is_warning for finding in checked.findings) else 1


def _text(findings: Sequence[Finding], deciles: Sequence[Decile], layout: Layout) -> list[str]:
    from pytest_dvwiki.upkeep.calibration import table  # noqa: PLC0415

    return [*(_findings(findings, layout) or ["the wiki is sound"]), *table(deciles)]


def _findings(findings: Sequence[Finding], layout: Layout) -> list[str]:
    lines = [
        f"{_place(finding, layout)}: {finding.kind}{' (warning)' if finding.is_warning else ''}:"
        f" {finding.text}; {finding.remedy}"
        for finding in findings
    ]
    return [*lines, f"{count(len(findings), 'finding')}"] if findings else []


def _json(findings: Sequence[Finding], deciles: Sequence[Decile], _: Layout) -> list[str]:
    from pytest_dvwiki.upkeep.lint import report  # noqa: PLC0415

    values = to_builtins(report(list(findings)))
    values["calibration"] = [
        {"low": each.low, "high": each.high, "mean": round(each.mean, 3), "causes": each.count, "right": each.right}
        for each in deciles
    ]
    return [json.dumps(values, indent=2)]


def _github(findings: Sequence[Finding], _: Sequence[Decile], layout: Layout) -> list[str]:
    from pytest_dvwiki.report.github import escaped  # noqa: PLC0415

    return [
        f"::{'notice' if finding.is_warning else 'warning'} file={escaped(_file(finding, layout), ':,')}"
        f"{f',line={finding.line}' if finding.line else ''}"
        f",title=dvwiki {finding.kind}::{escaped(f'{finding.text}; {finding.remedy}')}"
        for finding in findings
    ]


def _place(finding: Finding, layout: Layout) -> str:
    return f"{_file(finding, layout)}:{finding.line}" if finding.line else _file(finding, layout)


def _file(finding: Finding, layout: Layout) -> str:
    file = Path(os.path.normpath(layout.wiki / finding.page))
    return file.relative_to(layout.root).as_posix() if file.is_relative_to(layout.root) else str(file)


_FORMATS: dict[str, Callable[[Sequence[Finding], Sequence[Decile], Layout], list[str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
}
