"""A reader sees either the old bytes or the new ones, and an error says what to do."""

from __future__ import annotations

import errno
import os
import resource
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.records.disk import WikiError, append_line, create, replace, sweep

if TYPE_CHECKING:
    from pathlib import Path


def test_replacing_keeps_the_mode(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_bytes(b"old")
    page.chmod(0o664)
    replace(page, b"new")
    assert page.read_bytes() == b"new"
    assert page.stat().st_mode & 0o777 == 0o664


def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        replace(tmp_path / "page.md", b"new")
        create(tmp_path / "record.yaml", b"new")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_bytes(b"old")
    (tmp_path / "page.md").symlink_to("real.md")
    replace(tmp_path / "page.md", b"new")
    assert (tmp_path / "page.md").is_symlink()
    assert (tmp_path / "real.md").read_bytes() == b"new"


def test_nothing_temporary_is_left(tmp_path: Path) -> None:
    replace(tmp_path / "page.md", b"new")
    create(tmp_path / "record.yaml", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.md", "record.yaml"]


def test_a_record_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "2026" / "11" / "record.yaml"
    assert create(path, b"one")
    assert not create(path, b"one")
    with pytest.raises(WikiError, match="records never change"):
        create(path, b"two")
    assert path.read_bytes() == b"one"


def test_an_error_is_one_line_with_file_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "bugs").write_text("a file")
    with pytest.raises(WikiError, match="move it away") as caught:
        replace(tmp_path / "bugs" / "page.md", b"new")
    assert str(tmp_path / "bugs" / "page.md") in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, OSError)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110 (a condition, not a path)
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.md").symlink_to("/dev/full")
    with pytest.raises(WikiError, match="disk is full") as caught:
        append_line(tmp_path / "log.md", "## line")
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.ENOSPC


def test_lines_are_appended(tmp_path: Path) -> None:
    append_line(tmp_path / "log.md", "one")
    append_line(tmp_path / "log.md", "zwei …")
    assert (tmp_path / "log.md").read_text("utf-8") == "one\nzwei …\n"


def test_a_line_begins_on_its_own_where_the_last_one_was_cut_off(tmp_path: Path) -> None:
    (tmp_path / "log.md").write_bytes(b"one\ntw")
    append_line(tmp_path / "log.md", "three")
    assert (tmp_path / "log.md").read_bytes() == b"one\ntw\nthree\n"


def test_a_line_that_only_fits_in_part_is_taken_away_again(tmp_path: Path) -> None:
    log = tmp_path / "log.md"
    append_line(log, "one")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A write beyond the limit is truncated, as on a disk with little space.
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(WikiError, match="disk is full"):
            append_line(log, "a line that is longer than that")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert log.read_bytes() == b"one\n"


def test_what_killed_processes_left_is_swept_and_all_else_stays(tmp_path: Path) -> None:
    for name in (".page.md.0123abcd.tmp", ".notes.tmp", "page.md", ".page.md.0123abcd.tmp.md"):
        (tmp_path / name).write_text("x")
    sweep(tmp_path)
    sweep(tmp_path / "absent")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".notes.tmp", ".page.md.0123abcd.tmp.md", "page.md"]
