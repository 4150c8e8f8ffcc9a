"""Parsing of command lines of compilers and simulators: top, parameters, defines, plusargs, and the files read.

Paths, seeds, names of tests and output options are left out, so that a design has the same configuration in another
folder, with another seed, or with waves.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading, simulators
from pytest_dvwiki.capture.processes.wildcards import expanded, is_pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_dvwiki.simulators.tool import Does, Kind, Program

_HDL = frozenset({".v", ".sv", ".vh", ".svh", ".vlt", ".vp", ".svp", ".vams", ".vhd", ".vhdl"})
_READ_LIMIT = 1 << 18
"""Maximum number of bytes read from a file list or script."""
_WORD_LIMIT = 20_000
_DEPTH = 8
_DUMP_TOPS = frozenset({"cocotb_iverilog_dump", "iverilog_dump"})
"""Modules that a runner adds to a design to dump its waves."""
_GENERATED = frozenset({"cmds.f", "timescale.f", "cocotb_iverilog_dump.v", "iverilog_dump.v"})
"""Files that a runner writes for the compiler."""
_LEFT_OUT = re.compile(
    r"seed|^cocotb_sim$|^(?:uvm_)?test(?:name|case|s|_?filter)?$|verbos|^(?:dump|vcd|vpd|fst|fsdb|waves?|trace|log)",
    re.IGNORECASE,
)
"""Matches names of defines, parameters and plusargs that are not part of the configuration."""
_FOLDERS = re.compile(r"(?:[A-Za-z]:)?[\w.~$@%-]*[/\\](?:[\w.~$@%-]*[/\\])*")
_FILE = re.compile(r"[\w.-]*\.[A-Za-z]\w*")
_TOP = re.compile(r"[A-Za-z_][\w$]*(?:[.-][A-Za-z_][\w$]*)*(?:\(\w+\))?")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_LINE_COMMENT = re.compile(r"(?://|(?<!\S)#)[^\n]*")
_COMMENT = re.compile(rf"/\*.*?\*/|{_LINE_COMMENT.pattern}", re.DOTALL)
_LISTED = re.compile(r'"[^"\n]*"|\S+')
_CARRIERS = re.compile(r"(?:perl|python[\d.]*|gdb|valgrind|rr|strace|perf|taskset|numactl|wine)(?:\.exe)?")
"""Matches programs that run another program given as an argument."""


class ToolCall(Struct, frozen=True, kw_only=True):
    """What a command line shows about the design that it builds or runs."""

    simulator: str | None
    """Name of the tool; None for a simulation that was compiled to an executable."""
    builds: bool
    runs: bool
    items: frozenset[str]
    """Items of the configuration, such as `top dut`, `parameter WIDTH=8`, `define FAST` or `plusarg mode=2`."""
    sources: tuple[str, ...] = ()
    """Absolute paths of HDL sources and file lists, in order."""
    includes: tuple[str, ...] = ()
    """Absolute paths of the folders that are searched for included files."""
    libraries: tuple[str, ...] = ()
    """Absolute paths of the folders that are searched for the files of modules (`-y`)."""
    searched: tuple[str, ...] = ()
    """Absolute paths of the folders in which the tool looks for VHDL libraries that other calls made."""
    unlisted: bool = False
    """Whether the command reads sources that are unknown, such as those of a file list that no longer exists."""
    artefact: str | None = None
    """Absolute path of the file that the tool makes or runs; None if the build is a folder, such as a library."""
    places: tuple[str, ...] = ()
    """Absolute paths that identify the build in the commands of its runs; empty if the tool only checks."""
    toplevel: str | None = None
    """Top from the environment; a top on the command line takes precedence."""
    defined: frozenset[str] = frozenset()
    """Names of all macros that the command line defines."""
    imports: bool = False
    """Whether the tool only notes which units the sources have, and analyses none of them yet."""
    analyses_imported: bool = False
    """Whether the tool analyses the units below the top, of those that were imported."""
    tops: tuple[str, ...] = ()
    """The tops on the command line, without their libraries and architectures."""
    library: str = ""
    """Name of the VHDL library for the sources and the top; empty for the default."""


def read_call(
    words: Sequence[str], folder: str, variables: Mapping[str, str] | None = None, *, runs: bool = False
) -> ToolCall | None:
    """Parse a command line; return None for an unknown program and for a call that neither builds nor runs.

    The folder is absolute. With `runs`, the command is known to run a simulation: an unknown program is then a compiled
    simulation.
    """
    name, arguments = _program(words)
    reader = _CallReader(folder, variables or {})
    program = simulators.programs().get(name)
    if program is None:
        return reader.binary(words) if runs and not _CARRIERS.fullmatch(name) else None
    if program.takes_script and (script := _script(arguments, folder)):
        return reader.scripted(script)
    return reader.call(simulators.owners()[name], program, arguments)


def program_name(word: str) -> str:
    """Return the name of a program without its folder."""
    return os.path.basename(word).removesuffix(".exe")  # noqa: PTH119  # may not be a path


def _program(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the name of the tool that a command line runs, and its arguments."""
    if not words:
        return "", ()
    program = program_name(words[0])
    if program not in simulators.programs() and _CARRIERS.fullmatch(program):
        for number, word in enumerate(words[1:], start=1):
            if program_name(word) in simulators.programs():
                return program_name(word), words[number + 1 :]
    return program, words[1:]


