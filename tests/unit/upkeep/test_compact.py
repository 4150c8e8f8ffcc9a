from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.cli import main
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.upkeep.compact import compact
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import git, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

LATER = date(2027, 6, 1)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with three runs of one month."""
    (tmp_path / ".agent").mkdir()
    for number in range(3):
        archive(layout(tmp_path), record(number, occurrence()))
    return tmp_path


def singles(project: Path) -> list[Path]:
    return sorted((project / ".agent" / "tasks").glob("2026/11/*.yaml"))


def month(project: Path) -> Path:
    return project / ".agent" / "tasks" / "2026" / "11.yaml"


def test_a_month_becomes_one_file_with_every_byte_of_its_records(project: Path) -> None:
    texts = [path.read_bytes() for path in singles(project)]
    assert compact(layout(project), today=LATER).months == {"2026/11": 3}
    assert month(project).read_bytes() == b"---\n".join([b"records: 3\n", *texts])
    assert not month(project).with_suffix("").exists()


def test_no_number_changes_and_lint_finds_nothing(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "before")
    compact(layout(project), today=LATER)
    git(project, "add", ".")
    git(project, "commit", "-qm", "after")
    assert build(layout(project), check=True).changed == []
    assert lint(layout(project), "full") == []


def test_a_second_time_changes_nothing_and_later_records_join(project: Path) -> None:
    compact(layout(project), today=LATER)
    before = month(project).read_bytes()
    assert compact(layout(project), today=LATER).months == {}
    assert month(project).read_bytes() == before
    archive(layout(project), record(7, occurrence()))
    assert compact(layout(project), today=LATER).months == {"2026/11": 1}
    with Archive(layout(project).tasks, None) as records:
        records.refresh()
        assert all(records.record(record(number).task_id) for number in (0, 1, 2, 7))


def test_a_month_that_is_not_old_enough_stays(project: Path) -> None:
    assert compact(layout(project), today=date(2027, 2, 28)).months == {}
    assert compact(layout(project), today=date(2027, 3, 1)).months == {"2026/11": 3}


def test_what_is_no_record_stays_where_it_is(project: Path) -> None:
    folder = month(project).with_suffix("")
    (folder / "notes.yaml").write_text("who: me\n", "utf-8")
    (folder / "torn.yaml").write_text("schema: 1\ntask_id: [", "utf-8")
    done = compact(layout(project), today=LATER)
    assert done.months == {"2026/11": 3}
    assert sorted(path.name for path in folder.iterdir()) == ["notes.yaml", "torn.yaml"]
    assert len(done.left) == 2


def test_a_month_s_file_that_holds_something_else_is_left_alone(project: Path) -> None:
    month(project).write_text("who: me\n", "utf-8")
    done = compact(layout(project), today=LATER)
    assert done.left == ["2026/11.yaml: it contains something that is not a record; move that out of the file"]
    assert len(singles(project)) == 3


def test_who_was_killed_in_between_leaves_nothing_that_counts_twice(project: Path) -> None:
    kept = {path: path.read_bytes() for path in singles(project)}
    compact(layout(project), today=LATER)
    for path, data in kept.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    assert build(layout(project), check=True).changed == []
    assert compact(layout(project), today=LATER).months == {"2026/11": 3}


def test_the_command_says_what_it_did(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compact", "--root", str(project), "--older-than", "36500"]) == 0
    assert capsys.readouterr().out == (
        "nothing to roll up: no separate records from months that ended more than 36500 days ago\n"
    )
    assert main(["compact", "--root", str(project), "--older-than", "-1"]) == 2
    assert "cannot be negative" in capsys.readouterr().err
