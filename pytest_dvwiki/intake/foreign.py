"""Import a wiki in the specification's layout: its counters become records, and its text goes to the pages.

The pages of this layout describe bugs, patterns, coverage bins and clarifications, with counters in their frontmatter.
The import makes a record of each counted run, with the run's date if a page gives it. Runs without a date get the
page's `last_seen` or `last_updated`; the first of them may get the page's `first_seen`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from pytest_dvwiki.intake import findings
from pytest_dvwiki.intake.occurrence import occurrence_of, task_id_of
from pytest_dvwiki.intake.session import lines_of
from pytest_dvwiki.model import BinRow, FixRow, Origin, RunRecord
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.reading import UserError
from pytest_dvwiki.redact import redact
from pytest_dvwiki.runs import today
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.kinds.coverage import ACTIONS
from pytest_dvwiki.wiki.page_files import page_files
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.text import pages, parts
from pytest_dvwiki.wiki.text.markdown import one_line, plain
from pytest_dvwiki.wiki.text.names import file_name
from pytest_dvwiki.wiki.writing.build import build, change_page, write_record_alone
from pytest_dvwiki.yamlio import YamlError, dump

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import Occurrence
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.config import WikiConfig

FOLDERS = ("bugs", "patterns", "coverage", "specs")
"""Folders that are imported, in this order. Bugs come first, because the counters of patterns include runs of bugs."""
MOST_RUNS = 1000
"""Maximum number of runs that are imported from one page."""
_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_DAYS = ("last_updated", "last_seen")
_ROW = re.compile(r"\|\s*(\d{4}-\d\d-\d\d)\s*\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|?\s*")
_CITED_LOG = re.compile(r"\| *(?:sim )?log: *([^\s)|]+)")
_PASS = re.compile(r"pass|held|success|fixed|ok\b", re.IGNORECASE)
_OF_RECORDS = frozenset({"Evidence", "Classification Rationale", "Related Patterns", "Citation", "Resolution History"})
"""Sections that dvwiki makes from records."""


class ForeignPage(Struct):
    """A page of the wiki to import, with the records that are made from it."""

    path: str
    """Path of the page in the other wiki."""
    data: bytes
    metadata: dict[str, Any]
    records: list[RunRecord] = field(default_factory=list)
    page: str = ""
    """Path of the page in this wiki, if it is known before the records are written."""
    cause: str = ""
    """The fingerprint of the bug; empty for other pages."""
    notes: list[str] = field(default_factory=list)
    """What could not be imported unchanged."""

    @property
    def name(self) -> str:
        """Return the name of the page's file without its suffix."""
        return self.path.rpartition("/")[2].removesuffix(".md")

    def text(self, key: str) -> str:
        """Return the value of a frontmatter key as one line; empty if the page lacks the key."""
        value = self.metadata.get(key)
        return "" if value is None else one_line(redact(str(value)))

    def day(self, *keys: str) -> str:
        """Return the first date in these frontmatter keys; today's date if there is none."""
        return next((day for key in keys if _DAY.fullmatch(day := self.text(key)[:10])), today().isoformat())

    def section(self, heading: str) -> str:
        """Return the text under a heading, without secrets."""
        return redact(pages.section(self.data, heading))

    @property
    def summary(self) -> str:
        """Return one line that says how the page is imported."""
        made = count(len(self.records), "run") if self.records else "its text"
        fixes = sum(len(record.fixes) for record in self.records)
        return "; ".join([made + (f", {fixes} with a reported fix" if fixes else ""), *self.notes])


class NoWikiError(UserError, ValueError):
    """Raised if a folder contains no wiki that can be imported; the message gives the reason."""


def read_wiki(folder: Path, config: WikiConfig) -> tuple[list[ForeignPage], list[str]]:
    """Read a wiki in the specification's layout, without writing anything.

    Returns:
        The pages, and a line for each file that was left out because it cannot be read or has no frontmatter.

    Raises:
        NoWikiError: The folder contains no wiki in this layout, or a wiki that dvwiki made.
    """
    wiki = next(
        (
            each
            for each in (folder / ".agent" / "wiki", folder)
            if any((each / category).is_dir() for category in FOLDERS)
        ),
        None,
    )
    if wiki is None:
        raise NoWikiError(
            f"{folder} holds no wiki to import: it has none of the folders {', '.join(FOLDERS)}; give another folder"
        )
    if wiki.resolve() == config.layout.wiki.resolve():
        raise NoWikiError(f"{wiki} is the wiki of this project; move it to another folder, and import it from there")
    found: list[ForeignPage] = []
    problems: list[str] = []
    for category in FOLDERS:
        for path, _ in page_files(wiki, category):
            try:
                data = outside.read(wiki, path)
                page = ForeignPage(path, data, pages.read(data).metadata)
            except (OSError, YamlError) as error:
                problems.append(f"{path}: {error}")
                continue
            if b"<!-- dvwiki:begin " in data:
                raise NoWikiError(f"{wiki} is a wiki that dvwiki made; archive its records with `dvwiki ingest`")
            if not page.metadata:
                problems.append(f"{path} has no frontmatter and was left out; add the keys that its kind of page needs")
                continue
            _READERS[category](page, config, found)
            found.append(page)
    if problems and not found:
        raise NoWikiError(f"{wiki} has no page that can be imported: {problems[0]}")
    return found, problems


