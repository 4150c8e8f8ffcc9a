"""The tables agree with the files, whatever happened to files and cache in between."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pytest_dvwiki.model import Command, FailedTest, PassedAgain, Passing, Simulator, SinceFix, Vcs
from pytest_dvwiki.records import aggregate, failing, store, subtype_history
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.codec import encode
from pytest_dvwiki.records.targets import ANY, Target
from pytest_dvwiki.runs import EVER

from ..samples import CAUSE, PRIMARY, TEST, failed, fixed, now_passing, occurrence, passing, record, suites

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return tmp_path / "tasks"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    (tmp_path / "wiki").mkdir()
    return tmp_path / "wiki" / ".cache" / "records.sqlite"


@pytest.fixture
def archive(tasks: Path, cache: Path) -> Iterator[Archive]:
    with Archive(tasks, cache) as archive:
        yield archive


def _runs(archive: Archive, fingerprint: str = CAUSE) -> int:
    found = aggregate.cause(archive, (fingerprint,))
    return found.runs if found else 0


def _reopened(archive: Archive, cache: Path | None) -> int:
    with Archive(archive.tasks, cache) as other:
        other.refresh()
        return _runs(other)


def test_no_folder_is_an_empty_archive(archive: Archive) -> None:
    archive.refresh()
    assert _runs(archive) == 0
    assert archive.newest() is None


def test_what_was_added_is_counted_once(archive: Archive, tasks: Path) -> None:
    for number in range(3):
        store.write_record(tasks, record(number, occurrence()))
        archive.refresh()
        archive.refresh()
        assert _runs(archive) == number + 1


def test_another_process_sees_the_same(archive: Archive, tasks: Path, cache: Path) -> None:
    store.write_record(tasks, record(1, occurrence()))
    archive.refresh()
    assert _reopened(archive, cache) == _reopened(archive, None) == 1


def test_of_two_runs_that_finished_in_one_second_the_one_that_started_later_is_newer(
    archive: Archive, tasks: Path
) -> None:
    end = {"finished": "2026-11-21T20:27:30Z"}
    for name, start, primary in (("weekly", "20:20:00", "the older"), ("a_quick_one", "20:27:30", "the newer")):
        started = f"2026-11-21T{start}Z"
        run = record(1, occurrence(primary=primary), task_id=f"{name}_1", started=started, **end)
        store.write_record(tasks, run)
    archive.refresh()
    found = aggregate.cause(archive, (CAUSE,))
    assert found is not None
    assert (found.newest.primary, found.task_ids) == ("the newer", ("a_quick_one_1", "weekly_1"))
    kind = subtype_history.history_of(archive, "scoreboard_fail")
    assert kind is not None
    assert kind.patterns == (("uvm.scoreboard_mismatch", 2, "a_quick_one_1"),)


def test_what_was_removed_counts_no_longer(archive: Archive, tasks: Path) -> None:
    newest = record(2, occurrence(primary="the newest"))
    store.write_record(tasks, record(1, occurrence(primary="the oldest")))
    store.write_record(tasks, newest)
    archive.refresh()
    store.record_path(tasks, newest).unlink()
    archive.refresh()
    found = aggregate.cause(archive, (CAUSE,))
    assert found is not None
    assert (found.runs, found.newest.primary) == (1, "the oldest")
    shutil.rmtree(tasks / "2026" / "11")
    archive.refresh()
    assert _runs(archive) == 0


def test_a_run_in_the_place_of_one_that_was_removed_brings_its_own_list_of_tests(archive: Archive, tasks: Path) -> None:
    for number, names in enumerate((["a"], ["b"])):
        store.write_suite(tasks, names)
        run = record(number, suites=suites(*names))
        store.write_record(tasks, run)
        archive.refresh()
        assert [archive.passes.passed_since((Target(name, "icarus"),), "") for name in ("a", "b")] == [
            names == ["a"],
            names == ["b"],
        ]
        store.record_path(tasks, run).unlink()


def test_a_month_in_one_file_changes_no_number(archive: Archive, tasks: Path) -> None:
    runs = [record(number, occurrence()) for number in range(3)]
    for run in runs:
        store.write_record(tasks, run)
    archive.refresh()
    (tasks / "2026" / "11.yaml").write_bytes(b"---\n".join(encode(run) for run in runs))
    archive.refresh()
    assert _runs(archive) == 3
    shutil.rmtree(tasks / "2026" / "11")
    archive.refresh()
    assert _runs(archive) == 3
    (tasks / "2026" / "11.yaml").write_bytes(encode(runs[0]))
    archive.refresh()
    assert _runs(archive) == 1


def test_a_broken_file_is_reported_until_it_is_mended(archive: Archive, tasks: Path) -> None:
    run = record(1, occurrence())
    path = store.record_path(tasks, run)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"<<<<<<< ours\n" + encode(run))
    archive.refresh()
    assert _runs(archive) == 0
    assert [problem.split(":", 1)[0] for problem in archive.problems()] == [f"2026/11/{path.name}"]
    path.write_bytes(encode(run))
    archive.refresh()
    assert (_runs(archive), archive.problems()) == (1, [])


def test_yaml_of_somebody_else_is_not_counted(archive: Archive, tasks: Path) -> None:
    for place in (tasks / "2026" / "11", tasks, tasks / "verdicts"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "cov_fix_001.yaml").write_text("status: [done\n" if place == tasks else "status: done\n")
    archive.refresh()
    assert (archive.newest(), archive.problems()) == (None, [])


def test_verify_finds_a_record_that_was_changed_in_place(archive: Archive, tasks: Path) -> None:
    run = record(1, occurrence())
    store.write_record(tasks, run)
    archive.refresh()
    path = store.record_path(tasks, run)
    before = path.stat()
    path.write_bytes(encode(record(1, occurrence("0" * 12))))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    archive.refresh(verify=True)
    assert (_runs(archive), _runs(archive, "0" * 12)) == (0, 1)


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_broken_cache_is_made_again(archive: Archive, tasks: Path, cache: Path, content: bytes) -> None:
    store.write_record(tasks, record(1, occurrence()))
    archive.refresh()
    archive.close()
    cache.write_bytes(content)
    assert _reopened(archive, cache) == 1
    assert _reopened(archive, cache) == 1


def test_where_a_cache_can_be_neither_written_nor_removed_memory_serves(
    archive: Archive, tasks: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a read-only volume, where a transaction begins and its first write fails."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(cache))

    archive.refresh()
    store.write_record(tasks, record(1, occurrence()))
    archive.db.execute("PRAGMA query_only = ON")
    monkeypatch.setattr("pytest_dvwiki.records.archive.discard", refuse)
    archive.refresh()
    assert _runs(archive) == 1


def test_a_cache_of_another_version_is_made_again(archive: Archive, tasks: Path, cache: Path) -> None:
    store.write_record(tasks, record(1, occurrence()))
    archive.refresh()
    archive.db.execute("PRAGMA user_version = 99")
    archive.db.execute("DELETE FROM occurrences")
    archive.close()
    assert _reopened(archive, cache) == 1


def test_where_no_cache_can_be_written_memory_serves(tasks: Path, tmp_path: Path) -> None:
    store.write_record(tasks, record(1, occurrence()))
    (tmp_path / "blocked").write_text("a file where a folder should be")
    with Archive(tasks, tmp_path / "blocked" / "records.sqlite") as archive:
        archive.refresh()
        assert _runs(archive) == 1


def test_a_warm_archive_is_not_read_again(archive: Archive, tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write_record(tasks, record(1, occurrence()))
    folder = tasks / "2026" / "11"
    old = folder.stat().st_mtime_ns - 10**10
    os.utime(folder, ns=(old, old))
    os.utime(folder.parent, ns=(old, old))
    archive.refresh()
    listed: list[Any] = []
    real = os.listdir

    def listdir(path: Path) -> list[str]:
        listed.append(path)
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    archive.refresh()
    assert folder not in listed


def test_the_numbers_of_a_cause(archive: Archive, tasks: Path) -> None:
    tests = (failed("a", "7"), failed("b", "42"), failed("b", "9"))
    for number in range(25):
        store.write_record(tasks, record(number, occurrence(tests=tests[: number % 3 + 1])))
    archive.refresh()
    found = aggregate.cause(archive, (CAUSE,))
    assert found is not None
    assert (found.runs, found.tests) == (25, 49)
    assert (found.first_seen, found.last_seen) == ("2026-11-21T00:10:00Z", "2026-11-22T00:10:00Z")
    assert len(found.task_ids) == 20
    assert found.task_ids[0] == record(24).task_id
    assert found.seeds == ("7", "9", "42")


def test_the_numbers_of_a_subtype(archive: Archive, tasks: Path) -> None:
    store.write_record(tasks, record(1, occurrence(), occurrence("b" * 12, error_class="sim_error", pattern=None)))
    store.write_record(tasks, record(2, occurrence("c" * 12, error_class="sim_error")))
    archive.refresh()
    found = subtype_history.history_of(archive, "scoreboard_fail")
    assert found is not None
    assert (found.runs, found.tests, found.causes, found.error_class) == (2, 3, 3, "sim_error")
    assert [(name, runs) for name, runs, _ in found.patterns] == [("uvm.scoreboard_mismatch", 2)]


def test_tests_that_still_fail(archive: Archive, tasks: Path) -> None:
    def still_failing(*names: str) -> dict[str, tuple[str, int]]:
        archive.refresh()
        found = failing.still_failing(archive, [now_passing(name) for name in names])
        return {each.nodeid: (each.fingerprint, each.proof) for each in found}

    store.write_record(tasks, record(1, occurrence(), occurrence("b" * 12, tests=(failed("other"),))))
    assert still_failing(TEST, "never", "other") == {TEST: (CAUSE, 0), "other": ("b" * 12, 0)}
    store.write_record(tasks, passing(2))
    assert still_failing(TEST, "other") == {"other": ("b" * 12, 0)}
    store.write_record(tasks, record(3, occurrence()))
    assert still_failing(TEST) == {TEST: (CAUSE, 0)}


def test_the_command_is_that_of_the_last_failure_on_the_simulator_of_the_pass(archive: Archive, tasks: Path) -> None:
    def failure(number: int, simulator: str, *others: str) -> None:
        command = Command(arguments=("pytest",), variables={"SIM": simulator}, test=TEST)
        tests = tuple(FailedTest(nodeid=TEST, simulator=each) for each in (simulator, *others))
        store.write_record(tasks, record(number, occurrence(tests=tests, command=command)))

    def called(simulator: str) -> str | None:
        archive.refresh()
        (found,) = failing.still_failing(archive, [Passing(nodeid=TEST, simulator=simulator)])
        return found.command.variables["SIM"] if found.command is not None else None

    failure(1, "ghdl")
    failure(2, "icarus")
    assert (called("ghdl"), called("icarus")) == ("ghdl", "icarus")
    failure(3, "icarus", "ghdl")
    assert (called("ghdl"), called("icarus")) == (None, None), "nobody knows which of the two it runs"


@pytest.mark.parametrize(("folder", "inside"), [(".", "results.xml"), ("sim", "sim"), ("sim", "sim/results.xml")])
def test_a_folder_of_several_designs_passes_when_all_of_them_were_built(
    archive: Archive, tasks: Path, folder: str, inside: str
) -> None:
    def built(number: int, design: str) -> RunRecord:
        store.write_suite(tasks, (f"{inside}::{design}",))
        (suite,) = suites(f"{inside}::{design}", simulators=["icarus"])
        return record(number, suites=(replace(suite, config=design * 8 + "0000"),))

    def still_unknown(design: str) -> bool:
        archive.refresh()
        now = Passing(nodeid=folder, simulator="icarus", config=design * 8 + "0000")
        return failing.still_failing(archive, [now])[0].one_of_several

    lacks = occurrence(
        error_class="compile_error",
        failure_subtype="missing_file",
        pattern="environment.make_no_rule",
        tests=(FailedTest(nodeid=folder),),
    )
    store.write_record(tasks, built(1, "a"))
    store.write_record(tasks, record(3, lacks))
    assert not still_unknown("a")
    store.write_record(tasks, built(2, "b"))
    assert still_unknown("a")
    assert still_unknown("b")
    store.write_record(tasks, built(4, "b"))
    assert not still_unknown("a")
    assert archive.passes.before(Target(folder, ANY)) == []
    passes = archive.passes.before(Target(folder, "icarus", "a" * 8))
    assert [each.commit for each in passes] == [f"{1:040x}"]


@pytest.mark.parametrize(
    ("modules", "counts"),
    [
        ({"bench.two"}, False),
        ({"one", "bench.two"}, True),
        ({"bench.one"}, True),
        ({"one"}, True),
        ({"helpers"}, True),
        (set(), True),
    ],
)
def test_a_pass_of_other_modules_on_the_same_design_says_nothing_about_an_import_error(
    archive: Archive, tasks: Path, modules: set[str], counts: bool
) -> None:
    config = "a" * 8 + "0000"
    lost = occurrence(
        error_class="python_error",
        failure_subtype="import_error",
        pattern="python.import",
        reads=("rtl/dut.v", "bench/one.py", "bench/helpers/__init__.py"),
        tests=(FailedTest(nodeid=".", simulator="icarus", config=config),),
    )
    store.write_record(tasks, record(1, lost))
    archive.refresh()
    now = Passing(nodeid=".", simulator="icarus", config=config, modules=frozenset(modules))
    assert len(failing.still_failing(archive, [now])) == counts


def test_a_pass_that_proves_little_leaves_something_to_prove(archive: Archive, tasks: Path) -> None:
    store.write_record(tasks, record(1, occurrence(tests=(failed(seed="7"),)), vcs=Vcs(commit="a", changes="f" * 12)))
    store.write_record(tasks, passing(2, changed="seed"))
    archive.refresh()
    (found,) = failing.still_failing(archive, [now_passing()])
    assert (found.proof, found.seed) == (1, "7")
    assert found.vcs == Vcs(commit="a", changes="f" * 12)
    assert PRIMARY in found.evidence
    store.write_record(tasks, passing(3, vcs=Vcs(commit="b", dirty=True)))
    archive.refresh()
    assert [each.proof for each in failing.still_failing(archive, [now_passing()])] == [2]
    store.write_record(tasks, passing(4))
    archive.refresh()
    assert failing.still_failing(archive, [now_passing()]) == []


def test_a_failure_that_was_fixed_is_no_start_for_the_fix_of_a_later_one(archive: Archive, tasks: Path) -> None:
    """A killed run has no commit, and the commit of the failure before it precedes another fix."""
    runs = (record(1, occurrence()), passing(2), record(3, occurrence(), vcs=Vcs()), record(4, occurrence()))
    for run, commit in zip(runs, (f"{1:040x}", None, None, f"{4:040x}"), strict=True):
        store.write_record(tasks, run)
        archive.refresh()
        states = [each.vcs.commit for each in failing.still_failing(archive, [now_passing()])]
        assert states == ([] if run is runs[1] else [commit])


def test_after_a_pass_with_another_seed_only_the_one_that_failed_is_news(archive: Archive, tasks: Path) -> None:
    other = PassedAgain(
        nodeid=TEST, simulator="icarus", fingerprint=CAUSE, seed="7", changed="commit", failed_seed="42"
    )
    store.write_record(tasks, record(1, occurrence()))
    store.write_record(tasks, passing(2, passed_again=(other,)))
    archive.refresh()
    assert failing.still_failing(archive, [now_passing(seed="8")]) == []
    assert failing.still_failing(archive, [now_passing(seed=None)]) == []
    assert [each.proof for each in failing.still_failing(archive, [now_passing()])] == [3]


def test_every_seed_that_failed_since_the_last_fix_proves_one(archive: Archive, tasks: Path) -> None:
    def asked(seed: str) -> tuple[str | None, Vcs]:
        archive.refresh()
        (found,) = failing.still_failing(archive, [now_passing(seed=seed)])
        return found.seed, found.seed_vcs

    runs = [record(number, occurrence(tests=(failed(seed=str(number)),))) for number in (1, 2)]
    for run in runs:
        store.write_record(tasks, run)
    assert [asked(seed) for seed in "12"] == [(str(number), run.vcs) for number, run in enumerate(runs, 1)]
    assert asked("3") == ("2", runs[1].vcs)
    fix = PassedAgain(nodeid=TEST, simulator="icarus", fingerprint=CAUSE, seed="1", changed="commit", failed_seed="1")
    store.write_record(tasks, passing(4, passed_again=(fix,)))
    store.write_record(tasks, record(5, occurrence(tests=(failed(seed="5"),))))
    assert [asked(seed)[0] for seed in "15"] == ["5", "5"], "what failed before the fix is another fault, maybe"


@pytest.mark.parametrize(("in_place", "text"), [(True, "the first"), (False, "the second"), (None, None)])
def test_a_failure_takes_its_fix_from_what_came_first_after_it_and_was_not_undone(
    archive: Archive, tasks: Path, in_place: bool | None, text: str | None
) -> None:
    verilator = replace(failed(), simulator="verilator")
    store.write_record(tasks, record(1, occurrence(tests=(failed(), verilator))))
    first = passing(2, fixes=(fixed(2, text="the first"),))
    since = SinceFix(fingerprint=CAUSE, since=first.task_id, in_place=in_place)
    store.write_record(tasks, first)
    store.write_record(tasks, record(3, occurrence(), since_fix=(since,)))
    store.write_record(tasks, passing(4, fixes=(fixed(4, text="the second"),)))
    archive.refresh()
    (found,) = failing.still_failing(archive, [replace(now_passing(), simulator="verilator")])
    assert (found.fixed.text if found.fixed is not None else None) == text


def test_a_pass_is_no_news_once_the_fix_is_proven(archive: Archive, tasks: Path) -> None:
    """The test passed with another seed already, and it had failed in each run."""
    for number in range(1, 21):
        store.write_record(tasks, record(number, occurrence(tests=(failed(seed=str(number)),))))
    other = PassedAgain(
        nodeid=TEST, simulator="icarus", fingerprint=CAUSE, seed="7", changed="commit", failed_seed="20"
    )
    store.write_record(tasks, passing(21, passed_again=(other,)))
    archive.refresh()
    assert failing.still_failing(archive, [now_passing(seed="20")]) == []


def test_a_query_does_not_survive_a_closed_archive(archive: Archive) -> None:
    archive.close()
    with pytest.raises(sqlite3.ProgrammingError):
        archive.newest()


def test_the_name_of_a_cause_in_a_run_is_found_without_going_through_the_run(archive: Archive) -> None:
    task_ids = []
    for number, causes in ((1, 2), (2, 400)):
        run = record(number, *(occurrence(f"{number:04x}{cause:08x}") for cause in range(causes)))
        store.write_record(archive.tasks, run)
        task_ids.append((run.task_id, f"{number:04x}{0:08x}"))
    archive.refresh()

    def steps(task_id: str, fingerprint: str) -> int:
        taken: list[None] = []
        archive.db.set_progress_handler(lambda: taken.append(None), 1)
        assert archive.called_in(task_id, fingerprint) == fingerprint
        archive.db.set_progress_handler(None, 1)
        return len(taken)

    few, many = (steps(*each) for each in task_ids)
    assert many < 2 * few


def test_a_pass_is_found_without_going_through_all_later_runs(tmp_path: Path) -> None:
    def steps(later: int) -> int:
        tasks = tmp_path / str(later)
        names = [[TEST], *([TEST, f"test_{number}"] for number in range(later))]
        store.write_record(tasks, record(1, occurrence()))
        for number, listed in enumerate(names, 2):
            store.write_suite(tasks, listed)
            store.write_record(tasks, record(2 * number, suites=suites(*listed)))
            store.write_record(tasks, passing(2 * number + 1, "0123456789ab"))
            store.write_record(tasks, record(1000 + number, occurrence("0123456789ab")))
        with Archive(tasks, None) as archive:
            archive.refresh()
            asked = (Target(TEST, "icarus"),)
            assert archive.passes.passed_since(asked, "")
            taken: list[None] = []
            archive.db.set_progress_handler(lambda: taken.append(None), 1)
            assert archive.passes.passed_since(asked, "")
            assert next(archive.passes.passing_runs(asked, "", EVER))[1] == record(4).task_id
            return len(taken)

    few, many = steps(4), steps(40)
    assert many < 2 * few


@pytest.mark.parametrize(
    ("simulators", "shown"),
    [
        (("icarus",), "icarus 11.0"),
        (("icarus", "verilator"), "icarus 11.0, verilator"),
        (("icarus", None), "icarus 11.0"),
        ((None,), ""),
        (("icarus", "ghdl"), "icarus 11.0, ghdl"),
    ],
)
def test_of_a_runs_simulators_those_of_the_failures_are_shown(
    tasks: Path, archive: Archive, simulators: tuple[str | None, ...], shown: str
) -> None:
    tests = tuple(replace(failed(f"test_{number}"), simulator=each) for number, each in enumerate(simulators))
    both = (Simulator(name="icarus", version="11.0"), Simulator(name="verilator", version=None))
    store.write_record(tasks, record(1, occurrence(tests=tests), simulators=both))
    archive.refresh()
    found = aggregate.cause(archive, (CAUSE,))
    assert found is not None
    assert [row.simulators for row in found.rows] == [shown]


def test_a_tests_name_finds_its_parametrizations_by_cocotb(tasks: Path, archive: Archive) -> None:
    names = (
        "t.py::test[8]::fills/width=8/mode=fast",
        "t.py::test[8]::fills/width=16",
        "t.py::test[8]::fills_up/width=8",
    )
    for number, name in enumerate(names):
        store.write_record(tasks, record(number, occurrence(f"{number:012x}", tests=(failed(name),))))
    archive.refresh()
    found = aggregate.causes_of_test(archive, "t.py::test::fills")
    assert [fingerprint for fingerprint, _ in found] == [f"{1:012x}", f"{0:012x}"]
