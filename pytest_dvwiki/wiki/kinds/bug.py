"""A bug page: what it is made of at first, and what the records make of it later.

The text that belongs to people (title, Symptom, Resolution) names nothing that differs between two branches on which
the same cause is seen first, so that git merges the two pages without a question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pytest_dvwiki.causes.cause import Cause, PageFacts
from pytest_dvwiki.causes.statements import (
    Accepted,
    Came,
    Compare,
    FixedBy,
    Proposed,
    Regressed,
    Reproduce,
    Seen,
    passes_since,
    statements,
)
from pytest_dvwiki.causes.words import Style, ends, no_fix, passed_of, sentence, text
from pytest_dvwiki.model.sentences import count, is_own
from pytest_dvwiki.records.command import from_anywhere, masked_note, seed_of, start
from pytest_dvwiki.records.fixes import tally
from pytest_dvwiki.records.kinds import UNKNOWN_SEED
from pytest_dvwiki.records.same_check import check_of
from pytest_dvwiki.wiki.text import former, pages
from pytest_dvwiki.wiki.text.markdown import cite, code, escape, fence, in_words, one_line, prose, table
from pytest_dvwiki.wiki.text.names import bug_origin, file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.causes.statements import Statement
    from pytest_dvwiki.model import Command, Fix, LogReference, Occurrence, OriginType
    from pytest_dvwiki.records.aggregate import CauseHistory, Row, UnprovenPass
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.wiki.listed import Listed

PEOPLE = ("type", "status", "spec_section", "owner", "supersedes", "superseded_by", "superseded_reason")
OWNED = (
    "id",
    "error_class",
    "failure_subtype",
    "fingerprint",
    "cause",
    "fingerprint_aliases",
    "aliases",
    "type_at_creation",
    "origin",
    "confidence",
    "first_seen",
    "last_updated",
    "task_ids",
    "hit_count",
    "occurrence_count",
    "corroborations",
    "seeds",
    "ip_type",
    "came_with",
    "passes_since",
    "regressed",
    "stale",
    "stale_reason",
)
_LONGEST_COMMAND = 10_000
"""Characters; a command that is cut does something else."""
_KEY = 100
_COMMIT = 8
_SUBJECTS = 5
_FILES = 4
_NEWEST_FIXES = 20
_OTHERS = 5
_SAME_CAUSE = "same fingerprint"
_REPLACED = "superseded by "
ORIGINS = {"RTL_BUG": "RTL bug", "TB_BUG": "Testbench bug", "UNKNOWN": "Failure of unknown origin"}
_TYPES = frozenset({*ORIGINS, "TOOL"})
_DECIDED = frozenset({"confirmed", "closed"})
_UNKNOWN = """\
No pattern knows any line that this failure left behind: the project's own, those of installed packages and the built-in
ones were tried on each of them. So it has no name, and there is no pattern page. To give it one:

- `dvwiki patterns why LOG` shows what each line of its log comes to.
- `dvwiki patterns propose` prints a pattern for it once it was seen in 2 runs (`--min-runs 1`: at once); reviewed and
  saved in `.agent/patterns/`, it names the failure from the next run on.
