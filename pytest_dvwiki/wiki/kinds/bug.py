"""A bug page: what it is made of at first, and what the records make of it later.

The text that belongs to people (title, Symptom, Resolution) names nothing that differs between two branches on which
the same cause is seen first, so that git merges the two pages without a question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_dvwiki.model.sentences import is_own
from pytest_dvwiki.records.command import from_anywhere, masked_note, seed_of, start, with_seed
from pytest_dvwiki.records.fixes import ends, in_short, tally
from pytest_dvwiki.records.kinds import UNKNOWN_SEED
from pytest_dvwiki.records.onset import came_with, sentence
from pytest_dvwiki.records.same_check import check_of
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.markdown import cite, code, escape, fence, in_words, one_line, prose, table
from pytest_dvwiki.wiki.text.names import bug_origin, file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.model import FirstBad, Fix, Occurrence, Waived
    from pytest_dvwiki.records.aggregate import Cause, Row, UnprovenPass
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.records.proposals import Proposal
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
_DECIDED = frozenset({"confirmed", "closed"})
_SECTIONS = (
    ("Evidence", "evidence"),
    ("Classification Rationale", "rationale"),
    ("Related Patterns", "related"),
    ("Reproduce", "reproduce"),
    ("Occurrences", "occurrences"),
    ("Fixes", "fixes"),
)
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
    """Whether a cause gets a page: a fault of a tool gets none, nor what names no test and was judged by nobody."""
    return occurrence.origin.type in ORIGINS and bool(occurrence.tests or occurrence.origin.reasons)


def is_decided(page: Listed) -> bool:
    """Return whether people decided what a page's cause is: by another type than the tool gave, or by its status.

    A page that was confirmed or closed and still says UNKNOWN, as the tool wrote it, decides nothing.
    """
    kind, made_as = page.text("type"), type_at_creation(page)
    if kind == made_as == "UNKNOWN" or not kind:
        return False
    return page.text("status") in _DECIDED or (made_as is not None and kind != made_as)


def type_at_creation(page: Listed) -> str | None:
    """Return the type that the tool gave a page at first; None where people made the page."""
    return page.text("type_at_creation") or bug_origin(page.name)


def effective_type(page: Listed, origin: str = "") -> str:
    """Return what a page's cause is: a person's word where there is one, else the tool's present view.

    Args:
        page: The page.
        origin: The present view, where the page does not have it yet.
    """
    kind = page.text("type")
    return kind if is_decided(page) else origin or page.text("origin") or kind


def words_of_title(page: Listed) -> str:
    """Return the title of a page without the origin that those of earlier versions begin with."""
    title = page.title
    for origin in ORIGINS.values():
        title = title.removeprefix(f"{origin}: ")
    return title


def new(origin: str, occurrence: Occurrence, description: str) -> bytes:
    """A new bug page, with its owned keys and regions still empty.

    Args:
        origin: RTL_BUG, TB_BUG or UNKNOWN; the title does not name it, since it may be another one later.
        occurrence: One of the cause; only what all of them share is used.
        description: What the subtype means, empty where nothing is known of it.
    """
    words = in_words(occurrence.primary) or f"{occurrence.error_class} {occurrence.failure_subtype}"
    label = f"`{occurrence.error_class}` / `{occurrence.failure_subtype}`"
    symptom = [
        f"First cause, without the values that differ from run to run ({label}):",
        "",
        _said(in_words(occurrence.primary, 400))
        if is_own(occurrence.primary)
        else fence(in_words(occurrence.primary, 400) or words),
    ]
    if description:
        symptom += ["", description]
    people = {"type": origin, "status": "open"} | dict.fromkeys(PEOPLE[2:])
    sections = (
        ("Symptom", "\n".join(symptom)),
        *((title, pages.region(name)) for title, name in _SECTIONS),
        ("Resolution", RESOLUTION),
        ("Citation", pages.region("citation")),
    )
    return pages.new(people, OWNED, escape(words), sections)


def keys(
    page: str,
    cause: Cause,
    identities: Sequence[str],
    aliases: Sequence[str],
    stale: str | None = None,
    *,
    made_as: str | None,
) -> dict[str, Any]:
    """The owned keys of a bug page.

    Args:
        page: The page's name.
        cause: What the records say.
        identities: The name of the cause, then the others that it has or had.
        aliases: Ids of further pages of this cause.
        stale: Why the page is out of date, None where it is not.
        made_as: The type that the page had at first.
    """
    newest = cause.newest
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
        "first_seen": cause.first_seen[:10],
        "last_updated": cause.last_seen[:10],
        "task_ids": list(cause.task_ids),
        "hit_count": cause.runs,
        "occurrence_count": cause.tests,
        "corroborations": cause.runs - 1,
        "seeds": [one_line(seed, _KEY) for seed in cause.seeds],
        "ip_type": one_line(newest.ip_type, _KEY) if newest.ip_type else None,
        "came_with": _only_commit(cause),
        "passes_since": _passes_since(cause),
        "regressed": cause.regressed[0][:10] if cause.regressed else None,
        "stale": stale is not None,
        "stale_reason": stale,
    }


def _only_commit(cause: Cause) -> str | None:
    """Return commit and subject with which a cause came, None where it may be one of several."""
    only = cause.first_bad.only_commit if cause.first_bad is not None else ""
    return one_line(only, _KEY) or None


def regions(
    cause: Cause,
    kind: str,
    page_of: Callable[[str], str | None],
    fix_of: Callable[[Occurrence], str | None],
    *,
    others: Sequence[Listed] = (),
    kin: Sequence[str] = (),
) -> dict[str, str]:
    """The regions of a bug page.

    Args:
        cause: What the records say.
        kind: The page's effective type.
        page_of: Name of the bug page of a fingerprint.
        fix_of: What the registry says of fixing an occurrence.
        others: Further pages of this cause, which lead to this one.
        kin: What is to be said of pages that the cause had to do with before fingerprints kept words.
    """
    return {
        "evidence": _evidence(cause),
        "rationale": _rationale(cause, kind),
        "related": "\n".join([_related(cause.newest, fix_of), *map(_taken_in, others), *kin]),
        "reproduce": _reproduce(cause),
        "occurrences": _occurrences(cause),
        "fixes": _fixes(cause, page_of),
        "citation": "\n".join(f"- {cite(task)}" for task in cause.task_ids),
    }


def pointer_keys(page: Listed, keeper: Listed) -> dict[str, Any]:
    """The owned keys of a page whose cause another page keeps: nothing that would be counted twice."""
    metadata = page.metadata
    kept = {"id": page.name} | {key: metadata.get(key) for key in ("fingerprint", "cause", "first_seen")}
    kept["type_at_creation"] = type_at_creation(page)
    empty: dict[str, Any] = dict.fromkeys(OWNED)
    empty |= {"fingerprint_aliases": [], "aliases": [], "task_ids": [], "seeds": [], "stale": True}
    reason = f"{_REPLACED}{keeper.name}" if page.leads_to else _SAME_CAUSE
    return empty | kept | {"hit_count": 0, "occurrence_count": 0, "corroborations": 0, "stale_reason": reason}


def is_pointer(page: Listed) -> bool:
    """Whether a page only leads to the one that keeps its cause."""
    reason = page.text("stale_reason")
    return reason == _SAME_CAUSE or (reason.startswith(_REPLACED) and page.leads_to != "")


def pointer_regions(page: Listed, keeper: Listed) -> dict[str, str]:
    """The regions of such a page."""
    link = f"[{keeper.name}]({keeper.name}.md)"
    if page.leads_to:
        why = f" ({_why(page)})" if _why(page) else ""
        text = (
            f"This page was merged into {link}{why}. What the records say stands there; what people wrote here stays."
        )
    else:
        text = (
            f"Another page has the same cause, and was there first. What the records say of it stands in {link};"
            " what people wrote here stays."
        )
    return dict.fromkeys((name for _, name in _SECTIONS), "") | {"evidence": text, "citation": ""}


def _taken_in(other: Listed) -> str:
    """Says on the page that is kept which page leads to it."""
    why = f"merged into this page: {_why(other)}" if _why(other) else "has the same cause"
    return f"- [{other.name}]({other.name}.md): {why}; what people wrote there stays there"


def _why(page: Listed) -> str:
    """The reason that people gave for replacing a page."""
    return escape(one_line(page.text("superseded_reason"))) if page.leads_to else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _evidence(cause: Cause) -> str:
    newest, last = cause.newest, cause.rows[0]
    path, line = (newest.log.path, newest.log.line) if newest.log else (None, None)
    # Of a cause that a caller of the API told of no test is known.
    tests = f" with {_count(cause.tests, 'failing test')}" if cause.tests else ""
    since = f"Seen in {_count(cause.runs, 'run')}{tests}, "
    when = (
        f"on {cause.first_seen[:10]}"
        if cause.first_seen[:10] == cause.last_seen[:10]
        else f"first on {cause.first_seen[:10]}, last on {cause.last_seen[:10]}"
    )
    standing = _regressed(cause, *cause.regressed) if cause.regressed else _mended(cause)
    lines = [f"- {standing}"] if standing else []
    lines.append(f"- {since}{when}. {cite(last.task_id, path, line)}")
    if last.names:
        more = f" and {last.tests - len(last.names)} more" if last.tests > len(last.names) else ""
        names = ", ".join(code(name, 160) for name in last.names)
        lines.append(f"- Tests that failed last: {names}{more}. {cite(last.task_id)}")
    if cause.seeds:
        lines.append(f"- Seeds that failed: {', '.join(map(code, cause.seeds))}. {cite(last.task_id)}")
    where = _where(last)
    if where:
        lines.append(f"- Last failure: {where}. {cite(last.task_id)}")
    lines += [f"- {_waiver(each, last)} {cite(last.task_id)}" for each in cause.waived]
    if cause.first_bad:
        lines.append(f"- {_came(cause.first_bad)} {cite(cause.first_bad_task)}")
    times = sorted({test.sim_time for test in newest.tests if test.sim_time})
    if times:
        told = ", ".join(code(time) for time in times[:5])
        ended = (
            "The last simulation time in the log of its failing tests is"
            if is_own(newest.primary)
            else ("Its failing tests ended at the simulation time")
        )
        lines.append(f"- {ended} {told}. {cite(last.task_id)}")
    if is_own(newest.primary):
        lines += [
            "",
            f"First cause, as the end of the simulation shows it: {_said(newest.primary)} {cite(last.task_id)}",
        ]
    else:
        lines += [
            "",
            f"First cause, as it was reported last {cite(last.task_id, path, line)}:",
            "",
            fence(newest.primary),
        ]
    if newest.excerpt.strip():
        place = code(path) if path else "the test's output"
        lines += [
            "",
            f"Excerpt of {place}, quoted data of the run {cite(last.task_id, path, line)}:",
            "",
            fence(newest.excerpt),
        ]
    return "\n".join(lines)


def _said(sentence: str) -> str:
    """A sentence of the capture, which no log holds."""
    return f"{escape(one_line(sentence))}."


def _regressed(cause: Cause, date: str, task: str) -> str:
    """Says that a cause is back that was thought to be mended."""
    newest = cause.fixes[-1].fix if cause.fixes else None
    if newest is not None and newest.result == "held":
        why = f"{escape(one_line(in_short(newest)))} had held since {newest.date[:10]}"
    else:
        why = "its page was closed then"
    return f"Regressed on {date[:10]}: {why}. {cite(task)}"


def _standing(cause: Cause) -> FixState | None:
    """The newest fix of a cause, None where there is none, it failed, or the cause returned."""
    state = cause.fixes[-1] if cause.fixes else None
    return None if state is None or state.returned or state.fix.result == "failed" else state


def _passes_since(cause: Cause) -> str | None:
    """The day since which a cause is fixed, as its passes prove; None where it is not, or that may be chance."""
    state = _standing(cause)
    if state is None or not state.fix.counts or not state.fix.passes or _failed_elsewhere(cause, state):
        return None
    return state.fix.date[:10]


def _failed_elsewhere(cause: Cause, state: FixState) -> str:
    """Return the day of a cause's last failure after a fix that stands; empty where there was none."""
    last = next((row for row in cause.rows if not row.without_fix), None)
    return last.finished[:10] if last is not None and last.finished > state.fix.date else ""


