"""Each outcome of a plain test counts once, under the right name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Project

PHASES = """
    import pytest

    @pytest.fixture
    def broken():
        raise KeyError("cfg")

    @pytest.fixture
    def leaves_broken():
        yield
        raise OSError("teardown broke")

    def test_passes(): pass
    def test_fails(): assert 1 + 1 == 3, "sum"
    def test_setup(broken): pass
    def test_teardown(leaves_broken): pass
    def test_both(leaves_broken): assert 0, "call"
    def test_skips(): pytest.skip("not here")

    @pytest.mark.xfail
    def test_expected(): assert 0

    @pytest.mark.xfail
    def test_unexpected(): pass

    @pytest.mark.xfail(strict=True)
    def test_strict(): pass
    """


@pytest.mark.parametrize("arguments", [(), ("-n", "1"), ("-s",), ("-p", "no:terminal"), ("-p", "no:logging")])
def test_phases_and_expectations(project: Project, arguments: tuple[str, ...]) -> None:
    project.pytester.makepyfile(PHASES)
    without = project.run(*arguments, plugin=False, in_process=True)
    result = project.run(*arguments, in_process=True)
    assert result.ret == without.ret == 1
    (record,) = project.records()
    assert project.causes() == {
        "test_fails": "python_error/assertion_error",
        "test_setup": "python_error/fixture_error",
        "test_teardown": "python_error/fixture_error",
        "test_both": "python_error/fixture_error",
        "test_strict": "sim_error/unexpected_pass",
    } | {"test_both": project.causes()["test_both"]}
    totals = record["totals"]
    assert (totals["passed"], totals["failed"], totals["errors"]) == (2, 2, 3)
    assert (totals["skipped"], totals["xfailed"]) == (1, 1)
    of_both = [cause for cause in record["occurrences"] for test in cause["tests"] if "test_both" in test["nodeid"]]
    assert len(of_both) == 2  # the call's failure and the teardown's error


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_a_module_that_cannot_be_collected_is_one_failure(project: Project, arguments: tuple[str, ...]) -> None:
    project.pytester.makepyfile(test_gone="import nosuchmodule", test_bad="def broken(:\n")
    without = project.run(*arguments, plugin=False, in_process=True)
    assert project.run(*arguments, in_process=True).ret == without.ret != 0
    (record,) = project.records()
    labels = sorted(cause["failure_subtype"] for cause in record["occurrences"])
    assert labels == ["import_error", "python_syntax_error"]
    assert all(len(cause["tests"]) == 1 for cause in record["occurrences"])
    assert record["totals"]["errors"] == 2


def test_a_worker_that_crashes_is_a_failure_of_its_test(project: Project) -> None:
    project.pytester.makepyfile("import os\ndef test_crash(): os._exit(3)\ndef test_other(): pass\n")
    project.run("-n", "2")
    (record,) = project.records()
    (cause,) = record["occurrences"]
    assert (cause["error_class"], cause["failure_subtype"]) == ("tool_error", "worker_crash")
    assert "crashed while running" in cause["primary"]
    assert record["totals"]["passed"] == 1


def test_a_test_that_passes_at_last_is_flaky_and_no_failure(project: Project) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.pytester.makepyfile(
        """
        runs = []
        def test_second(): runs.append(1); assert len(runs) > 1
        def test_never(): assert 0, "always"
        """
    )
    result = project.run("--reruns", "2", in_process=True)
    result.stdout.fnmatch_lines(
        [
            "1 cause behind 1 failed test: 1 new",
            "FLAKY      1 test failed, then passed when run again",
            "  test_second: failed, then passed; flaky in 1 of 1 run on record that ran it",
            "  cause  AssertionError: assert 1 > 1*",
            "         python_error / assertion_error",
            "  page   .agent/wiki/flaky.md",
        ]
    )
    (record,) = project.records()
    assert project.causes() == {"test_never": "python_error/assertion_error"}
    row = "| `test_a_test_that_passes_at_last_is_flaky_and_no_failure.py::test_second` | 1 | 1 | 100% |"
    assert row in (project.wiki / "flaky.md").read_text(encoding="utf-8")
    assert "[Flaky tests](flaky.md): 1\n" in (project.wiki / "index.md").read_text(encoding="utf-8")
    assert record["totals"]["flaky"] == 1
    assert record["totals"]["failed"] == 1
    assert record["occurrences"][0]["tests"][0]["attempts"] == 3
    name = "test_a_test_that_passes_at_last_is_flaky_and_no_failure.py::test_second"
    assert [(each["nodeid"], each["outcome"]) for each in record["other"]] == [(name, "flaky")]


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_each_attempt_of_a_flaky_test_is_on_record_with_its_cause(project: Project, arguments: tuple[str, ...]) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.pytester.makepyfile(
        """
        runs = []
        def fails(): raise KeyError("mode")
        def test_third():
            runs.append(1)
            assert len(runs) > 1, "the first one"
            if len(runs) == 2: fails()
        def test_fails(): fails()
        """
    )
    project.run("--reruns", "2", *arguments, in_process=True)
    (record,) = project.records()
    ((cause, flaky),) = zip(record["occurrences"], record["other"], strict=True)
    assert [(each["outcome"], each["seed"]) for each in flaky["attempts"]] == [
        ("failed", None),
        ("failed", None),
        ("passed", None),
    ]
    first, second, last = (each["fingerprint"] for each in flaky["attempts"])
    assert (second, last) == (cause["fingerprint"], None), "the same cause as that of a test that fails to the end"
    assert first not in {None, second}


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_each_failed_subtest_counts_with_its_test(project: Project, arguments: tuple[str, ...]) -> None:
    project.pytester.makepyfile(
        """
        def test_parts(subtests):
            for part in range(3):
                with subtests.test("part", part=part):
                    assert part != 1
        """
    )
    project.run(*arguments, in_process=True)
    (record,) = project.records()
    (cause,) = record["occurrences"]
    assert cause["primary"] == "AssertionError: assert 1 != 1"
    assert record["totals"]["failed"] == 1


def test_a_tool_that_a_shared_fixture_misses_is_one_cause_for_all_tests(project: Project) -> None:
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session")
        def runner():
            raise SystemExit("ERROR: iverilog executable not found!")

        @pytest.mark.parametrize("width", [8, 16, 32])
        def test_fifo(runner, width): pass
        """
    )
    project.run(in_process=True)
    assert set(project.causes().values()) == {"tool_error/tool_not_found"}
    (record,) = project.records()
    assert [len(cause["tests"]) for cause in record["occurrences"]] == [3]


