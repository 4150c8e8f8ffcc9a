"""A run writes each fact to disk at once, and the next run finds the journal of a killed one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.capture.interrupted.journal import Begin, Journal, open_journal
from pytest_dvwiki.capture.interrupted.orphans import Orphan, find_orphans
from pytest_dvwiki.capture.interrupted.places import JournalFolder, places_of
from pytest_dvwiki.capture.interrupted.takeover import run_of
from pytest_dvwiki.model import Excerpt, Failure, Vcs
from pytest_dvwiki.reading import UnreadableError
from pytest_dvwiki.settings import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FAILURE = Failure(
    nodeid="tests/test_fifo.py::test_fifo::overflow",
    exception="AssertionError",
    excerpts=(Excerpt(source="log", lines=((7, "expected 1 got 2"), (9, "ünïcode"))),),
    seed="42",
)


def left_in(folder: Path) -> Iterator[Orphan]:
    """Return the remains of killed runs in a project's folder of journals."""
    return find_orphans(JournalFolder(folder, is_inside=True), except_for="", note=pytest.fail)


class Nothing:
    """Keeps no line."""

    def find(self, text: str) -> tuple[()]:
        return ()

    def is_benign(self, message: str) -> bool:
        return False

    def is_accepted(self, message: str) -> bool:
        return False


