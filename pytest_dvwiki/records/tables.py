"""Add records to the tables that aggregate them, and remove records."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.model import WRITTEN, Suite
from pytest_dvwiki.records.checks import check_row
from pytest_dvwiki.records.fixes import proof, same_seed
from pytest_dvwiki.records.kinds import UNKNOWN_SEED, is_deterministic
from pytest_dvwiki.records.name_parts import SLASH, check_of, part_of
from pytest_dvwiki.records.store import seed_hash
from pytest_dvwiki.records.targets import of_failure

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.model import FailedTest, Occurrence, OtherTest, RunRecord

REPORTED = 2
"""The value of `without_fix` for a failure that was only reported: it is no evidence about fixes."""
_NAMES = 3
_SEEDS = 20
# A run counts once in each row, however many of its causes have the label.
_TALLY = """
INSERT INTO tallies SELECT * FROM (
  SELECT subtype, 'subtype' AS kind, '' AS name, :sign AS runs, :sign * SUM(tests) AS tests
    FROM occurrences WHERE run = :run GROUP BY subtype
  UNION ALL SELECT subtype, 'class', error_class, :sign, :sign * SUM(tests)
    FROM occurrences WHERE run = :run GROUP BY subtype, error_class
  UNION ALL SELECT subtype, 'pattern', pattern, :sign, :sign * SUM(tests)
    FROM occurrences WHERE run = :run AND pattern IS NOT NULL GROUP BY subtype, pattern
  UNION ALL SELECT subtype, 'cause', fingerprint, :sign, :sign * tests FROM occurrences WHERE run = :run)
