"""Formats statements as text: all outputs have the same words, each with its own markup for names and quotations.

A text starts in lower case and has no full stop; `sentence` makes a sentence of it.
"""

from __future__ import annotations

import functools
import re
from datetime import date
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pytest_dvwiki.causes import statements as of
from pytest_dvwiki.model import FOR_ALL
from pytest_dvwiki.model.sentences import count, few
from pytest_dvwiki.records.kinds import UNKNOWN_SEED
from pytest_dvwiki.records.sides import MAYBE_LATER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.causes.passed import Passed
    from pytest_dvwiki.model import FirstBad, Fix, Gate, Gated, GateReason, Waived

_SHORT = 7
_SUBJECTS = 3
_FILES = 3
_TESTS = 2
_MOST_HOSTS = 6
_BARE_URL = re.compile(r"https?://[\w.~:/?#@!&+=%-]+", re.ASCII)
"""Matches a URL that needs no escaping in Markdown."""


class Style(NamedTuple):
    """The markup of an output for names, quotations and links."""

    name: Callable[[str], str] = str
    """Formats the name of a commit, a file, a test or an owner."""
    quote: Callable[[str], str] = str
    """Formats quoted text, such as the subject of a commit or a reason."""
    link: Callable[[str], str] = str
    """Formats the name of a cause or the path of its page."""
    files: int = 0
    """Maximum number of a fix's files to list."""


PLAIN = Style()


@functools.singledispatch
def text(statement: of.Statement, style: Style = PLAIN) -> str:  # noqa: ARG001  # for the functions registered below
    """Return the text of a statement; empty for commands, because each output formats them differently."""
    return ""


@text.register
def _recalled(statement: of.AlreadyArchived, style: Style = PLAIN) -> str:
    return f"already archived as {style.name(statement.archived_as)}"


@text.register
def _regressed(statement: of.Regressed, style: Style = PLAIN) -> str:  # noqa: ARG001
    why = "its page had been closed" if statement.closed else "its fix had held"
    return f"came back on {statement.date[:10]} after {why}"


@text.register
def _seen(statement: of.Seen, style: Style = PLAIN) -> str:  # noqa: ARG001
    first, last = statement.first[:10], statement.last[:10]
    verb = "reported" if statement.reports == statement.runs else "seen"
    if statement.before:
        seen = f"in {statement.runs} runs since {first}" if statement.runs > 1 else f"once before, on {first}"
    else:
        # A cause that was reported through the API can be without tests.
        tests = f" with {count(statement.tests, 'failing test')}" if statement.tests else ""
        when = f"on {first}" if first == last else f"first on {first}, last on {last}"
        seen = f"in {count(statement.runs, 'run')}{tests}, {when}"
    kind = "other causes of its subtype: " if statement.of_kind else ""
    reported = f"{statement.reports} of them only reported" if 0 < statement.reports < statement.runs else ""
    return ", ".join(
        filter(None, (f"{kind}{verb} {seen}", reported, statement.status, ends(statement.held, statement.failed)))
    )


_IN_PLACE = {True: "; that fix is still in place: maybe another fault", False: "; that fix was undone", None: ""}


@text.register
def _fixed_by(statement: of.FixedBy, style: Style = PLAIN) -> str:
    fix = statement.fix
    fix_and_date = ", ".join(filter(None, (fix_text(fix, style), fix.date[:10])))
    words = {
        "held": f"fixed by {fix_and_date}, {_held(fix, statement.until) if statement.is_back else 'held'}",
        "elsewhere": f"other tests or simulators {'were' if fix.counts else 'may have been'} fixed by {fix_and_date}",
        "passing": f"fixed by {fix_and_date}: {passed_of(fix)} for it to hold",
        "chance": f"maybe fixed by {fix_and_date}: {passed_of(fix)}, which may be chance",
        "stated": f"said to be fixed by {fix_and_date}: {passed_of(fix)}",
        "returned": f"{'came back' if fix.in_place is False else 'failed again'} after the fix by {fix_and_date}",
        "failed": f"maybe not fixed by {fix_and_date}",
        "between": f"passed in {count(fix.passes, 'run')} after {fix_and_date}",
    }[statement.standing]
    if statement.standing == "returned" or statement.is_back:
        words += _IN_PLACE[fix.in_place]
        if fix.in_place is None and fix.maybe_later:
            words += "; maybe another fault"
    if statement.standing == "between":
        words += _IN_PLACE[fix.in_place].replace("that fix", "that change")
    last = statement.failed_since[:10]
    return f"{words}; other tests or simulators failed since, last on {last}" if last else words


