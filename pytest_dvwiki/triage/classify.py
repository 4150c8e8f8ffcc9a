"""Turn a failure, or a bare text, into a verdict."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypedDict

from pytest_dvwiki import simulators
from pytest_dvwiki.fingerprint import fingerprint
from pytest_dvwiki.fingerprint_v1 import fingerprint_v1
from pytest_dvwiki.model import RunnerUp, Verdict
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.messages import strip_line
from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.redact import redact
from pytest_dvwiki.triage import compared
from pytest_dvwiki.triage import origin as origins
from pytest_dvwiki.triage.missing import of_any_tool
from pytest_dvwiki.triage.place import Frames, frame_in_excerpt, is_part_of_identity, place_of, with_place
from pytest_dvwiki.triage.primary import Candidate, Choice, choose, choose_in_text
from pytest_dvwiki.triage.report_parts import ReportParts, parse_report
from pytest_dvwiki.triage.sections import sections_of
from pytest_dvwiki.triage.sieve import Kept, Sieve, watched
from pytest_dvwiki.triage.wrapped import choose_in_wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Excerpt, Failure, Frame, Like, Result
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.patterns.schema import Subtype
    from pytest_dvwiki.triage.escaped_lines import Folds

RUNNERS_UP = 3
EXCERPT_LINES = 40
LONGEST_PRIMARY = 1000
_LOGS = 2
"""Number of logs whose last lines are shown for a killed simulation: the test's log, and an error stream beside it."""
_LONGEST_LINE = 1000
_BLOCK = 1 << 20
_SEVERITIES = {"UVM_ERROR": "uvm_error", "ERROR": "uvm_error", "UVM_FATAL": "uvm_fatal", "CRITICAL": "uvm_fatal"}
_CHECKS = frozenset({"scoreboard_fail", "assertion_fail"})
_OF_LIMITS = frozenset({"timeout", "protocol_violation", "coverage_miss"})
_EQUALITY = re.compile(r"[=!]=")
_LIMIT = "SimTimeoutError"
_NOTHING = "the failure left no text"
"""The first cause of a failure without any evidence."""


class _Parts(TypedDict):
    """The parts that identify a cause."""

    report_class: str
    file: str | None
    message_id: str | None
    function: str | None
    source_line: str | None
    text: str


