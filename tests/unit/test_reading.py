"""Only regular files of bounded size are read; the error for any other names it and says what to do."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from pytest_dvwiki import reading
from pytest_dvwiki.reading import UnreadableError, read_bytes, read_text


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_fifo, "is a FIFO; replace it with a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a device; replace it with a regular file"),
        (Path.mkdir, "is a folder; replace it with a regular file"),
        (_socket, "cannot be read (no such device or address); check that it exists and can be read"),
        (
            lambda path: path.symlink_to(path.name),
            "cannot be read (too many levels of symbolic links); the symlink refers",
        ),
        (lambda path: path.write_bytes(b"x" * 11), "is larger than 10 bytes; shorten or split it"),
    ],
)
def test_what_is_no_regular_file_of_that_size_is_not_read(make: object, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    make(path)  # type: ignore[operator]
    with pytest.raises(UnreadableError) as caught:
        read_bytes(path, 10)
    assert str(caught.value).startswith(f"{path}: {reason}")
    assert reading.reason(caught.value).startswith(reason)


def test_a_link_to_a_file_is_read_and_a_dangling_one_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    (tmp_path / "b").symlink_to("a")
    assert read_text(tmp_path / "b") == "one\ntwo"
    (tmp_path / "c").symlink_to("d")
    with pytest.raises(UnreadableError, match="c: is a symlink to a missing file; restore the file, or"):
        read_bytes(tmp_path / "c")
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "d")


def test_a_text_is_utf_8_and_no_longer_than_people_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "waivers.yaml"
    path.write_bytes(b"mode: \xff")
    with pytest.raises(UnreadableError, match=r"waivers.yaml: is not UTF-8 \(byte 6\); save it as UTF-8"):
        read_text(path)
    with path.open("wb") as file:
        file.truncate(reading.MOST_BY_HAND + 1)
    with pytest.raises(UnreadableError, match="is larger than 1 MiB; shorten or split it"):
        read_text(path)


def test_a_name_that_no_file_has_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="its name contains a nul character"):
        read_bytes(tmp_path / "a\0b")