def _mended(cause: Cause) -> str:
    """Says that a cause is not there any more, as far as runs or people tell; empty where it is."""
    state = _standing(cause)
    if state is None:
        return ""
    fix = state.fix
    proof = "held"
    if fix.result == "open":
        proof = f"passed {fix.passes} of {_count(fix.needed, 'run')} needed"
        if fix.counts:
            proof += " to call it held"
        elif fix.passes:
            proof = f"may be chance, {proof}"
    known = "Passes again since" if fix.passes else "Said to be fixed on"
    told = escape(one_line(in_short(fix)))
    elsewhere = _failed_elsewhere(cause, state)
    others = f"; other tests or simulators failed since, last on {elsewhere}" if elsewhere else ""
    return f"{known} {fix.date[:10]}: {told} ({proof}){others}. {cite(state.task_id)}"


def _came(found: FirstBad) -> str:
    told = came_with(found, code, lambda subject: escape(one_line(subject, _KEY)))
    owners = f" These files are owned by {', '.join(map(code, found.owners))}." if found.owners else ""
    return f"{sentence(told)}.{owners}"


def _waiver(waived: Waived, row: Row) -> str:
    until = f" until {waived.expires}" if waived.expires else ""
    owner = f" ({escape(one_line(waived.owner, _KEY))})" if waived.owner else ""
    part = "" if len(waived.tests) >= row.tests else f" for {len(waived.tests)} of its {row.tests} failing tests"
    return (
        f"Waived in the newest run by {code(waived.id, _KEY)}{until}{part}: {escape(one_line(waived.reason))}{owner}."
    )


