"""`dvwiki ingest` archives the failures in an agent's or a person's report on a session, once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from llm_server import serving

from pytest_dvwiki.cli import main

from ..samples import files, written

if TYPE_CHECKING:
    from pathlib import Path

REPORT = """\
# Session

Two failures.

## Failure 1: test_axi_burst

error_class: uvm_error
failure_subtype: protocol_violation

## Coverage

| Covergroup | Bin | Action class |
| --- | --- | --- |
| axi | late | actionable |
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".agent").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_report_is_archived_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "nightly_7.md").write_text(REPORT)
    assert main(["ingest", "nightly_7.md", "--summary"]) == 0
    out, err = capsys.readouterr()
    assert "nightly_7.md: 1 cause, 1 new, 1 coverage bin: bugs/UNK_" in err
    assert "protocol_violation" in out
    assert (root / ".agent" / "wiki" / "coverage" / "axi_late.md").exists()
    assert main(["ingest", "nightly_7.md"]) == 0
    assert "nightly_7.md: already archived as nightly_7_session_" in capsys.readouterr().out
    (found,) = written(root)
    assert found["caller_task"] == "nightly_7"


def test_the_summary_says_what_was_known_before_the_report(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    headlines = []
    for number in (1, 2, 2):
        (root / f"night_{number}.md").write_text(f"{REPORT}\nNight {number}.\n")
        assert main(["ingest", f"night_{number}.md", "--summary"]) == 0
        headlines.append(capsys.readouterr().out)
    new, known, again = headlines
    assert "**NEW** uvm_error / protocol_violation" in new
    assert "Reported" not in new
    assert "**KNOWN** uvm_error / protocol_violation" in known
    assert "- Reported once before, on " in known
    assert "**KNOWN** uvm_error / protocol_violation" in again
    assert "- Reported in 2 runs since " in again


@pytest.mark.parametrize(("name", "text"), [("report.md", "# Session\n\nAll 40 tests passed.\n"), ("r.json", "[]")])
def test_a_report_without_a_failure_makes_no_record_and_the_command_says_so(
    root: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (root / name).write_text(text)
    assert main(["ingest", name]) == 0
    assert capsys.readouterr().out == f"{name}: not archived, because no failure was found in it\n"
    assert files(root / ".agent") == {}


def test_a_json_list_is_read_and_a_folder_is_not_full_of_reports(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "r").mkdir()
    rows = [{"test": name, "error_class": "sim_error", "subtype": "timeout"} for name in ("a_test", "b_test")]
    (root / "r" / "list.json").write_text(json.dumps(rows))
    (root / "r" / "README.md").write_text(REPORT)
    assert main(["ingest", "r"]) == 1
    assert "in this folder; pass another folder, or single files" in capsys.readouterr().err
    assert main(["ingest", "r/list.json", "--task", "nightly"]) == 0
    assert "r/list.json: 2 causes, 2 new" in capsys.readouterr().out
    assert written(root)[0]["caller_task"] == "nightly"


def test_the_model_of_the_project_reads_prose(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "r.md").write_text("The burst test came back with SLVERR on the response channel.\n")
    with serving() as server:
        server.set_up(root)
        server.say("no list")
        assert main(["ingest", "r.md"]) == 1
        assert "r.md: not archived yet, because the answer does not" in capsys.readouterr().err
        server.say('[{"message": "SLVERR on the response channel"}]')
        assert main(["ingest", "r.md"]) == 0
        assert "r.md: 1 cause, 1 new" in capsys.readouterr().out
        (root / "late.md").write_text("The reset test came back with SLVERR on the response channel.\n")
        (root / "quiet.md").write_text("It ran.\n")
        server.say("no list")
        assert main(["ingest", "late.md"]) == 1
        capsys.readouterr()
        server.say("[]", '[{"message": "SLVERR on the response channel"}]')
        assert main(["ingest", "quiet.md"]) == 0
        assert "report: late, which waited for a model, was read and archived\n" in capsys.readouterr().err
    assert written(root)[-1]["occurrences"][0]["primary"] == "SLVERR on the response channel"


def test_a_json_report_that_is_cut_off_is_no_report_without_a_failure(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "r.json").write_text('[\n{"test": "a_test", "message": "UVM_ERROR: it is c')
    assert main(["ingest", "r.json"]) == 1
    out, err = capsys.readouterr()
    assert err == "dvwiki ingest: r.json:2: not JSON (Unterminated string starting at); correct this line\n"
    assert out == "1 run: 1 not archived; 0 causes\n" or not out
    assert files(root / ".agent") == {}


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("r.md", b"\xff\xfe", "r.md: is not UTF-8 (byte 0); save it as UTF-8"),
        ("r.json", b"[" * 5000, "r.json: nested too deep; flatten it"),
    ],
)
def test_a_report_that_cannot_be_read_is_named_once(
    root: Path, capsys: pytest.CaptureFixture[str], name: str, data: bytes, problem: str
) -> None:
    (root / name).write_bytes(data)
    assert main(["ingest", name]) == 1
    assert f"dvwiki ingest: {problem}\n" in capsys.readouterr().err


def test_a_transcript_that_cannot_be_archived_is_an_error(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "s.txt").write_text("# Lessons\n\n- gotchas: hold `rst_n` for two cycles\n")
    (root / ".agent" / "tasks").touch()
    assert main(["ingest", "--transcript", "s.txt"]) == 2
    assert "there is a file where a folder should be; move it away" in capsys.readouterr().err
    (root / ".agent" / "tasks").unlink()
    assert main(["ingest", "--transcript", "s.txt"]) == 0
    assert capsys.readouterr().out == "s.txt: 1 lesson: topics/gotchas.md\n"
    assert main(["ingest", "--transcript", "s.txt"]) == 0
    assert capsys.readouterr().out == "s.txt: no new lesson\n"
    (root / "s.bin").write_bytes(bytes(range(256)))
    assert main(["ingest", "--transcript", "s.bin"]) == 2
    assert capsys.readouterr().err == "dvwiki ingest: --transcript s.bin: this is a binary file; give a text file\n"
