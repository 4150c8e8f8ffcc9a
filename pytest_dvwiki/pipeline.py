"""The one way from failures to pages: for a session's end, an ingest, and the takeover of a killed run."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_dvwiki import __version__
from pytest_dvwiki.model import Cause, FailedTest, Occurrence, OtherTest, PassedAgain, RunRecord, Totals, Vcs
from pytest_dvwiki.redact import shorten_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import Failure, History, Interest, KnownCause, News, Result, Run, Verdict
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.settings import Layout, Settings
    from pytest_dvwiki.triage.classify import Classifier

_GIT_TIMEOUT = 20.0
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_NO_NAME = re.compile(r"[^A-Za-z0-9.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What came out of a run."""

    causes: tuple[Cause, ...] = ()
    record: RunRecord | None = None
    """None where the run left nothing worth a record."""
    known_again: Mapping[str, KnownCause] = field(default_factory=dict)
    """By fingerprint what is known of each cause whose tests pass again."""
    written: bool = False
    pages: int = 0
    """Pages that were made or changed."""
    seconds: float = 0.0
    problem: str | None = None
    """Why nothing was written: what, where, and the remedy."""
    refused: tuple[tuple[str, str], ...] = ()
    """Pages that were left alone, each with the reason."""


class Tools:
    """The registry and what hangs on it, each loaded at first use: a run without failures needs none of it.

    Args:
        settings: Where the project's patterns and the wiki stand.
        extra_patterns: Files of further patterns; the project's own win over them.
        classify: Hooks that may name a failure before the registry does.
        note: Takes what a person should know: files of patterns that could not be used.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        extra_patterns: Callable[[], Sequence[Path]] = tuple,
        classify: Sequence[Callable[[Failure], Verdict | None]] = (),
        note: Callable[[str], None],
    ) -> None:
        self._layout = settings.layout
        self._extra_patterns = extra_patterns
        self._classify = classify
        self._note = note

    @cached_property
    def registry(self) -> Registry:
        """The built-in patterns and the project's; a project file with a mistake is named and left out."""
        from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415
        from pytest_dvwiki.patterns.schema import PatternError  # noqa: PLC0415

        extra = [*sorted(self._layout.patterns.glob("*.yaml")), *self._extra_patterns()]
        try:
            return load_registry(extra)
        except PatternError as error:
            self._note(f"the project's own patterns were not used: {error}")
            return load_registry()

    @cached_property
    def interest(self) -> Interest:
        """Which lines of a long text to keep."""
        from pytest_dvwiki.patterns.matcher import Matcher  # noqa: PLC0415

        return Matcher(self.registry)

    @cached_property
    def history(self) -> History:
        """What the archive knows."""
        from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415

        return WikiHistory(self._layout)

    @cached_property
    def classifier(self) -> Classifier:
        """Names failures."""
        from pytest_dvwiki.triage.classify import Classifier  # noqa: PLC0415

        return Classifier(self.registry, self.history, self._classify)


def utc(seconds: float) -> str:
    """A time, seconds since the epoch, as records write it."""
    return datetime.fromtimestamp(seconds, UTC).strftime(_TIME)


