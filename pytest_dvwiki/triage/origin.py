"""Decide whether a fault is most likely in the design, the testbench or the tools, and list the evidence.

Each piece of evidence is a clue for one side. Its weight, in log-odds, was fitted to a set of faults of known origin
(`tests/bench/origin.py`), so that verdicts of 80 % are right for four of five faults in that set. Below 60 % the origin
is unknown; the verdict then gives both interpretations and what would decide between them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.model import Clue, Origin
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records.kinds import DETERMINISTIC_CLASSES, INFRASTRUCTURE_PATTERNS
from pytest_dvwiki.records.sides import (
    BY_STATUS,
    BY_TYPE,
    HELD,
    SIDES,
    WOULD_DECIDE,
    of_held_fix,
    side_of,
    side_of_fix,
)
from pytest_dvwiki.triage.label import ASSERTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.model import Frame, OriginType, Verdict
    from pytest_dvwiki.patterns.schema import Pattern, Subtype

CLEAR = 0.6
"""Minimum confidence for a known origin."""
SUREST = 0.99
TOOL = 0.85
"""Confidence of the origin `TOOL` for failures of the environment."""
WEIGHTS: Mapping[str, float] = {
    "file": 4.1,
    "mismatch": 2.5,
    "build": 1.5,
    "python": 3.6,
    "python values": 2.4,
    "setup": 2.0,
    "changes": 2.0,
    "likely changes": 1.6,
    "some seeds": 0.0,
    "another simulator passes": 0.0,
}
"""Weight of each kind of clue, in log-odds for the clue's side; fitted by `tests/bench/origin.py --fit`."""
PERSON = 3.0
"""Weight of a person's decision about this cause: 95 % confidence without other evidence. Not measured."""
_INSTANCE = WEIGHTS["changes"]
"""Weight of the clue that a testbench file instantiates something that does not fit. Not measured.

It equals the weight of changes on one side. So if only the design changed, the origin stays open: the design may have
lost a port, or the testbench may not have followed a renaming.
"""
_PRIOR = 2.0
"""Number of decisions assumed for each side, in addition to people's decisions about causes of a pattern."""
FEWEST_SEEDS = 2
"""Minimum number of seeds for evidence about the stimulus."""

_MISMATCHES = frozenset(
    {"port_mismatch", "parameter_error", "interface_mismatch", "missing_module", "unresolved_reference"}
)
_BUILD = frozenset({"missing_file", "missing_library", "missing_timescale", "unsupported_construct"})
"""Subtypes of build failures. For these, the file with the message says nothing about the origin."""
_KINDS = {
    "handle_not_found": "handle",
    "x_propagation": "unknown value",
    "timeout": "no progress",
    "phase_timeout": "no progress",
    "hang": "no progress",
    "simulation_ended_early": "no progress",
}
SAME_HDL = "same HDL"
"""Clue kind: no HDL file changed, so a mismatch in the HDL is not explained by a change to the design."""
ASKS = "asks for a top"
"""Clue kind: a Makefile of the build changed; without other changes the design cannot have lost its top level."""
LIST = "source list"
"""Clue kind: a source list changed, which may be the reason for a missing file."""
DIRECTED = "directed"
"""Clue kind: no seed can change the result, so a pass with another seed cannot be compared with the failure."""
_DEFINED = "defined elsewhere"
"""Clue kind: the missing module is defined in a file that the build did not read, so the design has it."""
_REPLACES = {SAME_HDL: "mismatch", _DEFINED: "mismatch", LIST: "build", ASKS: "top level"}
"""Maps kinds of clues to the kinds that they refute. A clue with nothing to refute is ignored."""
_CHECKS = frozenset({"scoreboard_fail", "assertion_fail", "timing_offset", "protocol_violation", "coverage_miss"})
_OF_VALUES = frozenset({"index_out_of_range", "key_error", "value_error", "type_error", "runtime_error"})
"""Python exceptions that may be caused by a wrong value from the design or by a testbench fault."""
_OWN = "python.exception"
"""The pattern for exception types that a project or library defines. Code raises them to report a failed check."""
_READINGS = {
    "check": ("the design gave a wrong value", "the test expects a wrong one"),
    "unknown value": ("the design left a signal without a value", "the testbench left an input or a reset undriven"),
    "no progress": (
        "the design never answered",
        "the testbench waits for something that cannot come, or does not wait long enough",
    ),
    "design reports": (
        "the design broke a rule that its own code checks",
        "the testbench broke that rule when it drove the design",
    ),
    "empty queue": (
        "the design sent more than it should",
        "the reference model predicts too few items, or predicts them too late",
    ),
    "library": (
        "a tool or library itself is at fault",
        "it was called with wrong arguments (every frame of the traceback is in its code)",
    ),
    "cut short": ("the simulation hung until a limit ended it", "something outside ended a healthy run"),
    "handle": (
        "the design removed or renamed a signal that the testbench uses",
        "the testbench asks for the wrong name",
    ),
    "top level": ("the design lost or renamed a module", "the build asks for the wrong module, or lacks a source"),
    LIST: ("the design's own list of sources is wrong", "the testbench's build asks for a wrong file"),
}
"""Two explanations for each kind of failure that looks the same no matter which side is wrong."""
_ANY = _READINGS.keys() - {"handle", "top level"}
"""Kinds shared by many unrelated faults: a fix of one fault is no evidence about another."""


