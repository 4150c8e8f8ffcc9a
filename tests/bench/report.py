"""Measures the report: time of the first and of the second making, sizes, totals, and first paint in a browser.

    python tests/bench/report.py [--records N] [--tests N] [--pages N] [--folder FOLDER] [--known]

Makes a wiki of 10,000 runs of 5,000 tests with 3,000 pages, makes the report, archives a run, makes it again, and
prints a table in Markdown. The totals are checked by code that is independent of the report. With --folder the wiki
stays for another time, and `--known` uses that wiki. The first paint is measured in Chromium, if it is installed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grown import Generator, Numbers, layout_of
from msgspec.structs import replace

from pytest_dvwiki.model import Suite, Totals
from pytest_dvwiki.records.codec import encode
from pytest_dvwiki.records.store import folders, read_records, record_files, record_path, suite_id, write_suite
from pytest_dvwiki.report.attention import ProjectData
from pytest_dvwiki.report.site.data import Data
from pytest_dvwiki.report.site.making import make
from pytest_dvwiki.wiki.writing.build import archive, build

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.model import Occurrence, RunRecord
    from pytest_dvwiki.settings import Layout

_LAST = 730 * 86_400
_LIMITS = {"made again": 60.0, "largest page, MB": 2.0, "first paint": 1.0}
_HOUR = 3600


class Farm(Generator):
    """A regression of many tests, in which a cause fails several.

    Args:
        numbers: Size of the wiki.
        tests: Number of tests of each run.
    """

    def __init__(self, numbers: Numbers, tests: int) -> None:
        super().__init__(numbers)
        share = -(-tests // 140)
        modules = sorted({name.rpartition("::")[0] for name in self.tests})
        self.tests = [f"{module}::case_{number:04d}" for module in modules for number in range(share * 10)][:tests]

    def occurrence(self, cause: int, run: int) -> Occurrence:
        """Return a cause with up to 20 failing tests."""
        made = super().occurrence(cause, run)
        dice = random.Random(f"tests {cause} {run}")
        names = dice.sample(self.tests, dice.randrange(1, 21))
        tests = tuple(replace(made.tests[0], nodeid=name, duration_s=float(60 + dice.randrange(600))) for name in names)
        return replace(made, tests=tests)

    def record(
        self, number: int, second: int, causes: Sequence[int], bins: Sequence[int] = (), fixed: Sequence[int] = ()
    ) -> RunRecord:
        """Return one run of all tests."""
        made = super().record(number, second, causes, bins, fixed)
        failed = sum(len(each.tests) for each in made.occurrences)
        return replace(
            made,
            suites=(Suite(suite=suite_id(self.tests), simulator="icarus"),),
            totals=Totals(passed=len(self.tests) - failed, failed=failed),
        )

    def suites(self) -> list[list[str]]:
        """Return the list of tests, which is the same in all runs."""
        return [self.tests]


@dataclass(frozen=True, slots=True)
class Sums:
    """The totals of all runs."""

    runs: int
    passed: int
    failing_tests: int
    hours: float


def grow(folder: Path, farm: Farm) -> Layout:
    """Write a wiki: its records, then its pages."""
    place = layout_of(folder)
    for names in farm.suites():
        write_suite(place.tasks, names)
    for record in farm.records():
        path = record_path(place.tasks, record)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(record))
    build(place, restore=True)
    return place


def of_records(place: Layout) -> Sums:
    """Compute the totals from the files of the records."""
    runs = passed = failing = 0
    seconds = 0.0
    for record in _read(place):
        runs += 1
        passed += record.totals.passed + record.totals.flaky
        failing += sum(len(each.tests) for each in record.occurrences)
        seconds += sum(test.duration_s for each in record.occurrences for test in each.tests)
    return Sums(runs, passed, failing, round(seconds / _HOUR, 3))


def _read(place: Layout) -> Iterator[RunRecord]:
    for folder in folders(place.tasks):
        for name in sorted(record_files(folder)):
            yield from read_records(folder / name, (folder / name).read_bytes(), name)[0]


def of_report(place: Layout) -> Sums:
    """Return the totals that the report shows."""
    with ProjectData(place) as sources:
        data = Data(sources)
        hours = round(sum(each.hours for each in data.causes), 3)
        tests = sum(each.tests for each in data.causes)
        return Sums(len(data.runs), sum(run.passed for run in data.runs), tests, hours)


def paints(site: Path) -> dict[str, float]:
    """Return the time to first paint of the largest pages in Chromium, in seconds; empty without Chromium."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return {}
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # not needed without Chromium

    pages = sorted(site.rglob("*.html"), key=lambda path: -path.stat().st_size)[:3]
    found = {}
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        for path in dict.fromkeys([site / "index.html", site / "tests.html", *pages]):
            page: Any = browser.new_page()
            page.goto(path.as_uri())
            query = "() => performance.getEntriesByName('first-contentful-paint').map(each => each.startTime)[0]"
            page.wait_for_function(query)
            found[path.relative_to(site).as_posix()] = page.evaluate(query) / 1000
        browser.close()
    return found


def main() -> int:
    """Measure, and report whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--tests", type=int, default=5_000)
    parser.add_argument("--pages", type=int, default=3_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--known", action="store_true")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="dvwiki-report-"))
    farm = Farm(Numbers(options.pages, options.records), options.tests)
    place = layout_of(folder) if options.known else grow(folder, farm)
    site = folder / "site"
    day = date(2026, 11, 1)
    first = make(place, site, day)
    archive(place, farm.record(options.records + int(time.time()) % 10**6, _LAST, [1, 2, 3]))
    again = make(place, site, day)
    pages = {path: path.stat().st_size / 1e6 for path in site.rglob("*.html")}
    largest = max(pages, key=lambda path: pages[path])
    rows = [
        ("made for the first time", f"{first.seconds:.1f} s, {first.pages} files"),
        ("made again", f"{again.seconds:.1f} s, {again.written} files written"),
        ("largest page, MB", f"{pages[largest]:.2f} ({largest.relative_to(site)})"),
        ("data of the search, MB", f"{(site / 'assets' / 'search.js').stat().st_size / 1e6:.2f}"),
    ]
    painted = paints(site)
    rows += [(f"first paint of {path}", f"{seconds:.2f} s") for path, seconds in painted.items()]
    told, counted = of_report(place), of_records(place)
    rows += [("totals of the report", str(told)), ("totals of the records", str(counted))]
    print("| what | measured |\n| --- | --- |", *(f"| {name} | {value} |" for name, value in rows), sep="\n")
    kept = [
        again.seconds < _LIMITS["made again"],
        pages[largest] < _LIMITS["largest page, MB"],
        max(painted.values(), default=0) < _LIMITS["first paint"],
        told == counted,
    ]
    print("all limits hold" if all(kept) else f"a limit does not hold: {kept}")
    if options.folder is None:
        shutil.rmtree(folder)
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
