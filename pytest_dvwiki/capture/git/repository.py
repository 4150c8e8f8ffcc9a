"""The git repository of a run: its state, and the differences between two states.

Commit messages and file names may contain secrets, so git's output is redacted before it is stored.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.capture.git import revisions
from pytest_dvwiki.capture.git.command import COMMIT, DIFF, PATCH, Git, clean_text, git
from pytest_dvwiki.capture.git.listing import (
    MOST_COMPARED,
    Lines,
    Listing,
    changed_lines,
    changes_back,
    edited_lines,
    line_hashes,
    not_in_git,
    unread_files,
    with_same_code,
    with_same_python,
)
from pytest_dvwiki.capture.git.people import People
from pytest_dvwiki.capture.git.quoted import quoted, quoted_names
from pytest_dvwiki.capture.git.revisions import Revisions, is_revision
from pytest_dvwiki.capture.git.runner_calls import calling_runners
from pytest_dvwiki.git import output
from pytest_dvwiki.model import MOST_READ, ListedCommits, Vcs
from pytest_dvwiki.model.sentences import few
from pytest_dvwiki.records.sides import HDL, NO_HDL, is_among, is_prose
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pytest_dvwiki.model import Change, Fix
    from pytest_dvwiki.settings import Layout, Settings

MOST_COMMITS = 10
MOST_FILES = 20
_MOST_EDITED = 100
"""Maximum number of files with uncommitted changes that are recorded."""
_MOST_PROSE = 100
"""Maximum number of documentation files that one git command excludes by name."""
_GENERATED = (
    "sim_build/**",
    "obj_dir/**",
    "__pycache__/**",
    "results.xml",
    "*.result.xml",
    "*.vcd",
    "*.fst",
    "*.hier",
    "*.vvp",
    "*.ghw",
)
"""Files that every run generates; they are not sources, even if somebody committed them."""
_FOLDER = re.compile(r"[\w./+-]+/$")
"""Matches the folder in front of a base name."""
_LONGEST = 300
"""Maximum length of a folder's name in evidence."""
_NO_REPORT = re.compile(
    r"^[ ]*(?:[\d.-]+[a-z]{1,4}[ ]+)?(?:UVM_)?(?:INFO|DEBUG)\b.*$"
    r"|\bwith definition [\w.$]{1,200} \(at [^()\n]{1,300}\)",
    re.MULTILINE,
)
"""Matches text that names sources without reporting a failure in them.

It is either a progress message of a testbench, or cocotb's description of a handle, which names the source that defines
the handle. An assertion about a port of the top level contains such a description.
"""
_LACKS = re.compile(
    r"(?i)no such file|no rule to make|file.* not found|not found.* file|does not exist|filenotfound"
    r"|(?:cannot|can't|could not|unable to) (?:be )?(?:open|find|found|read)"
)
"""Matches a report of a missing file."""
_MISSES = re.compile(
    r"(?i)\b(?:un(?:known|resolved|defined|declared|bound)|missing|has no|lacks?|unable to"
    r"|not (?:found|declared|defined|known|exist|have|match|compiled|bound|elaborated|visible)"
    r"|no (?:such|modules?|child|objects?|rule|declarations?|definitions?|function|method|port|member|attribute|package"
    r"|design|entity|top)|(?:can|could) ?(?:not|n.t)|(?:does|do|is|are)n.t|find|open|import|include|load|bind)"
)
"""Matches words of a message about something that the design or the testbench lacks."""
_FILE = re.compile(r"(?<![\w.-])[A-Za-z_][\w-]*\.[A-Za-z]\w{0,7}(?![\w.])")
_MOST_LACKING = 3
_SHORTEST_NAME = 4
"""Minimum length of a quoted name that is searched in the changes of commits: shorter ones occur everywhere."""
_MOST_QUOTED = 10
"""Maximum number of quoted names that are searched in the changes of commits."""
_MOST_STATES = 10
"""Maximum number of earlier states of files that a fix is compared with."""
_SHORT = 12
EDITS = "uncommitted changes"
"""Prefix of the description of uncommitted changes."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_IN_TEXT = 3


class Difference(Struct, ListedCommits, frozen=True, kw_only=True):
    """The difference between two states of a repository, without files that the plugin wrote."""

    change: Change
    log: tuple[str, ...] = ()
    """The newest commits, as in `git log --oneline`; commits that touch files in the evidence may come first."""
    log_count: int = 0
    unread_count: int = 0
    """Number of commits that change no code read by the failing simulation; they are last in `log`."""
    files: tuple[str, ...] = ()
    """Names of the files that differ, relative to the repository's top; files in the evidence come first."""
    file_count: int = 0
    all_files: tuple[str, ...] = ()
    """All files with differences that may matter, as git names them; empty if unknown.

    Files that differ only in comments, or were not read by the failing simulation, are left out unless no other files
    remain.
    """
    is_unread: bool = False
    """Whether the failing simulation is known to have read none of the files that differ."""
    note: str = ""
    """Describes what differs besides the listed commits; empty if nothing does."""

    @property
    def text(self) -> str:
        """Describe the difference in words; commits are given by their subjects."""
        subjects = [line.partition(" ")[2] for line in self.likely[:_IN_TEXT]]
        more = self.likely_count - len(subjects)
        if subjects and more:
            subjects.append(f"and {more} more commit{'s' if more > 1 else ''}")
        listed = "; ".join(subject for subject in subjects if subject)
        if self.change == "uncommitted":
            edits = _edits(self.files, self.file_count) if self.files else ""
            return "; ".join(filter(None, (edits, self.note)))
        return listed or self.note


