"""Files that correct the names and labels of causes in records: `tasks/verdicts/{time}_{6 hex digits}.yaml`.

Records never change; the results of `dvwiki build --reclassify` are stored beside them:

    schema: 1
    number: 1                  # one more than the highest before: files apply in the order of their numbers
    tool: "pytest-dvwiki 0.1.0"
    registry: "9f2c…"          # hash of the registry that gave the verdicts
    fingerprint_version: 2
    newest: "2026-11-21T20:27:30Z 2026-11-21T20:25:11Z regression_20261121T202511Z_3fa9c1"  # newest run that was judged
    verdicts:                  # one per cause with a new name or label
      - {fingerprint: "9b1f03c2a7d4", becomes: "0a66a656159d", error_class: uvm_error,
         failure_subtype: scoreboard_fail, pattern: "uvm.scoreboard_mismatch"}

`becomes` replaces the cause's fingerprint in every record, and `fingerprint` becomes an alias. If only the label
changed, the two are equal. The label applies to runs up to `newest` that were classified by another registry or
fingerprint version. The file name contains the time of the newest record and a hash of the content: two branches that
reclassify the same archive write the same file, and if they write two, both apply. Other YAML in the folder is ignored.

A file of schema 2 lists causes that are the same, or that are not:

    schema: 2
    merges:                    # learned from the records, see `learned`
      - {words: "FAILED : V * V", file: "tb/sb.py", function: "", source: "", members: [{fingerprint: "9b1f03c2a7d4",
         word: "ADD", first: "2026-11-21T20:27:30Z …", task_id: "…", commit: "1f0c…", line: 41}, …]}
    apart:                     # by `dvwiki merge --undo`
      - {kept: ["9b1f03c2a7d4"], other: ["0a66a656159d"], reason: ""}

The order of these files does not matter. Merges with a common member form one cause, called by its first member.
`apart` overrides merges: `other` is not merged. If fewer than three causes of a merge remain, none of them are merged.
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.records.disk import create
from pytest_dvwiki.records.name_parts import SLASH, check_of
from pytest_dvwiki.records.tables import moment_of
from pytest_dvwiki.yamlio import YamlError, dump, load, misfit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import Attempt, FixRow, Occurrence, RunRecord

SCHEMA = 2
_PLAIN = 1
"""The schema of a file without merges, which older versions can read."""
FOLDER = "verdicts"
_FEWEST = 3
"""Minimum number of causes in a merge."""
_NAME = re.compile(r"\d{8}T\d{6}Z_[0-9a-f]{6}\.yaml")


class Ruling(Struct, frozen=True, kw_only=True):
    """The new name and label of a cause."""

    fingerprint: str
    becomes: str
    error_class: str
    failure_subtype: str
    pattern: str | None = None


class Member(Struct, frozen=True, kw_only=True):
    """A cause that was merged with others, and its first occurrence."""

    fingerprint: str
    word: str
    first: str
    """Sort key of the run of the cause's first occurrence."""
    task_id: str
    commit: str
    line: int


class Merge(Struct, frozen=True, kw_only=True):
    """Causes that one statement reported with different words at one position."""

    words: str
    """The masked message, with a star at the position that differs."""
    file: str
    members: tuple[Member, ...]
    """The causes, in the order of their first occurrences."""
    function: str = ""
    source: str = ""


class Apart(Struct, frozen=True, kw_only=True):
    """Causes that people separated."""

    kept: tuple[str, ...]
    other: tuple[str, ...]
    reason: str = ""


class Rulings(Struct, frozen=True, kw_only=True):
    """The content of one file: results of a reclassification, learned merges, or corrections by people."""

    newest: str
    number: int = 0
    tool: str = ""
    registry: str = ""
    fingerprint_version: int = 0
    verdicts: tuple[Ruling, ...] = ()
    merges: tuple[Merge, ...] = ()
    apart: tuple[Apart, ...] = ()
    schema: int = _PLAIN

    def relabels(self, record: RunRecord) -> bool:
        """Return whether this file relabels a run: one up to `newest`, judged by another registry or version."""
        gave = (record.registry, record.fingerprint_version)
        return moment_of(record) <= self.newest and gave != (self.registry, self.fingerprint_version)


