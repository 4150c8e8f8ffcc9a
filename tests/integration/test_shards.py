"""Each shard of a regression writes its own record, and one job merges each record once."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
import yaml

from .conftest import git

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Project

WAIVERS = """\
waivers:
  - {id: W-1, match: {test: "*::test_c"}, reason: waits, owner: us}
  - {id: W-2, match: {message: "*never*"}, reason: waits, owner: us}
"""


@pytest.fixture
def sharded(project: Project) -> Project:
    project.pytester.makepyfile(
        test_shards="""
        def check(): raise ValueError("wrong word")
        def test_a(): check()
        def test_b(): check()
        def test_c(): raise KeyError("config")
        """
    )
    (project.path / ".agent").mkdir()
    (project.path / ".agent" / "waivers.yaml").write_text(WAIVERS, encoding="utf-8")
    return project


def agent_files(project: Project) -> set[str]:
    folder = project.path / ".agent"
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != ".cache"
    }


def shard(project: Project, name: str, artifacts: Path) -> str:
    """Run one shard, and move its records away, like an upload of artifacts."""
    done = project.run("--dvwiki-archive=record", "--dvwiki-task=nightly", f"test_shards.py::{name}", in_process=True)
    shutil.copytree(project.path / ".agent" / "tasks", artifacts / name)
    shutil.rmtree(project.path / ".agent" / "tasks")
    return done.stdout.str()


def test_records_of_shards_are_merged_each_once(sharded: Project) -> None:
    artifacts = sharded.path / "artifacts"
    texts = [shard(sharded, name, artifacts) for name in ("test_a", "test_b", "test_c")]
    assert all("(record only, " in text for text in texts)
    assert "matched no failure" not in "".join(texts), "one shard does not know what the others see"
    assert agent_files(sharded) == {"waivers.yaml", "wiki/.gitignore", "journal/.gitignore"}
    for ends in ("3 archived", "3 archived before"):
        merged = sharded.pytester.run("dvwiki", "ingest", "artifacts")
        assert merged.ret == 0
        merged.stdout.fnmatch_lines(
            [f"3 runs: {ends}; 2 causes", "dvwiki: [[]WAIVER] W-2: matched no failure of 3 runs"]
        )
        (page,) = sharded.pages()
        text = (sharded.wiki / "bugs" / page).read_text(encoding="utf-8")
        assert "hit_count: 2\n" in text
        assert len(sharded.records()) == 3
    assert sharded.pytester.run("dvwiki", "build", "--check").ret == 0


def test_the_summary_of_merged_records_says_what_is_new(sharded: Project) -> None:
    artifacts = sharded.path / "artifacts"
    shard(sharded, "test_a", artifacts)
    sharded.pytester.run("dvwiki", "ingest", "artifacts/test_a")
    sharded.pytester.makepyfile(
        test_shards="""
        def check(): raise ValueError("wrong word")
        def test_b(): check()
        def test_d(): raise RuntimeError("*no* `answer`")
        """
    )
    for name in ("test_b", "test_d"):
        sharded.run("--dvwiki-archive=record", f"test_shards.py::{name}", in_process=True)
        (sharded.path / ".agent" / "tasks").rename(sharded.path / f"from_{name}")
        shutil.copytree(artifacts / "test_a", sharded.path / ".agent" / "tasks")
    done = sharded.pytester.run("dvwiki", "ingest", "--summary", "from_test_b", "from_test_d")
    text = done.stdout.str()
    assert text.startswith("### dvwiki: 2 causes behind 3 failed tests: 1 new, 1 known\n")
    assert "**NEW** python_error / runtime_error" in text
    assert "**KNOWN** python_error / value_error" in text
    done.stderr.fnmatch_lines(["* runs: 2 archived, * archived before; 2 causes"])


def test_records_that_came_by_git_are_built_where_one_asks_for_it(sharded: Project) -> None:
    sharded.run("--dvwiki-archive=record", in_process=True)
    assert not sharded.pages()
    built = sharded.pytester.run("dvwiki", "build")
    built.stderr.fnmatch_lines(["dvwiki: [[]WAIVER] W-2: matched no failure of 1 run"])
    (page,) = sharded.pages()
    (record,) = sharded.records()
    assert f"ingest | {record['task_id']} |" in (sharded.wiki / "log.md").read_text(encoding="utf-8")
    (sharded.wiki / "bugs" / page).unlink()
    sharded.pytester.run("dvwiki", "build")
    assert not sharded.pages(), "what somebody deleted stays deleted, as after any run"


def test_a_run_of_some_tests_reports_no_unused_waiver(sharded: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    reported = []
    for words, variable in (("", ""), ("-k test_a", ""), ("test_shards.py", ""), ("-x", ""), ("", "-k test_a")):
        monkeypatch.setenv("PYTEST_ADDOPTS", variable)
        text = sharded.run(*words.split(), "--dvwiki-archive=no", in_process=True).stdout.str()
        reported.append("matched no failure" in text)
    assert reported == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("where", "written"), [("auto_ingest: false", set()), ("{archive: record, auto_ingest: true}", {"tasks"})]
)
def test_one_setting_says_what_is_written_and_its_older_name_holds(
    sharded: Project, where: str, written: set[str]
) -> None:
    text = yaml.safe_dump({"wiki": yaml.safe_load(where)}, sort_keys=False)
    (sharded.path / ".agent" / "project.yaml").write_text(text, encoding="utf-8")
    sharded.run(in_process=True)
    found = {name.split("/")[0] for name in agent_files(sharded) if name.endswith((".yaml", ".md"))}
    assert found - {"project.yaml", "waivers.yaml"} == written


def test_a_run_commits_what_it_wrote_and_ends_as_its_tests_do(sharded: Project) -> None:
    git(sharded.path, "init", "-q", "-b", "main")
    git(sharded.path, "add", "test_shards.py")
    git(sharded.path, "commit", "-q", "-m", "tests")
    done = sharded.run("--dvwiki-archive=record", "--dvwiki-commit")
    assert done.ret == 1
    done.stdout.re_match_lines([r"committed as [0-9a-f]{10} on main \(2 files\)"])
    (record,) = sharded.records()
    told = git(sharded.path, "log", "-1", "--format=%s|%(trailers:key=Dvwiki-Task,valueonly)").stdout.strip()
    assert told == f"dvwiki: {record['task_id']}|{record['task_id']}"
    (sharded.path / ".git" / "MERGE_HEAD").write_text(git(sharded.path, "rev-parse", "HEAD").stdout)
    done = sharded.run("--dvwiki-commit=night", "--dvwiki-archive=record", in_process=True)
    assert done.ret == 1
    done.stdout.fnmatch_lines(
        ["dvwiki: nothing was committed: a merge is in progress; finish it, and the next run will commit"]
    )


def test_a_path_behind_the_bare_flag_is_no_branch(sharded: Project) -> None:
    done = sharded.run("--dvwiki-commit", "test_shards.py", in_process=True)
    assert done.ret == 4
    done.stderr.fnmatch_lines(["*'test_shards.py' is a path: put paths before a --dvwiki-commit without a branch*"])
