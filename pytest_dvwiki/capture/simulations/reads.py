"""The project files that a simulation read: HDL with its includes, and Python with its imports."""

from __future__ import annotations

import functools
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pytest_dvwiki import git, reading, simulators
from pytest_dvwiki.capture.processes.toolcalls import absolute
from pytest_dvwiki.capture.simulations.builds import Setup
from pytest_dvwiki.capture.simulations.vhdl_units import needed
from pytest_dvwiki.logtext.frames import is_library
from pytest_dvwiki.model import MOST_READ
from pytest_dvwiki.records.command import workspace
from pytest_dvwiki.records.sides import AT_RUN_TIME, FROM_FILES, NO_HDL
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_READ_LIMIT = 1 << 20
"""Maximum number of bytes of a file that are searched for includes or imports."""
_DIRECTIVE = re.compile(
    r'//[^\n]*+|/\*(?:.*?\*/|.*+)|\$readmem[bh][ \t]*+\([ \t]*+"(?P<memory>[^"\\\n]++)"|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"?'
    r'|`(?:include[ \t]++"(?P<file>[^"\n]++)"|(?P<word>ifdef|ifndef|elsif|else|endif|define)\b[ \t]*+(?P<name>\w*+))',
    re.DOTALL,
)
"""Matches a comment, a string, a call that reads a memory, or a directive for inclusion or conditional compilation."""
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*+[\w.]*+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_MAY_READ = re.compile(rf"(?im){AT_RUN_TIME}|{FROM_FILES}|cocotb|hdl|verilog|verilat|ctypes|cffi|\.s?vh?\b")
"""Matches code that may read files, run programs or use a simulator."""
_NAME = re.compile(r"\w+")
_CONTINUED = re.compile(r"\\\n")
_UNREAD = frozenset({".c", ".cc", ".cpp", ".h", ".hpp", ".so", ".mk", ".a", ".o"})
"""Suffixes of files among a compiler's dependencies that are not HDL."""
_MODULES = frozenset({".v", ".sv", ".vp", ".svp"})
"""Suffixes of files in a library folder that compilers look for."""


