"""Classify a failure, or the text of a log."""

from __future__ import annotations

import functools
from bisect import bisect_left
from operator import itemgetter
from typing import TYPE_CHECKING, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.fingerprint import fingerprint
from pytest_dvwiki.fingerprint_v1 import fingerprint_v1
from pytest_dvwiki.logtext.messages import strip_line
from pytest_dvwiki.logtext.report_parts import ReportParts, parse_report
from pytest_dvwiki.model import RunnerUp, Verdict
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.redact import redact
from pytest_dvwiki.triage import compared
from pytest_dvwiki.triage import origin as origins
from pytest_dvwiki.triage.alike import Likeness
from pytest_dvwiki.triage.label import label_of
from pytest_dvwiki.triage.logged import with_logged
from pytest_dvwiki.triage.missing import of_any_tool
from pytest_dvwiki.triage.place import (
    Frames,
    call_of_check,
    frame_in_excerpt,
    is_part_of_identity,
    place_of,
    with_place,
)
from pytest_dvwiki.triage.primary import Choice, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Excerpt, Failure, Frame, Like
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.patterns.schema import Subtype
    from pytest_dvwiki.triage.candidates import Candidate

RUNNERS_UP = 3
EXCERPT_LINES = 40
LONGEST_PRIMARY = 1000
_LOGS = 2
"""Maximum number of logs whose ends are shown for a killed simulation, such as the test's log and its stderr."""
_LONGEST_LINE = 1000
_MANY = 64
"""Minimum number of failures for which comparing them saves time."""
_MOST_KINDS = 4096
"""Maximum number of cached kinds of failures; a full cache is emptied."""
_LIMIT = "SimTimeoutError"
_OF_TEST = frozenset({"log", "stdout", "stderr"})
_NOTHING = "the failure left no text"
"""The first cause of a failure without any evidence."""


class _Parts(TypedDict):
    """The components of a fingerprint."""

    report_class: str
    file: str | None
    message_id: str | None
    function: str | None
    source_line: str | None
    text: str


class FirstCause(Struct, frozen=True):
    """The first cause, with everything that the verdict depends on."""

    choice: Choice | None
    text: str
    frame: Frame | None
    in_simulator: bool
    in_libraries: bool = False
    """Whether there is a traceback, and all its frames are in libraries and tools."""
    ran_simulator: bool = False
    sources: tuple[str, ...] = ()
    excerpt: str = ""
    phase: str = "call"
    sim_time: str | None = None
    values: str = ""
    """The rewritten assertion that pytest printed below an exception's message; empty if none."""
    difference: str = ""
    """The first difference that pytest found between two sequences; empty if none."""


