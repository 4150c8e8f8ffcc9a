"""Archives one run: changes its pages, and adds a line to the log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_dvwiki.causes.passed import Lasting
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records import absence, subtype_history
from pytest_dvwiki.records.overview import not_always_waived
from pytest_dvwiki.wiki.kinds import spec
from pytest_dvwiki.wiki.likeness import alike
from pytest_dvwiki.wiki.text.names import file_name
from pytest_dvwiki.wiki.writing.views import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.wiki.kinds.spec import Clarification
    from pytest_dvwiki.wiki.writing.writer import WikiWriter

_NAMED_IN_LOG = 12


class ArchivedRun:
    """A run whose record is in the archive.

    Args:
        writer: The wiki.
        record: The run.
        judged: Causes whose fixes are judged differently because of this run.
    """

    def __init__(self, writer: WikiWriter, record: RunRecord, judged: set[str]) -> None:
        self.record = record
        self.judged = judged
        self._names = {
            each.fingerprint: writer.archive.called_in(record.task_id, each.fingerprint) for each in record.occurrences
        }
        """Maps each of the run's fingerprints to the current name of its cause."""
        self.archive, self.page_cache, self.files, self.views = (
            writer.archive,
            writer.page_cache,
            writer.files,
            writer.views,
        )
        self.like: dict[str, tuple[str, str]] = {}
        """Maps each cause with a new page to the names of an older, similar page and of the new page."""

    def update(self, *, may_create: bool) -> str:
        """Write the pages that the run changes; return a one-line summary for the log.

        Args:
            may_create: Whether missing pages of the run's causes, subtypes and coverage bins are created.
        """
        record = self.record
        mine = set(self._names.values())
        others = self.judged | self.archive.causes_named_in(record.task_id)
        others |= self.archive.causes_at(record.vcs.commit) if record.vcs.commit else set()
        paths = self.views.bug_paths(mine)
        known = [item for item in record.occurrences if paths[self._names[item.fingerprint]]]
        before = {name: self._hits(name) for name in dict.fromkeys(item.failure_subtype for item in record.occurrences)}
        self.views.separate(self.archive.formers(*self.archive.present(sorted(mine))))
        silent = silenced(record)
        due = {name for fingerprint, name in self._names.items() if may_create and fingerprint not in silent}
        for name in dict.fromkeys(self._names.values()):  # several occurrences may belong to one cause
            self.views.bug(name, may_create=name in due)
        self._compare()
        gone = self.page_cache.causes.still_open(absence.candidates(self.archive, record))
        further = not_always_waived(self.archive, self.archive.further() & {*others, *gone} - mine)
        for fingerprint in sorted({*others, *gone} - mine):
            # A cause of earlier runs has no page yet if this run is the first to show that it is a separate cause.
            self.views.bug(fingerprint, may_create=fingerprint in further)
        self.views.link_to(self.views.made)
        stated = {row.failure_subtype for row in record.fixes if row.failure_subtype}
        # If the name of a cause changed, its fixes move from one pattern page to another.
        theirs = subtype_history.of_causes(self.archive, self.archive.present(sorted(mine | others | self.views.made)))
        for name in sorted((stated | theirs | before.keys()) - {UNKNOWN}):
            self.views.pattern(name, may_create=may_create and name in before)
        for covergroup, bin_name in bins(record):
            self.views.hole(covergroup, bin_name, may_create=may_create)
        return self._log_text(len(known), before)

    def _compare(self) -> None:
        """Look for older pages that are similar to the new pages, and record them in `self.like`."""
        made = {path for path in self.files.created if path.startswith("bugs/")}
        has_older = self.page_cache.count("bugs") > len(made)
        first = {name: fingerprint for fingerprint, name in reversed(self._names.items())}
        for name, fingerprint in first.items() if made and has_older else ():
            page = next(iter(self.views.pages(name)), None)
            if page is None or page.path not in self.files.created:
                continue
            found = alike(self.archive, self.page_cache, (name,))
            older = next((other for other in found if other.path not in self.files.created), None)
            if older is not None:
                self.like[fingerprint] = (older.name, page.name)

    def lasting(self) -> Lasting:
        """Return the causes whose newest fix holds or is proven because of this run."""
        fixes = {cause: self.archive.fix_states((cause,))[-1:] for cause in sorted(self.judged)}
        newest = [(cause, state.fix) for cause, states in fixes.items() for state in states]
        task_id = self.record.task_id
        held = tuple(cause for cause, fix in newest if fix.held_in == task_id)
        proven = tuple(cause for cause, fix in newest if fix.proven_in == task_id and cause not in held)
        return Lasting(held, proven)

    def clarify(self, clarification: Clarification) -> None:
        """Add a clarification to the specification page of its feature."""
        path = clarification.path
        data = self.files.present(path)
        if data is not None:
            self.files.change(path, data, spec.with_further(data, clarification))
        elif self.files.write(path, spec.new(clarification)):
            self.files.created.append(path)

    def _log_text(self, known: int, before: dict[str, int]) -> str:
        counts = list(_counts(self.record, known))
        like = {f"bugs/{new}.md": f", like {old}" for old, new in self.like.values()}
        events = [f"{path} created{like.get(path, '')}" for path in self.files.created]
        for name, hits in sorted(before.items()):
            path = f"patterns/{file_name(name)}.md"
            if name != UNKNOWN and path not in self.files.created:
                events.append(f"{path} hit_count {hits}→{self._hits(name)}")
        if len(events) > _NAMED_IN_LOG:
            events[_NAMED_IN_LOG:] = [f"{len(events) - _NAMED_IN_LOG} more"]
        if not counts and not events:
            return "its text is kept" if self.record.evidence else "0 causes"
        return ": ".join(filter(None, (", ".join(counts), "; ".join(events))))

    def _hits(self, subtype: str) -> int:
        listed = self.page_cache.get(f"patterns/{file_name(subtype)}.md")
        hits = listed.metadata.get("hit_count") if listed else None
        return hits if isinstance(hits, int) else 0

    def page_of(self) -> dict[str, str]:
        """Map the fingerprints of the run's causes to the page to read: the bug page, else the pattern page.

        Causes without either page are left out.
        """
        found = {}
        paths = self.views.bug_paths(self._names.values())
        for item in self.record.occurrences:
            own, kind = paths[self._names[item.fingerprint]], f"patterns/{file_name(item.failure_subtype)}.md"
            if own or self.page_cache.get(kind):
                found[item.fingerprint] = own or kind
        return found


