"""`dvwiki ingest` archives the run of each folder once, prints its findings, and continues after unreadable files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.leftovers import run_logs
from pytest_dvwiki.capture.simulations.regression import read_regressions
from pytest_dvwiki.cli import main

from ..capture.files.test_artefacts import UNNAMED_BAD, UNNAMED_GOOD, log, results, write
from ..samples import files, written

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.capture.simulations.regression import Regression
    from pytest_dvwiki.logtext.logs import LogText
    from pytest_dvwiki.model import Interest


def test_a_results_file_and_its_log_become_one_record(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"results.xml": results(), "sim.log": log()})
    assert main(["ingest", "results.xml"]) == 0
    (record,) = written(project)
    assert re.fullmatch(r"regression_20261001T100000Z_[0-9a-f]{6}", record["task_id"])
    assert (record["started"], record["finished"]) == ("2026-10-01T10:00:00Z", "2026-10-01T10:00:00Z")
    assert [source["path"] for source in record["sources"]] == ["results.xml", "sim.log"]
    assert all(len(source["sha256"]) == 64 for source in record["sources"])
    assert (record["totals"]["passed"], record["totals"]["failed"]) == (1, 1)
    assert record["simulators"] == [{"name": "icarus", "version": "11.0"}]
    (cause,) = record["occurrences"]
    assert cause["tests"][0]["seed"] == "7"
    output = capsys.readouterr().out.split("\n")
    assert output[0] == "results.xml: 2 tests, 1 failed, 1 cause"
    assert output[1] == "1 cause behind 1 failed test: 1 new"
    assert any(line.startswith(f"archived as {record['task_id']} ") for line in output)
    assert len(list((project / ".agent/wiki/bugs").glob("[A-Z]*.md"))) == 1


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("[SB] MISMATCH expected=17817 got=18073\n", 1),
        ("%Error: rtl/fifo.sv:3:5: syntax error, unexpected endmodule\n", 2),
        (UNNAMED_BAD, 2),
    ],
    ids=["of the testbench", "of a tool", "of UVM"],
)
def test_a_log_that_a_testbench_wrote_beside_its_failed_tests_is_no_test(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, failed: int
) -> None:
    write(project, {"results.xml": results(), "sim.log": log(), "logs/scoreboard.log": text})
    assert main(["ingest", "--task", "nightly", "."]) == 0
    (record,) = written(project)
    assert record["totals"]["failed"] == len(record["occurrences"]) == failed
    note = "logs/scoreboard.log: the errors belong to failed tests of the same testbench, so they do not count again"
    assert (note in capsys.readouterr().err) == (failed == 1)


def test_each_folder_is_a_run_and_a_task_makes_them_one(project: Path) -> None:
    write(project, {f"{name}/results.xml": results(seed) for seed, name in enumerate("abcd")})
    assert main(["ingest", "a", "b"]) == 0
    assert [record["totals"]["failed"] for record in written(project)] == [1, 1]
    assert main(["ingest", "--task", "nightly", "c", "d"]) == 0
    (nightly,) = (record for record in written(project) if record["task_id"].startswith("nightly_"))
    assert nightly["totals"]["failed"] == 2
    assert nightly["suites"]
    assert len(nightly["occurrences"]) == 1


def test_a_log_in_another_folder_belongs_to_the_results_that_it_shows(project: Path) -> None:
    write(project, {"run.log": log(), "test/results.xml": results(), "b/results.xml": results(8)})
    assert main(["ingest", "run.log", "test/results.xml", "b/results.xml"]) == 0
    assert sorted([source["path"] for source in record["sources"]] for record in written(project)) == [
        ["b/results.xml"],
        ["run.log", "test/results.xml"],
    ]
    assert [record["totals"]["failed"] for record in written(project)] == [1, 1]


@pytest.mark.parametrize("shows", [True, False], ids=["with_its_values", "without_its_values"])
def test_a_log_that_begins_with_another_simulation_does_not_name_its_makefile(project: Path, *, shows: bool) -> None:
    """One log is from a script that calls make in each folder."""
    makefile = (
        "COCOTB_TOPLEVEL = {}\nCOCOTB_TEST_MODULES = {}\ninclude $(shell cocotb-config --makefiles)/Makefile.sim\n"
    )
    vvp = "COCOTB_TEST_MODULES={} COCOTB_TOPLEVEL={} {} -m libcocotbvpi.so sim_build/sim.vvp\n"
    first = vvp.format("first", "tx", "verilator") + "** TESTS=2 PASS=2 FAIL=0 SKIP=0 **\n"
    own = vvp.format("bench", "rx", "vvp") if shows else ""
    write(
        project,
        {
            "sim/tx/Makefile": makefile.format("tx", "first"),
            "sim/rx/Makefile": makefile.format("rx", "bench"),
            "sim/rx/results.xml": results(),
            "run.log": first + own + log(),
        },
    )
    assert main(["ingest", "sim", "--log", "run.log", "--task", "nightly"]) == 0
    (record,) = written(project)
    (cause,) = record["occurrences"]
    assert cause["command"]["folder"] == "sim/rx"
    assert cause["command"]["arguments"] == ["make"]
    assert cause["command"]["variables"].get("SIM") == ("icarus" if shows else None)


def test_a_build_that_failed_in_a_common_log_is_named_after_the_folder_of_its_makefile(project: Path) -> None:
    makefile = (
        "COCOTB_TOPLEVEL = {}\nCOCOTB_TEST_MODULES = {}\ninclude $(shell cocotb-config --makefiles)/Makefile.sim\n"
    )
    vvp = "COCOTB_TEST_MODULES=bench COCOTB_TOPLEVEL=rx /usr/bin/vvp -m libcocotbvpi_icarus.so sim_build/sim.vvp\n"
    command = "/usr/bin/iverilog -o sim_build/sim.vvp -s {} -g2012 ../../rtl/{}.v\n"
    failed = (
        f"{command.format('txx', 'tx')}"
        'error: Unable to find the root module "txx" in the Verilog source.\n'
        "1 error(s) during elaboration.\n"
        "make: *** [/site-packages/cocotb_tools/makefiles/simulators/Makefile.icarus:76: sim_build/sim.vvp] Error 1\n"
    )
    write(
        project,
        {
            "sim/tx/Makefile": makefile.format("txx", "first"),
            "sim/rx/Makefile": makefile.format("rx", "bench"),
            "sim/rx/results.xml": results(),
            "run.log": failed + command.format("rx", "rx") + vvp + log(),
        },
    )
    assert main(["ingest", "sim", "--log", "run.log", "--task", "nightly"]) == 0
    (record,) = written(project)
    tests = {test["nodeid"] for cause in record["occurrences"] for test in cause["tests"]}
    assert tests == {"sim/tx", "sim/rx::bad"}


@pytest.mark.parametrize(
    ("build", "arguments"),
    [
        (
            (
                "verilator -cc --exe -Mdir sim_build --top-module fifo ../rtl/fifo.v\n"
                "%Warning-CASEINCOMPLETE: ../rtl/fifo.v:12:5: Case values incompletely covered (example pattern 0x3)\n"
                "%Error: Exiting due to 1 warning(s)\n"
                "make: *** [Makefile.verilator:69: sim_build/Vtop.mk] Error 1"
            ),
            ["make", "-B"],
        ),
        (
            (
                "/usr/bin/iverilog -o sim_build/sim.vvp -s fifo -g2012 ../rtl/fifo.v\n"
                "../rtl/fifo.v:12: syntax error\n"
                "make: *** [Makefile.icarus:76: sim_build/sim.vvp] Error 1"
            ),
            ["make"],
        ),
    ],
    ids=["verilator", "icarus"],
)
def test_make_builds_again_what_a_failed_build_of_verilator_left(
    project: Path, build: str, arguments: list[str]
) -> None:
    """Verilator writes its Makefile although a warning is fatal, and make would go on from there."""
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    makefile = "COCOTB_TOPLEVEL = fifo\ninclude $(shell cocotb-config --makefiles)/Makefile.sim\n"
    folder = f"'{project / 'sim'}'"
    log = f"make: Entering directory {folder}\n{build}\nmake: Leaving directory {folder}\n"
    write(project, {"sim/Makefile": makefile, "sim/make.log": log})
    assert main(["ingest", "sim/make.log"]) == 0
    ((cause,),) = (record["occurrences"] for record in written(project))
    assert cause["command"]["arguments"] == arguments


def test_a_test_module_that_cannot_be_imported_was_read_with_what_it_imports(project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    write(
        project,
        {
            "sim/rx/Makefile": "COCOTB_TOPLEVEL = rx\ninclude $(shell cocotb-config --makefiles)/Makefile.sim\n",
            "sim/rx/bench.py": "import helper\nfrom cocotb.trigger import Timer\n",
            "sim/rx/helper.py": "X = 1\n",
            "rtl/rx.v": "module rx;\nendmodule\n",
            "sim/rx/make.log": (
                "/usr/bin/iverilog -o sim_build/sim.vvp -s rx -g2012 ../../rtl/rx.v\n"
                "COCOTB_TEST_MODULES=bench COCOTB_TESTCASE= COCOTB_TOPLEVEL=rx TOPLEVEL_LANG=verilog \\\n"
                "\t /usr/bin/vvp -m libcocotbvpi_icarus.so sim_build/sim.vvp\n"
                "     0.00ns INFO     cocotb.initialize                  Initialized cocotb v2.1.0 from /cocotb\n"
                "Traceback (most recent call last):\n"
                f'  File "{project}/sim/rx/bench.py", line 2, in <module>\n'
                "    from cocotb.trigger import Timer\n"
                "ModuleNotFoundError: No module named 'cocotb.trigger'\n"
                "make: *** [/site-packages/cocotb_tools/makefiles/simulators/Makefile.icarus:69: results.xml] Error 1\n"
            ),
        },
    )
    assert main(["ingest", "sim/rx"]) == 0
    (record,) = written(project)
    (cause,) = record["occurrences"]
    assert cause["failure_subtype"] == "import_error"
    # No design can make an import fail.
    assert {*cause["reads"]} == {"(no HDL)", "sim/rx/Makefile", "sim/rx/bench.py", "sim/rx/helper.py"}


@pytest.mark.parametrize(
    ("target", "read"), [("../../rtl/tx.sv", {"rtl/tx.sv"}), ("{root}/rtl/tx.v", {"rtl/tx.v"}), ("lint", set[str]())]
)
def test_of_the_hdl_make_asked_for_what_it_found_no_rule_for(project: Path, target: str, read: set[str]) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    target = target.format(root=project)
    write(
        project,
        {
            "rtl/rx.v": "module rx;\n",
            "sim/rx/Makefile": "COCOTB_TOPLEVEL = rx\ninclude $(shell cocotb-config --makefiles)/Makefile.sim\n",
            "sim/rx/make.log": f"make: *** No rule to make target '{target}', needed by 'sim_build/sim.vvp'.  Stop.\n",
        },
    )
    assert main(["ingest", "sim/rx"]) == 0
    (record,) = written(project)
    (cause,) = record["occurrences"]
    assert {*cause["reads"]} == {"sim/rx/Makefile", *read}


@pytest.mark.parametrize("other", [results(8), results(test="another")], ids=["another_seed", "another_test"])
def test_a_log_of_other_results_is_a_run_of_its_own(project: Path, other: str) -> None:
    write(project, {"run.log": log(), "test/results.xml": other})
    assert main(["ingest", "run.log", "test/results.xml"]) == 0
    assert len(written(project)) == 2


def test_a_log_that_fits_two_results_files_belongs_to_none(project: Path) -> None:
    write(project, {"run.log": log(), "a/results.xml": results(), "b/results.xml": results() + "\n"})
    assert main(["ingest", "run.log", "a/results.xml", "b/results.xml"]) == 0
    assert len(written(project)) == 3


BROKEN = """make[1]: Entering directory '{root}/c'
iverilog -o sim.vvp -s rx rx.v
rx.v:4: syntax error
make[1]: *** [Makefile:5: sim.vvp] Error 1
make[1]: Leaving directory '{root}/c'
"""


def entered(root: Path, folder: str, text: str) -> str:
    """Return the output of a make that another make called in a folder."""
    run = f"vvp -m libcocotbvpi.so {folder}.vvp"
    return "\n".join(
        (f"make[1]: Entering directory '{root}/{folder}'", run, f"{text}make[1]: Leaving directory '{root}/{folder}'\n")
    )


@pytest.mark.parametrize("seeds", [(7, 8), (7, 7)], ids=["a_seed_each", "one_seed"])
@pytest.mark.parametrize(
    "words", [["."], [".", "--task", "nightly"], ["a", "b", "--log", "night.log"]], ids=["found", "of a task", "given"]
)
def test_the_log_of_several_folders_makes_them_one_run(project: Path, words: list[str], seeds: tuple[int, int]) -> None:
    first, second = seeds
    shown = entered(project, "a", log(first)) + BROKEN.format(root=project) + entered(project, "b", log(second))
    write(project, {"night.log": shown, "a/results.xml": results(first), "b/results.xml": results(second)})
    if "--task" in words:
        lint = '<testsuite><testcase classname="lint" name="style"/></testsuite>'
        write(project, {"lint/junit.xml": lint})
    assert main(["ingest", *words]) == 0
    (record,) = written(project)
    paths = [source["path"] for source in record["sources"] if source["path"] != "lint/junit.xml"]
    assert paths == ["a/results.xml", "b/results.xml", "night.log"]
    assert (record["totals"]["passed"], record["totals"]["failed"]) == (3 if "--task" in words else 2, 3)
    tests = [(test["nodeid"], test["simulator"]) for cause in record["occurrences"] for test in cause["tests"]]
    assert sorted(tests) == [("a::bad", "icarus"), ("b::bad", "icarus"), ("c", "icarus")]


def test_a_given_log_of_other_simulations_is_named_and_is_no_source(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, {"a/results.xml": results(7), "logs/other.log": log(8)})
    assert main(["ingest", "a", "--log", "logs/other.log"]) == 0
    (record,) = written(project)
    assert [source["path"] for source in record["sources"]] == ["a/results.xml"]
    told = "logs/other.log: its seeds and tests are in no results file, so its failures do not count; ingest it alone"
    assert told in capsys.readouterr().err
    assert main(["ingest", "logs/other.log"]) == 0
    assert len(written(project)) == 2


def test_a_log_is_read_a_few_times_only_however_many_results_have_its_seed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One folder has the results, and another one has the logs."""
    names = [f"test_{number}" for number in range(10)]
    shown = {f"logs/{name}.log": log(test=name).replace("bench.good", f"bench.good_{name}") for name in names}
    found = {f"res/{name}.xml": results(test=name).replace('"good"', f'"good_{name}"') for name in names}
    write(project, found | shown)
    read: list[Path | None] = []

    def counted(text: LogText, interest: Interest) -> list[Regression]:
        read.append(text.path)
        return read_regressions(text, interest)

    monkeypatch.setattr(run_logs, "read_regressions", counted)
    assert main(["ingest", "res", "logs"]) == 0
    assert len(read) <= 2 * len(names)
    (record,) = written(project)
    assert record["totals"]["failed"] == len(names)


