"""The one way from failures to pages: for a session's end, an ingest, and the takeover of a killed run."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from pytest_dvwiki import __version__
from pytest_dvwiki.model import Cause, FailedTest, Occurrence, OtherTest, PassedAgain, RunRecord, Totals
from pytest_dvwiki.redact import shorten_paths
from pytest_dvwiki.runs import seconds_between, today, utc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.orphans import Orphan
    from pytest_dvwiki.capture.repository import Difference, Repository
    from pytest_dvwiki.model import (
        Change,
        Failure,
        Fix,
        History,
        Interest,
        KnownCause,
        KnownSubtype,
        News,
        Result,
        Run,
        StillFailing,
        Vcs,
        Verdict,
        Waived,
    )
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.settings import Layout, Settings
    from pytest_dvwiki.triage.classify import Classifier
    from pytest_dvwiki.triage.holes import CoverageNews
    from pytest_dvwiki.triage.waivers import Waivers
    from pytest_dvwiki.wiki.query import WikiHistory

_DIFFS = 5
"""Commits with which a run is compared for evidence of an origin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What came out of a run."""

    causes: tuple[Cause, ...] = ()
    record: RunRecord | None = None
    """None where the run left nothing worth a record."""
    known_again: Mapping[str, KnownCause] = field(default_factory=dict)
    """By fingerprint what is known of each cause whose tests pass again, or whose fix holds now."""
    held: tuple[str, ...] = ()
    """Causes whose fix this run made hold."""
    coverage: CoverageNews | None = None
    """What is new about its coverage; None for a run without coverage reports."""
    written: bool = False
    pages: int = 0
    """Pages that were made or changed."""
    seconds: float = 0.0
    problem: str | None = None
    """Why nothing was written: what, where, and the remedy."""
    refused: tuple[tuple[str, str], ...] = ()
    """Pages that were left alone, each with the reason."""
    waiver_notes: tuple[str, ...] = ()
    """What is to be said of the waivers: expired or unused ones, and what is wrong with their file."""


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
        self.settings = settings
        self._extra_patterns = extra_patterns
        self._classify = classify
        self._note = note

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "history" in self.__dict__:
            self.history.close()

    @cached_property
    def registry(self) -> Registry:
        """The built-in patterns with the project's in front; what is wrong with one is told, and it is left out."""
        from pytest_dvwiki.patterns import cache  # noqa: PLC0415
        from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415

        layout = self.settings.layout
        cache.prefer(layout.wiki)
        own = [layout.patterns] if layout.patterns.is_dir() else []
        return load_registry(
            [*own, *self._further_patterns()], problem=lambda error: self._note(f"a pattern was left out: {error}")
        )

    def _further_patterns(self) -> Sequence[Path]:
        try:
            return self._extra_patterns()
        except Exception as error:  # noqa: BLE001  # a hook of somebody else's
            self._note(f"further patterns were left out: {type(error).__name__}: {error}")
            return ()

    @cached_property
    def interest(self) -> Interest:
        """Which lines of a long text to keep."""
        from pytest_dvwiki.patterns.matcher import Matcher  # noqa: PLC0415

        matcher = Matcher(self.registry)
        if self.waivers is None or not self.settings.strict_logs:
            return matcher
        from pytest_dvwiki.triage.waivers import Accepting  # noqa: PLC0415

        return Accepting(matcher, self.waivers, today().isoformat())

    @cached_property
    def waivers(self) -> Waivers | None:
        """What people accept; None without a file of theirs, as most projects are."""
        path = self.settings.layout.waivers
        if not path.exists():
            return None
        from pytest_dvwiki.triage.waivers import load_waivers  # noqa: PLC0415

        return load_waivers(path)

    @cached_property
    def history(self) -> WikiHistory:
        """What the archive knows."""
        from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415

        return WikiHistory(self.settings.layout)

    @cached_property
    def classifier(self) -> Classifier:
        """Names failures."""
        from pytest_dvwiki.triage.classify import Classifier  # noqa: PLC0415

        return Classifier(self.registry, self.history, self._classify)


