"""The region of a bug page: the history of its cause, facts first.

The source at the end of a section applies to each claim of the section that has no citation of its own. If all claims
of a page have the same source, only the section Citation gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_dvwiki import nodeids
from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.causes.statements import (
    Accepted,
    Came,
    Compare,
    FixedBy,
    Regressed,
    Reproduce,
    Seen,
    SeenOn,
    Unseeded,
    statements,
)
from pytest_dvwiki.causes.words import Style, sentence, short, text
from pytest_dvwiki.model.sentences import few, is_own
from pytest_dvwiki.records.command import chooses_by, from_anywhere, masked_note, seed_of, start
from pytest_dvwiki.records.sides import is_prose, is_unread
from pytest_dvwiki.records.tables import REPORTED
from pytest_dvwiki.wiki.kinds import bug_fixes
from pytest_dvwiki.wiki.text import former
from pytest_dvwiki.wiki.text.markdown import cite, code, escape, fence, one_line, prose, table
from pytest_dvwiki.wiki.text.names import file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.causes.statements import Statement
    from pytest_dvwiki.model import Command, LogReference, Occurrence
    from pytest_dvwiki.records.aggregate import CauseHistory, OccurrenceRow
    from pytest_dvwiki.wiki.page_summary import PageSummary

_LONGEST_COMMAND = 10_000
"""Maximum length of a command; longer than any real command, so that none is truncated."""
_UNKNOWN = """\
No pattern identifies this failure, so it has no pattern page. `dvwiki patterns why LOG` shows how each line of its log
is matched. `dvwiki patterns propose` writes a pattern (add `--min-runs 1` if the failure was seen in only one run);
save it in `.agent/patterns/`, and check it with `dvwiki patterns test`."""


class _Sources(NamedTuple):
    """Writes the citations of a page."""

    tasks: frozenset[str]

    def cite(self, task: str) -> str:
        """Return the citation of a claim, with a leading space; empty if the whole page has one source."""
        return f" {cite(task)}" if len(self.tasks) > 1 else ""


def regions(
    history: CauseHistory,
    kind: str,
    page_of: Callable[[str], str | None],
    fix_of: Callable[[Occurrence], str | None],
    *,
    others: Sequence[PageSummary] = (),
    kin: Sequence[str] = (),
) -> dict[str, str]:
    """Return the content of the region of a bug page.

    Args:
        history: The history of the cause, from the records.
        kind: The page's effective type.
        page_of: Returns the name of a fingerprint's bug page; None if there is none.
        fix_of: Returns the registry's fix advice for an occurrence.
        others: Other pages of the cause; they point to this page.
        kin: Lines about other causes of the same check, and about pages with the cause's version 1 fingerprint.
    """
    cause = Cause.on_record(history.fingerprint, history)
    links = Style(
        name=code, quote=lambda words: escape(one_line(words)), link=lambda name: bug_fixes.link(name, page_of)
    )
    stated = [(each, text(each, links)) for each in statements(cause)]
    tasks = {each.task_id for each, _ in stated} | {each.task_id for each in history.fixes}
    tasks |= {*history.task_ids, *(each.task_id for each in history.unproven)}
    sources = _Sources(frozenset(tasks - {""}))
    return one_region(
        ("Evidence", _evidence(history, stated, sources)),
        ("Reproduce", _reproduce(history, stated, sources)),
        ("Fixes", bug_fixes.section(history, stated, page_of)),
        ("Occurrences", _occurrences(history)),
        ("Classification Rationale", _rationale(history, kind, sources)),
        ("Related Patterns", "\n".join([_related(history.newest, fix_of), *map(_taken_in, others), *kin])),
        ("Citation", _citation(history, sources)),
    )


def one_region(*sections: tuple[str, str]) -> dict[str, str]:
    """Return the region of a bug page, made of these sections.

    There are no blank lines around the headings. With blank lines, git would match the headings to those of pages in
    the earlier layout. It would merge people's text from there into this region, and the next run would delete that
    text.
    """
    return {former.RECORDS: "\n".join(f"## {heading}\n{content}" for heading, content in sections)}


def why(page: PageSummary) -> str:
    """Return the reason that people gave for replacing a page; empty if they gave none, or no page replaces it."""
    return escape(one_line(page.text("superseded_reason"))) if page.leads_to else ""


def _taken_in(other: PageSummary) -> str:
    """Return the line that the kept page shows about another page of its cause."""
    reason = f"merged into this page: {why(other)}" if why(other) else "has the same cause"
    return f"- [{other.name}]({other.place}.md): {reason}; what people wrote on that page stays"


def _evidence(history: CauseHistory, stated: Sequence[tuple[Statement, str]], sources: _Sources) -> str:
    newest, task = history.newest, history.rows[0].task_id
    lines = [_first_cause(newest)]
    for each, words in stated:
        if isinstance(each, Accepted):
            lines.append(f"- Waived in the newest run by {words}.")
        elif isinstance(each, Seen):
            lines.append(f"- {sentence(words)}")
        elif isinstance(each, Regressed | FixedBy | Came | SeenOn):
            lines.append(f"- {sentence(words)}{sources.cite(each.task_id) if each.task_id != task else ''}")
    if last := _last(history):
        lines.append(f"- Failed last: {last}.")
    if history.seeds:
        is_directed = all(test.directed for test in newest.tests)
        note = (
            " The simulation gets the same stimulus with every seed, so the seed does not matter."
            if is_directed
            else ""
        )
        lines.append(f"- Seeds that failed: {', '.join(map(code, history.seeds))}.{note}")
    if newest.excerpt.strip() not in {"", newest.primary.strip()}:
        place = code(newest.log.path) if newest.log else "the test's output"
        lines.append(f"- Excerpt from {place}, quoted as data:\n{fence(newest.excerpt)}")
    return "\n".join([*lines, *(["", _cite(task, newest.log)] if sources.cite(task) else [])])


def _cite(task: str, log: LogReference | None) -> str:
    return cite(task, log.path, log.line) if log else cite(task)


def _first_cause(newest: Occurrence) -> str:
    """Return the line that shows the first cause of the newest occurrence."""
    primary = newest.primary.strip()
    if is_own(primary):
        return f"- First cause, from how the simulation ended: {own_words(primary)}"
    return f"- First cause: {code(primary)}" if one_line(primary) == primary else f"- First cause:\n{fence(primary)}"


def own_words(sentence: str) -> str:
    """Return a message that the capture wrote, as a sentence on one line with Markdown escaped."""
    return f"{escape(one_line(sentence))}."


def _last(history: CauseHistory) -> str:
    """Describe the tests that failed last, with simulator, commit and simulation time."""
    last, newest = history.rows[0], history.newest
    names = (
        few([code(nodeids.shown(name), 160) for name in last.names], len(last.names), of=last.tests)
        if last.names
        else ""
    )
    times = [code(time) for time in sorted({test.sim_time for test in newest.tests if test.sim_time})[:5]]
    ended = "last simulation time in the log" if is_own(newest.primary) else "ended at the simulation time"
    return "; ".join(filter(None, (names, _where(last), f"{ended} {', '.join(times)}" if times else "")))


def _where(row: OccurrenceRow) -> str:
    parts = [code(row.simulators)] if row.simulators else []
    if row.commit:
        state = ", with uncommitted changes" if row.dirty else ""
        branch = f" on {code(row.branch)}" if row.branch else ""
        kind = "revision" if row.commit.startswith("@") else "commit"
        parts.append(f"{kind} {code(short(row.commit, 12))}{branch}{state}")
    return ", ".join(parts)


def _reproduce(history: CauseHistory, stated: Sequence[tuple[Statement, str]], sources: _Sources) -> str:
    source = sources.cite(history.task_ids[0])
    found = next(((each, words) for each, words in stated if isinstance(each, Reproduce)), None)
    if found is None or not isinstance(found[0], Reproduce):
        if history.newest.reproduce.strip():  # a record of schema 1 has the command as text
            return f"The last failure{source}:\n{fence(history.newest.reproduce, 'sh')}"
        return "No command is on record for the newest occurrence."
    command = found[0].command
    if command is None:
        return f"{sentence(found[1])}{source}"
    seeded = ", with its seed" if seed_of(command) is not None else ""
    where = f", {start(command)}" if start(command) else ""
    parts = [f"The last failure{seeded}{where}{source}:\n{_shell(command)}"]
    if note := _edits(history):
        parts.append(note)
    if (choice := chooses_by(command)) is not None:
        # An earlier test of the simulation may have left the design in a state that no reset leads to.
        parts.append(f"If the test passes alone, run all tests of its simulation: leave out {code(choice)}.")
    if masked_note(command):
        parts.append(f"{masked_note(command)}.")
    for each, words in stated:
        if isinstance(each, Unseeded):
            parts.append(f"{sentence(words)}{source}")
        if isinstance(each, Compare):
            parts.append(f"With this seed the test passed{sources.cite(each.task_id)}:\n{_shell(each.command)}")
    return "\n\n".join(parts)


def _edits(history: CauseHistory) -> str:
    """Return a note on the uncommitted changes of the last failure; empty if its simulation read none of them."""
    last, reads = history.rows[0], history.newest.reads
    names = [name for name in last.edited if not (is_unread(name, reads) or is_prose(name, reads))]
    if not last.dirty or (last.edited and not names):
        return ""
    where = f" in {few([code(name) for name in names], 3)}" if names else ""
    return f"That run had uncommitted changes{where}; without them the command may pass."


def _shell(command: Command) -> str:
    return fence(from_anywhere(command, separator=" &&\n  "), "sh", _LONGEST_COMMAND)


def _occurrences(history: CauseHistory) -> str:
    rows = [
        (
            row.finished[:10],
            ", ".join(code(nodeids.shown(name), 120) for name in row.names[:1])
            + (f" +{row.tests - 1}" if row.tests > 1 else ""),
            ", ".join(code(seed) for seed in row.seeds[:5]) + (" …" if len(row.seeds) > len(row.seeds[:5]) else ""),
            code(row.simulators),
            _commit(row),
            code(row.task_id, 120),
        )
        for row in history.rows
    ]
    text = table(("Date", "Tests", "Seeds", "Simulator", "Commit", "Task"), rows)
    if history.runs > len(rows):
        text += f"\n\nThe newest {len(rows)} of {history.runs} runs; `tasks/` has all of them."
    return text


def _commit(row: OccurrenceRow) -> str:
    """Return an occurrence's commit with notes on its sources, or `reported` if the occurrence is not from a run."""
    if row.without_fix == REPORTED:
        return "reported"
    commit = code(short(row.commit, 12)) if row.commit else ""
    edits = "with uncommitted changes" if row.commit and row.dirty else ""
    return ", ".join(filter(None, (commit, edits, "without the fix" if row.without_fix else "")))


