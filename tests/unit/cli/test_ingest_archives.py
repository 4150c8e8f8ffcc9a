"""The readable part of an archive is archived, the rest is named; no truncated file counts as complete."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.cli import main

from ..capture.files.test_artefacts import UVM_BAD, UVM_GOOD
from ..samples import written

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = UVM_BAD.split("--- UVM")[0] + "".join(f"UVM_INFO @ {at}: reporter [T] {at * at}\n" for at in range(60_000))


def zstd(data: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(data))


def failed() -> int:
    return sum(int(record["totals"]["failed"]) for record in written(Path.cwd()))


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("command", "suffix", "compress"),
    [("ingest", "gz", gzip.compress), ("scan", "gz", gzip.compress), ("ingest", "zst", zstd), ("scan", "zst", zstd)],
)
def test_of_a_compressed_log_that_is_cut_off_the_readable_part_counts_and_the_cut_is_told(
    suffix: str, compress: Callable[[bytes], bytes], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = compress(LONG.encode())
    Path(f"sim.log.{suffix}").write_bytes(whole[: len(whole) * 2 // 3])
    assert main([command, f"sim.log.{suffix}"]) == 1
    said = capsys.readouterr()
    assert f"sim.log.{suffix}: cannot be unpacked: " in said.err
    assert "scoreboard_fail" in said.out
    assert command == "scan" or failed() == 1


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("command", "suffix"),
    [("ingest", "log.gz"), ("scan", "log.bz2"), ("ingest", "log.zst"), ("scan", "log.zst"), ("ingest", "tar.gz")],
)
def test_a_compressed_file_without_bytes_is_told(suffix: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(f"a.{suffix}").write_bytes(b"")
    assert main([command, f"a.{suffix}"]) == 1
    assert f"a.{suffix}: the file is empty" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("suffix", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zstd)]
)
def test_what_holds_no_bytes_is_read(
    suffix: str, compress: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(f"a.log.{suffix}").write_bytes(compress(b""))
    assert main(["ingest", f"a.log.{suffix}"]) == 0
    assert "not archived, because it reports no test" in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_frames_of_zstd_one_behind_the_other_are_one_log() -> None:
    Path("a.log.zst").write_bytes(zstd(UVM_GOOD.encode()) + zstd(b"") + zstd(UVM_BAD.encode()))
    assert main(["ingest", "a.log.zst"]) == 0
    assert failed() == 1


@pytest.mark.usefixtures("project")
def test_what_is_no_zstd_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("zstandard")
    Path("a.log.zst").write_bytes(b"no zstd at all")
    assert main(["ingest", "a.log.zst"]) == 1
    assert "a.log.zst: cannot be unpacked: " in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_one_bad_member_does_not_end_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile("night.zip", "w") as zipped:
        for name in ("a/sim.log", "b/sim.log", "c/sim.log"):
            zipped.writestr(name, UVM_BAD + name)
        zipped.writestr("d/sim.log.gz", gzip.compress(LONG.encode())[:-9])
        zipped.writestr("e/sim.tar.gz", b"\x1f\x8b\x08")
        zipped.writestr("f/sim.log", UVM_BAD)
    # One byte of a member was changed after its checksum.
    before, data, after = Path("night.zip").read_bytes().partition(f"{UVM_BAD}b/".encode())
    Path("night.zip").write_bytes(before + data.replace(b"0x13", b"0x15") + after)
    assert main(["ingest", "night.zip"]) == 1
    errors = capsys.readouterr().err
    assert [name in errors for name in ("b/sim.log", "d/sim.log", "e/sim.tar.gz")] == [True] * 3
    assert [name in errors for name in ("a/sim.log", "c/sim.log", "f/sim.log")] == [False] * 3
    assert failed() >= 4


@pytest.mark.usefixtures("project")
def test_what_stands_in_a_tar_before_its_cut_counts(capsys: pytest.CaptureFixture[str]) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in (("a/sim.log", UVM_BAD), ("b/sim.log", LONG)):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    Path("night.tar.gz").write_bytes(packed.getvalue()[: len(packed.getvalue()) // 2])
    assert main(["ingest", "night.tar.gz"]) == 1
    assert "night.tar.gz: cannot be unpacked: " in capsys.readouterr().err
    assert failed() == 2
