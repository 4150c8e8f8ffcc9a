"""Records as YAML: the order of their keys, and what a record must be to be taken for one."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypedDict

import msgspec

from pytest_dvwiki.model import RunRecord
from pytest_dvwiki.yamlio import dump

SCHEMA = 1
_ORDER = ("schema", "task_id", "caller_task")
_KEYS = (*_ORDER, *(field.name for field in fields(RunRecord) if field.name not in _ORDER))


class _FixRow(TypedDict, total=False):
    """What a row of `fixes` has, as far as it is read; more keys may stand in it."""

    fingerprint: str | None
    failure_subtype: str | None
    text: str | None
    by: str | None
    result: str | None
    commits: list[str] | None
    log: list[str] | None
    log_count: int | None
    files: list[str] | None
    file_count: int | None
    owners: list[str] | None
    authors: list[str] | None
    note: str | None
    takes_back: str | None


class _Rows(TypedDict, total=False):
    """The rows of a record that are kept as they are."""

    fixes: list[_FixRow]


class RecordError(ValueError):
    """A file among the records that is not a readable record; its text names the file and the place."""


def encode(record: RunRecord) -> bytes:
    """Writes a record as YAML, the same bytes for the same record."""
    values = msgspec.to_builtins(record)
    return dump({key: values[key] for key in _KEYS}).encode()


def is_record(document: Any) -> bool:
    """Whether a YAML document claims to be a record; any other is somebody else's."""
    return isinstance(document, dict) and {"schema", "task_id", "finished"} <= document.keys()


def decode(document: dict[str, Any], name: str) -> RunRecord:
    """Makes a record of a YAML document.

    Args:
        document: A document for which `is_record` holds.
        name: The file it comes from, for errors.

    Raises:
        RecordError: A value is of the wrong type, or a newer version wrote the record.
    """
    schema = document["schema"]
    if not isinstance(schema, int) or schema > SCHEMA:
        raise RecordError(
            f"{name}: schema {schema!r} is newer than this version of dvwiki reads ({SCHEMA}); update dvwiki"
        )
    try:
        msgspec.convert(document, _Rows)
        return msgspec.convert(document, RunRecord)
    except msgspec.ValidationError as error:
        raise RecordError(f"{name}: {error}; a record never changes: restore it, for example from git") from error