def judge(
    *,
    error_class: str,
    failure_subtype: str,
    pattern: Pattern | None,
    file: str | None,
    frame: Frame | None,
    in_libraries: bool = False,
    subtypes: Mapping[str, Subtype],
    sources: Collection[str] = (),
    python_bench: bool = False,
    known: Cause | None = None,
    decided: Mapping[OriginType, int] | None = None,
) -> tuple[Clue, ...]:
    """Return the evidence from a failure and its history.

    Args:
        error_class: Class of the verdict.
        failure_subtype: Failure subtype of the verdict.
        pattern: The pattern that matched.
        file: The source file that the message names.
        frame: The user's innermost frame, if there is a traceback.
        in_libraries: Whether there is a traceback, and all its frames are in libraries and tools.
        subtypes: All failure subtypes, with the side from which each mostly comes.
        sources: The known files of the build.
        python_bench: Whether a testbench in Python ran the simulation, so that HDL files are part of the design.
        known: The cause as on record; None if it is new.
        decided: How many other causes of the same pattern people assigned to each origin.
    """
    place = side_of(file or "", sources, python_bench=python_bench)
    prior = _prior(failure_subtype, pattern, subtypes)
    if error_class == "tool_error" and failure_subtype == "cut_short" and not _names_its_sender(pattern):
        clue: Clue | None = undecided("cut short")
    elif error_class == "tool_error":
        clue = Clue("tool", "TOOL", "the environment failed, not the design or its testbench")
    elif error_class in DETERMINISTIC_CLASSES:
        clue = _build(failure_subtype, file, place, prior)
    elif error_class == "python_error" and pattern is not None and pattern.origin == "UNKNOWN":
        clue = undecided("empty queue")
    elif python_bench and pattern is not None and pattern.id == _OWN and frame and frame.source.startswith("raise "):
        clue = undecided("check")
    elif python_bench and error_class == "python_error" and _is_check(failure_subtype, pattern):
        # This is a pytest test that itself checked the results of its simulation.
        clue = undecided(_KINDS.get(pattern.failure_subtype, "check") if pattern is not None else "check")
    elif error_class == "python_error" and in_libraries:
        clue = undecided("library")
    elif error_class == "python_error":
        where = f", raised in {frame.file}, {frame.function or 'at its top level'}" if frame else ""
        kind = "python values" if failure_subtype in _OF_VALUES else "python"
        clue = Clue(kind, "TB_BUG", f"the testbench's own Python code failed{where}")
    elif place == "RTL_BUG" and error_class == "sim_error":
        clue = undecided("design reports")
    else:
        clue = _run(failure_subtype, prior)
    return (
        *([clue] if clue else []),
        *_of_pattern(pattern, decided or {}),
        *_of_cause(known, sources, names_its_cause=clue is None or clue.kind not in _ANY),
    )


