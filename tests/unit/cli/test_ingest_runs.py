"""`dvwiki ingest` imports records and journals of other machines, each once, and each run completely or not at all."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from datetime import date
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.capture.interrupted.journal import Begin, Journal
from pytest_dvwiki.cli import main
from pytest_dvwiki.model import Failure
from pytest_dvwiki.records.codec import encode
from pytest_dvwiki.upkeep.compact import compact
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import CAUSE, archived, files, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

RUN = "regression_20261121T100000Z_0a1b2c"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    (tmp_path / "here" / ".agent").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv("CI", raising=False)
    return layout(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> Layout:
    """Return another machine's project with three runs."""
    place = layout(tmp_path / "there")
    for number in range(1, 4):
        archived(place, record(number, occurrence()), ["a", "b"])
    return place


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """Return the journal of a run that was killed on another machine, with a failure and a running test."""
    journal = Journal(tmp_path / "journals" / RUN)
    journal.failure(Failure(nodeid="tests/test_a.py::test_full", message="level is 9", exception="AssertionError"))
    (tmp_path / "secret").write_text("UVM_FATAL tb.sv(9) @ 10: reporter [KEY] secret of another user\n")
    journal.spool.with_name("main.out").write_text("UVM_FATAL sb.sv(7) @ 10: reporter [SCBD] FIFO full twice\n")
    journal.begin(
        Begin(
            nodeid="tests/test_b.py::test_long",
            spool=("/elsewhere/journal/main.out", "/elsewhere/journal/main.err"),
            folder="/elsewhere",
            environment={},
            program="vvp",
            time=1.0,
            opened=(str(tmp_path / "secret"),),
        )
    )
    journal.close()
    return journal.folder


def hits(place: Layout) -> int:
    (page,) = place.wiki.glob("bugs/RTL_*.md")
    return int(pages.read(page.read_bytes()).metadata["hit_count"])


def test_another_machine_s_records_are_archived_as_they_are(
    here: Layout, there: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    archive(here, record(9, occurrence()))
    assert main(["ingest", str(there.tasks)]) == 0
    assert "3 records: 3 archived" in capsys.readouterr().out
    assert hits(here) == 4
    mine = files(here.tasks)
    assert {name: mine[name] for name in files(there.tasks)} == files(there.tasks)
    assert build(here, check=True).changed == []


def test_a_second_time_changes_nothing(here: Layout, there: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    main(["ingest", str(there.tasks)])
    before = files(here.agent)
    capsys.readouterr()
    assert main(["ingest", str(there.tasks)]) == 0
    assert "3 records: 3 archived before" in capsys.readouterr().out
    assert files(here.agent) == before


def test_a_month_s_file_and_a_whole_folder_in_an_archive_are_taken(
    here: Layout, there: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    compact(there, today=date(2027, 6, 1))
    with tarfile.open("there.tar.gz", "w:gz") as tar:
        tar.add(there.tasks, "tasks")
    assert main(["ingest", "there.tar.gz"]) == 0
    assert "3 records: 3 archived" in capsys.readouterr().out
    assert hits(here) == 3


def test_a_record_that_cannot_be_read_or_has_another_content_is_named_and_the_others_go_on(
    here: Layout, there: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    archive(here, replace(record(1, occurrence()), duration_s=1.0))
    (there.tasks / "2026/11" / f"{record(2).task_id}.yaml").write_bytes(encode(record(2))[:300] + b"\nfinished: [")
    assert main(["ingest", str(there.tasks)]) == 1
    said = capsys.readouterr()
    assert f"a different record with the id {record(1).task_id} exists; records are never changed" in said.err
    assert "regression_20261121T020000Z_000002.yaml" in said.err
    assert "3 records: 1 archived, 2 not archived" in said.out
    assert hits(here) == 2


def test_a_record_cannot_name_a_place_outside_the_wiki(
    here: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = replace(record(1, occurrence()), task_id="../../evil")
    (tmp_path / "evil.yaml").write_bytes(encode(evil) + b"---\n" + encode(replace(record(2), finished="../../x")))
    (tmp_path / "11.yaml").write_bytes((tmp_path / "evil.yaml").read_bytes())
    assert main(["ingest", str(tmp_path / "11.yaml"), str(tmp_path / "evil.yaml")]) == 1
    assert "is not a task id" in capsys.readouterr().err
    assert list(tmp_path.rglob("*evil*")) == [tmp_path / "evil.yaml"]
    assert not list(here.tasks.glob("2*"))


def test_the_journal_of_a_killed_run_becomes_its_record(
    here: Layout, killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = here.root / "from-ci" / RUN
    shutil.copytree(killed, moved)
    assert main(["ingest", str(moved)]) == 0
    (path,) = here.tasks.glob(f"2*/*/{RUN}.yaml")
    text = path.read_text()
    assert "test_full" in text
    assert "FIFO full twice" in text
    assert "secret" not in text
    before = files(here.agent)
    capsys.readouterr()
    assert main(["ingest", str(moved)]) == 0
    assert f"already archived as {RUN}; nothing changed" in capsys.readouterr().out
    assert files(here.agent) == before


def test_a_journal_in_an_archive_brings_what_its_run_printed(here: Layout, killed: Path) -> None:
    with tarfile.open("journal.tar", "w") as tar:
        tar.add(killed, f"journal/{RUN}")
    assert main(["ingest", "journal.tar"]) == 0
    (path,) = here.tasks.glob(f"2*/*/{RUN}.yaml")
    assert "FIFO full twice" in path.read_text()


def test_a_run_that_goes_on_is_left_alone(here: Layout, killed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = "import sys; from pathlib import Path; from pytest_dvwiki.capture.interrupted.journal import Journal\n"
    code += "journal = Journal(Path(sys.argv[1])); print('open', flush=True); sys.stdin.readline()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(killed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "open\n"
    assert main(["ingest", str(killed)]) == 1
    assert "its run is still in progress" in capsys.readouterr().err
    assert not list(here.tasks.glob("2*"))
    child.communicate("\n")


def test_records_journals_and_results_of_one_folder_are_runs_of_their_own(
    here: Layout, there: Layout, killed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(there.tasks, tmp_path / "all" / "tasks")
    shutil.copytree(killed, tmp_path / "all" / "journal" / RUN)
    (tmp_path / "all" / "junit.xml").write_text(
        '<testsuites><testsuite name="lint" timestamp="2026-10-01T10:00:00"><testcase classname="lint" name="a"/>'
        "</testsuite></testsuites>"
    )
    assert main(["ingest", str(tmp_path / "all")]) == 0
    assert "5 runs: 5 archived" in capsys.readouterr().out
    assert len(list(here.tasks.glob("2*/*/*.yaml"))) == 5
    assert CAUSE in "".join(path.read_text() for path in here.wiki.glob("bugs/*.md"))
