"""Bug pages that may share a cause although their fingerprints differ, as when a file is renamed or a message reworded.

Two causes are alike if the records show all of the following; that is a hint, not a proof:

* same label: the same subtype, and the same pattern if a pattern matched both;
* same wording: apart from values, file names and severities, the two messages share at least four in five of their
  words, and at least three words;
* same test: some test failed with both causes, or the given cause has no test;
* never in one run: two checks of one testbench sooner or later fail in the same run, but a message and its reworded
  form cannot.

A person decides whether to merge the pages; `distinct_from` on either page states that the causes are different.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.records import tables
from pytest_dvwiki.wiki.kinds.bug import is_pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.model import Occurrence
    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.page_summary import PageSummary

SHARE = 0.8
FEWEST = 3
DISTINCT = "distinct_from"
_TESTS = 20
"""Maximum number of a cause's tests to look up. They failed together, so a few are enough to find other causes."""
_MOST = 50
"""Maximum number of other causes that a cause is compared with."""
_WORD = re.compile(r"[A-Za-z_][\w$-]*(?:\.[\w$-]+)*")
_SAYS_NOTHING = re.compile(
    r"[VT]|XZ|UUID|DATE"  # masked values
    r"|.*\d.*|.*\.\w{1,4}"  # names of instances, and of files
    r"|(?i:uvm_\w+|\w*(?:error|exception|failure)|fatal|warning|critical|info|assert)"
)


def words(primary: str) -> frozenset[str]:
    """Return the words that distinguish a failure's message from other messages."""
    return frozenset(word.lower() for word in _WORD.findall(mask(primary)) if not _SAYS_NOTHING.fullmatch(word))


def alike(archive: Archive, page_cache: PageCache, fingerprints: Sequence[str]) -> list[PageSummary]:
    """Return the pages of other causes that may be the same as the given cause, oldest first."""
    newest = archive.newest_occurrence(fingerprints)
    own_words = words(newest.primary) if newest else frozenset[str]()
    if newest is None or len(own_words) < FEWEST:
        return []
    # Causes of one check are known to be different, so they are not compared.
    family = {name for each in fingerprints for name in archive.family(each)}
    mine = (*archive.identities(*fingerprints), *family)
    found = [name for name in _candidates(archive, newest, mine) if _is_alike(archive, newest, own_words, name)]
    own = page_cache.causes.pages_of(*archive.identities(*fingerprints)) if found else []
    pages: dict[str, PageSummary] = {}
    for name in found:
        page = next(iter(page_cache.causes.pages_of(*archive.identities(name))), None)
        if page is None or page.problem or is_pointer(page) or any(_are_distinct(page, each) for each in own):
            continue
        if not _in_one_run(archive, fingerprints, page.fingerprints(name)):
            pages[page.path] = page
    return sorted(pages.values(), key=lambda page: first_seen(archive, page))


def _is_alike(archive: Archive, newest: Occurrence, own_words: frozenset[str], name: str) -> bool:
    """Return whether the newest occurrence of another cause has the same label and similar words."""
    other = archive.newest_occurrence((name,))
    if other is None or other.failure_subtype != newest.failure_subtype:
        return False
    theirs = words(other.primary)
    both = len(own_words & theirs)
    has_same_pattern = len({newest.pattern, other.pattern} - {None}) <= 1
    return has_same_pattern and both >= FEWEST and both >= SHARE * len(own_words | theirs)


def first_seen(archive: Archive, page: PageSummary) -> str:
    """Return when a run first recorded the cause of a page; empty if none did."""
    query = "SELECT MIN(moment) FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
    (moment,) = archive.db.execute(query, (tables.json_list(archive.present(page.fingerprints())),)).fetchone()
    return str(moment or "")


def _candidates(archive: Archive, occurrence: Occurrence, mine: Sequence[str]) -> list[str]:
    """Return up to `_MOST` causes of the same subtype that were seen in one of the same tests, newest first.

    If the occurrence has no test, all causes of its subtype are considered. Causes that ever failed in the same run as
    the causes in `mine` are left out.
    """
    tests = sorted({test.nodeid for test in occurrence.tests})[:_TESTS]
    # The plus disables the index by subtype: with it, SQLite would read all occurrences of the subtype, not only those
    # of a few tests.
    subtype = "+subtype" if tests else "subtype"
    place = (
        "fingerprint IN (SELECT fingerprint FROM failed WHERE nodeid IN (SELECT value FROM json_each(:tests)))"
        if tests
        else "1"
    )
    rows = archive.db.execute(
        f"SELECT fingerprint FROM occurrences o WHERE {subtype} = :subtype AND {place}"  # noqa: S608 (constants)
        " AND fingerprint NOT IN (SELECT value FROM json_each(:mine)) GROUP BY fingerprint"
        " HAVING NOT EXISTS (SELECT 1 FROM occurrences a JOIN occurrences b ON b.run = a.run"
        " WHERE a.fingerprint IN (SELECT value FROM json_each(:mine)) AND b.fingerprint = o.fingerprint)"
        " ORDER BY MAX(moment) DESC, fingerprint LIMIT :most",
        {
            "tests": tables.json_list(tests),
            "subtype": occurrence.failure_subtype,
            "mine": tables.json_list(mine),
            "most": _MOST,
        },
    )
    return [fingerprint for (fingerprint,) in rows]


def _in_one_run(archive: Archive, one: Iterable[str], other: Iterable[str]) -> bool:
    """Return whether both causes occurred in the same run."""
    query = (
        "SELECT 1 FROM occurrences a JOIN occurrences b ON b.run = a.run"
        " WHERE a.fingerprint IN (SELECT value FROM json_each(?))"
        " AND b.fingerprint IN (SELECT value FROM json_each(?)) LIMIT 1"
    )
    asked = (tables.json_list(archive.present(tuple(one))), tables.json_list(archive.present(tuple(other))))
    return archive.db.execute(query, asked).fetchone() is not None


def _are_distinct(one: PageSummary, other: PageSummary) -> bool:
    """Return whether either page says that the two causes are different."""
    return other.name in one.pages(DISTINCT) or one.name in other.pages(DISTINCT)
