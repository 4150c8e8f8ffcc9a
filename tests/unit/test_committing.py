"""`--dvwiki-commit` commits the right files, and changes nothing else in the repository."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.git.commits import Branch, MovedError, RefusedError
from pytest_dvwiki.pipeline.committing import Committed, commit
from pytest_dvwiki.records.store import write_record

from . import samples
from .samples import archived, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

TASK = record(1).task_id


def git(root: Path, *arguments: str, check: bool = True) -> str:
    return samples.git(root, *arguments, check=check).stdout


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """Return a repository with a committed, a staged and an edited source, and an archived run."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME", raising=False)
    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("a.sv", "b.sv", "c.sv"):
        (tmp_path / name).write_text("module m; endmodule\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "sources")
    (tmp_path / "a.sv").write_text("staged\n")
    (tmp_path / "new.sv").write_text("staged\n")
    git(tmp_path, "add", "a.sv", "new.sv")
    (tmp_path / "a.sv").write_text("staged, then edited\n")
    (tmp_path / "b.sv").write_text("edited\n")
    archived(layout(tmp_path), record(1, occurrence()))
    return layout(tmp_path)


def committed(place: Layout, branch: str = "HEAD", task: str = TASK) -> Committed:
    return commit(place, branch, task)


def state(place: Layout) -> list[str]:
    """Return what a commit must not change: staged and edited files outside of `.agent`, byte for byte."""
    others = ("--", ".", ":(exclude).agent")
    return [git(place.root, "diff", *how, "--binary", *others) for how in (("--cached",), ())]


def names(place: Layout, commit_name: str = "HEAD") -> set[str]:
    return set(git(place.root, "show", "--format=", "--name-only", commit_name).split("\n")) - {""}


def page(place: Layout) -> Path:
    (found,) = place.wiki.glob("bugs/RTL_*.md")
    return found


@pytest.mark.parametrize("detached", [False, True])
def test_what_is_staged_stays_staged_and_the_next_commit_holds_nothing_of_the_wiki(
    place: Layout, detached: bool
) -> None:
    if detached:
        git(place.root, "checkout", "-q", "--detach")
    before, edited = state(place), (place.root / "a.sv").read_text()
    done = committed(place)
    assert done.text.endswith(f" on {'a detached HEAD' if detached else 'main'} ({len(names(place))} files)")
    assert done.notes == ()
    assert state(place) == before
    assert (place.root / "a.sv").read_text() == edited
    assert names(place) > {f".agent/wiki/bugs/{page(place).name}", f".agent/tasks/2026/11/{TASK}.yaml"}
    assert all(name.startswith((".agent/wiki/", ".agent/tasks/")) for name in names(place))
    assert git(place.root, "log", "-1", "--format=%(trailers:key=Dvwiki-Task,valueonly)").strip() == TASK
    assert git(place.root, "status", "--porcelain", ".agent") == ""
    git(place.root, "commit", "-q", "-m", "the user's next commit")
    assert names(place) == {"a.sv", "new.sv"}
    assert committed(place) == Committed(), "there is nothing more to commit"


def test_another_branch_leaves_branch_head_index_and_work_tree_alone(place: Layout) -> None:
    head, index = git(place.root, "rev-parse", "HEAD"), (place.root / ".git" / "index").read_bytes()
    assert " on ci/wiki (" in committed(place, "ci/wiki").text
    assert git(place.root, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert (git(place.root, "rev-parse", "HEAD"), (place.root / ".git" / "index").read_bytes()) == (head, index)
    assert git(place.root, "rev-parse", "ci/wiki^") == head
    archived(place, record(2, occurrence()))
    committed(place, "ci/wiki", record(2).task_id)
    told = git(place.root, "show", f"ci/wiki:.agent/wiki/bugs/{page(place).name}")
    assert "hit_count: 2\n" in told
    assert committed(place, "ci/wiki") == Committed()


def test_a_branch_with_records_of_others_gets_records_alone(place: Layout) -> None:
    git(place.root, "branch", "night")
    other = layout(place.root.parent / "other")
    git(place.root, "worktree", "add", "-q", "--detach", str(other.root), "night")
    archived(other, record(5, occurrence()))
    committed(other)
    git(place.root, "update-ref", "refs/heads/night", git(other.root, "rev-parse", "HEAD").strip())
    done = committed(place, "night")
    assert names(place, "night") == {f".agent/tasks/2026/11/{TASK}.yaml"}
    assert done.notes == (
        (
            "only records were committed: night has 1 record that this work tree lacks;"
            " run `dvwiki build` on that branch to count every record"
        ),
    )


def test_what_people_wrote_is_left_to_them(place: Layout) -> None:
    (place.agent / "waivers.yaml").write_text("waivers: []\n")
    (place.wiki / "bugs" / "notes.md").write_text("# Notes of ours\n")
    committed(place)
    assert not names(place) & {".agent/waivers.yaml", ".agent/wiki/bugs/notes.md"}
    text = page(place).read_text()
    page(place).write_text(f"{text}\nOur note.\n")
    (place.wiki / "WIKI.md").write_text("Ours.\n")
    assert committed(place) == Committed(), "a person's edit alone is not a matter of the tool"
    archived(place, record(2, occurrence()))
    done = committed(place, task=record(2).task_id)
    told = f"not committed, because people also changed these files: wiki/bugs/{page(place).name}; commit them yourself"
    assert done.notes == (told,)
    assert f".agent/wiki/bugs/{page(place).name}" not in names(place)
    assert f".agent/tasks/2026/11/{record(2).task_id}.yaml" in names(place)


@pytest.mark.parametrize("by_people", [False, True])
def test_a_page_that_is_staged_is_committed_unless_people_changed_it(place: Layout, by_people: bool) -> None:
    committed(place)
    if by_people:
        page(place).write_text(f"{page(place).read_text()}\nOur note.\n")
    archived(place, record(2, occurrence()))
    git(place.root, "add", ".agent/wiki/bugs")
    staged = git(place.root, "diff", "--cached", ".agent/wiki/bugs/RTL*")
    done = committed(place)
    assert bool(done.notes) == by_people
    left = git(place.root, "diff", "--cached", ".agent/wiki/bugs/RTL*")
    assert left == (staged if by_people else "")


@pytest.mark.parametrize("what", ["merge", "cherry-pick", "revert", "rebase"])
def test_nothing_is_committed_in_the_middle_of_something(place: Layout, what: str) -> None:
    git(place.root, "reset", "-q", "--hard")
    git(place.root, "checkout", "-q", "-b", "side")
    (place.root / "c.sv").write_text("side\n")
    git(place.root, "commit", "-qam", "side")
    git(place.root, "checkout", "-q", "main")
    for text in ("main\n", "more\n"):
        (place.root / "c.sv").write_text(text)
        git(place.root, "commit", "-qam", text.strip())
    commands = {"revert": ["revert", "--no-edit", "HEAD~1"], "rebase": ["rebase", "side"]}
    git(place.root, *commands.get(what, [what, "side"]), check=False)
    head = git(place.root, "rev-parse", "HEAD")
    for branch in ("HEAD", "other"):
        with pytest.raises(RefusedError, match=f"a {what} is in progress; finish it"):
            committed(place, branch)
    assert git(place.root, "rev-parse", "HEAD") == head


def test_a_hook_of_git_commits_nothing(place: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", str(place.root / ".git" / "index"))
    with pytest.raises(RefusedError, match="called by a git hook"):
        committed(place)


def test_a_sparse_checkout_is_refused(place: Layout) -> None:
    git(place.root, "config", "core.sparseCheckout", "true")
    with pytest.raises(RefusedError, match="the checkout is sparse"):
        committed(place)


def test_a_branch_of_another_work_tree_and_a_name_that_is_none_are_refused(place: Layout) -> None:
    git(place.root, "worktree", "add", "-q", "-b", "theirs", str(place.root.parent / "there"))
    with pytest.raises(RefusedError, match="theirs is checked out in another work tree"):
        committed(place, "theirs")
    with pytest.raises(RefusedError, match=r"a\.\.b is not a valid name for a branch"):
        committed(place, "a..b")


def test_hooks_and_signing_of_the_repository_do_not_count(place: Layout) -> None:
    for hook in ("pre-commit", "commit-msg", "reference-transaction", "post-index-change"):
        path = place.root / ".git" / "hooks" / hook
        path.write_text("#!/bin/sh\nexit 1\n")
        path.chmod(0o755)
    git(place.root, "config", "commit.gpgSign", "true")
    git(place.root, "config", "user.signingKey", "nobody")
    assert committed(place).text


def test_without_a_name_of_the_user_the_tool_gives_its_own(place: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place.root))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git(place.root, "config", "user.useConfigOnly", "true")
    committed(place)
    assert git(place.root, "log", "-1", "--format=%an <%ae>").strip() == "pytest-dvwiki <pytest-dvwiki@localhost>"


def test_a_repository_without_a_commit_gets_its_first(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    archived(layout(tmp_path), record(1, occurrence()))
    assert " on main (" in committed(layout(tmp_path)).text
    assert git(tmp_path, "status", "--porcelain") == ""


def test_ignored_files_are_not_committed_and_that_is_said(place: Layout) -> None:
    (place.root / ".git" / "info" / "exclude").write_text(".agent\n")
    told = f"nothing can be committed: git ignores {place.tasks}; remove it from the ignore rules"
    assert committed(place).notes == (told,)


def test_without_a_repository_nothing_is_committed(tmp_path: Path) -> None:
    archived(layout(tmp_path), record(1, occurrence()))
    with pytest.raises(RefusedError, match="not a git repository"):
        committed(layout(tmp_path))


def test_a_branch_that_moved_meanwhile_keeps_what_it_got(place: Layout) -> None:
    write_record(place.tasks, record(2, occurrence()))
    index = place.root / ".git" / "index"
    for branch, move in (("HEAD", ("commit", "-q", "-m", "meanwhile")), ("side", ("branch", "side"))):
        with Branch(place.agent, branch) as target:
            paths = [each.path for each in target.changed(place.agent)]
            git(place.root, *move)
            before, tip = index.read_bytes(), git(place.root, "rev-parse", branch)
            with pytest.raises(MovedError):
                target.commit(paths, "late")
        assert (index.read_bytes(), git(place.root, "rev-parse", branch)) == (before, tip)
    assert not (place.root / ".git" / "index.lock").exists()


def test_an_index_that_another_git_holds_is_left_alone(place: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_dvwiki.capture.git.commits._LOCK_S", 0.1)
    lock = place.root / ".git" / "index.lock"
    lock.touch()
    head = git(place.root, "rev-parse", "HEAD")
    with pytest.raises(RefusedError, match=r"index\.lock exists; if no git command is running, remove it"):
        committed(place)
    assert git(place.root, "rev-parse", "HEAD") == head
    assert lock.exists()


def test_a_kill_between_index_and_branch_is_made_good_by_the_next_run(place: Layout) -> None:
    git(place.root, "add", ".agent")
    committed(place)
    git(place.root, "commit", "-q", "-m", "next")
    assert names(place) == {"a.sv", "new.sv"}


def test_an_odd_name_is_a_name(place: Layout) -> None:
    (place.tasks / "suites").mkdir(exist_ok=True)
    odd = place.tasks / "suites" / os.fsdecode(b'a "\n:(x) \xff.txt')
    odd.write_text("a\n")
    committed(place)
    assert git(place.root, "status", "--porcelain", ".agent") == ""