WHERE true ON CONFLICT (subtype, kind, name) DO UPDATE SET runs = runs + excluded.runs, tests = tests + excluded.tests
"""
"""Adds a run to the sums of its subtypes (`:sign` 1) or subtracts it (-1)."""


def moment_of(record: RunRecord) -> str:
    """Return the sort key of a run: the time it finished, the time it started, and its id.

    Times are in whole seconds. Of two runs that finished in the same second, the one that started later sorts later.
    """
    return f"{record.finished} {record.started} {record.task_id}"


def by_fingerprint(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    """Combine occurrences of the same cause, because a caller of the API may have passed one twice."""
    merged: dict[str, Occurrence] = {}
    for item in occurrences:
        first = merged.get(item.fingerprint)
        merged[item.fingerprint] = replace(first, tests=first.tests + item.tests) if first else item
    return list(merged.values())


def json_list(values: Iterable[str]) -> str:
    """Return values as JSON, for a condition `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(values))


def _json(row: object) -> str:
    return msgspec.json.encode(row).decode()


def insert(db: sqlite3.Connection, record: RunRecord, file: int, stored: RunRecord) -> bool:
    """Add a record from a file to the tables.

    Args:
        db: The tables.
        record: The record with the current names of its causes.
        file: Id of the file.
        stored: The same record with the names as written in the file.

    Returns:
        False if the tables already have the record, from a monthly file or a copy made by a merge.
    """
    known = db.execute("SELECT id FROM runs WHERE task_id = ?", (record.task_id,)).fetchone()
    if known:
        db.execute("INSERT OR IGNORE INTO places VALUES (?, ?)", (known[0], file))
        return False
    moment = moment_of(record)
    run = _insert_run(db, record, moment)
    db.executemany(
        "INSERT OR IGNORE INTO suites VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (run, moment, each.simulator or "", each.config or "", each.seed, _seed_hashes(each), each.suite)
            for each in suites_of(record)
        ],
    )
    db.execute("INSERT INTO places VALUES (?, ?)", (run, file))
    db.executemany(
        "INSERT OR IGNORE INTO sources VALUES (?, ?, ?)",
        [(source.sha256, run, source.kind == WRITTEN) for source in record.sources],
    )
    for occurrence in by_fingerprint(record.occurrences):
        _insert_occurrence(db, occurrence, moment, run, record)
    _insert_identities(db, stored, run)
    db.execute(_TALLY, {"run": run, "sign": 1})
    _insert_results(db, record, moment, run)
    return True


def _insert_run(db: sqlite3.Connection, record: RunRecord, moment: str) -> int:
    simulators = [f"{item.name} {item.version}" if item.version else item.name for item in record.simulators]
    cursor = db.execute(
        "INSERT INTO runs (moment, task_id, finished, vcs_commit, branch, source_commit, dirty, changes, edited,"
        " edited_lines, simulators, run_id, totals, axes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            moment,
            record.task_id,
            record.finished,
            record.vcs.commit,
            record.vcs.branch,
            record.vcs.source_commit or record.vcs.commit,
            record.vcs.dirty,
            record.vcs.changes,
            json.dumps(record.vcs.edited),
            json.dumps(record.vcs.edited_lines),
            ", ".join(simulators),
            _json(record.run_id),
            _json(record.totals),
            _json(record.axes),
        ),
    )
    return int(cursor.lastrowid or 0)


def _insert_results(db: sqlite3.Connection, record: RunRecord, moment: str, run: int) -> None:
    """Store the passes, fixes, waivers, commits and coverage of a run."""
    lent = _assumed_simulators(record)
    db.executemany(
        "INSERT OR IGNORE INTO other VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                run,
                test.nodeid,
                test.outcome,
                test.simulator or "",
                test.config or "",
                _flaky_causes(test),
                _json(test.attempts) if test.attempts else None,
            )
            for test in record.other
        ],
    )
    db.executemany(
        "INSERT OR IGNORE INTO passed_again VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                row.fingerprint,
                moment,
                row.nodeid,
                run,
                row.changed,
                proof(row, dirty=record.vcs.dirty),
                row.seed,
                UNKNOWN_SEED if row.seed_unknown else row.failed_seed,
                same_seed(row),
                simulator,
                row.config or "",
                row.fingerprint,
            )
            for row in record.passed_again
            for simulator in lent or (row.simulator or "",)
        ],
    )
    db.executemany(
        "INSERT INTO fix_rows VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (number, run, moment, row.fingerprint, row.failure_subtype, _json(row), row.fingerprint)
            for number, row in enumerate(record.fixes)
        ],
    )
    db.executemany(
        "INSERT INTO waived VALUES (?, ?, ?, ?, ?, ?)",
        [
            (row.fingerprint, moment, number, run, _json(row), part_of(row.fingerprint))
            for number, row in enumerate(record.waived)
        ],
    )
    db.executemany(
        "INSERT OR IGNORE INTO first_bad VALUES (?, ?, ?, ?, ?)",
        [(row.fingerprint, moment, run, _json(row), row.fingerprint) for row in record.first_bad],
    )
    _insert_since_fix(db, record, run)
    db.executemany("INSERT OR IGNORE INTO noise VALUES (?, ?, ?)", [(row.text, row.test, run) for row in record.noise])
    db.executemany(
        "INSERT INTO coverage VALUES (?, ?, ?, ?, ?, ?)",
        [(row.covergroup, row.bin, moment, number, run, _json(row)) for number, row in enumerate(record.coverage)],
    )


def _insert_identities(db: sqlite3.Connection, record: RunRecord, run: int) -> None:
    """Store the names under which a run reported its causes, with the reporting statements."""
    former = "" if record.fingerprint_version == 1 else None
    rows = [
        (check_of(each.fingerprint), each.fingerprint_v1 if former is None else former, run)
        for each in record.occurrences
        if former is not None or each.fingerprint_v1
    ]
    db.executemany("INSERT OR IGNORE INTO identities VALUES (?, ?, ?)", rows)
    checks = [
        (check_of(each.fingerprint), run, *row) for each in record.occurrences if (row := check_row(record, each))
    ]
    db.executemany("INSERT OR IGNORE INTO checks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)", checks)


def _insert_since_fix(db: sqlite3.Connection, record: RunRecord, run: int) -> None:
    """Store the evidence that distinguishes the causes of a check, and note the checks that may have several causes."""
    rows = [
        (
            check_of(row.fingerprint),
            run,
            row.since,
            json.dumps(row.files),
            row.file_count,
            json.dumps(row.passed),
            row.in_place,
            row.same_stimulus,
            row.cause,
            part_of(row.fingerprint),
        )
        for row in record.since_fix
    ]
    db.executemany("INSERT OR IGNORE INTO since_fix VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    undone = [(check_of(row.fingerprint), run, part_of(row.fingerprint), row.task_id) for row in record.undone]
    db.executemany("INSERT OR IGNORE INTO undone VALUES (?, ?, ?, ?)", undone)
    names = {*names_of(record), *(each.fingerprint for each in record.occurrences)}
    named = {
        *(row.fingerprint for row in record.since_fix if row.passed or row.in_place),
        *(row.fingerprint for row in record.undone),
        *(name for name in names if SLASH in name),
    }
    db.executemany("INSERT OR IGNORE INTO several VALUES (?)", [(check_of(name),) for name in named])


def names_of(record: RunRecord) -> set[str]:
    """Return the causes mentioned in a record's passes, ranges of commits and fixes, whether or not they occurred."""
    return {
        *(row.fingerprint for row in record.passed_again),
        *(row.fingerprint for row in record.first_bad),
        *(row.fingerprint for row in record.fixes if row.fingerprint),
    }


def suites_of(record: RunRecord) -> tuple[Suite, ...]:
    """Return the lists of tests of a run. A record of schema 1 has one list, for the simulator it mentions, if any."""
    if record.suite is None:
        return record.suites
    return tuple(Suite(suite=record.suite, simulator=simulator) for simulator in _assumed_simulators(record) or ("",))


def _seed_hashes(suite: Suite) -> str:
    """Return the hash of a list's only seed, or one hash per test; empty if no seed is on record."""
    return (suite.seeds or "") if suite.seed is None else str(seed_hash(suite.seed))


def _assumed_simulators(record: RunRecord) -> tuple[str, ...]:
    """Return the simulators that passes in a record of schema 1 may have used, because this schema does not say.

    With one simulator in the run, a pass used that one or none. With several, the simulator is unknown.
    """
    if record.schema > 1 or len(record.simulators) != 1:
        return ()
    return ("", record.simulators[0].name)


def _insert_occurrence(
    db: sqlite3.Connection, occurrence: Occurrence, moment: str, run: int, record: RunRecord
) -> None:
    tests, part = occurrence.tests, part_of(occurrence.fingerprint)
    targets = dict.fromkeys((of_failure(occurrence, test), seed_of(test)) for test in tests)
    seeds = list(dict.fromkeys(test.seed for test in tests if test.seed is not None))
    names = list(dict.fromkeys(test.nodeid for test in tests))
    db.execute(
        "INSERT INTO occurrences VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            occurrence.fingerprint,
            moment,
            run,
            occurrence.failure_subtype,
            occurrence.error_class,
            occurrence.pattern,
            len(tests),
            json.dumps(names[:_NAMES]),
            json.dumps(seeds[:_SEEDS]),
            REPORTED if record.caller_task is not None else occurrence.fingerprint in record.without_fix,
            occurrence.fingerprint in record.regressed,
            is_deterministic(occurrence),
            seconds_lost(occurrence),
            occurrence.unseeded is not None,
            occurrence.origin.type,
            part,
            _values_hash(occurrence),
        ),
    )
    db.executemany(
        "INSERT OR IGNORE INTO failed VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(each.nodeid, occurrence.fingerprint, moment, run, seed, *each[1:], part) for each, seed in targets],
    )
    is_newest = db.execute(
        "INSERT INTO causes VALUES (?, ?, ?) ON CONFLICT (fingerprint) DO UPDATE SET"
        " newest = excluded.newest, pattern = excluded.pattern WHERE excluded.newest >= newest",
        (occurrence.fingerprint, moment, occurrence.pattern),
    ).rowcount
    if is_newest:
        _keep_newest(db, occurrence, moment, names)


def _values_hash(occurrence: Occurrence) -> str | None:
    """Return a hash of a cause's message, with its values, and of the simulation times at which its tests failed.

    If the hash is the same with several seeds, the seed hardly matters. None if a time is unknown, or for a timeout,
    which always fails at its limit.
    """
    if occurrence.failure_subtype == "timeout" or not all(test.sim_time for test in occurrence.tests):
        return None
    ends = sorted((test.nodeid, test.simulator or "", test.sim_time) for test in occurrence.tests)
    return hashlib.sha256(_json((occurrence.primary, ends)).encode()).hexdigest()[:12]


def seconds_lost(occurrence: Occurrence) -> float:
    """Return the run time of a cause's failing tests in a run. A test that fails in two phases is counted once."""
    times: dict[tuple[str | None, ...], float] = {}
    for test in occurrence.tests:
        key = (test.nodeid, test.simulator, test.config, test.seed)
        times[key] = max(times.get(key, 0.0), test.duration_s)
    return round(sum(times.values()), 3)


def seed_of(test: FailedTest) -> str:
    """Return the seed of a failed test as stored in the tables: empty if it has none, or if no seed can matter."""
    return UNKNOWN_SEED if test.seed_unknown else test.stimulus_seed or ""


def _flaky_causes(test: OtherTest) -> str | None:
    """Return the causes of a flaky test's failed attempts that had the passing attempt's seed; None if unknown."""
    if not test.attempts:
        return None
    *failed, passed = test.attempts
    alike = (
        each.fingerprint
        for each in failed
        if each.directed or None in {each.seed, passed.seed} or each.seed == passed.seed
    )
    return json_list(name for name in alike if name)


def keep_details(db: sqlite3.Connection, occurrence: Occurrence, moment: str) -> None:
    """Store the evidence of a cause's newest occurrence; older evidence is only in the records."""
    evidence = msgspec.json.encode(occurrence).decode()
    row = (occurrence.fingerprint, moment, evidence, mask(occurrence.primary))
    db.execute("INSERT OR REPLACE INTO details VALUES (?, ?, ?, ?)", row)


def _keep_newest(db: sqlite3.Connection, occurrence: Occurrence, moment: str, names: Sequence[str]) -> None:
    """Store evidence and tests of a cause's newest occurrence."""
    cause = occurrence.fingerprint
    keep_details(db, occurrence, moment)
    db.execute("DELETE FROM newest_tests WHERE fingerprint = ?", (cause,))
    db.executemany("INSERT INTO newest_tests VALUES (?, ?)", [(name, cause) for name in names])


_ALL = (
    *("names", "splits", "identities", "checks", "since_fix", "undone", "noise", "several", "further"),
    *("aliases", "verdicts", "folders", "files", "runs", "sources", "suites", "places", "occurrences", "tallies"),
    "causes",
    *("details", "newest_tests", "failed", "other", "passed_again", "fix_rows", "waived", "first_bad", "coverage"),
)


def clear(db: sqlite3.Connection) -> None:
    """Empty all tables except those of judged fixes, which are needed to find the fixes that are judged differently."""
    for table in _ALL:
        db.execute(f"DELETE FROM {table}")  # noqa: S608 (constants)


def remove_file(db: sqlite3.Connection, file: int) -> None:
    """Remove a file from the tables, together with runs that are in no other file."""
    runs = db.execute("SELECT run FROM places WHERE file = ?", (file,)).fetchall()
    db.execute("DELETE FROM places WHERE file = ?", (file,))
    db.execute("DELETE FROM files WHERE id = ?", (file,))
    for (run,) in runs:
        if db.execute("SELECT 1 FROM places WHERE run = ?", (run,)).fetchone():
            continue
        db.execute("DELETE FROM sources WHERE run = ?", (run,))
        db.execute("DELETE FROM suites WHERE run = ?", (run,))
        _remove_occurrences(db, run)
        db.execute("DELETE FROM failed WHERE run = ?", (run,))
        db.execute("DELETE FROM other WHERE run = ?", (run,))
        db.execute("DELETE FROM identities WHERE run = ?", (run,))
        db.execute("DELETE FROM checks WHERE run = ?", (run,))
        db.execute("DELETE FROM passed_again WHERE run = ?", (run,))
        db.execute("DELETE FROM fix_rows WHERE run = ?", (run,))
        db.execute("DELETE FROM waived WHERE run = ?", (run,))
        db.execute("DELETE FROM first_bad WHERE run = ?", (run,))
        db.execute("DELETE FROM since_fix WHERE run = ?", (run,))
        db.execute("DELETE FROM undone WHERE run = ?", (run,))
        db.execute("DELETE FROM noise WHERE run = ?", (run,))
        db.execute("DELETE FROM coverage WHERE run = ?", (run,))
        db.execute("DELETE FROM runs WHERE id = ?", (run,))


def _remove_occurrences(db: sqlite3.Connection, run: int) -> None:
    """Remove the occurrences of a run from the tables and from the sums."""
    db.execute(_TALLY, {"run": run, "sign": -1})
    db.execute(
        "DELETE FROM tallies WHERE runs = 0 AND subtype IN (SELECT subtype FROM occurrences WHERE run = ?)", (run,)
    )
    causes = [name for (name,) in db.execute("SELECT fingerprint FROM occurrences WHERE run = ?", (run,))]
    db.execute("DELETE FROM occurrences WHERE run = ?", (run,))
    renew_causes(db, causes)


def recount(db: sqlite3.Connection, names: Sequence[str]) -> None:
    """Recompute the sums of causes after their occurrences were renamed.

    Args:
        db: The tables.
        names: All causes that have or had these occurrences.
    """
    asked = (json_list(names),)
    db.execute("DELETE FROM tallies WHERE kind = 'cause' AND name IN (SELECT value FROM json_each(?))", asked)
    db.execute(
        "INSERT INTO tallies SELECT subtype, 'cause', fingerprint, COUNT(*), SUM(tests) FROM occurrences"
        " WHERE fingerprint IN (SELECT value FROM json_each(?)) GROUP BY subtype, fingerprint",
        asked,
    )
    db.execute("DELETE FROM details WHERE fingerprint IN (SELECT value FROM json_each(?))", asked)
    renew_causes(db, names)


def renew_causes(db: sqlite3.Connection, names: Sequence[str]) -> None:
    """Update the newest occurrence of each given cause."""
    causes = [(name,) for name in names]
    db.executemany("DELETE FROM causes WHERE fingerprint = ?", causes)
    db.executemany(
        "INSERT INTO causes SELECT fingerprint, moment, pattern FROM occurrences WHERE fingerprint = ?"
        " ORDER BY moment DESC LIMIT 1",
        causes,
    )
    db.executemany("DELETE FROM newest_tests WHERE fingerprint = ?", causes)
    db.executemany(
        "INSERT INTO newest_tests SELECT DISTINCT f.nodeid, f.fingerprint FROM causes c"
        " JOIN occurrences o ON o.fingerprint = c.fingerprint AND o.moment = c.newest"
        " JOIN failed f ON f.run = o.run AND f.fingerprint = o.fingerprint WHERE c.fingerprint = ?",
        causes,
    )
