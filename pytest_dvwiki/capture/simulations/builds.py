"""The build that a simulation ran: its configuration and sources, even if the build step was skipped.

Runners and Makefiles build only if sources have changed. The last builds are therefore stored in files beside the
journal. A stored build is used only if the built file still has the recorded time and size; otherwise another build,
which was not observed, has replaced it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.processes.commands import commands
from pytest_dvwiki.capture.processes.toolcalls import read_call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pytest_dvwiki.capture.processes.toolcalls import ToolCall

_FILES = 256
"""Maximum number of builds kept on disk; the oldest are deleted."""
_SOURCES = 1000
_OPEN = 64
"""Maximum number of builds that wait for their first run."""
_NO_RUN = "0000"
_WORK = "work"
"""Default name of the library into which VHDL is analysed."""
_OWN = re.compile(r"[0-9a-f]{16}\.json")


class Build(Struct, frozen=True, kw_only=True):
    """A build that later runs may use."""

    simulator: str | None
    items: tuple[str, ...]
    """Sorted configuration items of the build's commands, each as kind and hash: a define's value may be secret."""
    sources: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    unlisted: bool = False
    """Whether the build read sources that are unknown."""
    artefact: str | None = None
    places: tuple[str, ...] = ()
    """Files and folders in a run's command that identify this build."""
    stamp: tuple[int, int] | None = None
    """Modification time in nanoseconds and size of the artefact; None if the file does not exist."""
    defined: tuple[str, ...] = ()
    """Sorted hashes of the names of all macros that the build's commands define."""
    imported: tuple[str, ...] = ()
    """The sources that the tool analyses only if the top needs them."""
    imported_for: tuple[str, ...] = ()
    """The tops for which the tool analysed imported sources."""
    imported_into: tuple[str, ...] = ()
    """Names of the VHDL libraries of the imported sources and of these tops."""


class Setup(Struct, frozen=True, kw_only=True):
    """The design that a simulation ran, as far as known."""

    simulator: str | None = None
    config: str | None = None
    """12 hex digits of the configuration: 8 for the build, 4 for what the run adds (`0000` if it adds nothing).

    None if the build is unknown. For a failed build, only the first 8 digits are meaningful.
    """
    sources: tuple[str, ...] = ()
    """Absolute paths of all sources of the build; empty if any of them is unknown."""
    includes: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    """Absolute paths of the folders that were searched for the files of modules."""
    artefact: str | None = None
    defined: tuple[str, ...] | None = None
    """Hashes of the names of all macros that the build's commands define; None if the build is unknown."""
    imported: tuple[str, ...] = ()
    """The sources that the tool read only if the tops need them; empty if it read all of them, or that is unknown."""
    tops: tuple[str, ...] = ()
    """The tops that decide which of the imported sources the tool read."""
    library: str = ""
    """Name of the VHDL library of the imported sources."""

    def may_define(self, name: str) -> bool:
        """Return whether the commands of the build may define a macro; True if they are unknown."""
        return self.defined is None or _name_hash(name) in self.defined


UNKNOWN = Setup()


def _hashed(items: Iterable[str]) -> list[str]:
    """Return items with hashed values, sorted: `define 5ae4…`."""
    return sorted(f"{item.partition(' ')[0]} {_hash({item})[:16]}" for item in items)


def _config(build: Iterable[str], run: Iterable[str]) -> str:
    built = set(build)
    added = set(run) - built
    return _hash(built)[:8] + (_hash(added)[: len(_NO_RUN)] if added else _NO_RUN)


def _hash(items: set[str]) -> str:
    return hashlib.sha256("\n".join(sorted(items)).encode("utf-8", "surrogateescape")).hexdigest()


def _name_hash(name: str) -> str:
    return _hash({name})[:16]


NOTHING_KNOWN = _hash(set())[:8]
"""The hash of a build for which no configuration items are known. Different designs can have this hash."""


