"""Lists the commits of a range and the files they touch, and finds commits that cannot affect a failing simulation."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from pytest_dvwiki.capture.git.command import DIFF, PATCH, Git, clean_text, texts
from pytest_dvwiki.capture.git.mentions import mentioned
from pytest_dvwiki.model import MOST_READ
from pytest_dvwiki.records.sides import AT_RUN_TIME, FOR_PEOPLE, FROM_FILES, HDL, MAKEFILE, NO_HDL, is_unread

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

Lines = tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]
"""The lines that a patch adds, and those that it removes, each with the name of its file."""
_SPECIFIC = re.compile(r"\w\W+\w")
"""Matches a line of code that contains more than keywords; insignificant white space has to be removed first."""
_MOST_MODULES = 20
"""Maximum number of changed Python files that are parsed to compare them."""
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_LONGEST_PATCH = 100_000
"""Maximum number of characters in a patch of uncommitted changes whose lines are recorded: each run reads the patch."""
_MOST_EDITED = 50
"""Maximum number of lines of uncommitted changes that are recorded."""
_MOST = 1000
"""Maximum number of listed commits, and of file names in a search."""
MOST_COMPARED = 100
"""Maximum number of changed files, and of commits, that are compared line by line."""
_SHORT = 12
_HEAD = re.compile(r"(?:^|\0)\x01([0-9a-f]{40,64}) ([^\0\n]*)", re.MULTILINE)
_TOUCHED = re.compile(r":(\d{6}) (\d{6}) \S+ \S+ ([A-Z])\d*\0([^\0]+)")
_SPECIAL = "special"
"""Kind of change used instead of git's letter for symbolic links and submodules."""
_EXECUTABLE = "executable"
"""Kind of change used instead of git's letter for executable Python files."""
_COMMENT = {
    "py": re.compile(r"\s*#(?:[\s#!]|$)"),  # `#5` may be a Verilog delay in a multi-line string
    **dict.fromkeys(("vhd", "vhdl"), re.compile(r"\s*--(?!\s*(?:pragma|synthesis|synopsys|psl)\b)")),
    **dict.fromkeys(
        ("v", "vh", "sv", "svh"), re.compile(r"\s*//(?!\s*(?:pragma|synthesis|synopsys|verilator|cadence|psl)\b)")
    ),
}
"""Maps the suffix of a source to an expression that matches comment lines, except pragmas for tools."""

_RUNS_COCOTB = r"cocotb-config|Makefile\.sim"
"""Matches a Makefile that runs simulations with cocotb."""
_LOADED = re.compile(r"(?:^|/)(?:conftest|__init__|__main__|setup)\.py$")
"""Matches the paths of Python files that are loaded or run without being imported by name."""
_BUILT_NAME = r"""(^|[^a-z0-9_-]|%[0-9]*[a-z])\.SUFFIX|["']SUFFIX["']"""
"""Matches code that builds a file's name with a given suffix; the suffix replaces `SUFFIX`."""
_EXCEPT_PROSE = tuple(
    f":(top,exclude,icase,glob)**/*.{suffix}" for suffix in ("adoc", "dot", "drawio", "gv", "md", "puml", "rst", "svg")
)
"""Pathspecs that exclude documents and drawings, which may name a drawing but do not read it."""


class ListedCommit(NamedTuple):
    """A commit of a range."""

    name: str
    line: str
    """The commit as `git log --oneline` shows it."""
    touched: Mapping[str, str]
    """Maps each file that the commit touches to the kind of change: git's letter, `special` or `executable`."""


