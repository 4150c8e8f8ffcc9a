"""Records and lists of tests on disk: `tasks/YYYY/MM/{task_id}.yaml` and `tasks/suites/{sha256:16}.txt`."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from datetime import MAXYEAR, datetime
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.records import codec
from pytest_dvwiki.records.codec import RecordError
from pytest_dvwiki.records.disk import WikiError, create
from pytest_dvwiki.yamlio import MEND, YamlError, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord

SUITES = "suites"
HASH_DIGITS = 3
"""Number of hex digits in a seed hash; two seeds get the same hash in one of 4,096 cases."""
NO_HASH = "-"
"""Stands for each digit of the seed hash if the seed is not on record."""
_FIRST_YEAR = 1970
_TIME = re.compile(r"(\d{4})-(\d\d)-\d\dT\d\d:\d\d:\d\dZ")
_TIME_FORM = "write it as YYYY-MM-DDThh:mm:ssZ"
_TASK_ID = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_MADE_ID = re.compile(r"[A-Za-z0-9_.-]+_(?:\d{8}T\d{6}Z_[0-9a-f]{6}|[a-z]+_[0-9a-f]{12})")
"""A task id made by dvwiki. A file with such a name is a record, even if it is damaged."""
_YEAR = re.compile(r"\d{4}")
_MONTH = re.compile(r"\d\d")
_MONTH_FILE = re.compile(r"\d\d\.yaml")
_SEPARATOR = b"---\n"
_DOCUMENT = re.compile(rb"^---[ \t]*\n", re.MULTILINE)


def record_path(tasks: Path, record: RunRecord) -> Path:
    """Return the path of a record.

    Raises:
        WikiError: The record's id is not a file name, or its time is not `YYYY-MM-DDThh:mm:ssZ`.
    """
    time = _TIME.fullmatch(record.finished)
    if not (time and _is_moment(record.finished)):
        raise WikiError(f"record {record.task_id}: `finished` is not a UTC time: {record.finished!r}; {_TIME_FORM}")
    if not _TASK_ID.fullmatch(record.task_id) or record.task_id.startswith("."):
        raise WikiError(f"{record.task_id!r:.80} is not a task id: use letters, digits and _ . -")
    year, month = time.groups()
    return tasks / year / month / f"{record.task_id}.yaml"


def _is_moment(time: str) -> bool:
    """Return whether a time is valid, with room to add and subtract days."""
    try:
        return _FIRST_YEAR <= datetime.fromisoformat(time).year < MAXYEAR
    except ValueError:
        return False


def write_record(tasks: Path, record: RunRecord, data: bytes | None = None) -> bool:
    """Write a record; an existing record is never overwritten.

    Args:
        tasks: The folder of all records.
        record: The run.
        data: The document of a record that was read from a file; it is copied unchanged.

    Returns:
        False if the same record was already there.

    Raises:
        WikiError: Another record has this id, or the file cannot be written.
    """
    return create(record_path(tasks, record), data or codec.encode(record))


def suite_id(names: Iterable[str]) -> str:
    """Return the id of a list of tests; the order of the tests does not matter."""
    return hashlib.sha256(_suite_bytes(names)).hexdigest()[:16]


def _suite_bytes(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in sorted(set(map(_listed, names)))).encode("utf-8", "backslashreplace")


def _listed(name: str) -> str:
    # A parameter can put a line feed into a node id, which would split one name into two.
    return name.replace("\r", "\\r").replace("\n", "\\n")


def seed_hash(seed: str | None) -> str | None:
    """Return a short hash of a seed; None if the seed is not on record."""
    return None if seed is None else hashlib.sha256(seed.encode("utf-8", "backslashreplace")).hexdigest()[:HASH_DIGITS]


def seed_hashes(seeds: Iterable[tuple[str, str | None]]) -> str:
    """Return the seed hashes of tests in the order of their list, joined.

    A test with several seeds has one hash for all.

    Args:
        seeds: The tests with their seeds.
    """
    found: dict[str, set[str | None]] = {}
    for name, seed in seeds:
        found.setdefault(_listed(name), set()).add(seed)
    several = (found[name] for name in sorted(found))
    hashes = (seed_hash(None if None in each else " ".join(sorted(filter(None, each)))) for each in several)
    return "".join(each or NO_HASH * HASH_DIGITS for each in hashes)


def write_suite(tasks: Path, names: Iterable[str]) -> str:
    """Write the list of tests that ran, unless the same list was written before.

    Returns:
        The id of the list, for `RunRecord.suite`.

    Raises:
        WikiError: The file cannot be written.
    """
    data = _suite_bytes(names)
    identity = hashlib.sha256(data).hexdigest()[:16]
    create(tasks / SUITES / f"{identity}.txt", data)
    return identity


def read_suite(tasks: Path, identity: str) -> tuple[str, ...]:
    """Return the tests in a list; empty if the list is missing or its id is not a file name."""
    if not re.fullmatch(r"[0-9a-f]{16}", identity):
        return ()
    try:
        text = reading.read_records(tasks / SUITES / f"{identity}.txt").decode("utf-8", "replace")
    except OSError:
        return ()
    return tuple(text.split("\n")[:-1])


def folders(tasks: Path) -> Iterator[Path]:
    """Return the folders of records: one for each year, with its monthly files, and one for each month."""
    return (tasks / place for place in folder_times(tasks))


def folder_times(tasks: Path) -> dict[str, int]:
    """Return the paths of `folders` relative to `tasks`, sorted, with their modification times in ns."""
    years = _entries(tasks, _YEAR)
    months = {year: _entries(tasks / year, _MONTH) for year in years}
    of_months = {f"{year}/{month}": time for year, found in months.items() for month, time in found.items()}
    return dict(sorted((years | of_months).items()))


def _entries(folder: Path, name: re.Pattern[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            # A folder that was removed in the meantime must not hide the others.
            with contextlib.suppress(OSError):
                if name.fullmatch(entry.name) and entry.is_dir():
                    found[entry.name] = entry.stat().st_mtime_ns
    return found


def record_files(folder: Path) -> set[str]:
    """Return the names of the files in one of `folders` that may be records."""
    names = os.listdir(folder)  # noqa: PTH208 (20,000 names)
    if _YEAR.fullmatch(folder.name):
        return set(filter(_MONTH_FILE.fullmatch, names))
    return {name for name in names if name.endswith(".yaml") and not name.startswith(".")}


def read_records(path: Path, data: bytes, name: str) -> tuple[list[RunRecord], list[str]]:
    """Read the records of one file.

    Args:
        path: The file. A record in its own file must have the file's name as its id.
        data: The content of the file.
        name: Name of the file for messages.

    Returns:
        The records, and a message for each torn or unreadable record. Other documents are skipped silently.
    """
    found, problems = read_documents(path, data, name)
    return [record for record, _ in found], problems


def read_documents(path: Path, data: bytes, name: str) -> tuple[list[tuple[RunRecord, bytes]], list[str]]:
    """Read the records of one file like `read_records`, each with its original bytes."""
    is_month = _MONTH_FILE.fullmatch(path.name) is not None
    records: list[tuple[RunRecord, bytes]] = []
    problems: list[str] = []
    named, seen = 0, 0
    line = 1
    parts = _DOCUMENT.split(data)
    for number, part in enumerate(parts):
        shown, above = (name if len(parts) == 1 else f"{name}:{line}"), line - 1
        line += part.count(b"\n") + 1
        if not part.strip() and len(parts) > 1:
            continue
        written = codec.last_record(part)
        if written is not None and (is_month or written.task_id == path.stem):
            seen += 1
            records.append((written, part))
            continue
        try:
            document = _parsed(part, name, above, must_be_record=is_month or _MADE_ID.fullmatch(path.stem) is not None)
            if number == 0 and is_month and isinstance(document, dict) and _COUNT in document:
                named = _record_count(document, name)
                continue
            seen += 1
            record = _record(path, document, part, shown)
        except RecordError as error:
            problems.append(str(error))
            continue
        if record is not None:
            records.append((record, part))
    if seen < named:
        problems.append(f"{name}: only {seen} of its {named} records are left; {_RESTORE}")
    return records, problems


_COUNT = "records"
"""Key of the first document of a monthly file: the number of records that follow."""
_RESTORE = "restore it, for example from git"
_OURS = {"schema", "task_id", "end"}
"""Keys that identify a record; a document with none of them is ignored."""


def _record_count(document: dict[str, object], name: str) -> int:
    count = document[_COUNT]
    if not isinstance(count, int):
        raise RecordError(f"{name}: its first document must give the number of records, but says {count!r}; {_RESTORE}")
    return count


def _parsed(data: bytes, name: str, above: int, *, must_be_record: bool) -> object:
    """Parse the document of a file that starts after `above` lines.

    Raises:
        RecordError: The document is not YAML, or must be a record and is not a mapping.
    """
    try:
        document = load(data, name)
    except YamlError as error:
        if above:
            # Parsed again for the line number in the file.
            return _parsed(b"\n" * above + data, name, 0, must_be_record=must_be_record)
        raise RecordError(
            f"{str(error).removesuffix(MEND)}the record is torn: {_RESTORE}" if must_be_record else str(error)
        ) from error
    if must_be_record and not isinstance(document, dict):
        what = "it is empty" if document is None else "its start is missing"
        raise RecordError(f"{name}:{above + 1}: the record is torn, {what}; {_RESTORE}")
    return document


def _record(path: Path, document: object, data: bytes, name: str) -> RunRecord | None:
    """Decode a record from a document; return None if the document is not a record.

    Raises:
        RecordError: The record is torn, or cannot be read.
    """
    is_single = not _MONTH_FILE.fullmatch(path.name)
    if not isinstance(document, dict) or not _OURS & document.keys():
        return None
    if is_single and not codec.is_record(document) and not _MADE_ID.fullmatch(path.stem):
        return None
    has_end = document.get("schema") != 1 or "end" in document
    if not codec.is_record(document) or (has_end and not codec.is_whole(data)):
        if codec.is_newer(document.get("schema")):
            codec.decode(document, name)  # raises
        raise RecordError(f"{name}: the record is torn: its end is missing, or its bytes were changed; {_RESTORE}")
    record = codec.decode(document, name)
    try:
        record_path(path.parent, record)  # raises if the record could not have been stored
    except WikiError as error:
        raise RecordError(f"{name}: {error}") from error
    if is_single and record.task_id != path.stem:
        raise RecordError(
            f"{name}: its task_id is {record.task_id!r}, but the file of a record is named after its task_id; rename it"
        )
    return record


def split_month(path: Path, data: bytes, name: str) -> dict[str, bytes]:
    """Return the original bytes of each record in a monthly file, by id.

    Args:
        path: The file.
        data: The content of the file.
        name: Name of the file for messages.

    Raises:
        RecordError: The file contains something other than records, which would get lost, or two records with one id.
    """
    documents, problems = read_documents(path, data, name)
    if problems:
        raise RecordError(problems[0])
    found: dict[str, bytes] = {}
    for record, part in documents:
        if found.setdefault(record.task_id, part) != part:
            raise RecordError(f"{name}: it contains two different records {record.task_id}; remove the wrong one")
    parts = [part for part in _DOCUMENT.split(data) if part.strip()]
    if len(parts) > len(documents) + _begins_with_count(parts):
        raise RecordError(f"{name}: it contains something that is not a record; move that out of the file")
    return found


def _begins_with_count(parts: Sequence[bytes]) -> bool:
    return bool(parts) and parts[0].startswith(f"{_COUNT}:".encode())


def join_month(records: Mapping[str, bytes]) -> bytes:
    """Return the content of a monthly file: the number of records, then the records sorted by id."""
    return _SEPARATOR.join([f"{_COUNT}: {len(records)}\n".encode(), *(records[name] for name in sorted(records))])
