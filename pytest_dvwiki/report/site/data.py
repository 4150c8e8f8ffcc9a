"""Data of the site: the causes, grouped as in the wiki and totalled over all runs, and the outcomes of the runs."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.records import aggregate, overview
from pytest_dvwiki.report.attention import is_open, title_of
from pytest_dvwiki.report.site.charts import Chart, ChartRow
from pytest_dvwiki.runs import epoch
from pytest_dvwiki.wiki.kinds import bug

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.records.overview import CauseInRun, RunRow, Word
    from pytest_dvwiki.report.attention import Attention, ProjectData
    from pytest_dvwiki.wiki.page_summary import PageSummary

NEWEST_RUNS = 100
MOST_TESTS = 200
_MOST_NAMES = 4
_PARETO = 10
_HOUR = 3600
_WORDS: tuple[Word, ...] = ("NEW", "REGRESSED", "KNOWN", "WAIVED")


class Known(Struct, frozen=True, kw_only=True):
    """A cause on record, with totals over all runs; causes on the same page are combined."""

    name: str
    fingerprints: tuple[str, ...]
    page: PageSummary | None
    label: str
    title: str
    primary: str
    origin: str
    runs: int
    """Number of runs in which the cause occurred."""
    tests: int
    """Total number of the failing tests of the cause in all runs."""
    hours: float
    """Total duration of the cause's failing tests."""
    first: str
    """When the first run with the cause finished."""
    last: str
    """When the last run with the cause finished."""
    owners: tuple[str, ...]

    @property
    def url(self) -> str:
        """Return the path of the cause's page, relative to the site."""
        return f"causes/{self.name.replace('/', '-')}.html"

    @property
    def is_open(self) -> bool:
        """Return whether the cause is open and its tests still fail."""
        return self.page is not None and is_open(self.page)

    @property
    def state(self) -> str:
        """Return the status of the cause, as in the index of the wiki."""
        if self.page is None:
            return "no page"
        passes = self.page.text("passes_since")
        return f"{self.page.status}, passes since {passes}" if passes else self.page.status


class Recovery(Struct, frozen=True, kw_only=True):
    """How long a regression (the runs of one name) took to recover from failures."""

    name: str
    newest: RunRow
    failing_since: str
    """The end of the first run of the current series of failing runs; empty if the newest run has no failure."""
    failing_runs: int
    """Number of runs in the current series of failing runs; 0 if the newest run has no failure."""
    hours: tuple[float, ...]
    """Length of each earlier series of failing runs, in hours.

    It is counted from the end of the first run to the end of the next run without failures.
    """

    @property
    def median(self) -> float | None:
        """Return the median of `hours`, or None if it is empty."""
        return statistics.median(self.hours) if self.hours else None


class Share(Struct, frozen=True):
    """A cause in a ranking."""

    known: Known
    value: float
    """Number of failing tests, or their duration in hours."""
    cumulative: float
    """Share of this cause and all before it in the ranking's total, from 0 to 1."""
    width: float
    """Length of the cause's bar, from 0 to 100."""


class RunCause(Struct, frozen=True):
    """A cause in a run."""

    known: Known
    word: Word
    tests: int