class Classifier:
    """Classifies failures by the patterns of a registry and the history of an archive."""

    watched: Callable[[], Sequence[str]] = tuple
    """Returns lower-case strings. Besides messages, the matcher also has to find each line with one of the strings."""

    def __init__(
        self,
        registry: Registry,
        history: History | None = None,
        hooks: Sequence[Callable[[Failure], Verdict | None]] = (),
    ) -> None:
        """Set up the classifier.

        Args:
            registry: The patterns.
            history: The archive, to look up known causes and their origins.
            hooks: Functions that are called in this order before the patterns are tried; the first verdict that one
                returns is used.
        """
        self.registry = registry
        self.matcher = Matcher(registry, watched=self.watched())
        self._history = history
        self._hooks = tuple(hooks)
        self._kept: dict[Failure, Verdict | FirstCause] = {}
        self._alike: dict[Hashable, Verdict] = {}
        self._borrowed: set[int] = set()
        """The `id()` of each failure that got the verdict of a similar failure, with the texts of the similar one."""

    def classify_all(self, failures: Sequence[Failure]) -> list[Verdict]:
        """Return the verdict on each failure of a run.

        Failures that are alike get one verdict, with the message of the first; `in_full` returns the verdict with a
        failure's own message.
        """
        self._alike.clear()
        self._borrowed.clear()
        few = len(failures) < _MANY
        return [self.classify(failure) if few else self._as_one_alike(failure) for failure in failures]

    def in_full(self, failure: Failure, verdict: Verdict) -> Verdict:
        """Return a verdict of the last `classify_all`, with the message of the failure itself, not of a similar one."""
        if id(failure) not in self._borrowed:
            return verdict
        own = self._named(failure, self._first_cause(failure))
        return replace(own, origin=verdict.origin, clues=verdict.clues, follower=verdict.follower)

    def _as_one_alike(self, failure: Failure) -> Verdict:
        if self._kept:
            return self.classify(failure)
        given = self._given(failure)  # hooks see each failure, because they may look at values
        if given is not None:
            return self._as_decided(given)
        key = self._likeness.key(failure)
        known = self._alike.get(key) if key is not None else None
        if known is not None:
            self._borrowed.add(id(failure))
            return known
        verdict = self._named(failure, self._first_cause(failure))
        if key is not None:
            if len(self._alike) >= _MOST_KINDS:
                self._alike.clear()
            self._alike[key] = verdict
        return verdict

    @functools.cached_property
    def _likeness(self) -> Likeness:
        return Likeness(self.registry.entries)

    def classify(self, failure: Failure, *, keep: bool = False) -> Verdict:
        """Return the verdict on a failure.

        Args:
            failure: The failure.
            keep: Whether to keep the results of hooks and patterns, so that the failure can be classified again when
                there are more records.
        """
        if keep or self._kept:
            # The key has no command: a command cannot be hashed, and may change at the end of a session.
            key = replace(failure, command=None)
            found = self._kept.pop(key, None) or self._find(failure)
            if keep:
                self._kept[key] = found
        else:
            found = self._find(failure)
        return self._as_decided(found) if isinstance(found, Verdict) else self._named(failure, found)

    def _as_decided(self, verdict: Verdict) -> Verdict:
        return origins.as_decided(verdict, self._history.cause(verdict.fingerprint) if self._history else None)

    def _named(self, failure: Failure, first_cause: FirstCause) -> Verdict:
        verdict, choice = self.verdict_of(first_cause), first_cause.choice
        # The failure's frame belongs to the exception that ended the test, not to a report with a location of its own.
        is_elsewhere = choice is not None and not choice.candidate.exception and verdict.place is not None
        return replace(verdict, follower=not failure.started, frame=None if is_elsewhere else failure.frame)

    def _find(self, failure: Failure) -> Verdict | FirstCause:
        """Return the verdict of a hook, or the first cause found by the patterns."""
        return self._given(failure) or self._first_cause(failure)

    def _given(self, failure: Failure) -> Verdict | None:
        """Return the verdict of the first hook that returns one; None if no hook does."""
        for hook in self._hooks:
            given = hook(failure)
            if given is not None:
                return replace(given, decided_by=given.decided_by or getattr(hook, "__name__", "hook"))
        return None

    def _first_cause(self, failure: Failure) -> FirstCause:
        """Return the first cause that the patterns find in the texts of a failure."""
        choice = choose(failure, self.matcher)
        text = choice.candidate.text if choice else _unrecognised(failure)
        values, difference = _values(failure.excerpts, choice)
        frame = _frame(failure, choice)
        for excerpt in failure.excerpts:
            text = with_logged(text, frame, excerpt.lines) if excerpt.source in _OF_TEST else text
        return FirstCause(
            choice=choice,
            text=text,
            values=values,
            difference=difference,
            frame=frame,
            excerpt=_excerpt(failure.excerpts, choice),
            in_simulator=failure.in_simulator,
            in_libraries=frame is None and _is_within_libraries(failure, choice),
            ran_simulator=failure.ran_simulator,
            sources=failure.reads,
            phase=failure.phase,
            sim_time=failure.sim_time,
        )

    def verdict_of(self, finding: FirstCause) -> Verdict:
        """Return the verdict on a first cause."""
        choice = finding.choice
        candidate = choice.candidate if choice else None
        error_class, failure_subtype = label_of(finding)
        pattern = candidate.pattern if candidate else None
        parts = parse_report(finding.text)
        frame = finding.frame if is_part_of_identity(parts) else None
        identity = identity_of(parts, frame)
        known = self._history.cause(identity) if self._history else None
        clues = origins.judge(
            error_class=error_class,
            failure_subtype=failure_subtype,
            pattern=pattern,
            file=parts.file,
            frame=finding.frame,
            in_libraries=finding.in_libraries,
            subtypes=self.registry.subtypes,
            sources=finding.sources,
            python_bench=finding.in_simulator or finding.ran_simulator,
            known=known,
            decided=self._history.decisions(pattern.id, identity) if self._history and pattern else None,
        )
        return Verdict(
            error_class=error_class,
            failure_subtype=failure_subtype,
            fingerprint=identity,
            primary=_primary_text(finding, parts),
            pattern=pattern.id if pattern else None,
            line=candidate.line if candidate else None,
            source=candidate.source if candidate else None,
            path=candidate.path if candidate else None,
            rule=choice.rule if choice else "no pattern matches any of its lines",
            origin=origins.conclude(clues),
            clues=clues,
            fix=_fix(candidate, failure_subtype, self.registry.subtypes),
            runners_up=_runners_up(choice),
            excerpt=finding.excerpt,
            like=self._like(finding, failure_subtype),
            fingerprint_v1=fingerprint_v1(**_parts(parts, frame)),
            place=place_of(parts, frame),
        )

    def _like(self, finding: FirstCause, failure_subtype: str) -> Like | None:
        """Return the example most similar to an unknown message; None if the message is known or an error count."""
        is_sum = finding.choice is not None and finding.choice.candidate.pattern.tier == "rollup"
        if failure_subtype != UNKNOWN or is_sum or finding.text == _NOTHING:
            return None
        # Imported here because it is needed only for messages that no pattern matches.
        from pytest_dvwiki.triage.nearest import of_registry  # noqa: PLC0415

        return of_registry(self.registry).like(finding.text)