class Listing:
    """The commits of a range, the newest first, up to a maximum number.

    A commit is left out if all its files are the same at both ends of the range, because later commits undid it. It
    stays if it touches a file in `undone`, or if no commit would be left.

    Args:
        git: Answers queries about history.
        span: The range, as `git log` takes it.
        sources: Path arguments that restrict `git log` to sources.
        changed: The files that differ between the ends of the range.
        reads: All files that the failing simulation read; empty if that is unknown.
        failed: The commit of the failing run.
        undone: Files whose commits are listed even if later commits undid them.
    """

    def __init__(
        self,
        git: Git,
        span: Sequence[str],
        sources: Sequence[str],
        changed: Collection[str],
        *,
        reads: Collection[str],
        failed: str,
        undone: Collection[str] = (),
    ) -> None:
        self._git, self._reads, self._failed = git, reads, failed
        self.span, self.sources = span, sources
        text = self._log(*DIFF, "--raw", "-z", *span, *sources)
        found = [
            ListedCommit(name, f"{name[:_SHORT]} {clean_text(subject)}", dict(_touched(part)))
            for name, subject, part in _parts(text)
        ]
        kept = {*changed, *undone}
        self.commits = [each for each in found if not each.touched.keys().isdisjoint(kept)] or found
        self.undone = len(found) - len(self.commits)
        """Number of commits left out because later commits of the range undid them."""

    @property
    def files(self) -> list[str]:
        """Return all files that the commits touch."""
        return list(dict.fromkeys(name for each in self.commits for name in each.touched))

    def touching(self, names: Collection[str]) -> list[str]:
        """Return the commits that touch any of the given files, each as its `ListedCommit.line`."""
        return [each.line for each in self.commits if not each.touched.keys().isdisjoint(names)]

    def changed(self, *how: str) -> set[str]:
        """Return the files with one of the given kinds of change: git's letters, `special` or `executable`."""
        return {name for each in self.commits for name, letter in each.touched.items() if letter in how}

    def only_of(self, lines: Collection[str]) -> set[str]:
        """Return the files that only the given commits touch.

        Args:
            lines: The commits, each as its `ListedCommit.line`.
        """
        others = {name for each in self.commits if each.line not in lines for name in each.touched}
        return {*self.files} - others

    @cached_property
    def _unread_files(self) -> set[str]:
        return unread_files(self._git, self.files, self._reads, self._failed)

    @cached_property
    def _special(self) -> set[str]:
        """Return the links, submodules and scripts that any commit changed; it is unknown what uses them."""
        programs = self.changed(_EXECUTABLE)
        programs -= _unused_scripts(self._git, programs, self._reads)
        return self.changed(_SPECIAL) | _scripts(self._git, programs, self._failed)

    @property
    def for_people(self) -> set[str]:
        """Return the drawings, documents and editor settings that the failing simulation did not read."""
        return {name for name in self._unread_files if FOR_PEOPLE.search(name)}

    def unread(self, known: Collection[str], absent: str, edited: Collection[str]) -> set[str]:
        """Return the commits that change no code read by the failing simulation, each as its `ListedCommit.line`.

        Files that may have been read, such as data files, and files missing in the failing run are treated as read. The
        result is empty if it would include all commits, or the reads are unknown. It is also empty if no commit and no
        edit changes the code of a file in `known`.

        Args:
            known: Files that were read, and files that the evidence mentions.
            absent: git's letter for files that the failing run lacked: `A` or `D`; empty if it lacked nothing.
            edited: Files with uncommitted changes.
        """
        if not self._reads:
            return set()
        lacked = {name for name in self.changed(absent) if not (NO_HDL in self._reads and HDL.search(name))}
        unread = self._unread_files - {*known} - lacked - self._special
        code = {
            each.line: each.touched.keys() - unread - self._only_comments.get(each.name, set()) for each in self.commits
        }
        changed = (*code.values(), {*edited})
        is_known = any(not names.isdisjoint(known) for names in changed)
        found = {line for line, names in code.items() if not names}
        return found if is_known and len(found) < len(code) else set()

    def taking_back(self, made: Lines) -> list[str]:
        """Return the commits that change back some of the code that a patch changed, each as its `ListedCommit.line`.

        Those that restore the earlier code come before those that replace it by other code.

        Args:
            made: The lines that the patch adds and removes.
        """
        found = [each for each in self.commits if changes_back(self._lines[each.name], made)]
        return [each.line for each in sorted(found, key=lambda each: not _restores(self._lines[each.name], made))]

    def mentioning(self, names: Collection[str]) -> list[str]:
        """Return the commits that change a line with one of the given names, each as its `ListedCommit.line`."""
        if not names:
            return []
        changed = re.compile(rf"^[+-].*\b(?:{'|'.join(map(re.escape, names))})\b", re.MULTILINE)
        return [each.line for each in self.commits if changed.search(self._patches.get(each.name, ""))]

    def cancelled(self, made: Lines) -> set[str]:
        """Return the commits whose changes are all undone at the end of the range, each as its `ListedCommit.line`.

        Args:
            made: The lines that differ between the ends of the range.
        """
        added, removed = (set(lines) for lines in made)
        found = set()
        for each in self.commits:
            came, gone = self._lines[each.name]
            if (came or gone) and added.isdisjoint(came) and removed.isdisjoint(gone):
                found.add(each.line)
        return found

    @cached_property
    def _lines(self) -> dict[str, Lines]:
        """Map the hash of each commit to the lines of code that its patch adds and removes."""
        return {each.name: changed_lines(self._patches.get(each.name, "")) for each in self.commits}

    @cached_property
    def _patches(self) -> dict[str, str]:
        """Map the hashes of the commits to their patches of files that may have been read.

        The result is empty if there is nothing to compare, or too many commits or files.
        """
        unread = self._unread_files - self.changed("A", "D")  # the failing run may have needed a file that it lacked
        paths = [f":(top,literal){name}" for name in self.files if name not in unread]
        if not 1 < len(self.commits) <= MOST_COMPARED or not 0 < len(paths) <= MOST_COMPARED:
            return {}
        return {name: patch for name, _, patch in _parts(self._log(*PATCH, *self.span, "--", *paths))}

    def has_unread_only(self, files: Collection[str], named: Collection[str]) -> bool:
        """Return whether the failing simulation read none of these files.

        Args:
            files: Files that the commits touch.
            named: Files that the evidence mentions, or that the failing run may have lacked.
        """
        return bool(files) and {*files} <= self._unread_files - {*named} - self._special

    @cached_property
    def _only_comments(self) -> dict[str, set[str]]:
        """Map the hash of each commit to the files in which it changed only comments and white space."""
        found = {name: with_same_code(patch) for name, patch in self._patches.items()}
        for each in self.commits[:_MOST_MODULES]:
            left = each.touched.keys() - self._unread_files - found.get(each.name, set())
            found[each.name] = found.get(each.name, set()) | with_same_python(
                self._git, (f"{each.name}~1", each.name), left
            )
        return found

    def _log(self, *arguments: str) -> str:
        how = ("--no-color", "--encoding=UTF-8", "--format=%x01%H %s", f"-{_MOST}")
        return self._git.ask("log", *how, *arguments) or ""


