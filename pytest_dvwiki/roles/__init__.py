"""The plugin's role in each process: main process, xdist worker, or pytest inside a simulator.

A passing test must cost next to nothing. So everything needed only for a failure, a simulation or an option is imported
inside the function that uses it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki import extensions
from pytest_dvwiki.capture.interrupted import journal
from pytest_dvwiki.capture.interrupted.places import places_of
from pytest_dvwiki.capture.simulations.reproduce import Call
from pytest_dvwiki.masks import NO_MASKS, Masks
from pytest_dvwiki.roles.items import ItemRole
from pytest_dvwiki.roles.running import EVIDENCE
from pytest_dvwiki.runs import new_task_id

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from pathlib import Path

    from pluggy import HookImpl

    from pytest_dvwiki.capture.interrupted.places import JournalFolder
    from pytest_dvwiki.model import Failure, Interest, Tier, Verdict
    from pytest_dvwiki.pipeline.services import Services
    from pytest_dvwiki.roles.guard import Guard
    from pytest_dvwiki.settings import Settings


_EXTENDED = pytest.StashKey[bool]()
"""Whether the plugins of the entry-point group are registered."""


def register(config: pytest.Config, settings: Settings, guard: Guard, *, in_simulator: bool) -> None:
    """Register the role of this process.

    Args:
        config: pytest's configuration.
        settings: The settings.
        guard: Prevents errors of the role from affecting the run.
        in_simulator: Whether cocotb's own plugin started this pytest inside a simulator, with the same arguments as the
            user's pytest.
    """
    context = ProcessContext(config, settings, guard)
    config.pluginmanager.register(_PlainEvidence(), "dvwiki_plain_evidence")
    if in_simulator:
        from pytest_dvwiki.roles.simulator import SimulatorRole  # noqa: PLC0415

        config.pluginmanager.register(SimulatorRole(context), "dvwiki_simulator")
        return
    workerinput: dict[str, Any] | None = getattr(config, "workerinput", None)
    task_id = context.sent.get("task_id") or new_task_id(settings.task_name, time.time())
    places = _journal_places(config, settings)
    process = journal.MAIN if workerinput is None else str(workerinput["workerid"])
    items = ItemRole(context, journals=places, task_id=task_id, process=process)
    config.pluginmanager.register(items, "dvwiki_items")
    if config.pluginmanager.hasplugin("allure_listener"):
        from pytest_dvwiki.roles.outputs import AllureLabels  # noqa: PLC0415  # few sessions use Allure

        config.pluginmanager.register(AllureLabels(context), "dvwiki_allure")
    if workerinput is not None:
        config.pluginmanager.register(_WorkerEnd(context, items), "dvwiki_worker_end")
        return
    from pytest_dvwiki.roles.main import MainRole  # noqa: PLC0415

    config.pluginmanager.register(MainRole(context, journals=places, items=items, task_id=task_id), "dvwiki_main")


class ProcessContext:
    """The objects shared by the roles of a process. Those needed only for a failure are loaded at first use.

    Args:
        config: pytest's configuration.
        settings: The settings.
        guard: Prevents errors of the roles from affecting the run.
    """

    def __init__(self, config: pytest.Config, settings: Settings, guard: Guard) -> None:
        self.config = config
        self.settings = settings
        self.guard = guard
        self.interest: Interest = _LateInterest(self)
        self.sent: Mapping[str, Any] = getattr(config, "workerinput", {}).get("dvwiki", {})
        """Data sent by the main process to an xdist worker; empty in the main process."""
        self._began_with = dict(os.environ)  # tests may change the environment

    @property
    def masks(self) -> Masks:
        """Return the masks of plugins, looked up anew each time: a conftest.py can add masks during collection."""
        self._register_extensions()
        implementations = self.config.hook.pytest_dvwiki_redact.get_hookimpls()
        if not implementations:  # the usual case, checked first, because each failure asks for the masks
            return NO_MASKS
        # Each mask has to get the result of the mask before it. A call of the hook would pass the same text to all.
        functions = ((each.plugin_name, functools.partial(_mask, each)) for each in reversed(implementations))
        return Masks(functions, self.guard.note)

    @functools.cached_property
    def call(self) -> Call:
        """Return the user's command line; an xdist worker gets it from the main process."""
        if "call" in self.sent:
            return Call(**self.sent["call"])
        from pytest_dvwiki.roles.call import call_of  # noqa: PLC0415  # a run without failures needs none

        return call_of(self.config, self._began_with)

    @functools.cached_property
    def services(self) -> Services:
        """Return the registry and the objects that depend on it."""
        from pytest_dvwiki.pipeline.services import Services  # noqa: PLC0415  # a run without failures needs none

        return Services(
            self.settings,
            extra_patterns=self._further_patterns,
            classify=(_classify_hook(self.config),),
            note=self.guard.note,
        )

    def _further_patterns(self) -> Sequence[Path]:
        """Return the pattern files added by plugins."""
        self._register_extensions()
        answers = self.config.hook.pytest_dvwiki_patterns(settings=self.settings)
        return [path for given in answers for path in extensions.files_of(given)]

    def _register_extensions(self) -> None:
        """Register the plugins of the entry-point group, before the first of their hooks is called."""
        config = self.config
        if config.stash.setdefault(_EXTENDED, False):
            return
        config.stash[_EXTENDED] = True
        for name, plugin in extensions.extensions(self.guard.note):
            if not config.pluginmanager.is_registered(plugin):
                config.pluginmanager.register(plugin, f"dvwiki_extension_{name}")