def test_a_log_with_earlier_runs_of_the_same_tests_is_a_run_of_its_own(project: Path) -> None:
    shown = "".join(entered(project, *run) for run in (("a", log(6)), ("a", log(7)), ("b", log(8))))
    write(project, {"nights.log": shown, "a/results.xml": results(7), "b/results.xml": results(8)})
    assert main(["ingest", "."]) == 0
    assert sorted(len(record["sources"]) for record in written(project)) == [1, 1, 1]


def test_a_cause_that_several_runs_share_is_shown_once_and_all_are_counted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {f"{name}/results.xml": results(seed) for seed, name in enumerate("abc")}
    write(project, given | {"d/good.log": UNNAMED_GOOD, "e/results.xml": results()[:200]})
    assert main(["ingest", "a"]) == 0
    capsys.readouterr()
    assert main(["ingest", "a", "b", "c", "d", "e"]) == 1
    lines = capsys.readouterr().out.split("\n")
    assert sum(line.startswith("KNOWN ") for line in lines) == 1
    assert "c: 2 tests, 1 failed, 1 cause, shown above" in [line.replace("/results.xml", "") for line in lines]
    assert lines[-2] == "5 runs: 3 archived, 1 archived before, 1 not archived; 1 cause"


def test_the_summary_counts_the_tests_of_all_runs_with_a_cause(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, {f"{name}/results.xml": results().replace('name="bad"', f'name="{name}"') for name in "abc"})
    for _ in ("new", "archived before"):
        assert main(["ingest", "--summary", "a", "b", "c"]) == 0
        assert capsys.readouterr().out.startswith("### dvwiki: 1 cause behind 3 failed tests: 1 ")
    write(project, {"d/results.xml": results()[:200], "e/results.xml": PASSED})
    for paths, headline in (
        ("c d", "1 cause behind 1 failed test: 1 known"),
        ("d e", "no failure in what could be read"),
    ):
        assert main(["ingest", "--summary", *paths.split()]) == 1
        text = capsys.readouterr().out
        assert text.startswith(f"### dvwiki: {headline}\n")
        assert text.endswith("\n**Incomplete**: 1 problem while reading; there may be more causes.\n")