- `dvwiki patterns test` checks it against all other patterns."""
RESOLUTION = (
    "- [ ] Cause confirmed by a person (`status: confirmed`)\n"
    "- [ ] Fixed, with the commit or ticket (`status: closed`)\n"
    "- [ ] Workaround until then"
)


def has_page(occurrence: Occurrence) -> bool:
    """Tell whether a cause gets a page: not if a tool is at fault, or if neither tests nor reasons are known."""
    return occurrence.origin.type in ORIGINS and bool(occurrence.tests or occurrence.origin.reasons)


def is_decided(page: Listed) -> bool:
    """Tell whether people decided what a page's cause is: by another type than the tool gave, or by its status.

    A page that was confirmed or closed and still says UNKNOWN, as the tool wrote it, decides nothing.
    """
    kind, made_as = page.text("type"), type_at_creation(page)
    if kind == made_as == "UNKNOWN" or not kind:
        return False
    return page.text("status") in _DECIDED or (made_as is not None and kind != made_as)


def type_at_creation(page: Listed) -> str | None:
    """Return the type that the tool gave a page at first; None if people made the page."""
    return page.text("type_at_creation") or bug_origin(page.name)


def effective_type(page: Listed, origin: str = "") -> str:
    """Return what a page's cause is: what a person says, else what the tool says now.

    Args:
        page: The page.
        origin: What the tool says now, if the page does not say it yet.
    """
    kind = page.text("type")
    return kind if is_decided(page) else origin or page.text("origin") or kind


def facts(page: Listed) -> PageFacts:
    """Return what a page says of its cause."""
    return PageFacts(
        path=page.path,
        status=page.text("status"),
        type=cast("OriginType", kind) if (kind := effective_type(page)) in _TYPES else None,
        is_decided=is_decided(page),
    )


def words_of_title(page: Listed) -> str:
    """Return the title of a page without the origin that those of earlier versions begin with."""
    title = page.title
    for origin in ORIGINS.values():
        title = title.removeprefix(f"{origin}: ")
    return title


def new(name: str, origin: str, occurrence: Occurrence, description: str) -> bytes:
    """Return a new bug page, with its owned keys and its region still empty.

    Args:
        name: The page's name, which the lines that all pages have carry.
        origin: RTL_BUG, TB_BUG or UNKNOWN; the title does not name it, since it may be another one later.
        occurrence: One of the cause; only what all of them share is used.
        description: What the subtype means, empty where nothing is known of it.
    """
    words = in_words(occurrence.primary) or f"{occurrence.error_class} {occurrence.failure_subtype}"
    label = f"`{occurrence.error_class}` / `{occurrence.failure_subtype}`"
    said = in_words(occurrence.primary, 400)
    shown = _own_words(said) if is_own(occurrence.primary) else code(said or words, 400)
    symptom = [f"First cause, without the values that differ from run to run ({label}): {shown}"]
    if description:
        symptom += ["", description]
    people = {"type": origin, "status": "open"} | dict.fromkeys(PEOPLE[2:])
    sections = (("Symptom", "\n".join(symptom)), ("Resolution", RESOLUTION), (former.NOTES, ""))
    ending = pages.region(former.RECORDS, name)
    return pages.new(people, OWNED, escape(words), sections, page=name, ending=ending)


def keys(
    page: str,
    history: CauseHistory,
    identities: Sequence[str],
    aliases: Sequence[str],
    stale: str | None = None,
    *,
    made_as: str | None,
) -> dict[str, Any]:
    """Return the owned keys of a bug page.

    Args:
        page: The page's name.
        history: What the records say of the cause.
        identities: The name of the cause, then the others that it has or had.
        aliases: Ids of further pages of this cause.
        stale: Why the page is out of date; None if it is not.
        made_as: The type that the page had at first.
    """
    newest = history.newest
    fixed = passes_since(Cause.on_record(identities[0], history))
    return {
        "id": page,
        "error_class": one_line(newest.error_class, _KEY),
        "failure_subtype": one_line(newest.failure_subtype, _KEY),
        "fingerprint": check_of(identities[0]),
        "cause": identities[0],
        "fingerprint_aliases": sorted(identities[1:]),
        "aliases": list(aliases),
        "type_at_creation": made_as,
        "origin": newest.origin.type,
        "confidence": round(newest.origin.confidence, 2),
        "first_seen": history.first_seen[:10],
        "last_updated": history.last_seen[:10],
        "task_ids": list(history.task_ids),
        "hit_count": history.runs,
        "occurrence_count": history.tests,
        "corroborations": history.runs - 1,
        "seeds": [one_line(seed, _KEY) for seed in history.seeds],
        "ip_type": one_line(newest.ip_type, _KEY) if newest.ip_type else None,
        "came_with": _only_commit(history),
        "passes_since": fixed[:10] or None,
        "regressed": history.regressed[0][:10] if history.regressed else None,
        "stale": stale is not None,
        "stale_reason": stale,
    }


def _only_commit(history: CauseHistory) -> str | None:
    """Return the commit that introduced a cause, and its subject; None if it may be one of several."""
    only = history.first_bad.only_commit if history.first_bad is not None else ""
    return one_line(only, _KEY) or None


def regions(
    history: CauseHistory,
    kind: str,
    page_of: Callable[[str], str | None],
    fix_of: Callable[[Occurrence], str | None],
    *,
    others: Sequence[Listed] = (),
    kin: Sequence[str] = (),
) -> dict[str, str]:
    """Return the content of the region of a bug page, facts first.

    Args:
        history: What the records say of the cause.
        kind: The page's effective type.
        page_of: Name of the bug page of a fingerprint.
        fix_of: What the registry says of fixing an occurrence.
        others: Further pages of this cause, which lead to this one.
        kin: Lines on other causes of the same check, and on pages with a version 1 fingerprint of it.
    """
    cause = Cause.on_record(history.fingerprint, history)
    links = _style(page_of)
    said = [(each, text(each, links)) for each in statements(cause)]
    return _region(
        ("Evidence", _evidence(history, said)),
        ("Reproduce", _reproduce(history, said)),
        ("Fixes", _fixes(history, said, page_of)),
        ("Occurrences", _occurrences(history)),
        ("Classification Rationale", _rationale(history, kind)),
        ("Related Patterns", "\n".join([_related(history.newest, fix_of), *map(_taken_in, others), *kin])),
        ("Citation", "\n".join(f"- {cite(task)}" for task in history.task_ids)),
    )


def _region(*sections: tuple[str, str]) -> dict[str, str]:
    """Return the region of a page with its sections.

    There are no blank lines around the headings. With them git would match the headings to those of the earlier layout,
    and merge what people wrote there into this region, where it would be lost.
    """
    return {former.RECORDS: "\n".join(f"## {heading}\n{content}" for heading, content in sections)}


def _style(page_of: Callable[[str], str | None]) -> Style:
    """Return how a page marks names, and what others wrote."""
    return Style(name=code, quote=lambda words: escape(one_line(words)), link=lambda name: _link(name, page_of))


def pointer_keys(page: Listed, keeper: Listed) -> dict[str, Any]:
    """Return the owned keys of a page whose cause another page keeps, without counts, which would count twice."""
    metadata = page.metadata
    kept = {"id": page.name} | {key: metadata.get(key) for key in ("fingerprint", "cause", "first_seen")}
    kept["type_at_creation"] = type_at_creation(page)
    empty: dict[str, Any] = dict.fromkeys(OWNED)
    empty |= {"fingerprint_aliases": [], "aliases": [], "task_ids": [], "seeds": [], "stale": True}
    reason = f"{_REPLACED}{keeper.name}" if page.leads_to else _SAME_CAUSE
    return empty | kept | {"hit_count": 0, "occurrence_count": 0, "corroborations": 0, "stale_reason": reason}


def is_pointer(page: Listed) -> bool:
    """Tell whether a page only leads to the one that keeps its cause."""
    reason = page.text("stale_reason")
    return reason == _SAME_CAUSE or (reason.startswith(_REPLACED) and page.leads_to != "")


def pointer_regions(page: Listed, keeper: Listed) -> dict[str, str]:
    """Return the content of the region of such a page."""
    link = f"[{keeper.name}]({keeper.name}.md)"
    if page.leads_to:
        why = f" ({_why(page)})" if _why(page) else ""
        text = (
            f"This page was merged into {link}{why}. That page has what the records say; what people wrote here stays."
        )
    else:
        text = f"Another page had the same cause before: {link} has what the records say; what people wrote here stays."
    return _region(("Evidence", text))


def _taken_in(other: Listed) -> str:
    """Return a line for the kept page that names a page leading to it."""
    why = f"merged into this page: {_why(other)}" if _why(other) else "has the same cause"
    return f"- [{other.name}]({other.name}.md): {why}; what people wrote there stays there"


def _why(page: Listed) -> str:
    """Return the reason that people gave for replacing a page."""
    return escape(one_line(page.text("superseded_reason"))) if page.leads_to else ""


class _Claim(NamedTuple):
    """A claim of a page with its source."""

    text: str
    task: str
    log: LogReference | None = None
    block: str = ""
    """A block of text below it."""


def _cited(claims: Sequence[_Claim]) -> str:
    """Return claims as a list; if all have the same record as source, it is cited once, at the end."""
    if len({claim.task for claim in claims}) > 1:
        items = [f"- {claim.text} {_source(claim)}{claim.block and ':'}" for claim in claims]
        return "\n".join("\n".join(filter(None, both)) for both in zip(items, (c.block for c in claims), strict=True))
    lines = ["\n".join(filter(None, (f"- {claim.text}{claim.block and ':'}", claim.block))) for claim in claims]
    best = next((claim for claim in claims if claim.log), claims[0])
    return "\n".join([*lines, "", _source(best)])


def _source(claim: _Claim) -> str:
    return cite(claim.task, claim.log.path, claim.log.line) if claim.log else cite(claim.task)


def _evidence(history: CauseHistory, said: Sequence[tuple[Statement, str]]) -> str:
    newest, last = history.newest, history.rows[0]
    log, task = newest.log, last.task_id
    claims = [_first_cause(newest, task)]
    for each, words in said:
        if isinstance(each, Accepted):
            claims.append(_Claim(f"Waived in the newest run by {words}.", task))
        elif isinstance(each, Seen):
            claims.append(_Claim(sentence(words), task, log))
        elif isinstance(each, Regressed | FixedBy | Came):
            claims.append(_Claim(sentence(words), each.task_id))
    if last.names:
        more = f" and {last.tests - len(last.names)} more" if last.tests > len(last.names) else ""
        names = ", ".join(code(name, 160) for name in last.names)
        claims.append(_Claim(f"Tests that failed last: {names}{more}.", task))
    if history.seeds:
        claims.append(_Claim(f"Seeds that failed: {', '.join(map(code, history.seeds))}.", task))
    where = _where(last)
    times = [code(time) for time in sorted({test.sim_time for test in newest.tests if test.sim_time})[:5]]
    if where:
        claims.append(_Claim(f"Last failure: {where}.", task))
    if times:
        ended = (
            "The last simulation time in the log of its failing tests is"
            if is_own(newest.primary)
            else "Its failing tests ended at the simulation time"
        )
        claims.append(_Claim(f"{ended} {', '.join(times)}.", task))
    if newest.excerpt.strip() not in {"", newest.primary.strip()}:
        place = code(log.path) if log else "the test's output"
        claims.append(_Claim(f"Excerpt of {place}, quoted data of the run", task, log, fence(newest.excerpt)))
    return _cited(claims)


def _first_cause(newest: Occurrence, task: str) -> _Claim:
    """Return the message of a cause as it was reported last."""
    primary = newest.primary.strip()
    if is_own(primary):
        return _Claim(f"First cause, as the end of the simulation shows it: {_own_words(primary)}", task)
    if one_line(primary) == primary:
        return _Claim(f"First cause, as it was reported last: {code(primary)}", task, newest.log)
    return _Claim("First cause, as it was reported last", task, newest.log, fence(newest.primary))


def _own_words(sentence: str) -> str:
    """Return a sentence of the capture, which no log holds."""
    return f"{escape(one_line(sentence))}."


def _where(row: Row) -> str:
    parts = [code(row.simulators)] if row.simulators else []
    if row.commit:
        state = ", with uncommitted changes" if row.dirty else ""
        branch = f" on {code(row.branch)}" if row.branch else ""
        parts.append(f"commit {code(row.commit[:12])}{branch}{state}")
    return ", ".join(parts)


def _rationale(history: CauseHistory, kind: str) -> str:
    newest, task = history.newest, history.task_ids[0]
    origin = newest.origin
    pattern = f", the failure recognised by the pattern {code(newest.pattern)}" if newest.pattern else ""
    sure = "" if origin.type == "UNKNOWN" else f" with confidence {origin.confidence:.2f}"
    lines = [f"{origin.type}{sure}{pattern} {cite(task)}:"]
    lines += [f"- {escape(one_line(reason))}" for reason in origin.reasons]
    if not origin.reasons:
        lines.append("- no evidence for an origin was found")
    if kind != origin.type:
        lines += ["", f"The page says {escape(one_line(kind, 40))}, which wins over this verdict."]
    return "\n".join(lines)


def _related(occurrence: Occurrence, fix_of: Callable[[Occurrence], str | None]) -> str:
    subtype, pattern = occurrence.failure_subtype, occurrence.pattern
    if subtype == "unknown":
        return _UNKNOWN
    link = f"[{escape(one_line(subtype))}](../patterns/{file_name(subtype)}.md)"
    known = f"- {link}: what is known of such failures, and of their fixes"
    advice = fix_of(occurrence) if pattern else None
    return f"{known}\n- {code(str(pattern))}, which recognised it: {prose(advice)}" if advice else known


def _reproduce(history: CauseHistory, said: Sequence[tuple[Statement, str]]) -> str:
    task = cite(history.task_ids[0])
    found = next(((each, words) for each, words in said if isinstance(each, Reproduce)), None)
    if found is None or not isinstance(found[0], Reproduce):
        if history.newest.reproduce.strip():  # a record of schema 1 has text, which starts from pytest's root folder
            return f"This runs the last failure again {task}:\n{fence(history.newest.reproduce, 'sh')}"
        return "No command is on record for the newest occurrence."
    command = found[0].command
    if command is None:
        return f"{sentence(found[1])} {task}"
    seeded = ", with its seed" if seed_of(command) is not None else ""
    where = f", {start(command)}" if start(command) else ""
    parts = [f"This runs the last failure again{seeded}{where} {task}:\n{_shell(command)}"]
    if masked_note(command):
        parts.append(f"{masked_note(command)}.")
    for each, _ in said:
        if isinstance(each, Compare):
            parts.append(f"With this seed it passed {cite(each.task_id)}:\n{_shell(each.command)}")
    return "\n\n".join(parts)


def _shell(command: Command) -> str:
    return fence(from_anywhere(command), "sh", _LONGEST_COMMAND)


def _occurrences(history: CauseHistory) -> str:
    rows = [
        (
            row.finished[:10],
            code(row.task_id, 120),
            ", ".join(code(name, 120) for name in row.names[:1]) + (f" +{row.tests - 1}" if row.tests > 1 else ""),
            ", ".join(code(seed) for seed in row.seeds[:5]) + (" …" if len(row.seeds) > len(row.seeds[:5]) else ""),
            code(row.simulators),
            (code(row.commit[:12]) if row.commit else "") + (", without the fix" if row.without_fix else ""),
        )
        for row in history.rows
    ]
    text = table(("Date", "Task", "Tests", "Seeds", "Simulator", "Commit"), rows)
    if history.runs > len(rows):
        text += f"\n\nThe newest {len(rows)} of {history.runs} runs; the folder tasks holds all."
    return text


def _fixes(history: CauseHistory, said: Sequence[tuple[Statement, str]], page_of: Callable[[str], str | None]) -> str:
    states = history.fixes
    parts = []
    if states:
        told = ends(*tally(states))
        rows = [_fix_row(state) for state in reversed(states[-_NEWEST_FIXES:])]
        header = ("Date", "Commits", "What was done", "Files", "By", "Result", "Task", "Owners")
        parts.append(f"Newest first{f' ({told})' if told else ''}:\n\n" + table(header, rows))
        if len(states) > len(rows):
            parts.append(f"The newest {len(rows)} of {len(states)} fixes; the folder tasks holds all.")
        if history.same_commits:
            parts.append(f"{_also(history.same_commits, page_of)} {cite(states[-1].task_id)}")
        reckoning = _reckoning(states[-1]) if states[-1].fix.result == "open" else ""
        if reckoning:
            parts.append(f"{reckoning} {cite(states[-1].task_id)}")
    else:
        parts.append("No fix is on record.")
    parts += [f"{sentence(words)} {cite(each.task_id)}" for each, words in said if isinstance(each, Proposed)]
    if history.unproven:
        passes = "\n".join(f"- {_unproven(each)} {cite(each.task_id)}" for each in history.unproven)
        parts.append(f"Passes that prove no fix, newest first:\n\n{passes}")
    return "\n\n".join(parts)


def _link(fingerprint: str, page_of: Callable[[str], str | None]) -> str:
    page = page_of(fingerprint)
    return f"[{page}]({page}.md)" if page else code(fingerprint)


def _also(causes: Sequence[str], page_of: Callable[[str], str | None]) -> str:
    """Return a sentence on the other causes that went away with the newest fix."""
    more = f" and {len(causes) - _OTHERS} more" if len(causes) > _OTHERS else ""
    links = ", ".join(_link(fingerprint, page_of) for fingerprint in causes[:_OTHERS])
    return f"With commits of the newest fix other causes went away, too: {links}{more}."


def _elsewhere(state: FixState) -> str:
    """Return the branches on which a fix was seen, and how many other tests of the cause passed."""
    told = []
    if len(state.branches) > 1:
        more = f" and {len(state.branches) - _OTHERS} more" if len(state.branches) > _OTHERS else ""
        told.append(f"on {', '.join(map(code, state.branches[:_OTHERS]))}{more}")
    if state.other_tests:
        told.append(f"{state.other_passes} of {count(state.other_tests, 'other test')} of the cause passed, too")
    return "; ".join(told)


def _fix_row(state: FixState) -> tuple[str, ...]:
    fix = state.fix
    rest = fix.file_count - len(fix.files[:_FILES])
    files = ", ".join(map(code, fix.files[:_FILES])) + (f" +{rest}" if rest > 0 else "")
    return (
        fix.date[:10],
        "..".join(code(commit[:_COMMIT]) for commit in dict.fromkeys(fix.commits or ())),
        _done(fix),
        files,
        fix.by,
        _became(state),
        code(state.task_id, 120),
        _owners(fix),
    )


def _owners(fix: Fix) -> str:
    """Return the owners of the files of a fix, and the authors of the lines that it touched."""
    authors = ", ".join(escape(one_line(author, _KEY)) for author in fix.authors)
    told = [", ".join(map(code, fix.owners)), f"lines by {authors}" if authors else ""]
    return "; ".join(filter(None, told))


def _done(fix: Fix) -> str:
    """Return the text of a fix; for several commits, the name and subject of each."""
    if fix.by == "git" and fix.log_count > 1:
        names = [line.partition(" ") for line in fix.log[:_SUBJECTS]]
        told = [f"{code(name[:_COMMIT])} {escape(one_line(subject, _KEY))}" for name, _, subject in names]
        rest = fix.log_count - len(told)
        note = [escape(one_line(fix.note))] if fix.note else []
        return "; ".join([*told, *([f"and {rest} more"] if rest else []), *note])
    return escape(one_line("; ".join(filter(None, (fix.text, fix.note)))))


def _became(state: FixState) -> str:
    fix = state.fix
    became: str = fix.result
    if fix.result == "open":
        became += f", {'fixed: ' if fix.counts else ''}{passed_of(fix)}{' to call it held' if fix.counts else ''}"
    elif fix.held_in:
        became += f" since {code(fix.held_in, 120)}"
    if fix.returned:
        # Before it had passed often enough nobody could know that it was not a fix.
        became += f", returned {fix.returned[:10]}" + (f", {passed_of(fix)}" if fix.result == "failed" else "")
    return "; ".join(filter(None, (became, _elsewhere(state))))


def _reckoning(state: FixState) -> str:
    """Return how the number of passing runs that a fix needs was computed."""
    past, needed = state.past, state.fix.needed
    if past is None or state.fix.counts:
        return ""
    failed, runs = past.rate.taken
    known = max(1, past.rate.runs)
    taken = "" if runs == known else f", taken as {failed} of {runs} since one run tells no rate"
    counted = " on record"
    if past.left_out:
        passes = "1 earlier pass does" if past.left_out == 1 else f"{past.left_out} earlier passes do"
        counted = f" that count ({passes} not: there are more than chance explains, so the cause came in after them)"
    once = " A seed that failed counts once." if state.failed_seed is not None and not past.comes_and_goes else ""
    chance = f"{past.rate.chance_of_passing(needed) * 100:.1f} %"
    seed = f"seed {code(state.failed_seed)}" if state.failed_seed is not None else "the seed that failed"
    settles = (
        "They passed and failed with the same sources and seed, so that no single pass settles it."
        if past.comes_and_goes
        else "The seed with which they failed is not on record, so that no single pass settles it."
        if state.failed_seed == UNKNOWN_SEED
        else f"A pass with {seed} settles it at once."
    )
    return (
        f"Passes of the newest fix may be chance: its tests failed in {failed} of {count(known, 'run')}{counted}"
        f"{taken}.{once} Chance explains {needed} passing runs in {chance} of cases, (1 - {failed}/{runs})^{needed}."
        f" {settles}"
    )


def _unproven(each: UnprovenPass) -> str:
    why = no_fix(each.changed, each.seed, each.failed_seed)
    return f"{each.finished[:10]}: {code(each.nodeid, 160)}: {escape(one_line(why))}."
