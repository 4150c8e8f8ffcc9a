"""VUnit: the file written by `--xunit-xml`, with the output of each test and, from VUnit 5 on, its seed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files.results import read_results
from pytest_dvwiki.capture.runners import Runner

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.capture.files.results import Case, ResultsFile

_HEAD = re.compile(rb'<testsuite name="testsuite" errors="0" failures="\d+" skipped="\d+" tests="\d+" hostname="')
_SEED = re.compile(r"^Seed for .{1,1000}: ([0-9a-f]{16})$", re.MULTILINE)
_CALL = "VUnit.from_arg"
"""The call by which a run script of VUnit is recognised."""
_NO_OUTPUT = "VUnit counts the test as failed, and its output is empty"
_FAILED = "Failed"
"""The message that VUnit writes for every failure."""


def _read(path: Path) -> ResultsFile:
    file = read_results(path, outputs=True)
    scripts = [each.name for each in path.parent.glob("*.py") if _CALL in reading.start_of(each, reading.MOST_BY_HAND)]
    script = scripts[0] if len(scripts) == 1 else None
    cases = tuple(_case(case, script) for case in file.cases)
    return replace(file, cases=cases, folder=path.parent)


def _case(case: Case, script: str | None) -> Case:
    found = _SEED.search(case.output)
    seed = found[1] if found else None
    words = ("python", script, case.fullname, *(("--seed", seed) if seed else ())) if script else ()
    message = case.message
    if message == _FAILED:
        message = "" if _SEED.sub("", case.output).strip() else _NO_OUTPUT
    return replace(case, seed=seed, command=words, message=message, output="" if message else case.output)


RUNNER = Runner(recognises=lambda name, head: name.endswith(".xml") and _HEAD.search(head) is not None, read=_read)
