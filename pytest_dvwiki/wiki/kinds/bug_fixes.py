"""The section Fixes of a bug page: what was done about the cause, and how it turned out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki import nodeids
from pytest_dvwiki.causes.statements import Proposed
from pytest_dvwiki.causes.words import after_return, ends, no_fix, passed_of, sentence, unread
from pytest_dvwiki.model.sentences import count, few
from pytest_dvwiki.records.fixes import tally
from pytest_dvwiki.records.kinds import UNKNOWN_SEED
from pytest_dvwiki.records.sides import MAYBE_LATER
from pytest_dvwiki.wiki.text.markdown import cite, code, escape, one_line, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.causes.statements import Statement
    from pytest_dvwiki.model import Fix
    from pytest_dvwiki.records.aggregate import CauseHistory, UnprovenPass
    from pytest_dvwiki.records.fixes import FixState

_NAME = 100
_COMMIT = 8
_SUBJECTS = 5
_FILES = 4
_NEWEST = 20
_OTHERS = 5


def section(
    history: CauseHistory, stated: Sequence[tuple[Statement, str]], page_of: Callable[[str], str | None]
) -> str:
    """Return the content of the Fixes section.

    Args:
        history: The history of the cause, from the records.
        stated: The statements about the cause, each with its text.
        page_of: Returns the name of a fingerprint's bug page; None if there is none.
    """
    states = history.fixes
    parts = []
    if states:
        tallied = ends(*tally(states))
        rows = [_fix_row(state) for state in reversed(states[-_NEWEST:])]
        header = ("Date", "Commits", "What was done", "Files", "By", "Result", "Task", "Owners")
        parts.append(f"Newest first{f' ({tallied})' if tallied else ''}:\n\n" + table(header, rows))
        if len(states) > len(rows):
            parts.append(f"The newest {len(rows)} of {len(states)} fixes; `tasks/` has all of them.")
        if history.same_commits:
            parts.append(f"{_also(history.same_commits, page_of)} {cite(states[-1].task_id)}")
        reckoning = _reckoning(states[-1]) if states[-1].fix.result == "open" else ""
        if reckoning:
            parts.append(f"{reckoning} {cite(states[-1].task_id)}")
    else:
        parts.append("No fix is on record.")
    parts += [f"{sentence(words)} {cite(each.task_id)}" for each, words in stated if isinstance(each, Proposed)]
    if history.unproven:
        passes = "\n".join(f"- {_unproven(each)} {cite(each.task_id)}" for each in history.unproven)
        parts.append(f"Passes that do not prove a fix, newest first:\n\n{passes}")
    return "\n\n".join(parts)


def link(fingerprint: str, page_of: Callable[[str], str | None]) -> str:
    """Return a link to the bug page of a cause; if there is no page, the fingerprint."""
    page = page_of(fingerprint)
    return f"[{page}]({page}.md)" if page else code(fingerprint)


def _also(causes: Sequence[str], page_of: Callable[[str], str | None]) -> str:
    """Return a sentence that lists the other causes fixed by the commits of the newest fix."""
    links = few([link(fingerprint, page_of) for fingerprint in causes], _OTHERS)
    return f"The commits of the newest fix also fixed other causes: {links}."


def _elsewhere(state: FixState) -> str:
    """Name the branches where a fix passed, if there are several, and count the cause's other tests that passed."""
    clauses = []
    if len(state.branches) > 1:
        clauses.append(f"on {few([*map(code, state.branches)], _OTHERS)}")
    if state.other_tests:
        clauses.append(f"{state.other_passes} of {count(state.other_tests, 'other test')} of the cause passed, too")
    return "; ".join(clauses)


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
    """Return the owners of the files that a fix changed, and the authors of the lines that it touched."""
    authors = ", ".join(escape(one_line(author, _NAME)) for author in fix.authors)
    names = [", ".join(map(code, fix.owners)), f"lines by {authors}" if authors else ""]
    return "; ".join(filter(None, names))


def _done(fix: Fix) -> str:
    """Describe what a fix did: its text or, if there are several commits, their hashes and subjects."""
    # Nothing shows whether the commits or the uncommitted changes were the fix.
    note = f"or {fix.note}" if fix.note and fix.text else fix.note
    notes = [each for each in (note, MAYBE_LATER if fix.maybe_later else "") if each]
    if fix.by == "git" and fix.log_count > 1:
        names = [line.partition(" ") for line in fix.likely[:_SUBJECTS]]
        subjects = [f"{code(name[:_COMMIT])} {escape(one_line(subject, _NAME))}" for name, _, subject in names]
        rest = fix.likely_count - len(subjects)
        more = [f"and {rest} more"] if rest else []
        more += [unread(fix.unread_count)] if fix.unread_count else []
        return "; ".join([*subjects, *more, *map(escape, map(one_line, notes))])
    return escape(one_line("; ".join(filter(None, (fix.text, *notes)))))


def _became(state: FixState) -> str:
    fix = state.fix
    became: str = "maybe not a fix" if fix.by_chance else fix.result
    if fix.result == "open":
        became += f", {'fixed: ' if fix.counts else ''}{passed_of(fix)}{' for it to hold' if fix.counts else ''}"
    elif fix.held_in:
        became += f" since {code(fix.held_in, 120)}"
    if fix.returned:
        # A failed fix had too few passes to rule out chance: show how many it had.
        became += f", {after_return(fix)}" + (f", {passed_of(fix)}" if fix.result == "failed" else "")
    return "; ".join(filter(None, (became, _elsewhere(state))))


def _reckoning(state: FixState) -> str:
    """Explain how many passing runs a fix needs as proof, and how that number is computed; empty if it needs none."""
    past, needed = state.past, state.fix.needed_as_proof
    if past is None or state.fix.counts:
        return ""
    failed, runs = past.rate.taken
    known = max(1, past.rate.runs)
    taken = (
        ""
        if runs == known
        else f", counted as {failed} of {runs} because a few failures do not show that the test always fails"
    )
    counted = " on record"
    if past.left_out:
        passes = "1 earlier pass" if past.left_out == 1 else f"{past.left_out} earlier passes"
        counted = f" (leaving out {passes}, which chance alone does not explain: the cause is newer)"
    once = " A seed that failed counts as one run." if state.failed_seed is not None and not past.comes_and_goes else ""
    chance = f"{past.rate.chance_of_passing(needed) * 100:.1f} %"
    seed = f"seed {code(state.failed_seed)}" if state.failed_seed is not None else "the seed that failed"
    settles = (
        "The tests passed and failed with the same sources and seed, so no single pass proves the fix."
        if past.comes_and_goes
        else "No seed on record determines their stimulus, so no single pass proves the fix."
        if state.failed_seed == UNKNOWN_SEED
        else f"The change may have altered the stimulus of {seed}, so no single pass proves the fix."
        if state.seed_passed
        else f"A single pass with {seed} proves the fix, unless the change altered the stimulus of that seed."
    )
    return (
        f"Passes after the newest fix may be chance: its tests failed in {failed} of {count(known, 'run')}{counted}"
        f"{taken}.{once} {needed} runs would all pass by chance in {chance} of cases: (1 - {failed}/{runs})^{needed}."
        f" {settles}"
    )


def _unproven(each: UnprovenPass) -> str:
    why = no_fix(each.changed, each.seed, each.failed_seed)
    return f"{each.finished[:10]}: {code(nodeids.shown(each.nodeid), 160)}: {escape(one_line(why))}."