def test_the_same_contents_are_the_same_record_under_any_name_and_time(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, {"sim.log": UNNAMED_BAD})
    assert main(["ingest", "sim.log"]) == 0
    before = files(project / ".agent")
    shutil.copyfile("sim.log", "copy.log")
    os.utime("copy.log", (2_000_000, 2_000_000))
    for words in (["sim.log"], ["copy.log"], ["--task", "other", "copy.log"], ["--log", "sim.log"]):
        capsys.readouterr()
        assert main(["ingest", *words]) == 0
        assert "already archived as regression_19700112T134640Z" in capsys.readouterr().out
    assert files(project / ".agent") == before


def test_each_results_file_counts_once_whatever_it_lies_beside(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, {"a/one.xml": results(1), "a/one.log": UNNAMED_BAD})
    assert main(["ingest", "a"]) == 0
    write(project, {"a/two.xml": results(2)})
    capsys.readouterr()
    assert main(["ingest", "a"]) == 0
    (first,) = (record["task_id"] for record in written(project) if len(record["sources"]) == 2)
    assert f"a: 2 files skipped, already archived as {first}" in capsys.readouterr().out
    assert [record["totals"]["failed"] for record in written(project)] == [1, 1]
    second = next(record for record in written(project) if record["task_id"] != first)
    assert [source["path"] for source in second["sources"]] == ["a/two.xml"]
    before = files(project / ".agent")
    for words in (["a"], ["--task", "nightly", "a"], ["a/two.xml"]):
        assert main(["ingest", *words]) == 0
    assert files(project / ".agent") == before