def new_task_id(name: str, started: float) -> str:
    """A name for a run: `{name}_{UTC time}_{6 hex}`.

    Args:
        name: What the user calls the regression.
        started: Seconds since the epoch.
    """
    moment = datetime.fromtimestamp(started, UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{_NO_NAME.sub('-', name).strip('-.')[:60] or 'regression'}_{moment}_{os.urandom(3).hex()}"


def process(run: Run, settings: Settings, classifier: Classifier, history: History) -> Archived:
    """Names the failures of a run, joins them with what is known, and archives them.

    Never raises for what it finds on disk: a wiki that cannot be written is told in `Archived.problem`.

    Args:
        run: What happened.
        settings: Where the wiki stands and how long to wait for it.
        classifier: Names failures.
        history: What the archive knew before this run.
    """
    began = time.monotonic()
    from pytest_dvwiki.triage.classify import settle  # noqa: PLC0415  # only a run that failed pays for it

    verdicts = settle(run.failures, [classifier.classify(failure) for failure in run.failures], run.results)
    groups = _group(run.failures, verdicts)
    occurrences = tuple(_occurrence(members, settings.layout.root) for members in groups)
    causes = tuple(
        _cause(occurrence, members[0][1], history) for occurrence, members in zip(occurrences, groups, strict=True)
    )
    again = _passed_again(run.results, history)
    if not (run.failures or again or run.always_record):
        return Archived(causes=causes, seconds=time.monotonic() - began)
    suite = [result.nodeid for result in run.results] if run.keep_suite else None
    record = _record(run, settings.layout.root, occurrences, again, classifier.registry.hash)
    known = {each.fingerprint: found for each in again if (found := history.cause(each.fingerprint)) is not None}
    archived = Archived(causes=causes, record=record, known_again=known, seconds=time.monotonic() - began)
    if settings.auto_ingest:
        archived = _write(archived, record, suite, settings, began)
        history.refresh()
    return archived


def _write(
    archived: Archived, record: RunRecord, suite: Sequence[str] | None, settings: Settings, began: float
) -> Archived:
    from pytest_dvwiki.wiki.build import archive  # noqa: PLC0415  # only a run that is archived pays for it

    layout = settings.layout
    try:
        result = archive(layout, record, suite_names=suite, lock_timeout=settings.lock_timeout)
    except Exception as error:  # noqa: BLE001  # what came out is shown, whatever keeps it from the disk
        return replace(archived, seconds=time.monotonic() - began, problem=_told(error))
    return replace(
        archived,
        causes=tuple(
            replace(cause, page=_shown(layout, result.page_of.get(cause.occurrence.fingerprint)))
            for cause in archived.causes
        ),
        written=True,
        pages=len(result.pages_created) + len(result.pages_updated),
        seconds=time.monotonic() - began,
        refused=tuple(result.refused),
    )


def _told(error: Exception) -> str:
    """What went wrong; an error of the wiki's own names file and remedy, any other at least its kind."""
    return str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"


def _shown(layout: Layout, page: str | None) -> str | None:
    """A page's path as the terminal shows it."""
    if page is None:
        return None
    path = layout.wiki / page
    return path.relative_to(layout.root).as_posix() if path.is_relative_to(layout.root) else str(path)


# Causes

Member = tuple["Failure", "Verdict"]


def _group(failures: Sequence[Failure], verdicts: Sequence[Verdict]) -> list[list[Member]]:
    """Failures by cause, the cause with most tests first; within one the failure that shows it best first."""
    groups: dict[str, list[Member]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        groups.setdefault(verdict.fingerprint, []).append((failure, verdict))
    for members in groups.values():
        members.sort(key=lambda member: (member[1].follower, member[0].nodeid, member[0].phase))
    return sorted(
        groups.values(),
        key=lambda members: (-len(members), members[0][1].error_class, members[0][0].nodeid, members[0][1].fingerprint),
    )


def _occurrence(members: Sequence[Member], root: Path) -> Occurrence:
    failure, verdict = members[0]
    return Occurrence(
        fingerprint=verdict.fingerprint,
        error_class=verdict.error_class,
        failure_subtype=verdict.failure_subtype,
        pattern=verdict.pattern,
        origin=replace(verdict.origin, reasons=tuple(shorten_paths(reason, root) for reason in verdict.origin.reasons)),
        primary=shorten_paths(verdict.primary, root),
        tests=tuple(_failed_test(member) for member, _ in sorted(members, key=lambda member: member[0].nodeid)),
        excerpt=shorten_paths(verdict.excerpt, root),
        log=failure.log if failure.log is None or verdict.source != "log" else replace(failure.log, line=verdict.line),
        reproduce=failure.reproduce,
        ip_type=failure.ip_type,
    )


def _failed_test(failure: Failure) -> FailedTest:
    return FailedTest(
        nodeid=failure.nodeid,
        phase=failure.phase,
        outcome=failure.outcome,
        attempts=failure.attempts,
        seed=failure.seed,
        sim_time=failure.sim_time,
        simulator=failure.simulator,
        duration_s=failure.duration_s,
    )


def _cause(occurrence: Occurrence, verdict: Verdict, history: History) -> Cause:
    known = history.cause(occurrence.fingerprint)
    subtype = history.subtype(occurrence.failure_subtype)
    held = next((found.fix for found in (known, subtype) if found and found.fix and found.fix.result == "held"), None)
    return Cause(
        occurrence=occurrence,
        verdict=verdict,
        news=_news(known, history),
        known=known,
        subtype=subtype,
        fix=held.text if held is not None else verdict.fix,
    )


def _news(known: KnownCause | None, history: History) -> News:
    if known is None:
        return "NEW"
    return "REGRESSED" if history.regressed(known.fingerprint) else "KNOWN"


def _passed_again(results: Sequence[Result], history: History) -> tuple[PassedAgain, ...]:
    """Tests that pass for the first time since they failed with a cause that is still open."""
    seeds = {result.nodeid: result.seed for result in results if result.outcome == "passed"}
    # A runner whose build failed was a test itself; now its cocotb tests stand for it.
    failed = {result.nodeid.rpartition("::")[0] for result in results if result.outcome in {"failed", "error"}}
    for nodeid, seed in tuple(seeds.items()):
        runner = nodeid.rpartition("::")[0]
        if runner not in failed:
            seeds.setdefault(runner, seed)
    return tuple(
        PassedAgain(nodeid=nodeid, fingerprint=fingerprint, seed=seeds[nodeid])
        for nodeid, fingerprints in sorted(history.still_failing(seeds).items())
        for fingerprint in fingerprints
    )


# The record


def _record(
    run: Run, root: Path, occurrences: tuple[Occurrence, ...], again: tuple[PassedAgain, ...], registry: str
) -> RunRecord:
    from pytest_dvwiki.fingerprint import FINGERPRINT_VERSION  # noqa: PLC0415  # masks cost 5 ms to compile

    return RunRecord(
        task_id=run.task_id,
        tool=f"pytest-dvwiki {__version__}",
        registry=registry,
        fingerprint_version=FINGERPRINT_VERSION,
        started=run.started,
        finished=run.finished,
        duration_s=_duration(run),
        vcs=vcs_of(root),
        simulators=run.simulators,
        sources=run.sources,
        totals=_totals(run.results),
        occurrences=occurrences,
        passed_again=again,
        other=tuple(
            OtherTest(nodeid=result.nodeid, outcome=result.outcome)
            for result in sorted(run.results, key=lambda result: result.nodeid)
            if result.outcome not in {"passed", "failed", "error"}
        ),
    )


def _duration(run: Run) -> float:
    start, end = (datetime.strptime(moment, _TIME).replace(tzinfo=UTC) for moment in (run.started, run.finished))
    return round((end - start).total_seconds(), 1)


def _totals(results: Sequence[Result]) -> Totals:
    counts: Mapping[str, int] = Counter(result.outcome for result in results)
    return Totals(
        passed=counts["passed"],
        failed=counts["failed"],
        errors=counts["error"],
        skipped=counts["skipped"],
        xfailed=counts["xfailed"],
        flaky=counts["flaky"],
        waived=counts["waived"],
        noise_errors=sum(result.noise_errors for result in results),
    )


def vcs_of(root: Path) -> Vcs:
    """The state of the repository that a folder stands in; empty where there is none."""
    commit = git(root, "rev-parse", "HEAD")
    if commit is None:
        return Vcs()
    # The plugin's own files change with every run and say nothing of the design.
    changes = git(
        root, "status", "--porcelain", "--untracked-files=no", "--", ":(top)", ":(exclude,top,glob)**/.agent/**"
    )
    return Vcs(
        commit=commit,
        branch=git(root, "symbolic-ref", "--short", "--quiet", "HEAD"),
        dirty=bool(changes),
    )


def git(root: Path, *arguments: str) -> str | None:
    """What git says; None where it is absent, slow, or says no."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_GIT_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
