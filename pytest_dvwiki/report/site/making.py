"""Renders the site. It can be opened from any folder, without a server or network.

A repeated call renders only changed pages of causes and of the wiki. Each of them has a key in `.dvwiki-report.json`
that is a hash of everything shown on the page. The few other pages are always rendered, and written if they differ.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from markupsafe import Markup, escape
from msgspec import Struct

from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.causes.statements import FixedBy, Reproduce, standing, statements
from pytest_dvwiki.causes.words import Style, sentence, text, waiver_text
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records import disk, overview
from pytest_dvwiki.records.command import from_anywhere, masked_note, start
from pytest_dvwiki.redact import clean
from pytest_dvwiki.report import status, summary
from pytest_dvwiki.report.attention import WHY, ProjectData, shown
from pytest_dvwiki.report.made_files import MadeFiles
from pytest_dvwiki.report.site import charts, markdown
from pytest_dvwiki.report.site.data import MOST_TESTS, NEWEST_RUNS, Data, Known, history_of
from pytest_dvwiki.report.templating import TEMPLATES, environment
from pytest_dvwiki.version import TOOL
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.page_files import state_of
from pytest_dvwiki.wiki.page_summary import CATEGORIES, page_name
from pytest_dvwiki.wiki.text.markdown import plain
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from pytest_dvwiki.model import Occurrence
    from pytest_dvwiki.records.overview import RunRow
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.page_summary import PageSummary

_Row = TypeVar("_Row")
MANIFEST = ".dvwiki-report.json"
_RUNS_OF_A_PAGE = 400
_ROWS_OF_A_PAGE = 1000
_FEWEST = 8
"""Minimum length, in characters, of a partial message to search for in the excerpt."""
_MOST_CAUSES = 8
"""Maximum number of linked causes of a run or test in a table."""
_ASSETS = ("report.css", "report.js")
_CODE, _END = "\x02", "\x03"
_STYLE = Style(
    name=lambda name: f"{_CODE}{clean(name)}{_END}", link=lambda page: f"{_CODE}{clean(page_name(page))}{_END}", files=3
)


class Made(Struct, frozen=True):
    """The result of making the site."""

    pages: int
    written: int
    """Number of new or changed pages."""
    seconds: float


def make(layout: Layout, folder: Path, day: date) -> Made:
    """Write or update the site.

    Args:
        layout: The project.
        folder: The site's folder: new, empty, or made by an earlier call.
        day: The current day.

    Raises:
        MissingError: A package of the extra `report` is not installed.
        WikiError: The folder contains other files, or cannot be written.
    """
    began = time.monotonic()
    with ProjectData(layout) as sources, disk.explained(folder):
        files = MadeFiles(folder, MANIFEST)
        _Site(sources, files, day).make()
        files.finish()
        return Made(len(files.keys), files.written, time.monotonic() - began)


class _Site:
    """One build of the site.

    The class is long because each kind of page has a method, and all methods share the data and the page addresses.
    """

    def __init__(self, sources: ProjectData, files: MadeFiles, day: date) -> None:
        self._sources = sources
        self._files = files
        self._day = day
        self._data = Data(sources)
        self._environment = environment()
        self._environment.filters.update(
            marked=_marked, plain=plain, percent=lambda value: f"{value:.0%}", quoted=quote
        )
        self._search: list[tuple[str, str, str, str]] = []
        self._test_urls: dict[str, str] = {}
        """Maps each failed test to its address, on the page of the newest month in which the test failed."""

    def make(self) -> None:
        """Write all pages."""
        for name in _ASSETS:
            self._files.write(f"assets/{name}", (TEMPLATES / "site" / name).read_text(encoding="utf-8"))
        self._files.write("assets/charts.css", charts.styles())
        self._overview()
        self._causes()
        self._runs()
        self._tests()
        self._wiki()
        self._files.write("assets/search.js", f"window.dvwikiSearch = {json.dumps(self._search)};\n")

    def _render(self, path: str, template: str, key: str = "", **values: Any) -> None:
        page = self._environment.get_template(f"site/{template}").render(
            up="../" * path.count("/"),
            project=self._sources.layout.root.name,
            day=self._day,
            tool=TOOL,
            count=count,
            page_name=page_name,
            run_url=self._run_urls.get,
            **values,
        )
        self._files.write(path, page, key)

    @cached_property
    def _base(self) -> str:
        """Return a hash of the data that all pages depend on."""
        parts = [TOOL, *(path.read_text(encoding="utf-8") for path in sorted((TEMPLATES / "site").iterdir()))]
        return _hash(*parts)

    # Pages that exist once

    def _overview(self) -> None:
        data = self._data
        found = self._sources.attention(self._day)
        self._render(
            "index.html",
            "overview.html",
            data=data,
            found=found,
            headline=summary.headline(found),
            totals=status.totals,
            sections=list(summary.sections(found)),
            most=summary.MOST,
            notes=[*summary.notes(found)],
            shown=shown,
            style=_STYLE,
            why=WHY,
            newest_runs=NEWEST_RUNS,
            hours=_hours,
        )

    def _tests(self) -> None:
        self._render("tests.html", "tests.html", data=self._data, most=MOST_TESTS, test_urls=self._test_urls)

    # Causes

    def _causes(self) -> None:
        causes = self._data.causes
        for path, part, others in _chunks("causes", causes, _ROWS_OF_A_PAGE):
            self._render(path, "causes.html", causes=part, pages=others, total=len(causes), hours=_hours)
        content = overview.content(self._data.archive)
        for known in causes:
            tests = " ".join(self._newest_tests.get(known.fingerprints[0], ())[:3])
            self._search.append(("cause", f"{known.label}: {known.title}", tests, known.url))
            page = known.page.path if known.page is not None else ""
            key = _hash(self._base, *(content.get(name, "") for name in known.fingerprints), self._stat(page))
            if not self._files.is_current(known.url, key):
                self._cause(known, key)

    @cached_property
    def _newest_tests(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for nodeid, fingerprint in self._data.archive.db.execute("SELECT nodeid, fingerprint FROM newest_tests"):
            found[fingerprint].append(nodeid)
        return found

    def _cause(self, known: Known, key: str) -> None:
        history = history_of(self._data, known)
        if history is None:
            return
        page = bug.facts(known.page) if known.page is not None else None
        cause = Cause.on_record(known.name, history, page)
        stated = list(statements(cause))
        fixes = [
            (
                state,
                sentence(text(FixedBy(fix=state.fix, standing=standing(state), is_back=bool(state.returned)), _STYLE)),
            )
            for state in reversed(cause.states)
        ]
        self._render(
            known.url,
            "cause.html",
            key,
            known=known,
            cause=cause,
            history=history,
            stated=[
                sentence(words) for each in stated if not isinstance(each, Reproduce) and (words := text(each, _STYLE))
            ],
            command=from_anywhere(cause.command) if cause.command is not None else "",
            start=start(cause.command) if cause.command is not None else "",
            masked=masked_note(cause.command) if cause.command is not None else "",
            why_not=next((each.why_not for each in stated if isinstance(each, Reproduce)), ""),
            fixes=fixes,
            waivers=[waiver_text(each, _STYLE) for each in cause.waived],
            evidence=evidence(cause.occurrence),
            tests=sorted(cause.tests),
            hours=_hours,
        )

    # Runs

    @cached_property
    def _months(self) -> list[tuple[str, list[RunRow], list[tuple[str, str]]]]:
        """Return, for each page of runs, its path, its runs, and links (name and number) to all pages of the month."""
        months: dict[str, list[RunRow]] = defaultdict(list)
        for run in self._data.runs:
            months[run.finished[:7]].append(run)
        return [each for month, runs in months.items() for each in _chunks(f"runs/{month}", runs, _RUNS_OF_A_PAGE)]

    @cached_property
    def _run_urls(self) -> dict[str, str]:
        return {run.task_id: f"{path}#{run.task_id}" for path, runs, _ in self._months for run in runs}

    def _runs(self) -> None:
        months: dict[str, list[RunRow]] = defaultdict(list)
        for path, runs, others in self._months:
            month = runs[0].finished[:7]
            months[month] += runs
            self._render(
                path,
                "runs.html",
                runs=runs[::-1],
                month=month,
                pages=others,
                causes_of=self._data.causes_of,
                most=_MOST_CAUSES,
            )
        for month in months:
            tests = overview.failing_tests(self._data.archive, month, f"{month}~")
            for path, part, others in _chunks(f"runs/tests-{month}", tests, _ROWS_OF_A_PAGE):
                self._render(
                    path,
                    "failing.html",
                    tests=part,
                    month=month,
                    pages=others,
                    total=len(tests),
                    causes=self._data.by_fingerprint,
                    most=_MOST_CAUSES,
                )
                self._test_urls |= {test.nodeid: f"{path}#test-{number}" for number, test in enumerate(part, 1)}
        self._search += [("test", nodeid, "", url) for nodeid, url in self._test_urls.items()]
        self._render("runs.html", "months.html", months=_sums(months), hours=_hours)

    # Pages of the wiki

    def _stat(self, page: str) -> str:
        """Return a key that changes with a page's file."""
        return page and f"{page} {state_of(self._sources.layout.wiki / page)}"

    def _wiki(self) -> None:
        page_cache = self._sources.history.page_cache
        listed = {category: list(page_cache.all(category)) for category in CATEGORIES}
        known = {page.path for pages in listed.values() for page in pages}
        known |= {"index.md", *(f"{category}/_index.md" for category in CATEGORIES)}
        causes = {each.page.path: each for each in self._data.causes if each.page is not None}
        for category, pages in listed.items():
            for path, part, others in _chunks(f"wiki/{category}/_index", pages, _ROWS_OF_A_PAGE):
                self._render(path, "category.html", pages=others, part=part, category=category, total=len(pages))
            for page in pages:
                if category != "bugs":
                    self._search.append((category, plain(page.title) or page.name, "", quote(_wiki_url(page))))
                self._page(page, known, causes.get(page.path))
        self._render("wiki/index.html", "wiki.html", listed={name: len(pages) for name, pages in listed.items()})

    def _page(self, page: PageSummary, known: set[str], cause: Known | None) -> None:
        path = _wiki_url(page)
        key = _hash(self._base, self._stat(page.path), cause.url if cause is not None else "")
        if self._files.is_current(path, key):
            return

        def run_url(task_id: str) -> str | None:
            url = self._run_urls.get(task_id)
            return url and f"../../{url}"

        problem = page.problem
        rendered = markdown.Rendered(page.name, {}, "", has_heading=False, dangling=True)
        if not problem:
            try:
                data = outside.read(self._sources.layout.wiki, page.path)
                rendered = markdown.render(page.path, data, known, run_url)
            except (OSError, YamlError) as error:
                problem = str(error)
        # A page with a link that leads nowhere is rebuilt each time: the target may exist by now.
        self._render(
            path,
            "page.html",
            "" if rendered.dangling else key,
            page=page,
            rendered=rendered,
            html=Markup(rendered.html),  # noqa: S704  # sanitised by nh3
            problem=problem,
            cause=cause,
        )