def _rationale(history: CauseHistory, kind: str, sources: _Sources) -> str:
    origin = history.origin
    held = history.origin_fix
    source = (held.fix.held_in or held.task_id) if held is not None else history.task_ids[0]
    pattern = f", pattern {code(history.newest.pattern)}" if history.newest.pattern else ""
    sure = "" if origin.type == "UNKNOWN" else f" with confidence {origin.confidence:.2f}"
    lines = [f"{origin.type}{sure}{pattern}{sources.cite(source)}:"]
    lines += [f"- {escape(one_line(reason))}" for reason in origin.reasons]
    if not origin.reasons:
        lines.append("- no evidence for an origin was found")
    if kind != origin.type:
        lines += ["", f"The page says {escape(one_line(kind, 40))}, which overrides this verdict."]
    return "\n".join(lines)


def _related(occurrence: Occurrence, fix_of: Callable[[Occurrence], str | None]) -> str:
    subtype = occurrence.failure_subtype
    if subtype == "unknown":
        return _UNKNOWN
    advice = fix_of(occurrence) if occurrence.pattern else None
    link = f"- [{escape(one_line(subtype))}](../patterns/{file_name(subtype)}.md)"
    return f"{link}: {prose(advice)}" if advice else link


def _citation(history: CauseHistory, sources: _Sources) -> str:
    if len(sources.tasks) > 1:
        return "\n".join(f"- {cite(task)}" for task in history.task_ids)
    return _cite(history.task_ids[0], history.newest.log)