def _held(fix: Fix, until: str) -> str:
    days = (date.fromisoformat(until[:10]) - date.fromisoformat(fix.date[:10])).days if until and fix.date else 0
    held = f"held {count(days, 'day')}" if days > 0 else "held"
    if not fix.returned:
        return held
    return f"{held}, {'failed again' if fix.in_place else 'back since'} {fix.returned[:10]}"


@text.register
def _without_fix(statement: of.WithoutFix, style: Style = PLAIN) -> str:  # noqa: ARG001
    return "this commit does not contain the newest fix"


@text.register
def _beside(statement: of.Beside, style: Style = PLAIN) -> str:
    if statement.why == "apart":
        return (
            "treated as a different fault from the other failures of this check in this run"
            " (their simulations read no changed file in common)"
        )
    why = {
        "": "",
        "unread": " (this simulation read none of the changes that introduced that one)",
        "undone": " (the changes that introduced that one are undone)",
        "passed": " (these tests passed with the changes that introduced that one)",
    }[statement.why]
    why = f" (fixed by {fix_text(statement.fix, style)})" if statement.fix is not None else why
    return f"treated as a different fault from {style.link(statement.page)}, reported by the same check{why}"


@text.register
def _infrastructure(statement: of.Infrastructure, style: Style = PLAIN) -> str:
    hosts = ", ".join(map(style.name, statement.hosts[:_MOST_HOSTS]))
    more = f" and {len(statement.hosts) - _MOST_HOSTS} more" if len(statement.hosts) > _MOST_HOSTS else ""
    where = f", on {hosts}{more}" if hosts else ""
    since = f" since {statement.since[:10]}" if statement.jobs > 1 else ""
    return f"not held against any test; it affected {count(statement.jobs, 'job')}{since}{where}"


@text.register
def _tracked(statement: of.Tracked, style: Style = PLAIN) -> str:
    owner = f"owner {style.quote(statement.owner)}" if statement.owner else ""
    links = ", ".join(link if _BARE_URL.fullmatch(link) else style.name(link) for link in statement.links)
    section = f"specification {style.quote(statement.spec_section)}" if statement.spec_section else ""
    return "; ".join(filter(None, (owner, links and f"see {links}", section)))


@text.register
def _waiver(statement: of.Accepted, style: Style = PLAIN) -> str:
    number = len(statement.waived.tests)
    part = f" for {number} of {count(statement.tests, 'test')}" if number < statement.tests else ""
    return f"{waiver_text(statement.waived, style)}{part}"


@text.register
def _came(statement: of.Came, style: Style = PLAIN) -> str:
    """Return the commits that introduced a cause.

    If unknown, return when it was first seen and its test last passed.
    """
    found = statement.found
    match statement.doubt:
        case "":
            return _introduced(statement, style)
        case "other tests":
            why = "the tests that failed with it pass now"
        case "hidden":
            why = "its tests failed with other causes in between, and sources changed"
        case _ if found.dirty:
            why = "these edits are gone"
        case _:
            why = f"some {'of these changes' if found.passed_with == 'same' else 'changes since that pass'} are undone"
    return f"{_introduced(statement, style)}; {why}: maybe another fault"


