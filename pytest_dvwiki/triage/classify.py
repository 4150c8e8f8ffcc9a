"""From a failure, or from a bare text, to a verdict."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_dvwiki.fingerprint import fingerprint
from pytest_dvwiki.model import RunnerUp, Verdict
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.messages import strip_line
from pytest_dvwiki.patterns.registry import load_subtypes
from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.redact import redact
from pytest_dvwiki.triage import origin as origins
from pytest_dvwiki.triage.anatomy import Anatomy, dissect
from pytest_dvwiki.triage.place import Frames, frame_in_excerpt, is_part_of_identity, with_place
from pytest_dvwiki.triage.primary import Candidate, Choice, choose, choose_in_text
from pytest_dvwiki.triage.sections import sections_of
from pytest_dvwiki.triage.sieve import WATCHED, Kept, Sieve
from pytest_dvwiki.triage.wrapped import choose_in_wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_dvwiki.model import Excerpt, Failure, Frame, History, Result
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.triage.unfold import Folds

RUNNERS_UP = 3
EXCERPT_LINES = 40
LONGEST_PRIMARY = 1000
_LONGEST_LINE = 1000
_BLOCK = 1 << 20
_SEVERITIES = {"UVM_ERROR": "uvm_error", "ERROR": "uvm_error", "UVM_FATAL": "uvm_fatal", "CRITICAL": "uvm_fatal"}
_AT_RUN = re.compile(r"(?:.{0,80}\W)?(?:(?:xm|nc)sim: \*|(?:RUNTIME|KERNEL): )", re.ASCII)
"""How a simulator begins a message of its run, which no compiler wrote whatever its words are."""
_LIMIT = "SimTimeoutError"
_NOTHING = "the failure left no text"
"""What stands for the first cause of a failure without any evidence."""


@dataclass(frozen=True, slots=True)
class _Finding:
    """The first cause with what is needed to name it."""

    choice: Choice | None
    text: str
    frame: Frame | None
    in_simulator: bool
    excerpt: str = ""
    phase: str = "call"
    sim_time: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One cause in a text."""

    error_class: str
    failure_subtype: str
    fingerprint: str
    pattern: str | None
    line: int
    """Of its first message."""
    hits: int
    """Its messages."""
    primary: str
    """The first message, joined to one line, redacted."""
    fix: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What came out of a bare text."""

    verdict: Verdict | None = None
    """None where nothing in it says that something failed."""
    causes: tuple[Sighting, ...] = ()
    """The first cause, then the others in the order of the text."""
    left_out: int = 0
    """Messages that were not looked at for want of room."""
    lines: int = 0


class Classifier:
    """Names failures by the patterns of a registry and the experience of an archive."""

    def __init__(
        self,
        registry: Registry,
        history: History | None = None,
        hooks: Sequence[Callable[[Failure], Verdict | None]] = (),
    ) -> None:
        """Sets the classifier up.

        Args:
            registry: The patterns.
            history: What the archive knows; without it no origin is surer than 0.89.
            hooks: Asked first, in this order; the first verdict that one of them gives is taken.
        """
        self.registry = registry
        self.matcher = Matcher(registry, watched=WATCHED)
        self._history = history
        self._hooks = tuple(hooks)

    def classify(self, failure: Failure) -> Verdict:
        """The verdict on a failure; every failure gets one."""
        for hook in self._hooks:
            given = hook(failure)
            if given is not None:
                return replace(given, decided_by=given.decided_by or getattr(hook, "__name__", "hook"))
        choice = choose(failure, self.matcher)
        text = choice.candidate.text if choice else _unrecognised(failure)
        finding = _Finding(
            choice=choice,
            text=text,
            frame=_frame(failure, choice),
            excerpt=_excerpt(failure.excerpts, choice),
            in_simulator=failure.in_simulator,
            phase=failure.phase,
            sim_time=failure.sim_time,
        )
        verdict = self._verdict(finding)
        return replace(verdict, follower=not failure.started, frame=failure.frame)

    def classify_text(self, text: str) -> Verdict | None:
        """The verdict on a bare text, such as a log; None where nothing in it says that something failed.

        Args:
            text: Any text; of a huge one only the lines of interest are looked at closely.
        """
        sieve = self.sieve()
        data = text.encode("utf-8", "surrogatepass")
        start = 0
        while start < len(data):
            end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
            sieve.feed(data[start:end])
            start = end
        return self.conclude(sieve.finish()).verdict

    def sieve(self) -> Sieve:
        """Takes the blocks of a text of any size for `conclude`."""
        return Sieve(self.matcher)

    def conclude(self, kept: Kept) -> Reading:
        """The verdict on a bare text and the causes in it, from what a sieve kept of it."""
        choice = choose_in_text(kept.lines, self.matcher, kept.hits)
        if kept.hits is None:
            choice = choose_in_wrapped(kept.lines, self.matcher, choice)
        if choice is None:
            return Reading(left_out=kept.left_out, lines=kept.count)
        simulator = sections_of(kept.lines).simulator
        frames = Frames(kept.lines)
        verdict = self._verdict(_finding_in(frames, choice, simulator=simulator))
        return Reading(
            verdict=_in_the_text(replace(verdict, excerpt=_window(kept.lines, choice.candidate.line)), kept.folds),
            causes=tuple(self._causes(kept, choice, frames, simulator=simulator)),
            left_out=kept.left_out,
            lines=kept.count,
        )

    def _causes(self, kept: Kept, choice: Choice, frames: Frames, *, simulator: bool) -> Iterator[Sighting]:
        """The first cause, then all others of its tier as they stand in the text, each with its messages counted."""
        best = choice.candidate
        others = sorted((c for c in choice.others if c.pattern.tier == best.pattern.tier), key=lambda c: c.line)
        seen: dict[str, Sighting] = {}
        for candidate in (best, *others):
            finding = _finding_in(frames, Choice(candidate, ""), simulator=simulator)
            anatomy = dissect(finding.text)
            identity = _identity(anatomy, finding.frame if is_part_of_identity(anatomy) else None)
            hits = 1 if kept.hits is None else kept.hits[candidate.line]
            if identity in seen:
                seen[identity] = replace(seen[identity], hits=seen[identity].hits + hits)
                continue
            verdict = self._verdict(finding)
            seen[identity] = Sighting(
                error_class=verdict.error_class,
                failure_subtype=verdict.failure_subtype,
                fingerprint=identity,
                pattern=verdict.pattern,
                line=kept.folds.line(candidate.line),
                hits=hits,
                primary=verdict.primary,
                fix=verdict.fix,
            )
        yield from seen.values()

    def _verdict(self, finding: _Finding) -> Verdict:
        choice = finding.choice
        candidate = choice.candidate if choice else None
        error_class, failure_subtype = self._label(finding)
        pattern = candidate.pattern if candidate else None
        anatomy = dissect(finding.text)
        identity = _identity(anatomy, finding.frame if is_part_of_identity(anatomy) else None)
        known = self._history.cause(identity) if self._history else None
        origin = origins.judge(
            error_class=error_class,
            failure_subtype=failure_subtype,
            pattern=pattern,
            file=anatomy.file,
            frame=finding.frame,
            subtypes=load_subtypes(),
            known=known,
            decided=self._history.decisions(pattern.id, identity) if self._history and pattern else None,
        )
        return Verdict(
            error_class=error_class,
            failure_subtype=failure_subtype,
            fingerprint=identity,
            primary=_told(finding, anatomy),
            pattern=pattern.id if pattern else None,
            line=candidate.line if candidate else None,
            source=candidate.source if candidate else None,
            rule=choice.rule if choice else "no pattern knows any of its lines",
            origin=origin,
            fix=_fix(candidate),
            runners_up=_runners_up(choice),
            excerpt=finding.excerpt,
        )

    def _label(self, finding: _Finding) -> tuple[str, str]:
        """The pattern's label, as the circumstances of the test bend it."""
        if finding.choice is None:
            return UNKNOWN, UNKNOWN
        candidate = finding.choice.candidate
        label = candidate.pattern.error_class, candidate.pattern.failure_subtype
        if label[0].startswith("uvm_"):
            return _severity(finding.text, label[0]), label[1]
        if label[0] == "compile_error" and _AT_RUN.match(finding.text):
            return "sim_error", label[1]
        if not candidate.exception:
            return label
        if candidate.pattern.id.startswith("python.assert") or label[1] in {"assertion_fail", "scoreboard_fail"}:
            label = self._assertion(finding, label)
        if finding.phase in {"setup", "teardown"} and label[0] == "python_error":
            return "python_error", "fixture_error"
        return label

    def _assertion(self, finding: _Finding, label: tuple[str, str]) -> tuple[str, str]:
        """The label of a Python assertion, or of what is raised in its place; Python's own without a simulator."""
        if not finding.in_simulator:
            raised = finding.choice is not None and finding.choice.candidate.pattern.id.startswith("python.raised_")
            return "python_error", "runtime_error" if raised else "assertion_error"
        if label == ("sim_error", "assertion_fail") and finding.frame is not None:
            # The check itself may say that it compares with a model, where its message does not.
            asked = self.matcher.match(f"AssertionError: {finding.frame.source}")
            if asked is not None and asked.pattern.failure_subtype == "scoreboard_fail":
                return asked.pattern.error_class, asked.pattern.failure_subtype
        return label