class _LateInterest:
    """Selects the lines of a log to keep. It loads the patterns only for a log that is too long to keep whole."""

    def __init__(self, context: ProcessContext) -> None:
        self._context = context

    def find(self, text: str) -> Iterable[tuple[int, Tier]]:
        return self._context.services.interest.find(text)

    def is_benign(self, message: str) -> bool:
        return self._context.services.interest.is_benign(message)

    def is_accepted(self, message: str) -> bool:
        return self._context.services.interest.is_accepted(message)


class _PlainEvidence:
    """Converts the evidence of a report to plain values before the report leaves this process."""

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self) -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
        data = yield
        if data and data.get(EVIDENCE) is not None:
            import msgspec  # noqa: PLC0415  # takes 48 ms; loaded only in a run with evidence

            data[EVIDENCE] = msgspec.to_builtins(data[EVIDENCE])
        return data


class _WorkerEnd:
    """Closes the journal of an xdist worker. The main process later deletes it together with its own journal."""

    def __init__(self, context: ProcessContext, items: ItemRole) -> None:
        self._context = context
        self._items = items

    def pytest_sessionfinish(self) -> None:
        with self._context.guard("closing the journal"):
            self._items.close(remove=False)
        self._context.config.workeroutput["dvwiki_notes"] = self._context.guard.notes  # type: ignore[attr-defined]  # added by xdist


def _mask(implementation: HookImpl, text: str) -> object:
    return implementation.function(**dict.fromkeys(implementation.argnames, text))


def _classify_hook(config: pytest.Config) -> Callable[[Failure], Verdict | None]:
    def pytest_dvwiki_classify(failure: Failure) -> Verdict | None:
        verdict: Verdict | None = config.hook.pytest_dvwiki_classify(failure=failure)
        return verdict

    return pytest_dvwiki_classify


def _journal_places(config: pytest.Config, settings: Settings) -> Sequence[JournalFolder]:
    cache = getattr(config, "cache", None)
    folder = None
    # Creating the cache fails if the disk is full or read-only.
    with contextlib.suppress(OSError):
        folder = None if cache is None else cache.mkdir("dvwiki")
    return places_of(settings.layout, folder)
