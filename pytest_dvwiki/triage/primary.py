"""Choose the first cause of a failure: one message, with the rule that selected it.

The rules, in order:

1. A message of tier *cause* outranks a *symptom*, and a symptom a *roll-up* ("2 errors", "quit count reached"). Within
   a tier, a message without a class ("error: giving up") comes last.
2. Causes are ordered by source: first HDL tools in this test's log (`$fatal` ended the run, and the entry in the
   results file is only a consequence), then the results file, pytest's report, observations of the processes, and
   exceptions in the log. Without a simulator pytest's report outranks the log. Within a source the earliest message
   wins.
3. In a cocotb test, *noise* comes after all other causes, but before symptoms. Noise is an error line that also occurs
   in passing tests (`logger.error`, HDL `$error`) and does not fail a test.
4. A message with expected and actual values outranks the plain assertion that raised it, even if it is noise. A report
   with the values outranks an exception that only says that something differs, or how often.
5. A pyuvm or UVM report that says what is wrong outranks the exception that ends the test after it, unless that
   exception compares other values. A report without a pattern outranks an exception that only ends the test, and an
   assertion in pyuvm's `check_phase` or later, which is a summary. A fatal report of pyuvm outranks the exception that
   repeats it.
6. A UVM report of an assertion outranks the simulator's line about it, because the testbench chose its class.
7. An HDL error line explains a simulation that ended early.
8. If a test was expected to fail, cocotb's message (it passed, or raised another exception) outranks that exception,
   unless the simulation ended during the test.
9. A failed randomize explains the assertion next to it, which usually checks the result of the randomize.
10. In a chain of exceptions, the explicit cause is used (`raise … from …`). If an exception was raised while another
    was handled, the later one is used.
11. A warning never outranks an error of the same tool in the same source.
12. A line that only stops the simulation (`$stop`, `$fatal` with nothing but "too many errors") never outranks the
    failed check before it.
13. The shell's `Aborted` never outranks the error after which a Verilator model prints `Aborting...`.
14. A line with the compared values outranks the line next to it that only says that a check failed.
15. A mistyped command of the simulator's console, or a missing coverage folder, never outranks the checks that
    failed in the simulation after it.
16. A coroutine that was never awaited explains a check or limit that failed after it. A component without an entity
    explains undriven values.

An assertion without a message (`assert False`) gets the text of the error that the test logged just before it
(`triage/logged.py`).
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import simulators
from pytest_dvwiki.logtext.report_parts import parse_report
from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.triage.candidates import EXPECTATIONS, NEVER_AWAITED, PYTHON, Candidate, candidates_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.model import Failure
    from pytest_dvwiki.patterns.matcher import Matcher

_TIERS = {"cause": 0, "symptom": 2, "rollup": 3}
_NOISE = 1
_SUMMARIES = frozenset({"extract_phase", "check_phase", "report_phase", "final_phase"})
_ENDED = "simulation_ended_early"
_NEXT_TO = 12
"""Maximum number of lines between a solver's report and the assertion on the result of `randomize`."""
_REPORTED_WITHIN = 3
"""Maximum number of lines between the simulator's message and the assertion's own report."""
_BESIDE = 2
"""Maximum number of lines between the compared values and the line that only says that the check failed."""
_VALUE = re.compile(r"(?<![\w.])[-+]?\d[\w.']*|\bLogicArray\(", re.ASCII)
_COMPARED_VALUES = 2
_BAD = r"(?:errors?|failures?|failed|mismatch(?:es)?|differences?|violations?|incorrect|wrong)"
_COUNT = re.compile(
    rf"(?i)\b(?P<before>\d+)(?: of \d+|/\d+)?(?: [a-z]+){{0,2}}? {_BAD}\b|\b{_BAD}(?: count)?[:=] ?(?P<after>\d+)\b",
    re.ASCII,
)
"""A count of earlier errors: `failed with 6 errors`, `mismatches=6`."""
_PAIR = re.compile(r"(?i)\b(?:exp(?:ected)?|got|actual|read|received)\b")
_TEST_FAILED = "cocotb.test_failed"
_GOES_ON = frozenset({"environment.tcl_command", "environment.tcl_script", "xcelium.code_coverage_folder"})
"""Patterns of errors after which a simulation may go on: console commands, and folders for coverage."""
_UNBOUND = "dvwiki.unbound"
_CAUGHT = frozenset({"pyuvm.unknown_value_report", "pyuvm.handle_report"})
"""Patterns of exceptions that were caught by a driver or monitor and reported."""
_CONSEQUENCES = frozenset({"assertion_fail", "scoreboard_fail", "coverage_miss", "timeout", "x_propagation"})
"""Subtypes that may be consequences of a testbench operation that never ran."""
_EMPTY_CHECK = re.compile(r"AssertionError(?:: (?:assert )?(?:False|0))?")
"""An assertion without a message; it only reports what was found earlier."""
_TALLY = re.compile(r"UVM_(?:ERROR|FATAL) ?: ?\d+|AssertionError: assert \d+ == 0")
"""A row of UVM's report summary, or a check that a number is 0, which probably counts errors."""
_WARNING = r"(?:[^\s:]{1,300}:\d+(?::\d+)?: ?)?[Ww]arning\b(?! as error| treated)|[^\s:]{1,300}:\d+(?::\d+)?: ?warning:"
"""Prefix of a compiler's warning."""
_STOP = re.compile(
    r"(?i)(?:verilog )?\$(?:stop|finish|fatal|error)(?: called)?\b"
    r"|\b(?:too many|maximum(?: number of)?|limit of) errors?\b|\berror limit\b"
    r"|\b(?:stop(?:s|ped|ping)?|abort(?:s|ed|ing)?|terminat(?:e|es|ed|ing)|quit(?:s|ting)?|giv(?:e|ing) up|ending"
    r"|end of (?:the )?(?:sim\w*|test\w*|run))\b|\b(?:sim\w*|test ?\w*|tb|run|checks?) (?:has |have )?failed\b"
    r"|\b(?:because of|due to|with|after|on) (?:the |\d+ |an |first )?(?:errors?|failures?|mismatch(?:es)?)\b"
    r"|^\W*\d* ?(?:errors?|failures?|mismatch(?:es)?)(?: (?:found|detected|occurred|seen|in \w+))?\W*$"
)
"""A line that stops the simulation without giving a cause."""
_VERILATED = re.compile(r"(?:\[\d+\] )?%(?:Error|Fatal)\b")
"""An error of a Verilator model, after which the model prints `Aborting...` and calls `abort`."""
_ABORTED = re.compile(r"(?:\S{1,300}: )?(?:line \d+: +)?(?:\d+ )?Aborted\b.{0,300}\(core dumped\)")
"""The shell's line about a program that called `abort`."""
_DETAILS = re.compile(r"(?:^| )(?:Time|Scope|Iteration|Instance|Process|File): .*")
_CHECKS = frozenset(
    {"scoreboard_fail", "assertion_fail", "x_propagation", "timeout", "protocol_violation", "coverage_miss"}
)
_ENDS_TEST = frozenset({"runtime_error", "assertion_fail", "simulation_ended_early", "unknown"})
_FATAL = "RuntimeError: UVM_FATAL: "
"""Prefix of pyuvm's exception after a fatal report, followed by the report's text."""


