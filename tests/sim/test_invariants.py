"""Properties for all kinds of failures: a cause has one page, and the wiki never disturbs the run."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from .harness import Archive, Project, environment, missing
from .outcomes import run_once, sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from .harness import Call

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(missing("icarus") is not None, reason=str(missing("icarus"))),
]

NATIVE = ("-p", "cocotb_tools._pytest.plugin", "--cocotb-simulator=icarus")
SEEDS = {
    "runner": ("test_more.py::test_seeds",),
    "native": (*NATIVE, "test_native_more.py::test_seeds"),
}
AT = re.compile(r"^[\d.]+ns ")
FURTHER = pytest.mark.further_mode
FLOWS = pytest.mark.parametrize("flow", [pytest.param("runner", marks=FURTHER), "native"])
FLOOD_MB = int(os.getenv("DVWIKI_TEST_FLOOD_MB", "100"))
"""Megabytes that a test prints, more than are kept; 1024 for a full test."""
MORE_MEMORY_MB = 50
OWNED_KEYS = re.compile(
    r"^(id|error_class|failure_subtype|fingerprint|fingerprint_aliases|aliases|confidence|first_seen|last_updated"
    r"|task_ids|hit_count|occurrence_count|corroborations|seeds|ip_type|stale|stale_reason|pattern_id|last_seen"
    r"|fix_success_rate):.*\n",
    re.MULTILINE,
)
OWNED_REGION = re.compile(r"(dvwiki:begin .*?-->).*?(<!--[^>]*?dvwiki:end )", re.DOTALL)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a new copy of the project of the outcomes."""
    return Project.copy("outcomes", tmp_path / "project")


def of_session(shared: Path, name: str) -> Archive:
    """Return the results of a session of the outcomes in the default capture mode."""
    return Archive(run_once(shared, sessions()[name], "default").folder / ".agent")


def notes(call: Call, text: str) -> list[str]:
    """Return the lines of the plugin's section that contain a text."""
    section = call.output.partition(" dvwiki ")[2]
    return [line for line in section.splitlines() if text in line]


# One cause, one page


@FLOWS
def test_again_and_with_other_seeds_no_page_is_added_and_counts_go_up(project: Project, flow: str) -> None:
    identities, pages = [], []
    for seed in ("1", "1", "2", "3"):
        project.run(*SEEDS[flow], env={"COCOTB_RANDOM_SEED": seed})
        identities.append(project.archive.records[-1].identities)
        pages.append(set(project.archive.pages))
    assert len(identities[0]) == 2
    assert all(found == identities[0] for found in identities)
    assert all(found == pages[0] for found in pages)
    bugs = [name for name in pages[0] if name.startswith("bugs/")]
    assert len(bugs) == 2
    assert {project.archive.page(name)["hit_count"] for name in bugs} == {4}
    assert {project.archive.page(name)["occurrence_count"] for name in bugs} == {4}
    assert project.archive.page("patterns/scoreboard_fail.md")["hit_count"] == 4


@pytest.mark.further_mode
@FLOWS
def test_the_terminal_says_what_is_new_and_what_is_known(project: Project, flow: str) -> None:
    first = project.run(*SEEDS[flow])
    assert len(notes(first, "NEW ")) == 2
    assert not notes(first, "KNOWN ")
    second = project.run(*SEEDS[flow])
    assert len(notes(second, "KNOWN ")) == 2
    assert not notes(second, "NEW ")


@pytest.mark.parametrize(
    ("session", "item"),
    [
        pytest.param("runner", "test_runner.py::test_checks", marks=pytest.mark.further_mode),
        ("native", "test_native.py::test_checks"),
    ],
)
def test_a_runner_with_many_failing_tests_gives_each_once(shared: Path, session: str, item: str) -> None:
    record = of_session(shared, session).record
    inside = [test.nodeid for cause in record.causes for test in cause.tests if test.nodeid.startswith(item)]
    assert item not in inside
    assert len(inside) == len(set(inside)) == 15


@FLOWS
def test_passing_tests_stand_in_the_suite_of_a_named_task(project: Project, flow: str) -> None:
    project.run("--dvwiki-task=nightly", *SEEDS[flow], "test_plain.py::test_passes")
    record = project.archive.record
    assert record.task_id.startswith("nightly_")
    suite = project.archive.suite(record)
    names = {nodeid.rsplit("::", 1)[1] for nodeid in suite}
    assert names == {"random_value", "random_time", "always_right", "test_passes"}
    assert len(suite) == 4


def test_a_named_task_leaves_a_record_where_nothing_failed(project: Project) -> None:
    call = project.run("--dvwiki-task=smoke", "test_plain.py::test_passes")
    assert call.status == 0
    assert project.archive.record.totals["passed"] == 1
    assert not project.archive.record.causes