def test_of_a_simulation_without_results_its_log_tells_what_is_known(project: Path) -> None:
    write(
        project,
        {"a/results.xml": "", "a/sim.log": UNNAMED_BAD, "b/results.xml": "", "b/sim.log": f"{UNNAMED_BAD}more\n"},
    )
    for words in (["a"], ["b"], ["a"], ["b"]):
        assert main(["ingest", *words]) == 0
    assert len(written(project)) == 2


def test_a_second_call_makes_the_pages_that_a_killed_one_did_not_and_none_that_people_took_away(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, {"sim.log": UNNAMED_BAD})
    assert main(["ingest", "sim.log"]) == 0
    before = files(project / ".agent")
    shutil.rmtree(project / ".agent" / "wiki")
    capsys.readouterr()
    assert main(["ingest", "sim.log"]) == 0
    assert re.search(r"already archived as \S+; 2 missing pages made now", capsys.readouterr().out)
    after = files(project / ".agent")
    assert before.keys() == after.keys()
    assert len(written(project)) == 1
    for page in (project / ".agent/wiki/bugs").glob("[A-Z]*.md"):
        page.unlink()
    assert main(["ingest", "sim.log"]) == 0
    assert list((project / ".agent/wiki/bugs").glob("[A-Z]*.md")) == []