class Choice(Struct, frozen=True):
    """The first cause, the rule that selected it, and the other candidates."""

    candidate: Candidate
    rule: str
    others: tuple[Candidate, ...] = ()


def choose(failure: Failure, matcher: Matcher) -> Choice | None:
    """Choose the first cause of a failure; return None if none of its lines match a pattern."""
    candidates = [
        candidate
        for excerpt in failure.excerpts
        for candidate in candidates_of(excerpt, matcher, cocotb=failure.in_simulator)
    ]
    forgotten = _never_awaited(candidates)
    unbound = next((candidate for candidate in candidates if candidate.pattern.id == _UNBOUND), None)
    if not any(map(_is_entry, candidates)):
        candidates += _of_unknown_name(failure, matcher)
    has_entry = any(map(_is_entry, candidates))
    if has_entry:
        # The results file names the exception that ended the test; others in the log were caught, or are copies of it.
        candidates = [c for c in candidates if not (c.exception and c.source in {"log", "stdout", "stderr"})]
    order = _in_simulator_order if failure.in_simulator else _plain_order
    found = ranked(candidates, order)
    if forgotten is not None and found[0].pattern.failure_subtype in _CONSEQUENCES:
        others = tuple(candidate for candidate in found if candidate is not forgotten)
        return Choice(forgotten, "a coroutine was never awaited, which explains the later failure", others)
    if unbound is not None and found[0].pattern.failure_subtype == "x_propagation":
        others = tuple(candidate for candidate in found if candidate is not unbound)
        return Choice(unbound, "a component without an entity explains the undriven values", others)
    return decide(found, function=failure.frame.function if failure.frame else None)


def _is_entry(candidate: Candidate) -> bool:
    return candidate.source == "results" and candidate.pattern.tier == "cause"


