"""Find the artefacts of earlier runs in files, folders, globs, archives and URLs.

Artefacts are results files, logs, coverage reports, records and journals of pytest runs on other machines, and reports
on sessions.
"""

from __future__ import annotations

import codecs
import fnmatch
import functools
import glob
import hashlib
import os
import re
import shutil
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki import reading, simulators
from pytest_dvwiki.capture.files.archives import ArchiveError, Budget, is_archive, may_hold, single_name, unpack
from pytest_dvwiki.capture.files.coverage import is_coverage, is_yaml
from pytest_dvwiki.capture.files.remote import RemoteError, find, is_url, open_url
from pytest_dvwiki.capture.runners import runner_of
from pytest_dvwiki.logtext.user_frames import shown_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from io import BufferedReader

    from pytest_dvwiki.capture.runners import Runner

Kind = Literal["results", "log", "coverage", "records", "journal", "report"]

_HEAD = 4096
_BLOCK = 1 << 20
_LONGEST_PROPERTY = 2000
_OWN_PROPERTY = re.compile(rb'<property name="dvwiki_(?:label|fingerprint|page)" value="[^"]{0,1900}" ?/>')
_ARCHIVE_DEPTH = 4
"""Maximum depth of nested archives that are searched."""
_JOURNAL = ".jsonl"
_DATA = frozenset({".xml", ".json", _JOURNAL})
"""Suffixes of data files; only their content shows whether they are artefacts."""
_REPORTS = frozenset({".md", ".markdown", ".json"})
"""Suffixes of reports that agents and people write about a session; they are read only if the user passes the file."""
_JOURNAL_HEAD = b'{"event":"start"'
_SPOOLS = frozenset({".out", ".err"})
"""Suffixes of files with the output of a run's child processes; they are read along with the run's journal."""
_RUN_FOLDER = re.compile(r"[\w.-]+_\d{8}T\d{6}Z_[0-9a-f]{6}")
_RECORD_KEYS = (re.compile(rb"^schema: \d", re.MULTILINE), re.compile(rb"^task_id: ", re.MULTILINE))
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Artefact(Struct, frozen=True, kw_only=True, dict=True):
    """A file that a run wrote."""

    path: Path
    """Path of the file, or of its copy in a scratch folder."""
    shown: str
    """Displayed name: the path relative to the root; for a file in an archive, the archive and the path inside it."""
    kind: Kind
    modified: float
    """Seconds since the epoch."""
    lasting: bool = True
    """False for a temporary copy: a file that was downloaded, or extracted from an archive."""
    only_beside: bool = False
    """Whether this log is read only together with a results file: the file beside it, or the file of its runner."""
    searched: Path | None = None
    """The searched folder that contains the file; None for a temporary copy, or a file that the user passed."""
    of_folder: str | None = None
    """Displayed name of the folder with the runner's results file, if a runner wrote this log; otherwise None."""

    @property
    def folder(self) -> str:
        """Return the displayed name of the file's folder; empty for the root."""
        parent = PurePosixPath(self.shown).parent.as_posix()
        return "" if parent == "." else parent

    @cached_property
    def runner(self) -> Runner | None:
        """Return the runner that wrote this results file; None if no known runner wrote it."""
        return runner_of(self.path.name, _head(self.path)) if self.kind == "results" else None

    @cached_property
    def sha256(self) -> str:
        """Return the SHA-256 of the file without the properties that the plugin adds to pytest's XML."""
        with reading.open_regular(self.path) as stream:
            return _digest(stream, self.path)