def _is_check(failure_subtype: str, pattern: Pattern | None) -> bool:
    """Return whether a Python error is a failed assertion of a test."""
    is_assertion = pattern is not None and pattern.id.startswith(ASSERTIONS) and failure_subtype != "fixture_error"
    return failure_subtype == "assertion_error" or is_assertion


def _names_its_sender(pattern: Pattern | None) -> bool:
    """Return whether a message says who ended a run, such as a job scheduler; if not, the run may have hung."""
    return pattern is not None and pattern.id in INFRASTRUCTURE_PATTERNS


def conclude(clues: Sequence[Clue]) -> Origin:
    """Return the origin that follows from all evidence; UNKNOWN if the evidence is too weak."""
    person = next((clue for clue in clues if clue.kind == "person"), None)
    tool = next((clue for clue in clues if clue.side == "TOOL"), None)
    score = sum(_weight(clue) * (1 if clue.side == "RTL_BUG" else -1) for clue in clues if clue.side in SIDES)
    side: OriginType = "RTL_BUG" if score > 0 else "TB_BUG"
    chance = 1 / (1 + math.exp(-abs(score)))
    confidence = round(min(SUREST, chance), 2)
    if person is not None and person.side not in SIDES:
        return Origin(type="UNKNOWN", confidence=0.0, reasons=_reasons(clues, person.side))
    if person is not None:
        # A person's decision gives the side; evidence against it only lowers the confidence.
        agrees = person.side == side
        return Origin(
            type=person.side, confidence=confidence if agrees else CLEAR, reasons=_reasons(clues, person.side)
        )
    if tool is not None:
        return Origin(type="TOOL", confidence=TOOL, reasons=_reasons(clues, "TOOL"))
    if not clues:
        return Origin(type="UNKNOWN", confidence=0.0, reasons=("nothing shows where the fault lies",))
    if chance < CLEAR:
        return Origin(type="UNKNOWN", confidence=0.0, reasons=(*_reasons(clues, "UNKNOWN"), _what_would_decide(clues)))
    return Origin(type=side, confidence=confidence, reasons=_reasons(clues, side))


def with_clues(verdict: Verdict, clues: Iterable[Clue]) -> Verdict:
    """Return a verdict with further evidence and the resulting origin; evidence that is thereby refuted is left out.

    The verdict is returned unchanged if a hook decided it, or if the environment failed.
    """
    if verdict.decided_by or verdict.error_class == "tool_error":
        return verdict
    kinds = {clue.kind for clue in verdict.clues}
    relevant = tuple(
        clue for clue in clues if _REPLACES.get(clue.kind, clue.kind) in kinds or clue.kind not in _REPLACES
    )
    refuted = {_REPLACES.get(clue.kind) for clue in relevant}
    is_open = "top level" in refuted or not kinds.isdisjoint({"handle", _DEFINED})
    more = tuple(
        replace(clue, weight=0.0) if is_open and _is_of_design(clue) else clue
        for clue in relevant
        if clue.kind not in {"changes", "likely changes"} or not _is_path_problem(verdict, clue, refuted)
    )
    if not more:
        return verdict
    together = (*(clue for clue in verdict.clues if clue.kind not in refuted), *more)
    return replace(verdict, clues=together, origin=conclude(together))


def knows_changes(verdict: Verdict) -> bool:
    """Return whether the evidence includes the changes before the failure."""
    return any(clue.kind in {"changes", "likely changes", SAME_HDL} for clue in verdict.clues)


def changed_side(verdict: Verdict) -> OriginType | None:
    """Return the only side that changed before the failure, according to the evidence; None without such evidence."""
    return next((clue.side for clue in verdict.clues if clue.kind == "changes"), None)