def evidence(occurrence: Occurrence) -> list[tuple[str, bool]]:
    """Return the lines of an excerpt, each with whether it is part of the first cause.

    The message of a cause can span several lines, or be only part of a line. If the excerpt does not contain the
    message, the search is repeated without the source location, and then also without the exception type. Both may have
    been added to the message.
    """
    lines = clean(occurrence.excerpt).expandtabs().strip("\n").split("\n") if occurrence.excerpt.strip() else []
    message = " ".join(clean(occurrence.primary).split())
    plain_lines = [" ".join(line.split()) for line in lines]
    without_place = message.rpartition(" in ")[0]
    for words in (message, without_place, without_place.partition(": ")[2]):
        if len(words) >= _FEWEST or words == message:
            begin, end = _place(words, plain_lines)
            if begin < end:
                return [(line, begin <= at < end) for at, line in enumerate(lines)]
    return [(line, False) for line in lines]


def _place(message: str, lines: Sequence[str]) -> tuple[int, int]:
    """Return the range of lines that contain a message, as (first, after last), or (0, 0) if there are none."""
    for begin, line in enumerate(lines):
        end, joined = begin + 1, line
        while joined and joined != message and message.startswith(joined) and end < len(lines):
            joined = f"{joined} {lines[end]}".rstrip()
            end += 1
        if message and message in joined:
            return begin, end
    return 0, 0