def _script(words: Sequence[str], folder: str) -> str:
    """Return the content of the script in a simulator's option `-do FILE`; empty without this option or the file."""
    for number, word in enumerate(words):
        # cocotb-test writes `-do do FILE`.
        given = [one for one in words[number + 1 : number + 3] if one != "do"][:1] if word == "-do" else ()
        for name in given:
            if text := reading.start_of(absolute(folder, name), _READ_LIMIT):
                return text
    return ""


def _without_comments(text: str) -> str:
    """Return a file list without its comments; an unclosed `/*` is part of a path."""
    last = text.rfind("*/")
    end = (text.find("\n", last) + 1 or len(text)) if last >= 0 else 0
    return _COMMENT.sub(" ", text[:end]) + _LINE_COMMENT.sub(" ", text[end:])


def absolute(folder: str, word: str) -> str:
    """Return a path in a command line as an absolute path."""
    return os.path.normpath(os.path.join(folder, word))  # noqa: PTH118  # joined as text


def _without_folders(text: str) -> str:
    """Return a value without folders, so that files keep only their names; a quotient such as `A/B` stays."""

    def without(match: re.Match[str]) -> str:
        is_path = match[0][0] in "/\\.~" or match[0][1:2] == ":" or _FILE.match(text, match.end())
        return "" if is_path else match[0]

    return _FOLDERS.sub(without, text)