def unread_files(git: Git, names: Iterable[str], reads: Collection[str], failed: str) -> set[str]:
    """Return the given files that a failing simulation is known not to have read.

    A file that is mentioned in a file that was read may have been read, too, so it is not returned.

    Args:
        git: Answers queries about history.
        names: The files.
        reads: All files that were read; empty if that is unknown.
        failed: The commit of the failing run.
    """
    every = {*names}
    unread = {name for name in every if is_unread(name, reads)}
    unread |= _unimported(git, every - unread, reads)
    unread |= _running_others(git, every - unread, reads, failed)
    return (unread - mentioned(git, unread, reads, failed)) | _for_people(git, every - unread, reads, failed)


def _for_people(git: Git, names: Collection[str], reads: Collection[str], failed: str) -> set[str]:
    """Return the drawings, documents and editor settings that no code can have read.

    A program that is not on record may have read such a file. Therefore a file is returned only if no code of the
    repository contains the file's name, or builds a name with its suffix (`*.png`, `{name}.png`), and if no file that
    was read contains the name of its folder.

    Args:
        git: Answers queries about history.
        names: The files.
        reads: All files that were read; empty if that is unknown.
        failed: The commit to search.
    """
    paths = {name: PurePosixPath(name.lower()) for name in names if FOR_PEOPLE.search(name)}
    if not reads or not 0 < len(paths) <= _MOST:
        return set()
    built = {path.suffix: _BUILT_NAME.replace("SUFFIX", path.suffix[1:]) for path in paths.values() if path.suffix}
    whole = {re.sub(r"\W", ".", path.name) for path in paths.values()}
    folders = {path.parent.name for path in paths.values()} - {""}

    def said(how: str, expressions: Iterable[str], *where: str) -> str:
        wanted = (word for each in sorted(expressions) for word in ("-e", each))
        return (git.ask("grep", "-ihI", "--no-color", how, *wanted, failed, "--", *where) or "").lower()

    anywhere = said("-E", {*whole, *built.values()}, ":(top)", *_EXCEPT_PROSE)
    in_reads = said("-F", folders, *(f":(top,literal){name}" for name in reads)) if folders else ""
    found = {
        name
        for name, path in paths.items()
        if path.name not in anywhere
        and not (path.suffix and re.search(built[path.suffix], anywhere, re.MULTILINE))
        and not (path.parent.name and path.parent.name in in_reads)
    }
    return set() if git.is_late else found