def _values(excerpts: Sequence[Excerpt], choice: Choice | None) -> tuple[str, str]:
    """Return the rewritten assertion and the first difference printed below the chosen exception; "" if missing."""
    if choice is None or not choice.candidate.exception:
        return "", ""
    candidate = choice.candidate
    excerpt = next(
        (e for e in excerpts if e.source == candidate.source and any(n == candidate.line for n, _ in e.lines)), None
    )
    values, difference = compared.values_below(excerpt.lines, candidate.line) if excerpt else ("", "")
    return values if values not in candidate.text else "", difference


def _primary_text(finding: FirstCause, parts: ReportParts) -> str:
    """Return the text of the first cause, with the source location if the text is vague, and the time for a timeout."""
    text = with_place(finding.text, parts, finding.frame)
    for more in (finding.values, finding.difference):
        if more and more not in text:
            text = f"{text} {more}" if more is finding.values else f"{text}, {more}"
    if parts.report_class == _LIMIT and finding.sim_time is not None:
        text = f"{text} at {finding.sim_time}"
    return redact(compared.shortened(" ".join(text.split())))[:LONGEST_PRIMARY]


def identity_of(parts: ReportParts, frame: Frame | None) -> str:
    """Return the fingerprint of a message, and of the frame that raised it if `frame` is given."""
    given = _parts(of_any_tool(parts), frame)
    if frame is not None and (call := call_of_check(parts, frame)):
        given["source_line"] = f"{frame.source} {call}"
    if parts.report_class == _LIMIT and frame is not None and not frame.source:
        given["function"] = None  # one hang often ends every test of a module by its own timeout
    return fingerprint(**given)


def _parts(parts: ReportParts, frame: Frame | None) -> _Parts:
    return {
        "report_class": parts.report_class,
        "file": frame.file if frame else parts.file,
        "message_id": parts.message_id,
        "function": frame.function if frame else None,
        "source_line": frame.source if frame else None,
        "text": parts.text,
    }