class _CallReader:
    """Parser of one command line."""

    def __init__(self, folder: str, variables: Mapping[str, str]) -> None:
        self._folder = folder
        self._toplevel = variables.get("COCOTB_TOPLEVEL") or variables.get("TOPLEVEL")
        self._defines: dict[str, str] = {}
        self._defined: set[str] = set()
        self._parameters: dict[str, str] = {}
        self._plusargs: set[str] = set()
        self._tops: list[str] = []
        self._sources: dict[str, None] = {}
        self._includes: dict[str, None] = {}
        self._libraries: dict[str, None] = {}
        self._searched: dict[str, None] = {}
        self._library_name = ""
        self._unlisted = False
        self._positional: list[str] = []
        self._folders: dict[str, None] = {}
        self._artefact: str | None = None

    def scripted(self, script: str) -> ToolCall | None:
        """Return one call that merges all commands in a simulator's script; None if the script calls no tool."""
        calls = []
        for line in script.splitlines():
            with suppress(ValueError):
                words = shlex.split(line.rstrip(" ;"))
                call = read_call(words, self._folder) if words and words[0] in simulators.programs() else None
                calls += [call] if call is not None else []
        return _merged(calls, self._folder, self._toplevel) if calls else None

    def binary(self, words: Sequence[str]) -> ToolCall:
        """Return the call of a simulation that was built as an executable."""
        for word in words[1:]:
            self._plus(word)
        self._artefact = absolute(self._folder, words[0])
        return self._tool_call(None, "run", (self._artefact,))

    def call(self, simulator: str, program: Program, words: Sequence[str]) -> ToolCall | None:
        """Return the call of a tool; None if it neither builds nor runs."""
        does = _does(program, words)
        if does is None:
            return None
        self._take(program, words[1:] if program.subcommands else words)
        if does == "build":
            self._plusargs.clear()
        if program.runs_first_word:
            self._artefact = self._positional[0] if self._positional else None
        elif program.names_top and program.no_top_with not in words:
            named = [word for word in self._positional if _TOP.fullmatch(word)]
            self._tops += ["-".join(named[:2])] if program.architecture_follows and named else named
        places = () if program.only_checks.intersection(words) else tuple(self._places(program))
        call = self._tool_call(simulator, does, places)
        says_nothing = not (call.sources or call.items or (call.artefact and does == "run"))
        is_asked_to_run = does != "build" and not program.decided_by.keys().isdisjoint(words)
        return None if says_nothing and not is_asked_to_run else _with_imports(call, program, words)

    def _places(self, program: Program) -> Iterator[str]:
        """Yield the paths where a tool writes or expects its build."""
        folders = [absolute(self._folder, each) for each in self._folders]
        if program.has_library:
            yield from folders or [self._folder]
        made = self._artefact or program.makes.format(top=self._tops[0] if self._tops else "top")
        if made:
            into = folders[0] if folders else absolute(self._folder, program.makes_in)
            self._artefact = absolute(into if program.makes_in else self._folder, made)
            yield self._artefact

    def _tool_call(self, simulator: str | None, does: Does, places: tuple[str, ...]) -> ToolCall:
        # The library in front of a top is left out: `work.dut` is the top `dut`.
        tops = sorted({top.strip("'\"").rpartition(".")[2] for top in self._tops} - _DUMP_TOPS)
        items = {f"top {top}" for top in tops}
        items |= {f"define {name}{value}" for name, value in self._defines.items()}
        above = {*tops, self._toplevel}
        items |= {f"parameter {_below(name, above)}{value}" for name, value in self._parameters.items()}
        items |= {f"plusarg {word}" for word in self._plusargs}
        return ToolCall(
            simulator=simulator,
            builds=does != "run",
            runs=does != "build",
            items=frozenset(items),
            sources=tuple(self._sources),
            includes=tuple(self._includes),
            libraries=tuple(self._libraries),
            searched=tuple(self._searched),
            unlisted=self._unlisted,
            artefact=self._artefact if places else None,
            places=places,
            toplevel=self._toplevel,
            defined=frozenset(self._defined),
            tops=tuple(top.partition("-")[0] for top in tops),
            library=self._library_name,
        )

    def _take(self, program: Program, words: Sequence[str]) -> None:
        """Process the words in order, replacing each file list by its content."""
        # Each word with the folder that its path is relative to, and its depth in file lists.
        waiting = [(word, self._folder, 0) for word in reversed(words)]
        for _ in range(_WORD_LIMIT):
            if not waiting:
                return
            word, base, depth = waiting.pop()
            option = word[1:] if program.two_dashes and word.startswith("--") else word
            head, blank, rest = option.partition(" ")
            kind: Kind | None
            if blank and head in program.separate:  # cocotb's runner writes `-define NAME=1` as one word
                with suppress(ValueError):
                    waiting += [(one, base, depth) for one in reversed((head, *shlex.split(rest)))]
                continue
            if option in program.separate:
                kind, value = program.separate[option], waiting.pop()[0] if waiting else ""
            else:
                kind, value = _joined(program, option)
            if kind in {"list", "list_beside"} and value and depth < _DEPTH:
                for path in self._paths(value, base):
                    self._source(path)
                    inner = os.path.dirname(path) if kind == "list_beside" else base  # noqa: PTH120  # joined as text
                    listed = _LISTED.findall(_without_comments(reading.start_of(path, _READ_LIMIT)))
                    waiting += [(one.strip('"'), inner, depth + 1) for one in reversed(listed)]
                    self._unlisted |= not (listed or os.path.isfile(path) or _is_generated(path))  # noqa: PTH113
            elif kind is not None:
                self._option(kind, value, base)
            elif option.startswith("+"):
                self._plus(option, base)
            elif option and not option.startswith("-"):
                self._plain(word, base)

    def _option(self, kind: Kind, value: str, base: str) -> None:
        match kind:
            case "define":
                self._define(value)
            case "parameter":
                self._parameter(value)
            case "top":
                self._tops.append(value)
            case "source":
                for path in self._paths(value, base):
                    self._source(path)
            case "include" | "searched":
                folders = self._includes if kind == "include" else self._searched
                folders[absolute(base, value)] = None
            case "library":
                self._libraries |= dict.fromkeys(self._paths(value, base))
            case "artefact":
                self._artefact = value
            case "folder":
                self._folders[value] = None
            case "work":
                self._folders[os.path.dirname(value.rpartition(":")[2])] = None  # noqa: PTH120  # joined as text
            case "library_name":
                self._library_name = value

    def _plain(self, word: str, base: str) -> None:
        word = _expanded(word)
        for one in self._paths(word, base) if is_pattern(word) else (word,):
            if os.path.splitext(one)[1].lower() in _HDL:  # noqa: PTH122  # may not be a path
                self._source(absolute(base, one))
            else:
                self._positional.append(one)

    def _paths(self, word: str, base: str) -> list[str]:
        """Return the absolute paths of the files that a word names, perhaps with wildcards.

        If no file matches, note in `_unlisted` that the sources are unknown.
        """
        path = absolute(base, _expanded(word))
        if not is_pattern(path):
            return [path]
        found = expanded(path)
        self._unlisted |= not found
        return found

    def _source(self, path: str) -> None:
        if not _is_generated(path):
            self._sources[path] = None

    def _plus(self, word: str, base: str = "") -> None:
        if word.startswith("+define+"):
            for define in word.removeprefix("+define+").split("+"):
                self._define(define)
        elif word.startswith("+incdir+"):
            for folder in word.removeprefix("+incdir+").split("+"):
                self._includes[absolute(base, folder)] = None
        elif word.startswith("+") and not _tool_option().match(word):
            name = re.split(r"[=+]", word[1:], maxsplit=1)[0]
            if not _LEFT_OUT.search(word[1:] if name in simulators.owners() else name):
                self._plusargs.add(_without_folders(word[1:]))

    def _define(self, text: str) -> None:
        name, _, value = text.strip("'\"").partition("=")
        self._defined.add(name)
        if name and not _LEFT_OUT.search(name):
            self._defines[name] = _value(value)

    def _parameter(self, text: str) -> None:
        name, sign, value = text.strip("'\"").partition("=")
        name = name.strip()
        if sign and name and not _LEFT_OUT.search(name):
            self._parameters[name.replace("/", ".").lstrip(".")] = _value(value.removeprefix(">"))


