"""`dvwiki ingest` of the files of a run that has archived itself counts each file once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Project


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_the_junit_file_of_an_archived_run_is_known(project: Project, arguments: tuple[str, ...]) -> None:
    project.pytester.makepyfile("def test_sum():\n    assert 1 + 1 == 3\n")
    project.run("--junitxml=reports/junit.xml", *arguments)
    (record,) = project.records()
    assert [source["path"] for source in record["sources"]] == ["reports/junit.xml"]
    done = project.pytester.run("dvwiki", "ingest", "reports")
    assert done.ret == 0
    done.stdout.fnmatch_lines([f"*already archived as {record['task_id']}; nothing changed"])
    assert len(project.records()) == 1


def test_an_older_junit_file_is_another_run(project: Project) -> None:
    project.pytester.makepyfile("def test_sum():\n    assert 1 + 1 == 3\n")
    project.run("--junitxml=junit.xml", plugin=False)
    project.run()
    assert project.records()[0]["sources"] == []
    assert project.pytester.run("dvwiki", "ingest", "junit.xml").ret == 0
    assert len(project.records()) == 2


UVM_LOG = """Command: simv +UVM_TESTNAME=burst_test +ntb_random_seed={seed}
UVM_INFO @ 0: reporter [RNTST] Running test burst_test...
{report}
--- UVM Report Summary ---
"""


def night(project: Project, *failing: int) -> str:
    """Write the run folders of one test with three seeds, and ingest them as one run."""
    for seed in (1, 2, 3):
        report = (
            f"UVM_ERROR sb.sv(21) @ {seed}0: uvm_test_top.sb [SCBD] got {seed}, expected 9" if seed in failing else ""
        )
        log = project.path / "nightly" / f"burst_test.{seed}" / "run.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(UVM_LOG.format(seed=seed, report=report), encoding="utf-8")
    number = len(project.records())
    done = project.pytester.run("dvwiki", "ingest", "nightly", "--task", "nightly", "--run-id", str(number))
    assert done.ret == 0
    return done.stdout.str()


def test_the_seeds_of_a_uvm_test_are_one_test_on_one_page(project: Project) -> None:
    told = night(project, 2, 3)
    assert "nightly: 3 runs of 1 test, 2 failed, 1 cause" in told
    assert "1 test, seeds 2 3: burst_test" in told
    assert len(list((project.wiki / "bugs").glob("[A-Z]*.md"))) == 1
    # Seed 3 passes, and seed 2 still fails: the test has not passed.
    assert "FIXED" not in night(project, 2)
    told = night(project)
    assert "FIXED" in told
    (again,) = project.records()[-1]["passed_again"]
    assert (again["nodeid"], again["seed"], again["failed_seed"]) == ("nightly::burst_test", "2", "2")


def test_a_template_that_cannot_be_used_is_told(project: Project) -> None:
    config = project.path / ".agent" / "project.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("ingest:\n  path: '{name}/run.log'\n", encoding="utf-8")
    done = project.pytester.run("dvwiki", "ingest", "nightly")
    assert done.ret == 2
    done.stderr.fnmatch_lines(
        ["*project.yaml: ingest.path: expected one {test}, at most one {seed}, and * for any other*"]
    )
