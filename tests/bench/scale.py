"""Measures search, update, build, context and archiving as the wiki grows.

    python tests/bench/scale.py [--pages N ...] [--backend NAME] [--folder FOLDER] [--known]

Makes a wiki of each size, with two records for each page, and prints a table in Markdown: the process time (user and
system) of each action, as the median of several measurements if it is short, and the power of the number of pages with
which it grows between the last two sizes. With --folder the wikis stay for another time, and `--known` uses those
wikis.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grown import BEGAN, Generator, Numbers, grow, layout_of
from msgspec.structs import replace

from pytest_dvwiki.agent.followed import FollowedWiki
from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.model import Suite
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.store import suite_id
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
from pytest_dvwiki.wiki.writing.build import archive, build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.finding.search import SearchResult

CAUSES = 20
"""Number of tests of an archived run."""
_QUERIES = ("axi reader credit lost", "scoreboard mismatch expected 0x12", "ddr arbiter timeout", "cache_bridge parity")
_TEST = "tests/test_axi.py::test_axi::reader_0"
_COLD = """
import sys, time
from pathlib import Path
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
WikiSearchIndex.create(sys.argv[1], Path(sys.argv[2])).search(sys.argv[3])
print(time.process_time())
"""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measurement: its name, seconds, and the unit of display."""

    name: str
    seconds: float
    unit: str = "ms"

    def shown(self) -> str:
        """Return the number with its unit."""
        if self.unit == "":
            return f"{self.seconds:.1f} times"
        if self.unit == "s":
            return f"{self.seconds:.1f} s"
        thousandths = self.seconds * 1000
        return f"{thousandths:.0f} ms" if thousandths >= 10 else f"{thousandths:.1f} ms"