def test_a_file_that_does_not_hold_the_message_is_not_named_as_its_log(project: Project) -> None:
    project.pytester.makepyfile(
        """
        import logging, pathlib, subprocess, sys

        def test_build():
            subprocess.run([sys.executable, "-c", ""], check=True)
            pathlib.Path("waves.txt").write_text("how to see the waves\\n" * 9)
            logging.getLogger("cocotb").error("rtl/fifo.sv:101: syntax error")
            raise SystemExit("Process iverilog terminated with error 1")
        """
    )
    project.run(in_process=True)
    (record,) = project.records()
    (cause,) = record["occurrences"]
    assert cause["primary"].endswith("rtl/fifo.sv:101: syntax error")
    assert cause["log"] is None


def test_x_stops_and_archives_what_there_is(project: Project) -> None:
    project.pytester.makepyfile("def test_a(): assert 0, 'first'\ndef test_b(): assert 0, 'second'\n")
    result = project.run("-x", in_process=True)
    assert result.ret == 1
    assert list(project.causes()) == ["test_a"]


def test_an_interrupt_keeps_what_failed_before(project: Project) -> None:
    project.pytester.makepyfile("def test_a(): assert 0, 'first'\ndef test_b(): raise KeyboardInterrupt\n")
    result = project.run()
    assert result.ret == 2
    assert list(project.causes()) == ["test_a"]


@pytest.mark.parametrize("arguments", [(), ("-s",)])
def test_an_interrupt_keeps_the_tests_of_a_simulation_that_failed_before(
    project: Project, arguments: tuple[str, ...]
) -> None:
    simulator = project.pytester.path / "vvp"
    simulator.write_text(
        "#!/bin/sh\n"
        "echo '     0.00ns INFO     cocotb.regression                  running dut.first (1/2)'\n"
        "echo '    10.00ns WARNING  cocotb.regression                  dut.first failed'\n"
        "echo '                                                        Traceback (most recent call last):'\n"
        """echo '                                                          File "dut.py", line 4, in first'\n"""
        "echo '                                                            assert dut.q.value == 1'\n"
        "echo '                                                        AssertionError: expected 1 got 0'\n"
        "echo '    10.00ns INFO     cocotb.regression                  running dut.second (2/2)'\n"
        "kill -INT $PPID\n"
        "echo '    10.00ns WARNING  cocotb.regression                  dut.second failed'\n"
        "echo '                                                        Traceback (most recent call last):'\n"
        """echo '                                                          File "dut.py", line 9, in second'\n"""
        "echo '                                                            await Timer(1)'\n"
        "echo '                                                        KeyboardInterrupt'\n"
        "sleep 9\n"
    )
    simulator.chmod(0o755)
    project.pytester.makepyfile(
        """
        import os, signal, subprocess

        signal.signal(signal.SIGINT, signal.default_int_handler)  # a script in the background has it ignored

        def test_run():
            environment = os.environ | {"COCOTB_TEST_MODULES": "dut", "COCOTB_RESULTS_FILE": "results.xml"}
            subprocess.run(["./vvp"], env=environment, check=True)
        """
    )
    result = project.run(*arguments)
    assert result.ret == 2
    assert project.causes() == {"first": "sim_error/scoreboard_fail"}