def process(run: Run, tools: Tools) -> Archived:
    """Names the failures of a run, joins them with what is known, and archives them.

    Never raises for what it finds on disk: a wiki that cannot be written is told in `Archived.problem`.

    Args:
        run: What happened.
        tools: Name failures, and know what the archive knew before this run.
    """
    began = time.monotonic()
    from pytest_dvwiki.capture import onset  # noqa: PLC0415  # only a run with news pays for these
    from pytest_dvwiki.capture.repository import Repository  # noqa: PLC0415
    from pytest_dvwiki.triage.classify import settle  # noqa: PLC0415

    settings, classifier, history = tools.settings, tools.classifier, tools.history
    repository = Repository(settings.layout)
    verdicts = settle(run.failures, [classifier.classify(failure) for failure in run.failures], run.results)
    verdicts = _with_changes(run.failures, verdicts, history, repository)
    groups = _group(run.failures, verdicts)
    occurrences = tuple(_occurrence(members, settings.layout.root) for members in groups)
    vcs = run.vcs or (repository.state() if run.failures else None)
    causes = tuple(
        _cause(occurrence, members[0][1], history, lambda fix: repository.lacks(fix, vcs.commit if vcs else None))
        for occurrence, members in zip(occurrences, groups, strict=True)
    )
    coverage = _coverage_news(run, history)
    news = bool(coverage and coverage.rows)
    waived, waiver_notes = _waived(run, verdicts, causes, tools)
    causes = tuple(
        replace(cause, waived=tuple(each for each in waived if each.fingerprint == cause.occurrence.fingerprint))
        for cause in causes
    )
    passing = _passing(run.results)
    failing = history.still_failing(passing)
    if not (run.failures or failing or news or run.always_record):
        return Archived(causes=causes, coverage=coverage, seconds=time.monotonic() - began)
    vcs = vcs or repository.state()
    again, fixes = _passed_again(failing, passing, {each.fingerprint for each in occurrences}, vcs, repository)
    came, first_bad = onset.known_or_new(occurrences, vcs, history, repository)
    causes = tuple(replace(cause, first_bad=came.get(cause.occurrence.fingerprint)) for cause in causes)
    first_bad += onset.narrowed(failing, passing, vcs, history, repository)
    if not (run.failures or again or first_bad or news or run.always_record):
        return Archived(causes=causes, coverage=coverage, seconds=time.monotonic() - began)
    fixes = tuple(_with_owners(row, repository) for row in fixes)
    suite = [result.nodeid for result in run.results] if run.keep_suite else None
    record = _record(
        replace(run, results=_with_waived(run, verdicts, waived)),
        occurrences,
        classifier.registry.hash,
        vcs=vcs,
        waived=waived,
        passed_again=again,
        fixes=fixes,
        without_fix=tuple(cause.occurrence.fingerprint for cause in causes if cause.without_fix),
        first_bad=first_bad,
    )
    record = replace(record, coverage=coverage.rows) if coverage else record
    archived = Archived(
        causes=causes,
        record=record,
        coverage=coverage,
        waiver_notes=waiver_notes,
        seconds=time.monotonic() - began,
    )
    if settings.auto_ingest:
        archived = _write(archived, record, suite, settings, began)
        history.refresh()
    told = {*(each.fingerprint for each in again), *archived.held}
    known = {each: found for each in sorted(told) if (found := history.cause(each)) is not None}
    return replace(archived, known_again=known)


def on_record(task_id: str, settings: Settings) -> RunRecord | None:
    """The record of a run, None where there is none."""
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415

    with WikiHistory(settings.layout) as history:
        return history.archive.record(task_id)


def adopt(record: RunRecord, suite: Sequence[str] | None, settings: Settings) -> Archived:
    """Archives a record as it is, for example that of another machine's run.

    Args:
        record: The run.
        suite: The tests that ran, where they are known.
        settings: Where the wiki stands and how long to wait for it.
    """
    return _write(Archived(record=record), record, suite, settings, time.monotonic())


def run_of(orphan: Orphan, settings: Settings, interest: Interest) -> Run:
    """The run of which a journal tells that a killed process left behind.

    Args:
        orphan: The journal.
        settings: Where the project stands.
        interest: Which lines of a long text to keep.
    """
    from pytest_dvwiki.capture.takeover import remains_of  # noqa: PLC0415  # only a takeover pays for them
    from pytest_dvwiki.model import Run, Vcs  # noqa: PLC0415

    remains = remains_of(orphan, root=settings.layout.root, interest=interest)
    ip_type = settings.ip_type or None
    return Run(
        task_id=orphan.task_id,
        started=utc(orphan.started),
        finished=utc(orphan.ended),
        failures=tuple(replace(failure, ip_type=failure.ip_type or ip_type) for failure in remains.failures),
        results=remains.results,
        simulators=remains.simulators,
        # The killed run may have been at any commit.
        vcs=Vcs(),
    )


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
            replace(
                cause,
                page=_shown(layout, result.page_of.get(cause.occurrence.fingerprint)),
                like=result.like.get(cause.occurrence.fingerprint),
            )
            for cause in archived.causes
        ),
        written=True,
        pages=len(result.pages_created) + len(result.pages_updated),
        seconds=time.monotonic() - began,
        refused=tuple(result.refused),
        held=tuple(result.held),
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