class FoundArtefacts(Struct):
    """Artefacts, and messages about paths without any."""

    artefacts: list[Artefact] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Messages about paths that cannot be read or hold no artefacts; each begins with the path."""


def find_artefacts(paths: Iterable[str], *, root: Path, scratch: Path) -> FoundArtefacts:
    """Find artefacts, without duplicates, sorted by name.

    In folders and archives, logs are recognised by their names and all other artefacts by their content; hidden files
    and folders are skipped. For a file that the user passes, the suffix decides if the content does not: YAML is a
    coverage report, XML a results file, Markdown and JSON a report on a session, and any other text a log. The logs
    beside a passed results file are found, too.

    Args:
        paths: Files, folders, archives, URLs, or globs with `*`, `**`, `?` and `[…]`.
        root: Displayed names are relative to this folder.
        scratch: An empty folder for downloads and for files extracted from archives.
    """
    search = _Search(root, scratch)
    for given in paths:
        search.take(given)
    return search.finish()


def sha256_of(path: Path, *, since: float) -> str | None:
    """Return the SHA-256 of a file; None if the file cannot be read, or was last written before the time `since`."""
    try:
        with reading.open_regular(path) as stream:
            is_fresh = os.fstat(stream.fileno()).st_mtime >= since
            return _digest(stream, path) if is_fresh else None
    except OSError:
        return None


def _digest(stream: BufferedReader, path: Path) -> str:
    """Return the SHA-256 of a file without the properties that the plugin adds to pytest's XML.

    The plugin adds them after it has recorded the hash.
    """
    if path.suffix.lower() != ".xml":
        return hashlib.file_digest(stream, "sha256").hexdigest()
    digest, rest = hashlib.sha256(), b""
    while data := stream.read(_BLOCK):
        data = _OWN_PROPERTY.sub(b"", rest + data)
        cut = data.rfind(b"<")
        cut = cut if 0 <= len(data) - cut <= _LONGEST_PROPERTY else len(data)
        digest.update(data[:cut])
        rest = data[cut:]
    digest.update(rest)
    return digest.hexdigest()


def log_at(path: Path, root: Path) -> Artefact | None:
    """Return the log at a path, marked as read only together with a results file; None if the path is not a log."""
    try:
        if not may_be_log(path.name) or not path.is_file() or _kind(path, named=False) != "log":
            return None
        modified = path.stat().st_mtime
    except OSError:
        return None
    shown = shown_path(str(path), root)
    return Artefact(path=path, shown=shown, kind="log", modified=modified, only_beside=True)


class _Search:
    def __init__(self, root: Path, scratch: Path) -> None:
        self._root = root
        self._scratch = scratch
        self._archives = 0
        self._seen: set[Path] = set()
        self._given: dict[Path, Artefact] = {}
        self._beside: dict[Path, Artefact] = {}
        self.found = FoundArtefacts()

    def finish(self) -> FoundArtefacts:
        """Return the artefacts found, sorted by name, and the messages."""
        found = {**self._beside, **self._given}
        self.found.artefacts = sorted(_with_owners([*found.values()]), key=lambda artefact: artefact.shown)
        return self.found

    def take(self, given: str) -> None:
        """Search one command-line argument: a URL, a path or a glob."""
        if is_url(given):
            self._take_url(given)
            return
        paths = expanded(given)
        if not paths:
            self._problem(given, "no file matches; check the path")
        for path in paths:
            before = len(self._seen)
            self._take_path(path)
            if path.is_dir() and len(self._seen) == before:
                nothing = "no results file, log or coverage report in this folder"
                self._problem(str(path), f"{nothing}; pass another folder, or single files")

    def _take_path(self, path: Path) -> None:
        try:
            if path.is_dir():
                for file in walk(path):
                    self._take_file(file, searched=Path(os.path.abspath(path)))  # noqa: PTH100
            elif path.is_file():
                self._take_file(path)
            else:
                self._problem(
                    str(path),
                    "no such file; check the name"
                    if not path.exists()
                    else "not a regular file; pass a file, a folder or an archive",
                )
        except OSError as error:
            self._problem(str(error.filename or path), reading.reason(error))

    def _take_url(self, given: str) -> None:
        """Download the files behind a URL, and search the copies."""
        before = len(self._given), len(self.found.problems)
        try:
            files = find(given, lambda name: may_hold(name, _may_be_one))
            for file in files:
                self._archives += 1
                copy = self._scratch / str(self._archives) / file.name
                copy.parent.mkdir(parents=True)
                with open_url(file.url) as stream, copy.open("wb") as target:
                    shutil.copyfileobj(stream, target)
                if file.modified is not None:
                    os.utime(copy, (file.modified, file.modified))
                self._take_copy(copy, file.shown, named=len(files) == 1)
        except RemoteError as error:
            self._problem(given, str(error))
        except OSError as error:
            self._problem(given, f"cannot be copied to {self._scratch}: {error.strerror}")
        if before == (len(self._given), len(self.found.problems)):
            self._problem(given, "no results file, log or coverage report at this URL; pass another URL")

    def _take_copy(self, copy: Path, shown: str, *, named: bool) -> None:
        if is_archive(copy.name):
            self._take_archive(copy, shown)
        elif (kind := _kind(copy, named=named)) is not None:
            self._add(copy, shown, kind, lasting=False)

    def _take_file(self, file: Path, *, searched: Path | None = None) -> None:
        named = searched is None
        # Symlinks are not resolved: the displayed name is the one that the user chose.
        path = Path(os.path.abspath(file))  # noqa: PTH100
        if path in self._seen or not (named or may_hold(path.name, _may_be_one)):
            return
        shown = shown_path(str(path), self._root)
        if is_archive(path.name):
            self._seen.add(path)
            self._take_archive(path, shown)
            return
        kind = _kind(path, named=named)
        if kind is not None:
            self._seen.add(path)
            self._add(path, shown, kind, searched=searched)
            if named and kind == "results":
                self._add_beside(path.parent)
        elif named:
            what = "no results file, log, coverage report, record or journal"
            self._problem(shown, f"{what}: it holds binary data; if it is a coverage database, export it as UCIS XML")

    def _take_archive(self, path: Path, shown: str) -> None:
        before = len(self.found.problems)
        try:
            taken = self._unpack(path, shown, Budget())
        except ArchiveError as error:
            self._problem(shown, str(error))
            return
        if not taken and len(self.found.problems) == before:
            self._problem(shown, "no results file, log or coverage report in this archive; pass another archive")

    def _unpack(self, path: Path, shown: str, budget: Budget, depth: int = 1) -> int:
        """Extract the artefacts of an archive, and of the archives inside it.

        Returns:
            The number of artefacts.

        Raises:
            ArchiveError: The archive cannot be used.
        """
        self._archives += 1
        target = self._scratch / str(self._archives)
        single = single_name(path.name)
        inner = depth < _ARCHIVE_DEPTH and single is None

        def wanted(name: str) -> bool:
            return single is not None or _may_be_one(name) or (inner and is_archive(name))

        def broken(inside: str, error: ArchiveError) -> None:
            self._problem(shown, str(error) if single is not None else f"{error} (in {inside})")

        taken = 0
        for inside, file in unpack(path, wanted, target, budget, broken):
            name = f"{shown}/{inside}" if single is None else shown[: len(single) - len(path.name)]
            if inner and is_archive(file.name):
                try:
                    taken += self._unpack(file, name, budget, depth + 1)
                except ArchiveError as error:
                    broken(inside, error)
                file.unlink()
            elif (kind := _kind(file, named=single is not None)) is not None:
                taken += 1
                self._add(file, name, kind, lasting=False)
        return taken

    def _add(self, path: Path, shown: str, kind: Kind, *, lasting: bool = True, searched: Path | None = None) -> None:
        modified = path.stat().st_mtime
        self._given[path] = Artefact(
            path=path, shown=shown, kind=kind, modified=modified, lasting=lasting, searched=searched
        )

    def _add_beside(self, folder: Path) -> None:
        for path in folder.iterdir():
            log = log_at(path, self._root)
            if log is not None:
                self._beside[path] = log

    def _problem(self, name: str, reason: str) -> None:
        self.found.problems.append(f"{name}: {reason}")


def _with_owners(artefacts: Sequence[Artefact]) -> Iterator[Artefact]:
    """Yield the artefacts, with `of_folder` and `only_beside` set for the logs of a runner's tests."""
    owners: dict[tuple[Path, str], str] = {}
    for artefact in artefacts:
        for pattern in artefact.runner.logs if artefact.runner is not None else ():
            below = pattern.replace("../", "")
            above = (pattern.count("/") - below.count("/")) + 1
            owners[Path(*artefact.path.parts[:-above]), below] = artefact.folder
    patterns = {pattern for _, pattern in owners}
    for artefact in artefacts:
        found = (_owner(artefact, pattern, owners) for pattern in patterns)
        owner = next((each for each in found if each is not None), None)
        yield replace(artefact, only_beside=True, of_folder=owner) if owner is not None else artefact


