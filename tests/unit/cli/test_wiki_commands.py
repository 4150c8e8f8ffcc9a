"""`dvwiki init`, `build` and `context` on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.cli import main
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.root import find_root
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, TEST, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    project = tmp_path / "project"
    (project / "tests" / "deep").mkdir(parents=True)
    monkeypatch.chdir(project)
    return layout(project)


def test_init_makes_the_wiki_and_says_what(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    assert "made .agent/wiki/WIKI.md\n" in capsys.readouterr().out
    assert main(["init"]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_a_command_finds_the_root_from_below(
    place: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    archive(place, record(1, occurrence()))
    monkeypatch.chdir(place.root / "tests" / "deep")
    assert main(["context"]) == 0
    assert "**scoreboard_fail**" in capsys.readouterr().out


def test_a_build_names_some_files_and_a_check_all(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    archive(place, record(1, *(occurrence(f"{number:012x}") for number in range(25))))
    for page in (place.wiki / "bugs").glob("[A-Z]*.md"):
        page.write_text(page.read_text("utf-8").replace("hit_count: 1", "hit_count: 9"), "utf-8")
    assert main(["build", "--check"]) == 1
    assert capsys.readouterr().out.count("differs: bugs/") == 25
    assert main(["build"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 21
    assert told[-1] == "rebuilt: 5 more files"


def test_build_checks_and_builds(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    archive(place, record(1, occurrence()))
    assert main(["build", "--check"]) == 0
    (place.wiki / "index.md").write_text("garbage")
    assert main(["build", "--check"]) == 1
    assert "differs: index.md" in capsys.readouterr().out
    assert main(["build"]) == 0
    assert "rebuilt: index.md" in capsys.readouterr().out
    assert main(["build", "--check"]) == 0


@pytest.mark.parametrize(
    "command",
    [
        ("init",),
        ("build",),
        ("build", "--reclassify"),
        ("compact",),
        ("lint", "--fix"),
        ("merge", CAUSE, "a" * 12),
        ("fix", CAUSE, "--text", "reset"),
        ("spec", "add", "burst", "--type", "missing", "--text", "wraps"),
    ],
)
def test_a_command_waits_as_long_as_the_project_says_for_who_writes(
    place: Layout, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    archive(place, record(1, occurrence(), occurrence("a" * 12)))
    monkeypatch.setenv("DVWIKI_LOCK_TIMEOUT", "0.1")
    with locked(place.wiki):
        assert main(list(command)) == 2
    assert (
        "has held its lock for more than 0.1 s; wait for it to end, or raise `lock_timeout`" in capsys.readouterr().err
    )


def test_build_restores_deleted_pages(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    result = archive(place, record(1, occurrence()))
    for page in result.pages_created:
        (place.wiki / page).unlink()
    assert main(["build"]) == 0
    assert not (place.wiki / result.pages_created[0]).exists()
    assert main(["build", "--restore"]) == 0
    assert (place.wiki / result.pages_created[0]).exists()


def test_build_names_pages_that_it_left_alone(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    result = archive(place, record(1, occurrence()))
    page = place.wiki / result.pages_created[0]
    page.write_text(page.read_text().replace("status: open", "status: open\nstatus: open"))
    assert main(["build"]) == 1
    assert f"left alone: {result.pages_created[0]}: " in capsys.readouterr().err


def test_context_takes_words_a_test_a_category_and_a_budget(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    archive(place, record(1, occurrence()))
    assert main(["context", "scoreboard", "mismatch", "--test", TEST, "--category", "bugs", "--budget", "40"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("**RTL_20261121_")
    assert len(out) <= 161


def test_context_of_nothing_prints_nothing(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    capsys.readouterr()
    assert main(["context", "anything"]) == 0
    assert capsys.readouterr() == ("", "")


def test_context_without_a_wiki_prints_nothing_and_says_so_aside(
    place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["context", "anything"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"dvwiki context: no wiki in {place.wiki}; ")


def test_another_wiki_can_be_named(place: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert main(["init", "--root", str(other), "--wiki-dir", "docs/failures"]) == 0
    assert (other / "docs" / "failures" / "index.md").is_file()
    assert (other / "docs" / "tasks").is_dir()


@pytest.mark.parametrize("command", ["init", "build", "context"])
def test_a_root_that_is_not_there_is_a_mistake(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--root", "/no/such/folder"]) == 2
    assert capsys.readouterr().err == f"dvwiki {command}: --root /no/such/folder: no such folder; check the name\n"


def test_a_wiki_that_cannot_be_written_is_one_line(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    place.agent.write_text("a file")
    assert main(["init", "--root", str(place.root)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "move it away" in err


def test_the_root_is_the_nearest_agent_folder_else_the_git_top_else_here(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert find_root(deep) == deep
    (tmp_path / "a" / ".git").write_text("gitdir: elsewhere")
    assert find_root(deep) == tmp_path / "a"
    (tmp_path / ".agent").mkdir()
    assert find_root(deep) == tmp_path


def test_build_reclassifies(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    archive(place, record(1, occurrence(), occurrence("c" * 12, excerpt=""), fingerprint_version=0))
    assert main(["build", "--reclassify"]) == 0
    out = capsys.readouterr().out
    assert "1 cause reclassified by verdicts/" in out
    assert f"verdict kept, because the stored excerpts give no clear new verdict: 1 cause ({'c' * 12})" in out
    assert "rebuilt: bugs/" in out
    written = sorted((place.tasks / "verdicts").iterdir())
    assert f"1 cause reclassified by verdicts/{written[0].name}" in (place.wiki / "log.md").read_text()
    assert main(["build", "--reclassify"]) == 0
    assert "the wiki agrees with its records" in capsys.readouterr().out
    assert sorted((place.tasks / "verdicts").iterdir()) == written


def test_a_mistake_in_the_patterns_keeps_the_archive_as_it_is(
    place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    archive(place, record(1, occurrence(), fingerprint_version=0))
    place.patterns.mkdir()
    (place.patterns / "own.yaml").write_text("- id: broken")
    assert main(["build", "--reclassify"]) == 2
    assert "own.yaml" in capsys.readouterr().err
    assert not (place.tasks / "verdicts").exists()


def test_build_reclassifies_only_where_it_writes(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--check", "--reclassify"]) == 2
    assert "give only one of them" in capsys.readouterr().err


def test_build_makes_the_search_index_anew(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    archive(place, record(1, occurrence()))
    folder = place.wiki / WikiSearchIndex.INDEX_DIR
    assert main(["build"]) == 0
    assert not folder.exists()
    assert main(["build", "--reindex"]) == 0
    assert any(folder.iterdir())
    assert main(["build", "--reindex", "--check"]) == 2
    assert "--reindex writes the search index" in capsys.readouterr().err