def _unimported(git: Git, names: Collection[str], reads: Collection[str]) -> set[str]:
    """Return the Python files that a simulation did not import.

    A file outside packages may be a script that wrote data or HDL for the simulation. It is returned only if git has
    all files that were read, and none of them reads other files. The result is empty if a file that was read may import
    or run modules without spelling out their names, or if there is a conftest.py, whose imports are unknown.

    Args:
        git: Answers queries about the repository.
        names: The files, without the files that were read.
        reads: All files that were read; empty if that is unknown.
    """
    modules = {name for name in names if name.endswith(".py") and not _LOADED.search(name)} - {*reads}
    if not modules or len(reads) >= MOST_READ or not any(name.endswith(".py") for name in reads):
        return set()
    special = git.ask("ls-files", "-z", "--full-name", "--", ":(top,glob)**/__init__.py", ":(top,glob)**/conftest.py")
    paths = [PurePosixPath(name) for name in (special or "").split("\0") if name]
    if any(path.name == "conftest.py" for path in paths):
        return set()
    packages = {path.parent for path in paths}
    found = {name for name in modules if not packages.isdisjoint(PurePosixPath(name).parents)}
    readers = (f":(top,literal){name}" for name in reads if name.endswith(".py") or MAKEFILE.search(name))
    if git.ask("grep", "-lE", "-e", AT_RUN_TIME, "--", *readers) or git.is_late:
        return set()
    return found | _unused_scripts(git, modules - found, reads)


def _unused_scripts(git: Git, names: Collection[str], reads: Collection[str]) -> set[str]:
    """Return the scripts whose names no file that was read contains.

    The result is empty if a script may have written what was read: data, or a file that is not in git.

    Args:
        git: Answers queries about the repository.
        names: The scripts.
        reads: All files that were read.
    """
    if not names or not reads:
        return set()
    paths = [f":(top,literal){name}" for name in reads if name != NO_HDL]
    if not_in_git(git, reads) != set() or git.ask("grep", "-liE", "-e", FROM_FILES, "--", *paths):
        return set()
    stems = {name: PurePosixPath(name).stem for name in names}
    wanted = (part for stem in sorted({*stems.values()}) for part in ("-e", stem))
    found = (git.ask("grep", "-ohwF", "--no-color", *wanted, "--", *paths) or "").split("\n")
    return set() if git.is_late else {name for name, stem in stems.items() if stem not in found}


