"""Failures accepted for a limited time: `waivers.yaml`, with an owner and an expiry date for each.

    mode: selective                  # selective | global
    waivers:
      - id: W-12
        match: {fingerprint: "9b1f03c2a7d4"}    # and pattern, test, message, page; all that are given must match
        reason: waits for spec clarification axi_burst_len
        owner: fifo team
        expires: "2026-12-31"        # the last day on which the waiver applies; if missing, it applies until removed

A value is compared exactly, then as a glob with `*` and `?` as the only special characters; with the prefix `regex:` it
is an RE2 expression that may match anywhere. `global` accepts every failure. Waived failures are marked, but counted
and archived like any other.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.causes.words import waiver_text
from pytest_dvwiki.expressions import ExpressionError, compile_re2, glob
from pytest_dvwiki.model import FOR_ALL, Waived
from pytest_dvwiki.redact import redact
from pytest_dvwiki.yamlio import YamlError, line_of, load, located, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.expressions import Expression
    from pytest_dvwiki.model import Failure, Verdict
    from pytest_dvwiki.patterns.matcher import Matcher

    NamesOf = Callable[[str, str | None], tuple[Sequence[str], Sequence[str]]]

Mode = Literal["selective", "global"]
MATCHES = ("fingerprint", "pattern", "test", "message", "page")
_KEYS = ("id", "match", "reason", "owner", "expires", "approved_by", "ticket", "added_by", "added")
_REGEX = "regex:"
_DEPTH = 4
"""Depth of a `match` value in the document: `waivers`, an index, `match`, a key."""


class _WaiverError(ValueError):
    """Raised for an unusable entry of `waivers.yaml`; the message gives file, line and remedy."""


class Waiver(Struct, frozen=True):
    """A kind of failure that people accept."""

    id: str
    match: Mapping[str, str]
    reason: str
    owner: str
    expires: str | None = None
    approved_by: str = ""
    ticket: str = ""
    added_by: str = ""
    added: str = ""
    """The day on which the waiver was written."""

    def is_expired(self, day: str) -> bool:
        """Return whether the waiver no longer applies on a given day."""
        return self.expires is not None and self.expires < day

    def matches(self, values: Mapping[str, Sequence[str]]) -> bool:
        """Return whether every condition of the waiver matches one of the values of its kind."""
        return bool(self.match) and all(
            any(_agrees(wanted, value) for value in values.get(key) or ("",)) for key, wanted in self.match.items()
        )


class Waivers(Struct, frozen=True):
    """All waivers of a project."""

    mode: Mode = "selective"
    waivers: tuple[Waiver, ...] = ()
    problems: tuple[str, ...] = ()
    """The unusable entries of the file, with line and remedy."""

    def apply(
        self, failures: Sequence[Failure], verdicts: Sequence[Verdict], names_of: NamesOf, day: str
    ) -> tuple[Waived, ...]:
        """Find the waived failures of a run.

        Args:
            failures: The failures of one run.
            verdicts: The verdicts on the failures.
            names_of: Returns all fingerprints and pages of a verdict's cause; a waiver may match any of them.
            day: The day of the run, as in `2026-11-21`.

        Returns:
            For each waiver and cause, the tests whose failures of that cause are all waived, in the order of the file.
        """
        found: dict[tuple[int, str], list[str]] = {}
        left: set[tuple[str, str]] = set()
        for failure, verdict in zip(failures, verdicts, strict=True):
            number = self._number(failure, verdict, names_of, day)
            if number is not None:
                found.setdefault((number, verdict.fingerprint), []).append(failure.nodeid)
            else:
                left.add((failure.nodeid, verdict.fingerprint))
        return tuple(
            self._waived(number, fingerprint, accepted)
            for (number, fingerprint), tests in sorted(found.items(), key=lambda item: item[0])
            if (accepted := [test for test in tests if (test, fingerprint) not in left])
        )

    def _number(self, failure: Failure, verdict: Verdict, names_of: NamesOf, day: str) -> int | None:
        """Return the index of the waiver that matches a failure; None if none does, -1 in mode `global`."""
        if self.mode == FOR_ALL:
            return -1
        prints, pages = names_of(verdict.fingerprint, verdict.fingerprint_v1)
        values = {
            "fingerprint": prints,
            "pattern": (verdict.pattern or "",),
            "test": (failure.nodeid,),
            "message": (verdict.primary,),
            "page": pages,
        }
        valid = ((number, each) for number, each in enumerate(self.waivers) if not each.is_expired(day))
        return next((number for number, each in valid if each.matches(values)), None)

    def _waived(self, number: int, fingerprint: str, tests: Iterable[str]) -> Waived:
        names = tuple(sorted(set(tests)))
        if number < 0:
            reason = "every failure is accepted (mode: global)"
            return Waived(id=FOR_ALL, fingerprint=fingerprint, tests=names, reason=reason)
        one = self.waivers[number]
        return Waived(
            id=one.id, fingerprint=fingerprint, tests=names, reason=one.reason, owner=one.owner, expires=one.expires
        )

    def notes(self, day: str) -> tuple[str, ...]:
        """Return notes about the waivers themselves: problems of the file and expired waivers.

        In the mode `global`, all waivers are listed.
        """
        notes = [f"[WAIVER] {problem}" for problem in self.problems]
        if self.mode == FOR_ALL:
            return (*notes, *(f"[WAIVED_INFO] {waiver_text(each)}" for each in self.waivers))
        expired = [each for each in self.waivers if each.is_expired(day)]
        notes += [
            f"[WAIVER] expired and no longer in effect: {waiver_text(each)}; renew or remove it" for each in expired
        ]
        return tuple(notes)

    def unused(self, used: Iterable[str], day: str, where: str) -> tuple[str, ...]:
        """Return a note about the waivers that matched no failure; none if there are no such waivers.

        Args:
            used: The ids of the waivers that matched.
            day: The day of the run.
            where: Description of the failures, such as `this run`. The failures must be from a whole regression,
                because a waiver may be for a test that a part does not run.
        """
        ids = {*used, *(each.id for each in self.waivers if self.mode == FOR_ALL or each.is_expired(day))}
        names = ", ".join(each.id for each in self.waivers if each.id not in ids)
        return (f"[WAIVER] {names}: matched no failure of {where}",) if names else ()


class Accepting:
    """A matcher that also accepts error lines, using waivers that match by message, pattern, or both.

    Args:
        matcher: The matcher of the patterns.
        waivers: The waivers of the project.
        day: The day of the run.
        accepts: Another matcher to decide what is benign and which pattern matches; `matcher` if None.
    """

    def __init__(self, matcher: Matcher, waivers: Waivers, day: str, *, accepts: Matcher | None = None) -> None:
        self._matcher = accepts or matcher
        self._all = waivers.mode == FOR_ALL
        # Waivers by test, fingerprint or page are left out: these are not known yet when lines are matched.
        valid = [
            each
            for each in waivers.waivers
            if each.match and not each.is_expired(day) and each.match.keys() <= {"message", "pattern"}
        ]
        self._by_pattern = [each for each in valid if "pattern" in each.match]
        self._by_message = [each for each in valid if "pattern" not in each.match]
        self.find = matcher.find
        self.is_benign = self._matcher.is_benign

    def is_accepted(self, message: str) -> bool:
        """Return whether a waiver accepts a message, given as one line."""
        values = {"message": (message,)}
        if self._all or any(each.matches(values) for each in self._by_message):
            return True
        if not self._by_pattern:
            return False
        hit = next(self._matcher.matches(message), None)
        values["pattern"] = (hit.pattern.id if hit is not None else "",)
        return any(each.matches(values) for each in self._by_pattern)


def load_waivers(path: Path) -> Waivers:
    """Read the waivers of a project; unusable entries are left out. Without the file, there are no waivers.

    Args:
        path: The path of `waivers.yaml`.
    """
    try:
        text = reading.read_text(path)
    except FileNotFoundError:
        return Waivers()
    except OSError as error:
        return Waivers(problems=(f"{path}: {reading.reason(error)}; no failures are waived until this is fixed",))
    return read_waivers(text, path)


def read_waivers(text: str, path: Path) -> Waivers:
    """Read waivers from the content of their file; unusable entries are left out.

    Args:
        text: The content.
        path: The path of the file, for messages.
    """
    try:
        document = load(text, str(path))
        lines = located(text, _DEPTH)
    except YamlError as error:
        return Waivers(problems=(f"{error}; no failures are waived until this is fixed",))
    reader = _WaiverReader(path, lines)
    return replace(reader.read(document), problems=tuple(reader.problems))


class _WaiverReader:
    """Reads waivers from a parsed document, and collects its problems."""

    def __init__(self, path: Path, lines: Mapping[tuple[str | int, ...], int]) -> None:
        self._path = path
        self._lines = lines
        self.problems: list[str] = []

    def read(self, document: Any) -> Waivers:
        if document is None:
            return Waivers()
        if not isinstance(document, dict):
            self._report((), "expected `mode:` and `waivers:`; no failure is waived")
            return Waivers()
        for key in document:
            if key not in {"mode", "waivers"}:
                self._report((key,), f"unknown key {key!r}; {nearest(key, ('mode', 'waivers'))}")
        mode = document.get("mode", "selective")
        if mode not in ("selective", FOR_ALL):
            self._report(("mode",), f"mode {mode!r:.60}: write selective or global; selective is assumed")
            mode = "selective"
        listed = document.get("waivers") or []
        if not isinstance(listed, list):
            self._report(("waivers",), "expected a list: a waiver begins with `- id:`; no failure is waived")
            listed = []
        found: dict[str, Waiver] = {}
        for number, entry in enumerate(listed):
            waiver = self._waiver(("waivers", number), entry, mode)
            if waiver is not None and waiver.id in found:
                self._report(
                    ("waivers", number),
                    f"the id {waiver.id!r} appears twice, and this entry is ignored; give it another id",
                )
            elif waiver is not None:
                found[waiver.id] = waiver
        return Waivers(mode, tuple(found.values()))

    def _waiver(self, place: tuple[str | int, ...], entry: Any, mode: Mode) -> Waiver | None:
        """Return one waiver; None if the entry is unusable, after noting the problem."""
        try:
            return self._checked(place, entry, mode)
        except _WaiverError as error:
            self.problems.append(str(error))
            return None

    def _checked(self, place: tuple[str | int, ...], entry: Any, mode: Mode) -> Waiver:
        if not isinstance(entry, dict):
            raise self._error(place, f"expected keys {', '.join(_KEYS)}, got {entry!r:.60}")
        for key in entry:
            if key not in _KEYS:
                raise self._error((*place, key), f"no such key {key!r}; {nearest(key, _KEYS)}")
        texts = {key: self._text((*place, key), entry.get(key), key) for key in ("id", "reason", "owner")}
        if texts["id"] == FOR_ALL:
            raise self._error((*place, "id"), f"{FOR_ALL} is reserved for the mode; give the waiver another id")
        return Waiver(
            **texts,
            match=self._match((*place, "match"), entry.get("match"), mode),
            expires=self._day((*place, "expires"), entry.get("expires")),
            approved_by=_line(entry.get("approved_by")),
            ticket=_line(entry.get("ticket")),
            added_by=_line(entry.get("added_by")),
            added=_line(entry.get("added")),
        )

    def _text(self, place: tuple[str | int, ...], value: Any, key: str) -> str:
        text = _line(value)
        if not text:
            raise self._error(place, f"a waiver needs {key}, so that others can understand it later")
        return text

    def _match(self, place: tuple[str | int, ...], value: Any, mode: Mode) -> Mapping[str, str]:
        if value is None and mode == FOR_ALL:
            return {}
        if not isinstance(value, dict) or not value:
            raise self._error(place, f"`match` needs at least one condition: {', '.join(MATCHES)}")
        for key, wanted in value.items():
            if key not in MATCHES:
                raise self._error((*place, key), f"a waiver cannot match by {key!r}; {nearest(key, MATCHES)}")
            if not isinstance(wanted, str) or not wanted:
                raise self._error((*place, key), f"{key} must be a quoted string, got {wanted!r:.60}")
            try:
                _expression(wanted)
            except ExpressionError as error:
                raise self._error((*place, key), f"{wanted!r:.60} is not a valid regular expression: {error}") from None
        return dict(value)

    def _day(self, place: tuple[str | int, ...], value: Any) -> str | None:
        if value is None:
            return None
        try:
            return date.fromisoformat(str(value)).isoformat()
        except ValueError:
            raise self._error(place, f"expires {value!r:.40} is not a date; write it as 2026-12-31") from None

    def _report(self, place: tuple[str | int, ...], what: str) -> None:
        self.problems.append(str(self._error(place, what)))

    def _error(self, place: tuple[str | int, ...], what: str) -> _WaiverError:
        """Return an error that names the file and the nearest line known for a position in the document."""
        line = line_of(place, self._lines)
        left_out = "; this waiver is ignored" if len(place) > 1 and "ignored" not in what else ""
        return _WaiverError(f"{self._path}:{line}: {what}{left_out}")


def _line(value: Any) -> str:
    """Return a value as one redacted line; empty for None, a list or a mapping."""
    return "" if value is None or isinstance(value, dict | list) else " ".join(redact(str(value)).split())


def _agrees(wanted: str, value: str) -> bool:
    return wanted == value or _expression(wanted).search(value) is not None


def _expression(wanted: str) -> Expression:
    """Compile a value of `match`: a regular expression with the prefix `regex:`, otherwise a glob.

    Raises:
        ExpressionError: The value is not a valid expression.
    """
    return compile_re2(wanted.removeprefix(_REGEX)) if wanted.startswith(_REGEX) else glob(wanted)
