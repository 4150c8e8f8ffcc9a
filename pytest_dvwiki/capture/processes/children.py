"""Detection of the child processes that a test starts, and of the log files opened for them.

Python raises an audit event before each `subprocess.Popen`, whether cocotb's runner, cocotb-test or the test itself
calls it. The event shows the working directory and the environment of a possible simulation, including the path of
cocotb's results file. Events of files opened for writing show where the output goes. An audit hook cannot be removed,
and costs a microsecond for every event of the process (attribute look-ups, `id`), so it is added only when the first
child starts during a test.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from pytest_dvwiki.capture.processes.commands import commands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_dvwiki.capture.simulations.builds import Setup

_WATCHED_ENVIRONMENT = (
    "COCOTB_RANDOM_SEED", "COCOTB_RESULTS_FILE", "COCOTB_TEST_MODULES", "COCOTB_TOPLEVEL", "MODULE", "RANDOM_SEED",
    "TOPLEVEL",
)  # fmt: skip
_NO_LOG = frozenset(
    {".py", ".pyc", ".pyo", ".so", ".sh", ".v", ".sv", ".vh", ".svh", ".vhd", ".vhdl", ".f", ".cmd", ".json"}
)
_LIMIT = 64
"""Maximum number of children and of opened files kept per test: the newest, and always the first child."""


class Child(Struct, frozen=True):
    """A process that a test started."""

    arguments: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    """The child's environment variables that describe a simulation."""

    @property
    def program(self) -> str:
        """Return the name of the program, without its folder."""
        return os.path.basename(self.arguments[0]) if self.arguments else ""  # noqa: PTH119  # may not be a path


class Children(Struct):
    """The child processes of one test, in order."""

    on_start: Callable[[Child], None] | None = None
    """Called before each child starts."""
    children: list[Child] = field(default_factory=list)
    opened: list[Path] = field(default_factory=list)
    """Files opened for writing, which may receive a child's output."""
    setups: list[tuple[Child, Setup]] = field(default_factory=list)
    """What each tool among the children builds or runs, in order; added by the caller."""

    def add_setup(self, child: Child, setup: Setup) -> None:
        """Record what a child builds or runs."""
        if len(self.setups) >= _LIMIT:
            del self.setups[0]
        self.setups.append((child, setup))

    def setup_of(self, child: Child) -> Setup | None:
        """Return what a child builds or runs; None if it is not recorded."""
        return next((setup for one, setup in reversed(self.setups) if one is child), None)

    def add(self, child: Child) -> None:
        """Record a child process, and call `on_start`."""
        if len(self.children) >= _LIMIT:
            del self.children[1]
        self.children.append(child)
        if self.on_start is not None:
            self.on_start(child)

    def add_opened(self, path: Path) -> None:
        """Record a file that was opened for writing."""
        if path in self.opened:
            self.opened.remove(path)
        if len(self.opened) >= _LIMIT:
            del self.opened[0]
        self.opened.append(path)


class _Hook:
    """The process's one audit hook; inactive without a listener."""

    def __init__(self) -> None:
        self.listener: Children | None = None
        self.installed = False
        """Whether the hook is installed; it is installed when the first child starts during a test."""
        self._busy = threading.local()

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        # Called for every audit event of the process (imports, attribute look-ups), so the first check must be fast.
        listener = self.listener
        if listener is None or (event != "subprocess.Popen" and event != "open" and event != "os.system"):  # noqa: PLR1714
            return
        if getattr(self._busy, "here", False):
            return
        self._busy.here = True
        try:
            if event == "open":
                _note_open(listener, arguments)
            elif event == "os.system":
                _note_child(listener, ["sh", "-c", arguments[0]], None, None)
            else:
                _note_child(listener, arguments[1], arguments[2], arguments[3])
        except Exception:  # noqa: BLE001, S110  # an exception here would keep the test's own process from starting
            pass
        finally:
            self._busy.here = False


def _note_open(listener: Children, arguments: tuple[object, ...]) -> None:
    path, mode = arguments[0], arguments[1]
    if isinstance(path, (str, os.PathLike)) and isinstance(mode, str) and ("w" in mode or "a" in mode):
        _note_output(listener, path)


def _note_output(listener: Children, path: str | os.PathLike[str]) -> None:
    opened = Path(os.path.abspath(path))  # noqa: PTH100  # no resolve: the name the user chose is the one shown
    if opened.suffix.lower() not in _NO_LOG:
        listener.add_opened(opened)


def _note_child(listener: Children, arguments: object, folder: object, environment: object) -> None:
    """Record what a child process runs; for a shell script, each command that may be a tool."""
    if isinstance(arguments, (str, bytes, os.PathLike)):
        words: tuple[str, ...] = (os.fsdecode(arguments),)
    elif isinstance(arguments, (list, tuple)):
        words = tuple(os.fsdecode(word) for word in arguments)
    else:
        words = ()
    inherited: Mapping[object, object] = os.environ if environment is None else environment  # type: ignore[assignment]
    watched = {name: str(inherited[name]) for name in _WATCHED_ENVIRONMENT if name in inherited}
    here = os.path.abspath(os.fsdecode(folder) if folder else ".")  # type: ignore[arg-type]  # noqa: PTH100
    for command in commands(words, here):
        for output in command.outputs:
            _note_output(listener, output)
        given = {name: value for name, value in command.variables.items() if name in _WATCHED_ENVIRONMENT}
        listener.add(
            Child(
                arguments=command.words,
                folder=Path(os.path.abspath(command.folder)),  # noqa: PTH100  # no resolve: the name the user chose
                environment=watched | given,
            )
        )


_hook = _Hook()


class _FirstChild:
    """Wraps `subprocess.Popen` and `os.system` until a child starts while a test runs, then adds the hook."""

    def __init__(self) -> None:
        self._popen = start = subprocess.Popen.__init__
        self._system = system = os.system

        @functools.wraps(start)
        def popen(*arguments: Any, **named: Any) -> None:
            self._install_hook((*arguments[5:7], named.get("stdout"), named.get("stderr")))
            start(*arguments, **named)

        @functools.wraps(system)
        def shell(command: Any) -> int:
            self._install_hook(())
            return system(command)

        self._before_popen, self._before_system = popen, shell
        subprocess.Popen.__init__ = popen  # type: ignore[method-assign]
        os.system = shell

    def _install_hook(self, streams: tuple[object, ...]) -> None:
        """Add the hook in time for the child that is about to start, and remove the wrappers."""
        listener = _hook.listener
        if listener is None or _hook.installed:
            return
        _hook.installed = True
        # If somebody has wrapped our wrappers in the meantime, ours stay and only pass the call on.
        if subprocess.Popen.__init__ is self._before_popen:
            subprocess.Popen.__init__ = self._popen  # type: ignore[method-assign]
        if os.system is self._before_system:
            os.system = self._system
        for stream in streams:
            name = getattr(stream, "name", None)
            if isinstance(name, str) and not name.startswith("<"):  # opened before there was a hook
                with suppress(OSError):  # the working folder may be gone; the child starts all the same
                    _note_output(listener, name)
        sys.addaudithook(_hook)


@functools.cache
def _wait_for_first_child() -> None:
    _FirstChild()


def listen(children: Children | None) -> None:
    """Record child processes in `children` from now on; None stops recording."""
    if children is not None:
        _wait_for_first_child()
    _hook.listener = children


@contextmanager
def unwatched() -> Iterator[None]:
    """Suspend the recording of child processes while the plugin starts its own."""
    listener, _hook.listener = _hook.listener, None
    try:
        yield
    finally:
        _hook.listener = listener
