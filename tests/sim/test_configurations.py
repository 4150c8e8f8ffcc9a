"""Each flow records simulator and configuration of all tests, and the sources of a failure."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from .harness import Project, environment, missing

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.sim,
    pytest.mark.timeout(300),
    pytest.mark.skipif(missing("icarus") is not None, reason=str(missing("icarus"))),
]
needs_ghdl = pytest.mark.skipif(missing("ghdl") is not None, reason=str(missing("ghdl")))
needs_verilator = pytest.mark.skipif(missing("verilator") is not None, reason=str(missing("verilator")))
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
needs_cocotb_test = pytest.mark.skipif(importlib.util.find_spec("cocotb_test") is None, reason="needs cocotb-test")
COMMON = {"rtl/dut.sv", "rtl/defs.svh", "bench/widths_bench.py", "bench/driver.py"}

Names = dict[tuple[str | None, str | None], set[str]]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.copy("widths", tmp_path / "widths")


def newest(project: Project) -> dict[str, Any]:
    paths = (project.folder / ".agent" / "tasks").glob("[0-9]*/[0-9]*/*.yaml")
    found: dict[str, Any] = yaml.safe_load(max(paths, key=lambda path: path.stat().st_mtime_ns).read_text())
    return found


def listed(project: Project, record: dict[str, Any]) -> Names:
    """Return the tests of a record's lists, by simulator and configuration."""
    lists = project.folder / ".agent" / "tasks" / "suites"
    return {
        (one["simulator"], one["config"]): set((lists / f"{one['suite']}.txt").read_text().split())
        for one in record["suites"]
    }


def ran(project: Project, *args: str, simulator: str = "icarus", **variables: str) -> dict[str, Any]:
    project.run(*args, simulator=simulator, env={"CI": "1", **variables})
    return newest(project)


def only_config(project: Project, record: dict[str, Any], simulator: str) -> str:
    ((name, config),) = listed(project, record)
    assert name == simulator
    assert config is not None
    return config


@pytest.mark.further_mode
@needs_cocotb_test
def test_a_skipped_build_keeps_the_configuration_of_the_last_one(project: Project) -> None:
    record = ran(project, "-n", "2", "test_runner.py", "test_cocotb_test.py")
    eight = only_config(project, record, "icarus")
    assert listed(project, record) == {
        ("icarus", eight): {
            f"{module}.py::test_widths::{test}"
            for module in ("test_runner", "test_cocotb_test")
            for test in ("counts", "width")
        }
    }
    assert record["axes"]["cocotb"].startswith("2.")
    assert record["axes"]["os"] == sys.platform
    # The sources have not changed, so the runner builds nothing, whatever the parameter.
    assert only_config(project, ran(project, "test_runner.py", WIDTH="16"), "icarus") == eight
    shutil.rmtree(project.folder / "sim_build")
    record = ran(project, "test_runner.py", WIDTH="16", WANT="8", PLUSARGS="+mode=2 +seed=5")
    sixteen = only_config(project, record, "icarus")
    assert sixteen[:8] != eight[:8]
    assert sixteen[8:] != eight[8:] == "0000"
    (cause,) = record["occurrences"]
    assert [(test["simulator"], test["config"]) for test in cause["tests"]] == [("icarus", sixteen)]
    assert set(cause["reads"]) == COMMON | {"test_runner.py"}


@pytest.mark.further_mode
def test_the_native_plugin_tells_it_too(project: Project) -> None:
    options = ("-p", "cocotb_tools._pytest.plugin", "--cocotb-simulator=icarus", "test_native.py")
    record = ran(project, *options, WANT="9")
    config = only_config(project, record, "icarus")
    assert {name.rpartition("::")[2] for names in listed(project, record).values() for name in names} == {
        "counts",
        "width",
    }
    (cause,) = record["occurrences"]
    assert [(test["simulator"], test["config"]) for test in cause["tests"]] == [("icarus", config)]
    assert set(cause["reads"]) == COMMON | {"test_native.py"}


@needs_make
@pytest.mark.further_mode
def test_an_ingested_log_of_make_tells_it_and_results_alone_do_not(project: Project) -> None:
    def made(**variables: str) -> dict[str, Any]:
        project.call(["sh", "-c", "make > make.log 2>&1"], environment("icarus", variables))
        return ingested()

    def ingested() -> dict[str, Any]:
        call = project.call([sys.executable, "-m", "pytest_dvwiki", "ingest", "results.xml"], environment("icarus", CI))
        assert call.status == 0, call.output
        return newest(project)

    CI = {"CI": "1"}  # noqa: N806
    built = only_config(project, made(), "icarus")
    # make builds nothing either.
    record = made(WIDTH="16", WANT="9")
    assert only_config(project, record, "icarus") == built
    (cause,) = record["occurrences"]
    assert set(cause["reads"]) == COMMON | {"Makefile"}
    project.call(["sh", "-c", "make > /dev/null 2>&1; rm make.log"], environment("icarus"))
    assert list(listed(project, ingested())) == [(None, None)]


@needs_ghdl
@pytest.mark.further_mode
def test_a_test_under_two_parameter_sets_has_two_configurations(project: Project) -> None:
    eight, sixteen = (
        only_config(project, ran(project, "test_runner.py", simulator="ghdl", WIDTH=width), "ghdl")
        for width in ("8", "16")
    )
    assert eight[:8] == sixteen[:8]
    assert eight != sixteen


@needs_verilator
@pytest.mark.further_mode
def test_verilator_s_own_program_is_known_as_such(project: Project) -> None:
    record = ran(project, "test_runner.py", simulator="verilator", WANT="9", COCOTB_LOG_LEVEL="WARNING")
    assert only_config(project, record, "verilator")
    assert set(record["occurrences"][0]["reads"]) == COMMON | {"test_runner.py"}