def not_in_git(git: Git, reads: Collection[str], *options: str) -> set[str] | None:
    """Return those files read by a simulation that git does not have, such as generated HDL.

    Args:
        git: Answers queries about the repository.
        reads: All files that were read.
        options: Options of `git ls-files`; without `--recurse-submodules`, the files of submodules are returned, too.

    Returns:
        None if git does not answer.
    """
    names = {*reads} - {NO_HDL}
    if not names:
        return set()
    paths = (f":(top,literal){name}" for name in names)
    found = git.ask("ls-files", *options, "-z", "--full-name", "--", *paths)
    return None if found is None else names - {*found.split("\0")}


def _running_others(git: Git, names: Collection[str], reads: Collection[str], failed: str) -> set[str]:
    """Return the Makefiles that run simulations with cocotb, if the simulation was started without any of them.

    A Makefile is not returned if its folder contains, or is inside, the folder of a file that was read.

    Args:
        git: Answers queries about history.
        names: The files.
        reads: All files that were read. If they include HDL and a testbench but no Makefile, none ran the simulation.
        failed: The commit to read the Makefiles from.
    """
    if any(map(MAKEFILE.search, reads)) or not all(any(map(kind, reads)) for kind in (HDL.search, _is_python)):
        return set()
    folders = {PurePosixPath(read).parent for read in reads}
    own = {name: PurePosixPath(name).parent for name in names if MAKEFILE.search(name)}
    apart = {
        name: f":(top,literal){name}"
        for name, at in own.items()
        if not any(at.is_relative_to(each) or each.is_relative_to(at) for each in folders)
    }
    if not apart:
        return set()
    lines = git.ask("grep", "-lzE", "--full-name", "--no-color", "-e", _RUNS_COCOTB, failed, "--", *apart.values())
    return {place.partition(":")[2] for place in (lines or "").split("\0")} & apart.keys()


def _is_python(name: str) -> bool:
    return name.endswith(".py")


def _scripts(git: Git, names: Collection[str], commit: str) -> set[str]:
    """Return the executable files with a line that begins with `#!`; these may be scripts.

    Being executable is not enough: in some repositories all files are. If git does not answer, all files are returned.

    Args:
        git: Answers queries about history.
        names: The executable files.
        commit: The commit to read the files from.
    """
    if not 0 < len(names) <= _MOST:
        return {*names}
    paths = (f":(top,literal){name}" for name in names)
    others = git.ask("grep", "-Lz", "--full-name", "--no-color", "-e", "^#!", commit, "--", *paths) or ""
    return {*names} - {place.partition(":")[2] for place in others.split("\0")}


def _parts(text: str) -> Iterable[tuple[str, str, str]]:
    """Yield each commit in git's output: its hash, its subject, and what it changed."""
    heads = list(_HEAD.finditer(text))
    starts = [*(head.start() for head in heads), len(text)]
    for head, end in zip(heads, starts[1:], strict=True):
        yield head[1], head[2], text[head.end() : end]


def _touched(text: str) -> Iterable[tuple[str, str]]:
    for before, after, how, name in _TOUCHED.findall(text):
        modes = {before, after}
        is_executable = "100755" in modes and name.endswith(".py")
        yield name, _SPECIAL if modes & {"120000", "160000"} else _EXECUTABLE if is_executable else how


def suffix_of(name: str) -> str:
    """Return the suffix of a file's name without the dot, in lower case."""
    return name.rpartition(".")[2].lower()


def with_same_code(patch: str) -> set[str]:
    """Return the files with changes only in comments and white space, from a patch without context lines."""
    found = set()
    for name, hunks in _files_in(patch):
        suffix = suffix_of(name)
        # Hunks are compared one by one: moved code counts as changed, because one hunk removes it and another adds it.
        if hunks and suffix in _COMMENT and all(_code(hunk, "-", suffix) == _code(hunk, "+", suffix) for hunk in hunks):
            found.add(name)
    return found