class Verdicts(Struct, frozen=True, dict=True):
    """All files of verdicts, in the order in which they apply."""

    files: tuple[Rulings, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    """Files that cannot be read, with the reasons."""

    @cached_property
    def _steps(self) -> list[tuple[Rulings, dict[str, Ruling]]]:
        """Return the files, each with its rulings by former fingerprint."""
        return [(one, {ruling.fingerprint: ruling for ruling in one.verdicts}) for one in self.files]

    @property
    def next_number(self) -> int:
        """Return the number of the next file."""
        return 1 + max((rulings.number for rulings in self.files), default=0)

    def canonical(self, fingerprint: str) -> str:
        """Return the current name of a fingerprint."""
        for _, by_fingerprint in self._steps:
            ruling = by_fingerprint.get(fingerprint)
            fingerprint = ruling.becomes if ruling else fingerprint
        return fingerprint

    @property
    def reclassified(self) -> str:
        """Return a string that changes with every reclassification, because all records must then be read again."""
        return repr([one for one in self.files if one.verdicts])

    @cached_property
    def apart(self) -> tuple[Apart, ...]:
        """Return the causes that people separated."""
        return tuple(each for one in self.files for each in one.apart)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the groups of merged causes; within each, the cause seen first, then the rest sorted by name.

        Groups that separations reduced to fewer than three causes are left out.
        """
        groups: list[dict[str, str]] = []
        for merge in (each for one in self.files for each in one.merges):
            group = {member.fingerprint: member.first for member in reversed(merge.members)}
            rest = []
            for other in groups:
                if other.keys() & group.keys():
                    group = {
                        name: min(known[name] for known in (group, other) if name in known)
                        for name in group.keys() | other.keys()
                    }
                else:
                    rest.append(other)
            groups = [*rest, group]
        return tuple(sorted(filter(None, map(self._without_apart, groups))))

    def _without_apart(self, group: dict[str, str]) -> tuple[str, ...]:
        alone = {
            name
            for each in self.apart
            if group.keys() & set(each.kept) and group.keys() & set(each.other)
            for name in each.other
        }
        names = sorted(group.keys() - alone, key=lambda name: (group[name], name))
        return (names[0], *sorted(names[1:])) if len(names) >= _FEWEST else ()

    def are_apart(self, one: Collection[str], other: Collection[str]) -> bool:
        """Return whether people separated two causes, each given by all its fingerprints."""
        return any(
            not (set(first).isdisjoint(each.kept) or set(second).isdisjoint(each.other))
            for each in self.apart
            for first, second in ((one, other), (other, one))
        )

    @cached_property
    def alone(self) -> frozenset[str]:
        """Return the causes of recorded merges and separations that are in no group now."""
        named = {member.fingerprint for one in self.files for merge in one.merges for member in merge.members}
        named |= {name for each in self.apart for name in (*each.kept, *each.other)}
        return frozenset(named.difference(*self.groups))

    def is_new(self, merge: Merge) -> bool:
        """Return whether a merge joins causes that no file of verdicts joins yet."""
        extended = Verdicts((*self.files, Rulings(newest="", merges=(merge,))))
        return extended.groups != self.groups

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Map each replaced fingerprint to its current name."""
        known = {name for rulings in self.files for one in rulings.verdicts for name in (one.fingerprint, one.becomes)}
        return {name: became for name in sorted(known) if (became := self.canonical(name)) != name}

    def applied(self, record: RunRecord) -> RunRecord:
        """Return a record with all reclassifications applied."""
        if not self.files:
            return record
        labelled = tuple(self._occurrence(item, record) for item in record.occurrences)
        return replace(renamed(record, self.canonical), occurrences=labelled)

    def _occurrence(self, occurrence: Occurrence, record: RunRecord) -> Occurrence:
        for one, by_fingerprint in self._steps:
            ruling = by_fingerprint.get(check_of(occurrence.fingerprint))
            if ruling is None:
                continue
            _, slash, of_run = occurrence.fingerprint.partition(SLASH)
            occurrence = replace(occurrence, fingerprint=f"{ruling.becomes}{slash}{of_run}")
            if one.relabels(record):
                occurrence = replace(
                    occurrence,
                    error_class=ruling.error_class,
                    failure_subtype=ruling.failure_subtype,
                    pattern=ruling.pattern,
                )
        return occurrence


def renamed(record: RunRecord, name: Callable[[str], str]) -> RunRecord:
    """Return a record with its fingerprints replaced.

    Args:
        record: The run.
        name: Maps a fingerprint to the new one.
    """

    def cause(called: str) -> str:
        check, slash, of_run = called.partition(SLASH)
        return f"{name(check)}{slash}{of_run}"

    def fix(row: FixRow) -> FixRow:
        return replace(row, fingerprint=cause(row.fingerprint)) if row.fingerprint else row

    def attempt(one: Attempt) -> Attempt:
        return replace(one, fingerprint=name(one.fingerprint)) if one.fingerprint else one

    return replace(
        record,
        occurrences=tuple(replace(item, fingerprint=cause(item.fingerprint)) for item in record.occurrences),
        other=tuple(replace(test, attempts=tuple(map(attempt, test.attempts))) for test in record.other),
        passed_again=tuple(replace(row, fingerprint=cause(row.fingerprint)) for row in record.passed_again),
        waived=tuple(replace(row, fingerprint=cause(row.fingerprint)) for row in record.waived),
        fixes=tuple(map(fix, record.fixes)),
        without_fix=tuple(map(cause, record.without_fix)),
        regressed=tuple(map(cause, record.regressed)),
        first_bad=tuple(replace(row, fingerprint=cause(row.fingerprint)) for row in record.first_bad),
        since_fix=tuple(
            replace(row, fingerprint=cause(row.fingerprint), cause=row.cause and cause(row.cause))
            for row in record.since_fix
        ),
        undone=tuple(replace(row, fingerprint=cause(row.fingerprint)) for row in record.undone),
    )


def read(tasks: Path) -> Verdicts:
    """Read all files of verdicts; unreadable files are listed in `problems`."""
    found: list[tuple[int, str, Rulings]] = []
    problems: list[tuple[str, str]] = []
    for path in _files(tasks):
        name = f"{FOLDER}/{path.name}"
        try:
            document = load(reading.read_bytes(path), name)
            schema = document.get("schema") if isinstance(document, dict) else None
            if isinstance(schema, int) and schema > SCHEMA:
                problems.append(
                    (
                        path.name,
                        f"{name}: schema {schema} is newer than this version of dvwiki reads ({SCHEMA}); update dvwiki",
                    )
                )
                continue
            rulings = msgspec.convert(document, Rulings)
        except OSError as error:
            problems.append((path.name, f"{name}: {reading.reason(error)}"))
            continue
        except YamlError as error:
            problems.append((path.name, str(error)))
            continue
        except msgspec.ValidationError as error:
            place, problem = misfit(error)
            where = f"{place}: " if place else ""
            problems.append((path.name, f"{name}: {where}{problem}; restore it, for example from git"))
            continue
        found.append((rulings.number, path.name, rulings))
    return Verdicts(tuple(rulings for _, _, rulings in sorted(found, key=lambda one: one[:2])), tuple(problems))


def state(tasks: Path) -> str:
    """Return a string of the files' names, sizes and times, which changes if a file is added, removed or replaced."""
    parts = []
    for path in _files(tasks):
        status = path.lstat()  # not `stat`, which fails for a broken link
        parts.append(f"{path.name} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(parts)


def _files(tasks: Path) -> Sequence[Path]:
    return sorted(path for path in (tasks / FOLDER).glob("*.yaml") if _NAME.fullmatch(path.name))


def write(tasks: Path, rulings: Rulings) -> Path:
    """Write a file of verdicts; the same verdicts always give the same file.

    Raises:
        WikiError: The file cannot be written.
    """
    data = dump(_document(rulings)).encode()
    time = rulings.newest.split(" ", 1)[0].replace("-", "").replace(":", "")
    path = tasks / FOLDER / f"{time}_{hashlib.sha256(data).hexdigest()[:6]}.yaml"
    create(path, data)
    return path


def _document(rulings: Rulings) -> dict[str, Any]:
    values = msgspec.to_builtins(rulings)
    schema = values.pop("schema")
    if not (rulings.merges or rulings.apart):
        del values["merges"], values["apart"]
        order = ("number", "tool", "registry", "fingerprint_version", "newest", "verdicts")
        return {"schema": schema, **{key: values[key] for key in order}}
    filled = {key: value for key, value in values.items() if value}
    return {"schema": SCHEMA, **filled}