class Data:
    """Everything that the site shows.

    Args:
        sources: The records, pages, waivers and people of a project.
    """

    def __init__(self, sources: ProjectData) -> None:
        self.sources = sources
        self.archive = sources.history.archive
        self.runs = overview.runs(self.archive)
        self._seen = overview.causes_in(self.archive)

    @cached_property
    def causes(self) -> list[Known]:
        """Return all causes, the most recently seen first."""
        groups: dict[str, list[str]] = defaultdict(list)
        fingerprints = sorted({each.fingerprint for each in self._seen})
        identities = {name: self.archive.identities(name) for name in fingerprints}
        for name, path in self.sources.history.page_cache.causes.paths(identities).items():
            groups[path or name].append(name)
        pages = {page.path: page for page in self.sources.history.page_cache.all("bugs")}
        seen: dict[str, list[CauseInRun]] = defaultdict(list)
        for each in self._seen:
            seen[each.fingerprint].append(each)
        finished = {run.number: run.finished for run in self.runs}
        found = []
        for key, prints in groups.items():
            known = self._known(prints, pages.get(key), [each for name in prints for each in seen[name]], finished)
            if known is not None:
                found.append(known)
        return sorted(found, key=lambda each: (each.last, each.tests, each.name), reverse=True)

    def _known(
        self, prints: Sequence[str], page: PageSummary | None, seen: Sequence[CauseInRun], finished: dict[int, str]
    ) -> Known | None:
        newest = self.archive.newest_occurrence(prints)
        if newest is None:
            return None
        times = [finished[each.run] for each in seen]
        cause = Cause(name=prints[0], occurrence=newest)
        return Known(
            name=page.cause if page is not None and page.cause in prints else prints[0],
            fingerprints=tuple(prints),
            page=page,
            label=cause.label,
            title=title_of(cause, page),
            primary=newest.primary,
            origin=bug.effective_type(page) if page is not None else newest.origin.type,
            runs=len({each.run for each in seen}),
            tests=sum(each.tests for each in seen),
            hours=sum(each.seconds for each in seen) / _HOUR,
            first=min(times),
            last=max(times),
            owners=self.sources.owners(cause, page),
        )

    @cached_property
    def by_fingerprint(self) -> dict[str, Known]:
        """Map each fingerprint to its cause."""
        return {name: each for each in self.causes for name in each.fingerprints}

    def known_of(self, cause: Cause) -> Known | None:
        """Return a cause with its totals, or None if the cause is not on record."""
        return self.by_fingerprint.get(cause.name) or self.by_fingerprint.get(cause.occurrence.fingerprint)

    @cached_property
    def causes_of(self) -> dict[int, list[RunCause]]:
        """Map each run's number to its causes, sorted by number of failing tests, highest first."""
        met: set[str] = set()
        grouped: dict[int, dict[str, list[CauseInRun]]] = defaultdict(lambda: defaultdict(list))
        for each in self._seen:
            if each.fingerprint in self.by_fingerprint:
                grouped[each.run][self.by_fingerprint[each.fingerprint].name].append(each)
        found: dict[int, list[RunCause]] = {}
        for run in self.runs:
            of_run = []
            for name, group in grouped.get(run.number, {}).items():
                word = _word(group, is_new=name not in met)
                tests = sum(each.tests for each in group)
                of_run.append(RunCause(self.by_fingerprint[group[0].fingerprint], word, tests))
                met.add(name)
            found[run.number] = sorted(of_run, key=lambda each: (-each.tests, each.known.name))
        return found

    @property
    def open(self) -> list[Known]:
        """Return the open causes whose tests still fail, the most recently seen first."""
        return [each for each in self.causes if each.is_open]

    def open_besides(self, attention: Attention) -> list[Known]:
        """Return the open causes that `attention.news` does not list."""
        shown = {known.name for item in attention.news if (known := self.known_of(item.cause)) is not None}
        return [each for each in self.open if each.name not in shown]

    @property
    def newest_runs(self) -> list[RunRow]:
        """Return the newest runs, newest first."""
        return self.runs[: -NEWEST_RUNS - 1 : -1]

    @cached_property
    def tests(self) -> list[overview.TestRow]:
        """Return the tests that failed most often in the newest runs."""
        return overview.tests_by_runs(self.archive, self.newest_runs, MOST_TESTS)

    @property
    def names(self) -> list[str]:
        """Return the names of the regressions with the most runs among the newest runs, most runs first."""
        return [name for name, _ in Counter(run.name for run in self.newest_runs).most_common(_MOST_NAMES)]

    def charts(self, name: str) -> list[Chart]:
        """Return the charts of a regression's newest runs."""
        runs = [run for run in self.runs if run.name == name][-NEWEST_RUNS:]
        words = [Counter(each.word for each in self.causes_of[run.number]) for run in runs]

        def rows(values: Iterable[tuple[float | None, ...]]) -> tuple[ChartRow, ...]:
            labels = (f"{run.finished[:10]} {run.finished[11:16]}" for run in runs)
            return tuple(map(ChartRow, labels, values))

        rates = ((round(100 * run.passed / run.ended, 1) if run.ended else None,) for run in runs)
        counts = (tuple(count[word] for word in _WORDS) for count in words)
        charts = (
            Chart(
                "rate",
                "Pass rate: the share of passed tests among those that passed or failed",
                ("of the tests passed",),
                rows(rates),
                " %",
            ),
            Chart("causes", "Causes in each run", tuple(f"{word.lower()} causes" for word in _WORDS), rows(counts)),
            Chart(
                "flaky",
                "Flaky and waived tests in each run",
                ("flaky tests", "waived tests"),
                rows((run.totals.flaky, run.totals.waived) for run in runs),
            ),
        )
        return [each for each in charts if each.key != "flaky" or not each.is_empty]

    def recovery(self, name: str) -> Recovery:
        """Return how long a regression took to recover from failures."""
        runs = [run for run in self.runs if run.name == name and (run.ended or run.totals.failed)]
        runs = runs or [run for run in self.runs if run.name == name]
        failing = _stretches([not run.is_failure_free for run in runs])
        over = [(first, last) for first, last in failing if last + 1 < len(runs)]
        now = [(first, last) for first, last in failing if last + 1 == len(runs)]
        return Recovery(
            name=name,
            newest=runs[-1],
            failing_since=runs[now[0][0]].finished if now else "",
            failing_runs=now[0][1] - now[0][0] + 1 if now else 0,
            hours=tuple((epoch(runs[last + 1].finished) - epoch(runs[first].finished)) / _HOUR for first, last in over),
        )

    def pareto(self, *, by_hours: bool = False) -> list[Share]:
        """Return the causes with the most failing tests (or hours of failing tests) in the newest runs."""
        numbers = {run.number for run in self.newest_runs}
        sums: dict[str, float] = defaultdict(float)
        for each in self._seen:
            if each.run in numbers and each.fingerprint in self.by_fingerprint:
                name = self.by_fingerprint[each.fingerprint].name
                sums[name] += each.seconds / _HOUR if by_hours else each.tests
        return _shares({name: value for name, value in sums.items() if value}, self._by_name)

    @cached_property
    def _by_name(self) -> dict[str, Known]:
        return {each.name: each for each in self.causes}

    @property
    def owned(self) -> list[tuple[str, list[Known]]]:
        """Return the open causes of each owner, the owner with the most causes first."""
        found: dict[str, list[Known]] = defaultdict(list)
        for each in self.open:
            for owner in each.owners or ("",):
                found[owner].append(each)
        return sorted(found.items(), key=lambda item: (item[0] == "", -len(item[1]), item[0]))

    @property
    def failing_tests(self) -> int:
        """Return the number of failing tests of all causes in all runs."""
        return sum(each.tests for each in self._seen)

    @property
    def hours_lost(self) -> float:
        """Return the total duration of failing tests in all runs, in hours."""
        return sum(each.seconds for each in self._seen) / _HOUR


def _stretches(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the first and last index of each sequence of consecutive true values."""
    groups = (
        [at for at, _ in group] for flag, group in itertools.groupby(enumerate(flags), lambda each: each[1]) if flag
    )
    return [(group[0], group[-1]) for group in groups]


def _word(group: Iterable[CauseInRun], *, is_new: bool) -> Word:
    group = list(group)
    if all(each.waived for each in group):
        return "WAIVED"
    if is_new:
        return "NEW"
    return "REGRESSED" if any(each.regressed for each in group) else "KNOWN"


def _shares(sums: dict[str, float], by_name: dict[str, Known]) -> list[Share]:
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    total, largest = sum(sums.values()), ranked[0][1] if ranked else 0
    found, sofar = [], 0.0
    for name, value in ranked[:_PARETO]:
        sofar += value
        found.append(Share(by_name[name], value, sofar / total, round(100 * value / largest, 1)))
    return found


def history_of(data: Data, known: Known) -> aggregate.CauseHistory | None:
    """Return the history of a cause, from the records."""
    return aggregate.cause(data.archive, known.fingerprints)