class Repository:
    """The repository of a project.

    This class is long because revisions outside git, uncommitted changes and shallow clones each change what every
    query means.

    Args:
        layout: The project; files written by the plugin are ignored.
        revision: The revision of the sources if they are not in git.
        revision_log: Path of the file that lists the changes between revisions.
    """

    def __init__(self, layout: Layout, revision: str = "", revision_log: str = "") -> None:
        self.root = layout.root
        self._revision = revisions.revision(revision)
        self._revisions = Revisions(layout.root / revision_log if revision_log else None)
        left_out = (".agent/**", *_GENERATED)
        self._sources: tuple[str, ...] = ("--", ":(top)", *(f":(exclude,top,glob)**/{name}" for name in left_out))
        if layout.agent.name != ".agent" and layout.wiki.is_relative_to(layout.root):
            own = (layout.wiki, layout.tasks, layout.journals)
            self._sources += tuple(f":(exclude){path.relative_to(layout.root).as_posix()}" for path in own)
        self._git = Git(layout.root)
        self._kept: dict[tuple[object, ...], bool | None] = {}
        self.people = People(self._git)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the repository of a project, given the project's settings."""
        return cls(settings.layout, settings.revision, settings.revision_log)

    def state(self) -> Vcs:
        """Return the current state; empty without git, without a repository, or before the first commit."""
        if self._revision:
            return Vcs(commit=self._revision)
        commit = git(self.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if commit is None:
            return Vcs()
        changes = git(self.root, "diff", *PATCH, "HEAD", *self._sources)
        branch = git(self.root, "symbolic-ref", "--short", "--quiet", "HEAD")
        return Vcs(
            commit=commit,
            branch=redact(branch) if branch else None,
            # If git fails or times out, the tree is not known to be clean.
            dirty=changes != "",
            changes=hashlib.sha256(changes.encode()).hexdigest()[:12] if changes else None,
            edited=self._edited_files() if changes else (),
            edited_lines=edited_lines(changes) if changes else (),
        )

    def _edited_files(self) -> tuple[str, ...]:
        """Return all files with uncommitted changes; empty if git does not answer, or if there are too many."""
        names = _names(git(self.root, "diff", *DIFF, "--name-only", "-z", "HEAD", *self._sources)) or ()
        return tuple(map(clean_text, names)) if len(names) <= _MOST_EDITED else ()

    def commit(self, name: str) -> str | None:
        """Return the full hash of a commit; None if git does not know it."""
        return git(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def last_change(self, commit: str) -> str:
        """Return the last commit, up to the given one, that changed sources; the given one if git does not answer.

        Displayed ranges end at such commits, so that commits of the plugin's own pages and records do not appear.
        """
        return (self._git.ask("rev-list", "-1", commit, *self._sources) if COMMIT.fullmatch(commit) else None) or commit

    def with_source_commit(self, vcs: Vcs) -> Vcs:
        """Add to a state the last commit that changed sources, unless that is the commit of the state itself."""
        last = None if vcs.commit is None else self.last_change(vcs.commit)
        return vcs if last == vcs.commit else replace(vcs, source_commit=last)

    def difference(
        self,
        before: Vcs,
        now: Vcs,
        named: str = "",
        reads: Sequence[str] = (),
        came: tuple[str, str] | None = None,
        *,
        for_every_seed: bool = False,
    ) -> Difference:
        """Return what changed from a failing run to the current state, in which the test passed.

        Args:
            before: The repository when a test failed.
            now: The repository when the test passed: the current state.
            named: Evidence; files that it mentions come first, and commits that touch them are always included.
            reads: Files that the failing simulation read; they come first, and so do commits that touch them.
            came: Full hashes of the ends of the range that introduced the cause. Commits that change back code of this
                range come first.
            for_every_seed: Whether the failure is of a kind that occurs with every seed, such as a missing name. Then
                the file that fails is the likely place of the fault, while a mismatch may come from any file.
        """
        if before.commit is None or now.commit is None:
            which = "failed" if before.commit is None else "passes"
            note = f"a change that is not on record, because the run that {which} recorded no commit"
            return Difference(change="unrecorded", note=note)
        if is_revision(before.commit, now.commit):
            return self._between_revisions(before.commit, now.commit)
        suspects = _Suspects(named, tuple(reads), self.root, "A", came, names_place=for_every_seed)
        same_edits = before.changes == now.changes and before.dirty == now.dirty and now.dirty == bool(now.changes)
        same_edits = same_edits or self._has_unread_edits_only(before, now, reads)
        if before.commit == now.commit:
            return Difference(change="nothing") if same_edits else self._uncommitted(before, now, suspects)
        if self._git.ask("cat-file", "-e", f"{before.commit}^{{commit}}") is None:
            return self._missing_history(before, now)
        files = self._files(before.commit, now.commit)
        edited = () if same_edits else (*before.edited, *now.edited)
        same = self._with_same_code((before.commit, now.commit), files) if files and not same_edits else ()
        code = [name for name in files or () if name not in same]
        if files == () or (files and not same_edits and self._are_irrelevant(before.commit, code, edited, reads)):
            return Difference(change="nothing") if same_edits else self._uncommitted(before, now, suspects)
        between = before, now, files or (), suspects
        is_older = self._is_ancestor(now.commit, before.commit)
        return Difference(change="older") if is_older else self._commits_or_generated(*between)

    def _commits_or_generated(self, before: Vcs, now: Vcs, files: Sequence[str], suspects: _Suspects) -> Difference:
        """Return the commits between two states, unless only generated files can explain the difference."""
        found = self._commits(before, now, files, suspects)
        generated = not_in_git(self._git, suspects.reads, "--recurse-submodules") if found.is_unread else None
        if not generated:
            return found
        shown = few(sorted(generated), _IN_TEXT)
        note = f"a change that is not on record: no commit touches what failed, and git does not have {shown}"
        return Difference(change="unrecorded", note=note)

    def _has_unread_edits_only(self, before: Vcs, now: Vcs, reads: Sequence[str]) -> bool:
        """Return whether the simulation read none of the files with uncommitted changes in either state."""
        is_known = all(state.edited for state in (before, now) if state.dirty)
        return is_known and self.are_unread((*before.edited, *now.edited), reads, str(before.commit))

    def _are_irrelevant(self, failed: str, files: Sequence[str], edited: Sequence[str], reads: Sequence[str]) -> bool:
        """Return whether the commits are irrelevant, so that only the uncommitted changes can explain the difference.

        Commits are irrelevant if they touch only prose, or if the simulation read an edited file but none of the files
        that the commits touch.

        Args:
            failed: The commit of the failing run.
            files: Files that the commits touch.
            edited: Files with uncommitted changes.
            reads: Files that the failing simulation read; if unknown, only prose is treated as unread.
        """
        if set(edited).isdisjoint(reads) and not all(is_prose(name, reads) for name in files):
            return False
        return self.are_unread(files, reads, failed)

    def are_unread(self, files: Iterable[str], reads: Sequence[str], failed: str) -> bool:
        """Return whether a failing simulation read none of the given files.

        If it is unknown what was read, only prose is treated as unread.
        """
        code = [name for name in files if not is_prose(name, reads)]
        return set(code) <= self.unread(code, reads, failed)

    def unread(self, files: Iterable[str], reads: Sequence[str], failed: str) -> set[str]:
        """Return the given files that a failing simulation is known not to have read.

        Args:
            files: The files.
            reads: Files that the simulation read; empty if they are unknown.
            failed: The commit of the failing run.
        """
        return unread_files(self._git, files, reads, failed)

    def calling_runners(self, files: Collection[str], commit: str | None) -> set[str]:
        """Return the Python files that call a runner of simulations, make or an HDL tool in a commit."""
        return calling_runners(self._git, files, commit) if commit and COMMIT.fullmatch(commit) else set()

    def is_unread_since(self, passed: str, failed: str, reads: Sequence[str]) -> bool:
        """Return whether the commits from a pass to a failure touch only files that the simulation did not read.

        Args:
            passed: The commit of the pass.
            failed: The commit of the failure.
            reads: Files that the failing simulation read; if unknown, only prose is treated as unread.
        """
        files = None if is_revision(passed, failed) else self._files(passed, failed)
        return files is not None and self.are_unread(files, reads, failed)

    def changed_since(self, commit: str, until: str | None = None) -> tuple[str, ...]:
        """Return the files that changed since a commit; empty if git does not answer in time.

        Sources that differ only in comments and white space are left out.

        Args:
            commit: Start of the range.
            until: End of the range; None for the current state with its uncommitted changes.
        """
        span = (commit,) if until is None else (commit, until)
        if not all(map(COMMIT.fullmatch, span)):
            return ()
        names = self._names("diff", *DIFF, "--name-only", "-z", *span, *self._sources) or ()
        same = self._with_same_code(span, names)
        return tuple(name for name in names if name not in same)

    def defining(self, module: str, commit: str, reads: Sequence[str]) -> str:
        """Return a Verilog file that defines a module in a commit but was not read; empty if there is no such file.

        Args:
            module: Name of the module.
            commit: The commit.
            reads: Files that the failing build read; if they are unknown, the result is empty.
        """
        if not _IDENTIFIER.fullmatch(module) or not COMMIT.fullmatch(commit) or not any(map(HDL.search, reads)):
            return ""
        defines = rf"^[[:space:]]*module[[:space:]]+{re.escape(module)}([^A-Za-z0-9_$]|$)"
        paths = (f":(top){suffix}" for suffix in ("*.v", "*.sv", "*.vh", "*.svh"))
        found = self._git.ask("grep", "-lzE", "--full-name", "--no-color", "-e", defines, commit, "--", *paths) or ""
        names = (place.partition(":")[2] for place in found.split("\0") if place)
        return next((name for name in names if not is_among(name, reads)), "")

    def lacks_unlike(self, passed: str, failed: str, text: str, reads: Sequence[str]) -> bool:
        """Return whether a failing build lacks a file that no build can have lacked at the commit of a pass.

        No build can have lacked it there if git had the file, or if nothing in git had its name, while a file that the
        failing build read has it.

        Args:
            passed: Full hash of the commit of the pass, which may be older or newer than the failure.
            failed: Full hash of the commit of the failure.
            text: The text of the failure.
            reads: Files that the failing build read, or would have read.
        """
        if not reads or not all(map(COMMIT.fullmatch, (passed, failed))):
            return False
        paths = tuple(f":(top,literal){name}" for name in reads)
        for name in _Suspects(text).lacking:
            missing = [each for each in reads if PurePosixPath(each).name == name]
            listed = ("ls-tree", "-r", "-z", "--full-tree", "--name-only")
            were, are = (self._names(*listed, commit, "--", *missing) if missing else () for commit in (passed, failed))
            named = ("grep", "-lzwF", "--full-name", "--no-color", "-e", name)
            is_named = bool(self._git.ask(*named, failed, "--", *paths))
            is_new = is_named and not self._git.ask(*named, passed, *self._sources)
            if not are and (were or is_new):
                return not self._git.is_late
        return False

    def with_removed(self, reads: Sequence[str], commit: str, until: str | None = None) -> tuple[str, ...]:
        """Return the files that a simulation read, plus files removed from the same folders since a commit.

        The simulation may fail because it lacks one of the removed files.

        Args:
            reads: Files that the failing simulation read.
            commit: Start of the range.
            until: End of the range; None for the current state.
        """
        span = (commit,) if until is None else (commit, until)
        if not reads or not all(map(COMMIT.fullmatch, span)):
            return tuple(reads)
        removed = self._names("diff", *DIFF, "--name-only", "--diff-filter=D", "-z", *span, *self._sources) or ()
        folders = {PurePosixPath(name).parent for name in reads}
        return (*reads, *(name for name in removed if PurePosixPath(name).parent in folders))

    def changed(self, commit: str, now: Vcs) -> tuple[str, ...] | None:
        """Return the files that differ between a commit and the state of a later run.

        Args:
            commit: Full hash.
            now: The state of the run; if it has uncommitted changes, it must be the current state.

        Returns:
            The files; None if git does not answer, or the commit is not an ancestor of the state.
        """
        if now.commit is None or not (commit == now.commit or self.is_older(commit, now.commit)):
            return None
        if is_revision(commit):
            return () if commit == now.commit else None
        last = () if now.dirty else (now.commit,)
        files = self._names("diff", *DIFF, "--name-only", "-z", commit, *last, *self._sources)
        return None if files is None else tuple(map(clean_text, files))

    def restored(self, files: Iterable[str], span: tuple[str, str], now: Vcs) -> tuple[str, ...]:
        """Return the given files whose code is again as it was before a failure.

        The code is compared with the pass, and with the state before each of the newest commits from the pass to the
        failure, because at the pass a file may have had another fault, fixed since.

        Args:
            files: The files.
            span: Full hashes of the commits of the pass and of the failure.
            now: The current state.
        """
        changed = self.changed(span[0], now)
        if changed is None:
            return ()
        code = self.in_code(changed, span[0], now)
        left = [file for file in files if file in code]
        paths = [f":(top,literal){file}" for file in left]
        later = (f"-{_MOST_STATES}", "--no-merges", f"{span[0]}..{span[1]}", "--", *paths)
        commits = (self._git.ask("rev-list", *later) or "").split() if left else []
        for before in (f"{commit}~1" for commit in commits):
            ends = (before,) if now.dirty else (before, str(now.commit))
            names = self._names("diff", *DIFF, "--name-only", "-z", *ends, "--", *paths)
            if names is not None:
                code = self.in_code(names, before, now)
                left = [file for file in left if file in code]
        return tuple(file for file in files if file not in left)

    def undone(self, span: tuple[str, str], files: Sequence[str], now: Vcs) -> set[str]:
        """Return the commits of a range whose changes are all undone now, each as in `git log --oneline`.

        Args:
            span: Full hashes of the ends of the range.
            files: Files that the commits changed.
            now: The current state; the result is empty if it has uncommitted changes.
        """
        if now.dirty or now.commit is None or is_revision(*span, now.commit):
            return set()
        commits = [f"{span[0]}..{span[1]}", "--no-merges"]
        listing = Listing(self._git, commits, self._sources, files, reads=(), failed=span[1])
        return listing.cancelled(self._lines(span[0], now.commit))

    def changes_back_elsewhere(
        self, files: Sequence[str], restored: Collection[str], span: tuple[str, str], came: tuple[str, str]
    ) -> bool:
        """Return whether a commit that restores none of the given files changes back other code of a cause's range.

        Args:
            files: Files that the commits changed.
            restored: Those that are as they were before the failure.
            span: Ends of the range of these commits.
            came: Full hashes of the ends of the range that introduced the cause.
        """
        commits = [f"{span[0]}..{span[1]}", "--no-merges"]
        listing = Listing(self._git, commits, self._sources, files, reads=(), failed=span[0])
        return not {*listing.taking_back(self._lines(*came))} <= {*listing.touching(restored)}

    def restoring(self, passed: str, span: tuple[str, str], reads: Sequence[str]) -> str | None:
        """Return the first commit of a range at which the code that a simulation read is the same as at a pass.

        Return None if there is no such commit among the first few.

        Args:
            passed: Full hash of the commit of the pass.
            span: Full hashes of the ends of the range.
            reads: Files that the simulation read.
        """
        if is_revision(passed, *span):
            return None
        paths = (f":(top,literal){file}" for file in reads)
        found = self._git.ask("rev-list", "--reverse", f"{span[0]}..{span[1]}", "--", *paths) or ""
        for commit in found.split()[:_MOST_STATES]:
            now = Vcs(commit=commit)
            changed = self.changed(passed, now) if self.is_older(span[0], commit) else None
            if changed is not None and self.are_unread(self.in_code(changed, passed, now), reads, commit):
                return commit
        return None

    def in_code(self, changed: Sequence[str], commit: str, now: Vcs) -> tuple[str, ...]:
        """Return the changed files that differ in more than comments and white space.

        Args:
            changed: All files that changed since the commit.
            commit: Full hash of the commit.
            now: The current state.
        """
        span = (commit,) if now.dirty else (commit, str(now.commit))
        same = self._with_same_code(span, changed)
        return tuple(file for file in changed if file not in same)

    def came_with(
        self, passed: str, failed: Vcs, named: str = "", reads: Sequence[str] = (), *, with_undone: bool = False
    ) -> Difference | None:
        """Return what changed between the commit of a pass and the state of a failure.

        Args:
            passed: Full hash of the commit.
            failed: The repository when the test failed. If it has uncommitted changes, it must be the current state,
                and only these changes are returned.
            named: Evidence; files that it mentions come first, and commits that touch them are always included.
            reads: Files that the failing simulation read; they come first, and so do commits that touch them.
            with_undone: Whether to list commits to the files in `reads` even if later commits undid them. The cause may
                have been there at the pass, then repaired, then brought back.

        Returns:
            None if there is no known difference: the sources are the same, or the commit is not an ancestor.
        """
        if failed.commit is None or not (passed == failed.commit or self.is_older(passed, failed.commit)):
            return None
        if is_revision(passed):
            found = self._between_revisions(passed, failed.commit)
            return found if found.change == "commit" else None
        suspects = _Suspects(named, tuple(reads), self.root)
        if failed.dirty:
            return self._uncommitted(Vcs(commit=passed), failed, suspects)
        files = self._files(passed, failed.commit) if passed != failed.commit else ()
        return self._commits(Vcs(commit=passed), failed, files, suspects, with_undone=with_undone) if files else None

    def is_older(self, commit: str, than: str) -> bool:
        """Return whether a commit is an ancestor of another one; False if either is not in this clone."""
        if is_revision(commit, than):
            return commit != than and self._revisions.is_older(commit, than) is True
        return commit != than and self._is_ancestor(commit, than)

    def lacks(self, fix: Fix, commit: str | None) -> bool:
        """Return whether a commit's history lacks at least one likely commit of a fix; False if git fails.

        A copy of a commit, such as a rebase makes, counts as the commit itself.
        """
        if commit is not None and fix.commits is not None and is_revision(commit, *fix.commits):
            return self.is_older(commit, fix.commits[-1])
        if commit is None or fix.commits is None or not fix.log:
            return False
        span = f"{commit}...{fix.commits[-1]}"
        missing = self._git.ask("rev-list", "--cherry-pick", "--right-only", "--no-merges", span, *self._sources) or ""
        names = {name[:_SHORT] for name in missing.split()}
        return any(line.partition(" ")[0][:_SHORT] in names for line in fix.likely)

    def keeps(self, fix: Fix, now: Vcs) -> bool | None:
        """Return whether the current sources still have the changes of a fix. The answer is cached.

        Args:
            fix: The fix.
            now: The current state.

        Returns:
            False if the changes are undone; None if that is unknown, for example because the same lines have changed
            again.
        """
        if fix.commits is None or is_revision(*fix.commits) or not 0 < fix.file_count == len(fix.files):
            return None
        if fix.note:
            return None  # the fix may be the uncommitted changes rather than the commits
        key = (fix.commits, fix.files, now.commit)
        if key not in self._kept:
            self._kept[key] = self._has_patch(fix.commits, fix.files, now)
        return self._kept[key]

    def _has_patch(self, commits: tuple[str, str], files: Sequence[str], now: Vcs) -> bool | None:
        """Return True if the current sources have the changes between two commits, False if not, None if unknown.

        The sources have them if no added line of code is gone, and no removed line is back.
        """
        paths = ("--", *(f":(top,literal){name}" for name in files))
        names = ("diff", *DIFF, "--name-only", "-z")
        top = self._git.ask("rev-parse", "--show-toplevel")
        is_present = self._git.ask("rev-parse", "HEAD") == now.commit
        changed = self._names(*names, *commits, *paths)
        if top is None or not is_present or changed is None or len(changed) != len(files):
            return None
        since = self._names(*names, commits[-1], *paths)
        if not since:
            return None if since is None else True
        made, later = (self._git.ask("diff", *PATCH, *span, *paths) for span in (commits, commits[-1:]))
        if made is None or later is None:
            return None
        (added, removed), (came, gone) = changed_lines(made), changed_lines(later)
        if (added or removed) and not (added & gone or removed & came):
            return True
        with tempfile.TemporaryDirectory() as folder:
            patch = f"{folder}/fix.patch"
            if self._git.ask("diff", *PATCH, "--unified=1", f"--output={patch}", *commits, *paths) is None:
                return None
            undoes, redoes = (
                output(Path(top), "apply", "--check", *way, patch) is not None for way in (["--reverse"], [])
            )
        return undoes if undoes != redoes else None

    def takes_back(self, span: tuple[str, str], now: Vcs, files: Sequence[str], good: str | None = None) -> bool:
        """Return whether code that changed between two commits was changed back since, at least in part.

        Args:
            span: Full hashes of the two commits.
            now: The state of a later run; if it has uncommitted changes, it must be the current state.
            files: Names of the files to compare.
            good: Full hash of an earlier commit without the cause, if known. A line that is again as it was at that
                commit does not count, because it cannot bring the cause back.
        """
        paths = ("--", *(f":(top,literal){name}" for name in files))
        since = (span[1],) if now.dirty else (span[1], str(now.commit))
        if not files or not all(map(COMMIT.fullmatch, (*span, *since, good or span[0]))):
            return False
        made, later = (changed_lines(self._git.ask("diff", *PATCH, *ends, *paths) or "") for ends in (span, since))
        if good is None:
            return changes_back(later, made)
        other = changed_lines(self._git.ask("diff", *PATCH, good, *since[1:], *paths) or "")
        (came, gone), (added, removed) = later, other
        return changes_back((came & added, gone & removed), made)

    def has_edits(self, lines: Sequence[str], commit: str, now: Vcs) -> bool:
        """Return whether the changes since a commit include any uncommitted change of a run at that commit.

        Args:
            lines: Hashes of the lines of the uncommitted changes.
            commit: Full hash of the commit.
            now: The current state.
        """
        span = (commit,) if now.dirty else (commit, str(now.commit))
        since = self._git.ask("diff", *PATCH, *span, *self._sources) if all(map(COMMIT.fullmatch, span)) else None
        return since is None or not {*lines}.isdisjoint(hashed for each in line_hashes(since) for hashed in each)

    def undid(self, fix: Fix, later: Fix, now: Vcs) -> bool:
        """Return whether a fix's changes were still in place at a later fix, and are undone in the current sources.

        Args:
            fix: The fix.
            later: The later fix.
            now: The current state.
        """
        if fix.commits is None or later.commits is None or is_revision(*fix.commits, *later.commits):
            return False
        ends = (fix.commits[-1], later.commits[-1])
        paths = ("--", *(f":(top,literal){name}" for name in fix.files))
        changed = self._names("diff", *DIFF, "--name-only", "-z", *ends, *paths)
        return changed == () and self.keeps(fix, now) is False

    def between(self, first: str, last: str) -> Difference:
        """Return the difference between two commits, given by their full hashes."""
        return self._commits(Vcs(commit=first), Vcs(commit=last), self._files(first, last) or (), _Suspects())

    def only_commit(self, files: Sequence[str], before: Vcs, now: Vcs) -> tuple[tuple[str, str], Difference] | None:
        """Return the commit between two states that touches all given files, if no other commit touches any of them.

        Returns:
            The parent of the commit and the commit itself, and the difference between the two; None if there is no
            single commit.
        """
        if before.commit is None or now.commit is None or is_revision(before.commit, now.commit):
            return None
        span = f"{before.commit}..{now.commit}"
        paths = ("--", *(f":(top,literal){name}" for name in files))
        found = (self._git.ask("rev-list", "--no-merges", "--max-count=2", span, *paths) or "").split()
        parent = self.commit(f"{found[0]}^") if len(found) == 1 else None
        if parent is None or not set(files) <= set(self._files(parent, found[0]) or ()):
            return None
        return (parent, found[0]), self.between(parent, found[0])

    def _between_revisions(self, before: str, now: str) -> Difference:
        """Return the difference between two revisions, if at least one is outside git."""
        if before == now:
            return Difference(change="nothing")
        is_older = self._revisions.is_older(before, now)
        if is_older is None:
            short = [name if is_revision(name) else name[:_SHORT] for name in (before, now)]
            note = f"a change that is not on record: it is not known which of {' and '.join(short)} is older"
            return Difference(change="unrecorded", note=note)
        if not is_older:
            return Difference(change="older")
        log = self._revisions.between(before, now)
        note = "" if log else f"a change after {before} up to {now}; set `revision_log` to list the changes"
        return Difference(change="commit", log=log[:MOST_COMMITS], log_count=len(log), note=note)

    def _uncommitted(self, before: Vcs, now: Vcs, suspects: _Suspects) -> Difference:
        names = self._edited() if now.dirty else ()
        dropped = [name for name in before.edited if name not in now.edited]
        if dropped:
            note = f"dropping the {_edits(suspects.first(dropped), len(dropped))}"
        elif before.dirty and not now.dirty:
            note = "dropping the uncommitted changes of the failing run"
        else:
            note = "" if names else EDITS
        return Difference(
            change="uncommitted",
            files=suspects.first(names),
            file_count=len(names),
            # If the earlier edits are unknown, the list of differing files is incomplete.
            all_files=(*names, *dropped) if before.edited or not before.dirty else (),
            note=note,
        )

    def _edited(self) -> tuple[str, ...]:
        """Return the files with uncommitted changes; empty if git does not answer."""
        return self._names("diff", *DIFF, "--name-only", "-z", "HEAD", *self._sources) or ()

    def edited_beside(self, failed: str, reads: Sequence[str]) -> bool:
        """Return whether there are uncommitted changes, but only in files that a failing simulation did not read.

        Args:
            failed: The commit of the failing run, which is checked out now.
            reads: Files that the simulation read; if unknown, only prose is treated as unread.
        """
        names = self._edited()
        return bool(names) and self.are_unread(names, reads, failed)

    def _missing_history(
        self, before: Vcs, now: Vcs, files: Sequence[str] = (), suspects: _Suspects | None = None
    ) -> Difference:
        """Return the difference in a shallow clone, or after a rewrite of history."""
        head = self._log("-1", str(now.commit), paths=())
        until = f' up to "{head[0].partition(" ")[2]}"' if head else ""
        note = f"a commit after {str(before.commit)[:_SHORT]}{until}; the history in between is not in this clone"
        return Difference(
            change="commit",
            note=note,
            files=(suspects or _Suspects()).first(files),
            file_count=len(files),
            all_files=tuple(files),
        )

    def _commits(
        self, before: Vcs, now: Vcs, files: Sequence[str], suspects: _Suspects, *, with_undone: bool = False
    ) -> Difference:
        first, last = str(before.commit), str(now.commit)
        span = [f"{first}..{last}"]
        if not self._is_ancestor(first, last):
            if self._git.ask("merge-base", first, last) is None:
                return self._missing_history(before, now, files, suspects)
            if before.branch and now.branch and before.branch != now.branch:
                return Difference(change="branch")
            # After a rebase, copies of commits that the failing run already had do not count as a difference.
            span = ["--cherry-pick", "--right-only", f"{first}...{last}"]
        prose = suspects.prose(files)
        same = self._with_same_code((first, last), files)
        # Comments cause no fault: files that changed only in comments come last, if anything else changed.
        code = [name for name in files if name not in same]
        code = code if any(name not in prose for name in code) else list(files)
        sources = (*self._sources, *(f":(exclude,top,literal){name}" for name in prose))
        # Merges are left out, unless there is nothing else.
        for merges in (["--no-merges"], []):
            count = int(self._git.ask("rev-list", "--count", *span, *merges, *sources) or 0)
            if count:
                break
        failed = first if suspects.absent == "A" else last
        reads = suspects.reads if len(suspects.reads) < MOST_READ else ()
        listing = Listing(
            self._git, [*span, *merges], sources, files, reads=reads, failed=failed, undone=reads if with_undone else ()
        )
        edited = self._edited() if now.dirty else ()
        ends = None if now.dirty or with_undone else (first, last)
        log, unread = self._ordered(listing, code, suspects, (*before.edited, *edited), ends)
        # Files that only the unread commits touch are left out.
        theirs = listing.only_of(unread)
        unneeded = theirs | listing.for_people
        kept = [name for name in (*code, *same) if name not in prose and name not in theirs]
        # Edits of files that the simulation did not read, or of prose, say nothing about its passes and failures.
        edits = (*before.edited, *edited)
        beside = unread_files(self._git, edits, suspects.reads, failed)
        beside |= {name for name in edits if is_prose(name, suspects.reads)}
        left, made = ([name for name in names if name not in beside] for names in (before.edited, edited))
        lacked = listing.changed("A", "D") if suspects.lacked_change else ()
        note = ""
        if now.dirty and (made or not edited):
            note = _edits(suspects.first(made), len(made))
        elif before.dirty and (left or not before.edited) and not self._were_committed(before, now):
            note = f"dropping the failing run's {_edits(suspects.first(left), len(left))}"
        return Difference(
            change="commit",
            log=log,
            log_count=count - listing.undone if log else 0,
            unread_count=len(unread),
            files=suspects.first([name for name in kept if name in code], kept),
            file_count=len({*kept}),
            all_files=tuple(dict.fromkeys((*(name for name in code if name not in unneeded), *left))),
            is_unread=not note and listing.has_unread_only({*code} - prose.keys(), {*suspects.named(code), *lacked}),
            note=note if log else f"a change between {first[:_SHORT]} and {last[:_SHORT]}",
        )

    def _were_committed(self, before: Vcs, now: Vcs) -> bool:
        """Return whether the current sources have at least a part of the uncommitted changes of an earlier run."""
        return bool(before.edited_lines) and self.has_edits(before.edited_lines, str(before.commit), now)

    def _ordered(
        self,
        listing: Listing,
        files: Sequence[str],
        suspects: _Suspects,
        edited: Sequence[str],
        ends: tuple[str, str] | None,
    ) -> tuple[tuple[str, ...], set[str]]:
        """Return the newest commits, the likely ones first, and the set of commits that change no code that was read.

        The order is:

        - if the evidence reports a missing file, commits that removed the file or wrote its name,
        - commits that change back code of the range that introduced the cause; but if the evidence names the likely
          place of the fault, commits that change a quoted name there come before those that change no such name,
        - commits that touch files mentioned in the evidence,
        - commits that touch files read by the failing simulation,
        - commits that added or removed a file in a folder of files that were read, if the failing run lacked that file,
        - other commits, the newest first,
        - commits whose changes are all undone by later ones,
        - commits that change no code that was read.

        Among commits of one kind, those come first that change a line with a name that the evidence quotes.

        If it is unknown what was read, the newest commits come first; the first few, which are shown, include commits
        that touch files mentioned in the evidence.
        """
        newest = [each.line for each in listing.commits]
        if len(newest) < 2:  # noqa: PLR2004  # there is nothing to order
            return tuple(newest), set()
        quoting = listing.mentioning(suspects.quoted)
        failing = _first(quoting, listing.touching(suspects.named(files)))
        if suspects.reads:
            # Sources may be collected with a glob: a file that was absent from their folders may have been needed.
            folders = {PurePosixPath(name).parent for name in suspects.reads}
            gone = {name for name in listing.changed(suspects.lacked_change) if PurePosixPath(name).parent in folders}
            read = _first(quoting, listing.touching(suspects.read(files)))
            found = [*failing, *read, *listing.touching(gone), *newest]
        else:
            shown = failing[:_IN_TEXT]
            others = [each for each in newest if each not in shown]
            first = {*others[: _IN_TEXT - len(shown)], *shown}
            found = [*(each for each in newest if each in first), *failing, *newest]
        # Commits that removed a missing file, or wrote its name into a list of files.
        lacking = [name for name in suspects.lacking if self._git.ask("ls-files", "--", f":(top,glob)**/{name}") == ""]
        wrote = [
            each
            for name in lacking
            for each in (
                *listing.touching([file for file in files if PurePosixPath(file).name == name]),
                *self._log(f"-{MOST_COMMITS}", f"-S{name}", *listing.span, paths=listing.sources),
            )
            if each in newest
        ]
        known = {*suspects.named(listing.files), *suspects.reads}
        unread = listing.unread(known, suspects.lacked_change, edited) - {*wrote}
        back = listing.taking_back(self._lines(*suspects.came)) if suspects.came is not None else []
        # If reads are unknown, the range that introduced the cause may contain unrelated commits, so a commit that
        # changes them back may be unrelated, too.
        named = failing[: _IN_TEXT - 1] if back and not suspects.reads else []
        if suspects.names_place:
            here = [each for each in failing if each in quoting]
            back = list(dict.fromkeys([*(each for each in back if each in quoting), *here, *back])) if back else []
        undone = listing.cancelled(self._lines(*ends)) if ends is not None else set()
        listed = dict.fromkeys([*wrote, *named, *back, *found])
        found = sorted(listed, key=lambda line: (line in unread, line in undone))
        return tuple(found[:MOST_COMMITS]), unread

    def _lines(self, first: str, last: str) -> Lines:
        """Return the lines of code that differ between two commits, given by their full hashes."""
        is_known = all(map(COMMIT.fullmatch, (first, last)))
        return changed_lines((self._git.ask("diff", *PATCH, first, last, *self._sources) if is_known else None) or "")

    def _log(self, *arguments: str, paths: Sequence[str]) -> list[str]:
        text = self._git.ask("log", "--no-color", "--encoding=UTF-8", "--format=%H %s", *arguments, *paths) or ""
        lines = (line.partition(" ") for line in text.split("\n") if line)
        return [f"{commit[:_SHORT]} {clean_text(subject)}" for commit, _, subject in lines]

    def _files(self, first: str, last: str) -> tuple[str, ...] | None:
        return self._names("diff", *DIFF, "--name-only", "-z", first, last, *self._sources)

    def _with_same_code(self, span: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
        """Return the files that differ in comments and white space only; none if too many files differ."""
        if not 0 < len(files) <= MOST_COMPARED:
            return ()
        found = with_same_code(self._git.ask("diff", *PATCH, *span, *self._sources) or "")
        if len(span) > 1:
            found |= with_same_python(self._git, (span[0], span[1]), [name for name in files if name not in found])
        return tuple(name for name in files if name in found)

    def _names(self, *arguments: str) -> tuple[str, ...] | None:
        return _names(self._git.ask(*arguments))

    def _is_ancestor(self, commit: str, descendant: str) -> bool:
        return self._git.ask("merge-base", "--is-ancestor", commit, descendant) is not None


def _names(text: str | None) -> tuple[str, ...] | None:
    """Split git's output with `-z` into names."""
    return None if text is None else tuple(name for name in text.split("\0") if name)


def _first(chosen: Collection[str], names: Iterable[str]) -> list[str]:
    """Return the names, the chosen ones first."""
    return sorted(names, key=lambda name: name not in chosen)


def _folders(before: str) -> list[str]:
    """Return the folders in the path at the end of a string, without `.` and `..`."""
    found = _FOLDER.search(before)
    return [part for part in found[0].split("/") if part not in {"", ".", ".."}] if found else []


def _edits(files: Sequence[str], count: int) -> str:
    """Describe uncommitted changes, listing the first few of `count` files."""
    return f"{EDITS} in {few(files, _IN_TEXT, of=count)}" if files else EDITS


class _Suspects(Struct, frozen=True):
    """The evidence that points to files: the text of a failure, and the files that the failing simulation read."""

    text: str = ""
    reads: tuple[str, ...] = ()
    root: Path | None = None
    """Root of the project; relative paths in the text start here."""
    absent: Literal["A", "D"] = "D"
    """git's letter for files that the failing run lacked: `A` (added) if it ran before the pass, else `D` (deleted)."""
    came: tuple[str, str] | None = None
    """Full hashes of the ends of the range that introduced the cause; None if unknown."""
    names_place: bool = False
    """Whether the files in the text are the likely place of the fault."""

    def named(self, files: Iterable[str]) -> list[str]:
        """Return the files that the evidence mentions: by base name, or as the quoted name of a unit or module.

        A base name is ignored if the folder in front of it is that of another file. A base name without a folder is
        ignored if the failing simulation read another file of this name. HDL files are ignored if none could be read.
        """
        known = {PurePosixPath(name).name for name in self.reads}
        text = _NO_REPORT.sub("", self.text)

        def occurs(path: PurePosixPath) -> bool:  # as a whole name: not `RAM.py` in `ExtenderRAM.py`
            found = re.finditer(rf"(?<![\w.-]){re.escape(path.name)}(?![\w-]|\.\w)", text) if path.name in text else ()
            befores = (text[max(each.start() - _LONGEST, 0) : each.start()] for each in found)
            is_other = path.name in known and str(path) not in self.reads
            return any(
                not self._is_elsewhere(before, path) and not (is_other and not _folders(before)) for before in befores
            )

        no_hdl = NO_HDL in self.reads
        paths = {name: PurePosixPath(name) for name in files if not (no_hdl and HDL.search(name))}
        as_file = [name for name, path in paths.items() if occurs(path)]
        units, names = quoted(text), quoted_names(text)
        as_unit = [name for name, path in paths.items() if path.stem in (units if HDL.search(name) else names)]
        return list(dict.fromkeys([*as_file, *as_unit]))[:MOST_FILES]

    def _is_elsewhere(self, before: str, path: PurePosixPath) -> bool:
        """Return whether the folder in front of a base name is that of another file than `path`."""
        found = _FOLDER.search(before)
        if found is None or self.root is None:
            return False
        parts = _folders(before)
        agrees = all(one == other for one, other in zip(reversed(parts), reversed(path.parts[:-1]), strict=False))
        # A folder that is unknown here may hold a copy of the file, for example a build folder.
        folders = found[0], "/".join(parts)  # as seen from a build folder, or from the root
        return not agrees and any((self.root / folder / path.name).is_file() for folder in folders)

    @property
    def lacked_change(self) -> str:
        """Return git's letter (`A` or `D`) for changed files that the failing run did not have.

        Empty if the failure has a text, and the text does not report that something is missing.
        """
        return self.absent if not self.text or _MISSES.search(self.text) else ""

    @property
    def quoted(self) -> list[str]:
        """Return the names that the evidence quotes, without those that occur in any code; empty if there are many."""
        found = sorted(name for name in quoted_names(self.text) if len(name) >= _SHORTEST_NAME)
        return found if len(found) <= _MOST_QUOTED else []

    @property
    def lacking(self) -> list[str]:
        """Return the names of files that the evidence reports as missing."""
        lines = (line for line in self.text.split("\n") if _LACKS.search(line))
        return list(dict.fromkeys(name for line in lines for name in _FILE.findall(line)))[:_MOST_LACKING]

    def read(self, files: Iterable[str]) -> list[str]:
        """Return the given files that the failing simulation read."""
        return [name for name in files if name in self.reads]

    def prose(self, files: Sequence[str]) -> dict[str, None]:
        """Return the prose files (for people to read); none if there are no other files, or too many prose files."""
        found = {name: None for name in files if is_prose(name, self.reads)}
        return found if len(found) < len(files) and len(found) <= _MOST_PROSE else {}

    def first(self, files: Sequence[str], last: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the names to record, up to a limit; files that the evidence points to come first.

        Args:
            files: The names.
            last: Further names, which come last.
        """
        names = dict.fromkeys([*self.named(files), *self.read(files), *files, *last])
        return tuple(map(clean_text, itertools.islice(names, MOST_FILES)))