def files_read(
    setup: Setup,
    *,
    files: Iterable[str],
    modules: Iterable[str],
    folder: str,
    root: Path,
    modules_in: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return the project files that a simulation read; empty if they are unknown.

    Paths are relative to the top of the git repository, as in git. The top may be above the root, because a design is
    often outside the folder of its tests. Without a repository the paths are relative to the root.

    Args:
        setup: The design that was built.
        files: Absolute paths of Python files, or a Makefile, that are known to have been read.
        modules: Names of test modules.
        folder: Working directory of the simulation, as an absolute path.
        modules_in: Absolute paths of the folders in which Python looks for modules first, if known.
        root: Root of the project; files outside its repository, or outside the root if there is none, are left out.
    """
    top = workspace(root)[0]
    base, real = f"{top}{os.sep}", f"{os.path.realpath(top)}{os.sep}"
    found: dict[str, None] = {}
    for path in (*_hdl(setup, folder, top), *imported(files, modules, folder, base, modules_in)):
        # git knows a file by its real path, not by the path of a link.
        there = os.path.realpath(path)
        if there.startswith(real) and not is_library(there):
            found[redact(there.removeprefix(real).replace(os.sep, "/"))] = None
            if len(found) == MOST_READ:
                break
    return tuple(found)


@functools.lru_cache(maxsize=256)
def files_read_without_simulation(files: tuple[str, ...], root: Path) -> tuple[str, ...]:
    """Return the project files that a test without a simulation read, after `NO_HDL`; empty if they are unknown.

    They are unknown if any of the Python files may read HDL or other files, or may run programs.

    Args:
        files: Paths of Python files that are known to have been read; others are found by their imports.
        root: Root of the project.
    """
    found = files_read(Setup(), files=map(os.path.abspath, files), modules=(), folder=str(root), root=root)
    top = workspace(root)[0]
    if len(found) == MOST_READ or any(_MAY_READ.search(reading.start_of(top / name, _READ_LIMIT)) for name in found):
        return ()
    return (NO_HDL, *found) if found else ()


def _hdl(setup: Setup, folder: str, top: Path) -> Iterator[str]:
    """Yield the sources of a build, then the files that they include or read into memories."""
    setup = _with_modules(_with_needed_units(setup), folder, top)
    yield from setup.sources
    yield from _dependencies(setup, folder)
    yield from _included(setup, folder, top)


def _with_needed_units(setup: Setup) -> Setup:
    """Return a design without the sources of which the tool analysed no unit, since the top needs none of them.

    GHDL imports all sources (`-i`), and then makes a top (`-m`) from those that the top needs.
    """
    if not setup.tops or not setup.imported:
        return setup
    texts = {path: reading.start_of(path, _READ_LIMIT) for path in setup.sources}
    always = {*setup.sources} - {*setup.imported}
    found = needed(texts, always, setup.tops, setup.library)
    is_cut = any(len(text.encode()) >= _READ_LIMIT for text in texts.values())
    return setup if found is None or is_cut else replace(setup, sources=tuple(filter(found.__contains__, texts)))


def _with_modules(setup: Setup, folder: str, top: Path) -> Setup:
    """Return a design with the files of its library folders whose names are words in the sources.

    A compiler looks in these folders for modules that no source defines: with `-y cells`, it reads `cells/inv.v` for a
    module `inv`.
    """
    files: dict[str, str] = {}
    for library in setup.libraries if setup.sources else ():
        with suppress(OSError):
            for name in sorted(os.listdir(library)):  # noqa: PTH208  # names alone, for many entries
                module, suffix = os.path.splitext(name)  # noqa: PTH122  # joined as text
                if suffix in _MODULES:
                    files.setdefault(module, os.path.join(library, name))  # noqa: PTH118  # joined as text
    found = [""]
    while files and found:
        texts = (reading.start_of(path, _READ_LIMIT) for path in (*setup.sources, *_included(setup, folder, top)))
        words = {word for text in texts for word in _NAME.findall(text)}
        found = [files.pop(module) for module in words & files.keys()]
        setup = replace(setup, sources=(*setup.sources, *sorted(found)))
    return setup


class _Include(NamedTuple):
    """An included file or a memory file, with the macros that must be defined for it to be read."""

    file: str
    needs: tuple[str, ...] = ()
    is_memory: bool = False


def _included(setup: Setup, folder: str, top: Path) -> Iterator[str]:
    """Yield the files that the sources of a build include, and those that `$readmemh` and `$readmemb` read.

    A memory file is looked up in the simulator's folder. It is left out if git does not track it, because the run may
    have written the file itself.

    For Icarus, a file inside an `ifdef` is left out if neither the build's commands nor any source defines the macro.
    """
    found: dict[str, tuple[list[_Include], set[str]]] = {}

    def reached(may_define: Callable[[str], bool]) -> Iterator[str]:
        waiting, met = list(reversed(setup.sources)), set(setup.sources)
        while waiting and len(met) < 10 * MOST_READ:
            path = waiting.pop()
            if path not in found:
                found[path] = _directives(reading.start_of(path, _READ_LIMIT))
            for name, needs, is_memory in found[path][0]:
                folders = (folder,) if is_memory else (os.path.dirname(path), *setup.includes)  # noqa: PTH120  # joined as text
                there = next((one for each in folders if os.path.isfile(one := absolute(each, name))), None)  # noqa: PTH113
                if there is None or there in met or not all(map(may_define, needs)):
                    continue
                met.add(there)
                if not is_memory:
                    waiting.append(there)
                    yield there
                elif _is_tracked(there, top):
                    yield there

    every = list(reached(lambda _: True))
    # The macros that other simulators predefine are unknown.
    if not every or setup.simulator != "icarus":
        yield from every
        return
    in_sources = {name for _, defines in found.values() for name in defines}
    yield from reached(lambda name: name.startswith("__") or name in in_sources or setup.may_define(name))


def _directives(text: str) -> tuple[list[_Include], set[str]]:
    """Return the files that a source includes or reads into memories, and the macros that it defines."""
    includes, defines = [], set()
    needs: list[str] = []
    is_balanced = True
    for each in _DIRECTIVE.finditer(text):
        word, name = each["word"], each["name"]
        if file := each["file"] or each["memory"]:
            includes.append(_Include(file, tuple(filter(None, needs)), is_memory=each["memory"] is not None))
        elif word == "define":
            defines.add(name)
        elif word in {"ifdef", "ifndef"}:
            needs.append(name if word == "ifdef" else "")
        elif word and not needs:
            is_balanced = False
        elif word == "endif":
            needs.pop()
        elif word:
            needs[-1] = name if word == "elsif" else ""
    if needs or not is_balanced:
        includes = [each._replace(needs=()) for each in includes]
    return includes, defines


@functools.lru_cache(maxsize=256)
def _is_tracked(path: str, top: Path) -> bool:
    return bool(git.output(top, "ls-files", "-z", "--", f":(literal){os.path.realpath(path)}"))


def _dependencies(setup: Setup, folder: str) -> Iterator[str]:
    """Yield the files listed in a tool's dependency files: rules for make, written beside its output."""
    ending = next((tool.dependencies for tool in simulators.tools() if tool.name == setup.simulator), "")
    if not ending or setup.artefact is None:
        return
    made = os.path.dirname(setup.artefact)  # noqa: PTH120  # joined as text
    try:
        names = [entry.path for entry in os.scandir(made) if entry.name.endswith(ending)]
    except OSError:
        return
    for name in sorted(names):
        _, _, read = _CONTINUED.sub(" ", reading.start_of(name, _READ_LIMIT)).partition(" : ")
        for word in read.split():
            suffix = os.path.splitext(word)[1]  # noqa: PTH122  # joined as text
            # Paths are relative to the folder in which the tool ran: a runner's build folder, or a Makefile's folder.
            there = (absolute(each, word) for each in (made, folder)) if suffix and suffix not in _UNREAD else ()
            yield from [path for path in there if os.path.isfile(path)][:1]  # noqa: PTH113  # many of them


def imported(
    files: Iterable[str], modules: Iterable[str], folder: str, base: str, first: Iterable[str] = ()
) -> Iterator[str]:
    """Yield the given files, the test modules, and the project files that the Python files among them import.

    A Makefile can set the simulator's search path. A module that is in no known folder is therefore looked up by name
    in the whole repository.

    Args:
        files: Absolute paths of files.
        modules: Names of the test modules.
        folder: Working directory, as an absolute path.
        base: The top of the repository, with a slash at its end.
        first: Absolute paths of the folders in which Python looks for modules first, if known.
    """
    search = list(dict.fromkeys((*first, folder, *(os.path.abspath(each) for each in sys.path))))  # noqa: PTH100
    search = [each for each in search if f"{each}/".startswith(base)]
    waiting = list(files)
    waiting += [path for name in modules for path in find_module(name, search) or _anywhere(name, base)]
    waiting.reverse()
    met: set[str] = set()
    while waiting and len(met) < MOST_READ:
        path = waiting.pop()
        if path in met or not path.startswith(base):
            continue
        met.add(path)
        yield path
        here = os.path.dirname(path)  # noqa: PTH120  # joined as text
        if not path.endswith(".py"):
            continue
        for where, names, plain in _IMPORT.findall(reading.start_of(path, _READ_LIMIT)):
            if plain:
                named = [part.split()[0] for part in plain.split(",") if part.split()]
                waiting += [
                    one for name in named for one in find_module(name, (here, *search)) or _anywhere(name, base)
                ]
                continue
            folders = [here, *search]
            module = where.lstrip(".")
            is_relative = module != where
            if is_relative:
                folders = [os.path.normpath(os.path.join(here, *[".."] * (len(where) - len(module) - 1)))]  # noqa: PTH118
            inner = (f"{module}.{name}" if module else name for name in _NAME.findall(names))
            for name in (module, *inner) if module else inner:
                waiting += find_module(name, folders) or (() if is_relative else _anywhere(name, base))


def find_module(module: str, folders: Iterable[str]) -> list[str]:
    """Return a list with the first file of a module in the given folders; empty if no folder has the module."""
    path = module.replace(".", "/")
    for folder in folders:
        for name in (f"{folder}/{path}.py", f"{folder}/{path}/__init__.py"):
            if os.path.isfile(name):  # noqa: PTH113  # many of them
                return [name]
    return []


def _anywhere(module: str, base: str) -> list[str]:
    """Return all files of a repository that may be the module of a given name."""
    path = module.replace(".", "/")
    ends = (f"/{path}.py", f"/{path}/__init__.py")
    names = _python_files(base).get(path.rpartition("/")[2], ())
    return [f"{base}{name}" for name in names if f"/{name}".endswith(ends)]


@functools.lru_cache(maxsize=4)
def _python_files(base: str) -> Mapping[str, list[str]]:
    """Map the last component of a module's name to its possible files in a repository; empty if git fails."""
    listed = git.output(Path(base), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py") or b""
    found: dict[str, list[str]] = {}
    for name in map(os.fsdecode, filter(None, listed.split(b"\0"))):
        found.setdefault(name.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2], []).append(name)
    return found