def _with_imports(call: ToolCall, program: Program, words: Sequence[str]) -> ToolCall:
    """Return a call with `imports` and `analyses_imported` set from the subcommand, which is the first word."""
    imports, follows = (not chosen.isdisjoint(words[:1]) for chosen in (program.imports, program.analyses_imported))
    return replace(call, imports=imports, analyses_imported=follows)


def _merged(calls: Sequence[ToolCall], folder: str, toplevel: str | None) -> ToolCall:
    """Combine one or more calls into one."""
    return ToolCall(
        simulator=calls[-1].simulator,
        builds=any(call.builds for call in calls),
        runs=any(call.runs for call in calls),
        items=frozenset().union(*(call.items for call in calls)),
        sources=tuple(dict.fromkeys(source for call in calls for source in call.sources)),
        includes=tuple(dict.fromkeys(include for call in calls for include in call.includes)),
        libraries=tuple(dict.fromkeys(library for call in calls for library in call.libraries)),
        unlisted=any(call.unlisted for call in calls),
        places=(folder,),
        toplevel=toplevel,
        defined=frozenset().union(*(call.defined for call in calls)),
    )


_tool_option = simulators.expression(
    lambda tool: tool.plus_options, "libext|libverbose|timescale", form=r"\+{}\b", flags=re.IGNORECASE
)
"""Returns an expression that matches the tools' own options with a leading `+`."""


def _does(program: Program, words: Sequence[str]) -> Does | None:
    """Return whether a call builds, runs or does both; None if it does neither, as with `--version`."""
    if program.subcommands:
        return program.subcommands.get(words[0]) if words else None
    return next((does for option, does in program.decided_by.items() if option in words), program.does)


def _joined(program: Program, word: str) -> tuple[Kind | None, str]:
    """Return the kind of an option and the value attached to it, as in `-Ifolder`; None and "" for any other word."""
    for prefix, kind in program.joined.items():
        if word.startswith(prefix) and (kind != "parameter" or "=" in word):
            return kind, word[len(prefix) :]
    return None, ""


def _is_generated(path: str) -> bool:
    """Return whether a file is named like those that a runner generates for the compiler."""
    return os.path.basename(path) in _GENERATED  # noqa: PTH119  # joined as text


def _expanded(word: str) -> str:
    """Return a word with its environment variables expanded, as in file lists."""
    if "$" not in word:
        return word
    return _VARIABLE.sub(lambda found: os.environ.get(found[1] or found[2] or found[3], found[0]), word)


def _value(text: str) -> str:
    plain = _without_folders(text.strip().strip("'\"").replace('\\"', '"').strip('"'))
    return f"={plain}" if plain else ""


def _below(name: str, tops: Collection[str | None]) -> str:
    """Return the name of a parameter relative to its top."""
    head, dot, rest = name.partition(".")
    return rest if dot and head in tops else name
