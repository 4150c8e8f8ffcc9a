"""Tests the plugin together with other plugins and CI systems: one for each row of docs/outputs.md."""

from __future__ import annotations

import json
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Project

COMPANIONS = Path(sys.prefix) / "companions"
"""Plugins for these tests only; in the environment itself, each pytest run of the suite would load them."""
AUTOMATIC = ("allure_pytest", "asyncio", "flaky", "html", "metadata", "pytest_cov", "pytest-retry", "randomly")
TESTS = """
    import os, pytest

    def test_passes(): pass

    @pytest.mark.xdist_group("a")
    def test_fails(): assert {"<b>": 1} == {"100%": 2}

    @pytest.mark.xdist_group("a")
    def test_fails_and_ends_badly(ends_badly): raise ValueError("no such lane")

    @pytest.fixture
    def ends_badly():
        yield
        raise KeyError("lane")

    @pytest.mark.skipif("CRASH" not in os.environ, reason="it ends its process")
    def test_crashes(): os._exit(3)
    """


@pytest.fixture
def companions(monkeypatch: pytest.MonkeyPatch) -> None:
    if not COMPANIONS.is_dir():
        pytest.skip("`make env` installs the plugins")
    monkeypatch.setenv("PYTHONPATH", str(COMPANIONS))
    # pytest-asyncio reports a missing setting.
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")


def only(*plugins: str) -> tuple[str, ...]:
    """Return arguments that switch off the other plugins."""
    assert set(plugins) <= {*AUTOMATIC}
    return tuple(word for name in AUTOMATIC if name not in plugins for word in ("-p", f"no:{name}"))


def labels(junit: Path) -> dict[str, list[str]]:
    """Return the fingerprints of each test in a JUnit file, each followed by its page if it has one."""
    found: dict[str, list[str]] = {}
    for case in ET.parse(junit).iter("testcase"):  # noqa: S314  # a file of this test
        pairs = [(str(each.get("name")), str(each.get("value"))) for each in case.iter("property")]
        found.setdefault(str(case.get("name")), []).extend(
            value for name, value in pairs if name in {"dvwiki_fingerprint", "dvwiki_page"}
        )
    return found


def pages(project: Project) -> dict[str, str]:
    """Return the page of each cause."""
    files = (project.wiki / "bugs").glob("[!_]*.md")
    return {
        str(re.search(r'^fingerprint: "(\w+)"$', path.read_text("utf-8"), re.MULTILINE)[1]): str(  # type: ignore[index]
            path.relative_to(project.path)
        )
        for path in files
    }


