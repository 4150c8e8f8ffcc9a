"""A truncated or changed record is reported; it never counts as whole or as a foreign file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_dvwiki.cli import main
from pytest_dvwiki.records import codec, store
from pytest_dvwiki.records.codec import encode
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import layout, occurrence, record

RUNS = [record(number, occurrence()) for number in (1, 2, 3)]
DATA = encode(RUNS[0])
MONTH = store.join_month({run.task_id: encode(run) for run in RUNS})
# The name of every record that this tool makes.
SINGLE = Path("2026/11/nightly_20261121T202730Z_3fa9c1.yaml")


def _read(path: Path, data: bytes) -> tuple[int, list[str]]:
    records, problems = store.read_records(path, data, path.name)
    return len(records), problems


def test_a_cut_at_every_byte_of_a_record_is_torn() -> None:
    for size in range(len(DATA)):
        records, problems = _read(SINGLE, DATA[:size])
        assert (records, len(problems)) == (0, 1), DATA[:size][-40:]
        assert "torn" in problems[0]


def test_a_cut_at_every_byte_of_a_month_is_reported() -> None:
    path = Path("2026/11.yaml")
    assert _read(path, MONTH) == (3, [])
    for size in range(len(MONTH)):
        records, problems = _read(path, MONTH[:size])
        assert records < 3
        assert problems, MONTH[:size][-40:]


@pytest.mark.parametrize("data", [DATA, MONTH], ids=["record", "month"])
def test_a_flipped_bit_is_reported(data: bytes) -> None:
    path = SINGLE if data is DATA else Path("2026/11.yaml")
    whole = len(RUNS) if data is MONTH else 0
    for place in range(0, len(data), 3):
        flipped = data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :]
        records, problems = _read(path, flipped)
        in_head = data is MONTH and place < data.index(b"\n---")
        # Damage to the number of records is not reported, but no record is lost.
        assert problems or (in_head and records == whole), flipped[max(0, place - 20) : place + 20]


def test_line_ends_that_git_changed_tear_nothing() -> None:
    assert codec.is_whole(DATA.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("text", ["", "x: 1\n", "status: done\n", "- 1\n", "only words\n"])
def test_yaml_of_another_name_is_somebody_elses(text: str) -> None:
    assert _read(Path("2026/11/cov_fix_001.yaml"), text.encode()) == (0, [])


def test_a_record_of_schema_1_is_still_read() -> None:
    old = DATA.decode().partition("end: ")[0].replace("schema: 2", "schema: 1").encode()
    path = Path(f"2026/11/{RUNS[0].task_id}.yaml")
    records, problems = store.read_records(path, old, path.name)
    assert problems == []
    assert [(run.schema, run.occurrences) for run in records] == [(1, RUNS[0].occurrences)]


def test_the_bytes_of_a_record_are_kept_where_it_is_archived_elsewhere(tmp_path: Path) -> None:
    old = DATA.replace(b"duration_s: 600.0", b"duration_s: 600.00")
    old = codec.seal(old.partition(b"end: ")[0])
    path = tmp_path / f"{RUNS[0].task_id}.yaml"
    ((run, data),), problems = store.read_documents(path, old, path.name)
    assert (data, problems) == (old, [])
    assert store.write_record(tmp_path, run, data)
    assert store.record_path(tmp_path, run).read_bytes() == old


def test_a_page_keeps_what_it_states_while_a_record_that_it_cites_cannot_be_read(tmp_path: Path) -> None:
    place = layout(tmp_path)
    for run in RUNS:
        archive(place, run)
    (page,) = (place.wiki / "bugs").glob("RTL_*.md")
    before = page.read_bytes()
    path = store.record_path(place.tasks, RUNS[1])
    whole = path.read_bytes()
    path.write_bytes(whole[:-200])
    done = build(place)
    told = f"it stays as it is until the record {RUNS[1].task_id} can be read; restore that record from git"
    assert (page.read_bytes(), dict(done.refused)[f"bugs/{page.name}"]) == (before, told)
    assert main(["build", "--root", str(tmp_path)]) == main(["lint", "--root", str(tmp_path)]) == 1
    path.write_bytes(whole)
    assert (build(place).refused, page.read_bytes()) == ([], before)
    path.unlink()
    assert build(place).refused == []
    assert b"hit_count: 2" in page.read_bytes()