def _where(row: Row) -> str:
    parts = [code(row.simulators)] if row.simulators else []
    if row.commit:
        state = ", with uncommitted changes" if row.dirty else ""
        branch = f" on {code(row.branch)}" if row.branch else ""
        parts.append(f"commit {code(row.commit[:12])}{branch}{state}")
    return ", ".join(parts)


def _rationale(cause: Cause, kind: str) -> str:
    origin, task = cause.newest.origin, cause.task_ids[0]
    pattern = f", the failure recognised by the pattern {code(cause.newest.pattern)}" if cause.newest.pattern else ""
    sure = "" if origin.type == "UNKNOWN" else f" with confidence {origin.confidence:.2f}"
    lines = [f"{origin.type}{sure}{pattern} {cite(task)}:", ""]
    lines += [f"- {escape(one_line(reason))} {cite(task)}" for reason in origin.reasons]
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


def _reproduce(cause: Cause) -> str:
    command, task = cause.newest.command, cite(cause.task_ids[0])
    if command is None:
        return _without_command(cause.newest, task)
    seeded = ", with its seed" if seed_of(command) is not None else ""
    where = f", {start(command)}" if start(command) else ""
    told = f"This runs the last failure again{seeded}{where} {task}:"
    masked = f"\n\n{masked_note(command)}." if masked_note(command) else ""
    return f"{told}\n\n{fence(from_anywhere(command), 'sh', _LONGEST_COMMAND)}{masked}{_passing(cause)}"


