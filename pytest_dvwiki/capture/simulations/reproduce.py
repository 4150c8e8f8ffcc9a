"""Construction of the command that reruns one failing test, as data; `records/command.py` prints it."""

from __future__ import annotations

import functools
import itertools
import os
import posixpath
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.redact import MASKED, redact
from pytest_dvwiki.settings import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pytest_dvwiki.model import Command

LIMIT = "SimTimeoutError"
"""Exception of a test that reached its limit of simulation time."""
STRICT = ("--dvwiki", "--dvwiki-strict-logs")
"""Options that are needed to repeat a failure caused only by error lines in the log."""
VARIABLES = (
    "SIM", "TOPLEVEL_LANG", "HDL_TOPLEVEL_LANG", "WAVES", "COMPILE_ARGS", "SIM_ARGS", "EXTRA_ARGS", "PLUSARGS",
    "SIM_CMD_PREFIX", "COCOTB_PLUSARGS", "COCOTB_RESOLVE_X", "COCOTB_TEST_FILTER", "COCOTB_TESTCASE",
    "COCOTB_TRUST_INERTIAL_WRITES", "TESTCASE", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONPATH",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_PLUGINS",
)  # fmt: skip
"""Environment variables of cocotb, pytest, Python or common runner files that affect what a test does."""
_READ = re.compile(
    r"""(?:\benviron(?:\.(?:get|pop|setdefault))?|\bgetenv)\s*[\[(]\s*["'](\w+)["']|["'](\w+)["']\s+(?:not\s+)?in\s+os\.environ"""
)
"""Matches Python code that reads an environment variable."""
_OF_MACHINE = re.compile(
    r"(?:PATH|HOME|HOSTNAME|USER|LOGNAME|PWD|OLDPWD|SHELL|TERM|LANG|TMPDIR|TMP|TEMP|DISPLAY|VIRTUAL_ENV|CI"
    r"|(?:COCOTB_)?RANDOM_SEED|(?:DVWIKI|PYTEST|GITHUB|CONDA|SSH|XDG|LC)_.*|_.*)"
)
"""Matches variables that describe the machine, and variables that a rerun must not take from the environment."""
_LONGEST_VALUE = 400
_MOST_READ = 1 << 18
_CONFIGURATIONS = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_SECRET_NAME = re.compile(r"(?i)token|passw|secret|credential|licen[cs]e|(?:^|_)key(?:_|$)")
_KEYWORD = re.compile(r"(?!(?:and|or|not|None|True|False)$)[\w:+.\[\]\\/-]+")
"""Matches a name that pytest's `-k` accepts as one word."""
_MOST_EXCLUDED = 20
# Words of pytest's command line that select other tests, or change only what is shown or written.
_DROPPED = frozenset(
    {
        "--", "--cache-clear", "--co", "--collect-only", "--continue-on-collection-errors", "--cov-append",
        "--cov-branch", "--exitfirst", "--failed-first", "--ff", "--full-trace", "--last-failed", "--lf",
        "--looponfail", "--new-first", "--nf", "--no-cov", "--no-cov-on-fail", "--no-header", "--no-showlocals",
        "--no-summary", "--pdb", "--quiet", "--self-contained-html", "--setup-show", "--showlocals",
        "--stepwise", "--stepwise-reset", "--stepwise-skip", "--sw", "--sw-reset", "--sw-skip", "--trace",
        "--verbose", "--xfail-tb", "-f", "-l",
        *(option.flag for option in OPTIONS if option.flag and option.is_switch),
    }
)  # fmt: skip
_DROPPED_WITH_VALUE = frozenset(
    {
        "--alluredir", "--basetemp", "--capture", "--cocotb-seed", "--code-highlight", "--color", "--cov",
        "--cov-config", "--cov-fail-under", "--cov-report", "--css", "--deselect", "--dist", "--durations",
        "--durations-min", "--html", "--ignore", "--ignore-glob", "--json-report-file", "--junit-prefix",
        "--junit-xml", "--junitprefix", "--junitxml", "--last-failed-no-failures", "--lfnf", "--log-cli-level",
        "--log-file", "--log-file-level", "--log-level", "--max-runs", "--max-worker-restart", "--maxfail",
        "--maxprocesses", "--maxschedchunk", "--min-passes", "--numprocesses", "--only-rerun", "--pastebin",
        "--report-log", "--rerun-except", "--reruns", "--reruns-delay", "--retries", "--retry-delay",
        "--show-capture", "--tb", "--tx", "--verbosity",
        *(option.flag for option in OPTIONS if option.flag and not option.is_switch),
    }
)  # fmt: skip
_WITH_VALUE = frozenset({"-p", "-c", "-o", "-W", "--config-file", "--override-ini", "--rootdir"})
_SHORT = re.compile(r"-[flqsvx]+")
_SHORT_WITH_VALUE = re.compile(r"-[flqsvx]*[kmnr](?P<value>.*)")


