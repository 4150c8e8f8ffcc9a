"""Tests the output of `dvwiki classify` in each format, and its messages for wrong calls."""

from __future__ import annotations

import gzip
import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.cli import main

if TYPE_CHECKING:
    from pathlib import Path

FAILING = "ok\ndut.sv:16: syntax error\ndut.sv:17: syntax error\n"
PASSING = "all fine\nErrors: 0, Warnings: 0\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "sim.log"
    path.write_text(FAILING, encoding="utf-8")
    return path


def feed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))


def test_a_paragraph_tells_label_line_pattern_origin_and_fix(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", str(log)]) == 0
    out = capsys.readouterr().out
    for part in ("compile_error / syntax_error", "2: dut.sv:16: syntax error", "icarus.syntax", "RTL_BUG", "fix"):
        assert part in out
    assert "dut.sv:17" not in out
    assert max(map(len, out.split("\n"))) <= max(80, len(str(log)) + 40)


def test_v_adds_runners_up_and_the_lines_round_the_cause(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", "-v", str(log)]) == 0
    out = capsys.readouterr().out
    assert "3: dut.sv:17: syntax error" in out
    assert "| ok" in out


def test_json_holds_the_same(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", "--format", "json", str(log)]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    assert answer["is_failure"]
    assert (answer["error_class"], answer["failure_subtype"], answer["line"]) == ("compile_error", "syntax_error", 2)
    assert answer["origin"]["reasons"]


def test_a_passing_log_is_said_to_pass(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    feed(monkeypatch, PASSING)
    assert main(["classify", "-"]) == 0
    assert capsys.readouterr().out == "-: no failure found\n"


def test_jsonl_answers_each_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    feed(monkeypatch, "\n".join(json.dumps({"id": n, "text": text}) for n, text in enumerate((FAILING, PASSING))))
    assert main(["classify", "--jsonl", "-"]) == 0
    bad, good = map(json.loads, capsys.readouterr().out.splitlines())
    assert (bad["id"], bad["is_failure"], bad["failure_subtype"]) == (0, True, "syntax_error")
    assert (good["id"], good["is_failure"], good["failure_subtype"]) == (1, False, None)
    assert len(bad["fingerprint"]) == 12


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
def test_logs_of_other_encodings_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], encoding: str) -> None:
    path = tmp_path / "sim.log"
    path.write_bytes(("é\r\n" + FAILING).encode(encoding))
    assert main(["classify", str(path)]) == 0
    assert "syntax_error" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either files or --jsonl"),
        (["absent.log"], "absent.log: cannot be read"),
        (["--patterns", "absent.yaml", "x"], "absent.yaml: cannot be read"),
    ],
)
def test_a_mistake_in_the_call_is_one_line_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["classify", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", [("classify",), ("patterns", "why")])
def test_a_compressed_log_is_sent_to_scan(
    tmp_path: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sim.log.gz"
    file.write_bytes(gzip.compress(b"dut.sv:7: syntax error\n"))
    assert main([*command, str(file)]) == 2
    assert f"`dvwiki scan {file}` can read it" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["{", '{"id": 1}', '{"id": 1, "text": 2}', "[]"])
def test_a_bad_line_of_jsonl_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    feed(monkeypatch, "\n" + line)
    assert main(["classify", "--jsonl", "-"]) == 2
    assert "-: line 2: " in capsys.readouterr().err


RUNNER = """\
    def test_fill(fifo):
>       simulate(fifo, "FillAndDrain")
E       RuntimeError: Command failed with return code: 1

tests/test_fifo.py:23: RuntimeError
----------------------------- Captured stdout call -----------------------------
FATAL: rtl/sync_fifo.v:50: FIFO overflow: write of 0xdc at level 8
       Time: 120000 Scope: sync_fifo
"""


def test_the_place_of_a_runners_error_is_no_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "pytest.log"
    log.write_text(RUNNER)
    assert main(["classify", str(log), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["pattern"] == "icarus.fatal"
