"""Conversion of the artefacts of an earlier run into failures and results, as live capture would produce them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.capture.leftovers.failed_builds import FailedBuilds
from pytest_dvwiki.capture.leftovers.log_names import LogNames
from pytest_dvwiki.capture.leftovers.log_parts import LogParts
from pytest_dvwiki.capture.leftovers.lone_logs import LoneLogs, ReadLog, ended_without_tests
from pytest_dvwiki.capture.leftovers.results_files import ResultsFiles
from pytest_dvwiki.capture.leftovers.run_logs import RunLogs
from pytest_dvwiki.capture.leftovers.totals import Leftovers
from pytest_dvwiki.capture.make.folders import stopped_in
from pytest_dvwiki.capture.simulations.builds import Builds
from pytest_dvwiki.model.sentences import few

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.simulations.named_runs import PathTemplate
    from pytest_dvwiki.capture.simulations.regression import Regression
    from pytest_dvwiki.model import Interest

_FAILED = frozenset({"failed", "error"})
_MOST_SHOWN = 3
"""Maximum number of logs named in one note."""


def read_leftovers(
    artefacts: Sequence[Artefact],
    *,
    logs: Sequence[Artefact] = (),
    root: Path,
    interest: Interest,
    class_of: Callable[[str], str | None],
    known: Iterable[Path] = (),
    seen: Iterable[Path] = (),
    builds: Builds | None = None,
    templates: Sequence[PathTemplate] = (),
    read_logs: Callable[[Sequence[Artefact]], Iterator[ReadLog | OSError]] | None = None,
) -> Leftovers:
    """Read the artefacts of one run.

    Args:
        artefacts: The run's files.
        logs: Logs for results files without a log of their own.
        root: Displayed paths are relative to this folder.
        interest: Decides which lines of a long log to keep.
        class_of: Returns the error class of the failure in a string, None if there is no failure; used for logs without
            tests.
        known: Files that are already archived; they are used only to match results files with logs.
        seen: Files that are on record for an earlier run. A results file among them is skipped if a log shows that a
            later run did not replace it.
        builds: The last builds, in case a log shows only the run; None if no earlier builds are known.
        templates: Templates for the test and the seed in a log's path.
        read_logs: Yields, for each log passed to it, the result of `read_log` or the error raised by `read_log`; if
            None, the logs are read here.
    """
    run = Leftovers()
    archived = set(known)
    results = [artefact for artefact in artefacts if artefact.kind == "results"]
    parts = LogParts(root, interest, class_of, builds or Builds(None))
    run_logs = RunLogs(
        [artefact for artefact in artefacts if artefact.kind == "log"],
        logs,
        root=root,
        interest=interest,
        classes=lambda log, part: set(map(parts.class_of_failure, parts.outcome(log.shown, part, log).failures)),
    )
    files = ResultsFiles(results, run, run_logs, parts, archived=archived, seen=set(seen))
    parsed = list(files.parsed())
    own = {artefact.path: run_logs.own(artefact, file) for artefact, file in parsed}
    run_logs.claim(log for found in own.values() for log in found)
    for artefact, file in parsed:
        files.add(artefact, file, own[artefact.path])

    later = _later(run_logs, run)
    free = [log for log in _free(run_logs, later) if log.path not in archived and _has_content(log, run)]
    simulations = LogNames(root, run_logs)
    failed_builds = FailedBuilds(run, parts, simulations, (artefact.folder for artefact in results))
    unfit = {log.path: log for log in run_logs.unfit()}
    run.notes += (
        f"{log.shown}: its seeds and tests are in no results file, so its failures do not count; ingest it alone"
        for log in unfit.values()
    )
    for log in run_logs.given:
        if log.path not in unfit:
            failed_builds.add_stopped(log, list(stopped_in(log.path)))
    cases = [case for _, file in parsed if file is not None for case in file.cases]
    failed = {artefact.path.parent: False for artefact in results}
    for artefact, file in parsed:
        cases_of = file.cases if file is not None else ()
        failed[artefact.path.parent] |= any(case.of_cocotb and case.status in _FAILED for case in cases_of)
    lone = LoneLogs(run, run_logs, parts, failed_builds, cases, names=simulations, failed_results=failed)
    contents = read_logs(free) if read_logs is not None else lone.read(free, templates)
    for log, content in zip(free, contents, strict=True):
        lone.add(log, content)
    for log, beside in files.shared.values():
        _add_shared(log, beside, run_logs.parts(log), lone, failed_builds)
    if lone.of_benches:
        shown = few(lone.of_benches, _MOST_SHOWN)
        run.notes.append(
            f"{shown}: the errors belong to failed tests of the same testbench, so they do not count again"
        )
    run.drop_rollups()
    run.drop_unversioned()
    sources = {source.path: source for source in (*results, *_used(run_logs), *later.values())}
    run.sources = sorted(
        (source for path, source in sources.items() if path not in archived and path not in unfit),
        key=lambda source: source.shown,
    )
    run.times = run.times or [source.modified for source in run.sources]
    return run


def _later(logs: RunLogs, run: Leftovers) -> dict[Path, Artefact]:
    """Return the logs of later runs that ran no test, by path; add a note for each results file of an earlier run."""
    pairs = logs.later()
    run.notes += (
        f"{artefact.shown}: from an earlier run; the run that wrote {log.shown} ran no tests" for artefact, log in pairs
    )
    return {log.path: log for _, log in pairs if not log.only_beside}


def _add_shared(
    log: Artefact,
    beside: Sequence[Artefact | None],
    regressions: Sequence[Regression],
    lone: LoneLogs,
    failed_builds: FailedBuilds,
) -> None:
    """Add what a log shows in addition to the results files that were read with it."""
    results = beside[0] if len(beside) == 1 else None
    # A simulation that repeats the tests of another simulation may belong to an earlier run.
    if not any(part.repeats(regressions) for part in regressions if not lone.is_covered(part)):
        shown = [part for part in regressions if part.blocks or ended_without_tests(part, regressions)]
        lone.add(log, ReadLog(shown), with_builds=False, results=results)
        failed_builds.add_designs(log, regressions)


def _used(logs: RunLogs) -> Iterator[Artefact]:
    """Yield the logs that belong to the run, whether they have a results file or not."""
    yield from (log for log in logs.found if not log.only_beside or log.path in logs.claimed)
    yield from logs.claimed.values()


def _free(logs: RunLogs, later: dict[Path, Artefact]) -> list[Artefact]:
    """Return the logs without a results file, including the logs of later runs."""
    return [
        log
        for log in {log.path: log for log in (*logs.found, *later.values())}.values()
        if log.path in later or (log.path not in logs.claimed and not log.only_beside)
    ]


def _has_content(log: Artefact, run: Leftovers) -> bool:
    """Return whether a log has any bytes; if it is empty, add a note."""
    if log.path.stat().st_size:
        return True
    run.notes.append(f"{log.shown}: the log is empty, so nothing is known about its run")
    return False