def test_a_compacted_month_is_known_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"results.xml": results()})
    main(["ingest", "results.xml"])
    (path,) = (project / ".agent/tasks/2026/10").glob("*.yaml")
    path.rename(project / ".agent/tasks/2026/10.yaml")
    capsys.readouterr()
    assert main(["ingest", "results.xml"]) == 0
    assert "nothing changed" in capsys.readouterr().out


def test_a_run_that_passed_is_archived_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"good.log": UNNAMED_GOOD})
    assert main(["ingest", "good.log"]) == 0
    assert written(project)[0]["totals"]["passed"] == 1
    assert capsys.readouterr().out.startswith("good.log: 1 log that names no test and shows no known failure\n")


def test_what_names_no_test_is_told_beside_what_does(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"good.log": UNNAMED_GOOD, "word.log": "hello\n", "bad.log": UNNAMED_BAD})
    assert main(["ingest", ".", "--task", "nightly"]) == 0
    told = "nightly: 1 test, 1 failed, 1 cause, 2 logs that name no test and show no known failure\n"
    assert capsys.readouterr().out.startswith(told)


PASSED = (
    '<testsuites><testsuite name="t" tests="1"><testcase classname="t" name="a" time="0.1"><properties>'
    '<property name="cocotb" value="True"/><property name="random_seed" value="5"/></properties></testcase>'
    "</testsuite></testsuites>"
)


