"""FuseSoC: instead of results, it writes a description (`*.eda.yml`) of the run beside the logs."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pytest_dvwiki import reading, yamlio
from pytest_dvwiki.capture.simulations.named_runs import NamedRun
from pytest_dvwiki.model import Simulator
from pytest_dvwiki.redact import clean

_SUFFIX = ".eda.yml"
_DEPTH = 3
"""Number of levels from fusesoc's working directory down to the folder of the logs."""
_CLOCK_STEP = 2.0
"""Resolution of file times in some archives, in seconds."""
_WORD = re.compile(r"\w{1,100}")


def run_of(log: Path) -> NamedRun | None:
    """Return the run that wrote a log; None if FuseSoC did not create the log's folder.

    The description is rewritten before each run, so seed and parameters of an older log are unknown.
    """
    run = run_in(log.parent)
    if run is None or log.stat().st_mtime >= max(map(_time, log.parent.glob(f"*{_SUFFIX}"))) - _CLOCK_STEP:
        return run
    return replace(run, seed=None, words=())


def _time(path: Path) -> float:
    return path.stat().st_mtime


@functools.lru_cache(maxsize=64)
def run_in(folder: Path) -> NamedRun | None:
    """Return the run that used a folder; None if FuseSoC did not create the folder.

    Args:
        folder: The work root of a target: `build/CORE/TARGET`, or `build/CORE/TARGET-TOOL` of the older backends.
    """
    described = sorted(folder.glob(f"*{_SUFFIX}")) if len(folder.parents) >= _DEPTH else []
    try:
        edam = yamlio.load(reading.read_text(described[0]), described[0].name) if described else None
    except (OSError, yamlio.YamlError):
        return None
    cores = _map(edam, "cores")
    name = next((core for core in cores if _sanitised(core) == folder.parent.name), None)
    if name is None:
        return None
    tool = _map(edam, "flow_options").get("tool") or next(iter(_map(edam, "tool_options")), "")
    tool = tool if isinstance(tool, str) and _WORD.fullmatch(tool) else ""
    target = folder.name.removesuffix(f"-{tool}") if tool else folder.name
    values = {key: given["default"] for key, given in _map(edam, "parameters").items() if _is_set(given)}
    seed = str(values.get("seed", ""))
    start = folder.parents[_DEPTH - 1]
    files = [core.get("core_file") for core in cores.values() if isinstance(core, dict)]
    words = (
        "fusesoc",
        *_roots(start, [Path(os.path.normpath(folder / file)) for file in files if isinstance(file, str)]),
        "run",
        f"--target={target}",
        *([f"--tool={tool}"] if tool else ()),
        name,
        *(f"--{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in values.items()),
    )
    return NamedRun(
        test=clean(f"{name.rpartition(':')[0]}::{target}"),
        seed=seed if _WORD.fullmatch(seed) else None,
        simulator=Simulator(name=tool) if tool else None,
        words=words,
        folder=start,
    )


def _map(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return {str(name): each for name, each in found.items()} if isinstance(found, dict) else {}


def _is_set(parameter: object) -> bool:
    return isinstance(parameter, dict) and isinstance(parameter.get("default"), str | int | float | bool)


def _sanitised(core: str) -> str:
    """Return the name of a core as in folder names: `acme_ip_counter_1.0` for `acme:ip:counter:1.0`."""
    return core.lstrip(":").replace(":", "_").replace("/", "_")


def _roots(start: Path, files: list[Path]) -> list[str]:
    """Return the option for the folder of the cores; empty if a `fusesoc.conf` in the working directory sets it."""
    if not files or (start / "fusesoc.conf").is_file():
        return []
    common = Path(os.path.commonpath([file.parent for file in files]))
    return ["--cores-root", os.path.relpath(common, start)] if common.is_relative_to(start) else []
