"""`dvwiki maintain` makes one commit on a new branch, and nothing the second time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.cli import main
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.version import FINGERPRINT_VERSION
from pytest_dvwiki.wiki.writing.build import archive

from .. import samples
from ..samples import archived, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


def git(place: Layout, *arguments: str) -> str:
    return samples.git(place.root, *arguments).stdout


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """Return a repository whose wiki has a month of old records, a page with a missing citation, and outdated pages."""
    monkeypatch.chdir(tmp_path)
    place = layout(tmp_path)
    git(place, "init", "-q", "-b", "main")
    now: dict[str, Any] = {"registry": load_registry().hash, "fingerprint_version": FINGERPRINT_VERSION}
    for number in (1, 2):
        old = f"2026-01-0{number}T00:00:00Z"
        changes: dict[str, Any] = {"task_id": f"old_{number}", "started": old, "finished": old, **now}
        archived(place, record(number, occurrence("c" * 12), **changes))
    archived(place, record(1, occurrence(), **now))
    (page,) = (path for path in (place.wiki / "bugs").glob("RTL_20261121_*.md"))
    page.write_text(page.read_text("utf-8").replace("## Notes\n", "## Notes\n\nSee `rtl/gone.sv:fifo`.\n"), "utf-8")
    git(place, "add", ".agent")
    git(place, "commit", "-q", "-m", "the wiki")
    return place


def contents(place: Layout) -> dict[str, bytes]:
    kept = (path for path in place.agent.rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {path.relative_to(place.agent).as_posix(): path.read_bytes() for path in kept if ".lock" not in path.name}


def state(place: Layout) -> tuple[str, bytes]:
    return git(place, "rev-parse", "HEAD"), (place.root / ".git" / "index").read_bytes()


def test_all_is_one_commit_and_the_second_time_nothing_happens(
    place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(place)
    assert main(["maintain", "--export", "llms", "llms.txt"]) == 0
    out = capsys.readouterr().out.splitlines()
    steps = [line.partition(":")[0] for line in out[:-1]]
    assert steps == ["drift", "compact", "lint", "llms.txt"]
    assert out[0].startswith("drift: bugs/RTL_20261121_")
    assert out[1] == "compact: 2 records from 2026/01"
    assert out[-1].startswith("committed ")
    assert state(place) == before
    assert git(place, "rev-parse", "dvwiki/maintain^") == before[0]
    changed = set(git(place, "show", "--format=", "--name-status", "dvwiki/maintain").split("\n"))
    assert {
        "A\t.agent/tasks/2026/01.yaml",
        "D\t.agent/tasks/2026/01/old_1.yaml",
        "D\t.agent/tasks/2026/01/old_2.yaml",
        "A\tllms.txt",
        "M\t.agent/wiki/log.md",
    } <= changed
    after, tip = contents(place), git(place, "rev-parse", "dvwiki/maintain")
    assert main(["maintain", "--export", "llms", "llms.txt"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing to commit"
    assert (contents(place), git(place, "rev-parse", "dvwiki/maintain")) == (after, tip)


def test_what_people_edit_meanwhile_is_left_to_them_and_the_branch_follows_head(
    place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["maintain"]) == 0
    git(place, "merge", "-q", "-s", "ours", "dvwiki/maintain")  # as if it were merged
    (place.root / "a.sv").write_text("module a; endmodule\n")
    git(place, "add", "a.sv", ".agent")
    git(place, "commit", "-q", "-m", "a, and the wiki")
    (place.wiki / "specs" / "mine.md").write_text("---\ntype: spec\nfeature: x\n---\n\n# Mine\n")
    archive(place, record(3, occurrence()))
    assert main(["maintain"]) == 0
    assert "committed" in capsys.readouterr().out
    assert git(place, "rev-parse", "dvwiki/maintain^") == git(place, "rev-parse", "HEAD")
    names = git(place, "show", "--format=", "--name-only", "dvwiki/maintain").split("\n")
    assert f".agent/tasks/2026/11/{record(3).task_id}.yaml" in names
    assert not [name for name in names if "mine" in name or name == "a.sv"]


def test_a_second_process_ends_at_once(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    from filelock import FileLock  # noqa: PLC0415

    before = contents(place)
    with FileLock(place.wiki / ".lock.maintain"):
        assert main(["maintain"]) == 1
    busy = f"another dvwiki maintain is working on {place.wiki}; nothing was done, so run it again later\n"
    assert capsys.readouterr().out == busy
    assert contents(place) == before


def test_a_format_that_there_is_not_is_named_before_anything_is_changed(
    place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(place)
    assert main(["maintain", "--export", "pdf", "x"]) == 2
    assert "pdf is not an export format; choose from okf, llms, site" in capsys.readouterr().err
    assert contents(place) == before


def test_a_name_that_no_branch_can_have_is_refused_before_anything_is_changed(
    place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(place)
    assert main(["maintain", "--branch", "bad..name"]) == 2
    assert "dvwiki maintain: nothing was changed: " in capsys.readouterr().err
    assert contents(place) == before


def test_outside_of_a_repository_nothing_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / ".agent").mkdir()
    archive(layout(tmp_path), record(1, occurrence()))
    assert main(["maintain"]) == 2
    assert "dvwiki maintain: nothing was changed: " in capsys.readouterr().err