def test_a_log_that_ends_before_its_tests_is_not_hidden_by_the_results_file_of_the_run_before(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, {"results.xml": PASSED, "sim.log": "Makefile:10: *** missing separator.  Stop.\n"})
    readings: list[LogText] = []

    def read(log: LogText, interest: Interest) -> list[Regression]:
        readings.append(log)
        return read_regressions(log, interest)

    monkeypatch.setattr(run_logs, "read_regressions", read)
    assert main(["ingest", "results.xml", "--log", "sim.log"]) == 0
    assert len(readings) == 1
    (cause,) = written(project)[0]["occurrences"]
    assert (cause["error_class"], cause["failure_subtype"]) == ("compile_error", "syntax_error")
    assert "results.xml: from an earlier run; the run that wrote sim.log ran no tests" in capsys.readouterr().err


def test_such_a_log_that_nobody_asked_for_is_left_to_be_archived(project: Path) -> None:
    write(project, {"results.xml": PASSED, "sim.log": "Makefile:10: *** missing separator.  Stop.\n"})
    for path, failed in (("results.xml", 0), (".", 1)):
        assert main(["ingest", path]) == 0
        assert sum(each["totals"]["failed"] for each in written(project)) == failed


def test_a_log_that_tells_why_one_simulation_failed_is_no_run_of_its_own(project: Path) -> None:
    ended = '</properties><failure message="Simulator shut down prematurely" type="SimFailure"/>'
    write(project, {"a/results.xml": PASSED, "b/results.xml": PASSED.replace("</properties>", ended)})
    write(project, {"sim.log": "Segmentation fault (core dumped)\n"})
    assert main(["ingest", "a/results.xml", "b/results.xml", "--log", "sim.log", "--task", "night"]) == 0
    (found,) = written(project)
    assert (found["totals"]["passed"], found["totals"]["failed"]) == (1, 1)
    assert len(found["occurrences"]) == 1


@pytest.mark.parametrize(
    "text",
    [
        (
            "     0.00ns INFO     cocotb                             Seeding Python random module with 5\n"
            "    10.00ns ERROR    cocotb.tb                          mismatch: expected 3 got 4\n"
        ),
        "all is well\n",
        "",
    ],
)
def test_the_log_of_a_run_in_which_all_is_well_makes_no_failure(project: Path, text: str) -> None:
    write(project, {"results.xml": PASSED, "sim.log": text})
    assert main(["ingest", "results.xml", "--log", "sim.log"]) == 0
    totals = written(project)[0]["totals"]
    assert (totals["passed"], totals["failed"]) == (1, 0)


@pytest.mark.parametrize(
    ("places", "name"),
    [
        (("sim.log",) * 3, "sim.log"),
        (("2026-11-19/sim.log", "2026-11-20/sim.log", "2026-11-21/sim.log"), "*/sim.log"),
        (("axi_20261119_2230.log", "axi_20261120_2231.log", "axi_20261121T223000Z.log"), "axi_*.log"),
    ],
)
def test_a_failure_that_came_before_is_known_and_one_that_went_is_said_to_pass(
    project: Path, capsys: pytest.CaptureFixture[str], places: tuple[str, ...], name: str
) -> None:
    for place, text in zip(places, (UNNAMED_BAD, UNNAMED_BAD + "# later\n", UNNAMED_GOOD), strict=True):
        capsys.readouterr()
        write(project, {place: text})
        main(["ingest", place])
        if text.endswith("# later\n"):
            assert "\nKNOWN " in capsys.readouterr().out
    assert f"1 test passes again: {name}" in re.sub(r"\s+", " ", capsys.readouterr().out)


