"""Divide the failures of one check in a run, if they have different causes.

Failures of one check have different causes in these cases:

* the tests last failed with different causes of the check;
* one of these causes cannot explain some of the failures (`exclusions`);
* the causes are new, the tests passed before, and their simulations read no file in common that changed since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.pipeline.causes import occurrence_of
from pytest_dvwiki.pipeline.passes import touch_stimulus
from pytest_dvwiki.records.name_parts import recorded_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Failure, Occurrence, Verdict
    from pytest_dvwiki.pipeline.causes import Member
    from pytest_dvwiki.pipeline.returns import Returns

_MOST_TESTS = 50
"""Maximum number of tests of a check that are examined one by one; the others join the first known cause."""
_MOST_LISTS = 20
"""Maximum number of different lists of read files that are compared."""

Test = list["Member"]
"""All failures of one test at a check, each with its verdict."""


class _Group(NamedTuple):
    """Tests that fail with one cause."""

    name: str
    """Name of the known cause; empty for a new cause, and for tests that are not divided."""
    tests: list[Test]
    is_apart: bool = False
    """Whether the cause is one of several new causes of the check."""


def divided(
    failures: Sequence[Failure],
    verdicts: Sequence[Verdict],
    history: History,
    returns: Returns,
    *,
    task_id: str,
    root: Path,
) -> tuple[Verdict, ...]:
    """Return the verdicts, with a separate fingerprint for each further cause of a check."""
    checks: dict[str, dict[str, Test]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        checks.setdefault(verdict.fingerprint, {}).setdefault(failure.nodeid, []).append((failure, verdict))
    names: dict[tuple[str, str], str] = {}
    for fingerprint, tests in checks.items():
        if len(tests) == 1:
            continue
        for number, group in enumerate(_Check(fingerprint, tests, history, returns, root).groups(), 1):
            name = recorded_name(fingerprint, task_id, number if number > 1 else 0)
            names.update(((fingerprint, test[0][0].nodeid), name) for test in group.tests)
            if group.is_apart:
                returns.apart.add(name)
    return tuple(
        verdict
        if (name := names.get((verdict.fingerprint, failure.nodeid), verdict.fingerprint)) == verdict.fingerprint
        else replace(verdict, fingerprint=name)
        for failure, verdict in zip(failures, verdicts, strict=True)
    )


class _Check(Struct, frozen=True):
    """A check with the tests that fail at it."""

    fingerprint: str
    tests: dict[str, Test]
    history: History
    returns: Returns
    root: Path

    def groups(self) -> list[_Group]:
        """Return the tests by cause, known causes first; a single group if nothing shows that the causes differ."""
        is_known = self._is_known(self.fingerprint)
        last = self.history.last_causes(self.fingerprint, self.tests) if is_known else {}
        if len(self._by_reads(self.tests.values())) == 1 and not self._may_differ(last):
            return [_Group("", list(self.tests.values()))]
        known, new = self._by_cause(last, self.history.open_causes(self.fingerprint) if is_known else ())
        parts = self._apart(new)
        groups = [_Group(name, tests) for name, tests in known.items()]
        groups += [_Group("", tests, len(parts) > 1) for tests in parts]
        return sorted(groups, key=lambda group: (not group.name, -len(group.tests), group.tests[0][0][0].nodeid))

    def _may_differ(self, last: Mapping[str, str]) -> bool:
        """Return whether tests of one simulation may have different causes, judging by the causes on record.

        They may if the tests last failed with different causes, or if only some of them ever failed at this check.
        """
        return bool(last) and (len(set(last.values())) > 1 or len(last) < len(self.tests))

    def _by_cause(self, last: Mapping[str, str], still_open: Sequence[str]) -> tuple[dict[str, list[Test]], list[Test]]:
        """Return the tests by known cause, and the tests with a new cause.

        Args:
            last: The cause with which each test last failed at this check.
            still_open: The causes of the check that are not fixed.
        """
        by_last: dict[str, list[Test]] = {}
        others: list[Test] = []
        for nodeid, test in self.tests.items():
            (by_last.setdefault(last[nodeid], []) if nodeid in last else others).append(test)
        known: dict[str, list[Test]] = {}
        new: list[Test] = []
        for tests in sorted(by_last.values(), key=len, reverse=True):
            self._add(tests, known, new)
        left: list[Test] = []
        candidates = [*known] or ([] if new else still_open)
        for test in others[:_MOST_TESTS]:
            found = next((name for name in candidates if not self._is_ruled_out(name, test)), "")
            (known.setdefault(found, []) if found else left).append(test)
        (known.setdefault(candidates[0], []) if candidates else left).extend(others[_MOST_TESTS:])
        if new and not known:
            new += left
        elif left:
            self._add(left, known, new)
        return known, new

    def _add(self, tests: list[Test], known: dict[str, list[Test]], new: list[Test]) -> None:
        """Decide on the common cause of some tests, and add the tests to `known` or `new`."""
        name = self.returns.decided(self._occurrence(tests))[0].name
        (known.setdefault(name, []) if self._is_known(name) else new).extend(tests)

    def _is_known(self, name: str) -> bool:
        return self.history.cause(name) is not None

    def _is_ruled_out(self, name: str, test: Test) -> bool:
        return self.returns.exclusions.excluded(name, self._occurrence([test])) is not None

    def _occurrence(self, tests: Iterable[Test]) -> Occurrence:
        return occurrence_of([member for test in tests for member in test], self.root)

    @staticmethod
    def _by_reads(tests: Iterable[Test]) -> dict[tuple[str, ...], list[Test]]:
        """Group tests by the files that their simulations read."""
        found: dict[tuple[str, ...], list[Test]] = {}
        for test in tests:
            found.setdefault(test[0][0].reads, []).append(test)
        return found

    def _apart(self, tests: list[Test]) -> list[list[Test]]:
        """Divide tests with new causes so that no changed file was read by the simulations of two groups.

        If the changes may have altered the stimulus of two groups, the tests are not divided: the changes may have
        revealed one older fault in both.
        """
        by_reads = self._by_reads(tests)
        if not 1 < len(by_reads) <= _MOST_LISTS or () in by_reads:
            return [tests] if tests else []
        groups: list[tuple[set[str], list[Test]]] = []
        revealing = 0
        for reads, members in by_reads.items():
            changed = self.returns.exclusions.read_changes(self._occurrence(members))
            if not changed:
                return [tests]
            revealing += touch_stimulus(changed, reads)
            files, joined = set(changed), list(members)
            for group in [each for each in groups if each[0] & files]:
                groups.remove(group)
                files |= group[0]
                joined = group[1] + joined
            groups.append((files, joined))
        return [tests] if revealing > 1 and len(groups) > 1 else [members for _, members in groups]