def _without_command(newest: Occurrence, task: str) -> str:
    if newest.unreproducible:
        return f"No command can reproduce the last failure: {escape(one_line(newest.unreproducible))} {task}."
    if newest.reproduce.strip():  # a record of schema 1 has text, which starts from pytest's root folder
        return f"This runs the last failure again {task}:\n\n{fence(newest.reproduce, 'sh')}"
    return "No command is on record for the newest occurrence."


def _passing(cause: Cause) -> str:
    """The same command with a seed with which the test passed: the two runs can be compared."""
    command = cause.newest.command
    ran = {
        (test.nodeid, test.simulator or "") for test in cause.newest.tests if command and test.nodeid == command.test
    }
    passed = next((each for each in cause.unproven if (each.nodeid, each.simulator) in ran), None)
    if passed is None or passed.failed_seed in {None, passed.seed}:
        return ""
    other = with_seed(command, passed.seed)
    if other is None:
        return ""
    return (
        f"\n\nWith this seed it passed {cite(passed.task_id)}:\n\n{fence(from_anywhere(other), 'sh', _LONGEST_COMMAND)}"
    )


def _occurrences(cause: Cause) -> str:
    rows = [
        (
            row.finished[:10],
            code(row.task_id, 120),
            ", ".join(code(name, 120) for name in row.names[:1]) + (f" +{row.tests - 1}" if row.tests > 1 else ""),
            ", ".join(code(seed) for seed in row.seeds[:5]) + (" …" if len(row.seeds) > len(row.seeds[:5]) else ""),
            code(row.simulators),
            (code(row.commit[:12]) if row.commit else "") + (", without the fix" if row.without_fix else ""),
        )
        for row in cause.rows
    ]
    text = table(("Date", "Task", "Tests", "Seeds", "Simulator", "Commit"), rows)
    if cause.runs > len(rows):
        text += f"\n\nThe newest {len(rows)} of {cause.runs} runs; the folder tasks holds all."
    return text


