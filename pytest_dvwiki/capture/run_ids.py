"""The identity of a run: from its artefacts, else from ids of the CI system or batch system."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import TYPE_CHECKING

from pytest_dvwiki import reading, simulators
from pytest_dvwiki.capture.files.results import ResultsError, read_results
from pytest_dvwiki.model import RunId
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.model import SourceRun

_CI: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("azure", "", ("BUILD_BUILDID", "BUILD_BUILDNUMBER")),
    ("bamboo", "", ("bamboo_planKey", "bamboo_buildNumber")),
    ("bitbucket", "", ("BITBUCKET_BUILD_NUMBER",)),
    ("buildkite", "", ("BUILDKITE_BUILD_ID", "BUILDKITE_BUILD_NUMBER")),
    ("circleci", "", ("CIRCLE_WORKFLOW_ID",)),
    ("drone", "", ("DRONE_REPO", "DRONE_BUILD_NUMBER")),
    ("github", "", ("GITHUB_RUN_ID", "GITHUB_RUN_NUMBER")),
    ("gitlab", "", ("CI_PIPELINE_ID", "CI_PIPELINE_IID")),
    ("travis", "", ("TRAVIS_BUILD_ID", "TRAVIS_BUILD_NUMBER")),
    ("woodpecker", "", ("CI_REPO", "CI_PIPELINE_NUMBER")),
    ("teamcity", "TEAMCITY_VERSION", ("TEAMCITY_BUILDCONF_NAME", "BUILD_NUMBER")),
    ("jenkins", "JENKINS_URL", ("JOB_NAME", "BUILD_NUMBER")),
    ("build", "", ("JOB_NAME", "BUILD_NUMBER")),
)
"""CI systems: name, a variable that identifies the system if needed, and the variables that number its runs."""
_NO_NUMBERS = frozenset({"bamboo_planKey", "DRONE_REPO", "CI_REPO", "TEAMCITY_BUILDCONF_NAME", "JOB_NAME"})
"""Variables that identify the project, not the run."""
_EPOCH = 1970
_LONGEST = 200
_ENDS = 1 << 16
"""Number of bytes at each end of a file that are searched for the run's start time or id."""
_TIME = r"\d{1,2}:\d\d:\d\d"
_MONTH = "[A-Z][a-z]{2}"
_SLASHED = r"\d\d?/\d\d?/\d{2,4}"
_DAY = rf"(?:\d{{4}}-\d\d-\d\d|{_MONTH} {{1,2}}\d{{1,2}}, ?\d{{4}}|\d{{1,2}}[- ]{_MONTH}[- ,]{{1,2}}\d{{4}}|{_SLASHED})"
_DATE = rf"[A-Z][a-z]{{2}} {_MONTH} {{1,2}}\d{{1,2}} {_TIME} (?:[A-Z]{{2,5}} )?\d{{4}}"
"""Format of the program `date` and of C's `ctime`: `Sat Nov 21 10:20:11 2026`."""
_identity_in_log = simulators.expression(
    lambda tool: tool.start_time,
    rf"^\[?\d{{4}}-\d\d-\d\d[T ]{_TIME}",  # in logs whose lines begin with the time
    rf"^[#* \t]{{0,40}}{_DATE}[ \t]{{0,40}}$",
    rf"\b[Ss]tart(?:ed|ing)?\b[^\n]{{0,60}}?(?:{_DATE}|{_DAY}\D{{1,6}}{_TIME}|{_TIME}\D{{1,6}}{_DAY})",
    r"^[#*> \t]{0,40}(?i:(?:regression[ _-]?)?run[ _-]?id)\s*[:=]\s*\S",
    flags=re.MULTILINE,
)
"""Returns an expression that matches the start time or the id of a run in its log."""
_IDENTITY_IN_COVERAGE = re.compile(rf"\b(?:date|timestamp|start_?[Tt]ime)=\"\d{{4}}-\d\d-\d\d[T ]{_TIME}")


def run_id(environment: Mapping[str, str], given: str | None = None) -> RunId:
    """Return the ids of the current run: the given id, and those of the CI system and of the batch system.

    They identify the run if its artefacts do not.
    """
    return RunId(given=_clean(given), ci=_ci(environment), job=_job(environment))


def in_order(run: RunId, commit: str | None) -> tuple[str | None, ...]:
    """Return a run's ids and commit in order of precedence; two runs are compared by the first that both have."""
    return run.given, run.ci, run.job, commit


def may_be_one(run: SourceRun, other: RunId, commit: str | None) -> bool:
    """Return whether two runs with the same artefacts may be one run.

    The first kind of id that both runs have decides. If they share no kind of id, their commits decide. If either
    commit is unknown, too, the answer is True.
    """
    pairs = zip(in_order(run.run_id, run.commit), in_order(other, commit), strict=True)
    return next((mine == theirs for mine, theirs in pairs if mine and theirs), True)


def identifies_run(artefact: Artefact) -> bool:
    """Return whether an artefact contains the start time or an id of its run, which makes its content unique."""
    if artefact.kind == "results":
        try:
            file = read_results(artefact.path)
        except ResultsError:
            return False
        return file.run_id is not None or _is_time(file.timestamp)
    if artefact.kind == "coverage":
        return _IDENTITY_IN_COVERAGE.search(_ends(artefact.path)) is not None
    return _identity_in_log().search(_ends(artefact.path)) is not None


def _ci(environment: Mapping[str, str]) -> str | None:
    for system, sign, names in _CI:
        found = {name: environment[name] for name in names if environment.get(name)}
        if found.keys() - _NO_NUMBERS and (not sign or sign in environment):
            return _clean(" ".join((system, *found.values())))
    return None


def _job(environment: Mapping[str, str]) -> str | None:
    if job := environment.get("LSB_JOBID"):
        index = environment.get("LSB_JOBINDEX") or "0"
        return _clean(f"lsf {job}" if index == "0" else f"lsf {job}[{index}]")
    job = environment.get("SLURM_JOB_ID") or environment.get("SLURM_JOBID")
    return _clean(f"slurm {job}") if job else None


def _clean(text: str | None) -> str | None:
    """Return an id without secrets, or None if it is empty.

    A hash is appended to an id that is masked or truncated, so that different ids stay different.
    """
    if not text or not text.strip():
        return None
    shown = redact(text.strip())[:_LONGEST]
    return shown if shown == text.strip() else f"{shown} {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _is_time(text: str | None) -> bool:
    try:
        return text is not None and len(text) > len("2026-11-21") and datetime.fromisoformat(text).year > _EPOCH
    except ValueError:
        return False


def _ends(path: Path) -> str:
    with reading.open_regular(path) as stream:
        head = stream.read(_ENDS)
        stream.seek(max(len(head), path.stat().st_size - _ENDS))
        return (head + b"\n" + stream.read(_ENDS)).decode("utf-8", "replace")