def test_without_the_tee_the_causes_are_the_same_under_capture(project: Project, shared: Path) -> None:
    item = "test_runner.py::test_checks"
    project.run("--dvwiki-tee=no", item)
    with_tee = {
        (cause.fingerprint, cause.label)
        for cause in of_session(shared, "runner").record.causes
        if cause.tests[0].nodeid.startswith(item)
    }
    assert project.archive.record.identities == with_tee


# What people wrote


@FLOWS
def test_hand_edits_survive_the_next_run_byte_for_byte(project: Project, flow: str) -> None:
    seed = {"COCOTB_RANDOM_SEED": "5"}
    project.run(*SEEDS[flow], env=seed)
    for name, path in project.archive.pages.items():
        path.write_bytes(_edited(path.read_bytes(), name))
    edited = {name: path.read_bytes() for name, path in project.archive.pages.items()}
    assert edited
    project.run(*SEEDS[flow], env=seed)
    for name, path in project.archive.pages.items():
        now = path.read_bytes()
        assert _peoples(now) == _peoples(edited[name]), name
        assert now != edited[name], f"{name} was not brought up to date"
        assert project.archive.page(name)["hit_count"] == 2
        assert project.archive.page(name)["jira"] == "FV-12"


def _edited(page: bytes, name: str) -> bytes:
    """Return a page with a person's edits: an unknown key with a comment, a changed status, text, a new section."""
    text = page.decode("utf-8")
    assert text.startswith("---\n"), name
    text = text.replace("---\n", "---\njira:   'FV-12'   # see the review — Käthe\n", 1)
    text = re.sub(r"^status:.*$", "status:    confirmed  # by hand", text, count=1, flags=re.MULTILINE)
    heading = re.search(r"^## .*\n", text, re.MULTILINE)
    assert heading, name
    text = text[: heading.end()] + "\nSeen on the bench, too.  \n\t* tab\n" + text[heading.end() :]
    return (text + "\n## Notes of the team\n\n```\n--- not a frontmatter\n```\n").encode()


def _peoples(page: bytes) -> str:
    """Return the parts of a page that belong to people: all except owned keys and owned regions."""
    text = page.decode("utf-8")
    end = text.index("\n---\n", 4)
    return OWNED_KEYS.sub("", text[:end]) + OWNED_REGION.sub(r"\1\2", text[end:])


# The wiki never disturbs the run


def test_switched_off_it_leaves_nothing(project: Project) -> None:
    call = project.run(*SEEDS["runner"], plugin=False)
    assert call.status == 1
    assert not project.archive.root.exists()


def test_collect_only_leaves_nothing_and_says_nothing(project: Project) -> None:
    call = project.run("--collect-only", "test_more.py", "test_broken_value.py")
    assert call.status == 2
    assert not project.archive.pages
    assert not project.archive.records
    assert " dvwiki " not in call.output


def test_without_the_terminal_plugin_it_archives_in_silence(project: Project) -> None:
    call = project.run("-p", "no:terminal", *SEEDS["runner"])
    assert call.status == 1
    assert len(project.archive.record.causes) == 2
    assert " dvwiki " not in call.output


def test_first_failure_ends_the_run_and_is_archived(project: Project) -> None:
    call = project.run("-x", "test_runner.py::test_fatal", "test_runner.py::test_finish")
    assert call.status == 1
    cause = project.archive.record.causes[0]
    assert len(project.archive.record.causes) == 1
    assert cause.tests[0].nodeid == "test_runner.py::test_fatal::in_flight"


@pytest.mark.parametrize(
    "args",
    [
        pytest.param(("test_runner_hang.py",), id="runner", marks=FURTHER),
        pytest.param((*NATIVE, "test_native_hang.py"), id="native"),
    ],
)
def test_ctrl_c_keeps_what_was_known_and_blames_nothing(project: Project, args: tuple[str, ...]) -> None:
    with project.hanging("-p", "no:timeout", *args) as run:
        assert run.interrupt() == 2
        output = run.output
    causes = project.archive.record.causes
    assert any("::test_reported" in test.nodeid for cause in causes for test in cause.tests)
    assert not any(cause.label == "tool_error/cut_short" for cause in causes)
    assert " dvwiki " in output
    project.run("test_plain.py::test_passes")
    assert len(project.archive.records) == 1, "an interrupted run was taken for a killed one"


def test_a_run_that_still_lives_is_not_taken_over(project: Project) -> None:
    with project.hanging("-p", "no:timeout", "test_runner_hang.py") as run:
        project.run("test_plain.py::test_passes")
        assert not project.archive.records
        run.kill("group")
    project.run("test_plain.py::test_passes")
    assert len(project.archive.records) == 1
    project.run("test_plain.py::test_passes")
    assert len(project.archive.records) == 1, "a killed run was archived twice"


