"""Records have the specified path and format, and other files are left alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pytest_dvwiki.causes.statements import Came
from pytest_dvwiki.causes.words import text
from pytest_dvwiki.model import Vcs
from pytest_dvwiki.records import store
from pytest_dvwiki.records.codec import decode, encode, last_record
from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.yamlio import load

from ..samples import CAUSE, TEST, occurrence, passing, record, suites

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord


def _read(path: Path) -> tuple[list[RunRecord], list[str]]:
    return store.read_records(path, path.read_bytes(), path.name)


def test_the_document_that_was_encoded_last_is_what_its_bytes_say() -> None:
    odd = occurrence(primary='tab\t é \u2028 "quoted" 1e3', excerpt="two\n  lines \n")
    data = encode(record(1, odd))
    assert last_record(data) == decode(load(data, "record"), "record")
    assert last_record(data + b"#") is None
    assert last_record(encode(record(2, occurrence(primary="\ud800")))) is None


def test_a_record_stands_under_year_and_month_of_its_end(tmp_path: Path) -> None:
    run = record(1, occurrence())
    assert store.write_record(tmp_path, run)
    assert (tmp_path / "2026" / "11" / f"{run.task_id}.yaml").is_file()
    assert not store.write_record(tmp_path, run)


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    fixes: tuple[dict[str, Any], ...] = ({"fingerprint": CAUSE, "text": "a\nb", "by": "person", "commits": ["1", "2"]},)
    for run in (
        record(1, occurrence()),
        passing(2),
        record(3, fixes=fixes, suites=suites(TEST), evidence=("x\t\x07",)),
    ):
        store.write_record(tmp_path, run)
        assert _read(store.record_path(tmp_path, run)) == ([run], [])


def test_the_keys_stand_in_the_order_of_the_format(tmp_path: Path) -> None:
    head = "schema task_id caller_task tool registry fingerprint_version started finished duration_s vcs simulators"
    tail = "sources run_id suites axes totals occurrences other waived passed_again fixes without_fix regressed"
    assert (
        list(load(encode(record(1)), "record"))
        == f"{head} {tail} first_bad since_fix undone coverage evidence end".split()
    )
    assert encode(record(1)).startswith(b"schema: 2\n")


def test_the_same_record_gives_the_same_bytes() -> None:
    assert encode(record(1, occurrence())) == encode(record(1, occurrence()))


def test_another_record_of_the_same_id_is_refused(tmp_path: Path) -> None:
    run = record(1, occurrence())
    store.write_record(tmp_path, run)
    with pytest.raises(WikiError, match="records never change"):
        store.write_record(tmp_path, replace(run, vcs=Vcs(commit="2")))
    assert _read(store.record_path(tmp_path, run)) == ([run], [])


@pytest.mark.parametrize("task_id", ["../x", "a/b", "", ".hidden", "a b", "x" * 201, "a\x00b"])
def test_an_id_that_is_no_file_name_is_refused(tmp_path: Path, task_id: str) -> None:
    with pytest.raises(WikiError, match="not a task id"):
        store.write_record(tmp_path, replace(record(1), task_id=task_id))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("time", ["2026-11-21", "../../x", "2026-11-21T20:00:00+01:00"])
def test_a_time_that_is_not_utc_is_refused(tmp_path: Path, time: str) -> None:
    with pytest.raises(WikiError, match="not a UTC time"):
        store.write_record(tmp_path, replace(record(1), finished=time))


def test_a_file_of_a_month_holds_many(tmp_path: Path) -> None:
    runs = [record(1, occurrence()), record(2, occurrence())]
    path = tmp_path / "11.yaml"
    path.write_bytes(b"---\n".join(encode(run) for run in runs))
    assert _read(path) == (runs, [])


def test_yaml_of_somebody_else_is_no_record_and_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "cov_fix_001.yaml"
    path.write_text("task_id: cov_fix_001\nstatus: done\n")
    assert _read(path) == ([], [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("duration_s: 600.0", "duration_s: long"), "duration_s"),
        (("schema: 2", "schema: 3"), "newer than this version"),
        (("totals: {", "totals: [{"), ".yaml:"),
        (("task_id: ", "task_id: x"), "the file of a record is named after its task_id"),
        (('finished: "2026-11-21T01:10:00Z"', 'finished: "yesterday"'), "`finished` is not a UTC time: 'yesterday'"),
        *(
            (('finished: "2026-11-21T01:10:00Z"', f'finished: "{time}"'), f"`finished` is not a UTC time: '{time}'")
            for time in ("2026-99-99T99:99:99Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z")
        ),
    ],
)
def test_a_broken_record_is_reported(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    run = record(1, occurrence())
    path = tmp_path / f"{run.task_id}.yaml"
    text = encode(run).decode().replace(*change).replace(f'x"{run.task_id}"', '"other"')
    body = text.partition("end: ")[0]
    path.write_text(f'{body}end: "{hashlib.sha256(body.encode()).hexdigest()[:16]}"\n')
    records, problems = _read(path)
    assert records == []
    assert len(problems) == 1
    assert path.name in problems[0]
    assert message in problems[0]


def test_a_suite_is_written_once_per_distinct_list(tmp_path: Path) -> None:
    identity = store.write_suite(tmp_path, ["b", "a", "b"])
    assert identity == store.write_suite(tmp_path, ["a", "b"]) == store.suite_id(["b", "a"])
    assert [path.name for path in (tmp_path / "suites").iterdir()] == [f"{identity}.txt"]
    assert store.read_suite(tmp_path, identity) == ("a", "b")
    assert store.write_suite(tmp_path, ["a"]) != identity


@pytest.mark.parametrize("identity", ["../../secret", "0" * 16, "x"])
def test_a_suite_that_is_not_there_is_empty(tmp_path: Path, identity: str) -> None:
    (tmp_path / "secret.txt").write_text("a\n")
    assert store.read_suite(tmp_path / "tasks", identity) == ()


def test_a_range_of_schema_1_names_no_commit_as_certain() -> None:
    row = {"fingerprint": CAUSE, "nodeid": TEST, "good": "a" * 40, "bad": "b" * 40, "log": ["b" * 12 + " break"]}
    old = {"schema": 1} | {key: value for key, value in load(encode(record(1)), "record").items() if key != "schema"}
    (found,) = decode(old | {"first_bad": [row]}, "record").first_bad
    assert (found.passed_with, found.is_certain) == ("unknown", False)
    assert "break" not in text(Came(found=found))
    (new,) = decode(old | {"schema": 2, "first_bad": [row]}, "record").first_bad
    assert new.is_certain


def test_a_row_is_written_with_the_keys_that_it_has() -> None:
    statements = ({"fingerprint": CAUSE, "by": "person", "takes_back": "fix_1"}, {"text": "x", "log": (), "note": ""})
    bins = ({"covergroup": "fifo", "bin": "full", "action_class": "actionable", "filled": True},)
    written = load(encode(record(1, sources=({"path": "a", "sha256": "0"},), fixes=statements, coverage=bins)), "")
    assert written["sources"] == [{"path": "a", "sha256": "0"}]
    assert [list(row) for row in written["fixes"]] == [["fingerprint", "by", "takes_back"], ["text", "log", "note"]]
    # A missing priority is null.
    assert [list(row) for row in written["coverage"]] == [["covergroup", "bin", "action_class", "priority", "filled"]]