class Call(Struct, frozen=True, kw_only=True):
    """The call of pytest or `make` that ran a test, with what a command needs to rerun the test."""

    arguments: tuple[str, ...] = ("pytest",)
    """Program with its options, but without tests."""
    variables: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    """Further environment variables of the session; a rerun command sets only those that the test's files read."""
    folder: str = "."
    """Working directory, relative to the top of the repository or, without a repository, to the workspace root."""
    in_repository: bool = True
    items: str | None = "."
    """Path from `folder` to the folder that node ids start from; None for `make`, which takes no node id."""
    configuration: str | None = None
    """Path from `folder` to pytest's configuration file; None if there is none."""
    unknown: str = ""
    """Why repeating the call of `make` may run something else; empty if it runs the same."""
    here: str = ""
    """Absolute path of `folder`; empty if unknown on this machine."""

    def path(self, nodeid: str) -> str:
        """Return a node id as an argument for a command in `folder`."""
        file, separator, names = nodeid.partition("::")
        return f"{_path(file, self.folder, self.items or '.')}{separator}{names}"

    def command(
        self,
        nodeid: str,
        variables: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        modules: Iterable[str] = (),
    ) -> Command:
        """Return the command that runs one pytest item, or `make`."""
        from pytest_dvwiki.model import Command  # noqa: PLC0415  # a run without failures does not need it

        # The path comes first: an option with several values would take it as one of them.
        program, own = _split(self.arguments)
        path = [] if self.items is None else [self.path(nodeid)]
        file = path[0].partition("::")[0] if path else ""
        configured = (file, tuple(self.arguments), self.here, self.configuration, self.items)
        words = (*program, *path, *own, *(_configuration(*configured) if path else ()), *options)
        is_known = file and self.here and self.environment
        asked = _variables_read(file, self.here, self.items, self._top, tuple(modules)) if is_known else ()
        names = {name: self.environment[name] for name in asked if name in self.environment} | self.variables
        for name, value in (variables or {}).items():
            names.pop(name, None)
            names[name] = value
        return Command(
            arguments=tuple(map(masked, words)),
            variables={name: _masked_value(name, value) for name, value in names.items()},
            folder=self.folder,
            in_repository=self.in_repository,
        )

    def with_variables(self, variables: Mapping[str, str]) -> Call:
        """Return the call with additional variables of its environment."""
        placed = with_places(variables, Path(self._top), Path(self.here))
        return replace(self, variables=placed | self.variables) if placed else self

    @property
    def _top(self) -> str:
        return _above(self.here, self.folder)

    @property
    def options(self) -> tuple[str, ...]:
        """Return the arguments without the words that start pytest."""
        return _split(self.arguments)[1]


@functools.lru_cache(maxsize=16)
def _above(here: str, folder: str) -> str:
    """Return the folder that the relative path `folder` starts from, given its absolute path `here`."""
    return os.path.normpath(os.path.join(here, os.path.relpath(".", folder)))  # noqa: PTH118


# Cached, because each failure asks for a path, but a run has few files.
@functools.lru_cache(maxsize=256)
def _path(file: str, folder: str, items: str) -> str:
    """Return the path of a test's file relative to the folder of a call, from the path relative to `items`."""
    absolute = posixpath.join("/", folder)
    return posixpath.relpath(posixpath.join(absolute, items, file), absolute)


@functools.lru_cache(maxsize=256)
def _variables_read(file: str, here: str, items: str | None, top: str, modules: tuple[str, ...]) -> tuple[str, ...]:
    """Return the environment variables that the Python files of a test read.

    Args:
        file: The test's file; the conftest files above it are searched, too.
        here: The folder that `file` is relative to.
        items: Path from `here` to the topmost folder that is searched for conftest files.
        top: Imported files outside this folder are ignored.
        modules: Names of the test modules.
    """
    from pytest_dvwiki.capture.simulations.reads import imported  # noqa: PLC0415  # loaded only for failures

    path, root = (Path(os.path.normpath(f"{here}/{each}")) for each in (file, items or "."))
    above = (folder / "conftest.py" for folder in path.parents if folder.is_relative_to(root))
    files = imported(map(str, (path, *above)), modules, here, f"{top}{os.sep}")
    texts = (reading.start_of(each, _MOST_READ) for each in files)
    return tuple(sorted({"".join(found) for text in texts for found in _READ.findall(text)}))


