"""Records and suite lists on the disk: `tasks/YYYY/MM/{task_id}.yaml` and `tasks/suites/{sha256:16}.txt`."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from typing import TYPE_CHECKING

from pytest_dvwiki.records import codec
from pytest_dvwiki.records.codec import RecordError
from pytest_dvwiki.records.disk import WikiError, create
from pytest_dvwiki.yamlio import YamlError, load_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord

SUITES = "suites"
_TIME = re.compile(r"(\d{4})-(\d\d)-\d\dT\d\d:\d\d:\d\dZ")
_TASK_ID = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_YEAR = re.compile(r"\d{4}")
_MONTH = re.compile(r"\d\d")
_MONTH_FILE = re.compile(r"\d\d\.yaml")
_SEPARATOR = b"---\n"
_DOCUMENT = re.compile(rb"^---[ \t]*\n", re.MULTILINE)


def record_path(tasks: Path, record: RunRecord) -> Path:
    """Where a record stands.

    Raises:
        WikiError: Its id is no file name, or its time is not `YYYY-MM-DDThh:mm:ssZ`.
    """
    time = _TIME.fullmatch(record.finished)
    if not time:
        raise WikiError(f"record {record.task_id}: finished is no UTC time: {record.finished!r}")
    if not _TASK_ID.fullmatch(record.task_id) or record.task_id.startswith("."):
        raise WikiError(f"{record.task_id!r:.80} is no task id: use letters, digits and _ . -")
    year, month = time.groups()
    return tasks / year / month / f"{record.task_id}.yaml"


def write_record(tasks: Path, record: RunRecord) -> bool:
    """Writes a record once.

    Returns:
        False where the same record was there already.

    Raises:
        WikiError: Another record has this id, or the file cannot be written.
    """
    return create(record_path(tasks, record), codec.encode(record))


def suite_id(names: Iterable[str]) -> str:
    """The id of a list of tests: the same for the same names in any order."""
    return hashlib.sha256(_suite_bytes(names)).hexdigest()[:16]


def _suite_bytes(names: Iterable[str]) -> bytes:
    # A line feed would make two names of one; node ids may hold it through a parameter.
    clean = {name.replace("\r", "\\r").replace("\n", "\\n") for name in names}
    return "".join(f"{name}\n" for name in sorted(clean)).encode("utf-8", "backslashreplace")


def write_suite(tasks: Path, names: Iterable[str]) -> str:
    """Writes the list of the tests that ran, once per distinct list.

    Returns:
        Its id, for `RunRecord.suite`.

    Raises:
        WikiError: The file cannot be written.
    """
    data = _suite_bytes(names)
    identity = hashlib.sha256(data).hexdigest()[:16]
    create(tasks / SUITES / f"{identity}.txt", data)
    return identity


def read_suite(tasks: Path, identity: str) -> tuple[str, ...]:
    """The names of a suite list; none where the list is missing or its id is no file name."""
    if not re.fullmatch(r"[0-9a-f]{16}", identity):
        return ()
    try:
        text = (tasks / SUITES / f"{identity}.txt").read_text("utf-8", "replace")
    except OSError:
        return ()
    return tuple(text.split("\n")[:-1])


def folders(tasks: Path) -> Iterator[Path]:
    """The folders that hold records: each year (its month files) and each month."""
    return (tasks / place for place in folder_times(tasks))


def folder_times(tasks: Path) -> dict[str, int]:
    """The same folders as paths from the one of all records, each with its time of change in ns, in order."""
    years = _entries(tasks, _YEAR)
    months = {year: _entries(tasks / year, _MONTH) for year in years}
    of_months = {f"{year}/{month}": time for year, found in months.items() for month, time in found.items()}
    return dict(sorted((years | of_months).items()))


def _entries(folder: Path, name: re.Pattern[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            # Others stay known where one is taken away meanwhile.
            with contextlib.suppress(OSError):
                if name.fullmatch(entry.name) and entry.is_dir():
                    found[entry.name] = entry.stat().st_mtime_ns
    return found


def record_files(folder: Path) -> set[str]:
    """The names in one of `folders` that may be files of records."""
    names = os.listdir(folder)  # noqa: PTH208 (20,000 names)
    if _YEAR.fullmatch(folder.name):
        return set(filter(_MONTH_FILE.fullmatch, names))
    return {name for name in names if name.endswith(".yaml") and not name.startswith(".")}


def read_records(path: Path, data: bytes, name: str) -> tuple[list[RunRecord], list[str]]:
    """Reads the records of one file.

    Args:
        path: The file; the record of a file of its own must have the file's name as its id.
        data: Its content.
        name: What to call the file in a message.

    Returns:
        The records, and one message for each document that claims to be a record and is none that can be read.
        Documents of other kinds are left out in silence.
    """
    records: list[RunRecord] = []
    problems: list[str] = []
    single = not _MONTH_FILE.fullmatch(path.name)
    try:
        for document in load_all(data, name):
            if not codec.is_record(document):
                continue
            try:
                record = codec.decode(document, name)
                record_path(path.parent, record)  # raises where it could not have been filed
            except RecordError as error:
                problems.append(str(error))
                continue
            except WikiError as error:
                problems.append(f"{name}: {error}")
                continue
            if single and record.task_id != path.stem:
                problems.append(f"{name}: its task_id is {record.task_id!r}; a record has its file's name")
            else:
                records.append(record)
    except YamlError as error:
        problems.append(str(error))
    return records, problems


def split_month(path: Path, data: bytes, name: str) -> dict[str, bytes]:
    """The records in the file of a month, byte for byte, by their ids.

    Args:
        path: The file.
        data: Its content.
        name: What to call the file in a message.

    Raises:
        RecordError: It holds something else, which must not get lost, or two records of one id.
    """
    found: dict[str, bytes] = {}
    for part in _DOCUMENT.split(data):
        if not part.strip():
            continue
        records, problems = read_records(path, part, name)
        if problems or len(records) != 1:
            raise RecordError(problems[0] if problems else f"{name}: it holds something that is no record")
        if found.setdefault(records[0].task_id, part) != part:
            raise RecordError(f"{name}: it holds two different records {records[0].task_id}")
    return found


def join_month(records: Mapping[str, bytes]) -> bytes:
    """The file of a month: its records sorted by their ids."""
    return _SEPARATOR.join(records[name] for name in sorted(records))
