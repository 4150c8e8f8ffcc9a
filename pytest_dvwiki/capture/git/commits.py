"""Commit single files without touching the user's other work in the repository.

Staged content stays staged, and all other files stay as they are. The commit is made with plumbing commands, so hooks
do not run and nothing is signed. Either both the branch and the user's index are updated, or neither.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEAD = "HEAD"
"""Name for the checked-out branch."""
_TIMEOUT_S = 60.0
_LOCK_S = 5.0
"""Seconds to wait for another git command that holds the lock on the index."""
_POLL_S = 0.05
_CONFIG = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.quotePath=false", "gc.auto=0")
_IN_PROGRESS = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "sequencer": "a cherry-pick or revert",
    "BISECT_LOG": "a bisect",
}
_NAMELESS = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "pytest-dvwiki"), ("EMAIL", "pytest-dvwiki@localhost"))
}
"""The author of commits if no name is configured in git, as on a fresh CI machine."""


class RefusedError(Exception):
    """Nothing was committed; the message gives the reason."""


class MovedError(RefusedError):
    """Another process changed the branch or the index in the meantime; a retry may succeed."""


class Changed(Struct, frozen=True):
    """A file that differs from its version on the branch, or is not on the branch."""

    path: str
    """Path of the file, relative to the top of the repository."""
    staged: bytes | None = None
    """Content that the user has staged; empty if the removal is staged, None if nothing is staged."""


class Branch:
    """A branch to commit to, used as a context manager.

    This class is long because one commit needs the state of the repository, an index of its own and the user's index
    together.

    Args:
        folder: A folder in the work tree.
        name: Name of the branch, or `HEAD` for the checked-out branch. A new branch starts at the remote branch of the
            same name if there is exactly one, otherwise at HEAD.
        forward: Whether to fast-forward the branch to HEAD first, if that is possible.

    Raises:
        RefusedError: There is no repository, or its state does not allow a commit.
    """

    def __init__(self, folder: Path, name: str = HEAD, *, forward: bool = False) -> None:
        self._folder = folder
        self.top = Path(os.fsdecode(self._git("rev-parse", "--show-toplevel").rstrip(b"\n")))
        self._git_folder = Path(os.fsdecode(self._git("rev-parse", "--absolute-git-dir").rstrip(b"\n")))
        self._folder = self.top
        checked_out = self._answer("symbolic-ref", "--quiet", HEAD)
        wanted = name if name.startswith("refs/heads/") else f"refs/heads/{name}"
        self.is_checked_out = name == HEAD or wanted == checked_out
        """Whether this branch is checked out in the work tree; if so, a commit also updates the user's index."""
        self._ref = HEAD if self.is_checked_out else wanted
        self.name = (checked_out or "a detached HEAD" if self.is_checked_out else wanted).removeprefix("refs/heads/")
        self._check_state()
        self._tip = self._answer("rev-parse", "--verify", "--quiet", f"{self._ref}^{{commit}}")
        self._base = self._tip or (None if self.is_checked_out else self._beginning())
        if forward and self._base and self._answer("merge-base", "--is-ancestor", self._base, HEAD) is not None:
            self._base = self._answer("rev-parse", HEAD)
        self._room = tempfile.TemporaryDirectory(prefix="dvwiki-")
        self._index = Path(self._room.name) / "index"

    def __enter__(self) -> Self:
        if known := self._user_index_bytes():  # this index caches file times, so git need not read the files
            self._index.write_bytes(known)
        self._git("read-tree", *(("--reset", self._base) if self._base else ("--empty",)), index=self._index)
        return self

    def __exit__(self, *_: object) -> None:
        self._room.cleanup()

    def changed(self, place: Path) -> list[Changed]:
        """Return the files at or below a path that differ from the branch, without ignored and deleted files."""
        inside = place.relative_to(self.top).as_posix()
        names = self._git(
            "ls-files", "-z", "--modified", "--others", "--exclude-standard", "--", inside, index=self._index
        )
        staged: set[bytes] = set()
        if self.is_checked_out:
            base = self._base or self._git("hash-object", "-t", "tree", os.devnull).decode().strip()
            staged = set(self._git("diff-index", "--cached", "--name-only", "-z", base, "--", inside).split(b"\0"))
        return [
            Changed(path, self._blob(f":{path}") or b"" if name in staged else None)
            for name in dict.fromkeys(names.split(b"\0"))
            if name and os.path.isfile(self.top / (path := os.fsdecode(name)))  # noqa: PTH113
        ]

    def missing(self, folder: Path) -> list[str]:
        """Return the files below a folder that are on the branch but not in the work tree, relative to the top."""
        inside = folder.relative_to(self.top).as_posix()
        found = self._git("ls-files", "-z", "--deleted", "--", inside, index=self._index).split(b"\0")
        return [os.fsdecode(name) for name in found if name]

    def ignores(self, path: Path) -> bool:
        """Return whether git ignores a file."""
        return self._answer("check-ignore", "--quiet", str(path)) is not None

    def content(self, path: str) -> bytes | None:
        """Return the content of a file on the branch, as checked out; None if the branch lacks the file."""
        return self._blob(f"{self._base}:{path}") if self._base else None

    def _blob(self, name: str) -> bytes | None:
        return self._git("cat-file", "--filters", name) if self._answer("cat-file", "-e", name) is not None else None

    def commit(self, paths: Iterable[str], message: str, removed: Iterable[str] = ()) -> str:
        """Commit the current content of files, and return the commit's hash.

        Args:
            paths: The files, relative to the top.
            message: The commit message.
            removed: Files to remove from the branch.

        Raises:
            MovedError: The branch or the index was changed by another process in the meantime.
            RefusedError: git failed, or another git command holds the lock on the index.
        """
        names, lost = (b"".join(os.fsencode(path) + b"\0" for path in each) for each in (paths, removed))
        self._git("update-index", "--add", "-z", "--stdin", index=self._index, text=names)
        self._git("update-index", "--force-remove", "-z", "--stdin", index=self._index, text=lost)
        tree = self._git("write-tree", index=self._index).decode().strip()
        parents = ("-p", self._base) if self._base else ()
        commit = self._git("commit-tree", tree, *parents, "-F", "-", text=message.encode(), env=self._identity)
        name = commit.decode().strip()
        if not self.is_checked_out:
            with self._moving(name):
                return name
        # The user's index gets the committed files; otherwise the user's next commit would undo this one.
        theirs, mine = self._user_index_bytes(), Path(self._room.name) / "refreshed"
        if theirs is not None:
            mine.write_bytes(theirs)
        wanted = set(names.split(b"\0"))
        entries = self._git("ls-files", "-z", "--stage", index=self._index).split(b"\0")
        text = b"".join(entry + b"\0" for entry in entries if entry and entry.partition(b"\t")[2] in wanted)
        self._git("update-index", "-z", "--index-info", index=mine, text=text)
        self._git("update-index", "--force-remove", "-z", "--stdin", index=mine, text=lost)
        with contextlib.suppress(RefusedError):  # git exits with an error if any file has unstaged changes
            self._git("update-index", "-q", "--refresh", index=mine)
        with self._moving(name), self._locked_index() as lock:
            if self._user_index_bytes() != theirs:
                raise MovedError("the index was changed by another process")
            lock.write_bytes(mine.read_bytes())
            lock.replace(self._user_index)
        return name

    def _check_state(self) -> None:
        """Raise an error if the state of the repository does not allow a commit.

        Raises:
            RefusedError: An operation such as a merge is in progress, a git hook called the plugin, the checkout is
                sparse, or the branch has an invalid name or is checked out in another work tree.
        """
        if "GIT_INDEX_FILE" in os.environ:
            raise RefusedError("called by a git hook, while git itself is about to commit")
        for mark, what in _IN_PROGRESS.items():
            if (self._git_folder / mark).exists():
                raise RefusedError(f"{what} is in progress; finish it, and the next run will commit")
        if self._answer("config", "--type=bool", "core.sparseCheckout") == "true":
            raise RefusedError("the checkout is sparse; `git sparse-checkout disable` restores all files")
        if not self.is_checked_out:
            if self._answer("check-ref-format", self._ref) is None:
                raise RefusedError(f"{self.name} is not a valid name for a branch; choose another name")
            trees = self._git("worktree", "list", "--porcelain").decode("utf-8", "replace").split("\n")
            if f"branch {self._ref}" in trees:
                raise RefusedError(
                    f"{self.name} is checked out in another work tree, where files would become stale; commit there"
                )

    def _beginning(self) -> str | None:
        """Return the commit to start a new branch at; None if the repository has no commits yet."""
        name = self._ref.removeprefix("refs/heads/")
        remotes = self._git("for-each-ref", "--format=%(objectname)", f"refs/remotes/*/{name}").decode().split()
        return remotes[0] if len(remotes) == 1 else self._answer("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    @property
    def _user_index(self) -> Path:
        return self._git_folder / "index"

    def _user_index_bytes(self) -> bytes | None:
        """Return the content of the user's index; None if there is no index."""
        try:
            return self._user_index.read_bytes()
        except FileNotFoundError:
            return None

    @cached_property
    def _identity(self) -> dict[str, str]:
        known = self._answer("var", "GIT_COMMITTER_IDENT") and self._answer("var", "GIT_AUTHOR_IDENT")
        return {} if known else _NAMELESS

    @contextlib.contextmanager
    def _locked_index(self) -> Iterator[Path]:
        """Lock the user's index against other git commands, and yield the lock file.

        Raises:
            RefusedError: Another git command holds the lock.
        """
        lock = self._git_folder / "index.lock"
        deadline = time.monotonic() + _LOCK_S
        while True:
            try:
                lock.open("xb").close()
                break
            except FileExistsError:
                if time.monotonic() > deadline:
                    raise RefusedError(f"{lock} exists; if no git command is running, remove it") from None
                time.sleep(_POLL_S)
        try:
            yield lock
        finally:
            lock.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _moving(self, commit: str) -> Iterator[None]:
        """Lock the branch, and move it to a commit if the `with` block succeeds.

        Raises:
            MovedError: The branch has another commit now.
            RefusedError: git cannot move the branch.
        """
        old = self._tip or "0" * len(commit)
        with subprocess.Popen(
            self._command("update-ref", "-m", "commit: dvwiki", "--stdin"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as git:
            assert git.stdin and git.stdout and git.stderr  # noqa: S101, PT018  # they are pipes
            git.stdin.write(f"start\nupdate {self._ref} {commit} {old}\nprepare\n")
            git.stdin.flush()
            if [git.stdout.readline(), git.stdout.readline()][1] != "prepare: ok\n":
                git.stdin.close()
                raise MovedError(f"{self.name} was changed by another process: {git.stderr.read().strip()}")
            yield
            git.stdin.write("commit\n")
            git.stdin.flush()
            if git.stdout.readline() != "commit: ok\n":
                raise RefusedError(f"{self.name} cannot be moved: {git.stderr.read().strip()}")

    def _answer(self, *arguments: str) -> str | None:
        """Return the output of a git command without the trailing newline; None if the command fails."""
        try:
            return os.fsdecode(self._git(*arguments)).rstrip("\n")
        except RefusedError:
            return None

    def _command(self, *arguments: str) -> list[str]:
        settings = (word for setting in _CONFIG for word in ("-c", setting))
        return ["git", *settings, "-C", str(self._folder), *arguments]

    def _git(
        self, *arguments: str, index: Path | None = None, text: bytes = b"", env: dict[str, str] | None = None
    ) -> bytes:
        """Run a git command, and return its output.

        Raises:
            RefusedError: git is missing, takes too long, or fails.
        """
        own = {"GIT_INDEX_FILE": str(index)} if index else {}
        try:
            done = subprocess.run(
                self._command(*arguments),
                capture_output=True,
                input=text,
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **own, **(env or {})},
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise RefusedError(f"git cannot be run: {error}") from error
        if done.returncode:
            reason = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
            raise RefusedError(reason or f"git {arguments[0]} failed with {done.returncode}")
        return done.stdout