# Evidence from git


def _with_changes(
    failures: Sequence[Failure], verdicts: Sequence[Verdict], history: History, repository: Repository
) -> tuple[Verdict, ...]:
    """Verdicts whose origins know what changed since the test that shows a cause first last passed."""
    from pytest_dvwiki.triage.origin import with_changes  # noqa: PLC0415

    commits: dict[str, str | None] = {}
    changed: dict[str, tuple[str, ...]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        if verdict.follower or verdict.fingerprint in commits or len(changed) == _DIFFS:
            continue
        commit = commits[verdict.fingerprint] = history.last_pass(failure.nodeid)
        if commit is not None and commit not in changed:
            changed[commit] = repository.changed_since(commit)
    weighed: list[Verdict] = []
    for verdict in verdicts:
        commit = commits.get(verdict.fingerprint)
        files = changed.get(commit, ()) if commit else ()
        if commit is None or not files:
            weighed.append(verdict)
            continue
        known = history.cause(verdict.fingerprint)
        decided = known is not None and known.decided
        weighed.append(replace(verdict, origin=with_changes(verdict.origin, files, commit, decided=decided)))
    return tuple(weighed)


# Waivers


def _waived(
    run: Run, verdicts: Sequence[Verdict], causes: Iterable[Cause], tools: Tools
) -> tuple[tuple[Waived, ...], tuple[str, ...]]:
    """What people accept of a run's failures, and what is to be said of the waivers."""
    if not (run.failures or run.always_record) or tools.waivers is None:
        return (), ()
    from pytest_dvwiki.wiki.listed import page_name  # noqa: PLC0415  # few projects have any

    pages = {
        cause.occurrence.fingerprint: page_name(cause.known.page)
        for cause in causes
        if cause.known is not None and cause.known.page is not None
    }
    day = run.finished[:10]
    found = tools.waivers.apply(run.failures, verdicts, pages.get, day)
    return found, tools.waivers.notes(found, day)


def _with_waived(run: Run, verdicts: Sequence[Verdict], waived: Sequence[Waived]) -> tuple[Result, ...]:
    """The results, a test all of whose failures are waived told apart from one that failed."""
    accepted = {(nodeid, each.fingerprint) for each in waived for nodeid in each.tests}
    pairs = [(failure.nodeid, verdict.fingerprint) for failure, verdict in zip(run.failures, verdicts, strict=True)]
    failing = {nodeid for nodeid, fingerprint in pairs if (nodeid, fingerprint) not in accepted}
    names = {nodeid for nodeid, _ in pairs} - failing
    return tuple(
        replace(result, outcome="waived")
        if result.outcome in {"failed", "error"} and result.nodeid in names
        else result
        for result in run.results
    )


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


def _cause(occurrence: Occurrence, verdict: Verdict, history: History, lacks: Callable[[Fix], bool]) -> Cause:
    known = history.cause(occurrence.fingerprint)
    subtype = history.subtype(occurrence.failure_subtype)
    newest = known.newest_fix if known is not None else None
    without_fix = newest is not None and newest.result != "failed" and lacks(newest)
    return Cause(
        occurrence=occurrence,
        verdict=verdict,
        news="KNOWN" if without_fix else _news(known, history),
        without_fix=without_fix,
        known=known,
        subtype=subtype,
        fix=_fix_to_show(known, subtype, verdict, history),
    )


def _fix_to_show(
    known: KnownCause | None, subtype: KnownSubtype | None, verdict: Verdict, history: History
) -> str | None:
    from pytest_dvwiki.records.fixes import in_short  # noqa: PLC0415  # only a run that failed pays for it

    if known is not None and known.fix is not None and known.fix.result == "held":
        return None
    if subtype is not None and subtype.fix is not None and subtype.fix.result == "held":
        return f"{in_short(subtype.fix)} (held for another {subtype.failure_subtype})"
    return verdict.fix or history.fix_template(verdict.failure_subtype) or None


def _news(known: KnownCause | None, history: History) -> News:
    if known is None:
        return "NEW"
    silenced = known.status == "wont_fix"
    return "REGRESSED" if not silenced and history.regressed(known.fingerprint) else "KNOWN"


def _passing(results: Sequence[Result]) -> dict[str, str | None]:
    """The tests that passed, each with its seed."""
    seeds = {result.nodeid: result.seed for result in results if result.outcome == "passed"}
    # A runner whose build failed was a test itself; now its cocotb tests stand for it.
    failed = {result.nodeid.rpartition("::")[0] for result in results if result.outcome in {"failed", "error"}}
    for nodeid, seed in tuple(seeds.items()):
        runner = nodeid.rpartition("::")[0]
        if runner not in failed:
            seeds.setdefault(runner, seed)
    return seeds


def _passed_again(
    failing: Iterable[StillFailing],
    seeds: Mapping[str, str | None],
    present: set[str],
    vcs: Vcs,
    repository: Repository,
) -> tuple[tuple[PassedAgain, ...], tuple[dict[str, Any], ...]]:
    """What this run's passes prove of failures on record.

    Args:
        failing: Those of which a pass is news.
        seeds: The tests that pass, each with its seed.
        present: Fingerprints of this run's own causes; what still fails elsewhere is not fixed.
        vcs: The repository during this run.
        repository: Tells what lies between.

    Returns:
        The passes, and a row for each cause that they prove fixed.
    """
    from pytest_dvwiki.records.fixes import PROVES, proof  # noqa: PLC0415  # only where something passed again

    again = []
    fixes: dict[str, dict[str, Any]] = {}
    for each in failing:
        difference = repository.difference(each.vcs, vcs, f"{each.nodeid}\n{each.evidence}")
        seed = seeds[each.nodeid]
        changed = _changed(each, seed, difference)
        if proof(changed, dirty=vcs.dirty, same_seed=seed == each.seed) <= each.proof:
            continue
        again.append(
            PassedAgain(
                nodeid=each.nodeid, fingerprint=each.fingerprint, seed=seed, changed=changed, failed_seed=each.seed
            )
        )
        if changed in PROVES and each.fingerprint not in present:
            fixes.setdefault(each.fingerprint, _fix_row(each, vcs, difference))
    return tuple(again), tuple(fixes[fingerprint] for fingerprint in sorted(fixes))


def _changed(failing: StillFailing, seed: str | None, difference: Difference) -> Change:
    """What differs: the seed alone, where the sources are the same, or not on record, and it is another one."""
    other_seed = None not in {seed, failing.seed} and seed != failing.seed
    return "seed" if other_seed and difference.change in {"nothing", "unrecorded"} else difference.change


def _fix_row(failing: StillFailing, vcs: Vcs, difference: Difference) -> dict[str, Any]:
    return {
        "fingerprint": failing.fingerprint,
        "text": difference.text,
        "by": "git",
        "commits": [failing.vcs.commit, vcs.commit] if failing.vcs.commit and vcs.commit else [],
        "result": "open",
        "log": list(difference.log),
        "log_count": difference.log_count,
        "files": list(difference.files),
        "file_count": difference.file_count,
    }


def _with_owners(row: dict[str, Any], repository: Repository) -> dict[str, Any]:
    """A fix with those who answer for its files; asked last, since git's time is bounded."""
    commits, files = row["commits"], row["files"]
    if not commits:
        return row
    return row | {
        "owners": list(repository.owners(commits[-1], files)),
        "authors": list(repository.authors(commits[0], commits[-1], files)),
    }


def _coverage_news(run: Run, history: History) -> CoverageNews | None:
    if not run.coverage:
        return None
    from pytest_dvwiki.triage.holes import coverage_news  # noqa: PLC0415  # only a run with coverage pays for it

    return coverage_news(run.coverage, history.coverage(), whole=run.whole)


# The record


def _record(run: Run, occurrences: tuple[Occurrence, ...], registry: str, **parts: Any) -> RunRecord:
    from pytest_dvwiki.fingerprint import FINGERPRINT_VERSION  # noqa: PLC0415  # masks cost 5 ms to compile

    return RunRecord(
        task_id=run.task_id,
        tool=f"pytest-dvwiki {__version__}",
        registry=registry,
        fingerprint_version=FINGERPRINT_VERSION,
        started=run.started,
        finished=run.finished,
        duration_s=seconds_between(run.started, run.finished),
        simulators=run.simulators,
        sources=run.sources,
        totals=_totals(run.results),
        occurrences=occurrences,
        other=tuple(
            OtherTest(nodeid=result.nodeid, outcome=result.outcome)
            for result in sorted(run.results, key=lambda result: result.nodeid)
            if result.outcome not in {"passed", "failed", "error"}
        ),
        **parts,
    )


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