def _fixes(cause: Cause, page_of: Callable[[str], str | None]) -> str:
    states = cause.fixes
    parts = []
    if states:
        told = ends(*tally(states))
        rows = [_fix_row(state) for state in reversed(states[-_NEWEST_FIXES:])]
        header = ("Date", "Commits", "What was done", "Files", "By", "Result", "Task", "Owners")
        parts.append(f"Newest first{f' ({told})' if told else ''}:\n\n" + table(header, rows))
        if len(states) > len(rows):
            parts.append(f"The newest {len(rows)} of {len(states)} fixes; the folder tasks holds all.")
        if cause.same_commits:
            parts.append(f"{_also(cause.same_commits, page_of)} {cite(states[-1].task_id)}")
        reckoning = _reckoning(states[-1]) if states[-1].fix.result == "open" else ""
        if reckoning:
            parts.append(f"{reckoning} {cite(states[-1].task_id)}")
    else:
        parts.append("No fix is on record.")
    if cause.proposal:
        parts.append(f"{_proposed(cause.proposal, page_of)} {cite(cause.proposal.task_id)}")
    if cause.unproven:
        passes = "\n".join(f"- {_unproven(each)} {cite(each.task_id)}" for each in cause.unproven)
        parts.append(f"Passes that prove no fix, newest first:\n\n{passes}")
    return "\n\n".join(parts)


def _link(fingerprint: str, page_of: Callable[[str], str | None]) -> str:
    page = page_of(fingerprint)
    return f"[{page}]({page}.md)" if page else code(fingerprint)


def _also(causes: Sequence[str], page_of: Callable[[str], str | None]) -> str:
    """Which other causes went away with the newest fix."""
    more = f" and {len(causes) - _OTHERS} more" if len(causes) > _OTHERS else ""
    links = ", ".join(_link(fingerprint, page_of) for fingerprint in causes[:_OTHERS])
    return f"With commits of the newest fix other causes went away, too: {links}{more}."


def _proposed(proposal: Proposal, page_of: Callable[[str], str | None]) -> str:
    """A fix that may help here; nobody has tried it."""
    fix = escape(one_line(in_short(proposal.fix)))
    held = f"held for {_link(proposal.fingerprint, page_of)}, which the pattern {code(proposal.pattern)} names too"
    return f"A proposal, not tried for this cause: {fix}. It {held}."


