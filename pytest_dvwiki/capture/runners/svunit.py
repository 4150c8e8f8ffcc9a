"""SVUnit: its tests.xml, beside the run.log of the same run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.files.results import read_results
from pytest_dvwiki.capture.runners.runner import Runner
from pytest_dvwiki.model import MASKED

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.capture.files.results import ResultsFile

_HEAD = re.compile(rb'<testsuites>\s*<testsuite name="\w*">\s*<testcase classname="\w*" name="\w*">')


def _read(path: Path) -> ResultsFile:
    file = read_results(path)
    cases = tuple(
        # Its options for the simulator are in none of its files.
        replace(case, command=("runSVUnit", "--filter", case.fullname, MASKED))
        for case in file.cases
    )
    return replace(file, cases=cases, folder=path.parent)


RUNNER = Runner(
    recognises=lambda name, head: name == "tests.xml" and _HEAD.search(head) is not None,
    read=_read,
    logs=("run.log",),
)