def _introduced(statement: of.Came, style: Style) -> str:
    found = statement.found
    good, bad = style.name(short(found.good)), style.name(short(found.bad))
    files = ", ".join(map(style.name, found.files[:_FILES]))
    more = f" and {found.file_count - _FILES} more" if found.file_count > _FILES else ""
    owners = f"; owners {' '.join(map(style.name, found.owners))}" if found.owners else ""
    where = f" in {files}{more}" if files and not found.log_count else ""
    if found.passed_with != "same":
        seen = "seen again" if statement.again else "first seen"
        return f"{seen} at {_last_pass(found, good, bad, where)}{owners}"
    if found.dirty:
        absent = f"or with a commit after {good}, where it passed"
        absent = "where it was absent without them" if found.good == found.bad else absent
        return f"came with uncommitted changes{where} at {bad}, {absent}{owners}"
    commits = [(short(commit), subject) for commit, _, subject in (line.partition(" ") for line in found.likely)]
    named = "; ".join(f"{style.name(commit)} {style.quote(subject)}" for commit, subject in commits[:_SUBJECTS])
    rest = found.likely_count - len(commits[:_SUBJECTS])
    named += f"; and {rest} more" if rest > 0 else ""
    others, joined = (
        # Tests are named without their file, to save lines in the terminal. Their last part alone is often the same.
        few([style.name(each.partition("::")[2] or each) for each in tests], _TESTS)
        for tests in (found.passed_after, found.maybe_newer)
    )
    later = f"; but {others} passed after that: a newer fault" if others else ""
    later += f"; but {joined} passed after that: chance, or a newer fault" if joined else ""
    if found.log_count == 1:
        return f"came with {named}{f' ({files}{more})' if files else ''}{owners}{later}"
    if not found.log_count:
        return f"came after {good}, with {bad} or earlier{owners}{later}"
    things = "changes" if found.good.startswith("@") else "commits"
    if found.likely_count == 1 and found.unread_count:
        return f"came with {named}, {only_read(f'{found.log_count} {things} after {good} up to {bad}')}{owners}{later}"
    named += f"; {unread(found.unread_count)}" if found.unread_count else ""
    return f"came with one of {found.log_count} {things} after {good} up to {bad}: {named}{owners}{later}"


def _last_pass(found: FirstBad, good: str, bad: str, where: str) -> str:
    """Return where a cause was seen and its test's last pass before that, with another seed or maybe by chance."""
    how = "with another seed" if found.passed_with == "other" else "maybe by chance"
    if found.good == found.bad and not found.dirty:
        return f"{bad}, where it passed before {how}"
    edits = f" with uncommitted changes{where}" if found.dirty else ""
    return f"{bad}{edits}, passed before that {how} at {good}"


@text.register
def _seen_on(statement: of.SeenOn, style: Style = PLAIN) -> str:
    split = statement.split
    failed, passed = (" and ".join(map(style.name, names)) for names in (split.failed, split.passed))
    seeds = {"same": "", "other": ", with other seeds", "unknown": ", maybe with other seeds"}[split.seeds]
    return f"seen on {failed} alone; the same test passed on {passed} at {style.name(short(split.commit))}{seeds}"


@text.register
def _advice(statement: of.Advice, style: Style = PLAIN) -> str:
    if statement.fix is None:
        return statement.text
    # The terminal cuts long lines, so the other cause comes first: its fix must not look like a fix of this cause.
    back = f", but it {after_return(statement.fix)}" if statement.fix.returned else ""
    return f"held for another {statement.subtype}{back}: {fix_text(statement.fix, style)}"


@text.register
def _unnamed(statement: of.Unnamed, style: Style = PLAIN) -> str:  # noqa: ARG001
    return "none known: no pattern matches it; `dvwiki patterns propose` drafts one from the records"


@text.register
def _proposed(statement: of.Proposed, style: Style = PLAIN) -> str:
    source = f"{style.link(statement.fingerprint)}, which the pattern {style.name(statement.pattern)} matches too"
    return f"a proposal, not tried for this cause: a fix like {fix_text(statement.fix, style)}; it held for {source}"


@text.register
def _reproduce(statement: of.Reproduce, style: Style = PLAIN) -> str:
    return f"no command is known: {style.quote(statement.why_not)}" if statement.command is None else ""


@text.register
def _unseeded(statement: of.Unseeded, style: Style = PLAIN) -> str:
    file = style.name(statement.file)
    return f"the seed may not reproduce the run, because {file} draws random numbers that cocotb does not seed"


@text.register
def _flaky(statement: of.Flaky, style: Style = PLAIN) -> str:  # noqa: ARG001
    seeds = [each.seed for each in statement.attempts if each.seed is not None]
    how = "failed, then passed"
    if seeds and len(seeds) == len(statement.attempts):
        *before, last = seeds
        how += f" with the same seed ({last})" if {*seeds} == {last} else f" with seed {last}, not {', '.join(before)}"
    return f"{how}; flaky in {statement.flaky} of {count(statement.runs, 'run')} on record that ran it"


def short(commit: str, digits: int = _SHORT) -> str:
    """Return a commit's hash shortened to some digits; a revision outside git (`@1234567`) is not shortened."""
    return commit if commit.startswith("@") else commit[:digits]


