"""Where a fault most likely lies: in the design, the testbench or the tools, with the evidence in short sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_dvwiki.model import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_dvwiki.model import Frame, KnownCause, OriginType
    from pytest_dvwiki.patterns.schema import Pattern, Subtype

WITHOUT_HISTORY = 0.89
"""No verdict is surer than this while nobody has confirmed its like."""
SUREST = 0.99
AGREES = 0.1
DECIDED = 0.75
"""Of the origin that people gave to this very cause, against the evidence."""
TAUGHT = 0.6
"""Of the origin that people always gave to other causes of its pattern, against the evidence."""
ENOUGH_DECISIONS = 3
CHANGED = 0.4
"""Of an origin that nothing but the changes since the last pass tells."""
TURNED: Mapping[OriginType, float] = {"RTL_BUG": 0.6, "TB_BUG": 0.5}
"""Of an origin that the changes since the last pass turn; a stricter check may show an older fault of the design."""
FEWEST_SEEDS = 2
"""Seeds that tell something about how a fault depends on the stimulus."""

_NAMES: dict[OriginType, str] = {
    "RTL_BUG": "the design",
    "TB_BUG": "the testbench",
    "TOOL": "the environment",
    "UNKNOWN": "nowhere in particular",
}
_PATTERN_PRIOR = 0.6
_SUBTYPE_PRIOR = 0.5
_CERTAIN = 0.85
_HDL = re.compile(r"\.(?:sv|svh|v|vh|vhd|vhdl)$", re.IGNORECASE)
_TESTBENCH = re.compile(
    r"(?:^|[\\/_.-])(?:tb|tbs|tests?|testbench(?:es)?|bench|uvm|verif(?:ication)?|dv|sim|agents?|env|envs|seq|seqs|sequences?"
    r"|scoreboards?|sb|scb|monitors?|drivers?|model|bfm|vip|checkers?|cov|coverage)(?=[\\/_.-]|\d*\.)",
    re.IGNORECASE,
)
_STATIC = frozenset({"compile_error", "elaboration_error"})
_LIBRARY = re.compile(r"[\\/](?:site-packages|dist-packages|uvm-?1\.\d\w?|uvm_1_\d|uvm-core)[\\/]", re.IGNORECASE)


@dataclass
class _Scale:
    """Evidence for each origin, as it adds up."""

    weights: dict[OriginType, float] = field(default_factory=dict)
    reasons: list[tuple[OriginType, str]] = field(default_factory=list)

    def put(self, origin: OriginType, weight: float, reason: str) -> None:
        self.weights[origin] = self.weights.get(origin, 0.0) + weight
        self.reasons.append((origin, reason))

    def turn(self, origin: OriginType, other: OriginType) -> None:
        """Counts what speaks for one origin for another one."""
        if origin in self.weights:
            self.weights[other] = self.weights.get(other, 0.0) + self.weights.pop(origin)
            self.reasons = [(kind, text) for kind, text in self.reasons if kind != origin]

    def verdict(self) -> Origin:
        if not self.weights:
            return Origin(type="UNKNOWN", confidence=0.0, reasons=("nothing tells where the fault lies",))
        best = max(self.weights, key=lambda origin: self.weights[origin])
        against = sum(weight for origin, weight in self.weights.items() if origin != best)
        confidence = max(0.1, min(WITHOUT_HISTORY, self.weights[best] - against / 2))
        # What speaks for the verdict first, then what speaks against it.
        ordered = sorted(self.reasons, key=lambda reason: reason[0] != best)
        return Origin(type=best, confidence=round(confidence, 2), reasons=tuple(text for _, text in ordered))


def judge(
    *,
    error_class: str,
    failure_subtype: str,
    pattern: Pattern | None,
    file: str | None,
    frame: Frame | None,
    subtypes: Mapping[str, Subtype],
    known: KnownCause | None = None,
    decided: Mapping[OriginType, int] | None = None,
) -> Origin:
    """Weighs the evidence.

    Args:
        error_class: Class of the verdict.
        failure_subtype: Its subtype.
        pattern: The pattern that gave it.
        file: The source file that the message names.
        frame: The user's innermost frame, where there is a traceback.
        subtypes: The taxonomy with its priors.
        known: What the archive knows of the same cause.
        decided: How many other causes of the same pattern people decided to be what.
    """
    if error_class == "tool_error":
        origin = Origin(
            type="TOOL",
            confidence=_CERTAIN,
            reasons=("the environment failed, not the design or its testbench",),
        )
    else:
        scale = _Scale()
        # An assertion of a test without a simulator says nothing of a design, whatever its words are.
        named = pattern if pattern is None or pattern.error_class in {error_class, None} else None
        _prior(scale, failure_subtype, named if error_class == "python_error" else pattern, subtypes)
        if error_class in _STATIC and side_of(file or "") == "TB_BUG":
            scale.turn("RTL_BUG", "TB_BUG")  # what a compiler does not take of a file is the file's own fault
        _place(scale, error_class, file, frame)
        origin = scale.verdict()
    return with_history(with_pattern_history(origin, pattern, decided or {}), known)


def with_history(origin: Origin, known: KnownCause | None) -> Origin:
    """An origin in the light of what the archive says about the same cause.

    What people decided wins: they closed or confirmed its page, or gave it another type than the tool had.
    """
    if known is None or known.type is None or known.type == "UNKNOWN":
        return origin
    word = _word_of_people(known)
    seen = f"{known.runs} earlier run{'s' if known.runs != 1 else ''}"
    if known.type == origin.type:
        reason = f"{seen} of the same cause came to {origin.type}, too" + (f", and {word}" if word else "")
        confidence = min(SUREST, origin.confidence + AGREES + (0.05 if word else 0.0))
        return Origin(type=origin.type, confidence=round(confidence, 2), reasons=(*origin.reasons, reason))
    if word:
        return Origin(type=known.type, confidence=DECIDED, reasons=(f"{word}: {known.type}", *origin.reasons))
    return _less(origin, f"{seen} of the same cause came to {known.type}")


def _word_of_people(known: KnownCause) -> str:
    """What people did with the page of a cause, empty where they have not decided its type."""
    if not known.decided:
        return ""
    return "a person gave its page another type" if known.status in {None, "open"} else f"its page is {known.status}"


def with_pattern_history(origin: Origin, pattern: Pattern | None, decided: Mapping[OriginType, int]) -> Origin:
    """An origin in the light of what people decided about other causes that the same pattern named.

    Where all of enough decisions say otherwise, they win over the evidence.
    """
    total = sum(decided.values())
    if pattern is None or not total:
        return origin
    best = max(sorted(decided), key=lambda kind: decided[kind])
    share = f"people decided {decided[best]} of {total} other cause{'s' if total != 1 else ''} of {pattern.id}"
    reason = f"{share} to come from {_NAMES[best]}"
    if best == origin.type:
        confidence = min(SUREST, origin.confidence + AGREES)
        return Origin(type=best, confidence=round(confidence, 2), reasons=(*origin.reasons, reason))
    if total == decided[best] >= ENOUGH_DECISIONS:
        return Origin(type=best, confidence=TAUGHT, reasons=(reason, *origin.reasons))
    return _less(origin, reason)


def with_changes(origin: Origin, files: Sequence[str], commit: str, *, decided: bool = False) -> Origin:
    """An origin in the light of what changed since the test last passed: where only one side did, it is that one.

    Args:
        origin: From the other evidence.
        files: Names of the files that changed; others than sources of design and testbench say nothing.
        commit: At which the test passed.
        decided: Whether people decided the origin of this very cause: their word stands, though it is less sure.
    """
    sides: dict[OriginType, list[str]] = {}
    for file in files:
        side = side_of(file)
        if side is not None:
            sides.setdefault(side, []).append(file)
    if origin.type == "TOOL" or len(sides) != 1:
        return origin
    ((side, changed),) = sides.items()
    named = changed[0] + (f" and {len(changed) - 1} more" if len(changed) > 1 else "")
    kind = "design" if side == "RTL_BUG" else "testbench"
    reason = f"since it passed at {commit[:8]} only {kind} files changed: {named}"
    if origin.type == "UNKNOWN":
        return Origin(type=side, confidence=CHANGED, reasons=(reason,))
    if side != origin.type:
        if decided:
            return _less(origin, reason)
        return Origin(type=side, confidence=TURNED[side], reasons=(reason, *origin.reasons))
    ceiling = max(origin.confidence, WITHOUT_HISTORY)
    confidence = min(ceiling, origin.confidence + AGREES)
    return Origin(type=side, confidence=round(confidence, 2), reasons=(*origin.reasons, reason))


def side_of(file: str) -> OriginType | None:
    """Whether a source file belongs to the design or the testbench, by its name; None where it is no source."""
    if file.endswith(".py"):
        return "TB_BUG"
    if not _HDL.search(file):
        return None
    return "TB_BUG" if _TESTBENCH.search(_own_name(file)) or _LIBRARY.search(file) else "RTL_BUG"


def _less(origin: Origin, reason: str) -> Origin:
    confidence = min(origin.confidence, max(0.1, origin.confidence - AGREES))
    return Origin(type=origin.type, confidence=round(confidence, 2), reasons=(*origin.reasons, reason))


def with_seeds(origin: Origin, failed: int, passed: int) -> Origin:
    """An origin in the light of how many seeds of the same test failed and passed.

    A fault that shows with some stimuli only is likelier in the design than one that each run meets.
    """
    if failed + passed < FEWEST_SEEDS or origin.type not in {"RTL_BUG", "TB_BUG"}:
        return origin
    if passed:
        reason = f"fails with {failed} of {failed + passed} seeds: it depends on the stimulus"
        change = 0.05 if origin.type == "RTL_BUG" else -0.05
    else:
        reason = f"fails with {failed} of {failed} seeds"
        change = 0.02 if origin.type == "TB_BUG" else 0.0
    ceiling = max(origin.confidence, WITHOUT_HISTORY)
    confidence = min(ceiling, max(0.1, origin.confidence + change))
    return Origin(type=origin.type, confidence=round(confidence, 2), reasons=(*origin.reasons, reason))


def _prior(scale: _Scale, failure_subtype: str, pattern: Pattern | None, subtypes: Mapping[str, Subtype]) -> None:
    if pattern is not None and pattern.origin is not None and pattern.origin != "UNKNOWN":
        scale.put(
            pattern.origin,
            _PATTERN_PRIOR,
            f"messages like this ({pattern.id}) mostly come from {_NAMES[pattern.origin]}",
        )
        return
    subtype = subtypes.get(failure_subtype)
    if subtype is not None and subtype.origin != "UNKNOWN":
        scale.put(
            subtype.origin,
            _SUBTYPE_PRIOR,
            f"failures of kind {failure_subtype} mostly come from {_NAMES[subtype.origin]}",
        )


def _own_name(file: str) -> str:
    """A file with its folder: what stands further up is mostly the whole project's name (`tests/designs/fifo.sv`)."""
    return "/".join(re.split(r"[\\/]", file)[-2:])


def _place(scale: _Scale, error_class: str, file: str | None, frame: Frame | None) -> None:
    """Evidence from where the message or the failing frame stands."""
    static = error_class in _STATIC
    if file is not None and _HDL.search(file):
        if _LIBRARY.search(file):
            scale.put("TB_BUG", 0.1, f"{file} belongs to a library that the testbench calls")
        elif _TESTBENCH.search(_own_name(file)):
            scale.put("TB_BUG", 0.25 if static else 0.05, f"the message stands in {file}, a testbench file by its name")
        elif static:
            scale.put("RTL_BUG", 0.45, f"the message stands in {file}, a design file by its name")
        else:
            scale.put("RTL_BUG", 0.2, f"the design itself reports it, in {file}")
    elif frame is not None and error_class == "python_error":
        scale.put("TB_BUG", 0.2, f"the exception was raised in {frame.file}, {frame.function or 'at its top level'}")
