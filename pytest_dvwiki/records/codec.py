"""Records as YAML: the order of their keys, their end mark, and the checks that tell records from other documents.

A record of schema 2 ends with a line that holds a hash of all bytes before that line. A record with a missing or wrong
end mark is torn: it was cut off or changed after it was written.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from typing import Any

import msgspec

from pytest_dvwiki.model import RunRecord
from pytest_dvwiki.yamlio import dump, misfit

SCHEMA = 2
_END = re.compile(rb'^end: "([0-9a-f]{16})"\n\Z', re.MULTILINE)
_ORDER = ("schema", "task_id", "caller_task")
_encoded: dict[bytes, bytes] = {}
"""Maps the YAML of the last encoded record to its document in MessagePack, which has lists in place of tuples."""
_KEYS = (*_ORDER, *(name for name in RunRecord.__struct_fields__ if name not in _ORDER))


class RecordError(ValueError):
    """Raised if a file of records does not hold valid records; the message names file and place."""


def encode(record: RunRecord) -> bytes:
    """Return a record as YAML with its end mark; the same record gives the same bytes.

    A record that was read from a file is copied, not encoded again, because older schemas have other keys.
    """
    values = msgspec.to_builtins(record) | {"schema": SCHEMA}
    for occurrence in values["occurrences"]:
        if not occurrence["reproduce"]:
            del occurrence["reproduce"]
        for key in ("quickest", "unseeded", "title", "spec_section", "owner"):
            if occurrence[key] is None:
                del occurrence[key]
    for row in values["first_bad"]:
        if not row["unread_count"]:
            del row["unread_count"]
    for suite in values["suites"]:
        if suite["seeds"] is None:
            del suite["seeds"]
    for key in ("sources", "fixes", "coverage"):
        values[key] = [{k: v for k, v in row.items() if v is not None or k == "priority"} for row in values[key]]
    if record.gate is None:
        values.pop("gate", None)
    document = {key: values[key] for key in _KEYS if key in values and key != "suite"}
    data = seal(dump(document).encode())
    _encoded.clear()
    # MessagePack cannot hold text that is not Unicode, nor very large numbers; YAML can.
    with contextlib.suppress(UnicodeEncodeError, OverflowError):
        _encoded[data] = msgspec.msgpack.encode(document)
    return data


def last_document(data: bytes) -> dict[str, Any] | None:
    """Return the YAML document of the record that was encoded last, given its bytes; None for other bytes.

    A session reads its record right after writing it, and parsing the YAML would take most of that time.
    """
    packed = _encoded.get(data)
    return None if packed is None else msgspec.msgpack.decode(packed)


def seal(data: bytes) -> bytes:
    """Return a document with its end mark appended."""
    return data + f'end: "{_hash(data)}"\n'.encode()


def is_whole(data: bytes) -> bool:
    """Return whether a document of schema 2 has its end mark and is unchanged before it."""
    data = data.replace(b"\r\n", b"\n")  # git may check text files out with CRLF
    end = _END.search(data)
    return end is not None and end[1].decode() == _hash(data[: end.start()])


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def is_newer(schema: object) -> bool:
    """Return whether a record of that schema was written by a newer version."""
    return isinstance(schema, int) and schema > SCHEMA


def is_record(document: Any) -> bool:
    """Return whether a YAML document claims to be a record; other documents do not concern dvwiki."""
    return isinstance(document, dict) and {"schema", "task_id", "finished"} <= document.keys()


def decode(document: dict[str, Any], name: str) -> RunRecord:
    """Make a record from a YAML document.

    Args:
        document: A document for which `is_record` holds.
        name: The file that the document comes from, for error messages.

    Raises:
        RecordError: A value is of the wrong type, or a newer version wrote the record.
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