@functools.lru_cache(maxsize=256)
def _configuration(
    file: str, arguments: tuple[str, ...], here: str, configuration: str | None, items: str | None
) -> tuple[str, ...]:
    """Return the options with which pytest uses the same configuration for a file as in the original call."""
    given = any(re.match(r"-c|--config-file|--rootdir", word) for word in arguments)
    if given or not here:
        return ()
    top = Path(os.path.normpath(f"{here}/{configuration or items or '.'}"))
    if configuration:
        top = top.parent
    above = Path(os.path.normpath(f"{here}/{file}")).parents
    is_below = top in above
    nearer = itertools.takewhile(lambda folder: folder != top, above)
    if is_below and not any((folder / name).is_file() for folder in nearer for name in _CONFIGURATIONS):
        return ()
    if configuration:
        return ("-c", configuration)
    return ("-c", "/dev/null", "--rootdir", items or ".") if is_below else ()


def relative(path: str | Path, folder: Path) -> str:
    """Return a path relative to a folder, with `/`."""
    return Path(os.path.relpath(path, folder)).as_posix()


def pytest_call(
    words: Sequence[str],
    *,
    root: Path,
    here: Path,
    configuration: Path | None,
    items: Sequence[str],
    environment: Mapping[str, str],
    program: Sequence[str] = ("pytest",),
) -> Call:
    """Return the call of a pytest session.

    `items` are the words of the command line that select tests, and `program` those that start pytest.
    """
    from pytest_dvwiki.records.command import workspace  # noqa: PLC0415  # a run without failures needs none

    root, here = Path(os.path.realpath(root)), Path(os.path.realpath(here))
    top, in_repository = workspace(root)
    if not here.is_relative_to(top):
        here = root
    added = shlex.split(environment.get("PYTEST_ADDOPTS", ""))
    further = {
        name: _masked_value(name, value)
        for name, value in environment.items()
        if value and len(value) < _LONGEST_VALUE and name not in VARIABLES and not _OF_MACHINE.fullmatch(name)
    }
    options = (_placed(word, top, lambda path: relative(path, here)) for word in options_of((*added, *words), items))
    return Call(
        arguments=(*program, *options),
        variables=with_places({name: environment[name] for name in VARIABLES if environment.get(name)}, top, here),
        environment=with_places(further, top, here),
        folder=relative(here, top),
        in_repository=in_repository,
        items=relative(root, here),
        configuration=None if configuration is None else relative(os.path.realpath(configuration), here),
        here=str(here),
    )


def options_of(words: Sequence[str], items: Sequence[str] = ()) -> list[str]:
    """Return the options of a pytest command line that may affect a test's outcome.

    `items` are the words of this command line that select tests.
    """
    kept: list[str] = []
    left = list(items)
    rest = list(words)
    while rest:
        word = rest.pop(0)
        short = _SHORT_WITH_VALUE.fullmatch(word)
        if word in left:
            left.remove(word)
        elif word in _WITH_VALUE:
            kept += [word, *rest[:1]]
            del rest[:1]
        elif word in _DROPPED_WITH_VALUE or (short and not short["value"]):
            if rest and not re.match(r"-\D", rest[0]):  # the value of `--cov` and the like is optional
                del rest[:1]
        elif not (short or word in _DROPPED or word.partition("=")[0] in _DROPPED_WITH_VALUE or _SHORT.fullmatch(word)):
            kept.append(word)
    return kept


def with_places(variables: Mapping[str, str], top: Path, here: Path) -> dict[str, str]:
    """Return variables whose values are valid in any checkout: paths below `top` start with `$PWD`.

    `$PWD` stands for `here`, the working directory of the command. Parts of PYTHONPATH outside `top` are left out,
    because they differ from machine to machine.
    """
    found = {}
    for name, value in variables.items():
        placed = value
        if name == "PYTHONPATH":
            parts = [os.path.realpath(part) if part else str(here) for part in value.split(os.pathsep)]
            placed = os.pathsep.join(part for part in parts if Path(part).is_relative_to(top))
        if placed := _placed(placed, top, lambda path: _from_here(path, here)):
            found[name] = placed
    return found


def _placed(text: str, top: Path, place: Callable[[str], str]) -> str:
    """Replace each path below a folder in a string by the result of `place`."""
    return re.sub(
        rf"(?<![\w./-]){re.escape(str(top))}(?:/[^\s:;,'\"]*)?(?![\w.-])", lambda found: place(found[0]), text
    )


def _from_here(path: str, here: Path) -> str:
    below = relative(path, here)
    return "$PWD" if below == "." else f"$PWD/{below}"