@pytest.mark.parametrize(("name", "text"), [("sim.log", ""), ("junit.xml", "<testsuites/>")])
def test_what_tells_of_no_test_is_not_archived(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    write(project, {name: text})
    assert main(["ingest", name]) == 0
    assert f"{name}: not archived, because it reports no test\n" in capsys.readouterr().out
    assert written(project) == []


JUNIT = """<testsuite name="pytest">
<testcase classname="tests.test_x.TestWrap" name="test_a[8]"{file}/>
<testcase classname="tests.test_x" name="test_b[a.b::c]"{file}/>
<testcase classname="..{long}" name="test_c"/><testcase classname="{long}" name="test_d"/></testsuite>"""


@pytest.mark.parametrize("named", [True, False])
def test_tests_of_pytest_s_own_report_are_called_as_pytest_calls_them(project: Path, named: bool) -> None:
    long = "x" * 300
    file = ' file="tests/test_x.py"' if named else ""
    write(project, {"junit.xml": JUNIT.format(file=file, long=long), "out.py": ""})
    if not named:
        write(project, {"tests/test_x.py": ""})
    assert main(["ingest", "junit.xml", "--task", "nightly"]) == 0
    (suite,) = (project / ".agent" / "tasks" / "suites").iterdir()
    assert set(suite.read_text(encoding="utf-8").splitlines()) == {
        "tests/test_x.py::TestWrap::test_a[8]",
        "tests/test_x.py::test_b[a.b::c]",
        f"..{long}::test_c",
        f"{long}::test_d",
    }


@pytest.mark.parametrize(("root", "unknown"), [("pytest tests", False), ("cocotb tests", True)])
def test_a_test_of_cocotb_has_a_seed_that_a_shortened_report_does_not_name(
    project: Path, root: str, unknown: bool
) -> None:
    text = f"""<testsuites name="{root}"><testsuite name="tb"><testcase classname="tb" name="a" time="0.1">
<failure message="no response for tag 7" type="RuntimeError">RuntimeError: no response for tag 7</failure></testcase>
</testsuite></testsuites>"""
    write(project, {"junit.xml": text})
    assert main(["ingest", "junit.xml", "--task", "nightly"]) == 0
    (record,) = written(project)
    (test,) = record["occurrences"][0]["tests"]
    assert test["seed_unknown"] is unknown


RETRIED = """<testsuite name="soc" timestamp="2026-10-01T10:00:00">
<testcase classname="soc" name="dma"><flakyFailure message="AXI response SLVERR" type="AssertionError">
<stackTrace>AssertionError: AXI response SLVERR</stackTrace><system-out>noise</system-out></flakyFailure></testcase>
<testcase classname="soc" name="irq">
<failure message="no interrupt" type="TimeoutError">TimeoutError: no interrupt</failure>
<rerunFailure message="no clock" type="TimeoutError">TimeoutError: no clock</rerunFailure></testcase>
<testcase classname="soc" name="uart"/></testsuite>"""


def test_a_test_that_another_runner_ran_again_is_flaky(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"junit.xml": RETRIED})
    assert main(["ingest", "junit.xml"]) == 0
    (record,) = written(project)
    assert {name: record["totals"][name] for name in ("passed", "failed", "flaky")} == {
        "passed": 1,
        "failed": 1,
        "flaky": 1,
    }
    (flaky,) = record["other"]
    assert [(each["outcome"], each["primary"]) for each in flaky["attempts"]] == [
        ("failed", "AssertionError: AXI response SLVERR"),
        ("passed", ""),
    ]
    (cause,) = record["occurrences"]
    assert cause["primary"] == "TimeoutError: no interrupt"
    assert "FLAKY      1 test failed, then passed when run again" in capsys.readouterr().out


