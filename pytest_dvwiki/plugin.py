"""pytest's hooks: read the settings, then choose and register the role of this process.

The modules of a role are imported only when it is registered: without `--dvwiki`, pytest loads four small modules.
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
    """Imports the modules of this package without pytest's assertion rewriting.

    pytest rewrites assertions in all modules of a plugin's package, which takes longer than a plain import. If it
    cannot store the compiled modules, because another user owns the installation, it compiles them again in each run.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:  # noqa: ARG004
        """Return the spec of a module in this package, or None for other modules."""
        return PathFinder.find_spec(name, path) if name.startswith("pytest_dvwiki.") else None


sys.meta_path.insert(0, _PlainImports)

from pytest_dvwiki import hookspecs  # noqa: E402  # imported by `_PlainImports`, like the next two
from pytest_dvwiki.fixtures import dvwiki, dvwiki_context, dvwiki_prompt, settings_of  # noqa: E402
from pytest_dvwiki.settings import OPTIONS, ProjectFileError, SettingsError, is_switched_on_by_project  # noqa: E402

__all__ = ["dvwiki", "dvwiki_context", "dvwiki_prompt"]

_SIMULATOR_PLUGIN = "cocotb_regression_manager"
"""Plugin that cocotb registers in a pytest run inside a simulator, before options are read."""
_MISTAKE = pytest.StashKey[str]()
"""Why the plugin is off: an error in project.yaml, or while the plugin was starting."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the table of options to the command line and to pytest's configuration."""
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
    """Return whether a setting enables the plugin, without loading a YAML library."""
    switches = (config.option.dvwiki_enabled, os.environ.get("DVWIKI_ENABLED"), config.getini("dvwiki_enabled"))
    try:
        return (any(switches) or is_switched_on_by_project(config.rootpath)) and settings_of(config).enabled
    except pytest.UsageError as error:
        if not isinstance(error.__cause__, ProjectFileError):
            raise
        config.stash[_MISTAKE] = str(error.__cause__)
    except SettingsError as error:  # in project.yaml; reported at the end of the run
        config.stash[_MISTAKE] = str(error)
    return False


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the role of this process. Called last, after xdist and cocotb have registered their plugins."""
    config.addinivalue_line("markers", "dvwiki(ip_type=...): properties of a test, for the failure memory")
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
    """Report why the plugin is off: an error, or options without `--dvwiki`."""
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
            f"dvwiki is off, so nothing was captured or archived; add --dvwiki to use {', '.join(idle)}", yellow=True
        )