def _read_only(project: Project) -> None:
    for path in [project.archive.root, *project.archive.root.rglob("*")]:
        if path.is_dir():
            path.chmod(0o555)


def _in_the_way(project: Project) -> None:
    wiki = project.archive.root / "wiki"
    wiki.rename(wiki.with_name("moved"))
    wiki.write_text("a file where a folder should be\n", encoding="utf-8")


OBSTACLES: Mapping[str, Callable[[Project], None]] = {
    "read_only": _read_only,
    "in_the_way": _in_the_way,
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_a_wiki_that_cannot_be_written_costs_one_warning(project: Project, obstacle: str) -> None:
    if obstacle == "read_only" and os.geteuid() == 0:
        pytest.skip("permissions do not hold root back")
    project.run(*SEEDS["runner"])
    OBSTACLES[obstacle](project)
    call = project.run(*SEEDS["runner"])
    assert call.status == 1
    assert "INTERNALERROR" not in call.output
    assert len(notes(call, "journal")) == 1, call.output


def test_a_lock_that_is_held_costs_one_warning_and_the_next_run_catches_up(
    project: Project,
) -> None:
    project.run(*SEEDS["runner"])
    before = len(project.archive.records)
    with FileLock(project.archive.root / "wiki" / ".lock"):
        call = project.run("--dvwiki-lock-timeout=1", *SEEDS["runner"])
    assert call.status == 1
    assert len(notes(call, "journal")) == 1, call.output
    project.run(*SEEDS["runner"])
    assert len(project.archive.records) == before + 2
    bugs = [name for name in project.archive.pages if name.startswith("bugs/")]
    assert {project.archive.page(name)["hit_count"] for name in bugs} == {3}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("---\nfingerprint: [unclosed\n---\n", id="no_yaml", marks=FURTHER),
        pytest.param("no frontmatter at all\n", id="no_frontmatter", marks=FURTHER),
        pytest.param("---\ntype: A\ntype: B\n---\n", id="duplicate_key"),
    ],
)
def test_a_broken_page_is_named_and_left_alone(project: Project, damage: str) -> None:
    project.run(*SEEDS["runner"])
    name = "patterns/scoreboard_fail.md"
    path = project.archive.pages[name]
    path.write_text(damage, encoding="utf-8")
    call = project.run(*SEEDS["runner"])
    assert call.status == 1
    assert path.read_text(encoding="utf-8") == damage
    assert len(notes(call, "scoreboard_fail.md")) == 1, call.output
    assert len(project.archive.records) == 2


# Secrets


@pytest.mark.parametrize(
    "args",
    [
        pytest.param(("test_more.py::test_secrets",), id="runner", marks=FURTHER),
        pytest.param((*NATIVE, "test_native_more.py::test_secrets"), id="native"),
    ],
)
@pytest.mark.parametrize("archived", [True, False], ids=["archived", "left_in_journal"])
def test_secrets_reach_neither_journal_nor_record_nor_page(
    project: Project, args: tuple[str, ...], *, archived: bool
) -> None:
    secrets = ("ghp_a1B2", "licences.example.com", "correct-horse", "swordfish-42")
    if archived:
        project.run(*args)
        assert len(project.archive.record.causes) == 1
    else:
        project.archive.root.mkdir()
        (project.archive.root / "wiki").write_text("in the way\n", encoding="utf-8")
        project.run(*args)
    files = list(project.archive.files())
    assert archived or any("journal" in path.parts for path in files)
    found = [
        (secret, path.name)
        for path in files
        for secret in secrets
        if secret in path.read_text(encoding="utf-8", errors="replace")
    ]
    assert not found


# Bounds


@pytest.mark.slow
@pytest.mark.parametrize(
    "capture", [pytest.param((), id="default"), pytest.param(("-s",), id="no_capture", marks=FURTHER)]
)
def test_a_flood_costs_little_memory_and_keeps_its_cause(project: Project, capture: tuple[str, ...]) -> None:
    args = (*capture, "test_more.py::test_flood")
    without = _peak_mb(project, "-p", "no:dvwiki", *args)
    with_plugin = _peak_mb(project, "--dvwiki", *args)
    assert with_plugin - without <= MORE_MEMORY_MB
    cause = project.archive.record.causes[0]
    assert cause.label == "sim_error/scoreboard_fail"
    assert "MISMATCH in the middle: expected 0x31 got 0x32" in cause.primary
    assert len(project.archive.record.text) < 100_000


def _peak_mb(project: Project, *args: str) -> float:
    """Return the peak memory of pytest or its simulator."""
    measure = (
        "import resource, subprocess, sys\n"
        "subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", measure, sys.executable, "-m", "pytest", *args]
    call = project.call(command, environment("icarus", {"FLOOD_MB": str(FLOOD_MB)}))
    return int(call.output) / 1024