def _is_of_design(clue: Clue) -> bool:
    """Return whether a clue says that only the design changed, apart from a Makefile or script.

    Then the origin of a missing name is open: the design lost it, or the testbench did not follow a renaming.
    """
    return clue.kind in {"changes", "likely changes"} and clue.side == "RTL_BUG"


def _is_path_problem(verdict: Verdict, change: Clue, refuted: Collection[str | None]) -> bool:
    """Return whether a change proves nothing, because a source is not where the build or a changed list expects it.

    If the design itself includes the missing file, this does not apply: the message is then in a file of the design.
    """
    place = side_of(verdict.place.file) if verdict.place is not None else None
    is_explained = change.side == "RTL_BUG" or "build" in refuted
    return verdict.failure_subtype == "missing_file" and is_explained and place != "RTL_BUG"


def as_decided(verdict: Verdict, known: Cause | None) -> Verdict:
    """Return a hook's verdict; if people decided the origin of its cause, their decision replaces the hook's."""
    clues = _of_people(known)
    if not clues or clues[0].side == verdict.origin.type:
        return verdict
    origin = conclude(clues)
    return replace(verdict, origin=replace(origin, reasons=(*origin.reasons, *verdict.origin.reasons)))


def of_definition(module: str, file: str) -> Clue:
    """Return the clue that a missing module is defined in a file that the build did not read.

    The build's source list may be incomplete, or the module may not be meant for this build.
    """
    return Clue(_DEFINED, "UNKNOWN", f"{file} defines {module}, but the build did not read that file")


def of_seeds(failed: int, passed: int) -> tuple[Clue, ...]:
    """Return the clue that a test fails with only some seeds; empty if it passed with no seed."""
    if not passed or failed + passed < FEWEST_SEEDS:
        return ()
    text = f"fails with {failed} of {failed + passed} seeds: the failure depends on the stimulus"
    return (Clue("some seeds", "RTL_BUG", text),)


def of_directed(origin: Origin) -> tuple[Clue, ...]:
    """Return the clue that a failure of unknown origin is in a directed test; empty for a known origin."""
    if origin.type != "UNKNOWN":
        return ()
    return (
        Clue(DIRECTED, "UNKNOWN", "the simulation gets the same stimulus with every seed, so every run is the same"),
    )


def of_simulators(failed: Sequence[str], passed: Sequence[str]) -> tuple[Clue, ...]:
    """Return the clue that a test fails on some simulators and passes on others; empty unless it does both."""
    if not failed or not passed:
        return ()
    text = f"fails on {', '.join(failed)} and passes on {', '.join(passed)}: the test's expectation can be met"
    return (Clue("another simulator passes", "RTL_BUG", text),)


def _weight(clue: Clue) -> float:
    return clue.weight if clue.weight is not None else WEIGHTS[clue.kind]


def _reasons(clues: Iterable[Clue], side: OriginType) -> tuple[str, ...]:
    """Return the texts of clues, the clues for the given side first."""
    return tuple(clue.text for clue in sorted(clues, key=lambda clue: clue.side != side))


def undecided(kind: str) -> Clue:
    """Return a clue with both explanations for a failure that looks the same no matter which side is wrong."""
    design, bench = _READINGS[kind]
    return Clue(kind, "UNKNOWN", f"either {design}, or {bench}: this failure alone does not show which")


def _what_would_decide(clues: Sequence[Clue]) -> str:
    """Return what would decide between two explanations, and which passing runs would help as a comparison.

    A pass with another seed or simulator decides nothing by itself, but can be compared with the failing run.
    """
    known = {clue.kind for clue in clues}
    other = {"another seed": {"some seeds", DIRECTED}, "another simulator": {"another simulator passes"}}
    compared = " or ".join(text for text, kinds in other.items() if known.isdisjoint(kinds))
    change = "" if known & {"changes", "likely changes"} else "a change on one side only since its last pass, "
    pass_ = f"; a pass with {compared} would help as a comparison" if compared else ""
    return f"{WOULD_DECIDE}{change}a fix that holds, or a person's decision{pass_}"


