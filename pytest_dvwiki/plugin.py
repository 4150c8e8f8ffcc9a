"""pytest's hooks: read the settings, choose the role of this process, and register it.

Nothing else is imported here: without `--dvwiki` pytest loads only four small modules.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec


class _PlainImports:
    """Imports the modules of this package as Python does, without pytest's rewriting of assertions.

    pytest imports all modules of a plugin's package itself, to rewrite their assertions. That takes longer than a
    plain import. If pytest cannot store the compiled modules, because somebody else owns the installation, it compiles
    all of them in each run.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:  # noqa: ARG004
        """Return where a module of this package is; None for any other module."""
        return PathFinder.find_spec(name, path) if name.startswith("pytest_dvwiki.") else None


sys.meta_path.insert(0, _PlainImports)

from pytest_dvwiki import hookspecs  # noqa: E402  # imported by `_PlainImports`, like the next two
from pytest_dvwiki.fixtures import dvwiki, dvwiki_context, dvwiki_prompt, settings_of  # noqa: E402
from pytest_dvwiki.settings import OPTIONS, ProjectFileError, SettingsError, is_switched_on_by_project  # noqa: E402

__all__ = ["dvwiki", "dvwiki_context", "dvwiki_prompt"]

_SIMULATOR_PLUGIN = "cocotb_regression_manager"
"""Plugin that cocotb registers in the pytest inside a simulator, before options are read."""
_MISTAKE = pytest.StashKey[str]()
"""Why the plugin is off: an error in project.yaml, or an error while the plugin started."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add each row of the table of options to the command line and to pytest's configuration."""
    group = parser.getgroup("dvwiki", "failure memory for hardware regressions")
    for option in OPTIONS:
        parser.addini(option.ini, option.help, type=option.ini_type, default=None)
        if option.flag is None:
            continue
        if option.is_switch:
            group.addoption(option.flag, dest=option.ini, action="store_true", default=None, help=option.help)
        else:
            optional = {"nargs": "?", "const": option.bare} if option.bare else {}
            group.addoption(
                option.flag, dest=option.ini, default=None, metavar=option.metavar, help=option.help, **optional
            )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hooks that a conftest.py or another plugin can implement."""
    pluginmanager.add_hookspecs(hookspecs)


def _is_on(config: pytest.Config) -> bool:
    """Tell whether a setting switches the plugin on, without loading a YAML library."""
    switches = (config.option.dvwiki_enabled, os.environ.get("DVWIKI_ENABLED"), config.getini("dvwiki_enabled"))
    try:
        return (any(switches) or _is_on_by_project(config)) and settings_of(config).enabled
    except pytest.UsageError as error:
        if not isinstance(error.__cause__, ProjectFileError):
            raise
        config.stash[_MISTAKE] = str(error.__cause__)
        return False


def _is_on_by_project(config: pytest.Config) -> bool:
    """Tell whether project.yaml switches the plugin on; an error in it is reported at the end and stops no run."""
    try:
        return is_switched_on_by_project(config.rootpath)
    except SettingsError as error:
        config.stash[_MISTAKE] = str(error)
        return False


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the role of this process; called last, after xdist and cocotb have registered their plugins."""
    config.addinivalue_line("markers", "dvwiki(ip_type=...): facts about a test, for the failure memory")
    if not _is_on(config):
        return
    from pytest_dvwiki import roles  # noqa: PLC0415  # loaded only in a run with the plugin on
    from pytest_dvwiki.roles.checks import Checks  # noqa: PLC0415  # likewise
    from pytest_dvwiki.roles.guard import Guard  # noqa: PLC0415  # likewise

    guard = Guard()
    in_simulator = config.pluginmanager.hasplugin(_SIMULATOR_PLUGIN)
    if not in_simulator:
        config.pluginmanager.register(Checks(guard.note), "dvwiki_checks")
    if config.option.collectonly or config.option.setupplan:
        return
    with guard("starting the plugin"):
        roles.register(config, settings_of(config), guard, in_simulator=in_simulator)
    if guard.notes:
        config.stash[_MISTAKE] = guard.notes[0]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report why the plugin is off: because of an error, or because options were given without `--dvwiki`."""
    config = terminalreporter.config
    # cocotb gives the pytest inside a simulator the arguments of the pytest that a person started.
    if config.pluginmanager.hasplugin(_SIMULATOR_PLUGIN):
        return
    if _MISTAKE in config.stash:
        terminalreporter.write_line(f"dvwiki is off: {config.stash[_MISTAKE]}", yellow=True)
        return
    typed = {str(argument).partition("=")[0] for argument in config.invocation_params.args}
    idle = [option.flag for option in OPTIONS if option.flag in typed and option.name != "enabled"]
    if idle and not _is_on(config):
        terminalreporter.write_line(
            f"dvwiki is off, so nothing was captured or archived; give --dvwiki along with {', '.join(idle)}",
            yellow=True,
        )