@pytest.mark.usefixtures("companions")
def test_every_output_of_a_run_on_two_workers(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.pytester.makepyfile(TESTS)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    outputs = (
        "--junitxml=out/junit.xml",
        "--html=out/report.html",
        "--alluredir=allure",
        "--dvwiki-codequality=cq.json",
    )
    result = project.run(*only("html", "metadata", "allure_pytest"), "-n2", "--dist", "loadgroup", *outputs)
    assert result.ret == 1
    known = pages(project)
    (record,) = project.records()
    causes: dict[str, set[str]] = {}
    for each in record["occurrences"]:
        for test in each["tests"]:
            causes.setdefault(test["nodeid"].rpartition("::")[2], set()).add(each["fingerprint"])
    assert causes.keys() == {"test_fails", "test_fails_and_ends_badly"}
    assert len(known) == 3
    (fails,) = causes["test_fails"]

    junit = labels(project.path / "out" / "junit.xml")
    assert junit["test_fails"] == [fails, known[fails]]
    wanted = causes["test_fails_and_ends_badly"]
    assert set(junit["test_fails_and_ends_badly"]) == {*wanted, *(known[each] for each in wanted)}
    assert junit["test_passes"] == []

    # One annotation and one entry for each cause.
    assert sum(line.startswith("::error title=NEW ") for line in result.outlines) == len(known)
    assert (project.path / "summary.md").read_text("utf-8").count("**NEW**") == len(known)
    assert {each["fingerprint"] for each in json.loads((project.path / "cq.json").read_text("utf-8"))} == known.keys()

    report = (project.path / "out" / "report.html").read_text("utf-8")
    assert f'<a id="dvwiki-{fails}"></a><b>NEW</b> python_error / assertion_error' in report
    assert f'href="../{known[fails]}"' in report
    assert f"#dvwiki-{fails}" in report.partition("data-jsonblob")[2]

    results = [json.loads(path.read_text("utf-8")) for path in (project.path / "allure").glob("*-result.json")]
    (named,) = [each for each in results if {"name": "dvwiki_fingerprint", "value": fails} in each["labels"]]
    assert {"name": "dvwiki_page", "value": known[fails]} in named["labels"]
    assert named["description"].startswith("**NEW** python_error / assertion_error")


def test_a_worker_that_crashes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASH", "1")
    project.pytester.makepyfile(TESTS)
    project.run(
        "-n2", "--dist", "loadgroup", "--max-worker-restart=0", "--junitxml=junit.xml", "--dvwiki-codequality=cq.json"
    )
    assert project.causes()["test_crashes"] == "tool_error/worker_crash"
    assert "tool_error/worker_crash" in (project.path / "cq.json").read_text("utf-8")
    # pytest closes the element of this test without its properties; the others have theirs.
    assert labels(project.path / "junit.xml")["test_fails"]


_COUNT = """
    def pytest_dvwiki_classify(failure):
        with open("classified", "a") as file:
            print(failure.nodeid, failure.phase, failure.ip_type, file=file)
    """


def test_junit_in_one_process_and_without_a_wiki(project: Project) -> None:
    project.pytester.makepyfile(TESTS)
    project.pytester.makeconftest(_COUNT)
    project.run("--junitxml=junit.xml", in_process=True)
    classified = (project.path / "classified").read_text("utf-8").splitlines()
    assert len(classified) == len(set(classified)) == 3, "each failure is classified once, not for each output"
    found = labels(project.path / "junit.xml")
    assert [value for value in found["test_fails"] if value.endswith(".md")] == [pages(project)[found["test_fails"][0]]]
    # The page was made after the record of the file's hash.
    told = project.pytester.run("dvwiki", "ingest", "junit.xml")
    told.stdout.fnmatch_lines(["*already*"])
    assert len(project.records()) == 1

    project.run("--junitxml=junit.xml", "--dvwiki-archive=no", "--dvwiki-dir=elsewhere/wiki", in_process=True)
    assert not [value for values in labels(project.path / "junit.xml").values() for value in values if "/" in value]
    without = project.run("-p", "no:junitxml", "--dvwiki-codequality=cq.json", "-k", "passes", in_process=True)
    assert without.ret == 0
    assert json.loads((project.path / "cq.json").read_text("utf-8")) == []


def test_a_junit_file_that_cannot_be_written_again_stays(project: Project) -> None:
    project.pytester.makepyfile("def test_fails(): assert 0")
    result = project.run("--junitxml=/dev/null", "--dvwiki-github=no", in_process=True)
    assert result.ret == 1
    assert "JUnit" not in result.stdout.str()


@pytest.mark.usefixtures("companions")
def test_random_order_coroutines_and_coverage(project: Project) -> None:
    project.pytester.makepyfile(
        """
        import asyncio, pytest

        @pytest.mark.asyncio
        async def test_coroutine():
            await asyncio.sleep(0)
            raise TimeoutError("no grant")

        @pytest.mark.parametrize("lane", range(4))
        def test_lane(lane): assert lane != 2
        """
    )
    arguments = (*only("asyncio", "pytest_cov", "randomly"), "--cov=.", "--cov-fail-under=1", "-p", "randomly")
    project.run(*arguments).assert_outcomes(passed=3, failed=2)
    again = project.run(*arguments)
    assert len(project.pages()) == 2
    again.stdout.fnmatch_lines(["2 causes behind 2 failed tests: 2 known", "Required test coverage of 1% reached*"])


_DUT = """\
module dut;
  initial begin
    if ($test$plusargs("FIRST")) $display("UVM_ERROR sb.sv(7) @ 5: uvm_test_top.sb [SB] expected 1 got 2");
    else $display("UVM_FATAL drv.sv(9) @ 9: uvm_test_top.drv [NOVIF] no virtual interface");
    $fatal;
  end
endmodule
"""
_ATTEMPTS = """
    import subprocess
    import pytest

    def simulate(attempt):
        subprocess.run(["iverilog", "-g2012", "-o", "dut.vvp", "dut.sv"], check=True)
        subprocess.run(["vvp", "-n", "dut.vvp", *["+FIRST"][attempt - 1:]], check=True)

    tried = {"flaky": 0, "fails": 0}

    @pytest.mark.flaky(AGAIN)
    def test_flaky():
        tried["flaky"] += 1
        if tried["flaky"] == 1:
            simulate(1)

    @pytest.mark.flaky(AGAIN)
    def test_fails():
        tried["fails"] += 1
        simulate(tried["fails"])
    """


@pytest.mark.sim
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog")
@pytest.mark.parametrize(
    ("plugin", "again", "arguments"),
    [
        ("rerunfailures", "reruns=1", ["-s"]),
        pytest.param("pytest-retry", "retries=1", ["-s"], marks=pytest.mark.further_mode),
        pytest.param("flaky", "max_runs=2", ["-n1"], marks=pytest.mark.further_mode),
    ],
)
def test_each_attempt_has_its_own_cause(
    project: Project, monkeypatch: pytest.MonkeyPatch, plugin: str, again: str, arguments: list[str]
) -> None:
    if plugin != "rerunfailures":
        if not (COMPANIONS / plugin.replace("-", "_")).is_dir():
            pytest.skip("`make env` installs the plugins")
        monkeypatch.setenv("PYTHONPATH", str(COMPANIONS))
        arguments = [*arguments, "-p", "no:rerunfailures", *only(plugin)]
    (project.path / "dut.sv").write_text(_DUT)
    project.pytester.makepyfile(_ATTEMPTS.replace("AGAIN", again))
    result = project.run(*arguments)
    assert result.ret == 1
    (record,) = project.records()
    assert project.causes() == {"test_fails": "uvm_fatal/config_db_missing"}
    (flaky,) = record["other"]
    assert flaky["outcome"] == "flaky"
    assert [attempt["failure_subtype"] for attempt in flaky["attempts"]] == ["scoreboard_fail", ""]


def test_reruns_subtests_and_a_time_limit(project: Project) -> None:
    project.pytester.makepyfile(
        """
        import time
        import pytest

        tried = []

        @pytest.mark.flaky(reruns=1)
        def test_flaky():
            tried.append(1)
            assert len(tried) > 1

        def test_parts(subtests):
            for part in range(2):
                with subtests.test(part=part):
                    assert part == 2

        @pytest.mark.timeout(0.2)
        def test_hangs(): time.sleep(60)
        """
    )
    project.run("--junitxml=junit.xml")
    found = labels(project.path / "junit.xml")
    assert found["test_flaky"] == []
    causes = project.causes()
    assert causes["test_hangs"] == "sim_error/timeout"
    assert set(found["test_hangs"]) & pages(project).keys()
    assert set(found["test_parts"]) & pages(project).keys()


def test_a_time_limit_that_ends_while_the_evidence_is_read_stops_neither(project: Project) -> None:
    """pytest-timeout raises its exception at any point until the teardown of the test has ended."""
    project.pytester.makeconftest(
        """
        import time

        slow = [5.0]

        def pytest_dvwiki_evidence():
            time.sleep(slow.pop() if slow else 0)
        """
    )
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.timeout(4, method="signal")
        def test_fails(): assert 1 == 2

        def test_passes(): pass
        """
    )
    result = project.run()
    result.assert_outcomes(failed=1, passed=1)
    assert project.causes().keys() == {"test_fails"}
