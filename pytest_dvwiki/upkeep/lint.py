"""Runs the checks of a wiki, and reports the findings."""

from __future__ import annotations

import asyncio
import logging
import re
from itertools import chain
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.flaky import flaky_tests
from pytest_dvwiki.upkeep import calibration, claims, contents, drift, git_history, links, staleness, structure
from pytest_dvwiki.upkeep.configuration import check_configuration
from pytest_dvwiki.upkeep.findings import Finding, without_explained
from pytest_dvwiki.upkeep.page import PageText
from pytest_dvwiki.wiki.index import Top, indexes
from pytest_dvwiki.wiki.page_cache import PageCache
from pytest_dvwiki.wiki.page_summary import CATEGORIES
from pytest_dvwiki.wiki.writing.build import build

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.config import WikiConfig

Depth = Literal["quick", "full"]
_UNMERGED = "a merge left records in conflict or in the wrong folder"
_PLACE_OF_REFUSAL = re.compile(r"(?:line |frontmatter:)(\d+): (.*)")
_PLACE_OF_PROBLEM = re.compile(r"(?P<file>[^\s:]+\.ya?ml):(?:(?P<line>\d+):)? (?P<text>.*)")
_logger = logging.getLogger(__name__)


class LintReport(Struct, frozen=True, kw_only=True):
    """The findings of a check; paths are relative to the wiki."""

    orphan_pages: list[str] = field(default_factory=list)
    """Pages that `index.md` does not list."""
    broken_links: list[tuple[str, str]] = field(default_factory=list)
    """The page of each broken link, and what is wrong with the link."""
    stale_open_bugs: list[str] = field(default_factory=list)
    """Pages of open bugs that are old or marked as stale."""
    missing_pages: list[str] = field(default_factory=list)
    """Pages listed in `index.md` that do not exist."""
    uncited_claims: list[tuple[str, int]] = field(default_factory=list)
    """The page and line of each claim without a source."""
    suggestions: list[str] = field(default_factory=list)
    """Remedies for the findings, one line each, without repetition."""
    human_review_required: bool = False
    """Whether there is a problem, not counting warnings, that `dvwiki build` cannot fix."""
    findings: list[Finding] = field(default_factory=list)
    """All findings, sorted by file and line."""


class WikiLintService:
    """Checks a wiki."""

    def __init__(self, wiki_config: WikiConfig) -> None:
        self.config = wiki_config

    async def run(self, depth: Depth = "quick") -> LintReport:
        """Check the wiki in a thread. Errors are logged, not raised; the report then asks for human review.

        Args:
            depth: `quick` checks the index and the frontmatter of pages; `full` also checks their text, the history
                in git, and the derived content.
        """
        try:
            return report(await asyncio.to_thread(lint, self.config.layout, depth))
        except Exception:
            _logger.exception("the wiki in %s could not be checked", self.config.wiki_dir)
            return LintReport(suggestions=["run `dvwiki lint` to see why the check failed"], human_review_required=True)


class LintResult(Struct, frozen=True):
    """The result of a check."""

    findings: list[Finding] = field(default_factory=list)
    """All findings, sorted by file and line."""
    deciles: tuple[calibration.Decile, ...] = ()
    """Confidence of verdicts compared with people's decisions; empty after a quick check or with too few decisions."""


def lint(layout: Layout, depth: Depth = "quick") -> list[Finding]:
    """Return the findings of `check`."""
    return check(layout, depth).findings


def check(layout: Layout, depth: Depth = "quick") -> LintResult:
    """Run the quick checks, or all checks. Without a wiki there are no findings.

    Raises:
        WikiError: The caches or the pages could not be read.
    """
    if not layout.wiki.is_dir():
        return LintResult()
    cache = layout.wiki / ".cache"
    with PageCache(layout.wiki, cache / "pages.sqlite") as page_cache:
        page_cache.refresh()
        found = set(_quick(layout, page_cache))
        if depth == "quick":
            return LintResult(sorted(without_explained(found)))
        with Archive(layout.tasks, cache / "records.sqlite") as archive:
            archive.refresh()
            found |= set(_full(layout, page_cache, archive))
            deciles = calibration.deciles(archive, page_cache)
            index, flaky = page_cache.index, len(flaky_tests(archive))
            expected = indexes(index.rows, Top(archive.last_updated(), index.commits(), flaky, index.left_out()))
        found |= {*calibration.check_calibration(deciles), *_derived(layout, expected)}
        return LintResult(sorted(without_explained(found)), deciles)


def _quick(layout: Layout, page_cache: PageCache) -> Iterator[Finding]:
    yield from contents.check_index(layout.wiki, page_cache)
    yield from structure.check_fields(page_cache)
    yield from structure.check_causes(page_cache)
    yield from structure.check_conflicts(layout.wiki)
    yield from staleness.check_age(page_cache)


def _full(layout: Layout, page_cache: PageCache, archive: Archive) -> Iterator[Finding]:
    yield from check_configuration(layout)
    yield from structure.check_supersession(page_cache)
    yield from structure.check_likeness(page_cache, archive)
    for page in chain.from_iterable(page_cache.all(category) for category in CATEGORIES):
        text = PageText.read(layout.wiki, page)
        yield from links.check_links(layout.wiki, text, page_cache)
        yield from claims.check_claims(text)
        yield from structure.check_lessons(text)
        yield from claims.check_sources(text, archive, layout.tasks)
        yield from drift.check_drift(layout.root, text)
        yield from drift.check_hints(layout.root, text)
    yield from git_history.check_log(layout)
    yield from git_history.check_records(layout, archive)


def _derived(layout: Layout, expected: Mapping[str, bytes]) -> Iterator[Finding]:
    """Yield derived content that is out of date, and files that `dvwiki build` cannot read or write.

    Args:
        layout: Where the wiki is.
        expected: The content of the index files if built from the current pages.
    """
    built = build(layout, check=True)
    for path in built.changed:
        behind = contents.rows_behind(layout.wiki, path, expected[path]) if path in expected else []
        what = _UNMERGED if path.startswith("../") else "the part that dvwiki writes differs from the records"
        yield from behind or [Finding(path, 0, "outdated", what)]
    for path, reason in built.refused:
        place = _PLACE_OF_REFUSAL.match(reason)
        line, text = (int(place[1]), place[2]) if place else (0, reason)
        yield Finding(path, line, "left_alone", f"dvwiki cannot write its part: {text}")
    for problem in chain.from_iterable(text.split("\n") for text in built.problems):
        place = _PLACE_OF_PROBLEM.match(problem)
        file, line, text = (place["file"], int(place["line"] or 0), place["text"]) if place else ("", 0, problem)
        yield Finding(f"../tasks/{file}".rstrip("/"), line, "unreadable", text, "restore the record from git")


def report(findings: list[Finding]) -> LintReport:
    """Convert the findings into the report defined by the specification."""

    def of(kind: str) -> list[Finding]:
        return [finding for finding in findings if finding.kind == kind]

    return LintReport(
        orphan_pages=[finding.page for finding in of("orphan")],
        broken_links=[(finding.page, finding.text) for finding in of("broken_link")],
        stale_open_bugs=[finding.page for finding in of("stale")],
        missing_pages=[finding.page for finding in of("missing")],
        uncited_claims=[(finding.page, finding.line) for finding in of("uncited")],
        suggestions=list(dict.fromkeys(f"{finding.kind}: {finding.remedy}" for finding in findings)),
        human_review_required=any(not (each.is_warning or each.is_settled_by_build) for each in findings),
        findings=findings,
    )