def _frame(failure: Failure, choice: Choice | None) -> Frame | None:
    """Return the user's innermost frame of the chosen exception; None if the first cause is not an exception."""
    if choice is not None and not choice.candidate.exception:
        return None
    # The frame from the capture has a path relative to the project.
    if failure.frame is not None:
        return failure.frame
    line = choice.candidate.line if choice else 0
    of_choice = (e for e in failure.excerpts if choice is None or e.source == choice.candidate.source)
    return next((frame for e in of_choice if (frame := frame_in_excerpt(e, line)) is not None), None)


def _is_within_libraries(failure: Failure, choice: Choice | None) -> bool:
    """Return whether all frames of the chosen exception's traceback are in libraries and tools."""
    if choice is None or not choice.candidate.exception:
        return False
    of_choice = (e.lines for e in failure.excerpts if e.source == choice.candidate.source)
    return any(Frames(lines).is_within_libraries(choice.candidate.line) for lines in of_choice)


def _unrecognised(failure: Failure) -> str:
    """Return the text of a failure that no pattern matches: its exception, or else its last line that is not empty."""
    if failure.exception or failure.message:
        return ": ".join(part for part in (failure.exception, failure.message.strip()) if part)
    for source in ("run", "results", "report", "stderr", "log", "stdout"):
        for excerpt in failure.excerpts:
            lines = [strip_line(line).strip() for _, line in excerpt.lines]
            last = next((line for line in reversed(lines) if line), None)
            if excerpt.source == source and last is not None:
                return last
    return _NOTHING


def _fix(candidate: Candidate | None, failure_subtype: str, subtypes: Mapping[str, Subtype]) -> str | None:
    if candidate is None or not candidate.pattern.fix:
        return None
    if failure_subtype != candidate.pattern.failure_subtype and failure_subtype in subtypes:
        return subtypes[failure_subtype].fix
    return candidate.pattern.advice({name: redact(value) for name, value in candidate.groups.items()})


def _runners_up(choice: Choice | None) -> tuple[RunnerUp, ...]:
    # Report, results file and log repeat the same message: it is listed once.
    others = {(other.pattern.id, other.text): other for other in reversed(choice.others if choice else ())}
    return tuple(
        RunnerUp(pattern=other.pattern.id, line=other.line, text=redact(" ".join(other.text.split()))[:LONGEST_PRIMARY])
        for other in [*reversed(others.values())][:RUNNERS_UP]
    )


def _excerpt(excerpts: Sequence[Excerpt], choice: Choice | None) -> str:
    """Return the lines around the first cause or, if the plugin wrote the first cause, the last lines of the logs."""
    quoted = [excerpt for excerpt in excerpts if excerpt.source != "run" and excerpt.lines]
    if choice is None:
        return excerpt_around(quoted[0].lines, quoted[0].lines[0][0]) if quoted else ""
    if choice.candidate.source == "run":
        logged = [excerpt for excerpt in quoted if excerpt.source in {"log", "stdout", "stderr"}]
        ends = [excerpt.lines[-EXCERPT_LINES // min(len(logged), _LOGS) :] for excerpt in logged[:_LOGS]]
        return "\n".join(excerpt_around(lines, lines[-1][0]) for lines in ends).strip("\n")
    for excerpt in quoted:
        if excerpt.source == choice.candidate.source and any(n == choice.candidate.line for n, _ in excerpt.lines):
            return excerpt_around(excerpt.lines, choice.candidate.line)
    return ""


def excerpt_around(lines: Sequence[tuple[int, str]], line: int) -> str:
    """Return up to 40 lines of text: a given line, a dozen lines before it, and the lines after it."""
    at = bisect_left(lines, line, key=itemgetter(0))
    start = max(0, min(at - EXCERPT_LINES // 3, len(lines) - EXCERPT_LINES))
    chosen = lines[start : start + EXCERPT_LINES]
    return redact("\n".join(text[:_LONGEST_LINE].rstrip() for _, text in chosen)).strip("\n")