def sentence(clause: str) -> str:
    """Return a text as a sentence, with a capital letter and a full stop."""
    return f"{clause[:1].upper()}{clause[1:].removesuffix('.')}."


def unread(number: int) -> str:
    """Return a phrase about commits that change no code known to be read by the simulation."""
    return f"and {number} that {'changes' if number == 1 else 'change'} no code known to be read"


def only_read(commits: str) -> str:
    """Return a phrase about the only commit of several that changes code known to be read by the simulation."""
    return f"the only one of {commits} that changes code known to be read"


def ends(held: int, failed: int) -> str:
    """Return how many fixes held and failed, such as `3 fixes held, 1 failed`; empty if there are none."""
    results = [(number, word) for number, word in ((held, "held"), (failed, "failed")) if number]
    nouns = [" fix" if number == 1 else " fixes" for number, _ in results[:1]] + [""]
    return ", ".join(f"{number}{noun} {word}" for (number, word), noun in zip(results, nouns, strict=False))


def fix_text(fix: Fix, style: Style = PLAIN) -> str:
    """Return one line about a fix: its commit or range of commits, or that it is uncommitted, and its text."""
    described = style.quote(fix.text)
    # The text for uncommitted changes already names their files.
    if style.files and fix.log_count and fix.files:
        more = f", +{fix.file_count - style.files}" if fix.file_count > style.files else ""
        described += f" ({', '.join(map(style.name, fix.files[: style.files]))}{more})"
    if fix.unread_count:
        is_only = fix.likely_count == 1
        described += f", {only_read(f'{fix.log_count} commits') if is_only else unread(fix.unread_count)}"
    if fix.maybe_later:
        described += f"; {MAYBE_LATER}"
    # Uncommitted changes come first, because outputs cut long lists of commits at their end.
    edits = f"{style.quote(fix.note)}, or " if fix.note else ""
    if not fix.commits or fix.commits[0] == fix.commits[1]:
        return f"{edits}{described}"
    # A single commit is taken from git's log: the run that passed may have been at a later one that changed no sources.
    only = fix.likely_count == 1
    names = [fix.log[0].partition(" ")[0]] if only else fix.commits if fix.log_count else fix.commits[1:]
    return f"{edits}{style.name('..'.join(map(short, names)))} {described}"


class AnyWaiver(Protocol):
    """A waiver from the project's file, or one recorded with the failures that it matched."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def reason(self) -> str: ...  # noqa: D102
    @property
    def owner(self) -> str: ...  # noqa: D102
    @property
    def expires(self) -> str | None: ...  # noqa: D102


def waiver_text(waiver: AnyWaiver, style: Style = PLAIN) -> str:
    """Return a waiver's id and reason, and if given its owner and expiry."""
    if waiver.id == FOR_ALL:
        return f"[WAIVED_AS_INFO] {style.quote(waiver.reason)}"
    until = f"until {waiver.expires}" if waiver.expires else ""
    terms = ", ".join(filter(None, (waiver.owner and style.quote(waiver.owner), until)))
    return f"{style.name(waiver.id)}: {style.quote(waiver.reason)}{f' ({terms})' if terms else ''}"


_GATED: dict[GateReason, str] = {"new": "NEW", "regressed": "REGRESSED", "unnamed": "unnamed and not on record"}
_MOST_GATED = 3


def gate_text(mode: str, gate: Gate | None, *, refused: str, status: int, waived: Sequence[Waived] = ()) -> str:
    """Return one line about the gate's decision, or the reason why it changed nothing.

    Args:
        mode: The mode of the gate, as set by `--dvwiki-gate`.
        gate: The decision; None if there is none.
        refused: Why the gate must not act; empty if it may.
        status: The exit status set by pytest.
        waived: The waivers of the run.
    """
    refused = refused or (gate.refused if gate is not None else "the run has no record")
    base = f" of {gate.base[:_SHORT]}" if gate is not None and gate.base else ""
    name = f"dvwiki gate {mode}{base}"
    if refused or gate is None:
        return f"{name}: exit status stays {status}, because {refused}"
    if gate.is_open:
        parts = _gated(gate.failures, waived)
        return f"{name}: let {_number(gate.failures)} through, exit status 0 instead of {status}: {parts}"
    stopped = [each for each in gate.failures if not each.passes]
    return f"{name}: stopped {_number(stopped)}, exit status {status}: {_gated(stopped, waived)}"