@dataclass(frozen=True, slots=True)
class _Finding:
    """The first cause with the facts needed to name it."""

    choice: Choice | None
    text: str
    frame: Frame | None
    in_simulator: bool
    sources: tuple[str, ...] = ()
    excerpt: str = ""
    phase: str = "call"
    sim_time: str | None = None
    values: str = ""
    """The rewritten assertion below an exception that has a message of its own."""
    difference: str = ""
    """The first difference that pytest found between two sequences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One cause in a text."""

    error_class: str
    failure_subtype: str
    fingerprint: str
    pattern: str | None
    line: int
    """Line number of its first message."""
    hits: int
    """Number of its messages."""
    primary: str
    """The first message, joined to one line, redacted."""
    fix: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The result for a bare text."""

    verdict: Verdict | None = None
    """The verdict; None if nothing in the text says that something failed."""
    causes: tuple[Sighting, ...] = ()
    """The first cause, then the other causes in the order of the text."""
    left_out: int = 0
    """Number of messages that were left out to limit memory."""
    lines: int = 0


class Classifier:
    """Name failures by the patterns of a registry and the history of an archive."""

    def __init__(
        self,
        registry: Registry,
        history: History | None = None,
        hooks: Sequence[Callable[[Failure], Verdict | None]] = (),
    ) -> None:
        """Set up the classifier.

        Args:
            registry: The patterns.
            history: The archive's knowledge of the same cause, and of other causes of its pattern.
            hooks: Called first, in this order; the first verdict returned by one of them counts.
        """
        self.registry = registry
        self.matcher = Matcher(registry, watched=watched())
        self._history = history
        self._hooks = tuple(hooks)

    def classify(self, failure: Failure) -> Verdict:
        """Return the verdict on a failure; every failure gets one."""
        for hook in self._hooks:
            given = hook(failure)
            if given is not None:
                given = replace(given, decided_by=given.decided_by or getattr(hook, "__name__", "hook"))
                known = self._history.cause(given.fingerprint) if self._history else None
                return origins.as_decided(given, known)
        choice = choose(failure, self.matcher)
        text = choice.candidate.text if choice else _unrecognised(failure)
        values, difference = _values(failure.excerpts, choice)
        finding = _Finding(
            choice=choice,
            text=text,
            values=values,
            difference=difference,
            frame=_frame(failure, choice),
            excerpt=_excerpt(failure.excerpts, choice),
            in_simulator=failure.in_simulator,
            sources=failure.reads,
            phase=failure.phase,
            sim_time=failure.sim_time,
        )
        verdict = self._verdict(finding)
        # A report with a place of its own does not have the place of the exception that followed it.
        is_elsewhere = choice is not None and not choice.candidate.exception and verdict.place is not None
        return replace(verdict, follower=not failure.started, frame=None if is_elsewhere else failure.frame)

    def classify_text(self, text: str) -> Verdict | None:
        """Return the verdict on a bare text, such as a log; None if nothing in it says that something failed.

        Args:
            text: Any text; of a huge one only the lines of interest are matched.
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
        """Return a sieve that takes a text of any size block by block, for `conclude`."""
        return Sieve(self.matcher)

    def conclude(self, kept: Kept) -> Reading:
        """Return the verdict on a bare text and its causes, from the lines that a sieve kept."""
        choice = choose_in_text(kept.lines, self.matcher, kept.hits)
        if kept.hits is None:
            choice = choose_in_wrapped(kept.lines, self.matcher, choice)
        if choice is None:
            return Reading(left_out=kept.left_out, lines=kept.count)
        simulator = sections_of(kept.lines).simulator
        frames = Frames(kept.lines)
        verdict = self._verdict(_finding_in(frames, choice, kept.lines, simulator=simulator))
        return Reading(
            verdict=_with_original_lines(
                replace(verdict, excerpt=_window(kept.lines, choice.candidate.line)), kept.folds
            ),
            causes=tuple(self._causes(kept, choice, frames, simulator=simulator)),
            left_out=kept.left_out,
            lines=kept.count,
        )

    def _causes(self, kept: Kept, choice: Choice, frames: Frames, *, simulator: bool) -> Iterator[Sighting]:
        """Yield the first cause, then all others of its tier in the order of the text, each with its message count."""
        best = choice.candidate
        others = sorted((c for c in choice.others if c.pattern.tier == best.pattern.tier), key=lambda c: c.line)
        seen: dict[str, Sighting] = {}
        for candidate in (best, *others):
            finding = _finding_in(frames, Choice(candidate, ""), kept.lines, simulator=simulator)
            parts = parse_report(finding.text)
            identity = _identity(parts, finding.frame if is_part_of_identity(parts) else None)
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
        parts = parse_report(finding.text)
        frame = finding.frame if is_part_of_identity(parts) else None
        identity = _identity(parts, frame)
        known = self._history.cause(identity) if self._history else None
        clues = origins.judge(
            error_class=error_class,
            failure_subtype=failure_subtype,
            pattern=pattern,
            file=parts.file,
            frame=finding.frame,
            subtypes=self.registry.subtypes,
            sources=finding.sources,
            python_bench=finding.in_simulator,
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

    def _like(self, finding: _Finding, failure_subtype: str) -> Like | None:
        """Return the example of a pattern most similar to an unknown message; None for an error count."""
        is_sum = finding.choice is not None and finding.choice.candidate.pattern.tier == "rollup"
        if failure_subtype != UNKNOWN or is_sum or finding.text == _NOTHING:
            return None
        # Imported here: most messages are matched by a pattern.
        from pytest_dvwiki.triage.nearest import of_registry  # noqa: PLC0415

        return of_registry(self.registry).like(finding.text)

    def _label(self, finding: _Finding) -> tuple[str, str]:
        """Return the pattern's label, adapted to the circumstances of the test."""
        if finding.choice is None:
            return UNKNOWN, UNKNOWN
        candidate = finding.choice.candidate
        label = _class(candidate.pattern.error_class, finding.text), candidate.pattern.failure_subtype
        if label[1] in _CHECKS and compared.shows_unknown(f"{parse_report(finding.text).text} {finding.values}"):
            return label[0], "x_propagation"
        if not candidate.exception or label[0].startswith("uvm_"):
            return label
        if candidate.pattern.id.startswith("python.assert") or label[1] in {"assertion_fail", "scoreboard_fail"}:
            label = self._assertion(finding, label)
        if finding.phase in {"setup", "teardown"} and label[0] == "python_error":
            return "python_error", "fixture_error"
        return label

    def _assertion(self, finding: _Finding, label: tuple[str, str]) -> tuple[str, str]:
        """Return the label of a Python assertion, or of an exception raised in its place.

        Without a simulator it is a Python error. In a simulation an assertion that compares two values is a checker's,
        whatever its words and names. An assertion whose words name a limit keeps the label of the limit, unless it
        shows a value of the design.
        """
        pattern = finding.choice.candidate.pattern if finding.choice is not None else None
        if not finding.in_simulator and not (pattern is not None and "cocotb" in pattern.tools):
            raised = pattern is not None and pattern.id.startswith("python.raised_")
            return "python_error", "runtime_error" if raised else "assertion_error"
        statement = finding.frame.source if finding.frame is not None else ""
        shown = finding.values or finding.text[max(0, finding.text.find("assert ")) :]
        if label == ("sim_error", "assertion_fail"):
            return ("sim_error", "scoreboard_fail") if _compares(statement, shown) else label
        if label[1] in _OF_LIMITS and _compares(statement, shown):
            compared_text = f"{statement} {shown}"
            if compared.is_of_design(compared_text) and _EQUALITY.search(compared_text):
                return "sim_error", "scoreboard_fail"
        return label


def _class(error_class: str, text: str) -> str:
    """Return the class of a message: that of the phase that reported it, whatever the usual class of its subtype."""
    if error_class.startswith("uvm_"):
        return _severity(text, error_class)
    if error_class == "compile_error" and _at_run().match(text):
        return "sim_error"
    if error_class == "compile_error" and _at_elaboration().match(text):
        return "elaboration_error"
    return error_class


def _compares(statement: str, shown: str) -> bool:
    """Tell whether an assertion compares two values: by its statement, or by its values if the statement is cut off."""
    if statement.startswith("assert ") and not statement.endswith(("(", "[", "\\", ",")):
        return compared.compares(statement, shown=False)
    return shown.startswith("assert ") and compared.compares(shown, shown=True)


def _finding_in(frames: Frames, choice: Choice, lines: Sequence[tuple[int, str]], *, simulator: bool) -> _Finding:
    """Return the finding for a message of a bare text, with the place that its traceback names."""
    candidate = choice.candidate
    values = compared.values_below(lines, candidate.line) if candidate.exception else ("", "")
    return _Finding(
        choice=choice,
        text=candidate.text,
        values=values[0] if values[0] not in candidate.text else "",
        difference=values[1],
        frame=frames.of(candidate.line) if candidate.exception else None,
        in_simulator=simulator,
    )


def _values(excerpts: Sequence[Excerpt], choice: Choice | None) -> tuple[str, str]:
    """Return the rewritten assertion and the first difference below the chosen exception; empty if there are none."""
    if choice is None or not choice.candidate.exception:
        return "", ""
    candidate = choice.candidate
    excerpt = next(
        (e for e in excerpts if e.source == candidate.source and any(n == candidate.line for n, _ in e.lines)), None
    )
    values, difference = compared.values_below(excerpt.lines, candidate.line) if excerpt else ("", "")
    return values if values not in candidate.text else "", difference


def _with_original_lines(verdict: Verdict, folds: Folds) -> Verdict:
    """Return a verdict with line numbers of the original text."""
    if verdict.line is None:
        return verdict
    others = tuple(replace(other, line=folds.line(other.line)) for other in verdict.runners_up)
    return replace(verdict, line=folds.line(verdict.line), runners_up=others)


def _primary_text(finding: _Finding, parts: ReportParts) -> str:
    """Return the first cause as it is shown: with its place if it says nothing by itself, a limit with its time."""
    text = with_place(finding.text, parts, finding.frame)
    for more in (finding.values, finding.difference):
        if more and more not in text:
            text = f"{text} {more}" if more is finding.values else f"{text}, {more}"
    if parts.report_class == _LIMIT and finding.sim_time is not None:
        text = f"{text} at {finding.sim_time}"
    return redact(compared.shortened(" ".join(text.split())))[:LONGEST_PRIMARY]


def _number(numbered: tuple[int, str]) -> int:
    return numbered[0]


def _severity(text: str, default: str) -> str:
    """Return the class of a UVM report by its severity, whatever its text says."""
    return _SEVERITIES.get(parse_report(text).report_class, "uvm_fatal" if "UVM_FATAL" in text else default)


def settle(
    failures: Sequence[Failure], verdicts: Sequence[Verdict], results: Iterable[Result] = ()
) -> tuple[Verdict, ...]:
    """Adjust the verdicts of one run to each other.

    A failure may only follow another one of its simulation: its turn never came, or the simulation ended during it
    without a cause of its own. It takes over the verdict of the other one. Origins learn how many seeds failed and
    passed.

    Args:
        failures: The run's failures, those of one simulation in the order of its tests.
        verdicts: The verdict on each, in the same order.
        results: All tests of the run, for seeds that passed.
    """
    settled = _with_first_report(failures, verdicts)
    for members in _simulations(failures).values():
        causes = [n for n in members if failures[n].started and not _only_follows(verdicts[n])]
        started = causes or [m for m in members if failures[m].started]
        for n in members:
            at = bisect_left(causes, n)
            if n in causes[at : at + 1]:
                continue
            if started and (before := causes[at - 1] if at else started[-1]) != n:
                settled[n] = replace(settled[before], follower=True)
            else:
                settled[n] = replace(settled[n], follower=False)
    return _with_results(failures, settled, list(results))


def _with_first_report(failures: Sequence[Failure], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Give an unnamed setup failure the verdict of an earlier one that pytest reported with the same words.

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


def _with_results(
    failures: Sequence[Failure], verdicts: Sequence[Verdict], results: Sequence[Result]
) -> tuple[Verdict, ...]:
    """Add to each verdict the outcomes of the same tests with other seeds and on other simulators."""
    seeds = _ends([(each.nodeid, each.seed, each.outcome) for each in results], failures, verdicts, "seed")
    simulators = _ends(
        [(each.nodeid, each.simulator, each.outcome) for each in results], failures, verdicts, "simulator"
    )
    weighed = []
    for verdict in verdicts:
        failed, passed = seeds.get(verdict.fingerprint, ((), ()))
        clues = origins.of_seeds(len(failed), len(passed)) + origins.of_simulators(
            *simulators.get(verdict.fingerprint, ((), ()))
        )
        weighed.append(origins.with_clues(verdict, clues))
    return tuple(weighed)


def _ends(
    results: Iterable[tuple[str, str | None, str]],
    failures: Sequence[Failure],
    verdicts: Sequence[Verdict],
    key: Literal["seed", "simulator"],
) -> dict[str, tuple[Sequence[str], Sequence[str]]]:
    """Return, by cause, the seeds (or simulators) with which its tests failed, and those with which they passed."""
    passed: dict[str, set[str]] = {}
    # Of thousands of passing tests only a few are needed.
    asked = {failure.nodeid.partition("[")[0] for failure in failures}
    for nodeid, value, outcome in results:
        if outcome == "passed" and value is not None and nodeid.partition("[")[0] in asked:
            passed.setdefault(_test(nodeid, value), set()).add(value)
    failed: dict[str, set[str]] = {}
    good: dict[str, set[str]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        value = getattr(failure, key)
        if value is not None and not verdict.follower:
            failed.setdefault(verdict.fingerprint, set()).add(value)
            good.setdefault(verdict.fingerprint, set()).update(passed.get(_test(failure.nodeid, value), ()))
    return {name: (sorted(values), sorted(good[name] - values)) for name, values in failed.items()}


def _test(nodeid: str, value: str) -> str:
    """Return a test name without its seed or simulator parameter; other parameters stay."""
    return re.sub(rf"(?<=[\[-])[^\d\[\]-]*{re.escape(value)}(?=[\]-])", "", nodeid)


def _identity(parts: ReportParts, frame: Frame | None) -> str:
    return fingerprint(**_parts(of_any_tool(parts), frame))


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
    """Return the user's frame of the chosen exception."""
    if choice is not None and not choice.candidate.exception:
        return None
    # The frame from the capture has its path in the project.
    if failure.frame is not None:
        return failure.frame
    line = choice.candidate.line if choice else 0
    of_choice = (e for e in failure.excerpts if choice is None or e.source == choice.candidate.source)
    return next((frame for e in of_choice if (frame := frame_in_excerpt(e, line)) is not None), None)


def _unrecognised(failure: Failure) -> str:
    """Return the text shown if no pattern matches any line: the exception, else the last line of a text."""
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
    """Return the lines around the chosen one; for a cause in the capture's own words the last lines of the logs."""
    quoted = [excerpt for excerpt in excerpts if excerpt.source != "run" and excerpt.lines]
    if choice is None:
        return _window(quoted[0].lines, quoted[0].lines[0][0]) if quoted else ""
    if choice.candidate.source == "run":
        logged = [excerpt for excerpt in quoted if excerpt.source in {"log", "stdout", "stderr"}]
        ends = [excerpt.lines[-EXCERPT_LINES // min(len(logged), _LOGS) :] for excerpt in logged[:_LOGS]]
        return "\n".join(_window(lines, lines[-1][0]) for lines in ends).strip("\n")
    for excerpt in quoted:
        if excerpt.source == choice.candidate.source and any(n == choice.candidate.line for n, _ in excerpt.lines):
            return _window(excerpt.lines, choice.candidate.line)
    return ""


def _window(lines: Sequence[tuple[int, str]], line: int) -> str:
    """Return at most 40 lines around one, a third of them before it."""
    at = bisect_left(lines, line, key=_number)
    start = max(0, min(at - EXCERPT_LINES // 3, len(lines) - EXCERPT_LINES))
    chosen = lines[start : start + EXCERPT_LINES]
    return redact("\n".join(text[:_LONGEST_LINE].rstrip() for _, text in chosen)).strip("\n")


@functools.cache
def _at_run() -> re.Pattern[str]:
    """Return the expression for the beginnings of a simulator's run-time messages, which no compiler writes."""
    return re.compile(rf"(?:.{{0,80}}\W)?{simulators.either(lambda tool: tool.run_head)}", re.ASCII)


@functools.cache
def _at_elaboration() -> re.Pattern[str]:
    """Return the expression for the beginnings of messages of an elaborator, or of loading a design."""
    beginnings = simulators.either(lambda tool: tool.elaboration_head)
    return re.compile(rf"(?:.{{0,80}}\W)?{beginnings}|{beginnings}", re.ASCII)