def with_same_python(git: Git, span: tuple[str, str], names: Iterable[str]) -> set[str]:
    """Return the Python files that differ between two commits only in comments, white space and docstrings.

    Args:
        git: Reads the files.
        span: The two commits.
        names: The files that differ.
    """
    modules = [name for name in names if name.endswith(".py")]
    if not 0 < len(modules) <= _MOST_MODULES:
        return set()
    before, after = (texts(git, commit, modules) for commit in span)
    return {name for name in before.keys() & after.keys() if _is_same_python(before[name], after[name])}


def _is_same_python(before: str, after: str) -> bool:
    """Return whether two texts have the same code apart from docstrings; False if either cannot be parsed."""
    try:
        return _python(before) == _python(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _python(text: str) -> str:
    """Return Python code in a form without comments, white space and docstrings, to compare two files."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree)


def changes_back(later: Lines, made: Lines) -> bool:
    """Return whether a patch changes back some of the code that an earlier patch changed.

    Lines of keywords only, such as `end else begin`, do not count.
    """
    (added, removed), (came, gone) = made, later
    return any(_SPECIFIC.search(line.strip()) for _, line in (*(added & gone), *(removed & came)))


def _restores(later: Lines, made: Lines) -> bool:
    """Return whether a patch that changes back code of an earlier one also restores what was there before.

    It does if it adds a line that the earlier patch removed, or if it adds nothing to the files from which it removes
    lines that the earlier patch added.
    """
    (added, removed), (came, gone) = made, later
    if any(_SPECIFIC.search(line.strip()) for _, line in removed & came):
        return True
    return {name for name, _ in added & gone}.isdisjoint(name for name, _ in came)


def changed_lines(patch: str) -> Lines:
    """Count the lines of code that a patch adds, and those that it removes; a key is the file's name and the line.

    The patch must have no context lines. Lines that it moves within a file are left out.
    """
    counts: tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]] = (Counter(), Counter())
    for name, hunks in _files_in(patch):
        for hunk in hunks:
            for side, found in zip("+-", counts, strict=True):
                found.update((name, line) for line in _code(hunk, side, suffix_of(name)))
    added, removed = counts
    return added - removed, removed - added


def edited_lines(patch: str) -> tuple[str, ...]:
    """Return the hashes of the lines that a patch adds, or that it removes if it adds none.

    The result is empty if the patch is too long, or changes too many lines.
    """
    if len(patch) > _LONGEST_PATCH:
        return ()
    found = next(filter(None, line_hashes(patch)), set[str]())
    return tuple(sorted(found)) if len(found) <= _MOST_EDITED else ()


def line_hashes(patch: str) -> tuple[set[str], set[str]]:
    """Return the hashes of the lines of code that a patch adds, and of those that it removes.

    Lines of keywords only, such as `end else begin`, are left out.
    """
    added, removed = (
        {
            hashlib.sha256(f"{sign}{name}\n{line.strip()}".encode()).hexdigest()[:8]
            for name, line in lines
            if _SPECIFIC.search(line.strip())
        }
        for sign, lines in zip("+-", changed_lines(patch), strict=True)
    )
    return added, removed


def _files_in(patch: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the hunks of each file in a patch."""
    for part in re.split(r"^diff --git ", patch, flags=re.MULTILINE)[1:]:
        head, *hunks = part.split("\n@@")
        both = head.partition("\n")[0]  # a/NAME b/NAME
        yield both[2 : (len(both) - 1) // 2], hunks


def _code(hunk: str, side: str, suffix: str) -> list[str]:
    """Return the lines of code that a hunk adds (side `+`) or removes (`-`), without insignificant white space."""
    lines = [line for line in hunk.split("\n") if line[:1] == side and line[1:].strip()]
    comment = _COMMENT.get(suffix)
    code = [line[1:] for line in lines if comment is None or not comment.match(line, 1)]
    return ["".join(line.split()) if suffix in _COMMENT and suffix != "py" else line.rstrip() for line in code]
