"""The gate's decisions on failures, from the records before the run."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki import pipeline
from pytest_dvwiki.causes.words import gate_text
from pytest_dvwiki.cli import main
from pytest_dvwiki.model import Excerpt, Failure, Gate, Gated, Run, Waived
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.settings import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord

SCOREBOARD = "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] Mismatch: expected 12 got 13"
DRIVER = "UVM_ERROR drv.sv(21) @ 1250: uvm_test_top.env.drv [DRV] no answer within 100 cycles"
UNNAMED = "the strange affair of the lost bus"
WAIVER = "waivers:\n  - {id: W-1, match: {message: '*expected 12 got 13'}, reason: r, owner: o}\n"


def failure(nodeid: str, line: str, **fields: object) -> Failure:
    source = "report" if line == UNNAMED else "log"
    text = Excerpt(source=source, lines=((1, line),))  # type: ignore[arg-type]
    return Failure(nodeid=nodeid, message=line, excerpts=(text,), **fields)  # type: ignore[arg-type]


def run(root: Path, number: int, *failures: Failure, gate: str = "new", refused: str = "", base: str = "") -> RunRecord:
    moment = f"2026-11-21T{number:02d}:00:00Z"
    made = Run(task_id=f"nightly_{number}", started=moment, finished=moment, failures=failures, gate_refused=refused)
    with Services(resolve(root, command_line={"gate": gate, "gate_base": base}), note=pytest.fail) as services:
        archived = pipeline.process(made, services)
    assert archived.problem is None
    assert archived.record is not None
    return archived.record


def decided(record: RunRecord) -> Mapping[str, tuple[str, bool]]:
    assert record.gate is not None
    return {test: (row.reason, row.passes) for row in record.gate.failures for test in row.tests}


def set_status(root: Path, status: str) -> None:
    for page in (root / ".agent" / "wiki" / "bugs").glob("[!_]*.md"):
        page.write_text(page.read_text(encoding="utf-8").replace("status: open", f"status: {status}"), encoding="utf-8")


def test_a_cause_is_new_once(tmp_path: Path) -> None:
    record = run(tmp_path, 1, failure("test_a", SCOREBOARD))
    assert record.gate is not None
    assert record.gate.refused == "there is no earlier record to compare with"
    record = run(tmp_path, 2, failure("test_b", SCOREBOARD), failure("test_c", DRIVER))
    assert decided(record) == {"test_b": ("known", True), "test_c": ("new", False)}
    assert record.gate is not None
    assert not record.gate.is_open
    record = run(tmp_path, 3, failure("test_b", SCOREBOARD), failure("test_c", DRIVER), gate="unwaived")
    assert decided(record) == {"test_b": ("known", False), "test_c": ("known", False)}
    assert run(tmp_path, 4, failure("test_b", SCOREBOARD), gate="none").gate is None


@pytest.mark.parametrize(
    ("status", "expected"),
    [("confirmed", ("known", True)), ("wont_fix", ("wont_fix", True)), ("closed", ("regressed", False))],
)
def test_the_status_of_the_page_counts(tmp_path: Path, status: str, expected: tuple[str, bool]) -> None:
    run(tmp_path, 1, failure("test_a", SCOREBOARD))
    set_status(tmp_path, status)
    assert decided(run(tmp_path, 2, failure("test_a", SCOREBOARD))) == {"test_a": expected}


def test_a_cause_without_a_page_is_known(tmp_path: Path) -> None:
    run(tmp_path, 1, failure("test_a", SCOREBOARD))
    for page in (tmp_path / ".agent" / "wiki" / "bugs").glob("[!_]*.md"):
        page.unlink()
    assert decided(run(tmp_path, 2, failure("test_a", SCOREBOARD))) == {"test_a": ("known", True)}


def test_a_failure_without_a_name_passes_under_its_own_fingerprint(tmp_path: Path) -> None:
    run(tmp_path, 1, failure("test_a", SCOREBOARD))
    record = run(tmp_path, 2, failure("test_b", UNNAMED))
    assert record.occurrences[0].error_class == "unknown"
    assert decided(record) == {"test_b": ("unnamed", False)}
    assert decided(run(tmp_path, 3, failure("test_b", UNNAMED))) == {"test_b": ("known", True)}


def test_a_test_is_waived_if_all_its_failures_of_a_cause_are(tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "waivers.yaml").write_text(WAIVER, encoding="utf-8")
    both = (failure("test_a", SCOREBOARD), failure("test_a", SCOREBOARD.replace("13", "14"), phase="teardown"))
    record = run(tmp_path, 1, *both, gate="unwaived")
    assert len(record.occurrences) == 1
    assert decided(record) == {"test_a": ("new", False)}
    record = run(tmp_path, 2, both[0], failure("test_b", both[1].message), gate="unwaived")
    assert decided(record) == {"test_a": ("waived", True), "test_b": ("known", False)}


def test_a_new_failure_of_strict_logs_refuses_the_gate(tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "waivers.yaml").write_text(WAIVER, encoding="utf-8")
    for number, refused in ((1, "--dvwiki-strict-logs found a new failure"), (2, "")):
        record = run(tmp_path, number, failure("test_a", SCOREBOARD, by_strict_logs=True), gate="unwaived")
        assert record.gate is not None
        assert record.gate.refused == refused
        assert decided(record) == {"test_a": ("waived", True)}


def test_what_cannot_be_read_refuses_the_gate(tmp_path: Path) -> None:
    for number in (1, 2):
        run(tmp_path, number, failure("test_a", SCOREBOARD))
    page = next((tmp_path / ".agent" / "wiki" / "bugs").glob("[!_]*.md"))
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("status: open", "status: [open"), encoding="utf-8")
    record = run(tmp_path, 3, failure("test_a", SCOREBOARD))
    assert record.gate is not None
    assert f"bugs/{page.name} cannot be read: " in record.gate.refused
    page.write_text(text, encoding="utf-8")
    torn = tmp_path / ".agent" / "tasks" / "2026" / "11" / "nightly_1.yaml"
    torn.write_bytes(torn.read_bytes()[:-9])
    shutil.rmtree(tmp_path / ".agent" / "wiki" / ".cache")  # as in a fresh clone
    record = run(tmp_path, 4, failure("test_a", SCOREBOARD))
    assert record.gate is not None
    assert record.gate.refused.startswith("a record cannot be read: 2026/11/nightly_1.yaml")


def test_a_base_that_git_does_not_have_refuses_the_gate(tmp_path: Path) -> None:
    run(tmp_path, 1, failure("test_a", SCOREBOARD))
    record = run(tmp_path, 2, failure("test_a", SCOREBOARD), base="origin/main")
    assert record.gate is not None
    assert record.gate.refused.startswith("unknown revision 'origin/main'; fetch it first")


def test_the_session_may_refuse_the_gate(tmp_path: Path) -> None:
    run(tmp_path, 1, failure("test_a", SCOREBOARD))
    record = run(tmp_path, 2, failure("test_a", SCOREBOARD), refused="a worker crashed")
    assert record.gate is not None
    assert (record.gate.refused, record.gate.is_open) == ("a worker crashed", False)
    assert decided(record) == {"test_a": ("known", True)}


def test_the_gates_of_shards_are_joined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, 1, failure("test_a", SCOREBOARD))
    tasks = tmp_path / ".agent" / "tasks" / "2026" / "11"

    def joined(*numbers: int, more: tuple[str, ...] = ()) -> tuple[int, str]:
        paths = [str(tasks / f"nightly_{number}.yaml") for number in numbers]
        status = main(["gate", *paths, *more, "--root", str(tmp_path)])
        return status, capsys.readouterr().out.rstrip()

    run(tmp_path, 2, failure("test_a", SCOREBOARD))
    run(tmp_path, 3, failure("test_b", SCOREBOARD))
    run(tmp_path, 4, failure("test_c", DRIVER))
    run(tmp_path, 5, failure("test_a", SCOREBOARD), refused="a worker crashed")
    run(tmp_path, 6, failure("test_a", SCOREBOARD), gate="none")
    run(tmp_path, 7, failure("test_a", SCOREBOARD), gate="unwaived")
    told = "let 2 failed tests through, exit status 0 instead of 1: 2 known (test_a, test_b)"
    assert joined(2, 3, more=("--shards", "2")) == (0, f"dvwiki gate new: {told}")
    assert joined(2, 3, 4) == (1, "dvwiki gate new: stopped 1 failed test, exit status 1: 1 NEW (test_c)")
    refused = "dvwiki gate new: exit status stays 1, because "
    assert joined(2, 2, more=("--shards", "2"))[1] == (f"{refused}1 record of 2 expected: a shard may have been killed")
    assert joined(2, 3, more=("--shards", "1"))[1] == f"{refused}2 records of 1 expected: some are from other runs"
    assert joined(2, 5) == (1, f"{refused}nightly_5: a worker crashed")
    assert joined(2, 6) == (1, f"{refused}the run nightly_6 did not use --dvwiki-gate")
    assert joined(2, 7) == (1, f"{refused}the runs differ in --dvwiki-gate or --dvwiki-gate-base")
    assert main(["gate", str(tmp_path / ".agent" / "wiki"), "--root", str(tmp_path)]) == 2


def row(reason: str, *tests: str) -> Gated:
    return Gated(fingerprint="9b1f03c2a7d4", tests=tests, reason=reason, passes=reason not in {"new", "unnamed"})  # type: ignore[arg-type]


def test_the_text_names_waivers_and_tests() -> None:
    waived = (Waived(id="W-1", fingerprint="9b1f03c2a7d4", tests=("t.py::a",), reason="r"),)
    gate = Gate(
        mode="new", failures=(row("waived", "t.py::a"), row("known", "t.py::b", "t.py::c", "t.py::d", "t.py::e"))
    )
    assert gate_text("new", gate, refused="", status=1, waived=waived) == (
        "dvwiki gate new: let 5 failed tests through, exit status 0 instead of 1: 1 waived (W-1), 4 known (b, c, d, +1)"
    )
    gate = Gate(mode="new", failures=(row("known", "t.py::a"), row("unnamed", "t.py::b")))
    assert gate_text("new", gate, refused="", status=1) == (
        "dvwiki gate new: stopped 1 failed test, exit status 1: 1 unnamed and not on record (b)"
    )