def _owner(artefact: Artefact, pattern: str, owners: Mapping[tuple[Path, str], str]) -> str | None:
    """Return the folder of the runner's results file if a log's path matches the runner's glob; otherwise None."""
    below = artefact.path.parts[-pattern.count("/") - 1 :]
    is_log = artefact.kind == "log" and fnmatch.fnmatchcase("/".join(below), pattern)
    return owners.get((Path(*artefact.path.parts[: -len(below)]), pattern)) if is_log else None


def expanded(given: str) -> list[Path]:
    """Return the paths that a command-line argument stands for.

    An existing path and an argument without wildcards are returned as they are; a glob is replaced by its matches.
    """
    path = Path(given)
    if path.exists() or not glob.has_magic(given):
        return [path]
    return [Path(name) for name in sorted(glob.glob(given, recursive=True))]  # noqa: PTH207  # may be absolute


def walk(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and its subfolders, sorted; hidden folders are skipped."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_file():
                yield path


def _may_be_one(name: str) -> bool:
    """Return whether a file in a folder or archive is named like an artefact; False for hidden files."""
    path = PurePosixPath(name)
    if any(part.startswith(".") for part in path.parts):
        return False
    if path.suffix in _SPOOLS:
        return _RUN_FOLDER.fullmatch(path.parent.name) is not None
    return path.suffix.lower() in _DATA or is_yaml(path.name) or may_be_log(path.name)


def may_be_log(name: str) -> bool:
    """Return whether a file is named like a log."""
    return not {name, PurePosixPath(name).suffix.lower()}.isdisjoint(_log_names())


@functools.cache
def _log_names() -> frozenset[str]:
    """Return the file names and suffixes that mark a log."""
    return frozenset({".log", *(name for tool in simulators.tools() for name in tool.log_names)})


def _head(path: Path) -> bytes:
    with reading.open_regular(path) as stream:
        return stream.read(_HEAD)


def _kind(path: Path, *, named: bool) -> Kind | None:
    head = _head(path)
    if path.suffix in _SPOOLS and not named:
        return None
    kind = _kind_of_content(path, head)
    if kind is not None:
        return kind
    if is_yaml(path.name):
        # Most YAML files are not coverage reports. If the user passed this one, the reader of coverage reports explains
        # what is wrong.
        return "coverage" if named else None
    if path.suffix.lower() == ".xml":
        # Most XML files are not results files. An empty one may be from a run that ended before it wrote its results.
        return "results" if named or not head else None
    is_binary = b"\0" in head and not head.startswith(_UTF16)
    if is_binary or (path.suffix.lower() in _DATA and not named):
        return None
    return "report" if named and path.suffix.lower() in _REPORTS else "log"


def _kind_of_content(path: Path, head: bytes) -> Kind | None:
    """Return the kind of a file, judged by its first bytes and its name; None if they do not show the kind."""
    if path.suffix == _JOURNAL and head.startswith(_JOURNAL_HEAD):
        return "journal"
    if is_coverage(path.name, head):
        return "coverage"
    if is_yaml(path.name) and all(key.search(head) for key in _RECORD_KEYS):
        return "records"
    # A log may quote a results file, so the file must also begin with `<`.
    is_xml = head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")
    return "results" if (is_xml and b"<testsuite" in head) or runner_of(path.name, head) is not None else None
