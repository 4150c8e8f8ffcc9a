"""Targets of tests. Passes and failures are compared for the same test, simulator and configuration."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pytest_dvwiki.records.kinds import DETERMINISTIC_CLASSES, precedes_simulator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.model import FailedTest, Occurrence

_NOTHING_GIVEN = hashlib.sha256().hexdigest()[:8]
"""Digits of a configuration that stand for a build without parameters. GHDL takes parameters only after the build."""
_OF_BUILD = 8
"""Number of leading digits of a configuration that identify the build."""
_NOTHING_ADDED = "0000"
"""Last digits of a configuration if the run adds nothing to the build."""
ANY = "*"
"""Stands for any simulator or configuration."""
_PARAMETERS = re.compile(r"\[.*?\](?=::|$)|(?:^|(?<=::))(?P<test>\w+)(?:/[^\W\d]\w*=(?:(?!::).)*)$")
"""Matches pytest's parameters (`test[8]`), and a test with those of `cocotb.parametrize` (`test/width=8/mode=fast`)."""


def without_parameters(nodeid: str) -> str:
    """Return a test name without its parameters and those of its parents."""
    return _PARAMETERS.sub(lambda found: found["test"] or "", nodeid)


def share_a_test(some: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether the collections have a test in common.

    Parameters are ignored, and a test inside another one is treated as the outer test.
    """
    ours, theirs = set(map(without_parameters, some)), set(map(without_parameters, others))
    return not (_with_outer(ours).isdisjoint(theirs) and _with_outer(theirs).isdisjoint(ours))


def _with_outer(names: Iterable[str]) -> set[str]:
    """Return test names and all their parents."""
    parts = (name.split("::") for name in names)
    return {"::".join(each[:count]) for each in parts for count in range(1, len(each) + 1)}


def build_of(config: str) -> str:
    """Return the digits of a configuration that identify the build; empty if there are none."""
    build = config[:_OF_BUILD]
    return "" if build in {ANY, _NOTHING_GIVEN} else build


def is_design_known(config: str) -> bool:
    """Return whether a configuration has parameters or a top that distinguish the design."""
    return bool(config) and config != ANY and not (build_of(config) == "" and config.endswith(_NOTHING_ADDED))


class Target(NamedTuple):
    """A test on a simulator in a build configuration. Simulator and configuration are empty if not on record."""

    nodeid: str
    simulator: str = ""
    config: str = ""

    def is_met_by(self, simulator: str, config: str) -> bool:
        """Return whether a run on this simulator in this configuration matches the target."""
        return self.simulator == ANY or (self.simulator == simulator and is_same_config(self.config, config))


def is_same_config(one: str, other: str) -> bool:
    """Return whether two configurations are the same.

    A configuration with only the digits of a build is the same as every configuration of that build.
    """
    return (
        one == other
        or ANY in {one, other}
        or (bool(one and other) and (one.startswith(other) or other.startswith(one)))
    )


def of_failure(occurrence: Occurrence, test: FailedTest) -> Target:
    """Return the target that a pass must match to be relevant to a failure."""
    if test.simulator is None and test.phase == "setup":
        # pytest runs a shared fixture once: if it fails, only the first of its tests has the simulator.
        shared = {
            (each.simulator, each.config) for each in occurrence.tests if each.simulator and each.phase == "setup"
        }
        if len(shared) == 1:
            ((simulator, config),) = shared
            test = replace(test, simulator=simulator, config=config)
    if precedes_simulator(occurrence, test):
        return Target(test.nodeid, ANY, ANY)
    config = test.config or ""
    if occurrence.error_class in DETERMINISTIC_CLASSES and config.endswith(_NOTHING_ADDED):
        # After a failed build there is no run that could add to the configuration.
        config = config.removesuffix(_NOTHING_ADDED)
        if config == _NOTHING_GIVEN:
            # The step that failed got no parameter, so no parameter of a later step can change it.
            config = ANY
    return Target(test.nodeid, test.simulator or "", config)


def json_targets(targets: Iterable[Target]) -> str:
    """Return targets as JSON, for an SQL statement that joins `json_each(?) t` on `meets`."""
    return json.dumps([list(target) for target in targets])


def meets(row: str) -> str:
    """Return an SQL condition: the row with this alias matches a target `t` of `json_targets`."""
    nodeid, simulator, config = (f"json_extract(t.value, '$[{number}]')" for number in range(3))
    row_config = f"{row}.config"
    same = (
        f"'{ANY}' IN ({row_config}, {config}) OR {row_config} = {config} OR ({row_config} != '' AND {config} != ''"
        f" AND substr({row_config}, 1, length({config})) = substr({config}, 1, length({row_config})))"
    )
    on = f"'{ANY}' IN ({simulator}, {row}.simulator) OR ({row}.simulator = {simulator} AND ({same}))"
    return f"{row}.nodeid = {nodeid} AND ({on})"
