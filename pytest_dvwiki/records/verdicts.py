"""What a newer registry or fingerprint says of causes on record: `tasks/verdicts/{time}_{6 hex}.yaml`.

Records never change; what `dvwiki build --reclassify` decided stands beside them:

    schema: 1
    number: 1                  # one more than the highest that was there: files count in the order of their numbers
    tool: "pytest-dvwiki 0.1.0"
    registry: "9f2c…"          # what gave the verdicts
    fingerprint_version: 2
    newest: "2026-11-21T20:27:30Z 2026-11-21T20:25:11Z regression_20261121T202511Z_3fa9c1"  # run that was looked at
    verdicts:                  # one per cause that is called otherwise than before
      - {fingerprint: "9b1f03c2a7d4", becomes: "0a66a656159d", error_class: uvm_error,
         failure_subtype: scoreboard_fail, pattern: "uvm.scoreboard_mismatch"}

`becomes` names the cause from then on, in every record, and `fingerprint` is an alias; the two are equal where only the
label changed. The label holds for runs up to `newest` that something else had named. A file has its name from
the time of the newest record and its own content, so that two branches which reclassify the same archive write
the same file; where they write two, both count. Other YAML in the folder is somebody else's.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_dvwiki.records.disk import create
from pytest_dvwiki.records.tables import moment_of
from pytest_dvwiki.yamlio import YamlError, dump, load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_dvwiki.model import Occurrence, RunRecord

SCHEMA = 1
FOLDER = "verdicts"
_NAME = re.compile(r"\d{8}T\d{6}Z_[0-9a-f]{6}\.yaml")


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """What a cause is called from now on."""

    fingerprint: str
    becomes: str
    error_class: str
    failure_subtype: str
    pattern: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rulings:
    """One file: what one reclassification decided."""

    number: int
    tool: str
    registry: str
    fingerprint_version: int
    newest: str
    verdicts: tuple[Ruling, ...] = ()
    schema: int = SCHEMA

    def names(self, record: RunRecord) -> bool:
        """Whether a run takes its labels from here: it was there, and was named by something else."""
        gave = (record.registry, record.fingerprint_version)
        return moment_of(record) <= self.newest and gave != (self.registry, self.fingerprint_version)


@dataclass(frozen=True)
class Verdicts:
    """All files together, in the order in which they count."""

    files: tuple[Rulings, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    """Files that cannot be read, each with the reason."""

    @cached_property
    def _steps(self) -> list[tuple[Rulings, dict[str, Ruling]]]:
        """Each file with its rulings by the fingerprint before."""
        return [(one, {ruling.fingerprint: ruling for ruling in one.verdicts}) for one in self.files]

    @property
    def next_number(self) -> int:
        """The number of the next file."""
        return 1 + max((rulings.number for rulings in self.files), default=0)

    def canonical(self, fingerprint: str) -> str:
        """What a fingerprint has become."""
        for _, by_fingerprint in self._steps:
            ruling = by_fingerprint.get(fingerprint)
            fingerprint = ruling.becomes if ruling else fingerprint
        return fingerprint

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Fingerprints that were given up, with what they have become."""
        known = {name for rulings in self.files for one in rulings.verdicts for name in (one.fingerprint, one.becomes)}
        return {name: became for name in sorted(known) if (became := self.canonical(name)) != name}

    def applied(self, record: RunRecord) -> RunRecord:
        """A record as it reads after all verdicts."""
        if not self.files:
            return record
        return replace(
            record,
            occurrences=tuple(self._occurrence(item, record) for item in record.occurrences),
            passed_again=tuple(
                replace(row, fingerprint=self.canonical(row.fingerprint)) for row in record.passed_again
            ),
            waived=tuple(replace(row, fingerprint=self.canonical(row.fingerprint)) for row in record.waived),
            fixes=tuple(self._fix(row) for row in record.fixes),
            without_fix=tuple(map(self.canonical, record.without_fix)),
            regressed=tuple(map(self.canonical, record.regressed)),
            first_bad=tuple(replace(row, fingerprint=self.canonical(row.fingerprint)) for row in record.first_bad),
        )

    def _occurrence(self, occurrence: Occurrence, record: RunRecord) -> Occurrence:
        for one, by_fingerprint in self._steps:
            ruling = by_fingerprint.get(occurrence.fingerprint)
            if ruling is None:
                continue
            occurrence = replace(occurrence, fingerprint=ruling.becomes)
            if one.names(record):
                occurrence = replace(
                    occurrence,
                    error_class=ruling.error_class,
                    failure_subtype=ruling.failure_subtype,
                    pattern=ruling.pattern,
                )
        return occurrence

    def _fix(self, row: dict[str, Any]) -> dict[str, Any]:
        found = row.get("fingerprint")
        return {**row, "fingerprint": self.canonical(str(found))} if found else row


def read(tasks: Path) -> Verdicts:
    """Reads all files of verdicts; one that cannot be read stands in `problems`."""
    found: list[tuple[int, str, Rulings]] = []
    problems: list[tuple[str, str]] = []
    for path in _files(tasks):
        name = f"{FOLDER}/{path.name}"
        try:
            document = load(path.read_bytes(), name)
            schema = document.get("schema") if isinstance(document, dict) else None
            if isinstance(schema, int) and schema > SCHEMA:
                problems.append((path.name, f"{name}: schema {schema} is newer than {SCHEMA}; update dvwiki"))
                continue
            rulings = msgspec.convert(document, Rulings)
        except (OSError, YamlError, msgspec.ValidationError) as error:
            text = str(error)
            problems.append((path.name, text if text.startswith(name) else f"{name}: {text}"))
            continue
        found.append((rulings.number, path.name, rulings))
    return Verdicts(tuple(rulings for _, _, rulings in sorted(found, key=lambda one: one[:2])), tuple(problems))


def state(tasks: Path) -> str:
    """Tells whether the files are the same as before: they never change, so their names, sizes and times do."""
    parts = []
    for path in _files(tasks):
        status = path.stat()
        parts.append(f"{path.name} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(parts)


def _files(tasks: Path) -> Sequence[Path]:
    return sorted(path for path in (tasks / FOLDER).glob("*.yaml") if _NAME.fullmatch(path.name))


def write(tasks: Path, rulings: Rulings) -> Path:
    """Writes a file of verdicts; the same verdicts again are the same file.

    Raises:
        WikiError: It cannot be written.
    """
    data = dump(_document(rulings)).encode()
    time = rulings.newest.split(" ", 1)[0].replace("-", "").replace(":", "")
    path = tasks / FOLDER / f"{time}_{hashlib.sha256(data).hexdigest()[:6]}.yaml"
    create(path, data)
    return path


def _document(rulings: Rulings) -> dict[str, Any]:
    values = msgspec.to_builtins(rulings)
    return {"schema": values.pop("schema"), **values}