def _of_unknown_name(failure: Failure, matcher: Matcher) -> list[Candidate]:
    """Return the exception in the results file if a pattern matches it with the name `Exception` instead of its own.

    This is for exceptions that no pattern knows by name. The list is empty if there is none.
    """
    entry = next((each for each in failure.excerpts if each.source == "results" and each.lines), None)
    if failure.exception in {None, "SystemExit"} or entry is None:
        return []
    number, text = entry.lines[0]
    name, colon, said = text.partition(": ")
    known = matcher.match(f"Exception{colon}{said}") if name == failure.exception else None
    if known is None or known.pattern.tier != "cause":
        return []
    return [
        Candidate(
            pattern=known.pattern,
            source="results",
            line=number,
            text=text,
            groups=known.groups,
            noise=False,
            exception=True,
            path=entry.path,
        )
    ]


def _never_awaited(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return Python's warning about a coroutine that was never awaited; None if it does not precede the test's failure.

    A later warning is about a task that ended with its test.
    """
    of_log = [candidate for candidate in candidates if candidate.source == "log"]
    end = next((c.line for c in of_log if c.pattern.id == _TEST_FAILED), None)
    if end is None:
        return None
    return next((c for c in of_log if c.pattern.id == NEVER_AWAITED and c.line < end), None)


def _warnings_beside_errors(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the warnings of tools that also reported an error in the same source; error counts are ignored."""
    warnings = [candidate for candidate in candidates if _warning().match(candidate.text)]
    if not warnings:
        return []
    errors = {
        (candidate.source, tool)
        for candidate in candidates
        if candidate not in warnings and candidate.pattern.tier != "rollup"
        for tool in candidate.pattern.tools
    }
    return [one for one in warnings if any((one.source, tool) in errors for tool in one.pattern.tools)]


def _aborted_after_error(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the shell's lines about a Verilator model that aborted itself after an error in the same source."""
    aborting = [candidate for candidate in candidates if candidate.text.startswith("Aborting...")]
    return [
        candidate
        for candidate in candidates
        if aborting
        and _ABORTED.match(candidate.text)
        and any(
            _VERILATED.match(error.text) and error.source == own.source == candidate.source
            for own in aborting
            for error in candidates
            if error.line < own.line < candidate.line
        )
    ]


def _gone_on_before_checks(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the errors after which the simulation went on, and a check failed."""
    return [
        error
        for error in candidates
        if error.pattern.id in _GOES_ON
        and any(
            check.source == error.source
            and check.line > error.line
            and check.pattern.tier != "rollup"
            and (_is_uvm(check) or check.pattern.failure_subtype in _CHECKS)
            for check in candidates
        )
    ]


@functools.cache
def _warning() -> re.Pattern[str]:
    of_tools = simulators.either(lambda tool: tool.warning, "@W:")
    return re.compile(rf"(?:.{{0,80}}\W)?{of_tools}|{_WARNING}", re.ASCII)


def _tier(candidate: Candidate) -> int:
    tier = _TIERS[candidate.pattern.tier]
    return _NOISE if candidate.noise and tier == 0 else tier


def _nameless(candidate: Candidate) -> bool:
    """Return whether a message says neither who reported it nor what happened."""
    return candidate.pattern.error_class == UNKNOWN


def _in_simulator_order(candidate: Candidate) -> int:
    if candidate.pattern.failure_subtype in EXPECTATIONS:
        return 1
    if candidate.source in {"log", "stdout", "stderr"}:
        return 5 if candidate.exception else 0
    return {"results": 2, "report": 3, "run": 4}[candidate.source]


def _plain_order(candidate: Candidate) -> int:
    return {"results": 0, "report": 1, "run": 2, "log": 3, "stderr": 3, "stdout": 4}[candidate.source]


def ranked(candidates: Sequence[Candidate], order: Callable[[Candidate], int] = lambda _: 0) -> list[Candidate]:
    """Sort candidates by how likely they are the first cause.

    Args:
        candidates: The messages.
        order: Returns the rank of a candidate's source, for messages of the same tier.
    """
    behind = [
        *_warnings_beside_errors(candidates),
        *_aborted_after_error(candidates),
        *_gone_on_before_checks(candidates),
    ]
    return sorted(candidates, key=lambda c: (c in behind, _tier(c), _nameless(c), order(c), c.line))


def decide(ranked: list[Candidate], *, function: str | None = None) -> Choice | None:
    """Choose the first cause among ranked candidates; return None if there are none.

    Args:
        ranked: The candidates.
        function: The function that raised the test's exception.
    """
    if not ranked:
        return None
    best, rule = _rule(ranked, function)
    others = tuple(candidate for candidate in ranked if candidate is not best)
    return Choice(best, rule, others)


def _rule(ranked: list[Candidate], function: str | None) -> tuple[Candidate, str]:
    best = _early_end(ranked) or ranked[0]
    noise = [c for c in ranked if c.noise and c.pattern.tier == "cause"]
    compared = next((c for c in noise if c.pattern.failure_subtype == "scoreboard_fail"), None)
    if best.exception and compared is not None and (why := _report_rule(best, compared)):
        return _caught(compared, noise) or (compared, why)
    if best.exception and (found := _reported(best, ranked, function)) is not None:
        return found
    if best.text.startswith(_FATAL):
        summary = best.text.removeprefix(_FATAL)
        report = next((c for c in noise if parse_report(c.text).report_class == "CRITICAL" and summary in c.text), None)
        if report is not None:
            return report, "pyuvm raised the exception for this report"
    found = _stopped_by(best, ranked) or _with_values(best, ranked)
    if found is not None:
        return found
    if best.pattern.failure_subtype == _ENDED:
        found = _before_early_end(best, ranked, noise)
    elif best.pattern.failure_subtype == "assertion_fail" and not best.exception:
        found = _of_assertion(best, ranked)
    return found or (best, _plain_rule(best, ranked))


def _reported(best: Candidate, ranked: list[Candidate], function: str | None) -> tuple[Candidate, str] | None:
    """Return the UVM report that outranks the exception that ended the test, with the rule; None if there is none.

    Args:
        best: The exception.
        ranked: All candidates.
        function: The function that raised the exception.
    """
    if _is_uvm(best):
        return None
    reports = [c for c in ranked if _is_uvm(c) and c.noise and not _is_after(c, best)]
    telling = [c for c in reports if c.pattern.tier == "cause"]
    if function in _SUMMARIES:
        reason = f"the assertion in {function} only summarises what components reported"
        checks = [c for c in telling if c.pattern.failure_subtype == "scoreboard_fail"]
        first = [*checks, *telling] or (reports if _EMPTY_CHECK.fullmatch(best.text) else [])
        return (first[0], reason) if first else None
    if best.pattern.failure_subtype == "scoreboard_fail" and _shows_values(best):
        telling = [report for report in telling if _values(best) <= _values(report)]
    if telling:
        return min(telling, key=lambda c: c.line), "the report says what failed; the exception only ended the test"
    only_ends = best.pattern.error_class == "python_error" and best.pattern.failure_subtype in _ENDS_TEST
    if reports and (only_ends or _EMPTY_CHECK.fullmatch(best.text)):
        return min(reports, key=lambda c: c.line), "the report outranks the exception that only ended the test"
    return None


def _is_after(report: Candidate, raised: Candidate) -> bool:
    """Return whether a report comes after an exception in the same source."""
    return report.source == raised.source and report.line > raised.line


def _stopped_by(best: Candidate, ranked: list[Candidate]) -> tuple[Candidate, str] | None:
    """Return the failed check that explains a line that only stops the simulation, with the rule; None without one."""
    if best.exception or best.pattern.failure_subtype not in {"assertion_fail", _ENDED, UNKNOWN}:
        return None
    details = _DETAILS.sub("", parse_report(best.text).text)
    if details and not _STOP.search(details):
        return None
    checks = (
        c
        for c in ranked
        if c.source == best.source
        and c.line < best.line
        and not c.exception
        and c.pattern.tier != "rollup"
        and c.pattern.failure_subtype in _CHECKS
        and (
            c.pattern.failure_subtype != "assertion_fail"
            or not _STOP.search(_DETAILS.sub("", parse_report(c.text).text))
        )
    )
    check = min(checks, key=lambda c: c.line, default=None)
    return (check, "the check that failed outranks the line that stopped the simulation") if check else None


def _with_values(best: Candidate, ranked: list[Candidate]) -> tuple[Candidate, str] | None:
    """Return the line with the compared values beside a line that only says that a check failed; None if there is none.

    The rule is returned with it.
    """
    plain = best.pattern.failure_subtype == "assertion_fail" and not best.pattern.tools
    without = plain or (best.pattern.failure_subtype == "scoreboard_fail" and not _shows_values(best))
    if not without or best.exception or _is_uvm(best):
        return None
    near = range(best.line - _BESIDE, best.line + _BESIDE + 1 if plain else best.line)
    telling = (
        c
        for c in ranked
        if c.source == best.source
        and c.line in near
        and not c.exception
        and c.pattern.failure_subtype == "scoreboard_fail"
        and not _is_uvm(c)
        and _shows_values(c)
    )
    found = min(telling, key=lambda c: c.line, default=None)
    return (found, "the compared values outrank the line that only says that the check failed") if found else None


def _before_early_end(best: Candidate, ranked: list[Candidate], noise: list[Candidate]) -> tuple[Candidate, str] | None:
    """Return the HDL message that explains an early end, or the early end of a test that was expected to fail.

    The rule is returned with it. Return None if neither applies.
    """
    hdl = next((c for c in noise if PYTHON.isdisjoint(c.pattern.tools)), None)
    if hdl is not None:
        return hdl, "the HDL error line explains why the simulation ended early"
    if best is not ranked[0]:
        return best, "the simulation ended during the test that was expected to fail"
    return None


def _early_end(ranked: list[Candidate]) -> Candidate | None:
    """Return the early end of the simulation in a test that was expected to fail; None if there is none."""
    best = ranked[0]
    if best.pattern.failure_subtype not in EXPECTATIONS:
        return None
    ended = (c for c in ranked if c.pattern.failure_subtype == _ENDED and c.source == best.source)
    return next((c for c in ended if c.line <= best.line + 1), None)


def _report_rule(raised: Candidate, report: Candidate) -> str | None:
    """Return the rule that puts a report with compared values above the exception; None if no rule does."""
    if raised.pattern.failure_subtype == "assertion_fail":
        return "the report with expected and actual values outranks the plain assertion that ended the test"
    if raised.pattern.failure_subtype == "scoreboard_fail" and _shows_values(report) and not _shows_values(raised):
        return "the report with expected and actual values outranks the exception, which shows no values"
    return None


def _caught(report: Candidate, noise: list[Candidate]) -> tuple[Candidate, str] | None:
    """Return the exception that a component caught before a check without values failed, with the rule; else None."""
    if _shows_values(report):
        return None
    before = (c for c in noise if c.pattern.id in _CAUGHT and c.source == report.source and c.line < report.line)
    first = min(before, key=lambda c: c.line, default=None)
    return (
        (first, "the exception that a component caught outranks the failed check, which shows no values")
        if first
        else None
    )


def refers_to_others(text: str) -> bool:
    """Return whether a message may only count earlier errors, or stop the simulation because of them."""
    return bool(_STOP.search(text) or _COUNT.search(text) or _EMPTY_CHECK.fullmatch(text) or _TALLY.fullmatch(text))


def _shows_values(candidate: Candidate) -> bool:
    """Return whether a message shows at least two values, as a comparison does. Error counts are not values."""
    text = parse_report(candidate.text).text
    if not _PAIR.search(text):
        for found in _COUNT.finditer(text):
            counted = found["before"] or found["after"]
            text = text.replace(found[0], "").replace(f"assert {counted} == 0", "")
    return len(_VALUE.findall(text)) >= _COMPARED_VALUES


def _values(candidate: Candidate) -> set[str]:
    """Return the numbers and logic values that a message shows."""
    return set(_VALUE.findall(parse_report(candidate.text).text))


def _of_assertion(best: Candidate, ranked: list[Candidate]) -> tuple[Candidate, str] | None:
    """Return what outranks an HDL assertion (its UVM report, or a failed randomize), with the rule; None if nothing."""
    near = range(best.line + 1, best.line + _REPORTED_WITHIN + 1)
    reports = (c for c in ranked if c.source == best.source and c.line in near and _is_uvm(c))
    report = next((c for c in reports if c.pattern.failure_subtype != UNKNOWN), None)
    if report is not None and not _is_uvm(best):
        return report, "the assertion reports its failure through UVM"
    solver = next((c for c in ranked if _explains(c, best)), None)
    if solver is not None:
        return solver, "a failed randomize explains the assertion next to it"
    return None


def _explains(solver: Candidate, assertion: Candidate) -> bool:
    """Return whether the constraint solver's message is next to an assertion."""
    return (
        solver.pattern.failure_subtype == "constraint_fail"
        and solver.source == assertion.source
        and abs(solver.line - assertion.line) <= _NEXT_TO
    )


def _is_uvm(candidate: Candidate) -> bool:
    return candidate.pattern.error_class.startswith("uvm_")


def _plain_rule(best: Candidate, ranked: list[Candidate]) -> str:
    equals = [c for c in ranked if c.pattern.tier == best.pattern.tier]
    if best.noise:
        return "no message proves a cause; the earliest error line explains the failure best"
    if best.pattern.tier == "symptom":
        return "no message gives a cause, so the earliest symptom is chosen"
    if best.pattern.tier == "rollup":
        return "only a summary says that something failed"
    if len(equals) == 1:
        return "the only message that gives a cause"
    return "the earliest message that gives a cause"
