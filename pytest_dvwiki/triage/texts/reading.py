"""Classify a log or pasted text, and list the causes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.logtext.report_parts import parse_report
from pytest_dvwiki.triage import compared
from pytest_dvwiki.triage.classify import Classifier, FirstCause, excerpt_around, identity_of
from pytest_dvwiki.triage.logged import with_logged
from pytest_dvwiki.triage.place import Frames, is_part_of_identity
from pytest_dvwiki.triage.primary import Choice
from pytest_dvwiki.triage.texts.choosing import choose_in_text
from pytest_dvwiki.triage.texts.sections import sections_of
from pytest_dvwiki.triage.texts.sieve import Kept, Sieve, watched
from pytest_dvwiki.triage.texts.wrapped import choose_in_wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.model import Verdict
    from pytest_dvwiki.triage.texts.escaped_lines import Folds

_BLOCK = 1 << 20
_NAMES = ("error_class", "failure_subtype", "fingerprint", "primary")
_KEYS = (*_NAMES, "line", "pattern", "rule", "origin", "fix", "like", "runners_up")


class Sighting(Struct, frozen=True, kw_only=True):
    """A cause found in a text."""

    error_class: str
    failure_subtype: str
    fingerprint: str
    pattern: str | None
    line: int
    """Line number of the first message."""
    hits: int
    """Number of messages about the cause."""
    primary: str
    """The first message, redacted, as one line."""
    fix: str | None


class Reading(Struct, frozen=True, kw_only=True):
    """The verdict on a text, and the causes found in it."""

    verdict: Verdict | None = None
    """The verdict; None if no failure was found."""
    causes: tuple[Sighting, ...] = ()
    """The first cause, then the others in the order of the text."""
    left_out: int = 0
    """Number of messages left out to limit memory."""
    lines: int = 0


def details(verdict: Verdict | None) -> dict[str, Any]:
    """Return a verdict as plain data for JSON."""
    if verdict is None:
        return dict.fromkeys(_NAMES) | {"is_failure": False}
    return {"is_failure": True} | {key: msgspec.to_builtins(getattr(verdict, key)) for key in _KEYS}


class TextClassifier(Classifier):
    """A classifier that also reads logs and pasted text."""

    watched = staticmethod(watched)

    def classify_text(self, text: str) -> Verdict | None:
        """Return the verdict on a log or pasted text; None if nothing in it reports a failure.

        Args:
            text: The text. If it is huge, only the lines of interest are matched.
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
        """Return a sieve, which reads a text of any size in blocks, for `conclude`."""
        return Sieve(self.matcher)

    def conclude(self, kept: Kept) -> Reading:
        """Return the verdict and the causes, from the lines kept by a sieve."""
        choice = choose_in_text(kept.lines, self.matcher, kept.hits)
        if kept.hits is None:
            choice = choose_in_wrapped(kept.lines, self.matcher, choice)
        if choice is None:
            return Reading(left_out=kept.left_out, lines=kept.count)
        simulator = sections_of(kept.lines).simulator
        frames = Frames(kept.lines)
        verdict = self.verdict_of(_finding_in(frames, choice, kept.lines, simulator=simulator))
        return Reading(
            verdict=_with_original_lines(
                replace(verdict, excerpt=excerpt_around(kept.lines, choice.candidate.line)), kept.folds
            ),
            causes=tuple(self._causes(kept, choice, frames, simulator=simulator)),
            left_out=kept.left_out,
            lines=kept.count,
        )

    def _causes(self, kept: Kept, choice: Choice, frames: Frames, *, simulator: bool) -> Iterator[Sighting]:
        """Yield the first cause, then the others of its tier in the order of the text, with their message counts."""
        best = choice.candidate
        others = sorted((c for c in choice.others if c.pattern.tier == best.pattern.tier), key=lambda c: c.line)
        seen: dict[str, Sighting] = {}
        for candidate in (best, *others):
            finding = _finding_in(frames, Choice(candidate, ""), kept.lines, simulator=simulator)
            parts = parse_report(finding.text)
            identity = identity_of(parts, finding.frame if is_part_of_identity(parts) else None)
            hits = 1 if kept.hits is None else kept.hits[candidate.line]
            if identity in seen:
                seen[identity] = replace(seen[identity], hits=seen[identity].hits + hits)
                continue
            verdict = self.verdict_of(finding)
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


def _finding_in(frames: Frames, choice: Choice, lines: Sequence[tuple[int, str]], *, simulator: bool) -> FirstCause:
    """Return the chosen message as the first cause, with the source location from its traceback."""
    candidate = choice.candidate
    values = compared.values_below(lines, candidate.line) if candidate.exception else ("", "")
    frame = frames.of(candidate.line) if candidate.exception else None
    return FirstCause(
        choice=choice,
        text=with_logged(candidate.text, frame, lines, candidate.line) if candidate.exception else candidate.text,
        values=values[0] if values[0] not in candidate.text else "",
        difference=values[1],
        frame=frame,
        in_simulator=simulator,
        in_libraries=candidate.exception and frame is None and frames.is_within_libraries(candidate.line),
    )


def _with_original_lines(verdict: Verdict, folds: Folds) -> Verdict:
    """Return a verdict with line numbers of the original text."""
    if verdict.line is None:
        return verdict
    others = tuple(replace(other, line=folds.line(other.line)) for other in verdict.runners_up)
    return replace(verdict, line=folds.line(verdict.line), runners_up=others)
