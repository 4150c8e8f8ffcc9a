"""Encode and decode records as YAML, with an end mark that shows whether a record is complete.

The last line of a record, since schema 2, is a hash of all bytes before it. If that line is missing or wrong, the
record is torn: it was truncated, or changed after it was written.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_dvwiki.model import RunRecord
from pytest_dvwiki.yamlio import dump, misfit

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = 2
_END = re.compile(rb'^end: "([0-9a-f]{16})"\n\Z', re.MULTILINE)
_ORDER = ("schema", "task_id", "caller_task")
_encoded: dict[bytes, RunRecord] = {}
"""Maps the YAML of the record that was encoded last to this record."""
_REPLACED = "\ufffd".encode()
"""The replacement character, which stands for a byte of a file name that is not UTF-8."""
_KEYS = (*_ORDER, *(name for name in RunRecord.__struct_fields__ if name not in _ORDER))


class RecordError(ValueError):
    """Raised if a record file is invalid; the message gives the file and the position."""


def encode(record: RunRecord) -> bytes:
    """Return a record as YAML with its end mark; equal records give equal bytes.

    A record that was read from a file is copied, not encoded again, because older schemas have other keys.
    """
    values = msgspec.to_builtins(record) | {"schema": SCHEMA}
    occurrences = values["occurrences"]
    tests = [test for occurrence in occurrences for test in occurrence["tests"]]
    _drop_empty(occurrences, "reproduce", "quickest", "unseeded", "title", "spec_section", "owner")
    _drop_empty((*tests, *(attempt for test in values["other"] for attempt in test["attempts"])), "directed")
    _drop_empty(values["first_bad"], "unread_count", "maybe_newer")
    _drop_empty([values["vcs"]], "source_commit")
    _drop_empty(values["suites"], "seeds")
    for key in ("sources", "fixes", "coverage"):
        values[key] = [{k: v for k, v in row.items() if v is not None or k == "priority"} for row in values[key]]
    _drop_empty([values], "gate", "noise")
    document = {key: values[key] for key in _KEYS if key in values and key != "suite"}
    data = seal(dump(document).encode())
    _encoded.clear()
    if _REPLACED not in data:
        _encoded[data] = record
    return data


def _drop_empty(rows: Iterable[dict[str, Any]], *keys: str) -> None:
    """Remove keys without a value from rows, in place."""
    for row in rows:
        for key in keys:
            if not row[key]:
                del row[key]


def last_record(data: bytes) -> RunRecord | None:
    """Return the record that was encoded last if `data` equals its YAML; otherwise None.

    A session reads its own record right after writing it; this saves parsing the YAML.
    """
    return _encoded.get(data)


def seal(data: bytes) -> bytes:
    """Return a document with its end mark appended."""
    return data + f'end: "{_hash(data)}"\n'.encode()


def is_whole(data: bytes) -> bool:
    """Return whether a document of schema 2 is unchanged and ends with its end mark."""
    data = data.replace(b"\r\n", b"\n")  # git may check text files out with CRLF
    end = _END.search(data)
    return end is not None and end[1].decode() == _hash(data[: end.start()])


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def is_newer(schema: object) -> bool:
    """Return whether a record has a schema newer than this version reads."""
    return isinstance(schema, int) and schema > SCHEMA


def is_record(document: Any) -> bool:
    """Return whether a YAML document looks like a record; other documents are ignored."""
    return isinstance(document, dict) and {"schema", "task_id", "finished"} <= document.keys()


def decode(document: dict[str, Any], name: str) -> RunRecord:
    """Decode a record from a YAML document.

    Args:
        document: A document accepted by `is_record`.
        name: File of the document, for error messages.

    Raises:
        RecordError: A value has the wrong type, or a newer version wrote the record.
    """
    schema = document["schema"]
    if is_newer(schema) or not isinstance(schema, int):
        raise RecordError(
            f"{name}: schema {schema!r} is newer than this version of dvwiki reads ({SCHEMA}); update dvwiki"
        )
    rows = document.get("first_bad")
    if schema == 1 and isinstance(rows, list):
        # Schema 1 did not record the seed with which the test had passed.
        rows = [{"passed_with": "unknown"} | row if isinstance(row, dict) else row for row in rows]
        document = document | {"first_bad": rows}
    try:
        return msgspec.convert(document, RunRecord)
    except msgspec.ValidationError as error:
        place, problem = misfit(error)
        where = f"{name}: {place}" if place else name
        raise RecordError(f"{where}: {problem}; a record never changes: restore it, for example from git") from error
