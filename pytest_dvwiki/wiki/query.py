"""Answers queries about the archive for triage and reports, from the caches."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, cast

from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.model import StandingFix
from pytest_dvwiki.records import aggregate, bins, failing, matrix, same_check, subtype_history
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.kinds import DETERMINISTIC_CLASSES, precedes_simulator
from pytest_dvwiki.records.name_parts import SLASH, check_of, part_of
from pytest_dvwiki.records.tables import seed_of
from pytest_dvwiki.records.targets import ANY, Target, of_failure
from pytest_dvwiki.runs import EVER
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.kinds import bug, pattern
from pytest_dvwiki.wiki.page_cache import PageCache
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.markdown import plain
from pytest_dvwiki.wiki.text.names import file_name
from pytest_dvwiki.wiki.unaccepted import is_unaccepted, unaccepted
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pytest_dvwiki.model import (
        FailedTest,
        Failure,
        KnownBin,
        Occurrence,
        Onset,
        OriginType,
        Pass,
        Passing,
        SinceFix,
        StillFailing,
        Undone,
        Verdict,
    )
    from pytest_dvwiki.records.aggregate import CauseHistory
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.page_files import PageListing
    from pytest_dvwiki.wiki.page_summary import PageSummary

_BUGS = frozenset({"RTL_BUG", "TB_BUG"})


class WikiHistory(AbstractContextManager["WikiHistory"]):
    """The `causes.history.History` of one wiki; empty if there is no wiki.

    This class is long because triage needs the whole protocol, and pages, records and answers share the same caches.

    Records archived after the first query may be missed until `refresh` is called. Only the caches are written, and
    only if the wiki exists.

    Args:
        layout: Where the wiki is.
        reads: Whether the first query reads records and pages. If False, the caches are used as they are until
            `refresh` is called.
    """

    def __init__(self, layout: Layout, *, reads: bool = True) -> None:
        self._layout = layout
        self._reads = reads
        self._formers: dict[str, str] = {}
        self._placed: dict[str, str] = {}
        """Maps fingerprints of the current, unrecorded run to causes; only for checks that report several causes."""
        self._is_without_wiki = False
        """True if there was no wiki when the records were opened; the tables are then in memory."""
        self._new: frozenset[str] = frozenset()
        """Causes that appear for the first time in the current run, which is not on record yet."""
        self._causes: dict[str, Cause | None] = {}
        """Cache of `cause`, because thousands of failures can share a cause; cleared at any change."""
        self._histories: dict[tuple[str, ...], CauseHistory | None] = {}
        """Cached histories, by all fingerprints of a cause; cleared when records or pages change."""
        self._onsets: dict[tuple[str, ...], Onset | None] = {}
        """Cache of `onset`; cleared when records or pages change."""
        self._pages: dict[tuple[str, ...], list[PageSummary]] = {}
        """Cache of `bug_pages`, by a cause's current names; cleared when records or pages change."""
        self._subtypes: dict[str, subtype_history.SubtypeHistory | None] = {}
        """Cache of `subtype`; cleared when records or pages change."""
        self._decided: dict[str, dict[str, OriginType]] = {}
        """For each pattern, maps bug pages to the origins that people set; cleared when records or pages change."""
        self._versions: tuple[int, ...] = ()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the caches that were opened."""
        for name in ("archive", "page_cache"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()

    @cached_property
    def archive(self) -> Archive:
        """Return the records, which are opened at the first use."""
        wiki = self._layout.wiki
        self._is_without_wiki = not wiki.is_dir()
        archive = Archive(self._layout.tasks, None if self._is_without_wiki else wiki / ".cache" / "records.sqlite")
        if self._reads:
            archive.refresh()
        return archive

    @cached_property
    def page_cache(self) -> PageCache:
        """Return the cache of pages, which is opened at the first use."""
        wiki = self._layout.wiki
        page_cache = PageCache(wiki, wiki / ".cache" / "pages.sqlite" if wiki.is_dir() else None)
        if self._reads:
            page_cache.refresh()
        page_cache.causes.join(self.archive)
        return page_cache

    @property
    def is_on_disk(self) -> bool:
        """Return whether the caches are files, which other connections can read."""
        return all(
            cache.execute("PRAGMA database_list").fetchone()[2] for cache in (self.archive.db, self.page_cache.db)
        )

    def catch_up(self) -> None:
        """Pick up what other connections have written to the caches since the last query."""
        caches = (self.archive.db, self.page_cache.db)
        versions = tuple(cache.execute("PRAGMA data_version").fetchone()[0] for cache in caches)
        if versions != self._versions:
            self._versions = versions
            self.archive.forget()
            self.page_cache.causes.forget_paths()
            self.page_cache.causes.join(self.archive)
            self._forget()
        self.__dict__.pop("unaccepted", None)

    def refresh(self, listing: PageListing | None = None, before: PageListing | None = None) -> None:
        """Read what has been archived since the first query or the last refresh.

        Args:
            listing: A current listing of all pages. If None, pages edited in place may be missed.
            before: The listing of the last refresh, if nobody has changed the cache of pages since.
        """
        if self._is_without_wiki and self._layout.wiki.is_dir():
            # The process that made the wiki has also written its caches: the next query opens them.
            self.close()
        if listing is not None or "archive" in self.__dict__:
            self.archive.refresh()
        if listing is not None or "page_cache" in self.__dict__:
            self.page_cache.refresh(quick=listing is None, listing=listing, before=before)
            self.page_cache.causes.join(self.archive)
        self._forget()

    def _forget(self) -> None:
        self.__dict__.pop("_merged", None)
        self.__dict__.pop("unaccepted", None)
        self._new = frozenset()
        self._forget_answers()

    def _forget_answers(self) -> None:
        self._causes.clear()
        self._histories.clear()
        self._onsets.clear()
        self._pages.clear()
        self._subtypes.clear()
        self._decided.clear()

    def register_formers(self, formers: Mapping[str, str | None]) -> None:
        """Register the version 1 fingerprints of the causes of a run that is not on record yet.

        Args:
            formers: Maps each current fingerprint to its version 1 fingerprint; None if it has none.
        """
        heirs: dict[str, set[str]] = {}
        for name, former in formers.items():
            if former is not None and self.archive.has(former) and not self.archive.with_former(former):
                heirs.setdefault(former, set()).add(name)
        known = {min(names): former for former, names in heirs.items() if len(names) == 1}
        if known != self._formers or self._new:
            self._forget_answers()
        self._formers, self._placed, self._new = known, {}, frozenset()

    def standing_fixes(self, fingerprint: str) -> Sequence[StandingFix]:
        """Return the newest fix of each cause of a check, unless the cause has come back since.

        The most recently seen cause comes first.
        """
        found = []
        for each in self.archive.standing(self._known(fingerprint)):
            since = self.archive.sources_since(each)
            found.append(
                StandingFix(
                    cause=each.name,
                    fix=each.state.fix,
                    since=since[0] if since else None,
                    sources=since[1] if since else None,
                    tests=tuple((test.nodeid, test.simulator, test.config) for test in each.tests),
                )
            )
        return found

    def cause_of(
        self,
        occurrence: Occurrence,
        task_id: str,
        changes: Sequence[SinceFix] = (),
        *,
        undone: Sequence[Undone] = (),
        without_fix: bool = False,
        taken: Collection[str] = (),
    ) -> str:
        """Return and remember the cause of a failure in the current run, which is not on record yet.

        Args:
            occurrence: The failure.
            task_id: The run.
            changes: For each earlier fix related to this check, what has changed and what has passed since.
            undone: Causes of the check that cannot explain the failure in the current run.
            without_fix: True if the run's commit lacks one of the earlier fixes.
            taken: Causes of the check's other failures in the current run.
        """
        fingerprint = self._known(check_of(occurrence.fingerprint))
        targets = ((of_failure(occurrence, test), seed_of(test)) for test in occurrence.tests)
        seen = same_check.CheckFailure(
            moment=EVER,
            task_id=task_id,
            failing=frozenset(same_check.FailingTest(*each) for each in targets),
            changes=tuple(same_check.change(self.archive.db, self.archive.moment(row.since), row) for row in changes),
            without_fix=without_fix,
            undone=frozenset(self.archive.called_in(row.task_id, fingerprint) for row in undone),
            part=part_of(occurrence.fingerprint),
            taken=frozenset(map(self._known, taken)),
        )
        name = self.archive.cause_of(fingerprint, seen)
        if SLASH not in f"{name}{occurrence.fingerprint}" and not self.archive.family(fingerprint):
            return occurrence.fingerprint
        self._placed[occurrence.fingerprint] = name
        if self.archive.present((name,)) != (name,):
            self._new |= {name}
            self._forget_answers()
        return name

    def _known(self, fingerprint: str) -> str:
        return self._formers.get(fingerprint, fingerprint)

    def tools(self, task_id: str) -> Mapping[str, str]:
        """Map the tools of a run to their versions; tools with an unknown version are omitted."""
        return self.archive.tools(task_id)

    def has_noise(self) -> bool:
        """Return whether any error message of a passing test is on record."""
        return self.archive.has_noise()

    def noisy_tests(self, text: str) -> set[str]:
        """Return the tests that passed although they printed this error message; an empty name stands for all tests."""
        return self.archive.noisy_tests(text)

    def open_causes(self, fingerprint: str) -> tuple[str, ...]:
        """Return the causes of a check that are not fixed, the most recently seen first."""
        return self.archive.open_causes(self._known(fingerprint))

    def last_causes(self, fingerprint: str, nodeids: Collection[str]) -> Mapping[str, str]:
        """Map each test to the cause of its last failure at a check; tests that never failed there are left out."""
        return self.archive.last_causes(self._known(fingerprint), nodeids)

    def hidden_since(self, fingerprint: str, nodeids: Collection[str]) -> str | None:
        """Return the last commit at which tests failed with a cause, if all of them failed with other causes since."""
        return self.archive.hidden_since(self._known(fingerprint), nodeids)

    def reference(self, cause: str) -> str:
        """Return a name for a cause that stays valid in records even if its check reports other causes later."""
        return self.archive.reference(cause)

    def names(self, fingerprint: str, former: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return all fingerprints of a cause, the current fingerprint first, and the names of all its pages.

        Args:
            fingerprint: The current fingerprint.
            former: The version 1 fingerprint, which other causes may share; None if the cause has none.
        """
        # If the check has several causes, take the one that this run found.
        cause = self._placed.get(fingerprint, fingerprint)
        prints = (*self.archive.identities(self._known(cause)), check_of(fingerprint), *((former,) if former else ()))
        listed = (*self.bug_pages(cause), *(self.bug_pages(former) if former else ()))
        return tuple(dict.fromkeys(prints)), tuple(dict.fromkeys(page.name for page in listed))

    def pages_of(self, fingerprints: Iterable[str]) -> dict[str, tuple[tuple[str, ...], str | None]]:
        """Return, for each fingerprint, all names of its cause, the current one first, and the path of its page."""
        causes = {each: self._placed.get(each, each) for each in fingerprints}
        names = {cause: self.archive.identities(self._known(cause)) for cause in causes.values()}
        paths = self.page_cache.causes.paths({cause: names[cause] for cause in names if cause not in self._new})
        return {each: (tuple(dict.fromkeys((*names[cause], each))), paths.get(cause)) for each, cause in causes.items()}

    def cause(self, fingerprint: str) -> Cause | None:
        """Return the cause that has, or once had, a fingerprint; None if no record has it."""
        if fingerprint not in self._causes:
            self._causes[fingerprint] = self._cause(fingerprint)
        return self._causes[fingerprint]

    def _cause(self, fingerprint: str) -> Cause | None:
        if fingerprint in self._new:
            return None
        fingerprint = self._known(fingerprint)
        listed = self.bug_pages(fingerprint)
        page = listed[0] if listed else None
        prints = page.fingerprints(fingerprint) if page else (fingerprint,)
        if prints not in self._histories:
            self._histories[prints] = aggregate.cause(self.archive, prints)
        found = self._histories[prints]
        if found is None:
            return None
        return Cause.on_record(fingerprint, found, bug.facts(page) if page else None)

    def subtype(self, failure_subtype: str) -> subtype_history.SubtypeHistory | None:
        """Return the history of a failure subtype; None if no record has it."""
        if failure_subtype not in self._subtypes:
            self._subtypes[failure_subtype] = subtype_history.history_of(self.archive, failure_subtype, self._merged)
        return self._subtypes[failure_subtype]

    @cached_property
    def _merged(self) -> list[tuple[str, ...]]:
        """Return the fingerprints of each bug page that has several."""
        return [page.fingerprints() for page in self.page_cache.causes.with_aliases()]

    def pattern_page(self, failure_subtype: str) -> PageSummary | None:
        """Return the page of a subtype; None if there is none."""
        return self.page_cache.get(f"patterns/{file_name(failure_subtype)}.md")

    def undone_fix(self, occurrence: Occurrence) -> FixState | None:
        """Return the newest of a cause's fixes that, as a new occurrence shows, did not last; None if there is none."""
        fingerprint = self._known(occurrence.fingerprint)
        return self.archive.undone(
            self._prints(fingerprint), [of_failure(occurrence, test) for test in occurrence.tests]
        )

    def regressed(self, occurrence: Occurrence, *, fix_in_place: bool = False) -> bool:
        """Return whether an occurrence is the first since the cause's page was closed, or since a fix that held.

        If the fix is still in the sources, the check may report a different fault: then only a closed page counts.
        """
        known = self.cause(occurrence.fingerprint)
        undone = self.undone_fix(occurrence) if known is not None and known.newest_fix is not None else None
        if undone is not None and undone.fix.result == "held" and not fix_in_place:
            return undone.returned is None
        if known is None or known.history is None or known.page is None or known.page.status != "closed":
            return False
        return known.history.regressed is None

    def still_failing(self, passing: Sequence[Passing]) -> tuple[StillFailing, ...]:
        """Return the passing tests that failed before and are not proven fixed, except for `wont_fix` causes.

        Causes with closed pages are included, so that their pages can show which commits made the tests pass.
        """
        found = failing.still_failing(self.archive, passing)
        wanted = {each.fingerprint: self._is_wanted(each.fingerprint) for each in found}
        return tuple(each for each in found if wanted[each.fingerprint])

    def decisions(self, pattern: str, fingerprint: str) -> dict[OriginType, int]:
        """Return, for each origin, how many other causes of a pattern people assigned to it.

        People assign an origin by the `status` of a cause's page, or by changing the `type` that dvwiki gave it.

        Args:
            pattern: Id of the pattern.
            fingerprint: The cause to leave out.
        """
        if pattern not in self._decided:
            self._decided[pattern] = self._decided_pages(pattern)
        decided = self._decided[pattern]
        own = {page.path for page in self.bug_pages(fingerprint)} if decided else set()
        return dict(Counter(kind for path, kind in decided.items() if path not in own))

    def _decided_pages(self, pattern: str) -> dict[str, OriginType]:
        causes = (each for each in aggregate.causes_of_pattern(self.archive, pattern) if each not in self._new)
        paths = self.page_cache.causes.paths({each: self.archive.identities(self._known(each)) for each in causes})
        listed = (self.page_cache.get(path) for path in dict.fromkeys(paths.values()) if path is not None)
        return {
            page.path: cast("OriginType", page.text("type"))
            for page in listed
            if page is not None and page.text("type") in _BUGS and bug.is_decided(page)
        }

    def last_passes(
        self,
        cause: Occurrence | Verdict,
        test: FailedTest | Failure,
        before: str = EVER,
        *,
        edited: bool = False,
        any_design: bool = False,
    ) -> Sequence[Pass]:
        """Return the latest passes of a failing test, newest first.

        Only passes on the test's simulator are returned, unless the test failed before a simulator was chosen. If a
        build failed, runs in which the same build succeeded are included.

        Args:
            cause: The cause of the failure.
            test: The failing test.
            before: Sort key of a run; later passes are ignored.
            edited: Whether to include runs with uncommitted changes, if the files are on record.
            any_design: Whether passes of any design of a folder count if it is unknown which of them failed.
        """
        target = Target(
            test.nodeid, ANY if precedes_simulator(cause, test) else test.simulator or "", test.config or ""
        )
        found = self.archive.passes.before(target, before, edited=edited, any_design=any_design)
        if cause.error_class in DETERMINISTIC_CLASSES and test.simulator and test.config:
            found += self.archive.passes.built_before(target, before)
        return sorted(found, key=lambda each: each.moment, reverse=True)

    def onset(self, fingerprint: str) -> Onset | None:
        """Return where a cause first appeared since its last fix; None if no record has it."""
        fingerprint = self._known(fingerprint)
        if fingerprint in self._new:
            return None
        prints = self._prints(fingerprint)
        if prints not in self._onsets:
            self._onsets[prints] = aggregate.onset(self.archive, prints)
        return self._onsets[prints]

    def matrix(self, fingerprint: str, commit: str) -> tuple[matrix.Split, ...]:
        """Return the axes, such as simulator, that separate a cause's failures from its tests' passes at a commit."""
        return matrix.splits(self.archive, self.archive.present(self._prints(self._known(fingerprint))), commit)

    def _prints(self, fingerprint: str) -> tuple[str, ...]:
        """Return the fingerprints on the page of a cause; only the given fingerprint if there is no page."""
        listed = self.bug_pages(fingerprint)
        return listed[0].fingerprints(fingerprint) if listed else (fingerprint,)

    def bug_pages(self, fingerprint: str) -> list[PageSummary]:
        """Return a cause's bug pages, including pages under its former names; the page to keep comes first."""
        if fingerprint in self._new:
            return []
        present = self.archive.present((self._known(fingerprint),))
        if present not in self._pages:
            self._pages[present] = self.page_cache.causes.pages_of(*self.archive.identities(*present))
        return self._pages[present]

    def _is_wanted(self, fingerprint: str) -> bool:
        listed = self.bug_pages(fingerprint)
        return not listed or listed[0].text("status") != "wont_fix"

    @cached_property
    def unaccepted(self) -> dict[str, str]:
        """Return the addresses of content that an agent wrote and no person accepted, each with the agent's role."""
        return unaccepted(self._layout.wiki)

    def fix_template(self, failure_subtype: str) -> str:
        """Return the fix advice on the page of a subtype; empty if people have not written or accepted any."""
        page = self.pattern_page(failure_subtype)
        if page is None or page.problem:
            return ""
        if is_unaccepted(page.path.removesuffix(".md"), self.unaccepted, pattern.FIX_SECTION):
            return ""
        try:
            text = pages.section(outside.read(self._layout.wiki, page.path), pattern.FIX_SECTION)
        except (OSError, YamlError):
            return ""
        return "" if text == pattern.UNWRITTEN else plain(text)

    def flaky(self, names: Collection[str]) -> Mapping[str, tuple[int, int]]:
        """Return two counts for each test: in how many of the newest runs it was flaky, and in how many it ran."""
        from pytest_dvwiki.records.flaky import RUNS, flaky_tests  # noqa: PLC0415  # few runs have flaky tests

        return {test.nodeid: (test.flaky, test.runs) for test in flaky_tests(self.archive, names, RUNS - 1)}

    def coverage(self) -> dict[tuple[str, str], KnownBin]:
        """Return what is on record about every present or former coverage hole, by covergroup and bin."""
        return bins.known(self.archive)