def _counts(record: RunRecord, known: int) -> Iterator[str]:
    """Yield, in words, how many causes, passes, fixes and coverage bins a record has."""
    causes = len(record.occurrences)
    if causes:
        yield count(causes, "cause")
        yield f"{causes - known} new"
    if record.passed_again:
        yield f"{len({row.nodeid for row in record.passed_again})} passing again"
    taken_back = sum(row.takes_back is not None for row in record.fixes)
    stated = len(record.fixes) - taken_back
    if stated:
        yield f"{stated} fix{'' if stated == 1 else 'es'}"
    if taken_back:
        yield f"{taken_back} fix{'' if taken_back == 1 else 'es'} taken back"
    holes = len(bins(record))
    filled = len({(row.covergroup, row.bin) for row in record.coverage if row.filled})
    if holes:
        yield f"{count(holes, 'coverage bin')}{f' ({filled} filled)' if filled else ''}"


def silenced(record: RunRecord) -> set[str]:
    """Return the fingerprints of the causes whose failing tests are all waived."""
    waived = Counter(row.fingerprint for row in record.waived for _ in row.tests)
    tests = {each.fingerprint: {test.nodeid for test in each.tests} for each in record.occurrences}
    return {name for name, names in tests.items() if names and waived[name] >= len(names)}


def bins(record: RunRecord) -> list[tuple[str, str]]:
    """Return the covergroup and bin of each coverage row in a record."""
    return sorted({(row.covergroup, row.bin) for row in record.coverage})