class Builds:
    """The last builds, in memory and, if there is a folder for them, on disk: a file for each build."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, Build | None] = {}

    def find(self, places: Iterable[str]) -> Build | None:
        """Return the last build at any of the given paths; None if none is known, or if its artefact has changed."""
        for place in places:
            found = self._known.get(place)
            if found is None or stamp_of(found.artefact) != found.stamp:
                found = self._read(place)  # another process may have built in the meantime
            if found is not None and stamp_of(found.artefact) == found.stamp:
                self._known[place] = found
                return found
        return None

    def keep(self, build: Build) -> None:
        """Store the build of a simulation for later runs that skip the build."""
        build = replace(build, stamp=stamp_of(build.artefact))
        for place in build.places:
            if self._known.get(place) != build:
                self._known[place] = build
                self._write(place, build)

    def _path(self, folder: Path, place: str) -> Path:
        return folder / f"{hashlib.sha256(place.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.json"

    def _read(self, place: str) -> Build | None:
        if self._folder is None:
            return None
        import msgspec  # noqa: PLC0415  # loaded only for a skipped build

        try:
            return msgspec.json.decode(reading.read_bytes(self._path(self._folder, place)), type=Build)
        except (OSError, msgspec.DecodeError):
            return None

    def _write(self, place: str, build: Build) -> None:
        """Write the file of a build atomically."""
        if self._folder is None:
            return
        import msgspec  # noqa: PLC0415

        path = self._path(self._folder, place)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        with suppress(OSError):
            if not path.exists():
                self._make_room(self._folder)
            with temporary.open("xb") as stream:
                stream.write(msgspec.json.encode(build))
            temporary.replace(path)

    @staticmethod
    def _make_room(folder: Path) -> None:
        """Create the folder, and delete the oldest files in it.

        Raises:
            OSError: The folder cannot be written, or is a link, which may lead outside the project.
        """
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # the parent folder holds the journals
        folder.mkdir(exist_ok=True)
        if folder.is_symlink() or folder.parent.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder))
        with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as stream:
            stream.write("*\n")
        entries = (entry for entry in os.scandir(folder) if _OWN.fullmatch(entry.name))
        files = [(entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in entries]
        for _, oldest in sorted(files)[: max(0, len(files) - _FILES + 1)]:
            os.unlink(oldest)  # noqa: PTH108  # no path object for each of many


def stamp_of(artefact: str | None) -> tuple[int, int] | None:
    """Return the modification time and size of a file; None if there is no such file."""
    if artefact is None:
        return None
    try:
        status = os.stat(artefact)  # noqa: PTH116  # once for each simulation
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


class Watch:
    """Follows the calls of tools in order, and matches each run with its build. New builds are added to `builds`."""

    def __init__(self, builds: Builds) -> None:
        self._builds = builds
        self._open: list[tuple[Build, tuple[int, int] | None]] = []
        """Builds that have not been run yet, each with the stamp of the artefact before the build."""
        self._failed: list[Build] = []
        """Builds after which make stopped, so that later builds do not continue them."""
        self._of_item = 0
        """Index in `_open` of the first build that belongs to the current item."""
        self._merging = False
        """Whether the next call may continue a build, because no simulation has run since."""

    def next_item(self) -> None:
        """Start another item; its runs do not use failed builds of earlier items."""
        self._of_item = len(self._open)
        self._merging = False

    def stop(self) -> None:
        """Note that make stopped, so that all builds of the current item have ended."""
        self._failed += (build for build, _ in self._open[self._of_item :])
        del self._open[self._of_item :]
        self._merging = False

    def observe(self, call: ToolCall) -> Setup:
        """Process a call, and return the design that it runs or, for a build, the design so far."""
        build = self._built(call) if call.builds else None
        if not call.runs:
            return _setup(build, call, ())
        build = build or self._ready(call) or self._builds.find(call.places) or self._only(call)
        self._merging = False
        if build is None:
            return Setup(simulator=call.simulator)
        self._builds.keep(build)
        self._open = [one for one in self._open if not set(one[0].places) & set(build.places)]
        self._of_item = min(self._of_item, len(self._open))
        return _setup(build, call, call.items)

    def _built(self, call: ToolCall) -> Build:
        """Add a call to a build of the item that has not been run yet, or start a build.

        A call that makes the same artefact again replaces the build.
        """
        searched = [one for one, _ in self._open if not set(one.places).isdisjoint(call.searched)]
        # A library keeps the files that were compiled into it, even if the build failed.
        libraries = {*call.searched, *(call.places if call.artefact is None else ())}
        failed = [one for one in self._failed if one.artefact is None and not libraries.isdisjoint(one.places)]
        found = Build(
            simulator=call.simulator,
            items=tuple(_hashed(call.items)),
            sources=call.sources[:_SOURCES],
            includes=call.includes,
            libraries=call.libraries,
            unlisted=call.unlisted,
            artefact=call.artefact,
            places=call.places,
            defined=tuple(sorted(map(_name_hash, call.defined))),
            imported=call.sources if call.imports else (),
            imported_for=call.tops if call.analyses_imported else (),
            imported_into=(call.library.lower() or _WORK,) if call.imports or call.analyses_imported else (),
        )
        for one in (*searched, *map(_for_any_top, failed)):
            found = _with_sources(found, one)
        mine = range(self._of_item, len(self._open)) if self._merging else ()
        for number in mine:
            other, before = self._open[number]
            same = other.artefact == found.artefact
            if not set(other.places) & set(found.places) or not (same or None in {other.artefact, found.artefact}):
                continue
            if other.artefact is None or not same:
                found = _merged(other, found)
            self._open[number] = (found, before)
            return found
        if len(self._open) == _OPEN:
            del self._open[0]
            self._of_item = max(0, self._of_item - 1)
        self._open.append((found, stamp_of(found.artefact)))
        self._merging = True
        return found

    def _ready(self, call: ToolCall) -> Build | None:
        """Return the latest build that shares a path with a run; None if there is none, or if that build failed.

        A build of an earlier item counts as failed if it did not write its artefact. If make stopped after a build of
        this item, another build failed, because this one was run.
        """
        for number in range(len(self._open) - 1, -1, -1):
            build, before = self._open[number]
            if set(build.places) & set(call.places):
                is_own = number >= self._of_item
                return build if is_own or build.artefact is None or stamp_of(build.artefact) != before else None
        return next((build for build in reversed(self._failed) if set(build.places) & set(call.places)), None)

    def _only(self, call: ToolCall) -> Build | None:
        """Return the item's only build, for tools whose run commands do not name the build; None if it has several."""
        mine = [build for build, _ in self._open[self._of_item :]]
        same = len(mine) == 1 and call.artefact is None and call.simulator in {None, mine[0].simulator}
        return mine[0] if same else None