def take_over(foreign_pages: Sequence[ForeignPage], layout: Layout) -> tuple[int, list[str]]:
    """Write the records and the text of another wiki; existing records and existing pages' text are kept.

    Returns:
        The number of new records, and a line for each page whose text could not be written.

    Raises:
        WikiError: The wiki could not be written.
    """
    with WikiHistory(layout) as history:
        known = {
            record.task_id
            for page in foreign_pages
            for record in page.records
            if history.archive.record(record.task_id)
        }
        here = {page.path for category in FOLDERS for page in history.page_cache.all(category)}
    new = [record for page in foreign_pages for record in page.records if record.task_id not in known]
    for record in new:
        write_record_alone(layout, record)
    build(layout)
    problems = []
    for page in foreign_pages:
        path = page.page or _page_of(layout, page.cause)
        if path and path not in here:
            problem = change_page(layout, path, _text_of(page), log_text=f"{path}: text of {page.path} imported")
            problems += [f"{path}: {problem}"] * bool(problem)
    return len(new), problems


def _page_of(layout: Layout, cause: str) -> str:
    with WikiHistory(layout) as history:
        return next((page.path for page in history.bug_pages(cause)), "") if cause else ""


def _record(page: ForeignPage, name: str, day: str, number: int = 0, **parts: Any) -> RunRecord:
    """Return the record of one run; its name is the same each time the page is imported."""
    minute, second = divmod(number, 60)
    moment = f"{day}T{minute // 60:02}:{minute % 60:02}:{second:02}Z"
    task_id = task_id_of(name, "import", f"{page.path}\n{name}\n{number}")
    return RunRecord.stated(task_id, moment, caller_task=redact(name), **parts)


def _pattern(page: ForeignPage, config: WikiConfig, before: Sequence[ForeignPage]) -> None:
    name = page.text("failure_subtype") or page.text("pattern_id") or page.name
    page.page = f"patterns/{file_name(name)}.md"
    values = {"error_class": page.text("error_class"), "failure_subtype": name}
    signature = [line for line in page.section("Detection Signature").splitlines() if not line.startswith("```")]
    seen = occurrence_of(values, signature[:1], Origin(type="UNKNOWN", confidence=0.0), config)
    rows = [
        found.groups() for line in page.data.decode("utf-8", "replace").splitlines() if (found := _ROW.fullmatch(line))
    ]
    of_bugs = {
        record.caller_task
        for each in before
        for record in each.records
        if any(cause.failure_subtype == seen.failure_subtype for cause in record.occurrences)
    }
    for number, (day, task, fix, result) in enumerate(rows[:MOST_RUNS]):
        text = one_line(redact(plain(fix)))
        held = "held" if _PASS.search(result) else "failed"
        row = FixRow(failure_subtype=seen.failure_subtype, text=text, by="agent", commits=(), result=held)
        fixes = (row,) if text and text.lower() not in {"-", "none"} else ()
        task = task.strip(" `") or name  # noqa: PLW2901
        causes = () if task in of_bugs else (seen,)
        if causes or fixes:
            page.records.append(_record(page, task, day, number, occurrences=causes, fixes=fixes))
    named = len(of_bugs.union(record.caller_task for record in page.records))
    _add_undated(page, name, seen, named)


def _add_undated(page: ForeignPage, name: str, seen: Occurrence, named: int) -> None:
    """Add a record for each run that the page counts but no page mentions.

    The first of these runs gets the page's `first_seen` as its date, unless another record is that old; all others get
    `last_seen`.
    """
    hits = page.metadata.get("hit_count")
    wanted = hits if isinstance(hits, int) and hits > 0 else named or 1
    if wanted > MOST_RUNS:
        page.notes.append(f"hit_count is {wanted}, but only {MOST_RUNS} runs are imported")
        wanted = MOST_RUNS
    first, last = page.day("first_seen", "last_seen"), page.day("last_seen", "first_seen")
    undated = 0
    for number in range(named, wanted):
        begins = number == named and all(record.finished[:10] > first for record in page.records)
        day = first if begins else last
        undated += not begins
        page.records.append(_record(page, name if begins else f"{name}_undated", day, number, occurrences=(seen,)))
    if undated:
        page.notes.append(f"{count(undated, 'run')} without a date, so {last} is used")
    if wanted < named:
        page.notes.append(f"hit_count is {wanted}, but the pages mention {named} runs")