def again(
    call: Call,
    nodeid: str,
    *,
    test: str | None = None,
    module: str | None = None,
    seed: str | None = None,
    cocotb: str | None = None,
    strict: bool = False,
    rebuild: bool = False,
    modules: Iterable[str] = (),
) -> Command:
    """Return the command that reruns a cocotb test of a pytest item, or of a Makefile.

    Args:
        call: The call that ran the test.
        nodeid: The pytest item.
        test: Name of the cocotb test inside the item; None for all tests of the item.
        module: Module of the test, if another module of the item may have a test of the same name.
        seed: The random seed.
        cocotb: Version of cocotb; 1.x uses other variables.
        strict: Whether the test fails only because of the error lines in its log.
        rebuild: Whether make must build everything again.
        modules: Names of all test modules of the item.
    """
    old = cocotb is not None and cocotb.startswith("1.")
    variables = {}
    if seed:
        variables["RANDOM_SEED" if old else "COCOTB_RANDOM_SEED"] = seed
    if test and old:
        variables["TESTCASE"] = test
    elif test:
        variables["COCOTB_TEST_FILTER"] = (_filter if call.items is not None else _filter_of_make)(test, module)
    options: Sequence[str] = STRICT if strict else ()
    if call.items is None:
        options = ("-B",) if rebuild else ()
    return call.command(nodeid, variables, options, modules)


def native(
    call: Call, nodeid: str | None, *, runner: str, seed: object, others: Collection[str] = (), strict: bool = False
) -> Command:
    """Return the command that reruns a test of cocotb's own pytest plugin.

    Args:
        call: The call of pytest.
        nodeid: The test; None for all tests of the runner.
        runner: Node id of the item that runs the simulator.
        seed: The runner's seed; None if unknown.
        others: Names of the session's other runners and tests, which must not run.
        strict: Whether the test fails only because of the error lines in its log.
    """
    logs = STRICT if strict else ()
    variables = {} if seed is None else {"COCOTB_RANDOM_SEED": str(seed)}
    # The pytest in the simulator gets the same arguments, but has other items: the runner's node id would select none
    # of them. Therefore runner and test are selected by their names.
    names = [_keyword(name.rpartition("::")[2]) for name in (runner, nodeid) if name is not None]
    file = runner.partition("::")[0]
    if not any(_contains(other, name) for name in names for other in others):
        return call.command(file, variables, (*logs, "-k", " and ".join(names)))
    if nodeid is None:
        return call.command(runner, variables, logs)
    # The pytest in the simulator gets its own arguments: excluding a test in the outer pytest would exclude its runner.
    # The arguments name the file, too, because a conftest.py above it may load cocotb's plugin, which has the options.
    # A runner's name must not be excluded, because it is a keyword of all the runner's tests.
    excluded = sorted(other for other in others if _contains(other, names[1]) and not _contains(f"{runner} ", other))
    named = (other for other in excluded[:_MOST_EXCLUDED] if _KEYWORD.fullmatch(other))
    chosen = " and ".join([names[1], *(f"not {other}" for other in named)])
    inner = shlex.join([call.path(file), *call.options, *logs, "-k", chosen])
    return call.command(runner, variables, (*logs, f"--cocotb-pytest-args={inner}"))


def _keyword(name: str) -> str:
    """Return a test's name for pytest's `-k`; if `-k` does not accept it, the name of the test's function."""
    return name if _KEYWORD.fullmatch(name) else name.partition("[")[0]


def _contains(text: str, part: str) -> bool:
    """Return whether pytest's `-k part` also selects the different name `text`."""
    return part.lower() in text.lower() and part != text


def _filter(test: str, module: str | None) -> str:
    """Return the value of COCOTB_TEST_FILTER that selects one test."""
    name = re.escape(test)
    return f"^{re.escape(module)}\\.{name}$" if module else f"\\.{name}$"


def _filter_of_make(test: str, module: str | None) -> str:
    """Return the filter for a Makefile, where make expands `$` and the shell gets the value without quotes."""
    name = f"{module}.{test}" if module else f".{test}"
    safe = "".join(
        char if char.isalnum() or char in "_-/=,:@%" else f"[{char}]" if char in ".+*?" else "." for char in name
    )
    return f"{'^' if module else ''}{safe}$$"


def _split(arguments: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a command line into the words that start the program, and its arguments."""
    start = 3 if tuple(arguments[1:3]) == ("-m", "pytest") else 1
    return tuple(arguments[:start]), tuple(arguments[start:])


def masked(text: str) -> str:
    """Return a string with its secrets masked."""
    return redact(text).replace("[redacted]", MASKED)


# Cached, because the command of each failure has the same variables.
@functools.lru_cache(maxsize=256)
def _masked_value(name: str, value: str) -> str:
    """Return the value of a variable, or a mask if it must not be stored."""
    return MASKED if _SECRET_NAME.search(name) or MASKED in masked(f"{name}={value}") else masked(value)