def test_a_results_file_that_names_its_item_has_the_ids_of_a_live_run(project: Path) -> None:
    text = results().replace('name="bench" timestamp', 'name="all" package="tests/test_x.py::test_run[8]" timestamp')
    write(project, {"out/results.xml": text})
    assert main(["ingest", "out", "--task", "nightly"]) == 0
    (suite,) = (project / ".agent" / "tasks" / "suites").iterdir()
    names = {"tests/test_x.py::test_run[8]::bad", "tests/test_x.py::test_run[8]::good"}
    assert set(suite.read_text(encoding="utf-8").splitlines()) == names


def test_a_bad_file_is_named_and_the_other_runs_go_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"a/results.xml": results()[:200], "a/good.log": UNNAMED_GOOD, "b/results.xml": results()})
    assert main(["ingest", "a", "nowhere", "b"]) == 1
    said = capsys.readouterr()
    assert "dvwiki ingest: nowhere: no such file; check the name\n" in said.err
    assert "dvwiki ingest: a/results.xml: not well-formed XML" in said.err
    assert "a: not archived" in said.out
    # Otherwise half of a run would later be next to the whole run.
    assert [[source["path"] for source in record["sources"]] for record in written(project)] == [["b/results.xml"]]


def test_a_call_without_anything_is_a_mistake(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest"]) == 2
    assert "give files" in capsys.readouterr().err


def test_a_wiki_that_cannot_be_written_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"sim.log": UNNAMED_BAD})
    (project / ".agent" / "tasks").write_text("in the way")
    assert main(["ingest", "sim.log"]) == 1
    assert "the wiki was not written" in capsys.readouterr().out


def test_wiki_and_root_can_stand_elsewhere(project: Path) -> None:
    write(project, {"sub/sim.log": UNNAMED_BAD})
    assert main(["ingest", "sub/sim.log", "--root", "sub", "--wiki-dir", "notes/wiki"]) == 0
    assert (project / "sub/notes/wiki/index.md").is_file()
    assert not (project / ".agent/wiki").exists()


def test_what_a_file_calls_itself_cannot_leave_the_record_s_lines(project: Path) -> None:
    """Names come from outside; a record with them still has the right meaning."""
    write(project, {"results.xml": results(test="bad&#10;totals: {passed: 99}")})
    assert main(["ingest", "results.xml"]) == 0
    assert written(project)[0]["totals"]["passed"] == 1


def test_it_tells_its_progress_to_a_terminal_only(project: Path) -> None:
    write(project, {"a/sim.log": UNNAMED_BAD, "b/sim.log": UNNAMED_GOOD})
    command = [sys.executable, "-m", "pytest_dvwiki", "ingest", "a", "b"]
    quiet = subprocess.run(command, capture_output=True, text=True, check=True)
    assert quiet.stderr == ""
    ours, theirs = os.openpty()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "1 of 2: a/sim.log" in shown
    assert shown.endswith("\r\x1b[K")


def test_the_page_of_a_subtype_that_a_projects_pattern_brings_says_what_that_pattern_says(project: Path) -> None:
    pattern = """
- id: own.link
  error_class: sim_error
  failure_subtype: link_loss
  tier: cause
  match: ["LINK: lane \\\\d+ lost its lock"]
  description: The receiver lost the clock of a lane.
  fix: Look at the eye of {lane} before the equaliser.
  examples: ["LINK: lane 3 lost its lock"]
"""
    failed = results().replace("AssertionError", "RuntimeError: LINK: lane 3 lost its lock")
    write(project, {".agent/patterns/own.yaml": pattern, "results.xml": failed})
    assert main(["ingest", "results.xml"]) == 0
    (cause,) = written(project)[0]["occurrences"]
    assert (cause["error_class"], cause["failure_subtype"], cause["pattern"]) == ("sim_error", "link_loss", "own.link")
    page = (project / ".agent/wiki/patterns/link_loss.md").read_text(encoding="utf-8")
    assert "# Pattern: Link loss\n" in page
    assert "## Description\n\nThe receiver lost the clock of a lane.\n" in page
    assert "## Fix Template\n\nLook at the eye of the lane before the equaliser.\n" in page
