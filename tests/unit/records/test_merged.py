"""Records with merge conflicts or in the wrong folder are restored byte for byte, or reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.records import store
from pytest_dvwiki.records.codec import encode
from pytest_dvwiki.records.merged import put_right

from ..samples import files, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO, THREE = (encode(record(number, occurrence())) for number in (1, 2, 3))


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    (tmp_path / "tasks" / "2026").mkdir(parents=True)
    return tmp_path / "tasks"


def _conflict(ours: bytes, theirs: bytes) -> bytes:
    return b"<<<<<<< HEAD\n" + ours + b"=======\n" + theirs + b">>>>>>> theirs\n"


def test_both_sides_of_a_month_stay(tasks: Path) -> None:
    month = tasks / "2026" / "11.yaml"
    month.write_bytes(_conflict(ONE + b"---\n" + TWO, TWO + b"---\n" + THREE))
    assert put_right(tasks).changed == ["2026/11.yaml"]
    assert month.read_bytes() == b"records: 3\n---\n" + ONE + b"---\n" + TWO + b"---\n" + THREE
    assert put_right(tasks).changed == []


def test_a_conflict_within_a_record_is_left_to_a_person(tasks: Path) -> None:
    month = tasks / "2026" / "11.yaml"
    month.write_bytes(_conflict(ONE, encode(replace(record(1, occurrence()), duration_s=1.0))))
    before = month.read_bytes()
    done = put_right(tasks)
    assert done.left == [("2026/11.yaml", f"resolve the conflict in the record {record(1).task_id} by hand")]
    assert (done.changed, month.read_bytes()) == ([], before)


def test_what_is_no_record_is_never_lost_from_a_conflict(tasks: Path) -> None:
    month = tasks / "2026" / "11.yaml"
    month.write_bytes(_conflict(ONE, b"notes: of ours\n"))
    before = month.read_bytes()
    assert put_right(tasks).left == [
        ("2026/11.yaml", "it contains something that is not a record; move that out of the file")
    ]
    assert month.read_bytes() == before


def test_a_record_that_git_moved_goes_back(tasks: Path) -> None:
    moved = tasks / "2026" / f"{record(1).task_id}.yaml"
    moved.write_bytes(ONE)
    assert put_right(tasks, check=True).changed == [f"2026/{moved.name}"]
    assert moved.exists()
    put_right(tasks)
    assert not moved.exists()
    assert store.record_path(tasks, record(1)).read_bytes() == ONE


def test_files_of_others_stay(tasks: Path) -> None:
    for name, text in {"notes.yaml": "who: me\n", "torn.yaml": "schema: [", "10.yaml": "x: 1\n"}.items():
        (tasks / "2026" / name).write_text(text)
    before = files(tasks)
    assert (put_right(tasks).changed, put_right(tasks).left) == ([], [])
    assert files(tasks) == before
