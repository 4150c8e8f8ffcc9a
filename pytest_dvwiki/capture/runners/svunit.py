"""SVUnit: its tests.xml, beside the run.log of the same run."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files.results import ResultsError, read_results
from pytest_dvwiki.capture.runners import Runner
from pytest_dvwiki.redact import MASKED

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.capture.files.results import ResultsFile

_LOG = "run.log"
_END = 1 << 16
"""Number of bytes at the end of a log that are searched for the summary of the run."""
_SUMMARY = re.compile(rb"\[testrunner\]: (?:PASSED|FAILED) \(")
_HEAD = re.compile(rb'<testsuites>\s*<testsuite name="\w*">\s*<testcase classname="\w*" name="\w*">')


def _read(path: Path) -> ResultsFile:
    _check_log(path)
    file = read_results(path)
    cases = tuple(
        # The run's options for the simulator are in none of its files.
        replace(case, command=("runSVUnit", "--filter", case.fullname, MASKED))
        for case in file.cases
    )
    return replace(file, cases=cases, folder=path.parent)


def _check_log(path: Path) -> None:
    """Raise a `ResultsError` if the log beside the results is from a later run that did not finish.

    SVUnit removes the previous run's log when it starts, but not the previous run's results.
    """
    try:
        with reading.open_regular(path.with_name(_LOG)) as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _END))
            end = stream.read(_END)
    except OSError:
        return
    if _SUMMARY.search(end) is None:
        reason = (
            f"the {_LOG} beside it is from a later run that did not finish; remove {path.name}, or pass only {_LOG}"
        )
        raise ResultsError(path, reason)


RUNNER = Runner(
    recognises=lambda name, head: name == "tests.xml" and _HEAD.search(head) is not None, read=_read, logs=(_LOG,)
)