def _merged(earlier: Build, later: Build) -> Build:
    """Combine two steps of a build.

    If they are for different tops, the later step begins another build, of which the earlier one shows only what it
    compiled.
    """
    tops, others = ({item for item in build.items if item.startswith("top ")} for build in (later, earlier))
    if tops and others and tops != others:
        earlier = _for_any_top(earlier)
    merged = Build(
        simulator=later.simulator,
        items=tuple(sorted({*earlier.items, *later.items})),
        includes=tuple(dict.fromkeys((*earlier.includes, *later.includes))),
        libraries=tuple(dict.fromkeys((*earlier.libraries, *later.libraries))),
        artefact=later.artefact or earlier.artefact,
        places=tuple(dict.fromkeys((*later.places, *earlier.places))),
        defined=tuple(sorted({*earlier.defined, *later.defined})),
    )
    return _with_sources(_with_sources(merged, earlier), later)


def _with_sources(build: Build, other: Build) -> Build:
    """Return a build that also reads the sources of another one, and imports those that neither of them analyses."""
    both = (build, other)
    analysed = {source for one in both for source in one.sources if source not in one.imported}
    return replace(
        build,
        sources=tuple(dict.fromkeys(source for one in both for source in one.sources))[:_SOURCES],
        unlisted=build.unlisted or other.unlisted,
        imported=tuple(dict.fromkeys(each for one in both for each in one.imported if each not in analysed)),
        imported_for=tuple(dict.fromkeys(top for one in both for top in one.imported_for)),
        imported_into=tuple(dict.fromkeys(name for one in both for name in one.imported_into)),
    )


def _for_any_top(build: Build) -> Build:
    """Return a build without what holds only for its top: the top itself, and parameters."""
    items = tuple(item for item in build.items if not item.startswith(("top ", "parameter ")))
    return replace(build, items=items, imported_for=())


def _setup(build: Build | None, call: ToolCall, run: Iterable[str]) -> Setup:
    items = build.items if build is not None else ()
    run_items = set(run)
    if call.runs and call.toplevel and not any(item.startswith("top ") for item in (*items, *run_items)):
        run_items.add(f"top {call.toplevel}")
    made = build if build is not None and _is_made_for_tops(build, call) else None
    return Setup(
        simulator=(build.simulator if build is not None else None) or call.simulator,
        config=_config(items, _hashed(run_items)),
        sources=build.sources if build is not None and not build.unlisted else (),
        includes=build.includes if build is not None else (),
        libraries=build.libraries if build is not None else (),
        artefact=build.artefact if build is not None else None,
        defined=build.defined if build is not None else None,
        imported=made.imported if made is not None else (),
        tops=tuple(dict.fromkeys((*made.imported_for, *call.tops))) if made is not None else (),
        library=made.imported_into[0] if made is not None else "",
    )


def _is_made_for_tops(build: Build, call: ToolCall) -> bool:
    """Return whether a call runs a build in which the tool analysed only the imported sources that the tops need.

    All of them must be in the library of the call. A failed build does not count: the tool may have failed while it
    searched all sources for their units, before it chose any of them.
    """
    library = call.library.lower() or _WORK
    return call.runs and bool(build.imported_for) and build.imported_into == (library,)


def setup_of_log(
    echoed: Iterable[tuple[str, str]], folder: str, builds: Builds, failed: Iterable[tuple[str, str]] = ()
) -> Setup:
    """Return the design of the last simulation in a log, else of the last build, from the commands in the log.

    Args:
        echoed: Pairs of folder and command; the folder is empty if the log does not show it before the command.
        folder: Working directory of the first command, as an absolute path.
        builds: The builds that were made before those in the log.
        failed: The commands, as in `echoed`, of builds that failed before.
    """
    watch = Watch(builds)
    built = ran = UNKNOWN
    for call in _calls(failed, folder):
        watch.observe(call)
    watch.stop()
    for call in _calls(echoed, folder):
        if call.runs:
            ran = watch.observe(call)
        else:
            built = watch.observe(call)
    return built if ran == UNKNOWN else ran


def _calls(echoed: Iterable[tuple[str, str]], folder: str) -> Iterator[ToolCall]:
    """Yield the calls of tools in the commands of a log."""
    for there, text in echoed:
        for command in commands(("sh", "-c", text), os.path.join(folder, there)):  # noqa: PTH118  # joined as text
            runs = os.path.basename(command.words[0]) in {"Vtop", "simv"}  # noqa: PTH119  # as Makefiles call them
            if call := read_call(command.words, command.folder, command.variables, runs=runs):
                yield call