def _number(rows: Sequence[Gated]) -> str:
    return count(len({test for row in rows for test in row.tests}), "failed test")


def _gated(rows: Sequence[Gated], waived: Sequence[Waived]) -> str:
    """Return the number of tests for each reason of the gate, with some test names or, if waived, the waivers."""
    parts = []
    for reason in dict.fromkeys(row.reason for row in rows):
        tests = dict.fromkeys(test for row in rows if row.reason == reason for test in row.tests)
        names = list(dict.fromkeys(test.partition("::")[2] or test for test in tests))
        if reason == "waived":
            names = list(dict.fromkeys(each.id for each in waived if not tests.keys().isdisjoint(each.tests))) or names
        more = f", +{len(names) - _MOST_GATED}" if len(names) > _MOST_GATED else ""
        parts.append(f"{len(tests)} {_GATED.get(reason, reason)} ({', '.join(names[:_MOST_GATED])}{more})")
    return ", ".join(parts)


def after_return(fix: Fix) -> str:
    """Return a phrase about a cause that came back after a fix, or a check that fails with the fix in place."""
    day = (fix.returned or "")[:10]
    return f"failed again {day} with this fix in place, maybe from another fault" if fix.in_place else f"returned {day}"


def passed_of(fix: Fix) -> str:
    """Return the number of passing runs, and how many the fix needs to hold or, before that, to rule out chance."""
    return f"passed {fix.passes} of {count(fix.needed if fix.counts else fix.needed_as_proof, 'run')} needed"


# Statements on the passes of a run


def of_passes(statement: Passed) -> str:
    """Return what passes show: that a fix holds, that they are too many for chance, or why they do not prove a fix.

    Empty if a pass in this run proves the fix.
    """
    if statement.word == "HELD":
        passes = statement.fix.passes if statement.fix is not None else 0
        rest = "no test that it fixed failed from this cause again" if statement.no_fix else "the cause did not return"
        return f"the fix holds: {count(passes, 'run')} passed, and {rest}"
    again = statement.pass_
    if again is None and statement.fix is not None:
        return f"{count(statement.fix.passes, 'run')} passed, too many to be chance"
    if again is None or (statement.no_fix is None and statement.no_proof is None):
        return ""
    if statement.no_fix is not None:
        failed_seed = UNKNOWN_SEED if again.seed_unknown else again.failed_seed
        # The tests that still fail may have another fault, which the same check reports.
        verdict = "not called fixed" if statement.no_fix == "fails elsewhere" else "no fix"
        return f"{verdict}: {no_fix(statement.no_fix, again.seed, failed_seed)}"
    fix = statement.on_record
    passed = passed_of(fix) if fix is not None and fix.needed else ""
    match statement.no_proof:
        case "new stimulus":
            doubt = "may be chance, because the stimulus generator may have changed too"
        case "unknown seed":
            doubt = "may be chance, because no seed on record determines its stimulus"
        case "comes and goes":
            doubt = "may be chance, because it is intermittent"
        case _:
            doubt = f"may be chance, because it failed with seed {again.failed_seed}"
            return f"{doubt}: {f'{passed}, or ' if passed else ''}run it with that seed to be sure"
    return f"{doubt}: {passed}" if passed else doubt


_NO_FIX = {
    "fails elsewhere": "other tests fail at the same check",
    "seed": "the same sources failed before, and no seed on record determines its stimulus",
    "older": "the commit is older than the one that failed, and the cause came after it",
    "branch": "the branch never had the commit that failed",
    "configuration": "configuration not recorded, so the parameters may differ from those of the failure",
    "nothing": "the same sources failed before, so it is intermittent",
}


def no_fix(changed: str, seed: str | None, failed_seed: str | None) -> str:
    """Return why a pass does not prove a fix, given what changed between failure and pass."""
    if changed == "seed":
        if failed_seed in {None, UNKNOWN_SEED} or seed is None:
            return _NO_FIX["seed"]
        only_seed = f"only the seed is known to differ ({seed}, it failed with {failed_seed})"
        return f"{only_seed}; run it with seed {failed_seed} to be sure"
    return _NO_FIX.get(changed, _NO_FIX["nothing"])