def spent(work: Callable[[], object]) -> float:
    """Return the process time of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def median(work: Callable[[], object], times: int = 5) -> float:
    """Return the median process time of a few calls."""
    return statistics.median(spent(work) for _ in range(times))


def measures(place: Layout, numbers: Numbers, backend: str) -> Iterator[Measure]:
    """Yield all measures of a wiki."""
    shutil.rmtree(place.wiki / ".cache", ignore_errors=True)
    yield Measure("build of a fresh clone", spent(lambda: build(place)), "s")
    yield Measure("build again", spent(lambda: build(place)), "s")
    yield from _search(place, backend)
    yield Measure("context for a query", median(lambda: gather(place, query=_QUERIES[0], backend=backend)))
    yield Measure("context for a test", median(lambda: gather(place, test=_TEST)))
    yield from _archive(place, numbers)


def _search(place: Layout, backend: str) -> Iterator[Measure]:
    shutil.rmtree(place.wiki / WikiSearchIndex.INDEX_DIR, ignore_errors=True)
    index = WikiSearchIndex.create(backend, place.wiki)
    yield Measure("search: index made", spent(lambda: index.search(_QUERIES[0])), "s")
    yield Measure("search: cold, a process of its own", statistics.median(_cold(place, backend) for _ in range(3)))
    queries = itertools.cycle(_QUERIES)
    yield Measure("search: warm", median(lambda: index.search(next(queries)), 8))
    pages = itertools.cycle(sorted((place.wiki / "bugs").glob("[RTU]*.md"))[:5])
    dice = random.Random()

    def new_word() -> str:
        return "zebra" + "".join(dice.choices("bcdfghjklmnpqrstvwxz", k=12))

    def update() -> None:
        page, word = next(pages), new_word()
        index.update(page, f"{page.read_text()}\n{word}\n")

    def edited() -> None:
        page, word = next(pages), new_word()
        page.write_text(f"{page.read_text()}\n{word}\n")
        (found,) = index.search(word)
        assert place.wiki / found.page_path == page

    yield from _followed(place, backend)
    yield Measure("search: update of one page", median(update))
    yield Measure("search: a page edited, then searched", median(edited))


def _followed(place: Layout, backend: str) -> Iterator[Measure]:
    """Measure a process that keeps the index: its queries alone, then 300 of each kind while pages are edited."""
    pages = itertools.cycle(sorted((place.wiki / "bugs").glob("[RTU]*.md")))
    stop, seen = threading.Event(), []

    def edit() -> None:
        while not stop.wait(0.1):
            page = next(pages)
            page.write_text(f"{page.read_text()}\nword{time.monotonic_ns()}\n")

    with FollowedWiki(place, backend) as wiki:

        def search(query: str) -> list[SearchResult]:
            with wiki.knowledge() as knowledge:
                return knowledge.index.search(query)

        search(_QUERIES[0])
        kinds: dict[str, Callable[[str], object]] = {
            "search": search,
            "context for a query": lambda query: gather(place, query=query, followed=wiki),
            "context for a test": lambda _: gather(place, test=_TEST, followed=wiki),
        }
        for name, work in kinds.items():
            yield Measure(f"followed: {name}", statistics.median(_timed(work, 20)[0]))
        editor = threading.Thread(target=edit)
        editor.start()
        for name, work in kinds.items():
            alone, passed = (statistics.quantiles(each, n=20)[-1] for each in _timed(work, 300))
            yield Measure(f"followed, 10 edits a second: {name}, 95 % within", alone)
            yield Measure(f"followed, 10 edits a second: {name}, 95 % within, time that passes", passed)
        stop.set()
        editor.join()
        for _ in range(5):
            page, word = next(pages), f"zebra{''.join(random.choices('bcdfghjklmnpqrstvwxz', k=12))}"
            page.write_text(f"{page.read_text()}\n{word}\n")
            began = time.perf_counter()
            while not search(word):
                time.sleep(0.02)
            seen.append(time.perf_counter() - began)
    yield Measure("followed: an edit is found after at most", max(seen), "s")


def _timed(work: Callable[[str], object], times: int) -> tuple[list[float], list[float]]:
    """Return the process time of this thread and the elapsed seconds of each query."""
    spent_alone, passed = [], []
    for query in itertools.islice(itertools.cycle(_QUERIES), times):
        began, began_alone = time.perf_counter(), time.thread_time()
        work(query)
        spent_alone.append(time.thread_time() - began_alone)
        passed.append(time.perf_counter() - began)
        time.sleep(0.005)
    return spent_alone, passed


def _cold(place: Layout, backend: str) -> float:
    """Return the process time of a search in a new process, with compiled modules as in an installed package."""
    command = [sys.executable, "-c", _COLD, backend, str(place.wiki), _QUERIES[1]]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _archive(place: Layout, numbers: Numbers) -> Iterator[Measure]:
    """Archive runs with known and with new causes, here and in an empty wiki; each run has a new list of tests."""
    generator = Generator(numbers)
    names = generator.suites()[-1]
    began = _second_after(place)
    runs = itertools.count(int(time.time()) * 1_000)

    def run(where: Layout, first: int, causes: int = CAUSES) -> float:
        number = next(runs)
        record = generator.record(number, began + number % 1_000 * 60, range(first, first + causes))
        record = replace(record, suites=(Suite(suite=suite_id(names), simulator="icarus"),))
        return spent(lambda: archive(where, record, lists=[names])) / causes

    news = itertools.count(int(time.time()) * 1_000, CAUSES)
    run(place, 0)
    grown, small = [], []
    for known in range(0, 5 * CAUSES, CAUSES):
        with tempfile.TemporaryDirectory() as name:
            empty = layout_of(Path(name))
            new = next(news)
            run(empty, next(news))  # creates the folders
            small.append((run(empty, new), run(empty, new), run(empty, new, 1)))
            grown.append((run(place, new), run(place, known), run(place, known, 1)))
    here, there = ([statistics.median(each) for each in zip(*side, strict=True)] for side in (grown, small))
    for name, ours, theirs in zip(("a new cause", "a known cause", "a known cause alone"), here, there, strict=True):
        yield Measure(f"archive: {name}", ours)
        yield Measure(f"archive: {name}, against an empty wiki", ours / theirs, "")


def _second_after(place: Layout) -> int:
    """Return a second after the end of all runs on record."""
    with Archive(place.tasks, place.wiki / ".cache" / "records.sqlite") as records:
        newest = datetime.fromisoformat(records.last_updated() or BEGAN.isoformat())
    return int((newest - BEGAN).total_seconds()) + 60


def machine() -> str:
    """Return the machine and the versions of the measurement."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB of memory, Python {platform.python_version()}, Linux"


def table(found: dict[int, list[Measure]]) -> str:
    """Return the measurements of all sizes as a table, with the growth between the last two sizes."""
    sizes = list(found)
    rows = [["", *(f"{size:,} pages" for size in sizes), "grows as"], ["---"] * (len(sizes) + 2)]
    rows += [
        [row[0].name, *(each.shown() for each in row), _growth(sizes, row)] for row in zip(*found.values(), strict=True)
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _growth(sizes: list[int], row: tuple[Measure, ...]) -> str:
    if len(row) < 2 or row[0].unit == "":
        return ""
    power = math.log(row[-1].seconds / row[-2].seconds) / math.log(sizes[-1] / sizes[-2])
    return f"n^{power:.1f}"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[100, 1_000])
    parser.add_argument("--backend", default="bm25")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--known", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = options.folder or Path(name)
        found: dict[int, list[Measure]] = {}
        for size in options.pages:
            numbers, folder = Numbers(size, 2 * size), home / str(size)
            place = layout_of(folder)
            if not (options.known and place.wiki.exists()):
                place = grow(folder, numbers, lambda text: print(text, file=sys.stderr, flush=True))
            found[size] = []
            for measure in measures(place, numbers, options.backend):
                found[size].append(measure)
                print(f"{size:>8,} {measure.name:44} {measure.shown()}", file=sys.stderr, flush=True)
        print(f"{machine()}\n\n{table(found)}")


if __name__ == "__main__":
    main()