def test_cocotb_tests_that_fail_in_a_test_that_passes_are_named_and_count_as_neither(project: Project) -> None:
    seed = "<properties><property name='random_seed' value='7'/></properties>"
    failing = (
        f"<testcase name='first' classname='bench'><failure message='wrong' type='AssertionError'/>{seed}</testcase>"
    )
    passing = f"<testcase name='second' classname='bench'>{seed}</testcase>"
    simulator = project.path / "vvp"
    simulator.write_text(
        f'#!/bin/sh\necho "<testsuites><testsuite>{failing}{passing}</testsuite></testsuites>" > results.xml\n'
    )
    simulator.chmod(0o755)
    project.pytester.makepyfile(
        """
        import os, subprocess

        def test_run():
            environment = os.environ | {"COCOTB_TEST_MODULES": "bench", "COCOTB_RESULTS_FILE": "results.xml"}
            subprocess.run(["./vvp"], env=environment, check=True)
        """
    )
    result = project.run("--dvwiki-task", "nightly")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["1 cocotb test failed in tests that pytest counts as passed; not archived:", "*first"])
    (record,) = project.records()
    assert (record["totals"]["passed"], record["totals"]["failed"], record["sources"]) == (1, 0, [])
    suite = (project.path / ".agent" / "tasks" / "suites" / f"{record['suites'][0]['suite']}.txt").read_text()
    assert [name.rpartition("::")[2] for name in suite.splitlines()] == ["second"]


def test_nothing_failed_nothing_is_written(project: Project) -> None:
    project.pytester.makepyfile("def test_a(): pass\n")
    result = project.run(in_process=True)
    assert result.ret == 0
    assert "dvwiki ==" not in result.stdout.str()
    assert not (project.path / ".agent").exists()


def test_a_named_run_is_archived_where_nothing_failed_with_its_tests(project: Project) -> None:
    project.pytester.makepyfile("def test_a(): pass\ndef test_b(): pass\n")
    project.run("--dvwiki-task", "nightly", in_process=True)
    (record,) = project.records()
    assert record["task_id"].startswith("nightly_")
    suite = (project.path / ".agent" / "tasks" / "suites" / f"{record['suites'][0]['suite']}.txt").read_text()
    assert suite.splitlines() == [f"{project.path.name.rstrip('0')}.py::test_{name}" for name in "ab"]


def test_a_check_of_a_library_is_known_by_its_call_in_each_style_of_tracebacks(project: Project) -> None:
    project.pytester.makepyfile(
        lib="""
        def check_equal(value, expected): assert value == expected, "sum"
        """,
        test_lib="""
        import lib
        def test_full(): lib.check_equal(full := 4, 5)
        def test_empty(): lib.check_equal(empty := 4, 5)
        """,
    )
    for style in ("long", "short", "native", "no"):
        project.run(f"--tb={style}", in_process=True)
    seen = {tuple(sorted(cause["fingerprint"] for cause in record["occurrences"])) for record in project.records()}
    assert [len(causes) for causes in seen] == [2]


def test_the_style_of_tracebacks_does_not_change_a_cause(project: Project) -> None:
    project.pytester.makepyfile(
        """
        def check(value): assert value == 3, "sum"
        def test_a(): check(4)
        def test_chain():
            try:
                {}["key"]
            except KeyError as error:
                raise RuntimeError("no config") from error
        """
    )
    for style in ("auto", "long", "short", "native", "line", "no"):
        project.run(f"--tb={style}", in_process=True)
    seen = [sorted(cause["fingerprint"] for cause in record["occurrences"]) for record in project.records()]
    assert len(seen) == 6
    assert all(causes == seen[0] for causes in seen)
    assert len(project.pages()) == 2


@pytest.mark.parametrize("arguments", [(), ("-n1",)], ids=["main", "xdist"])
def test_a_module_that_cannot_be_collected_is_known_by_its_place_in_each_style_of_tracebacks(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.pytester.makepyfile(
        helper="import other\n{}['key']\n",
        other="",
        unread="",
        test_it="""
        import helper
        def test_it(): pass
        """,
        test_import="""
        from helper2 import gone
        def test_it(): pass
        """,
        helper2="import other\n",
    )
    for style in ("short", "no"):
        project.run(f"--tb={style}", *arguments, in_process=not arguments)
    first, second = project.records()
    for one, same in zip(first["occurrences"], second["occurrences"], strict=True):
        assert one["fingerprint"] == same["fingerprint"]
        assert one["reads"] == same["reads"]
    reads = {tuple(sorted(cause["reads"])) for cause in second["occurrences"]}
    # The first module's error is not a failed import, since such a module may build a design.
    assert reads == {("helper.py", "other.py", "test_it.py"), ("(no HDL)", "helper2.py", "other.py", "test_import.py")}
    assert any("helper.py:2: in <module>" in cause["excerpt"] for cause in second["occurrences"])
