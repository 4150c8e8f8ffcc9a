"""What a run knows is on disk the moment it is known, and the next run finds what a killed one left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.interrupted.journal import Begin, Journal, open_journal, temporary_place
from pytest_dvwiki.capture.interrupted.orphans import find_orphans
from pytest_dvwiki.capture.interrupted.takeover import remains_of
from pytest_dvwiki.model import Excerpt, Failure

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FAILURE = Failure(
    nodeid="tests/test_fifo.py::test_fifo::overflow",
    exception="AssertionError",
    excerpts=(Excerpt(source="log", lines=((7, "expected 1 got 2"), (9, "ünïcode"))),),
    seed="42",
)


class Nothing:
    """No line is worth keeping."""

    def find(self, text: str) -> tuple[()]:
        return ()

    def is_benign(self, message: str) -> bool:
        return False

    def is_accepted(self, message: str) -> bool:
        return False


def write_and_die(place: Path, code: str) -> None:
    """Writes a journal in a process that is killed."""
    head = f"""
        import os, signal, time
        from pathlib import Path
        from pytest_dvwiki.capture.interrupted.journal import Begin, Journal
        from pytest_dvwiki.model import Excerpt, Failure
        journal = Journal(Path({str(place)!r}) / "run_1")
        begin = Begin(nodeid="t::a", spool=("s.out",), folder="/x", environment={{}}, program="vvp", time=time.time())
        failure = {FAILURE!r}
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(head) + code + "\nos.kill(os.getpid(), signal.SIGKILL)"], check=False
    )
    assert done.returncode == -signal.SIGKILL


def writing(place: Path, process: str) -> subprocess.Popen[str]:
    """A process that holds a journal open until it reads a line."""
    code = f"""
        from pathlib import Path
        from pytest_dvwiki.capture.interrupted.journal import Journal
        journal = Journal(Path({str(place)!r}) / "run_1", {process!r})
        print("ready", flush=True)
        input()
        """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def test_a_killed_run_leaves_its_failures_and_what_was_running(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.failure(failure); journal.begin(begin)")
    (orphan,) = find_orphans(tmp_path, except_for="run_2")
    assert orphan.task_id == "run_1"
    assert orphan.failures == (FAILURE,)
    assert [begin.nodeid for begin in orphan.running] == ["t::a"]
    assert abs(orphan.ended - time.time()) < 60


def test_an_item_that_ended_is_not_running(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.begin(begin); journal.end('t::a')")
    (orphan,) = find_orphans(tmp_path, except_for="")
    assert not orphan.running


def test_a_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    write_and_die(tmp_path, 'journal.failure(failure); os.write(journal._file, b\'{"event":"fail\')')
    (orphan,) = find_orphans(tmp_path, except_for="")
    assert orphan.failures == (FAILURE,)


def test_what_one_run_takes_over_no_other_one_does(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.failure(failure)")
    other = (
        "import sys; from pathlib import Path; from pytest_dvwiki.capture.interrupted.orphans import find_orphans; "
        "print(len(list(find_orphans(Path(sys.argv[1]), except_for=''))))"
    )
    command = [sys.executable, "-c", other, str(tmp_path)]
    for _ in find_orphans(tmp_path, except_for=""):
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1\n"


def test_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    child = writing(tmp_path, "main")
    assert not list(find_orphans(tmp_path, except_for=""))
    child.communicate("\n")
    assert [orphan.task_id for orphan in find_orphans(tmp_path, except_for="")] == ["run_1"]


def test_a_run_lives_while_one_of_its_workers_does(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.failure(failure)")
    child = writing(tmp_path, "gw0")
    assert not list(find_orphans(tmp_path, except_for=""))
    child.communicate("\n")


def test_another_machines_fresh_journal_is_left_alone_for_an_hour(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.failure(failure)")
    path = tmp_path / "run_1" / "main.jsonl"
    path.write_text(path.read_text().replace('"host":"', '"host":"elsewhere-'))
    assert not list(find_orphans(tmp_path, except_for=""))
    hours_ago = time.time() - 7200
    os.utime(path, (hours_ago, hours_ago))
    assert len(list(find_orphans(tmp_path, except_for=""))) == 1


def test_the_next_best_place_is_taken_where_the_first_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    journal = open_journal([blocked, tmp_path / "second"], "run_1")
    assert journal.folder == tmp_path / "second" / "run_1"
    journal.remove()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    journal = open_journal([blocked, temporary_place()], "run_1")
    assert journal.folder == temporary_place() / "run_1"
    journal.close()


def test_nothing_is_left_of_a_run_that_was_archived(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run_1")
    journal.failure(FAILURE)
    journal.remove()
    assert not (tmp_path / "run_1").exists()


def test_a_folder_that_is_no_journal_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").touch()
    assert not list(find_orphans(tmp_path, except_for=""))
    assert not list(find_orphans(tmp_path / "absent", except_for=""))


def test_begin_keeps_every_field(tmp_path: Path) -> None:
    begin = Begin(
        nodeid="t",
        spool=("a", "b"),
        folder="/f",
        environment={"A": "1"},
        program="vvp",
        time=1.5,
        opened=("x",),
        simulator="icarus",
        config="40112aee0000",
    )
    journal = Journal(tmp_path / "run_1")
    journal.begin(begin)
    journal.close()
    (orphan,) = find_orphans(tmp_path, except_for="")
    assert orphan.running == (begin,)


def test_a_test_that_was_killed_has_simulator_and_configuration(tmp_path: Path) -> None:
    log = tmp_path / "run.out"
    log.write_text("     0.00ns INFO     cocotb.regression                  running t.slow (1/2)\n")
    journal = Journal(tmp_path / "run_1")
    journal.begin(
        Begin(
            nodeid="test_t.py::test_t",
            spool=(str(log),),
            folder=str(tmp_path),
            environment={},
            program="dut",
            time=0.0,
            simulator="verilator",
            config="40112aee0000",
        )
    )
    journal.close()
    (orphan,) = find_orphans(tmp_path, except_for="")
    remains = remains_of(orphan, root=tmp_path, interest=Nothing())
    (failure,), (result,) = remains.failures, remains.results
    assert failure.nodeid == "test_t.py::test_t::slow"
    assert (failure.simulator, failure.config) == ("verilator", "40112aee0000")
    assert (result.simulator, result.config) == ("verilator", "40112aee0000")