def write_and_die(place: Path, code: str) -> None:
    """Write a journal in a process that is then killed."""
    head = f"""
        import os, signal, time
        from msgspec.structs import replace
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
    """Run a process that keeps a journal open until it reads a line."""
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
    (orphan,) = left_in(tmp_path)
    assert orphan.task_id == "run_1"
    assert orphan.failures == (FAILURE,)
    assert [begin.nodeid for begin in orphan.running] == ["t::a"]
    assert abs(orphan.ended - time.time()) < 60


def test_a_failure_with_a_name_that_is_not_utf_8_is_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run_1")
    failure = replace(FAILURE, reads=("rtl/\udcff.sv",))
    journal.failure(failure)
    journal.close()
    (orphan,) = left_in(tmp_path)
    assert orphan.failures == (failure,)


def test_an_item_that_ended_is_not_running(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.begin(begin); journal.end('t::a')")
    (orphan,) = left_in(tmp_path)
    assert not orphan.running


def test_a_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    write_and_die(tmp_path, 'journal.failure(failure); os.write(journal._file, b\'{"event":"fail\')')
    (orphan,) = left_in(tmp_path)
    assert orphan.failures == (FAILURE,)


def test_what_one_run_takes_over_no_other_one_does(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.failure(failure)")
    other = (
        "import sys; from pathlib import Path; from pytest_dvwiki.capture.interrupted.orphans import find_orphans; "
        "from pytest_dvwiki.capture.interrupted.places import JournalFolder; "
        "print(len(list(find_orphans(JournalFolder(Path(sys.argv[1]), is_inside=True), except_for='', note=print))))"
    )
    command = [sys.executable, "-c", other, str(tmp_path)]
    for _ in left_in(tmp_path):
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1\n"


def test_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    child = writing(tmp_path, "main")
    assert not list(left_in(tmp_path))
    child.communicate("\n")
    assert [orphan.task_id for orphan in left_in(tmp_path)] == ["run_1"]


def test_a_run_lives_while_one_of_its_workers_does(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.failure(failure)")
    child = writing(tmp_path, "gw0")
    assert not list(left_in(tmp_path))
    child.communicate("\n")


def test_another_machines_fresh_journal_is_left_alone_for_an_hour(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.failure(failure)")
    path = tmp_path / "run_1" / "main.jsonl"
    path.write_text(path.read_text().replace('"host":"', '"host":"elsewhere-'))
    assert not list(left_in(tmp_path))
    hours_ago = time.time() - 7200
    os.utime(path, (hours_ago, hours_ago))
    assert len(list(left_in(tmp_path))) == 1


def test_the_next_best_place_is_taken_where_the_first_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    journal = open_journal([JournalFolder(blocked), JournalFolder(tmp_path / "second")], "run_1")
    assert journal.folder == tmp_path / "second" / "run_1"
    journal.remove()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    temporary = places_of(Layout(root=tmp_path, wiki=tmp_path / ".agent" / "wiki"), None)[-1]
    journal = open_journal([JournalFolder(blocked), temporary], "run_1")
    assert journal.folder == temporary.folder / "run_1"
    assert temporary.folder.parent == tmp_path / "tmp"
    journal.close()


def test_nothing_is_left_of_a_run_that_was_archived(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run_1")
    journal.failure(FAILURE)
    journal.remove()
    assert not (tmp_path / "run_1").exists()


def test_a_folder_that_is_no_journal_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").touch()
    assert not list(left_in(tmp_path))
    assert not list(left_in(tmp_path / "absent"))


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"event":"start","time":1e999}',
        '{"event":"start","time":' + "9" * 400 + "}",
        '{"event":"end","nodeid":[]}',
        '{"event":"test_end","nodeid":{}}',
        '{"event":"failure","failure":{"nodeid":"t","duration_s":NaN}}',
        '{"event":"failure","failure":{"nodeid":"' + "t" * (4 << 20) + '"}}',
    ],
    ids=range(7),
)
def test_a_line_that_is_no_event_loses_itself_alone(tmp_path: Path, line: str) -> None:
    journal = Journal(tmp_path / "run_1")
    with (journal.folder / "main.jsonl").open("a") as lines:
        lines.write(f"{line}\n")
    journal.failure(FAILURE)
    journal.close()
    (orphan,) = left_in(tmp_path)
    assert orphan.failures == (FAILURE,)
    assert 0 <= orphan.started <= orphan.ended <= time.time()


@pytest.mark.parametrize("commit", ["a" * 40, "@1234567", "--output=x", "", None])
def test_the_commit_is_read_if_git_may_be_asked_about_it(tmp_path: Path, commit: str | None) -> None:
    journal = Journal(tmp_path / "run_1")
    journal.sources(Vcs(commit=commit, branch="main\x1b[31m", dirty=True, changes="0" * 12, edited=("a.sv",)))
    journal.close()
    (orphan,) = left_in(tmp_path)
    known = Vcs(commit=commit, branch="main", dirty=True, changes="0" * 12, edited=("a.sv",))
    assert orphan.vcs == (known if commit and not commit.startswith("-") else Vcs())


def test_of_a_run_so_many_bytes_and_failures_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for process in ("gw0", "gw1", "gw2"):
        journal = Journal(tmp_path / "run_1", process)
        journal.failure(FAILURE)
        journal.failure(FAILURE)
        journal.close()
    size = (journal.folder / "gw0.jsonl").stat().st_size
    monkeypatch.setattr("pytest_dvwiki.capture.interrupted.orphans._MOST_BYTES", 2 * size)
    assert [len(orphan.failures) for orphan in left_in(tmp_path)] == [4]
    monkeypatch.setattr("pytest_dvwiki.capture.interrupted.orphans._MOST_FAILURES", 3)
    assert [len(orphan.failures) for orphan in left_in(tmp_path)] == [3]


def test_an_item_whose_end_was_not_written_is_not_running_when_the_next_one_is(tmp_path: Path) -> None:
    write_and_die(tmp_path, "journal.begin(begin); journal.begin(replace(begin, nodeid='t::b'))")
    (orphan,) = left_in(tmp_path)
    assert [begin.nodeid for begin in orphan.running] == ["t::b"]


def _fifo(path: Path) -> str:
    os.mkfifo(path)
    return "is a FIFO; replace it with a regular file"


def _link(path: Path) -> str:
    (path.parent / "other").touch()
    path.symlink_to("other")
    return "is a symlink; replace it with the file itself"


@pytest.mark.parametrize("make", [_fifo, _link])
def test_a_journal_that_is_no_file_is_told_and_the_others_are_read(tmp_path: Path, make: Callable[[Path], str]) -> None:
    write_and_die(tmp_path, "journal.failure(failure)")
    (tmp_path / "a_run").mkdir()
    told = make(tmp_path / "a_run" / "main.jsonl")
    notes: list[str] = []
    (orphan,) = find_orphans(JournalFolder(tmp_path, is_inside=True), except_for="", note=notes.append)
    assert orphan.task_id == "run_1"
    assert notes == [f"the journal of a killed run was left alone: {tmp_path}/a_run/main.jsonl: {told}"]


def test_a_place_outside_of_the_project_is_made_private_and_read_only_while_it_is(tmp_path: Path) -> None:
    place = JournalFolder(tmp_path / "place")
    open_journal([place], "run_1").close()
    assert place.folder.stat().st_mode & 0o777 == 0o700
    assert [folder.name for folder in place.runs()] == ["run_1"]
    place.folder.chmod(0o770)
    with pytest.raises(UnreadableError, match="is open to other users, so no journal in it is read or written"):
        place.runs()
    with pytest.raises(OSError, match="make one of them writable"):
        open_journal([place], "run_2")
    place.folder.chmod(0o700)
    place.folder.rename(tmp_path / "moved")
    place.folder.symlink_to("moved")
    with pytest.raises(UnreadableError, match="is a link, so no journal in it is read or written"):
        place.runs()
    assert not (tmp_path / "moved" / "run_2").exists()


def test_projects_that_share_a_wiki_or_a_temporary_folder_have_journals_of_their_own(tmp_path: Path) -> None:
    layouts = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        layouts.append(Layout(root=tmp_path / name, wiki=tmp_path / "team" / "wiki"))
    places = [place for layout in layouts for place in places_of(layout, tmp_path / "cache")]
    assert len({place.folder for place in places}) == 6
    assert not any(place.is_inside for place in places)
    inside = places_of(Layout(root=tmp_path, wiki=tmp_path / ".agent" / "wiki"), None)[0]
    assert inside == JournalFolder(tmp_path / ".agent" / "journal", is_inside=True)


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
    (orphan,) = left_in(tmp_path)
    assert orphan.running == (begin,)


def test_a_test_that_was_killed_has_simulator_and_configuration(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run_1")
    log = journal.folder / "main.out"
    log.write_text("     0.00ns INFO     cocotb.regression                  running t.slow (1/2)\n")
    journal.begin(
        Begin(
            nodeid="test_t.py::test_t",
            spool=(log.name,),
            folder=str(tmp_path),
            environment={},
            program="dut",
            time=0.0,
            simulator="verilator",
            config="40112aee0000",
        )
    )
    journal.close()
    (orphan,) = left_in(tmp_path)
    remains = run_of(orphan, root=tmp_path, interest=Nothing())
    (failure,), (result,) = remains.failures, remains.results
    assert failure.nodeid == "test_t.py::test_t::slow"
    assert (failure.simulator, failure.config) == ("verilator", "40112aee0000")
    assert (result.simulator, result.config) == ("verilator", "40112aee0000")