def _marked(words: str) -> Markup:
    """Return a sentence as HTML, with names formatted as code."""
    return Markup(str(escape(words)).replace(_CODE, "<code>").replace(_END, "</code>"))  # noqa: S704  # escaped


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _hours(hours: float) -> str:
    """Return a number of hours as text, in seconds, minutes, hours or days."""
    if hours < 1:
        return f"{hours * 60:.1f} min" if hours * 60 >= 1 else f"{hours * 3600:.1f} s"
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"  # noqa: PLR2004


def _wiki_url(page: PageSummary) -> str:
    return f"wiki/{page.path.removesuffix('.md')}.html"


def _chunks(base: str, rows: Sequence[_Row], most: int) -> list[tuple[str, list[_Row], list[tuple[str, str]]]]:
    """Divide rows into pages; return each page's path and rows, and links (name and number) to all these pages."""
    parts = [list(rows[at : at + most]) for at in range(0, len(rows), most)] or [[]]
    paths = [f"{base}{f'-{number}' if number else ''}.html" for number in range(len(parts))]
    names = [(path.rpartition("/")[2], str(number + 1)) for number, path in enumerate(paths)]
    return [(path, part, names) for path, part in zip(paths, parts, strict=True)]


class Month(Struct, frozen=True):
    """The totals of a month's runs."""

    month: str
    """`YYYY-MM`."""
    runs: int
    passed: int
    ended: int
    """Number of tests that passed or failed, without infrastructure failures."""
    failed: int


def _sums(months: Mapping[str, Sequence[RunRow]]) -> Iterator[Month]:
    for month, runs in sorted(months.items(), reverse=True):
        yield Month(
            month,
            len(runs),
            sum(run.passed for run in runs),
            sum(run.ended for run in runs),
            sum(run.totals.failed + run.totals.errors for run in runs),
        )
