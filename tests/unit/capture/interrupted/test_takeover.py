"""A journal may name any file: only those of the killed run are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.interrupted.journal import Begin, Journal
from pytest_dvwiki.capture.interrupted.orphans import find_orphans
from pytest_dvwiki.capture.interrupted.places import JournalFolder
from pytest_dvwiki.capture.interrupted.takeover import run_of
from pytest_dvwiki.model import Failure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINES = """\
     0.00ns INFO     cocotb.regression                  running t.fill (1/2)
    10.00ns ERROR    cocotb.sb                          level is 9
"""


class Nothing:
    """Keeps no line."""

    def find(self, text: str) -> tuple[()]:
        return ()

    def is_benign(self, message: str) -> bool:
        return False

    def is_accepted(self, message: str) -> bool:
        return False


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def _told(root: Path, *, spool: tuple[str, ...] = (), opened: tuple[str, ...] = ()) -> str:
    """Return the test that the remains of a run with such files name."""
    folder = root / ".agent" / "journal" / "run_1"
    folder.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(folder)
    journal.begin(
        Begin(nodeid="t.py::t", spool=spool, folder=str(root), environment={}, program="vvp", time=1.0, opened=opened)
    )
    journal.close()
    place = JournalFolder(folder.parent, is_inside=True)
    (orphan,) = find_orphans(place, except_for="", note=pytest.fail)
    (failure,) = run_of(orphan, root=root, interest=Nothing()).failures
    return failure.nodeid


def _write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LINES)
    return path


def test_a_log_below_the_root_is_read(root: Path) -> None:
    assert _told(root, opened=(str(_write(root / "sim_build" / "sim.log")),)) == "t.py::t::fill"


def test_a_log_behind_a_link_that_stays_in_the_project_is_read(root: Path) -> None:
    _write(root / "sim_build" / "sim.log")
    (root / "latest").symlink_to("sim_build")
    assert _told(root, opened=(str(root / "latest" / "sim.log"),)) == "t.py::t::fill"


def test_what_children_printed_is_read_beside_the_journal(root: Path) -> None:
    _write(root / ".agent" / "journal" / "run_1" / "main.out")
    assert _told(root, spool=("main.out", "main.err")) == "t.py::t::fill"


def _outside(root: Path) -> Path:
    return _write(root.parent / "private.log")


def _with_dots(root: Path) -> Path:
    _outside(root)
    return root / ".." / "private.log"


def _link(root: Path) -> Path:
    (root / "sim.log").symlink_to(_outside(root))
    return root / "sim.log"


def _link_within(root: Path) -> Path:
    (root / "sim.log").symlink_to(_write(root / "other.log"))
    return root / "sim.log"


def _behind_a_link(root: Path) -> Path:
    (root / "logs").symlink_to(_outside(root).parent)
    return root / "logs" / "private.log"


def _fifo(root: Path) -> Path:
    os.mkfifo(root / "sim.log")
    return root / "sim.log"


def _device(root: Path) -> Path:
    (root / "sim.log").symlink_to("/dev/zero")
    return root / "sim.log"


def _of_another_user(root: Path) -> Path:
    path = _write(root / "sim.log")
    os.chown(path, 54321, 54321)
    return path


def _odd(root: Path) -> Path:
    return root / "a\0b"


_NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs to give files away")


@pytest.mark.parametrize(
    "make",
    [
        *(_outside, _with_dots, _link, _link_within, _behind_a_link, _fifo, _device, _odd),
        pytest.param(_of_another_user, marks=_NEEDS_ROOT),
    ],
)
def test_any_other_log_is_not_read(root: Path, make: Callable[[Path], Path]) -> None:
    assert _told(root, opened=(str(make(root)),)) == "t.py::t"


@pytest.mark.parametrize("make", [_outside, _link, _fifo])
def test_any_other_spool_is_not_read(root: Path, make: Callable[[Path], Path]) -> None:
    assert _told(root, spool=(str(make(root)), "../../../../private.log")) == "t.py::t"


def test_a_spool_that_is_a_link_is_not_read(root: Path) -> None:
    folder = root / ".agent" / "journal" / "run_1"
    folder.mkdir(parents=True)
    (folder / "main.out").symlink_to(_outside(root))
    assert _told(root, spool=("main.out",)) == "t.py::t"


def test_of_all_texts_so_many_bytes_are_read_and_of_a_long_one_the_end(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = str(_write(root / "sim.log"))
    with (root / "sim.log").open("a") as log:
        log.write("x\n" * len(LINES) + LINES.replace("t.fill", "t.drain"))
    monkeypatch.setattr("pytest_dvwiki.capture.interrupted.takeover._MOST_BYTES", len(LINES) * 2)
    assert _told(root, opened=(opened,)) == "t.py::t::drain"
    monkeypatch.setattr("pytest_dvwiki.capture.interrupted.takeover._MOST_BYTES", 0)
    (root / ".agent" / "journal" / "run_1" / "main.jsonl").unlink()
    assert _told(root, opened=(opened,)) == "t.py::t"


def test_every_failure_of_a_test_is_kept_and_its_worst_outcome_counts(root: Path) -> None:
    journal = Journal(root / "run_1")
    journal.failure(Failure(nodeid="t.py::t", message="in the call"))
    journal.failure(Failure(nodeid="t.py::t", message="in the teardown", outcome="error"))
    journal.failure(Failure(nodeid="t.py::t", message="in a subtest"))
    journal.close()
    (orphan,) = find_orphans(JournalFolder(root, is_inside=True), except_for="", note=pytest.fail)
    remains = run_of(orphan, root=root, interest=Nothing())
    assert [failure.message for failure in remains.failures] == ["in the call", "in the teardown", "in a subtest"]
    assert [(result.nodeid, result.outcome) for result in remains.results] == [("t.py::t", "error")]