def _of_cause(known: Cause | None, sources: Collection[str], *, names_its_cause: bool) -> tuple[Clue, ...]:
    """Return the evidence about this cause: a person's decision, or the side changed by a fix that held.

    The number of occurrences and earlier automatic verdicts are no evidence.
    """
    if known is None:
        return ()
    people = _of_people(known)
    fix = known.held_fix
    if people or not names_its_cause or fix is None:
        return people
    if sum(known.fix_counts) > 1:
        return ()  # a check with an earlier fix may report another fault now
    side = side_of_fix(fix, sources)
    return (Clue("held fix", side, of_held_fix(fix, side, sources), HELD),) if side is not None else ()


def _of_people(known: Cause | None) -> tuple[Clue, ...]:
    page = known.page if known is not None else None
    if page is None or not page.is_decided or page.type not in {*SIDES, "UNKNOWN"}:
        return ()
    done = BY_TYPE if page.status in {"", "open"} else f"{BY_STATUS}{page.status}"
    return (Clue("person", page.type, f"{done}: {page.type}", PERSON),)


def _of_pattern(pattern: Pattern | None, decided: Mapping[OriginType, int]) -> tuple[Clue, ...]:
    """Return the clue from people's decisions on other causes of the pattern; empty if there are no decisions."""
    total = sum(decided.get(side, 0) for side in SIDES)
    if pattern is None or not total:
        return ()
    best = max(SIDES, key=lambda side: decided.get(side, 0))
    number = decided.get(best, 0)
    weight = math.log((number + _PRIOR) / (total - number + _PRIOR))
    share = f"{number} of {count(total, 'other cause')} with the pattern {pattern.id}"
    return (Clue("pattern", best, f"people blamed {SIDES[best]} for {share}", weight),)


def _build(failure_subtype: str, file: str | None, place: OriginType | None, prior: Clue | None) -> Clue | None:
    """Return the clue from a message of a compiler or elaborator; None if it favours no side."""
    what = failure_subtype.replace("_", " ")
    if failure_subtype in _MISMATCHES and place == "TB_BUG":
        return Clue("instance", place, f"{what} in {file}, a testbench file", _INSTANCE)
    if failure_subtype in _MISMATCHES and file is None:
        return undecided("top level")
    if failure_subtype in _MISMATCHES:
        return Clue("mismatch", "RTL_BUG", f"{what} in {file}, which is not a testbench file")
    if place is not None and failure_subtype not in _BUILD:
        kind = "design" if place == "RTL_BUG" else "testbench"
        return Clue("file", place, f"the message is in {file}, a {kind} file")
    return replace(prior, kind="build") if prior else None


def _run(failure_subtype: str, prior: Clue | None) -> Clue | None:
    """Return the clue from a failure at run time; None if its subtype favours no side."""
    kind = "check" if failure_subtype in _CHECKS else _KINDS.get(failure_subtype)
    if kind in _READINGS:
        return undecided(kind)
    if prior is None or (kind is None and prior.side == "RTL_BUG"):
        return prior and undecided("check")
    return replace(prior, kind=kind or "setup")


def _prior(failure_subtype: str, pattern: Pattern | None, subtypes: Mapping[str, Subtype]) -> Clue | None:
    """Return a clue for the side from which such failures mostly come, without a kind; None if no side is typical."""
    if pattern is not None and pattern.origin in SIDES:
        return Clue("", pattern.origin, f"messages like this ({pattern.id}) mostly come from {SIDES[pattern.origin]}")
    if pattern is not None and pattern.origin == "TOOL":
        return None  # this message comes from neither side, although others of its subtype may mostly come from one
    subtype = subtypes.get(failure_subtype)
    if subtype is None or subtype.origin not in SIDES:
        return None
    return Clue("", subtype.origin, f"failures of kind {failure_subtype} mostly come from {SIDES[subtype.origin]}")