def _finding_in(frames: Frames, choice: Choice, *, simulator: bool) -> _Finding:
    """A message of a bare text, with the place that its traceback names."""
    candidate = choice.candidate
    return _Finding(
        choice=choice,
        text=candidate.text,
        frame=frames.of(candidate.line) if candidate.exception else None,
        in_simulator=simulator,
    )


def _in_the_text(verdict: Verdict, folds: Folds) -> Verdict:
    """A verdict with the numbers of its lines as the text has them."""
    if verdict.line is None:
        return verdict
    others = tuple(replace(other, line=folds.line(other.line)) for other in verdict.runners_up)
    return replace(verdict, line=folds.line(verdict.line), runners_up=others)


def _told(finding: _Finding, anatomy: Anatomy) -> str:
    """The first cause as it is shown: with its place where it says nothing by itself, a limit with its time."""
    text = with_place(finding.text, anatomy, finding.frame)
    if anatomy.report_class == _LIMIT and finding.sim_time is not None:
        text = f"{text} at {finding.sim_time}"
    return redact(" ".join(text.split()))[:LONGEST_PRIMARY]


def _number(numbered: tuple[int, str]) -> int:
    return numbered[0]


def _severity(text: str, default: str) -> str:
    """The class of a UVM report: that of its severity, whatever its text says."""
    return _SEVERITIES.get(dissect(text).report_class, "uvm_fatal" if "UVM_FATAL" in text else default)