def _elsewhere(state: FixState) -> str:
    """On which branches a fix was seen, and in how many further tests of the cause."""
    told = []
    if len(state.branches) > 1:
        more = f" and {len(state.branches) - _OTHERS} more" if len(state.branches) > _OTHERS else ""
        told.append(f"on {', '.join(map(code, state.branches[:_OTHERS]))}{more}")
    if state.other_tests:
        told.append(f"{state.other_passes} of {_count(state.other_tests, 'other test')} of the cause passed, too")
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
    """Who answers for the files of a fix, and who wrote the lines that it touched."""
    authors = ", ".join(escape(one_line(author, _KEY)) for author in fix.authors)
    told = [", ".join(map(code, fix.owners)), f"lines by {authors}" if authors else ""]
    return "; ".join(filter(None, told))


def _done(fix: Fix) -> str:
    """The words of the fix; of several commits their subjects, each with its name."""
    if fix.by == "git" and fix.log_count > 1:
        names = [line.partition(" ") for line in fix.log[:_SUBJECTS]]
        told = [f"{code(name[:_COMMIT])} {escape(one_line(subject, _KEY))}" for name, _, subject in names]
        rest = fix.log_count - len(told)
        note = [escape(one_line(fix.note))] if fix.note else []
        return "; ".join([*told, *([f"and {rest} more"] if rest else []), *note])
    return escape(one_line("; ".join(filter(None, (fix.text, fix.note)))))


def _became(state: FixState) -> str:
    became: str = state.fix.result
    passed = f"passed {state.fix.passes} of {_count(state.fix.needed, 'run')} needed"
    if state.fix.result == "open":
        became += f", fixed: {passed} to call it held" if state.fix.counts else f", {passed}"
    elif state.fix.held_in:
        became += f" since {code(state.fix.held_in, 120)}"
    if state.returned:
        # Before it had passed often enough nobody could know that it was no fix.
        became += f", returned {state.returned[:10]}" + (f", {passed}" if state.fix.result == "failed" else "")
    return "; ".join(filter(None, (became, _elsewhere(state))))


def _reckoning(state: FixState) -> str:
    """Where the number of passing runs comes from that a fix needs."""
    past, needed = state.past, state.fix.needed
    if past is None or state.fix.counts:
        return ""
    failed, runs = past.rate.taken
    known = max(1, past.rate.runs)
    taken = "" if runs == known else f", taken as {failed} of {runs} since one run tells no rate"
    counted = " on record"
    if past.left_out:
        passes = "1 earlier pass does" if past.left_out == 1 else f"{past.left_out} earlier passes do"
        counted = f" that count ({passes} not, from before the cause came in: chance explains no more of them)"
    once = " A seed that failed counts once." if state.failed_seed is not None and not past.comes_and_goes else ""
    chance = f"{past.rate.left_to_chance(needed) * 100:.1f} %"
    seed = f"seed {code(state.failed_seed)}" if state.failed_seed is not None else "the seed that failed"
    settles = (
        "They passed and failed with the same sources and seed, so that no single pass settles it."
        if past.comes_and_goes
        else "The seed with which they failed is not on record, so that no single pass settles it."
        if state.failed_seed == UNKNOWN_SEED
        else f"A pass with {seed} settles it at once."
    )
    return (
        f"Passes of the newest fix may be chance: its tests failed in {failed} of {_count(known, 'run')}{counted}"
        f"{taken}.{once} Chance explains {needed} passing runs in {chance} of cases, (1 - {failed}/{runs})^{needed}."
        f" {settles}"
    )


def _unproven(each: UnprovenPass) -> str:
    why = {
        "seed": "only the seed is known to differ",
        "nothing": "nothing is known to differ",
        "older": "at an older commit, so the cause came in after it",
        "branch": "on a branch that never had the commit that failed",
        "configuration": "configuration not recorded, so it may have run with other parameters than those that failed",
    }
    seeds = ""
    if each.changed == "seed" and (each.seed is None or each.failed_seed == UNKNOWN_SEED):
        why["seed"] = "nothing is known to differ, and one of the seeds is not on record"
    elif each.seed is not None:
        failed = f", failed with {code(each.failed_seed)}" if each.failed_seed not in {None, each.seed} else ""
        seeds = f" with seed {code(each.seed)}{failed}"
    return f"{each.finished[:10]}: {code(each.nodeid, 160)}{seeds}: {why.get(each.changed, 'no fix')}."