def _bug(page: ForeignPage, config: WikiConfig, _: Sequence[ForeignPage]) -> None:
    kind = page.text("type")
    keys = ("error_class", "failure_subtype", "ip_type", "spec_section", "owner", "fingerprint", "confidence")
    values = {key: page.text(key) for key in keys} | {"bug_type": kind}
    title = plain(pages.title_of(pages.read(page.data).body))
    values["title"] = re.sub(r"^(?:RTL|TB|Testbench) Bug: *", "", title, flags=re.IGNORECASE)
    values |= {"symptom": page.section("Symptom"), "context": page.section("Evidence")}
    values["rationale"] = page.section("Classification Rationale")
    log = _CITED_LOG.search(page.section("Citation"))
    values["log"] = log[1] if log else ""
    values = {name: redact(value) for name, value in values.items() if value}
    seen = occurrence_of(values, lines_of(values), findings.origin(values), config)
    page.cause = seen.fingerprint
    if seen.origin.type == "UNKNOWN" and kind:
        page.notes.append(f"unknown type {kind}, so the origin is UNKNOWN")
    listed = page.metadata.get("task_ids")
    tasks = [str(task) for task in (listed if isinstance(listed, list) else ())][:MOST_RUNS]
    tasks = tasks or [page.name]
    first, last = page.day("first_seen", "last_updated"), page.day("last_updated", "first_seen")
    for number, task in enumerate(tasks):
        day = first if number == 0 else last
        page.records.append(_record(page, task, day, number, occurrences=(seen,)))
    if len(tasks) > 2:  # noqa: PLR2004  # the first and the last have a day
        page.notes.append(f"{count(len(tasks) - 2, 'run')} without a date, so {last} is used")


def _hole(page: ForeignPage, *_: object) -> None:
    action, priority = page.text("action_class"), page.metadata.get("priority")
    if action not in ACTIONS:
        page.notes.append(f"{f'unknown action class {action}' if action else 'no action class'}: needs_investigation")
        action = "needs_investigation"
    scenario = next(filter(None, map(page.section, ("Scenario", "Description", "Analysis"))), "")
    row = BinRow(
        covergroup=page.text("covergroup"),
        bin=page.text("bin"),
        action_class=action,
        feature=page.text("feature") or None,
        priority=priority if isinstance(priority, int) else None,
        scenario=one_line(plain(scenario)) or None,
        filled=page.metadata.get("filled") is True,
    )
    if not (row.covergroup and row.bin):
        page.notes.append("not imported: it lacks a covergroup or a bin")
        return
    if not any(_DAY.fullmatch(page.text(key)[:10]) for key in _DAYS):
        page.notes.append("no date, so today is used")
    task = page.text("filled_by_task") or f"{row.covergroup}_{row.bin}"
    page.records.append(_record(page, task, page.day(*_DAYS), coverage=(row,)))


def _clarification(page: ForeignPage, *_: object) -> None:
    page.page = page.path


_READERS: dict[str, Callable[[ForeignPage, WikiConfig, Sequence[ForeignPage]], None]] = {
    "patterns": _pattern,
    "bugs": _bug,
    "coverage": _hole,
    "specs": _clarification,
}


def _text_of(page: ForeignPage) -> Callable[[bytes | None], bytes | None]:
    """Return a function that puts a page's text on the page made from its records, or on a new page."""

    def changed(data: bytes | None) -> bytes | None:
        if page.path.startswith("specs/"):
            return None if data is not None else _spec_page(page)
        if data is None:
            return None
        text = data.decode()
        for heading, words in _sections(page):
            found = parts.part(text, heading)
            if found and words:
                text = f"{text[: found[0]]}\n{words}\n\n{text[found[1] :]}"
        if page.path.startswith("bugs/"):
            text = _with_notes(text, page)
            status = page.text("status")
            if status in bug.STATUSES:
                edited = bug.with_keys(text.encode(), {"status": status})
                return edited if isinstance(edited, bytes) else text.encode()
        return text.encode()

    return changed


def _sections(page: ForeignPage) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each section that people wrote."""
    body = pages.read(page.data).body
    for line in body.splitlines():
        heading = parts.heading_of(line)
        if heading is not None and heading.level > 1 and heading.words not in _OF_RECORDS:
            yield heading.words, page.section(heading.words)


def _with_notes(text: str, page: ForeignPage) -> str:
    """Return a bug page with its former name, and all sections that bug pages here do not have, added to its notes."""
    rest = [f"{heading}: {words}" for heading, words in _sections(page) if words and parts.part(text, heading) is None]
    found = parts.part(text, "Notes")
    if found is None:
        return text
    notes = "\n\n".join([f"Imported from {page.name}.", *rest])
    return f"{text[: found[0]]}\n{notes}\n\n{text[found[1] :].lstrip()}"


def _spec_page(page: ForeignPage) -> bytes:
    """Return a clarification as a page that people own, with all required keys."""
    needed = {"type": "spec", "feature": page.name.removesuffix("_clarification"), "clarification_type": "unknown"}
    keys = {key: value for key, value in page.metadata.items() if value is not None}
    body = redact(pages.read(page.data).body).strip()
    title = "" if pages.title_of(body) else f"# Specification: {needed['feature']}\n\n"
    return f"---\n{dump(needed | {'status': 'open'} | keys | {'type': 'spec'})}---\n\n{title}{body}\n".encode()