def settle(
    failures: Sequence[Failure], verdicts: Sequence[Verdict], results: Iterable[Result] = ()
) -> tuple[Verdict, ...]:
    """Verdicts of one run in the light of each other.

    A failure that only follows another of its simulation (its turn never came, or the simulation ended under it without
    a cause of its own) takes over the verdict of that one. Origins learn how many seeds failed and passed.

    Args:
        failures: The run's failures, those of one simulation in the order of its tests.
        verdicts: What each of them was called, in the same order.
        results: All tests of the run, for seeds that passed.
    """
    settled = _with_first_report(failures, verdicts)
    for members in _simulations(failures).values():
        causes = [n for n in members if failures[n].started and not _only_follows(verdicts[n])]
        for n in members:
            if n in causes:
                continue
            before = [cause for cause in causes if cause < n] or causes or [m for m in members if failures[m].started]
            if before and before[-1] != n:
                settled[n] = replace(settled[before[-1]], follower=True)
            else:
                settled[n] = replace(settled[n], follower=False)
    return _with_seeds(failures, settled, results)


def _with_first_report(failures: Sequence[Failure], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Gives a failure without a name the verdict of the one that pytest reported with the same words before it.

    A fixture that failed is not run again: pytest raises its exception for each test that needs it, and only the first
    of them has the log.
    """
    named: dict[str, Verdict] = {}
    settled: list[Verdict] = []
    for failure, verdict in zip(failures, verdicts, strict=True):
        report = "\n".join(excerpt.text for excerpt in failure.excerpts if excerpt.source == "report")
        if verdict.error_class == UNKNOWN and failure.phase == "setup" and report in named:
            settled.append(replace(named[report], follower=True))
            continue
        if report and verdict.error_class != UNKNOWN:
            named.setdefault(report, verdict)
        settled.append(verdict)
    return settled


def _simulations(failures: Sequence[Failure]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number, failure in enumerate(failures):
        if failure.in_simulator:
            groups.setdefault(failure.nodeid.rpartition("::")[0], []).append(number)
    return groups


def _only_follows(verdict: Verdict) -> bool:
    return (
        verdict.pattern in {"cocotb.sim_failure", None}
        and verdict.failure_subtype
        in {
            "simulation_ended_early",
            UNKNOWN,
        }
        and verdict.primary.startswith("SimFailure")
    )


def _with_seeds(
    failures: Sequence[Failure], verdicts: Sequence[Verdict], results: Iterable[Result]
) -> tuple[Verdict, ...]:
    passed: dict[str, set[str]] = {}
    for result in results:
        if result.outcome == "passed" and result.seed is not None:
            passed.setdefault(_test(result.nodeid, result.seed), set()).add(result.seed)
    failed: dict[str, set[str]] = {}
    tests: dict[str, set[str]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        if failure.seed is not None and not verdict.follower:
            failed.setdefault(verdict.fingerprint, set()).add(failure.seed)
            tests.setdefault(verdict.fingerprint, set()).add(_test(failure.nodeid, failure.seed))
    weighed: list[Verdict] = []
    for verdict in verdicts:
        seeds = failed.get(verdict.fingerprint, set())
        good = set().union(*(passed.get(test, set()) for test in tests.get(verdict.fingerprint, set()))) - seeds
        weighed.append(replace(verdict, origin=origins.with_seeds(verdict.origin, len(seeds), len(good))))
    return tuple(weighed)


def _test(nodeid: str, seed: str) -> str:
    """The test without its seed, by which it is often parametrised; with other parameters it is another test."""
    return re.sub(rf"(?<=[\[-])[^\d\[\]-]*{re.escape(seed)}(?=[\]-])", "", nodeid)


def _identity(anatomy: Anatomy, frame: Frame | None) -> str:
    return fingerprint(
        report_class=anatomy.report_class,
        file=frame.file if frame else anatomy.file,
        message_id=anatomy.message_id,
        function=frame.function if frame else None,
        source_line=frame.source if frame else None,
        text=anatomy.text,
    )


def _frame(failure: Failure, choice: Choice | None) -> Frame | None:
    """The user's frame of the exception that was chosen."""
    if choice is not None and not choice.candidate.exception:
        return None
    # The capture knows the frame with its path in the project.
    if failure.frame is not None:
        return failure.frame
    line = choice.candidate.line if choice else 0
    of_choice = (e for e in failure.excerpts if choice is None or e.source == choice.candidate.source)
    return next((frame for e in of_choice if (frame := frame_in_excerpt(e, line)) is not None), None)


def _unrecognised(failure: Failure) -> str:
    """What stands for the first cause where no pattern knows any line: the exception, else the last line of a text."""
    if failure.exception or failure.message:
        return ": ".join(part for part in (failure.exception, failure.message.strip()) if part)
    for source in ("run", "results", "report", "stderr", "log", "stdout"):
        for excerpt in failure.excerpts:
            lines = [strip_line(line).strip() for _, line in excerpt.lines]
            last = next((line for line in reversed(lines) if line), None)
            if excerpt.source == source and last is not None:
                return last
    return _NOTHING


def _fix(candidate: Candidate | None) -> str | None:
    if candidate is None or not candidate.pattern.fix:
        return None
    return candidate.pattern.advice({name: redact(value) for name, value in candidate.groups.items()})


def _runners_up(choice: Choice | None) -> tuple[RunnerUp, ...]:
    # Report, results file and log say the same: once is enough.
    others = {(other.pattern.id, other.text): other for other in reversed(choice.others if choice else ())}
    return tuple(
        RunnerUp(pattern=other.pattern.id, line=other.line, text=redact(" ".join(other.text.split()))[:LONGEST_PRIMARY])
        for other in [*reversed(others.values())][:RUNNERS_UP]
    )


def _excerpt(excerpts: Sequence[Excerpt], choice: Choice | None) -> str:
    if choice is None:
        chosen = excerpts[0] if excerpts else None
        return _window(chosen.lines, chosen.lines[0][0]) if chosen and chosen.lines else ""
    for excerpt in excerpts:
        if excerpt.source == choice.candidate.source and any(n == choice.candidate.line for n, _ in excerpt.lines):
            return _window(excerpt.lines, choice.candidate.line)
    return ""


def _window(lines: Sequence[tuple[int, str]], line: int) -> str:
    """At most 40 lines round one, a third of them before it."""
    at = bisect_left(lines, line, key=_number)
    start = max(0, min(at - EXCERPT_LINES // 3, len(lines) - EXCERPT_LINES))
    chosen = lines[start : start + EXCERPT_LINES]
    return redact("\n".join(text[:_LONGEST_LINE].rstrip() for _, text in chosen)).strip("\n")
