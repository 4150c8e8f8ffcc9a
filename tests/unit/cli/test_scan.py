"""`dvwiki scan` reads logs in any container and encoding, and gives the same verdicts as `classify`."""

from __future__ import annotations

import argparse
import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import pty
import signal
import subprocess
import sys
import tarfile
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_dvwiki.capture.files.sources import find_sources
from pytest_dvwiki.cli import ingest, main, scan
from pytest_dvwiki.cli.scan import EXIT_FAILED
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.pipeline.farm import Farm
from pytest_dvwiki.pipeline.scan import scan_files
from pytest_dvwiki.triage.texts.reading import TextClassifier

from ..effort import takes_at_most

FAILING = "ok\ndut.sv:16: syntax error\ndut.sv:16: syntax error\n"
MISMATCH = "UVM_ERROR sb.sv(210) @ {}: uvm_test_top.env.sb [SB] expected 0x{:x} got 0x1{:x}\n"
PASSING = "all fine\nErrors: 0, Warnings: 0\n"
QUIET = "UVM_INFO drv.sv(3) @ 100: uvm_test_top.env.drv [DRV] sent packet 12 of 40\n"


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVWIKI_ENGINE", raising=False)


def scanned(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict[str, Any]:
    assert main(["scan", "--format", "json", *arguments]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_table_tells_of_each_cause_where_it_is_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.log").write_text(FAILING)
    Path("b.log").write_text("x\n" * 7 + FAILING)
    Path("c.log").write_text(PASSING + MISMATCH.format(5, 3, 4) * 3)
    Path("d.log").write_text(PASSING)
    assert main(["scan", "."]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.split("\n")]
    assert " ".join(rows[0]).startswith("4 logs, ")
    assert rows[0][-2:] == ["3", "failed"]
    assert ["2", "4", "compile_error", "/", "syntax_error"] in [row[:5] for row in rows]
    assert ["1", "3", "uvm_error", "/", "scoreboard_fail"] in [row[:5] for row in rows]
    assert "a.log:2\n" in out
    assert "c.log:3\n" in out
    assert "b.log" not in out
    assert "fix: " in out


def test_passing_logs_take_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.log").write_text(PASSING)
    assert main(["scan", "d.log"]) == 0
    assert capsys.readouterr().out == "1 log, 32 bytes: none failed\n"


@pytest.mark.parametrize("size", [0, 40_000])
def test_the_verdict_is_that_of_classify(capsys: pytest.CaptureFixture[str], size: int) -> None:
    text = QUIET * size + FAILING + QUIET * size + MISMATCH.format(9, 1, 1) + QUIET * size
    Path("sim.log").write_text(text)
    (log,) = scanned(capsys, "sim.log")["logs"]
    assert main(["classify", "--format", "json", "sim.log"]) == 0
    (verdict,) = json.loads(capsys.readouterr().out)
    assert {name: log[name] for name in verdict} == verdict
    assert log["line"] == size + 2
    assert (log["lines"], log["bytes"]) == (text.count("\n"), len(text))
    assert [cause["hits"] for cause in log["causes"]] == [2, 1]


def wrapped(kind: str) -> bytes:
    data, whole = FAILING.encode(), io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(whole, "w") as archive:
            archive.writestr("run/sim.log", data)
            archive.writestr("run/wave.vcd", b"error: no log")
        return whole.getvalue()
    if kind.startswith("tar"):
        with tarfile.open(fileobj=whole, mode="w") as tar:
            for name in ("run/sim.log", "run/wave.vcd"):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
        data = whole.getvalue()
    if kind.endswith("zst"):
        return bytes(pytest.importorskip("zstandard").compress(data))
    if kind.endswith("gz"):
        return gzip.compress(data)
    if kind.endswith("bz2"):
        return bz2.compress(data)
    return lzma.compress(data) if kind.endswith("xz") else data


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst", "tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst", "zip"])
def test_compressed_logs_and_archives_are_read(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"sim.log.{kind}" if kind in {"gz", "bz2", "xz", "zst"} else f"run.{kind}"
    Path(name).write_bytes(wrapped(kind))
    for given in (name, "."):
        (log,) = scanned(capsys, given)["logs"]
        assert log["file"] == (name if kind in {"gz", "bz2", "xz", "zst"} else f"{name}/run/sim.log")
        assert log["failure_subtype"] == "syntax_error"


def test_globs_and_folders_give_each_log_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a/.hidden").mkdir(parents=True)
    for name in ("a/x.log", "a/transcript", "a/notes.txt", "a/.hidden/y.log", "a/wave.vcd.gz"):
        Path(name).write_text(PASSING)
    found = scanned(capsys, "a/*.log", "a", "a/x.log", "a/notes.txt")
    assert [log["file"] for log in found["logs"]] == ["a/x.log", "a/transcript", "a/notes.txt"]


@pytest.mark.parametrize(
    "data",
    [
        ("é\r\n" + FAILING).encode("latin-1"),
        ("é\r\n" + FAILING).encode("utf-16"),
        ("é\r\n" + FAILING).encode("utf-16-be"),
        ("é\n" + FAILING).encode("utf-8-sig"),
        b"\0\xff\xfe\0\n" + FAILING.encode().replace(b"ok", b"\0\0\0"),
        b"\x89PNG\r\n" + FAILING.encode(),
    ],
    ids=["latin-1", "utf-16", "utf-16 without a mark", "utf-8 with a mark", "NUL", "binary"],
)
def test_bytes_of_any_kind_are_read(data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sim.log").write_bytes(data)
    (log,) = scanned(capsys, "sim.log")["logs"]
    assert (log["failure_subtype"], log["line"]) == ("syntax_error", 3)


def test_random_bytes_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.log").write_bytes(os.urandom(3 << 20))
    assert len(scanned(capsys, "a.log")["logs"]) == 1


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("absent.log", None, "absent.log: no such file"),
        ("*.none", None, "*.none: no file matches"),
        ("cut.log.gz", gzip.compress(FAILING.encode(), mtime=0)[:-9], "cut.log.gz: cannot be unpacked"),
        ("cut.tar.xz", b"\xfd7zXZ", "cut.tar.xz: cannot be unpacked"),
        ("bad.zip", b"PK", "bad.zip: cannot be unpacked"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_read(
    name: str, data: bytes | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if data is not None:
        Path(name).write_bytes(data)
    Path("good.log").write_text(FAILING)
    assert main(["scan", name, "good.log"]) == 1
    said = capsys.readouterr()
    assert message in said.err
    # The readable part of a truncated log is read.
    assert ("2 logs, " if name == "cut.log.gz" else "1 log, ") in said.out
    assert "syntax_error" in said.out


def test_a_folder_without_logs_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    assert main(["scan", "empty"]) == 1
    assert "empty: no log in this folder" in capsys.readouterr().err


def test_failures_change_the_status_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.log").write_text(FAILING)
    Path("b.log").write_text(PASSING)
    assert main(["scan", "--exit-code", "a.log", "b.log"]) == EXIT_FAILED
    assert main(["scan", "--exit-code", "b.log"]) == 0


@pytest.mark.parametrize("name", ["python", "re2", "hyperscan"])
def test_the_engine_is_named_for_who_asks(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip({"python": "re"}.get(name, name))
    monkeypatch.setenv("DVWIKI_ENGINE", name)
    Path("d.log").write_text(PASSING)
    assert main(["scan", "-v", "d.log"]) == 0
    assert capsys.readouterr().out.endswith(f"\n\nengine: {name}\n")
    assert scanned(capsys, "d.log")["engine"] == name


def test_a_large_log_that_the_slowest_engine_reads_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DVWIKI_ENGINE", "python")
    monkeypatch.setattr(scan, "_LARGE", 1000)
    for size, remark in (
        (10, ""),
        (1000, "\nengine: python; `pip install hyperscan` makes scans of this size many times faster\n"),
    ):
        Path("d.log").write_text(QUIET * size)
        assert main(["scan", "d.log"]) == 0
        assert capsys.readouterr().out.partition("none failed\n")[2] == remark


def test_an_engine_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DVWIKI_ENGINE", "perl")
    Path("a.log").write_text(FAILING)
    assert main(["scan", "a.log"]) == 2
    assert "DVWIKI_ENGINE: unknown engine 'perl': choose one of hyperscan" in capsys.readouterr().err


def test_a_task_without_ingest_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "--task", "nightly", "a.log"]) == 2
    assert "add --ingest" in capsys.readouterr().err


def test_ingest_archives_what_was_scanned(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".agent").mkdir()
    Path("a.log").write_text(FAILING)
    Path("b.log.xz").write_bytes(lzma.compress(MISMATCH.format(1, 2, 3).encode()))
    assert main(["scan", "--ingest", "--task", "nightly", "a.log", "b.log.xz"]) == 0
    assert "2 logs" in capsys.readouterr().out
    (record,) = Path(".agent/tasks").glob("2*/*/nightly_*.yaml")
    assert "syntax_error" in record.read_text()
    assert "scoreboard_fail" in record.read_text()


def test_ingest_after_a_scan_gets_every_option_of_ingest(monkeypatch: pytest.MonkeyPatch) -> None:
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        original(parser)
        parser.add_argument("--later", default="new")

    def keep(args: argparse.Namespace) -> int:
        given.update(vars(args))
        return 0

    given: dict[str, Any] = {}
    original = ingest.add_arguments
    monkeypatch.setattr(ingest, "add_arguments", add_arguments)
    monkeypatch.setattr(ingest, "_ingest", keep)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    Path("a.log").write_text(FAILING)
    assert main(["scan", "--ingest", "a.log"]) == 0
    assert given | vars(parser.parse_args(["a.log"])) == given


def test_json_stays_alone_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".agent").mkdir()
    Path("a.log").write_text(FAILING)
    assert len(scanned(capsys, "--ingest", "a.log")["logs"]) == 1


def test_a_bar_is_drawn_on_a_terminal_alone(tmp_path: Path) -> None:
    Path("a.log").write_text(QUIET * 60_000)
    command = [sys.executable, "-m", "pytest_dvwiki", "scan", "a.log"]
    inner, outer = pty.openpty()
    drawn = b""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=outer, cwd=tmp_path) as process:
        os.close(outer)
        # A slow process prints more than a terminal buffers; Linux reports the end of a terminal as an error.
        with contextlib.suppress(OSError):
            while part := os.read(inner, 1 << 16):
                drawn += part
        printed, _ = process.communicate()
    os.close(inner)
    assert b"a.log" in drawn
    assert drawn.endswith(b"\r\x1b[K")
    assert (process.returncode, b"\x1b" in printed) == (0, False)
    piped = subprocess.run(command, capture_output=True, cwd=tmp_path, check=True)
    assert piped.stderr == b""


def test_a_line_without_end_costs_no_more_than_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """The bound is generous: only quadratic time fails the test."""
    lines = (QUIET * 120_000).encode()
    Path("lines.log").write_bytes(lines)
    Path("line.log").write_bytes(lines.replace(b"\n", b" "))
    scanned(capsys, "lines.log")
    assert takes_at_most(20, partial(scanned, capsys, "lines.log"), partial(scanned, capsys, "line.log"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_memory_stays_small_on_a_large_log(tmp_path: Path) -> None:
    with Path("big.log").open("w") as file:
        file.writelines(QUIET * 20_000 + MISMATCH.format(number, number, number) for number in range(200))
    # Not getrusage: its peak includes that of the parent process before the fork.
    code = (
        "import sys; from pathlib import Path; from pytest_dvwiki.cli import main; main(sys.argv[1:]); "
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "scan", "big.log"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    kilobytes = int(done.stdout.split()[-1])
    assert kilobytes < (200 << 10)


def test_several_processes_print_what_one_prints(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(8):
        Path(f"{number}.log").write_text(QUIET * 100 + MISMATCH.format(number, number, number) + FAILING * (number % 2))
    with tarfile.open("old.tar.gz", "w:gz") as archive:
        archive.add("3.log")
    Path("broken.log.gz").write_bytes(gzip.compress(FAILING.encode())[:-9])
    said = []
    for jobs in ("1", "3"):
        assert main(["scan", ".", "--jobs", jobs]) == scan.EXIT_UNREADABLE
        said.append(capsys.readouterr())
    assert said[0] == said[1]
    assert "9 logs" in said[0].out or "10 logs" in said[0].out
    assert "broken.log.gz" in said[0].err


def test_a_process_that_dies_costs_its_file_alone() -> None:
    for name in ("a", "b", "c", "d"):
        Path(f"{name}.log").write_text(FAILING * (5 if name == "b" else 1))
    results = list(scan_files(find_sources(["."]).files, Dying, Farm(2)))
    assert [len(result.logs) for result in results] == [1, 0, 1, 1]
    (problem,) = results[1].problems
    assert problem.startswith("b.log: the processes that read this file were killed")


class Dying(TextClassifier):
    """Kills its process at a log that says so, like the kernel if memory runs out."""

    def __init__(self) -> None:
        super().__init__(load_registry())

    def conclude(self, found: Any) -> Any:
        reading = super().conclude(found)
        if reading.lines > 10:
            os.kill(os.getpid(), signal.SIGKILL)
        return reading


def test_a_number_of_processes_below_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", ".", "--jobs", "0"]) == 2
    assert "--jobs 0: give a number of processes, at least 1" in capsys.readouterr().err
