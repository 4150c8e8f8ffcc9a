"""Converts a reported failure to an occurrence for the archive, and computes the name of the record."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.fingerprint import fingerprint
from pytest_dvwiki.fingerprint_v1 import fingerprint_v1
from pytest_dvwiki.intake.fields import word
from pytest_dvwiki.model import FailedTest, LogReference, Occurrence, Origin
from pytest_dvwiki.redact import redact, shorten_paths
from pytest_dvwiki.settings import ip_type_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_dvwiki.wiki.config import WikiConfig

UNKNOWN = "unknown"
EXCERPT_LINES = 40
_LINE = 4_096
_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_FINGERPRINT = re.compile(r"[0-9a-f]{12}")
_COMMA = re.compile(r",\s+")
_LOG_LINE = re.compile(r"(.+?):(\d+)")


def task_id_of(name: str, kind: str, content: str) -> str:
    """Return the name of a record; the same report always gives the same name.

    Args:
        name: The name that the caller, or an imported wiki, gives to the task.
        kind: What was reported.
        content: What distinguishes the report from others.
    """
    digest = hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return f"{_NO_NAME.sub('-', name).strip('-.')[:60] or 'agent'}_{kind}_{digest}"


def occurrence_of(values: Mapping[str, str], lines: Sequence[str], origin: Origin, config: WikiConfig) -> Occurrence:
    """Return the occurrence to archive for a reported failure, without secrets and machine-specific paths.

    Args:
        values: Maps names of fields to what the report says.
        lines: The message of the failure, and the lines around it.
        origin: Where the fault lies.
        config: The wiki.
    """
    root = config.layout.root
    text = shorten_paths(redact("\n".join(line[:_LINE] for line in lines)), root)
    kept = [line.rstrip() for line in text.split("\n") if line.strip()][:EXCERPT_LINES]
    error_class = word(values.get("error_class", "")) or UNKNOWN
    subtype = word(values.get("failure_subtype", "")) or UNKNOWN
    tests = _tests(values)
    # Without a message, nothing shows that failures of two tests have the same cause: the tests keep them apart.
    primary = kept[0].strip() if kept else " in ".join([f"{error_class} {subtype}", *(test.nodeid for test in tests)])
    given = word(values.get("fingerprint", ""))
    is_given = _FINGERPRINT.fullmatch(given) is not None
    return Occurrence(
        fingerprint=given if is_given else fingerprint(report_class=error_class, text=primary),
        fingerprint_v1=None if is_given else fingerprint_v1(report_class=error_class, text=primary),
        error_class=redact(error_class),
        failure_subtype=redact(subtype),
        pattern=None,
        origin=replace(origin, reasons=tuple(shorten_paths(redact(reason), root) for reason in origin.reasons)),
        primary=primary,
        tests=tests,
        excerpt="\n".join(kept),
        log=_log(word(values.get("log", "")), root),
        ip_type=_text(values, "ip_type") or ip_type_of(tests[0].nodeid if tests else "", config.ip_types),
        title=_text(values, "title"),
        spec_section=_text(values, "spec_section"),
        owner=_text(values, "owner"),
    )


def _text(values: Mapping[str, str], name: str) -> str | None:
    return redact(word(values.get(name, ""))) or None


def _tests(values: Mapping[str, str]) -> tuple[FailedTest, ...]:
    """Return the tests that a report lists, one per line or separated by commas; one test alone gets the seed."""
    named = [redact(word(name)) for line in values.get("test", "").splitlines() for name in _COMMA.split(line)]
    names = [name for name in dict.fromkeys(named) if name]
    seed = redact(word(values.get("seed", ""))) or None
    return tuple(FailedTest(nodeid=name, seed=seed if len(names) == 1 else None) for name in names)


def _log(path: str, root: PurePath) -> LogReference | None:
    """Return a reference to a log: its path relative to the root, or the last two parts of a path outside the root."""
    if not path:
        return None
    found = _LOG_LINE.fullmatch(path)
    place, line = (found[1], int(found[2])) if found else (path, None)
    file = PurePath(redact(place))
    if file.is_absolute():
        file = file.relative_to(root) if file.is_relative_to(root) else PurePath(*file.parts[-2:])
    return LogReference(path=file.as_posix(), line=line)
